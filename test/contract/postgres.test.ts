import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { createDatabase } from '#test/support/database.ts';
import { eventStoreContract } from './event-store.ts';

eventStoreContract('PostgreSQL', async () => {
  const database = await createDatabase();
  return {
    open: () => PostgresEventStore.open({ url: database.url }),
    process: {
      module: new URL('postgres-store.ts', import.meta.url).href,
      env: { ANNAL_TEST_LOG_URL: database.url },
    },
    drop: () => database.drop(),
  };
});
