/**
 * An instance in a separate process: `node --import tsx instance-process.ts <database url>`. Prints which instance runs what.
 */
import { startInstance } from './instance.ts';

const instance = await startInstance(process.argv[2] ?? '');
let said = '';
setInterval(() => {
  const states = instance.projector.status().map(({ state }) => state);
  const now = states.every((state) => state === 'running') ? 'running' : states.join(' ');
  if (now !== said) process.stdout.write(`${now}\n`);
  said = now;
}, 20);
