/** How far behind followers are, counted in events, whatever the positions. */
import { expect } from 'chai';
import { COUNTED, measureLags } from '#projections/lag.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { BEGINNING, type Position } from '#src/events/store.ts';
import { newUuid } from '#src/shared/ids.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { created, Streams } from './made.ts';

describe('the lag of followers', () => {
  let database: TestDatabase;
  let store: PostgresEventStore;
  let streams: Streams;
  const heads: Position[] = [];

  const ago = (seconds: number) => ({ recorded_at: toInstant((Date.now() - seconds * 1_000) * 1_000) });
  const append = (count: number, seconds: number): Promise<Position> => {
    const patient = newUuid();
    const events = Array.from({ length: count }, () => created('Patient', newUuid(), {}, ago(seconds)));
    return streams.record(patient, ...events);
  };

  before(async () => {
    database = await createDatabase();
    store = await PostgresEventStore.open({ url: database.url });
    streams = new Streams(store);
    heads.push(await append(2, 500));
    // Skips positions, which no event will ever have.
    await database.pool.query("select setval('log.positions', nextval('log.positions') + 1000)");
    heads.push(await append(3, 100));
    heads.push(await append(1, 10));
  });

  after(async () => {
    await store.close();
    await database.drop();
  });

  it('is counted in events, and as old as the oldest of them', async () => {
    const [first = BEGINNING, second = BEGINNING, third = BEGINNING] = heads;
    const positions = new Map([
      ['second', second],
      ['nothing', BEGINNING],
      ['up to date', third],
      ['first', first],
    ]);
    const lags = await measureLags(store, positions);
    const found = [...positions.keys()].map((name) => {
      const lag = lags.get(name);
      return [name, lag?.events, Math.floor((lag?.seconds ?? 0) / 10) * 10];
    });
    expect(found).to.deep.equal([
      ['second', 1, 10],
      ['nothing', 6, 500],
      ['up to date', 0, 0],
      ['first', 4, 100],
    ]);
  });

  it('is counted up to a bound; its age is right beyond it', async () => {
    const [, , third = BEGINNING] = heads;
    for (let n = 0; n < 6; n += 1) await append(1_000, 5);
    const lags = await measureLags(
      store,
      new Map([
        ['nothing', BEGINNING],
        ['third', third],
      ]),
    );
    expect(lags.get('third')?.events).to.equal(COUNTED);
    expect(lags.get('third')?.seconds).to.be.within(5, 60);
    expect(lags.get('nothing')?.events).to.equal(COUNTED);
    expect(lags.get('nothing')?.seconds).to.be.within(500, 560);
  });
});
