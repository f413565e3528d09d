/** Sends appends over one duplex call. Many appends are in flight at a time, and each gets its own response. */
import { randomUUID } from 'node:crypto';
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type Position, Unavailable } from '../store.ts';
import { appendMessages, type Proposal } from './append-messages.ts';
import { end, type LogClient } from './client.ts';
import { type AppendLine, refusalOf, textOfUuid } from './library.ts';
import { toPosition } from './position.ts';

interface Waiting {
  readonly stream: string;
  readonly bytes: number;
  readonly resolve: (position: Position) => void;
  readonly reject: (error: unknown) => void;
  readonly timeout: NodeJS.Timeout;
}

/**
 * The maximum number of appends, and of bytes in their bodies, that may be waiting for a response. More than this means that
 * the server is slower than its callers.
 */
const WAITING = { appends: 2_000, bytes: 128_000_000 } as const;

/** An open call, and the appends that are waiting for responses on it, by correlation id. */
interface Line {
  readonly call: AppendLine;
  readonly waiting: Map<string, Waiting>;
  /** The total size of the waiting appends. */
  bytes: number;
}

/** Sends appends. After a failure, it isn't known whether an append was written, unless the server says why it refuses. */
export class Appender {
  #line: Promise<Line> | undefined;

  /**
   * @param answerWithin the longest wait for a response, in ms.
   * @param limits how much may be waiting at a time.
   */
  constructor(
    private readonly client: Pick<LogClient, 'appendLine'>,
    private readonly answerWithin: number,
    private readonly limits: { readonly appends: number; readonly bytes: number } = WAITING,
  ) {}

  /**
   * Sends one append.
   * @returns the position of its last event.
   * @throws Unavailable after a deadline, and immediately if too many are waiting; otherwise errors from the client library.
   */
  async send(proposal: Proposal): Promise<Position> {
    const line = await this.#open();
    const { waiting } = line;
    const bytes = proposal.events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);
    // A single append is always sent, regardless of its size.
    if (waiting.size >= this.limits.appends || (waiting.size > 0 && line.bytes + bytes > this.limits.bytes))
      throw new Unavailable(`${waiting.size} appends are already waiting for EventStoreDB`);
    const id = randomUUID();
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => {
        const late = new Unavailable(`no answer to an append within ${this.answerWithin} ms`);
        take(line, id);
        reject(late);
        // If one response is late, others on this connection aren't worth waiting for, so all waiting appends fail.
        end(line.call, late);
      }, this.answerWithin);
      waiting.set(id, { stream: proposal.stream, bytes, resolve, reject, timeout });
      line.bytes += bytes;
      for (const message of appendMessages(id, proposal)) line.call.write(message);
    });
  }

  #open(): Promise<Line> {
    if (this.#line !== undefined) return this.#line;
    const forget = (): void => {
      if (this.#line === opening) this.#line = undefined;
    };
    const opening = this.client.appendLine().then((call) => {
      const line: Line = { call, waiting: new Map(), bytes: 0 };
      const lost = (error: unknown): void => {
        forget();
        abandon(line, error);
      };
      call.on('data', (answer: BatchAppendResp) => answered(line, answer));
      call.on('error', lost);
      call.on('end', () => lost(new Unavailable('the server closed the stream for appends')));
      return line;
    });
    opening.catch(forget);
    this.#line = opening;
    return opening;
  }
}

/** The call is broken, so no further responses will arrive. */
function abandon(line: Line, error: unknown): void {
  for (const { timeout, reject } of line.waiting.values()) {
    clearTimeout(timeout);
    reject(error);
  }
  line.waiting.clear();
  line.bytes = 0;
}

/** Removes a waiting append and returns it; undefined if it was no longer waiting. */
function take(line: Line, id: string): Waiting | undefined {
  const append = line.waiting.get(id);
  if (append === undefined) return undefined;
  line.waiting.delete(id);
  line.bytes -= append.bytes;
  return append;
}

function answered(line: Line, answer: BatchAppendResp): void {
  const correlation = answer.getCorrelationId();
  const append = take(line, correlation === undefined ? '' : textOfUuid(correlation));
  if (append === undefined) return;
  clearTimeout(append.timeout);
  const error = answer.getError();
  const position = answer.getSuccess()?.getPosition();
  if (error !== undefined) append.reject(refusalOf(error, append.stream));
  else if (position === undefined)
    append.reject(new Unavailable("the server's answer to an append has no position"));
  else append.resolve(toPosition(position.getCommitPosition(), position.getPreparePosition()));
}
