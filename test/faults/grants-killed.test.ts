/**
 * The service is killed around each event with which it ends the grants of a deleted application: each grant ends exactly
 * once.
 */
import { expect } from 'chai';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { applicationStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { bundledProgram } from '#test/support/bundled-program.ts';
import { type GrantData, grantData, granted, linked } from '#test/support/consents.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { inDays } from '#test/support/me.ts';
import { eventually, freePort, startProgram } from '#test/support/process.ts';
import { describeAtFullSize } from '#test/support/scale.ts';
import { temporaryFolder } from '#test/support/temporary.ts';
import { created, made, Streams } from '../projections/made.ts';

const GRANTS = 3;

describeAtFullSize('grants of a deleted application, while the service is killed', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createMigratedDatabase();
  });
  after(() => database.drop());

  /** Runs a service that dies at an append: see `dying-service.ts`. */
  async function run(dies: Readonly<Record<string, string>>) {
    const env = {
      ...dies,
      DATABASE_URL: database.url,
      DATA_DIR: await temporaryFolder(),
      PORT: String(await freePort()),
      SANDBOX_PATIENTS: '0',
    };
    return startProgram(process.execPath, [await bundledProgram('test/faults/dying-service.ts')], env);
  }

  const ends = async () =>
    (
      await database.pool.query<{ data: string }>("select data from log.events where type = 'ConsentRevoked'")
    ).rows.map(({ data }) => JSON.parse(data) as GrantData & { reason: string });

  it('end once each, whatever it was doing', async () => {
    const application = `app_${newUuid()}`;
    const store = await PostgresEventStore.open({ url: database.url });
    const streams = new Streams(store);
    const grants = Array.from({ length: GRANTS }, () =>
      grantData({ application_id: application, sector: application, expires_at: inDays(30) }),
    );
    for (const grant of grants) {
      const record = newUuid();
      await streams.record(record, created('Patient', record), linked('mira'), granted(grant));
    }
    const deleted = made({ type: 'ApplicationDeleted', data: { application_id: application } });
    await streams.append(applicationStream(application), deleted);
    await store.close();
    // In this order, there is an append left for each run to die at, because the appends of a page are made at the same time.
    for (const dies of [
      { DIES_BEFORE: 'record- 1' },
      { DIES_BEFORE: 'record- 2' },
      { DIES_AFTER: 'record- 1' },
    ]) {
      const program = await run(dies);
      expect(await program.ended, JSON.stringify(dies)).to.equal('SIGKILL');
    }
    expect((await ends()).length).to.be.within(1, GRANTS);
    const alive = await run({ DIES_AFTER: 'record- 1000000' });
    try {
      await eventually(async () => (await ends()).length >= GRANTS, 60_000);
      await eventually(async () => {
        const { rowCount } = await database.pool.query('select from consents.grants where ended_at is null');
        return rowCount === 0;
      });
    } finally {
      alive.child.kill();
      await alive.ended;
    }
    const all = await ends();
    expect(all.map(({ grant_id }) => grant_id)).to.have.members(grants.map(({ grant_id }) => grant_id));
    expect(new Set(all.map(({ reason }) => reason))).to.deep.equal(new Set(['application_deleted']));
  });
});
