#!/usr/bin/env node
// The launcher of the command line: works from a clone and when installed, in any directory.
import { load } from './program.js';

// `annal show … | head` closes the pipe early: that isn't a failure.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

const { main } = await load('command');
process.exitCode = await main(process.argv.slice(2));
