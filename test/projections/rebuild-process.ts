/**
 * A rebuild in a separate process that is meant to be killed: `node --import tsx rebuild-process.ts <database url>
 * <projection>…`. Once each projection has its first rows, it prints `loaded` and reads no further.
 */
import { rebuild } from '#projections/rebuild/rebuild.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import type { EventStore } from '#src/events/store.ts';

const [url = '', ...names] = process.argv.slice(2);
const store = await PostgresEventStore.open({ url });
let batches = 0;
const stalling: Pick<EventStore, 'subscribe' | 'head' | 'read'> = {
  head: () => store.head(),
  read: (stream, options) => store.read(stream, options),
  subscribe: (options) =>
    store.subscribe({
      ...options,
      batchSize: 100,
      handle(batch) {
        batches += 1;
        return batches > 1 ? new Promise(() => undefined) : options.handle(batch);
      },
    }),
};
const loaded = new Set<string>();
await rebuild({ store: stalling, databaseUrl: url }, names, {
  onProgress({ name, events }) {
    if (events > 0) loaded.add(name);
    if (loaded.size === names.length) process.stdout.write('loaded\n');
  },
});
