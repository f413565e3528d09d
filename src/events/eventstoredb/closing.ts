/**
 * Manages the marker that closes a log in EventStoreDB: the newest event in one stream says whether the log accepts events,
 * and where the events are now. Every process that opens the log reads the marker, and running processes receive it through
 * the live subscription. See `docs/decisions/0015-moved-log-marker.md`.
 */
import { z } from 'zod';
import { newUuid } from '../../shared/ids.ts';
import { LogClosed } from '../closed.ts';
import type { RecordedEvent } from '../store.ts';
import type { Appender } from './appender.ts';
import { persist } from './faults.ts';
import { CLOSED_STREAM } from './messages.ts';
import type { Reader } from './reader.ts';

const CLOSED = 'LogClosed';
const REOPENED = 'LogReopened';

const marker = z.object({ moved_to: z.string().optional() });

/** Tracks whether the log is closed, according to the newest marker that this process has read. */
export class Closing {
  /** The revision of the newest marker that was read. */
  #seen = -1;
  #closed: LogClosed | undefined;

  /** Returns the error with which appends are refused; undefined while the log is open. */
  get closed(): LogClosed | undefined {
    return this.#closed;
  }

  /**
   * Reads the newest marker.
   * @throws Unavailable
   */
  async refresh(reader: Pick<Reader, 'last'>): Promise<void> {
    const last = await reader.last(CLOSED_STREAM);
    if (last !== undefined) this.notice(last);
  }

  /** Takes note of an event if it is a newer marker than the ones already read. */
  notice({ stream, revision, type, data }: RecordedEvent): void {
    if (stream !== CLOSED_STREAM || revision <= this.#seen) return;
    this.#seen = revision;
    this.#closed = type === CLOSED ? new LogClosed(marker.parse(JSON.parse(data)).moved_to) : undefined;
  }

  /**
   * Writes a marker, unless the newest marker says the same.
   * @param movedTo the events' new location, without credentials; undefined until it is decided.
   * @throws Unavailable
   */
  async close(
    reader: Pick<Reader, 'last'>,
    appender: Pick<Appender, 'send'>,
    movedTo: string | undefined,
  ): Promise<void> {
    await this.refresh(reader);
    const closed = new LogClosed(movedTo);
    if (this.#closed?.message !== closed.message) await write(appender, CLOSED, { moved_to: movedTo });
    this.#closed = closed;
  }

  /**
   * Writes a marker that the log accepts events again, unless it already does.
   * @throws Unavailable
   */
  async reopen(reader: Pick<Reader, 'last'>, appender: Pick<Appender, 'send'>): Promise<void> {
    await this.refresh(reader);
    if (this.#closed !== undefined) await write(appender, REOPENED, {});
    this.#closed = undefined;
  }
}

async function write(
  appender: Pick<Appender, 'send'>,
  type: string,
  data: z.infer<typeof marker>,
): Promise<void> {
  const event = { id: newUuid(), type, data: JSON.stringify(data), metadata: '{}' };
  await persist(() => appender.send({ stream: CLOSED_STREAM, revision: undefined, events: [event] }));
}
