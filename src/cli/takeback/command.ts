/**
 * `annal takeback`: plans to take back everything that a source, key, application or AI wrote, carries out the plan, or undoes
 * it.
 */
import type { Pool } from 'pg';
import { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { RESOURCES, SnapshotLoader } from '#commands/resource/state.ts';
import type { Selected } from '#commands/takeback/selection.ts';
import { openPool } from '#src/database/pool.ts';
import { PostgresSnapshots } from '#src/operations/snapshots.ts';
import { Takebacks } from '#src/operations/takebacks/takebacks.ts';
import type { AuthorType } from '#src/shared/access/author.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Takeback } from '#src/shared/access/takeback.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { faultOfMoment, parseMoment } from '#src/shared/time/moment.ts';
import { type Micros, nowMicros } from '#src/shared/time/time.ts';
import { carryOut, plan, Stopped, type Work } from '#src/takeback/run.ts';
import { requireDatabaseUrl, withEventStore } from '../database.ts';
import { expectAction, Failure, MISUNDERSTOOD } from '../failure.ts';
import { startProgress } from '../progress.ts';
import type { ServiceOptions } from '../service.ts';
import { counted } from '../table.ts';

/** The command-line options. */
export interface TakebackOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
  readonly project?: string;
  readonly environment?: Environment;
  readonly sourceSystem?: string;
  readonly key?: string;
  readonly application?: string;
  readonly authorType?: AuthorType;
  readonly model?: string;
  readonly since?: string;
  readonly until?: string;
  readonly reason?: string;
  readonly signal?: AbortSignal;
}

const ACTIONS = ['new', 'plan', 'start', 'undo', 'status'];

/**
 * Runs an action; `new` creates a take-back and plans it.
 * @throws Failure for invalid arguments, or if the take-back is unknown or in the wrong state
 */
export async function takebackCommand(action: string, id: string, options: TakebackOptions): Promise<void> {
  expectAction('takeback', action, ACTIONS);
  if (action !== 'new' && id === '')
    throw new Failure(`name the take-back: annal takeback ${action} tb_…`, MISUNDERSTOOD);
  const { json = false, signal, dataDir: _dataDir, ...choosing } = options;
  if (action !== 'new' && Object.keys(choosing).length > 0)
    throw new Failure(
      `annal takeback ${action} takes the whole take-back as it was planned: leave out the options that choose what to take back`,
      MISUNDERSTOOD,
    );
  const asked = action === 'new' ? readSelection(options) : undefined;
  const url = await requireDatabaseUrl(options);
  const pool = openPool(url, { max: 3, name: 'annal takeback', answerMs: 60_000 });
  try {
    const takebacks = new Takebacks(pool);
    const found = asked === undefined ? await takebacks.find(id) : await makeNew(pool, takebacks, asked);
    if (found === undefined) throw new Failure(`unknown take-back ${id.slice(0, 60)}`);
    if (action !== 'status')
      await withLock(url, found.id, () => work(url, pool, takebacks, found, action, json, signal));
    const now = (await takebacks.find(found.id)) ?? found;
    process.stdout.write(`${json ? JSON.stringify(now) : describe(now)}\n`);
  } finally {
    await pool.end();
  }
}

async function work(
  url: string,
  pool: Pool,
  takebacks: Takebacks,
  found: Takeback,
  action: string,
  json: boolean,
  signal: AbortSignal | undefined,
): Promise<void> {
  const planning = action === 'new' || action === 'plan';
  // A finished plan must not change, because undoing uses it to find what was taken back.
  if (planning && (await takebacks.find(found.id))?.state !== 'planning') return;
  await withEventStore(url, async (store) => {
    const progress = startProgress(0, planning ? 'versions' : 'records', json ? 'lines' : false);
    const parts: Work = {
      pool,
      takebacks,
      resources: new Streams(
        new Kernel(store),
        RESOURCES,
        new SnapshotLoader(store, new PostgresSnapshots(pool)),
      ),
      onProgress: (done, total) => progress.reach(done, total),
      signal,
    };
    try {
      if (planning) await plan(parts, found);
      else await carry(parts, found, action === 'undo' ? 'undo' : 'start');
    } catch (error) {
      if (error instanceof Stopped)
        throw new Failure(
          `interrupted; run the same command again to continue with ${found.id}`,
          1,
          'interrupted',
        );
      throw error instanceof Refusal ? new Failure(error.message) : error;
    } finally {
      progress.stop();
    }
  });
}

/**
 * Carries out a take-back, or continues it.
 * @throws Failure if it is in the wrong state
 */
async function carry(
  parts: Work,
  { id, state, plan: made }: Takeback,
  kind: 'start' | 'undo',
): Promise<void> {
  const from =
    kind === 'start' ? (['planned', 'running'] as const) : (['running', 'done', 'undoing'] as const);
  const begun = made === null ? undefined : await parts.takebacks.begin(id, kind, from, null);
  if (begun === undefined)
    throw new Failure(
      `${id} can't be ${kind === 'start' ? 'started' : 'undone'}: it is ${state}`,
      1,
      state === (kind === 'start' ? 'done' : 'undone') ? 'finished' : undefined,
    );
  await carryOut(parts, begun, kind);
}

