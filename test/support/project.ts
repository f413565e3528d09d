/** Creates a project for each service in the tests if the services share a log. */
import { createHash } from 'node:crypto';
import pg from 'pg';
import { Kernel } from '#commands/kernel/kernel.ts';
import { addKey, type Founded, found } from '#commands/project/found.ts';
import { QUICKSTART } from '#queries/projects.ts';
import { quickstartOwner } from '#src/dev-issuer/people.ts';
import { openEventStore } from '#src/events/open.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { eventually } from './process.ts';

/** The event store that the tests share. If empty, each service keeps its log in its own PostgreSQL. */
export const { EVENTSTORE_URL = '' } = process.env;

/**
 * Waits until a service has processed the events that earlier tests left in a shared log. Until then, the service may return
 * 503.
 * @param processes true to also wait for the service's processes, which conditional writes and purges need
 */
export async function caughtUp(url: string, processes: boolean): Promise<void> {
  await eventually(async () => (await fetch(`${url}/health/ready`)).ok);
  if (!processes) return;
  const passed = async (): Promise<boolean> => {
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const lags = [...metrics.matchAll(/^annal_process_lag_events\{.*\} (\d+)$/gm)].map(([, lag]) => lag);
    return lags.length > 0 && lags.every((lag) => lag === '0');
  };
  // There is a long pause between checks, because each check counts events.
  await eventually(passed, 240_000, 500);
}

/** Creates an organization with a project and a key, and waits until the service on the given database knows the key. */
export function foundProject(databaseUrl: string): Promise<Founded> {
  return withKey(databaseUrl, (kernel) => found({ kernel, now: nowMicros }, 'Another', 'sandbox'));
}

/**
 * Creates an organization and a project like those of a first start, on a shared log. The oldest project there may belong to
 * an earlier service, whose members don't sign in at this service.
 * @param issuer the service's development issuer; its developer owns the organization
 */
export async function foundQuickstart(databaseUrl: string, issuer: string): Promise<Founded> {
  const store = await openEventStore({ url: databaseUrl, eventStoreUrl: EVENTSTORE_URL });
  try {
    const deps = { kernel: new Kernel(store), now: nowMicros };
    return await found(deps, QUICKSTART, 'sandbox', quickstartOwner(issuer));
  } finally {
    await store.close();
  }
}

/** Creates a production key in the project of a given key, and waits until the service on the database knows the new key. */
export async function productionKey(databaseUrl: string, pool: pg.Pool, key: string): Promise<string> {
  const { rows } = await pool.query<{ project: string }>(
    'SELECT k.project FROM projects.api_key k WHERE k.sha256 = $1',
    [hashOf(key)],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the key is unknown');
  const added = await withKey(databaseUrl, (kernel) =>
    addKey({ kernel, now: nowMicros }, row.project, 'production'),
  );
  return added.key;
}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

async function withKey<T extends { readonly key: string }>(
  databaseUrl: string,
  work: (kernel: Kernel) => Promise<T>,
): Promise<T> {
  const store = await openEventStore({ url: databaseUrl, eventStoreUrl: EVENTSTORE_URL });
  const client = new pg.Client({ connectionString: databaseUrl });
  try {
    await client.connect();
    const kernel = new Kernel(store);
    const founded = await work(kernel);
    await eventually(async () => {
      const { rowCount } = await client.query('SELECT 1 FROM projects.api_key WHERE sha256 = $1', [
        hashOf(founded.key),
      ]);
      return rowCount === 1;
    });
    return founded;
  } finally {
    await client.end();
    await store.close();
  }
}
