/** A project of its own for each service of the tests, where they share a log. */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { Handler } from '#commands/handle.ts';
import { type Founded, found } from '#commands/project/found.ts';
import { States } from '#commands/resource/states.ts';
import { openEventStore } from '#src/events/open.ts';
import { nowMicros } from '#src/shared/time.ts';
import { eventually } from './process.ts';

/** The event store that the tests run against, and share; empty: the log in each service's own PostgreSQL. */
export const { EVENTSTORE_URL = '' } = process.env;

/** Founds an organization with a project and a key, and waits until the service on a database knows the key. */
export async function foundProject(databaseUrl: string): Promise<Founded> {
  const store = await openEventStore({ url: databaseUrl, eventStoreUrl: EVENTSTORE_URL });
  const client = new pg.Client({ connectionString: databaseUrl });
  try {
    await client.connect();
    const none = { load: async () => undefined, save: async () => undefined, forget: async () => undefined };
    const handler = new Handler(store, new States(store, none));
    const founded = await found({ handler, now: nowMicros }, 'Another', 'sandbox');
    const hash = createHash('sha256').update(founded.key).digest('hex');
    await eventually(async () => {
      const { rowCount } = await client.query('SELECT 1 FROM projects.api_key WHERE sha256 = $1', [hash]);
      return rowCount === 1;
    });
    return founded;
  } finally {
    await client.end();
    await store.close();
  }
}