/**
 * Runs work under a take-back's lock, which only one process at a time can hold.
 * @throws Failure if another process holds the lock
 */
async function withLock(url: string, id: string, run: () => Promise<void>): Promise<void> {
  const lock = openPool(url, { max: 1, name: 'annal takeback lock' });
  const client = await lock.connect();
  try {
    const { rows } = await client.query<{ free: boolean }>(
      "select pg_try_advisory_lock(hashtextextended('takeback/' || $1, 0)) as free",
      [id],
    );
    if (rows[0]?.free !== true) throw new Failure(`another process is already working on ${id}`, 1, 'busy');
    await run();
  } finally {
    client.release(true);
    await lock.end();
  }
}

interface NewOne {
  readonly project: string;
  readonly environment: Environment;
  readonly selected: Selected;
  readonly since: Micros | null;
  readonly until: Micros | null;
  readonly reason: string | null;
}

/** @throws Failure */
function readSelection(options: TakebackOptions): NewOne {
  const { sourceSystem: source_system, key: key_id, application: application_id } = options;
  const {
    project,
    environment = 'production',
    authorType: author_type,
    model,
    since,
    until,
    reason,
  } = options;
  if (project === undefined)
    throw new Failure('--project names the project that owns the records', MISUNDERSTOOD);
  if ([source_system, key_id, application_id, author_type].every((each) => each === undefined))
    throw new Failure(
      'say what to take back: --source-system, --key, --application or --author-type',
      MISUNDERSTOOD,
    );
  if (model !== undefined && author_type !== 'ai')
    throw new Failure('--model belongs to --author-type ai', MISUNDERSTOOD);
  const [from, to] = [readInstant('--since', since), readInstant('--until', until)];
  if (from !== null && from > Math.min(to ?? nowMicros(), nowMicros()))
    throw new Failure(
      to === null || from <= to ? '--since must not be in the future' : '--since must not be after --until',
      MISUNDERSTOOD,
    );
  return {
    project,
    environment,
    selected: { source_system, key_id, application_id, author_type, model },
    since: from,
    until: to,
    reason: reason ?? null,
  };
}

function readInstant(option: string, text: string | undefined): Micros | null {
  if (text === undefined) return null;
  const moment = parseMoment(text);
  if (moment?.kind !== 'time')
    throw new Failure(
      `${option}: ${faultOfMoment(text) ?? 'expected a date-time with a time zone, such as 2026-11-01T00:00:00Z'}`,
      MISUNDERSTOOD,
    );
  return moment.micros;
}

async function makeNew(pool: Pool, takebacks: Takebacks, asked: NewOne): Promise<Takeback> {
  const { rowCount } = await pool.query('select from projects.project where id = $1', [asked.project]);
  if (rowCount === 0) throw new Failure(`project/${asked.project} doesn't exist`);
  const { selected, since, until, ...others } = asked;
  return takebacks.create({
    ...others,
    selected: JSON.parse(JSON.stringify(selected)),
    since_at: since,
    until_at: until,
    planned_by: null,
  });
}

function describe({ id, state, plan: made, result, undo_result }: Takeback): string {
  const lines = [`Take-back ${id}: ${state}`];
  if (made !== null) {
    const { versions, records, restored, removed, stays, staying, told } = made as unknown as {
      [name in 'versions' | 'records' | 'restored' | 'removed' | 'stays']: number;
    } & {
      readonly staying: readonly {
        readonly resource: string;
        readonly version: number;
        readonly because: string;
      }[];
      readonly told: {
        readonly exports: number;
        readonly shared_links: number;
        readonly contexts: number;
        readonly receipts?: number;
        readonly webhooks: { readonly deliveries: number };
      };
    };
    lines.push(
      `${counted(versions, 'version')} of ${counted(records, 'record')} selected. Resources: ${restored} restored to an earlier version, ${removed} removed, ${stays} left as they are.`,
      ...staying
        .slice(0, 20)
        .map(
          ({ resource, version, because }) =>
            `  stays: ${resource} version ${version} (${BECAUSE[because] ?? because})`,
        ),
      `It may have reached others through ${counted(told.webhooks.deliveries, 'webhook')}, ${counted(told.exports, 'export')}, ${counted(told.shared_links, 'shared link')}, ${counted(told.contexts, 'context')}, ${counted(told.receipts ?? 0, 'receipt')}.`,
    );
  }
  for (const [what, sums] of [
    ['Taken back', result],
    ['Undone', undo_result],
  ] as const)
    if (sums !== null)
      lines.push(
        `${what}: ${sums.versions} versions in ${sums.records} records; ${sums.stays} resources stay as they are.`,
      );
  if (state === 'planned') lines.push(`To carry it out: annal takeback start ${id}`);
  if (state === 'done') lines.push(`To undo it: annal takeback undo ${id}`);
  return lines.join('\n');
}

const BECAUSE: Readonly<Record<string, string>> = {
  changed_since: 'others have changed it since',
  record_in_use: 'others have written to the record',
  patient_deleted: 'the Patient is deleted',
};
