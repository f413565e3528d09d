/** Reads the states of read models and processes on all instances, for operators. */
import type { Pool } from 'pg';
import { PROJECTIONS } from '#projections/all.ts';
import { NOTHING_YET, readCheckpoints } from '#projections/checkpoint.ts';
import { type Lag, measureLags } from '#projections/lag.ts';
import type { Progress } from '#projections/progress.ts';
import type { Projector } from '#projections/projector.ts';
import { BEGINNING, type EventStore } from '../events/store.ts';
import type { FollowerStates } from '../http/ports/operations.ts';
import type { ParkedEvents } from '../processes/parked.ts';
import { readProcessPositions } from '../processes/positions.ts';
import type { Process } from '../processes/process.ts';

/** The parts of the service that know these states. */
export interface FollowerParts {
  readonly pool: Pool;
  readonly store: Pick<EventStore, 'subscribe' | 'head'>;
  readonly projector: Pick<Projector, 'status'>;
  readonly progress: Pick<Progress, 'stale'>;
  readonly parked: Pick<ParkedEvents, 'counts'>;
  readonly processes: readonly Pick<Process, 'definition'>[];
}

const NAMES = PROJECTIONS.map(({ name }) => name);

// Rebuilds name their database sessions `annal rebuild <read model>`.
const TABLES = `
select p.name, coalesce(sum(pg_total_relation_size(c.oid)), 0)::int8 as bytes,
       exists (select from pg_stat_activity a
                where a.datname = current_database() and a.application_name = 'annal rebuild ' || p.name) as rebuilding
  from unnest($1::text[]) as p(name)
  left join pg_namespace n on n.nspname = p.name
  left join pg_class c on c.relnamespace = n.oid and c.relkind in ('r', 'm')
 group by p.name`;

/** Reads the states. As in the metrics, lag is counted only up to a limit. */
export async function readFollowers(parts: FollowerParts): Promise<FollowerStates> {
  const { pool, store, projector, progress, parked, processes } = parts;
  const [checkpoints, tables, noted, counts, head] = await Promise.all([
    readCheckpoints(pool, NAMES),
    pool.query<{ name: string; bytes: number; rebuilding: boolean }>(TABLES, [NAMES]),
    readProcessPositions(pool),
    parked.counts(),
    store.head().catch(() => undefined),
  ]);
  const filled = [...checkpoints].filter(([, { version }]) => version !== NOTHING_YET);
  // A process and a read model may have the same name.
  const positions = new Map([
    ...processes.map(
      ({ definition: { name } }) => [`process ${name}`, noted.get(name) ?? BEGINNING] as const,
    ),
    ...filled.map(([name, { position }]) => [name, position] as const),
  ]);
  const lags = await measureLags(store, positions).catch(() => new Map<string, Lag>());
  const stale = progress.stale();
  const states = new Map(projector.status().map((status) => [status.name, status]));
  return {
    head,
    readModels: PROJECTIONS.map(({ name, version }) => {
      const checkpoint = filled.find(([each]) => each === name)?.[1];
      const found = tables.rows.find((row) => row.name === name);
      const own = states.get(name);
      const failed = own?.state === 'failed';
      const tableVersion = checkpoint?.version;
      return {
        name,
        state:
          found?.rebuilding === true
            ? 'rebuilding'
            : tableVersion === undefined
              ? 'missing'
              : tableVersion !== version
                ? 'outdated'
                : failed
                  ? 'failed'
                  : 'serving',
        version,
        tableVersion,
        position: checkpoint?.position,
        lag: lags.get(name),
        stale: stale.includes(name),
        failure: own?.failure?.message,
        bytes: found?.bytes ?? 0,
      };
    }),
    processes: processes.map(({ definition: { name } }) => ({
      name,
      position: noted.get(name),
      lag: lags.get(`process ${name}`),
      parked: counts.get(name) ?? 0,
    })),
  };
}
