/** Appends over one duplex call: many on their way at a time, each answered on its own. */
import { randomUUID } from 'node:crypto';
import { unpackToCommandError } from '@eventstore/db-client/dist/streams/appendToStream/unpackError.js';
import { parseUUID } from '@eventstore/db-client/dist/utils/grpcUUID.js';
import type { BatchAppendResp } from '@eventstore/db-client/generated/streams_pb.js';
import { type Position, Unavailable } from '../store.ts';
import { appendMessages, type Proposal } from './append-messages.ts';
import { type AppendLine, end, type LogClient } from './client.ts';
import { toPosition } from './position.ts';

interface Waiting {
  readonly stream: string;
  readonly resolve: (position: Position) => void;
  readonly reject: (error: unknown) => void;
  readonly timeout: NodeJS.Timeout;
}

/** A call, and who waits for answers on it, by correlation id. */
interface Line {
  readonly call: AppendLine;
  readonly waiting: Map<string, Waiting>;
}

/** Sends appends. A failure leaves open whether an append was written, unless the server says why it refuses. */
export class Appender {
  #line: Promise<Line> | undefined;

  /** @param answerWithin longest wait for an answer, in ms. */
  constructor(
    private readonly client: LogClient,
    private readonly answerWithin: number,
  ) {}

  /**
   * Sends one append.
   * @returns the position of its last event.
   * @throws Unavailable after a deadline; otherwise errors of the client library.
   */
  async send(proposal: Proposal): Promise<Position> {
    const line = await this.#open();
    const id = randomUUID();
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => {
        const late = new Unavailable(`no answer to an append within ${this.answerWithin} ms`);
        line.waiting.delete(id);
        reject(late);
        // A line on which nothing comes back is not worth waiting for: whoever else waits on it is told so, too.
        end(line.call, late);
      }, this.answerWithin);
      line.waiting.set(id, { stream: proposal.stream, resolve, reject, timeout });
      for (const message of appendMessages(id, proposal)) line.call.write(message);
    });
  }

  #open(): Promise<Line> {
    if (this.#line !== undefined) return this.#line;
    const forget = (): void => {
      if (this.#line === opening) this.#line = undefined;
    };
    const opening = this.client.appendLine().then((call) => {
      const line: Line = { call, waiting: new Map() };
      const lost = (error: unknown): void => {
        forget();
        abandon(line, error);
      };
      call.on('data', (answer: BatchAppendResp) => answered(line, answer));
      call.on('error', lost);
      call.on('end', () => lost(new Unavailable('the server ended the line for appends')));
      return line;
    });
    opening.catch(forget);
    this.#line = opening;
    return opening;
  }
}

/** The line is gone, and with it every answer. */
function abandon({ waiting }: Line, error: unknown): void {
  for (const { timeout, reject } of waiting.values()) {
    clearTimeout(timeout);
    reject(error);
  }
  waiting.clear();
}

function answered({ waiting }: Line, answer: BatchAppendResp): void {
  const correlation = answer.getCorrelationId();
  const id = correlation === undefined ? '' : parseUUID(correlation);
  const append = waiting.get(id);
  if (append === undefined) return;
  waiting.delete(id);
  clearTimeout(append.timeout);
  const error = answer.getError();
  const position = answer.getSuccess()?.getPosition();
  if (error !== undefined) append.reject(unpackToCommandError(error, append.stream));
  else if (position === undefined)
    append.reject(new Unavailable('an append was answered without a position'));
  else append.resolve(toPosition(position.getCommitPosition(), position.getPreparePosition()));
}
