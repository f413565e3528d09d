import { eventStoreContract } from './event-store.ts';
import { eraseContractStreams } from './eventstoredb-erase.ts';
import { openStore } from './eventstoredb-store.ts';

eventStoreContract(
  'EventStoreDB',
  process.env.EVENTSTORE_URL === undefined
    ? undefined
    : async () => ({
        open: openStore,
        process: { module: new URL('eventstoredb-store.ts', import.meta.url).href, env: {} },
        // The server belongs to the person who runs the tests, so its log isn't deleted. Each test follows the log from its
        // current end, or uses its own streams.
        drop: eraseContractStreams,
      }),
);
