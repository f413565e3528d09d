/**
 * Exports: a record's whole history as one verifiable file. It has a header line, a line for every event with its exact
 * texts (the metadata end with the hash of the chain), and a signed statement with the SHA-256 over all bytes before
 * it. `bin/verify-export.mjs` checks it without this repository; docs/audit.md describes it.
 */
import { GENESIS, verifyLink } from '#src/events/chain.ts';
import type { RecordedEvent, StreamHead } from '#src/events/store.ts';
import type { SigningKey } from './key.ts';
import { closingLine, SignedLines } from './signed-lines.ts';

/** The signed statement. */
export interface ExportStatement {
  readonly type: 'annal-export';
  readonly version: 1;
  /** Instant at which it was signed, by the clock of the machine that did. */
  readonly time: string;
  readonly stream: string;
  /** The moment as of which the stream is exported; absent: all of it. */
  readonly as_of?: string;
  readonly events: number;
  /** The last event's: the same that a checkpoint names. */
  readonly head: StreamHead;
  /** SHA-256 of all bytes before the line. */
  readonly sha256: string;
}

/** An event does not continue its stream's chain: nothing can be vouched for. */
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
 * @param signed called with the statement when its line is yielded
 * @param asOf the moment at which `events` end
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
