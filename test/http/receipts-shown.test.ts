/**
 * Receipts over HTTP: the person and the auditors of the record's project can read them; for everyone else, they don't exist.
 */
import { expect } from 'chai';
import { type Auditing, openAuditing, REASON } from '#test/support/auditing.ts';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { linkOf, me } from '#test/support/me.ts';
import { linksOf, patientVisitor, wordsOf } from '#test/support/patient-pages.ts';
import { eventually } from '#test/support/process.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import { restOf } from '#test/support/rest.ts';

const [MIRA, NOAH] = ['mira@example.org', 'noah@example.org'];

describe('receipts over HTTP', () => {
  let service: InProcess;
  let auditing: Auditing;
  let events: RecordEvents;
  /** A Patient and the receipt of a context, for each environment. */
  let receipts: Readonly<Record<'sandbox' | 'production', { readonly patient: string; readonly id: string }>>;
  let context: string;

  const { v1 } = restOf(() => service);

  before(async () => {
    service = await startInProcess({}, { ACCESS_LOG: 'all' });
    auditing = await openAuditing(service);
    events = await RecordEvents.open(service.databaseUrl);
    const make = async (environment: 'sandbox' | 'production') => {
      const { key } = auditing[environment];
      const name = [{ family: 'Sand' }];
      const { id: patient } = await auditing.write(
        { resourceType: 'Patient', name, birthDate: '1957-03-14' },
        key,
      );
      const answer = await v1('POST', '/context', { patient, format: 'text' }, {}, key);
      const log = await v1('GET', `/patients/${patient}/access-log`, undefined, {}, key);
      const [entry] = log.json.data as unknown as { receipt: string | null }[];
      context = answer.text;
      return { patient, id: String(entry?.receipt) };
    };
    receipts = { production: await make('production'), sandbox: await make('sandbox') };
    await events.append(receipts.sandbox.patient, linkOf(service, MIRA));
    const links = 'select from consents.links where record = $1';
    await eventually(
      async () => (await service.pool.query(links, [receipts.sandbox.patient])).rowCount === 1,
    );
  });
  after(async () => {
    await events?.close();
    await service?.stop();
  });

  it('show the person what a reader was shown, also on their page', async () => {
    const { patient, id } = receipts.sandbox;
    const { status, json } = await me(service, MIRA, `/patients/${patient}/receipts/${id}`);
    expect(status).to.equal(200);
    expect(json).to.include({ id, kind: 'context', outcome: 'matches', content: context, missing: null });
    expect(json.reader).to.equal(`key/${auditing.sandbox.id}`);
    const visitor = await patientVisitor(service, MIRA);
    const log = await visitor.open(`/connections/records/${patient}/log`);
    const [link = ''] = linksOf(log, `/log/${id}`);
    const page = wordsOf(await visitor.open(link));
    expect(page).to.contain('exactly the answer that was sent').and.to.contain('69 years');
  });

  it('show auditors of the project the same, as a read of the record', async () => {
    const path = (id: string) => `/projects/${auditing.project}/receipts/${id}`;
    const { patient, id } = receipts.sandbox;
    const { json } = await auditing.auditor.ask('GET', path(id));
    expect(json).to.include({ id, patient, outcome: 'matches', content: context });
    const entries = await v1('GET', `/patients/${patient}/access-log`, undefined, {}, auditing.sandbox.key);
    expect(JSON.stringify(entries.json.data)).to.contain('"action":"receipt"');
    const other = path(receipts.production.id);
    expect((await auditing.auditor.ask('GET', other)).status).to.equal(400);
    expect((await auditing.auditor.ask('GET', other, undefined, REASON)).status).to.equal(200);
    expect((await auditing.developer.ask('GET', path(id))).status).to.equal(403);
  });

  it('are for nobody else: they answer like receipts that never were', async () => {
    const { patient, id } = receipts.sandbox;
    const own = await v1('POST', '/context', { patient }, {}, service.key);
    expect(own.status).to.equal(404);
    for (const [, stranger] of auditing.strangers.entries()) {
      const { data } = (await stranger.done('GET', '/organizations')) as unknown as {
        data: { id: string }[];
      };
      for (const organization of data) {
        const made = await stranger
          .done('POST', `/organizations/${organization.id}/projects`, { name: 'Theirs' })
          .catch(() => undefined);
        if (made === undefined) continue;
        const there = await stranger.ask('GET', `/projects/${made.id}/receipts/${id}`);
        const never = await stranger.ask('GET', `/projects/${made.id}/receipts/rcpt_never`);
        expect([there.status, never.status]).to.deep.equal([404, 404]);
      }
      expect((await stranger.ask('GET', `/projects/${auditing.project}/receipts/${id}`)).status).to.equal(
        404,
      );
    }
    expect((await me(service, NOAH, `/patients/${patient}/receipts/${id}`)).status).to.equal(404);
    const { status } = await me(service, MIRA, `/patients/${patient}/receipts/${receipts.production.id}`);
    expect(status).to.equal(404);
    expect(
      (await me(service, MIRA, `/patients/${receipts.production.patient}/receipts/${id}`)).status,
    ).to.equal(404);
  });

  it('are gone after a purge: nothing is made again, also from a row that is still there, and the command says why', async () => {
    const { patient, id } = receipts.sandbox;
    const { key, id: keyId } = auditing.sandbox;
    const { pool, databaseUrl } = service;
    await pool.query(`create table kept as select * from operations.receipt where id = '${id}'`);
    const purged = await service.fhir(`/Patient/${patient}?_purge=true`, { method: 'DELETE', key });
    expect(purged.status, String(purged)).to.equal(204);
    const statuses = async () => [
      (await me(service, MIRA, `/patients/${patient}/receipts/${id}`)).status,
      (await auditing.auditor.ask('GET', `/projects/${auditing.project}/receipts/${id}`)).status,
    ];
    const command = () => runCommand(['receipt', id, '--content'], { DATABASE_URL: databaseUrl });
    expect(await statuses()).to.deep.equal([404, 404]);
    const unknown = await command();
    expect([unknown.code, unknown.stdout]).to.deep.equal([1, '']);
    expect(unknown.stderr).to.contain('the purge of a record deletes its receipts');
    // Simulates a PostgreSQL backup from before the purge, which still contains the row.
    await pool.query('insert into operations.receipt select * from kept');
    expect(await statuses()).to.deep.equal([404, 404]);
    const known = await command();
    expect([known.code, known.stdout]).to.deep.equal([1, '']);
    expect(known.stderr).to.match(new RegExp(`Patient/${patient} was purged: .*${keyId}`));
  });
});
