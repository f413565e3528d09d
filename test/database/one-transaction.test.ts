import { expect } from 'chai';
import pg from 'pg';
import { OneTransaction, type Statement } from '#src/database/one-transaction.ts';
import { createDatabase, type TestDatabase } from '../support/database.ts';

const insert = (n: number, text: string | null = null): Statement => ({
  name: 'insert',
  text: 'insert into row (n, text) values ($1, $2)',
  values: [n, text],
});

describe('statements that are one transaction by one Sync', () => {
  let database: TestDatabase;
  let session: pg.Client;
  let transaction: OneTransaction;

  before(async () => {
    database = await createDatabase();
  });
  beforeEach(async () => {
    session = new pg.Client({ connectionString: database.url });
    session.on('error', () => undefined);
    await session.connect();
    await session.query('drop table if exists row; create table row (n int primary key, text text)');
    transaction = new OneTransaction(session);
  });
  afterEach(() => session.end());
  after(() => database.drop());

  const rows = async (): Promise<unknown[]> =>
    (await session.query({ text: 'select n, text from row order by n', rowMode: 'array' })).rows;
  const failing = (statements: readonly Statement[]): Promise<unknown> =>
    transaction.run(statements).then(
      () => undefined,
      (error: unknown) => (error instanceof pg.DatabaseError ? error.code : error),
    );

  it('are all committed, the same named one again and again', async () => {
    await transaction.run([insert(1, 'one'), insert(2)]);
    await transaction.run([insert(3), { text: 'delete from row where n = 2' }]);
    expect(await rows()).to.eql([
      [1, 'one'],
      [3, null],
    ]);
    const { rows: ids } = await session.query('select xmin::text as id from row order by n');
    expect(new Set(ids.map(({ id }: { id: string }) => id)).size).to.equal(2);
  });

  it('are none of them when one fails, the first of them or a later one, parsed or carried out', async () => {
    expect(await failing([insert(1), insert(1)])).to.equal('23505');
    expect(await failing([insert(1), { text: 'select missing' }, insert(2)])).to.equal('42703');
    expect(await failing([{ text: 'select 1 / $1::int', values: [0] }, insert(1)])).to.equal('22012');
    expect(await rows()).to.eql([]);
    await transaction.run([insert(1)]);
    await transaction.run([insert(2)]);
    expect(await rows()).to.have.length(2);
  });

  it('take bytes, arrays, truth values and nothing as parameters', async () => {
    const text =
      'insert into row select $1, $2::text[]::text || encode($3::bytea, $4) || $5::boolean || coalesce($6, $7)';
    await transaction.run([
      { text, values: [1, ['a"b\\', 'c,{}'], Buffer.from([0, 255]), 'hex', true, null, '?'] },
    ]);
    expect(await rows()).to.eql([[1, '{"a\\"b\\\\","c,{}"}00fftrue?']]);
  });

  it('end the session when one cannot be sent, and leave nothing behind', async () => {
    const unsendable = {
      toString() {
        throw new RangeError('too long');
      },
    };
    const failed = await failing([insert(1), { ...insert(2), values: [2, unsendable] }]);
    expect(String(failed)).to.equal('RangeError: too long');
    expect(await failing([insert(1)])).to.be.an('error');
    session = new pg.Client({ connectionString: database.url });
    await session.connect();
    await session.query("set lock_timeout = '10s'; lock table row");
    expect(await rows()).to.eql([]);
  });

  it('fail with the connection, before it and after', async () => {
    const { rows: self } = await session.query<{ pid: number }>('select pg_backend_pid() as pid');
    const ended = failing([{ text: 'select pg_terminate_backend($1)', values: [self[0]?.pid] }, insert(1)]);
    expect(await ended).to.equal('57P01');
    expect(await failing([insert(1)])).to.be.an('error');
  });
});
