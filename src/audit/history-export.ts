/**
 * Exports one resource's history: its events with their exact text, each with the previous hash, and a signed statement. The
 * file doesn't contain the events of the stream's other resources, so the chain between two events of this resource can't be
 * recomputed from the file; instead, the signature vouches for the chain. docs/audit.md says what a file proves.
 */
import { GENESIS, verifyLink } from '#src/events/chain.ts';
import type { RecordedEvent, StreamHead } from '#src/events/store.ts';
import { BrokenChain } from './export.ts';
import type { SigningKey } from './key.ts';
import { closingLine, SignedLines } from './signed-lines.ts';

/** The signed statement. */
interface HistoryStatement {
  readonly type: 'annal-history';
  readonly version: 1;
  /** When it was signed. */
  readonly time: string;
  readonly stream: string;
  /** `Type/id`. */
  readonly resource: string;
  /** The time as of which the history is exported; if absent, the whole history is exported. */
  readonly as_of?: string;
  /** Events in the file. */
  readonly events: number;
  /** The stream's last event up to which the chain was checked. */
  readonly head: StreamHead;
  readonly sha256: string;
}

/** The history that was requested. */
export interface HistoryAsked {
  readonly resource: string;
  readonly asOf: string | undefined;
}

/**
 * Yields the lines of a history; none if the resource has no events.
 * @param events of the resource's stream, from revision 0
 * @throws BrokenChain
 */
export async function* historyLines(
  events: AsyncIterable<RecordedEvent>,
  { resource, asOf }: HistoryAsked,
  time: () => string,
  key: SigningKey,
): AsyncGenerator<string> {
  const lines = new SignedLines();
  const id = resource.slice(resource.indexOf('/') + 1);
  let head: StreamHead = { revision: -1, hash: GENESIS };
  let name = '';
  let count = 0;
  for await (const event of events) {
    const { stream, revision, type, data, metadata } = event;
    const previous = head.hash;
    const hash = revision === head.revision + 1 ? verifyLink(previous, event) : undefined;
    if (hash === undefined) throw new BrokenChain(stream, revision);
    head = { revision, hash };
    name = stream;
    if (!isAbout(event, id)) continue;
    if (count === 0) yield lines.line({ format: 'annal-history', version: 1, stream, resource });
    count += 1;
    yield lines.line({ revision, previous, id: event.id, type, data, metadata });
  }
  if (count === 0) return;
  const statement: HistoryStatement = {
    type: 'annal-history',
    version: 1,
    time: time(),
    stream: name,
    resource,
    ...(asOf === undefined ? {} : { as_of: asOf }),
    events: count,
    head,
    sha256: lines.sum(),
  };
  yield closingLine(statement, key);
}

/** Returns whether an event is a version of a resource or finalizes its content. */
function isAbout({ type, data }: RecordedEvent, id: string): boolean {
  if (!data.includes(id)) return false;
  const { resource_id, id: document } = JSON.parse(data) as { resource_id?: string; id?: string };
  return type.startsWith('Resource') ? resource_id === id : type === 'DocumentFinalized' && document === id;
}
