/**
 * An append that is waiting for its batch: validated, hashed and measured. Its text is safe to store in any database: it
 * contains no NUL and no lone surrogate, neither literally nor as a JSON escape.
 */
import { isUuid } from '../shared/ids.ts';
import { type SealedEvent, seal } from './chain.ts';
import {
  type AppendResult,
  type Expected,
  MAX_APPEND_BYTES,
  type NewEvent,
  type StreamHead,
  TooLarge,
} from './store.ts';

/** The revision and hash before a stream's first event. */
const NEVER_WRITTEN: StreamHead = { revision: -1, hash: '' };
/** Revisions are 32-bit integers. */
export const MAX_REVISION = 2 ** 31 - 1;
/** PostgreSQL limits an index entry to about 2,700 bytes. */
const MAX_STREAM_BYTES = 1_000;

/** An append that will be sent to the database, and the promise that its caller awaits. */
export class Append {
  readonly events: readonly SealedEvent[];
  /** The stream's head after this append. */
  readonly head: StreamHead;
  readonly bytes: number;
  readonly result: Promise<AppendResult>;
  resolve: (result: AppendResult) => void = () => undefined;
  reject: (error: unknown) => void = () => undefined;

  /** @throws TypeError for data that a store can't contain, TooLarge above `MAX_APPEND_BYTES`. */
  constructor(
    readonly stream: string,
    readonly expected: Expected,
    events: readonly NewEvent[],
  ) {
    check(stream, expected, events);
    this.bytes = events.reduce((sum, event) => sum + eventBytes(event), 0);
    if (this.bytes > MAX_APPEND_BYTES) throw new TooLarge(this.bytes);
    ({ events: this.events, head: this.head } = seal(stream, expected, events));
    this.result = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }

  /** Returns the head that the stream must have; revision -1 if the stream must not exist yet. */
  get base(): StreamHead {
    return this.expected === 'none' ? NEVER_WRITTEN : this.expected;
  }
}

function eventBytes(event: NewEvent): number {
  return Buffer.byteLength(event.data) + Buffer.byteLength(event.metadata);
}

function check(stream: string, expected: Expected, events: readonly NewEvent[]): void {
  if (events.length === 0) throw new TypeError('an append must have at least one event');
  if (stream === '' || Buffer.byteLength(stream) > MAX_STREAM_BYTES || !isStorable(stream)) {
    throw new TypeError(`a stream's name must have 1 to ${MAX_STREAM_BYTES} bytes`);
  }
  if (expected !== 'none' && !isRevision(expected.revision, MAX_REVISION - events.length)) {
    throw new TypeError('a revision must be an integer from 0');
  }
  for (const { id, type, data, metadata } of events) {
    if (!isUuid(id)) throw new TypeError('an event id must be a UUID in lower case');
    if (!isStorable(type) || !isStorable(data) || !isStorable(metadata)) {
      throw new TypeError('NUL and lone surrogates cannot be stored');
    }
    if (!metadata.startsWith('{') || !metadata.endsWith('}') || metadata === '{}') {
      throw new TypeError("an event's metadata must be a JSON object with at least one member");
    }
  }
}

function isRevision(value: number, max: number): boolean {
  return Number.isInteger(value) && value >= 0 && value <= max;
}

/** Matches JSON escapes; adjacent escapes for code units are one match. */
const ESCAPES = /(?:\\u[0-9a-f]{4})+|\\[^u]/gi;

/**
 * Returns true if a text contains neither a NUL nor a lone surrogate, which has no UTF-8 form and would be read back as
 * U+FFFD.
 */
function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Returns true if a JSON text, and the decoded strings in it, can be stored. */
export function isStorableJson(json: string): boolean {
  if (!isStorable(json)) return false;
  if (!json.includes('\\u')) return true;
  for (const [escapes] of json.matchAll(ESCAPES)) {
    if (escapes.length > 2 && !isStorable(JSON.parse(`"${escapes}"`))) return false;
  }
  return true;
}
