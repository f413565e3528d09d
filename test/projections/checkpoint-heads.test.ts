/** The log checked against earlier heads of its streams, which finds faults that only a checkpoint can reveal. */
import { expect } from 'chai';
import type { NamedHead } from '#projections/verify/chain-check.ts';
import { LogFaulty, withHeads } from '#projections/verify/heads.ts';
import { type VerifyReport, verify } from '#projections/verify/verify.ts';
import { seal } from '#src/events/chain.ts';
import { encode } from '#src/events/codec.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Instance, startInstance } from './instance.ts';
import { created, erased, erasureRequested, Streams, updated } from './made.ts';

async function* iterate<T>(items: readonly T[]): AsyncGenerator<T> {
  yield* items;
}

describe('heads of streams', () => {
  let database: TestDatabase;
  let instance: Instance;
  let streams: Streams;
  let patient: string;
  let other: string;
  let heads: NamedHead[];

  const deps = () => ({ store: instance.store, databaseUrl: database.url });
  const sql = (text: string, ...values: unknown[]) => database.pool.query(text, values);
  const read = async (): Promise<NamedHead[]> =>
    (await withHeads(deps(), async (log) => {
      const all: NamedHead[] = [];
      for await (const head of log.heads) all.push(head);
      expect(all).to.have.length(log.streams);
      return all;
    })) ?? [];
  const verifyAgainst = (expected: readonly NamedHead[]): Promise<VerifyReport> =>
    verify(deps(), { heads: iterate(expected) });
  const faults = ({ log }: VerifyReport) =>
    log.map(({ what, stream, revision, message }) => [what, stream, revision, message]);
  const stream = () => `record-${patient}`;
  /** Removes a stream's events and rows, like an attacker who knows the tables. */
  const removeRows = async (ids: string): Promise<void> => {
    for (const table of ['entry', 'string', 'period', 'quantity']) {
      await sql(`delete from search.${table} where id in (select id from resources.resource where ${ids})`);
    }
    for (const table of ['entry', 'place', 'tally']) {
      // Removes the timeline's rows for the only resource of the record that the timeline shows.
      await sql(
        `delete from timeline.${table} where record in (select record from resources.resource where ${ids})`,
      );
    }
    await sql(`delete from history.version where ${ids}`);
    await sql(`delete from resources.resource where ${ids}`);
  };

  beforeEach(async () => {
    database = await createDatabase();
    instance = await startInstance(database.url);
    streams = new Streams(instance.store);
    [patient, other] = [newUuid(), newUuid()];
    await streams.record(patient, created('Patient', patient), updated('Patient', patient, 2));
    await streams.record(other, created('Patient', other));
    await streams.record(patient, created('Observation', newUuid()));
    await instance.shown(await streams.directory(created('Organization', newUuid())));
    heads = await read();
  });
  afterEach(async () => {
    await instance.stop();
    await database.drop();
  });

  it('are those of the streams, in the order of their names', async () => {
    expect(heads.map((head) => head.stream)).to.deep.equal([
      'directory-proj_made-sandbox',
      ...[stream(), `record-${other}`].sort(),
    ]);
    for (const { stream: name, revision, hash } of heads) {
      for await (const event of instance.store.read(name, { direction: 'backwards', limit: 1 })) {
        expect(event.revision).to.equal(revision);
        expect(event.metadata).to.match(new RegExp(`"hash":"${hash}"}$`));
      }
    }
  });

  it('are still there after later writes, and in what was written since', async () => {
    await streams.record(patient, created('Observation', newUuid()));
    const fresh = newUuid();
    await instance.shown(await streams.record(fresh, created('Patient', fresh)));
    const report = await verifyAgainst(heads);
    expect(report.clean).to.equal(true);
    expect(report.checkpoint).to.deep.equal({ streams: 3, erased: [] });
    expect((await verify(deps())).checkpoint).to.equal(null);
  });

  it('betray an end that was removed together with its rows', async () => {
    await sql('delete from log.events where stream = $1 and revision = 2', stream());
    await removeRows(`type = 'Observation'`);
    expect((await verify(deps())).clean, 'without the checkpoint').to.equal(true);
    expect(faults(await verifyAgainst(heads))).to.deep.equal([
      ['checkpoint', stream(), 2, 'the stream ends at revision 1; the checkpoint has it up to 2'],
    ]);
  });

  it('betray a stream that was removed together with its rows', async () => {
    await sql('delete from log.events where stream = $1', stream());
    await removeRows(`record = '${patient}'`);
    expect((await verify(deps())).clean, 'without the checkpoint').to.equal(true);
    expect(faults(await verifyAgainst(heads))).to.deep.equal([
      ['checkpoint', stream(), 0, 'the stream is missing; the checkpoint has it up to revision 2'],
    ]);
    await sql('insert into log.erased values ($1)', stream());
    expect(faults(await verifyAgainst(heads)), 'with a tombstone').to.have.length(1);
  });

  it('betray a history that was written anew, with hashes that fit', async () => {
    const { rows } = await sql('select * from log.events where stream = $1 order by revision', stream());
    const forged = rows.map((row) => {
      const metadata = row.metadata.replace(/,"hash":"[0-9a-f]{64}"\}$/, '}');
      const change = { type: 'ResourceUpdated', resourceType: 'Patient', resourceId: patient } as const;
      const data = row.revision === 1 ? encode({ ...change, version: 2, body: '{"forged":true}' }) : row.data;
      return { id: row.id, type: row.type, data, metadata };
    });
    for (const { revision, data, metadata } of seal(stream(), 'none', forged).events) {
      await sql(
        'update log.events set data = $3, metadata = $4 where stream = $1 and revision = $2',
        stream(),
        revision,
        data,
        metadata,
      );
    }
    await sql(`update history.version set body = '{"forged":true}' where id = $1 and version = 2`, patient);
    await sql(`update resources.resource set body = '{"forged":true}' where id = $1`, patient);
    expect((await verify(deps())).clean, 'without the checkpoint').to.equal(true);
    expect(faults(await verifyAgainst(heads))).to.deep.equal([
      [
        'checkpoint',
        stream(),
        2,
        'the history up to revision 2 differs from the one signed in the checkpoint',
      ],
    ]);
  });

  it('excuse a record that was purged since, and name it', async () => {
    await streams.project(erasureRequested(other));
    await instance.store.erase(`record-${other}`);
    await instance.shown(await streams.project(erased(other)));
    const report = await verifyAgainst(heads);
    expect(report.clean).to.equal(true);
    expect(report.checkpoint?.erased.map((each) => each.patient)).to.deep.equal([other]);
    const [purged] = report.checkpoint?.erased ?? [];
    expect(purged?.request_id).to.equal('req_made');
    expect((purged?.erased ?? '') > (purged?.requested ?? '')).to.equal(true);
    expect((await read()).map((head) => head.stream)).not.to.include(`record-${other}`);
  });

  it('excuse a purge that is under way', async () => {
    await instance.shown(await streams.project(erasureRequested(other)));
    await instance.store.erase(`record-${other}`);
    const report = await verifyAgainst(heads);
    expect(report.log).to.deep.equal([]);
    expect(report.readModels).to.deep.equal([]);
    expect(report.checkpoint?.erased).to.have.length(1);
    expect(report.checkpoint?.erased[0]?.erased).to.equal(null);
  });

  it('are not given of a log that has faults', async () => {
    await sql(
      `update log.events set data = replace(data, '"id"', '"Id"') where stream = $1 and revision = 1`,
      stream(),
    );
    const refusal = await read().catch((error: unknown) => error);
    expect(refusal).to.be.instanceOf(LogFaulty);
    expect((refusal as LogFaulty).faults.map(({ what, revision }) => [what, revision])).to.deep.equal([
      ['hash', 1],
    ]);
  });
});
