/** Suggests how to handle the faults that `annal verify` found. docs/audit.md says more. */
import type { VerifyReport } from '#projections/verify/verify.ts';

const LOG =
  'The log was altered. Back up the database first, and find out what happened. Then restore the log from a backup that passes annal verify --checkpoint <file>, and run: annal rebuild --restored';

const NEWER =
  'Events that a newer version of Annal wrote: this version can neither apply nor check them. Verify with that version.';

const ORPHANS =
  'Rows without events (orphan): events may have been removed from the log, or the log may be an older one. Back up the database first, then compare the log with a checkpoint: annal verify --checkpoint <file>. If streams end too early, restore the log and run: annal rebuild --restored. If the log is complete, run: ';

const ROWS = 'The log is intact, but rows differ from it. Keep this report and run: ';

const OUTDATED = 'The service rebuilds tables of another version when it starts.';

const OPERATIONS =
  "Rows of the schema operations contradict the log. The service doesn't use such snapshots: it checks them when it reads them. Keep this report and find out who changed the rows; annal parked lists the parked events.";

const DOCUMENTS =
  'Content of documents is missing or altered: check that DATA_DIR or the bucket is the service’s own, then restore the document store from a backup (docs/documents.md).';

const ACCESS_LOG =
  'The access log was altered, or entries are missing. Back up the database first, and find out who changed the tables. Nothing can rebuild it: the missing entries exist only in backups (docs/access-log.md).';

/**
 * Returns suggestions as sentences, the most urgent first; none if there are no faults. Rebuilding a read model is suggested
 * only if the log is intact.
 */
export function hintsFor({
  log,
  operations = [],
  documents = [],
  accessLog = [],
  readModels,
}: Pick<VerifyReport, 'log' | 'readModels'> &
  Partial<Pick<VerifyReport, 'operations'>> & {
    readonly documents?: readonly object[];
    readonly accessLog?: readonly object[];
  }): string[] {
  const has = (...kinds: readonly string[]): boolean => readModels.some(({ what }) => kinds.includes(what));
  const differing = readModels.filter((fault) => 'table' in fault).map(({ projection }) => projection);
  const rebuild = `annal rebuild ${[...new Set(differing)].join(' ')} --force`;
  return [
    ...(log.some(({ what }) => what !== 'newer') ? [LOG] : []),
    ...(log.some(({ what }) => what === 'newer') ? [NEWER] : []),
    ...(log.length === 0 && has('orphan') ? [`${ORPHANS}${rebuild}`] : []),
    ...(log.length === 0 && has('changed', 'missing') && !has('orphan') ? [`${ROWS}${rebuild}`] : []),
    ...(operations.length > 0 ? [OPERATIONS] : []),
    ...(documents.length > 0 ? [DOCUMENTS] : []),
    ...(accessLog.length > 0 ? [ACCESS_LOG] : []),
    ...(has('outdated') ? [OUTDATED] : []),
  ];
}
