/** Interprets the outcomes of verifications and checkpoints. Values from records never become part of a job. */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import type { Ended, Ending } from './ended.ts';

/** The maximum number of causes in a report. */
const MOST_CAUSES = 200;

/** The exit codes with which `annal verify` prints a report: nothing found, something found, not everything checked. */
const REPORTED: ReadonlySet<number | null> = new Set([0, 3, 4]);

/** Returns the arguments that limit a verification to its subject: `all`, `project proj_…` or `record <id> proj_…`. */
export function verifyArguments(subject: string): readonly string[] {
  const [scope, id = ''] = subject.split(' ');
  if (scope === 'project') return ['verify', '--project', id];
  return scope === 'record' ? ['verify', '--patient', id] : ['verify'];
}

/** Returns a verification's report. A job that found faults also counts as done. */
export function endOfVerification({ code, printed, failure, reason }: Ended): Ending {
  if (REPORTED.has(code) && isObject(asJson(printed)))
    return { status: 'done', result: reportIn(asJson(printed)) };
  if (reason === 'busy') return { status: 'again', error: 'another verification is running' };
  if (reason === 'interrupted') return { status: 'again', error: failure };
  return { status: 'failed', error: failure };
}

/** Returns a checkpoint's statement. If faults prevented the checkpoint, the job has failed. */
export function endOfCheckpoint({ code, printed, failure, reason }: Ended): Ending {
  const report = asJson(printed);
  if (code === 0 && isObject(report)) return { status: 'done', result: report };
  if (code === 3)
    return {
      status: 'failed',
      error: 'nothing was signed: the log or the access log has faults, which a verification names',
    };
  if (reason === 'interrupted') return { status: 'again', error: failure };
  return { status: 'failed', error: failure };
}

const asJson = (printed: unknown): Json => (printed ?? null) as Json;

function reportIn(report: Json): JsonObject {
  const { causes, events = null, streams = null, lagging, compared = null } = isObject(report) ? report : {};
  const all = Array.isArray(causes) ? causes.filter(isObject) : [];
  return {
    events,
    streams,
    faults: all.length,
    compared,
    causes: all
      .slice(0, MOST_CAUSES)
      .map(({ where = null, what = null, which = null, event = null, messages, changes, follows }) => ({
        where,
        what,
        which,
        event,
        messages: messages ?? [],
        // Only paths, because the values that changed are from the record.
        changed: Array.isArray(changes) ? changes.filter(isObject).map(({ path = null }) => path) : [],
        follows: follows ?? {},
      })),
    lagging: Array.isArray(lagging)
      ? lagging
          .filter(isObject)
          .map(({ projection = null, behind = null }) => ({ read_model: projection, behind }))
      : [],
  };
}
