/**
 * Exports a record's whole history as one verifiable file. The file has a header line, a line for every event with its exact
 * text (the metadata ends with the chain's hash), and a signed statement with the SHA-256 of all preceding bytes.
 * `bin/verify-export.mjs` checks the file without this repository; docs/audit.md describes the format.
 */
import { GENESIS, verifyLink } from '#src/events/chain.ts';
import type { RecordedEvent, StreamHead } from '#src/events/store.ts';
import type { SigningKey } from './key.ts';
import { closingLine, SignedLines } from './signed-lines.ts';

/** The signed statement. */
export interface ExportStatement {
  readonly type: 'annal-export';
  readonly version: 1;
  /** The time of signing, by the signing machine's clock. */
  readonly time: string;
  readonly stream: string;
  /** The time as of which the stream is exported; if absent, the whole stream is exported. */
  readonly as_of?: string;
  readonly events: number;
  /** The stream's head at its last event, as a checkpoint would list it. */
  readonly head: StreamHead;
  /** SHA-256 of all bytes before this line. */
  readonly sha256: string;
}

/** Thrown when an event's hash doesn't match its stream's chain, so that nothing can be vouched for. */
export class BrokenChain extends Error {
  override readonly name = 'BrokenChain';
  constructor(
    readonly stream: string,
    readonly revision: number,
  ) {
    super(`hash mismatch in ${stream} at revision ${revision}: this event or the one before it was altered`);
  }
}

/**
 * Yields the lines of an export, each with its line break; none if there are no events.
 * @param events of one stream, from revision 0
 * @param signed called with the statement when the statement's line is yielded
 * @param asOf the time at which `events` end
 * @throws BrokenChain
 */
export async function* exportLines(
  events: AsyncIterable<RecordedEvent>,
  time: () => string,
  key: SigningKey,
  signed: (statement: ExportStatement) => void,
  asOf?: string,
): AsyncGenerator<string> {
  const lines = new SignedLines();
  let head: StreamHead = { revision: -1, hash: GENESIS };
  let name = '';
  for await (const event of events) {
    const { stream, revision, id, type, data, metadata } = event;
    if (head.revision === -1) yield lines.line({ format: 'annal-export', version: 1, stream });
    const hash = revision === head.revision + 1 ? verifyLink(head.hash, event) : undefined;
    if (hash === undefined) throw new BrokenChain(stream, revision);
    head = { revision, hash };
    name = stream;
    yield lines.line({ revision, id, type, data, metadata });
  }
  if (head.revision === -1) return;
  const statement: ExportStatement = {
    type: 'annal-export',
    version: 1,
    time: time(),
    stream: name,
    ...(asOf === undefined ? {} : { as_of: asOf }),
    events: head.revision + 1,
    head,
    sha256: lines.sum(),
  };
  signed(statement);
  yield closingLine(statement, key);
}
