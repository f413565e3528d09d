/**
 * The marker that closes a log in EventStoreDB: the newest marker decides. `faults/migrate-eventstoredb` tests this with real
 * servers.
 */
import { expect } from 'chai';
import type { Proposal } from '#src/events/eventstoredb/append-messages.ts';
import { Closing } from '#src/events/eventstoredb/closing.ts';
import { CLOSED_STREAM } from '#src/events/eventstoredb/messages.ts';
import { toPosition } from '#src/events/position.ts';
import type { Position, RecordedEvent } from '#src/events/store.ts';

describe('the marker of a closed log', () => {
  /** Returns a log that contains only markers. */
  function newLog() {
    const events: RecordedEvent[] = [];
    return {
      events,
      async last(): Promise<RecordedEvent | undefined> {
        return events.at(-1);
      },
      async send({ stream, events: [event] }: Proposal): Promise<Position> {
        const revision = events.length;
        const position = toPosition(revision + 1);
        if (event !== undefined) events.push({ ...event, stream, revision, position });
        return position;
      },
    };
  }

  it('says where the log was moved to, to every process that reads it', async () => {
    const log = newLog();
    await new Closing().close(log, log, 'esdb://new:2113?tls=true');
    const other = new Closing();
    expect(other.closed).to.equal(undefined);
    await other.refresh(log);
    expect(other.closed?.message).to.contain('has moved it to esdb://new:2113?tls=true. Set EVENTSTORE_URL');
  });

  it('is written once, and again when the place is known', async () => {
    const log = newLog();
    for (let times = 0; times < 2; times += 1) await new Closing().close(log, log, undefined);
    expect(log.events).to.have.length(1);
    await new Closing().close(log, log, 'database');
    expect(log.events).to.have.length(2);
    expect(log.events.map(({ stream }) => stream)).to.deep.equal([CLOSED_STREAM, CLOSED_STREAM]);
  });

  it('is undone by a newer one; an older one that comes late changes nothing', async () => {
    const log = newLog();
    const closing = new Closing();
    await closing.reopen(log, log);
    expect(log.events).to.have.length(0);
    await closing.close(log, log, 'database');
    await closing.reopen(log, log);
    const other = new Closing();
    for (const event of [...log.events].reverse()) other.notice(event);
    expect([closing.closed, other.closed]).to.deep.equal([undefined, undefined]);
    expect(log.events).to.have.length(2);
  });

  it('is no event of another stream', () => {
    const closing = new Closing();
    const event = { id: '', type: 'LogClosed', data: '{}', metadata: '{}', revision: 0 };
    closing.notice({ ...event, stream: 'record-1', position: toPosition(1) });
    expect(closing.closed).to.equal(undefined);
  });
});
