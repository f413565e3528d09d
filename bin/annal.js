#!/usr/bin/env node
// The launcher: lets Node read TypeScript, then runs the command line. Works from a clone and when installed, in any
// directory (`tsconfig: false`, so that a tsconfig.json of wherever one stands does not matter).
import { register } from 'tsx/esm/api';

// `annal show … | head` closes the pipe before everything is written: that is no failure.
process.stdout.on('error', (error) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

register({ tsconfig: false });
const { main } = await import('../src/cli/main.ts');
process.exitCode = await main(process.argv.slice(2));
