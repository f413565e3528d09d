import { MemoryLog } from '#test/simulation/memory-log.ts';
import { MemoryEventStore } from '#test/simulation/memory-store.ts';
import { eventStoreContract } from './event-store.ts';

eventStoreContract(
  'memory, which simulations use',
  async () => {
    const log = new MemoryLog();
    return { open: async () => new MemoryEventStore({ log }), drop: async () => undefined };
  },
  { isInMemory: true },
);
