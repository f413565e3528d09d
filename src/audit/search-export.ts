/**
 * Exports the result of a search: the Bundle's exact text, the event and hash of each version that it contains, and a signed
 * statement with the query, the time and the log position. docs/audit.md says what a file proves.
 */
import type { AnsweredSearch } from '#src/shared/access/answered-search.ts';
import type { SigningKey } from './key.ts';
import { closingLine, SignedLines } from './signed-lines.ts';

/** The signed statement. */
interface SearchStatement {
  readonly type: 'annal-search';
  readonly version: 1;
  /** When it was signed. */
  readonly time: string;
  readonly project: string;
  readonly environment: string;
  readonly query: string;
  readonly as_of?: string;
  readonly position: string;
  readonly complete: boolean;
  /** The number of versions in the result. */
  readonly entries: number;
  readonly sha256: string;
}

/** Yields the lines of a search export. */
export function* searchLines(
  { project, environment, query, asOf, position, complete, bundle, versions }: AnsweredSearch,
  time: string,
  key: SigningKey,
): Generator<string> {
  const lines = new SignedLines();
  yield lines.line({ format: 'annal-search', version: 1, query });
  yield lines.line({ bundle });
  for (const { resource, version, stream, revision, event, hash } of versions)
    yield lines.line({ resource, version, stream, revision, event, hash });
  const statement: SearchStatement = {
    type: 'annal-search',
    version: 1,
    time,
    project,
    environment,
    query,
    ...(asOf === undefined ? {} : { as_of: asOf }),
    position,
    complete,
    entries: versions.length,
    sha256: lines.sum(),
  };
  yield closingLine(statement, key);
}
