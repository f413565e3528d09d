/** What to do about what `annal verify` found. docs/audit.md says more. */
import type { VerifyReport } from '#projections/verify.ts';

const LOG =
  'The log is not as it was written. Back up the database before anything else, find out what happened, restore the log from a backup that holds against a checkpoint, then: annal rebuild --restored';

const NEWER =
  'Events that a newer version of Annal wrote: this version can neither apply nor check them. Verify with that version.';

const ORPHANS =
  'Rows without events (orphan): the log may have been shortened, or be an older one. Back up the database before anything else, then hold the log against a checkpoint: annal verify --checkpoint <file>. Where streams end too early, restore the log, then: annal rebuild --restored. Where the log is whole: ';

const ROWS = 'The log holds and rows differ from it. Keep this report, then: ';

const LAGGING = 'A read model that lags catches up while the service runs: start it, and verify again.';

const OUTDATED = 'Tables of another version are rebuilt when the service starts.';

const OPERATIONS =
  'Rows of schema operations that the log does not bear out are not used: snapshots are checked when they are read. Keep this report and find out who changed them; what is set aside for a process is listed by: annal parked';

const DOCUMENTS =
  'Documents without the bytes that were finalized: check that DATA_DIR, or the bucket, is the service’s own; then restore the document store from a backup. docs/documents.md says more';

/** Sentences, the most urgent first; none where nothing is wrong. A read model is to be rebuilt only from a log that holds. */
export function hintsFor({
  log,
  operations = [],
  documents = [],
  readModels,
}: Pick<VerifyReport, 'log' | 'readModels'> &
  Partial<Pick<VerifyReport, 'operations'>> & { readonly documents?: readonly object[] }): string[] {
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
    ...(has('lagging') ? [LAGGING] : []),
    ...(has('outdated') ? [OUTDATED] : []),
  ];
}
