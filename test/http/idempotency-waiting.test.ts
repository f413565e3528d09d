/**
 * A retry that arrives while the first request is running waits for that request's response (docs/spec/decisions.md, section
 * 3).
 */
import { expect } from 'chai';
import { openPool } from '#src/database/pool.ts';
import { IdempotencyStore } from '#src/operations/idempotency.ts';
import type { Begun, Reservation } from '#src/shared/idempotency.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually } from '#test/support/process.ts';

const LONG_MS = 60_000;
const ANSWER = { status: 201, headers: {}, body: 'done' };

describe('a retry while the first request runs', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createMigratedDatabase();
  });
  after(() => database.drop());

  let drawn = 0;
  const request = (more: { bytes?: number; gone?: () => AbortSignal } = {}) => {
    drawn += 1;
    return {
      ...{ scope: 'somebody', key: `key-${drawn}`, credential: 'token', requestHash: Buffer.alloc(32, 1) },
      ...{ bytes: 10, gone: () => new AbortController().signal, ...more },
    };
  };
  const storeOf = (waitMs = LONG_MS): IdempotencyStore => new IdempotencyStore(database.pool, waitMs);
  async function first(store: IdempotencyStore, of: ReturnType<typeof request>): Promise<Reservation> {
    return reservationOf(await store.begin(of));
  }
  function reservationOf(begun: Begun): Reservation {
    if ('kept' in begun) throw new Error('it has an answer');
    return begun.reserved;
  }
  const refusedBy = async (begun: Promise<Begun>): Promise<Pick<Refusal, 'status' | 'headers'>> => {
    const refusal: Refusal = await begun.then(
      () => Promise.reject(new Error('nothing was refused')),
      (error: Refusal) => error,
    );
    return { status: refusal.status, headers: refusal.headers };
  };
  const conflict = { status: 409, headers: { 'Retry-After': '1' } };

  it('gets its answer', async () => {
    const [store, of] = [storeOf(), request()];
    const running = await first(store, of);
    const waiting = [store.begin(of), store.begin(of), store.begin(of)];
    await running.keep(ANSWER);
    expect(await Promise.all(waiting)).to.deep.equal([{ kept: ANSWER }, { kept: ANSWER }, { kept: ANSWER }]);
  });

  it('gets it on another instance', async () => {
    const of = request();
    const running = await first(storeOf(), of);
    const waiting = storeOf().begin(of);
    await running.keep(ANSWER);
    expect(await waiting).to.deep.equal({ kept: ANSWER });
  });

  it('takes its place when it ends without one, and one alone does', async () => {
    const [store, of] = [storeOf(), request()];
    const running = await first(store, of);
    const waiting = [store.begin(of), store.begin(of)];
    await running.forget();
    const next = reservationOf(await Promise.race(waiting));
    expect(next.commandId).not.to.equal(running.commandId);
    await next.keep(ANSWER);
    const begun = await Promise.all(waiting);
    expect(begun.filter((each) => 'kept' in each)).to.deep.equal([{ kept: ANSWER }]);
  });

  it('hears 409 with Retry-After when its time is over', async () => {
    const of = request();
    const running = await first(storeOf(), of);
    expect(await refusedBy(storeOf(150).begin(of))).to.deep.equal(conflict);
    await running.forget();
  });

  for (const [what, bytes, retries] of [
    ['as the fourth of its key', 0, 4],
    ['when bodies of more than 64 MB would wait', 32_000_001, 2],
  ] as const)
    it(`hears 409 at once ${what}`, async () => {
      const [store, of] = [storeOf(), request({ bytes })];
      const running = await first(store, of);
      const waiting = Array.from({ length: retries }, () => store.begin(of));
      expect(await refusedBy(Promise.race(waiting))).to.deep.equal(conflict);
      await running.keep(ANSWER);
      const ends = await Promise.allSettled(waiting);
      const answered = ends.filter(({ status }) => status === 'fulfilled');
      expect(answered).to.have.length(retries - 1);
      expect(await store.begin(of)).to.deep.equal({ kept: ANSWER });
    });

  it('waits no longer than its client, and leaves its place', async () => {
    const store = storeOf();
    const client = new AbortController();
    const of = request({ gone: () => client.signal });
    const running = await first(store, of);
    const waiting = [1, 2, 3].map(() => refusedBy(store.begin(of)));
    client.abort();
    for (const refused of await Promise.all(waiting)) expect(refused).to.deep.equal(conflict);
    const next = store.begin({ ...of, gone: () => new AbortController().signal });
    await running.keep(ANSWER);
    expect(await next).to.deep.equal({ kept: ANSWER });
  });

  it('holds no connection', async () => {
    const pool = openPool(database.url, { max: 1, name: 'one' });
    try {
      const [store, of] = [new IdempotencyStore(pool, LONG_MS), request()];
      const running = await first(store, of);
      const waiting = [store.begin(of), store.begin(of), store.begin(of)];
      await eventually(() => pool.idleCount === 1 && pool.waitingCount === 0);
      await pool.query('select 1');
      await running.keep(ANSWER);
      expect(await Promise.all(waiting)).to.deep.equal([
        { kept: ANSWER },
        { kept: ANSWER },
        { kept: ANSWER },
      ]);
    } finally {
      await pool.end();
    }
  });

  it('is refused at once when it is another request', async () => {
    const [store, of] = [storeOf(), request()];
    const running = await first(store, of);
    const refused = await refusedBy(store.begin({ ...of, requestHash: Buffer.alloc(32, 2) }));
    expect(refused.status).to.equal(422);
    await running.forget();
  });
});
