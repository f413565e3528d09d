/**
 * Runs the service on a database, with an event store that kills the process (SIGKILL) either right after an append, before
 * anything is reported (DIES_AFTER), or right before an append (DIES_BEFORE). Both settings contain a stream prefix and the
 * number of the append to such a stream, counting from 1. With STANDS_AFTER, which contains a prefix, no append to such a
 * stream ever returns, so that one kill ends many waiting requests; each of them is reported on standard error.
 */
import pino from 'pino';
import { startApp } from '#src/app.ts';
import { loadConfig } from '#src/config.ts';
import { writeQuickstart } from '#src/data-dir.ts';
import { openEventStore } from '#src/events/open.ts';
import type { EventStore } from '#src/events/store.ts';

const { DIES_BEFORE: before, DIES_AFTER: after, STANDS_AFTER: stands } = process.env;
const [prefix = '', times = '1'] = (before ?? after ?? 'nowhere').split(' ');
let left = Number(times);

/** Counts an append, and kills the process at the last counted append. */
function count(stream: string): void {
  if (stream.startsWith(prefix)) left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}

function dying(store: EventStore): EventStore {
  return new Proxy(store, {
    get(target, name) {
      if (name === 'append') {
        return async (...args: Parameters<EventStore['append']>) => {
          if (before !== undefined) count(args[0]);
          const result = await target.append(...args);
          if (before === undefined) count(args[0]);
          if (stands !== undefined && args[0].startsWith(stands)) {
            process.stderr.write('stands\n');
            await new Promise(() => undefined);
          }
          return result;
        };
      }
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const config = loadConfig(process.env);
const app = await startApp({
  config,
  databaseUrl: config.databaseUrl ?? '',
  log: pino({ level: 'silent' }),
  openStore: async (options) => dying(await openEventStore(options)),
});
const { url } = await app.listen();
const quickstart = await app.quickstart();
if (quickstart !== undefined) await writeQuickstart(config.dataDir, quickstart);
process.stdout.write(`ready at ${url}\n`);
