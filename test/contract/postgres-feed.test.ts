/** What an instance remembers of the log in memory when another instance erases. */
import { expect } from 'chai';
import { Feed } from '#src/events/postgres/feed.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import type { Position } from '#src/events/store.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/process.ts';

describe('the feed of the PostgreSQL log', () => {
  it('forgets what it remembers when another instance erases a stream', async () => {
    const database = await createDatabase();
    const other = await PostgresEventStore.open({ url: database.url });
    const feed = new Feed({
      url: database.url,
      name: 'annal test',
      answerWithin: 10_000,
      recheckEvery: 100,
      head: () => other.head(),
      writer: () => undefined,
      onLost: () => undefined,
    });
    const stop = feed.listen(() => undefined);
    const event = { id: newUuid(), type: 'Written', data: '{"family":"Gone"}', metadata: '{"a":1}' };
    const { position } = await other.append('record-1', 'none', [event]);
    await eventually(() => feed.known >= position);
    const previous = '0' as Position;
    feed.publish({ previous, events: [{ ...event, stream: 'record-1', revision: 0, position }], position });
    expect(feed.recent.after(previous, 1)?.events).to.have.length(1);
    await other.erase('record-1');
    await eventually(() => feed.recent.after(previous, 1) === undefined);
    stop();
    await feed.close();
    await other.close();
    await database.drop();
  });
});
