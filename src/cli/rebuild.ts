/** `annal rebuild [projection…]`: builds read models anew beside the serving ones and swaps them in. */
import { PROJECTIONS } from '#projections/all.ts';
import { type RebuildReport, RebuildRunning, rebuild } from '#projections/rebuild.ts';
import { databaseUrlOf, withEventStore } from './database.ts';
import { Failure } from './failure.ts';
import { startProgress } from './progress.ts';
import type { ServiceOptions } from './service.ts';
import { table } from './table.ts';

/** What the command line says. */
export interface RebuildOptions extends Pick<ServiceOptions, 'dataDir'> {
  readonly json?: boolean;
  /** Swaps although rebuilt rows differ from the serving ones. */
  readonly force?: boolean;
  /** Begins anew instead of going on from an earlier rebuild. */
  readonly fresh?: boolean;
  readonly signal?: AbortSignal;
}

/**
 * Rebuilds the named projections, or all.
 * @returns the exit code: 1 when one was not swapped.
 * @throws Failure for an unknown name, a rebuild that runs already, or when the database cannot be found.
 */
export async function rebuildCommand(
  names: readonly string[],
  { json = false, force = false, fresh = false, signal, ...where }: RebuildOptions,
): Promise<number> {
  const known = PROJECTIONS.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Failure(`there is no projection ${unknown}: there are ${known.join(', ')}`);
  }
  const wanted = names.length > 0 ? [...new Set(names)] : known;
  const databaseUrl = await databaseUrlOf(where);
  const reports = await withEventStore(databaseUrl, async (store) => {
    // Each projection reads about the whole log once; one that uses only some streams is done sooner.
    const total = Number(await store.head()) * wanted.length;
    const progress = startProgress(total, 'events', json);
    const done = new Map<string, number>();
    try {
      return await rebuild({ store, databaseUrl }, wanted, {
        force,
        fresh,
        onProgress({ name, phase, events }) {
          done.set(name, events);
          const sum = [...done.values()].reduce((all, count) => all + count, 0);
          progress.reach(sum, Math.max(total, sum));
          progress.say(phase === 'loading' ? '' : `${name}: ${phase}`);
        },
        ...(signal === undefined ? {} : { signal }),
      });
    } catch (error) {
      if (error instanceof RebuildRunning) throw new Failure(error.message);
      throw error;
    } finally {
      progress.stop();
    }
  });
  process.stdout.write(`${json ? JSON.stringify(reports, null, 2) : describe(reports)}\n`);
  return reports.every(({ outcome }) => outcome === 'swapped') ? 0 : 1;
}

const OUTCOMES: Readonly<Record<RebuildReport['outcome'], string>> = {
  swapped: 'rebuilt and in service',
  stopped: 'stopped; the same command goes on from there',
  differs: 'not swapped: rows differ (annal verify names them; --force swaps all the same)',
};

function describe(reports: readonly RebuildReport[]): string {
  const rows = reports.map(({ name, events, differences, outcome }) => [
    name,
    events,
    differences.length,
    OUTCOMES[outcome],
  ]);
  return table(['Projection', 'Events', 'Differences', 'Outcome'], rows);
}
