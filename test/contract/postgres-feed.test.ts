/** An instance's memory of what other instances wrote to the log. */
import { expect } from 'chai';
import { openPool } from '#src/database/pool.ts';
import { Feed } from '#src/events/postgres/feed.ts';
import { Reader } from '#src/events/postgres/reader.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import type { Position } from '#src/events/store.ts';
import { BEGINNING } from '#src/events/store.ts';
import type { Page } from '#src/events/subscription.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/process.ts';

const makeEvent = (append = '[0,1]') => ({
  id: newUuid(),
  type: 'Written',
  data: '{"family":"Gone"}',
  metadata: `{"append":${append}}`,
});

describe('the feed of the PostgreSQL log', () => {
  let database: TestDatabase;
  let other: PostgresEventStore;

  beforeEach(async () => {
    database = await createDatabase();
    other = await PostgresEventStore.open({ url: database.url });
  });

  afterEach(async () => {
    await other.close();
    await database.drop();
  });

  function openFeed(pages: (after: Position, limit: number) => Promise<Page>): Feed {
    return new Feed({
      url: database.url,
      name: 'annal test',
      answerWithin: 10_000,
      recheckEvery: 100,
      head: () => other.head(),
      pages: { all: pages },
      writer: () => undefined,
      onLost: () => undefined,
      hasPeers: false,
    });
  }

  it('reads what another instance wrote once for all listeners, in whole appends', async () => {
    const pool = openPool(database.url);
    const reader = new Reader(pool, 1_000_000, 10_000);
    let reads = 0;
    const feed = openFeed((after, limit) => {
      reads += 1;
      // A page may end in the middle of an append.
      return reader.all(after, Math.min(limit, 3));
    });
    const first = await other.append('record-1', 'none', [makeEvent()]);
    const stops = [feed.listen(() => undefined), feed.listen(() => undefined)];
    await eventually(() => feed.known === first.position);
    const before = reads;
    const two = await other.append('record-2', 'none', [makeEvent('[0,2]'), makeEvent('[1,2]')]);
    const four = await other.append('record-3', 'none', [makeEvent('[0,2]'), makeEvent('[1,2]')]);
    await eventually(() => feed.known === four.position);
    const batch = feed.recent.after(first.position, 10);
    expect(batch?.events.map(({ stream }) => stream)).to.deep.equal([
      'record-2',
      'record-2',
      'record-3',
      'record-3',
    ]);
    expect(batch?.position).to.equal(four.position);
    expect(feed.recent.after(two.position, 10)?.events).to.have.length(2);
    expect(reads - before).to.be.within(1, 3);
    for (const stop of stops) stop();
    await feed.close();
    await pool.end();
  });

  it('forgets what it remembers when another instance erases a stream', async () => {
    const feed = openFeed(async () => ({ events: [], position: BEGINNING, ended: true }));
    const stop = feed.listen(() => undefined);
    const event = makeEvent();
    const { position } = await other.append('record-1', 'none', [event]);
    await eventually(() => feed.known >= position);
    const previous = '0' as Position;
    feed.publish({ previous, events: [{ ...event, stream: 'record-1', revision: 0, position }], position });
    expect(feed.recent.after(previous, 1)?.events).to.have.length(1);
    await other.erase('record-1');
    await eventually(() => feed.recent.after(previous, 1) === undefined);
    stop();
    await feed.close();
  });
});
