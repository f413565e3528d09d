#!/usr/bin/env node
// The launcher: lets Node read TypeScript, then runs the command line. Works from a clone and when installed, in any
// directory (`tsconfig: false`, so that a tsconfig.json of wherever one stands does not matter).
import { register } from 'tsx/esm/api';

register({ tsconfig: false });
const { main } = await import('../src/cli/main.ts');
process.exitCode = await main(process.argv.slice(2));
