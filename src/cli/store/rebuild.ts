/** `annal rebuild [projection…]`: rebuilds read models next to the current ones, and then swaps them. */
import { constants, setPriority } from 'node:os';
import { PROJECTIONS } from '#projections/all.ts';
import type { TableComparison } from '#projections/compare.ts';
import { type Load, PACES } from '#projections/pace.ts';
import {
  type RebuildProgress,
  type RebuildReport,
  RebuildRunning,
  rebuild,
} from '#projections/rebuild/rebuild.ts';
import { requireDatabaseUrl, withEventStore, withWholeLog } from '../database.ts';
import { FAULTS_FOUND, Failure, MISUNDERSTOOD } from '../failure.ts';
import { type Progress, startProgress } from '../progress.ts';
import type { ServiceOptions } from '../service.ts';
import { table } from '../table.ts';
import { unreadableFailure } from './explained-failure.ts';

/** The command-line options. */
export interface RebuildOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
  /** Swaps the read models even if rebuilt rows differ from the current ones. */
  readonly force?: boolean;
  /** Starts over instead of continuing an earlier rebuild. */
  readonly fresh?: boolean;
  /** How much of the machine's capacity the rebuild uses. Default: `full`. */
  readonly load?: Load;
  readonly signal?: AbortSignal;
  /** True after a log was restored that is older than the read models (`restored.ts`). */
  readonly restored?: boolean;
}

/**
 * Rebuilds the named projections, or all of them.
 * @returns the exit code: 1 if a projection wasn't swapped.
 * @throws Failure for an unknown name, if a rebuild is already running, or if the database can't be found.
 */
export async function rebuildCommand(names: readonly string[], options: RebuildOptions): Promise<number> {
  const known = PROJECTIONS.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Failure(
      `unknown projection ${unknown}; the projections are ${known.join(', ')}`,
      MISUNDERSTOOD,
    );
  }
  const wanted = names.length > 0 ? [...new Set(names)] : known;
  return rebuildNamed(await requireDatabaseUrl(options), wanted, options);
}

/**
 * Rebuilds the projections and prints the result.
 * @returns the exit code.
 * @throws Failure
 */
export async function rebuildNamed(
  databaseUrl: string,
  wanted: readonly string[],
  { json = false, force = false, fresh = false, restored = false, load = 'full', signal }: RebuildOptions,
): Promise<number> {
  // Lowers this process's own priority; the rebuild itself limits the database's load.
  if (PACES[load].rest > 0) setPriority(constants.priority.PRIORITY_LOW);
  const opened = restored ? withEventStore : withWholeLog;
  const reports = await opened(databaseUrl, async (store) => {
    const progress = startProgress(0, 'events', json ? 'lines' : false);
    try {
      return await rebuild({ store, databaseUrl }, wanted, {
        force,
        fresh,
        restored,
        load,
        onProgress: show(progress),
        onCompared(name, tables) {
          if (!json) process.stdout.write(`${describeComparison(name, tables)}\n\n`);
        },
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (error instanceof RebuildRunning) throw new Failure(error.message, 1, 'busy');
      const unreadable = unreadableFailure(error);
      if (unreadable !== undefined)
        throw new Failure(
          `the rebuild stopped before an event that it can't apply: ${unreadable.message}. Tables that weren't replaced stay in service; run the same command again to continue`,
        );
      throw error;
    } finally {
      progress.stop();
    }
  });
  const plain = reports.map(({ compared, ...report }) => ({
    ...report,
    compared: compared.map(({ table: of, rows: [serving, rebuilt], more }) => ({
      table: of,
      serving,
      rebuilt,
      more_differences: more,
    })),
  }));
  process.stdout.write(`${json ? JSON.stringify(plain, null, 2) : describe(reports)}\n`);
  if (reports.some(({ outcome }) => outcome === 'differs')) return FAULTS_FOUND;
  return reports.every(({ outcome }) => outcome === 'swapped') ? 0 : 1;
}

/** Shows the progress of the slowest projection. The total number of events is estimated from the events read so far. */
function show(progress: Progress): (told: RebuildProgress) => void {
  const began = new Map<string, number>();
  const last = new Map<string, RebuildProgress>();
  return (told) => {
    const { name, phase } = told;
    if (!began.has(name)) began.set(name, told.share);
    const before = last.get(name);
    last.set(name, told);
    if (phase !== 'loading') {
      if (before?.phase !== phase) progress.say(`${name}: ${phase}`);
      return;
    }
    const shares = [...last].map(([each, { share }]) => ({ share, from: began.get(each) ?? 0 }));
    const hindmost = shares.reduce((a, b) => (b.share < a.share ? b : a));
    const events = Math.max(...[...last.values()].map((each) => each.events));
    const loaded = hindmost.share - hindmost.from;
    if (loaded > 0) progress.reach(events, Math.round((events * (1 - hindmost.from)) / loaded));
  };
}

/** The maximum number of differing rows listed for people; `--json` lists a thousand per table. */
const NAMED = 10;

function describeComparison(name: string, tables: readonly TableComparison[]): string {
  const rows = tables.map(({ table: named, rows: [serving, rebuilt], differences, more }) => {
    const count = (what: string): string => {
      const known = differences.filter((each) => each.what === what).length;
      return more && known > 0 ? atLeast(known) : String(known);
    };
    return [`${name}.${named}`, serving, rebuilt, count('missing'), count('orphan'), count('changed')];
  });
  const found = tables.flatMap(({ differences }) => differences);
  const lines = found.slice(0, NAMED).map(({ table: of, key, what, columns }) => {
    const where = columns === undefined ? '' : ` in ${columns.join(', ')}`;
    return `${what}${where}: ${name}.${of} ${JSON.stringify(key)}`;
  });
  const unnamed = tables.filter(({ more }) => more).map((each) => `${name}.${each.table}`);
  const more = found.length - lines.length;
  return [
    table(['Table', 'Serving', 'Rebuilt', 'Missing', 'Orphan', 'Changed'], rows),
    ...lines,
    ...(more > 0 ? [`and ${more} more`] : []),
    ...(unnamed.length > 0
      ? [`More than 1,000 rows differ in ${unnamed.join(', ')}; counting stopped there.`]
      : []),
  ].join('\n');
}

/** Returns the number at which counting stopped, as text: `1000+`. */
const atLeast = (count: number): string => `${count}+`;

const OUTCOMES: Readonly<Record<RebuildReport['outcome'], string>> = {
  swapped: 'rebuilt and in service',
  stopped: 'stopped; run the same command again to continue',
  differs: 'not in service: rows differ (annal verify lists them; --force uses the rebuilt tables anyway)',
};

function describe(reports: readonly RebuildReport[]): string {
  const rows = reports.map(({ name, events, differences, compared, outcome }) => [
    name,
    events,
    compared.some(({ more }) => more) ? atLeast(differences.length) : differences.length,
    OUTCOMES[outcome],
  ]);
  return table(['Projection', 'Events', 'Differences', 'Outcome'], rows);
}
