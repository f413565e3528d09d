/** Secrets that a response shows once: repeated attempts at a request get the same secret, and nobody else gets it. */
import { expect } from 'chai';
import { IdempotencyStore } from '#src/operations/idempotency.ts';
import type { Reservation } from '#src/shared/idempotency.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';

const REQUEST = {
  ...{ scope: 'somebody', key: 'key-1', credential: 'token-1', requestHash: Buffer.alloc(32, 1) },
  ...{ bytes: 0, gone: () => new AbortController().signal },
};

describe('secrets of requests that are sent again', () => {
  let database: TestDatabase;
  let store: IdempotencyStore;

  before(async () => {
    database = await createMigratedDatabase();
    store = new IdempotencyStore(database.pool);
  });
  after(() => database.drop());

  async function reserved(request: typeof REQUEST): Promise<Reservation> {
    const begun = await store.begin(request);
    if ('kept' in begun) throw new Error('it has an answer');
    return begun.reserved;
  }

  it('are the same for the next attempt, sealed meanwhile, and gone with the answer', async () => {
    const first = await reserved(REQUEST);
    const secret = await first.secret();
    expect(secret).to.have.length(32);
    expect(await first.secret()).to.deep.equal(secret);
    await first.release();
    const { rows } = await database.pool.query('select i::text as row from operations.idempotency i');
    for (const form of ['hex', 'base64', 'base64url'] as const)
      expect(rows[0].row).to.not.contain(secret.toString(form));

    const second = await reserved(REQUEST);
    expect(await second.secret()).to.deep.equal(secret);
    await second.keep({ status: 201, headers: {}, body: 'done' });
    const kept = await database.pool.query('select secret from operations.idempotency');
    expect(kept.rows).to.deep.equal([{ secret: null }]);
  });

  it('are not given to another credential, which leaves them as they are', async () => {
    const request = { ...REQUEST, key: 'key-2' };
    const first = await reserved(request);
    const secret = await first.secret();
    await first.release();
    const refused = await store.begin({ ...request, credential: 'token-2' }).catch((error: unknown) => error);
    expect(refused).to.have.property('status', 422);
    const second = await reserved(request);
    expect(second.commandId).to.equal(first.commandId);
    expect(await second.secret()).to.deep.equal(secret);
    await second.forget();
  });

  it('are given to the same holder with another token, and to no other holder', async () => {
    const request = { ...REQUEST, key: 'key-4', holder: 'application app_1' };
    await (await reserved(request)).keep({ status: 201, headers: {}, body: 'done' });
    const renewed = await store.begin({ ...request, credential: 'token-2' });
    expect(renewed).to.deep.equal({ kept: { status: 201, headers: {}, body: 'done' } });
    // Another instance of the installation has the same key.
    const other = new IdempotencyStore(database.pool);
    expect(await other.begin({ ...request, credential: 'token-3' })).to.have.property('kept');
    for (const holder of ['application app_2', undefined]) {
      const refused = await store.begin({ ...request, holder }).catch((error: unknown) => error);
      expect(refused).to.have.property('status', 422);
    }
  });

  it('are given to a holder whose answer was kept under the token', async () => {
    const request = { ...REQUEST, key: 'key-5' };
    await (await reserved(request)).keep({ status: 201, headers: {}, body: 'done' });
    expect(await store.begin({ ...request, holder: 'identity x' })).to.have.property('kept');
  });

  it('are new for a new request', async () => {
    const request = { ...REQUEST, key: 'key-3' };
    const first = await reserved(request);
    const secret = await first.secret();
    await first.forget();
    const second = await reserved(request);
    expect(await second.secret()).to.not.deep.equal(secret);
    await second.forget();
  });
});
