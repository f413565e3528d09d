/** The kinds of jobs: for each kind, the command that does the work, and what the command's outcome means. */

import { type Job, readSubject } from '#src/shared/job.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { endOfCheckpoint, endOfVerification, verifyArguments } from './audit-kinds.ts';
import type { Ended, Ending } from './ended.ts';

interface Kind {
  /** Returns the arguments of `annal`, other than `--json`. */
  readonly command: (job: Pick<Job, 'subject' | 'options'>) => readonly string[];
  readonly end: (ended: Ended) => Ending;
}

/** The kinds, by name. Add new kinds here. */
export const KINDS: Readonly<Record<string, Kind>> = {
  rebuild: {
    command: ({ subject, options }) => [
      'rebuild',
      ...readSubject(subject),
      '--load',
      options.load === 'full' ? 'full' : 'low',
      ...(options.force === true ? ['--force'] : []),
    ],
    end: endOfRebuild,
  },
  verification: { command: ({ subject }) => verifyArguments(subject), end: endOfVerification },
  'takeback-plan': { command: ({ subject }) => ['takeback', 'plan', subject], end: endOfTakeback },
  takeback: { command: ({ subject }) => ['takeback', 'start', subject], end: endOfTakeback },
  'takeback-undo': { command: ({ subject }) => ['takeback', 'undo', subject], end: endOfTakeback },
  checkpoint: { command: () => ['checkpoint', '--keep'], end: endOfCheckpoint },
};

/** The keys of rows can be clinical data, so the result contains only the number of rows per table. */
function endOfRebuild({ code, printed, ...ended }: Ended): Ending {
  const models = Array.isArray(printed) ? printed.filter(isObject).map(rebuiltModel) : [];
  if (code === 0) return { status: 'done', result: { models } };
  if (ended.reason === 'busy')
    return { status: 'again', error: 'another rebuild of these read models is running' };
  if (ended.reason === 'interrupted') return { status: 'again', error: ended.failure };
  // The process was asked to stop, but the job wasn't cancelled.
  if (models.some(({ outcome }) => outcome === 'stopped')) return { status: 'again' };
  const differing = models.filter(({ outcome }) => outcome === 'differs').map(({ name }) => name);
  if (differing.length > 0)
    return {
      status: 'failed',
      result: { models },
      error: `rebuilt rows of ${differing.join(', ')} differ from the serving ones, which stay in service`,
    };
  return { status: 'failed', error: describeEnd({ code, ...ended }) };
}

/** The take-back's own row states what was done. */
function endOfTakeback({ code, ...ended }: Ended): Ending {
  if (code === 0) return { status: 'done' };
  // Another instance finished this job, but died before it recorded that.
  if (ended.reason === 'finished') return { status: 'done' };
  if (ended.reason === 'interrupted') return { status: 'again', error: ended.failure };
  if (ended.reason === 'busy') return { status: 'again', error: 'another process is already working on it' };
  return { status: 'failed', error: describeEnd({ code, ...ended }) };
}

/** Returns why a command failed, for a command that may not have said so itself. */
export function describeEnd({ code, signal, failure }: Omit<Ended, 'printed'>): string {
  if (failure !== undefined) return failure;
  const how = signal === null ? `with the exit code ${code}` : `by the signal ${signal}`;
  return `the command ended ${how}; the log of the service has its output`;
}

function rebuiltModel(report: JsonObject): JsonObject {
  const { name = null, outcome = null, events = null, differences, compared } = report;
  const rows = Array.isArray(differences) ? differences.filter(isObject) : [];
  const tables = Array.isArray(compared) ? compared.filter(isObject) : [];
  return {
    name,
    outcome,
    events,
    tables: tables.map(({ table = null, serving = null, rebuilt = null, more_differences: more }) => ({
      table,
      serving,
      rebuilt,
      differences: rows.filter((row) => row.table === table).length,
      more_differences: more === true,
    })),
  };
}
