/** Receipts: every answer with a receipt can be reproduced from the log, byte for byte (docs/receipts.md). */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { signIn } from '#test/support/admin.ts';
import { runCommand } from '#test/support/cli.ts';
import { type Allowed, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { callTool, connectMcp, REVISIONS } from '#test/support/mcp.ts';
import { linkOf } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';
import { ReceiptsAgain } from '#test/support/receipts.ts';
import { restOf } from '#test/support/rest.ts';
import type { Answer } from '#test/support/service.ts';
import { readContent, share } from '#test/support/shared-links.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';

const EMAIL = 'mira@example.org';

describe('receipts', () => {
  let service: InProcess;
  let granting: Granting;
  let receipts: ReceiptsAgain;
  let patient: string;
  let whole: Allowed;
  let narrow: Allowed;

  const { made, v1 } = restOf(() => service);
  const requestOf = ({ headers }: Answer): string | null => headers.get('service-request-id');

  before(async () => {
    const dataDir = await temporaryFolder();
    service = await startInProcess({}, { DATA_DIR: dataDir });
    granting = await Granting.open(service);
    receipts = await ReceiptsAgain.open(service, dataDir);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    const application = await granting.register(owner, id, ['patient/*.cruds']);
    patient = String((await made('/patients', { family: 'Sand', birth_date: '1957-03-14' })).id);
    const value = { code: '4548-4', category: 'laboratory', unit: '%' };
    for (const month of ['01', '02', '03'])
      await made(`/patients/${patient}/observations`, {
        ...{ ...value, value: Number(`6.${month}`), effective_at: `2026-${month}-01T08:00:00Z` },
      });
    await made(
      `/patients/${patient}/observations`,
      { ...value, value: 9, effective_at: '2026-04-01T08:00:00Z' },
      { 'X-Service-Author-Type': 'ai' },
    );
    await made(`/patients/${patient}/conditions`, { code: 'E11.9', onset: '2020-01-01' });
    const medication = await service.post('/Medication', {
      resourceType: 'Medication',
      code: { text: `metformin, of Patient/${patient}` },
    });
    await service.post('/MedicationStatement', {
      ...{ resourceType: 'MedicationStatement', status: 'active', effectivePeriod: { start: '2026-01-01' } },
      subject: { reference: `Patient/${patient}` },
      medicationReference: { reference: `Medication/${medication.json.id}` },
    });
    whole = await granting.allow(application, patient);
    narrow = await granting.allow(application, patient, {
      scopes: [`patient/Observation.rs?category=${CATEGORY}|laboratory`, 'patient/Patient.rs'],
    });
  });
  after(async () => {
    await receipts?.close();
    await granting?.close();
    await service?.stop();
  });

  const context = (by: string | undefined, of: string, rest: object = {}) =>
    v1('POST', '/context', { patient: of, budget_tokens: 900, format: 'text', ...rest }, {}, by);

  it('of contexts are in the access log, and made again with the ids that the application knows', async () => {
    const answers = [
      await context(whole.token, whole.patient, { question: `Is ${whole.patient} well?` }),
      await context(narrow.token, narrow.patient),
      await context(whole.token, whole.patient, { as_of: new Date().toISOString() }),
    ];
    // The record goes on.
    await made(`/patients/${patient}/conditions`, { code: 'I10', onset: '2026-05-01' });
    for (const answer of answers) {
      expect(answer.status, answer.text).to.equal(200);
      const row = await receipts.ofRequest(requestOf(answer));
      expect(row).to.include({ kind: 'context', record: patient, name: answer.json.manifest_id });
      expect(row.reader).to.match(/^grant\//);
      await receipts.expectSent(row, answer.text);
    }
    const [first] = answers;
    const log = await v1('GET', `/patients/${patient}/access-log?limit=100`);
    const entries = log.json.data as unknown as { request_id: string; receipt: string | null }[];
    const entry = entries.find(({ request_id }) => first && request_id === requestOf(first));
    expect(entry?.receipt).to.match(/^rcpt_/);
  });

  it('of summaries', async () => {
    const summary = (by: string | undefined, of: string, query = '') =>
      service.fhir(`/Patient/${of}/$summary${query}`, by === undefined ? {} : { key: by });
    const answers = [
      await summary(whole.token, whole.patient),
      await summary(narrow.token, narrow.patient),
      await summary(whole.token, whole.patient, `?_asOf=${new Date().toISOString()}`),
    ];
    await made(`/patients/${patient}/conditions`, { code: 'I11', onset: '2026-05-01' });
    for (const answer of answers) {
      expect(answer.status, answer.text).to.equal(200);
      const row = await receipts.ofRequest(requestOf(answer));
      expect(row.kind).to.equal('summary');
      await receipts.expectSent(row, answer.text);
    }
    const own = await summary(undefined, patient);
    const [last] = await receipts.all();
    if (last !== undefined) await receipts.expectSent(last, own.text);
    const indented = await summary(undefined, patient, '?_pretty=true');
    const [other] = await receipts.all();
    if (other !== undefined) await receipts.expectSent(other, JSON.stringify(JSON.parse(indented.text)));
  });

  it('of answers to assistants: each tool runs again over what it was told', async () => {
    const page = await service.post('/DocumentReference', {
      ...{
        resourceType: 'DocumentReference',
        status: 'current',
        subject: { reference: `Patient/${patient}` },
      },
      content: [
        {
          attachment: {
            contentType: 'text/html',
            data: Buffer.from('<p>All is well.</p>').toString('base64'),
          },
        },
      ],
    });
    const practitioner = await service.post('/Practitioner', {
      resourceType: 'Practitioner',
      name: [{ family: 'Lind' }],
    });
    const scopes = ['patient/*.cruds'];
    const resources = [`${service.url}/mcp`];
    const tokens = [
      (await granting.allow(whole.application, patient, { scopes, resources })).token,
      (
        await granting.allow(whole.application, patient, {
          scopes: [`patient/Observation.rs?category=${CATEGORY}|laboratory`, 'patient/Patient.rs'],
          resources,
        })
      ).token,
    ];
    const calls: readonly (readonly [string, object])[] = [
      ['get_context', { question: 'How is the diabetes?' }],
      ['search_record', { type: 'Observation', limit: 2 }],
      ['search_record', { type: 'Observation', parameters: { _elements: 'status' } }],
      ['search_record', { type: 'Practitioner' }],
      ['read_resource', { type: 'Practitioner', id: practitioner.json.id }],
      ['read_resource', { type: 'Observation', id: 'none' }],
      ['timeline', {}],
      ['series', { code: '4548-4' }],
      ['find_patterns', {}],
      ['compare_periods', { code: '4548-4', a: { from: '2026-01-01' }, b: { from: '2026-02-01' } }],
      ['lookup_code', { text: 'blood sugar' }],
      ['list_documents', {}],
      ['read_document', { id: page.json.id }],
      ['what_may_i_do', {}],
      ['my_proposals', {}],
    ];
    const sent: string[] = [];
    const fetched = globalThis.fetch;
    globalThis.fetch = async (...args) => {
      const answer = await fetched(...args);
      if (String(args[0]).endsWith('/mcp')) sent.push(await answer.clone().text());
      return answer;
    };
    try {
      for (const token of tokens)
        for (const revision of REVISIONS) {
          const client = await connectMcp(service.url, token, revision);
          for (const [tool, args] of calls) await callTool(client, tool, args);
          await client.close();
        }
    } finally {
      globalThis.fetch = fetched;
    }
    await made(`/patients/${patient}/conditions`, { code: 'I12', onset: '2026-05-01' });
    const hashes = new Map(sent.map((text) => [createHash('sha256').update(text).digest('hex'), text]));
    const rows = (await receipts.all()).filter(({ kind }) => kind === 'mcp');
    expect(rows).to.have.length(calls.length * tokens.length * REVISIONS.length);
    for (const row of rows) await receipts.expectSent(row, hashes.get(row.sha256.toString('hex')) ?? '');
    const { rows: entries } = await service.pool.query<{ n: number }>(
      `select count(distinct e.receipt)::int as n from operations.access_entry e join operations.receipt r on r.id = e.receipt
        where r.kind = 'mcp'`,
    );
    expect(entries[0]?.n).to.be.greaterThan(calls.length);
  });

  it('of shared links: of the plaintext, when it is made', async () => {
    const links = async () =>
      (await service.pool.query('select from consents.links where record = $1', [patient])).rowCount ?? 0;
    const before = await links();
    await granting.events.append(patient, linkOf(service, EMAIL));
    await eventually(async () => (await links()) > before);
    const page = await service.post('/DocumentReference', {
      ...{
        resourceType: 'DocumentReference',
        status: 'current',
        subject: { reference: `Patient/${patient}` },
      },
      content: [
        { attachment: { contentType: 'text/plain', data: Buffer.from('All is well.').toString('base64') } },
      ],
    });
    const taken = {
      ...{ resourceType: 'MedicationStatement', status: 'active', dosage: [{ text: '5 mg daily' }] },
      ...{ medicationCodeableConcept: { text: 'Ramipril' }, subject: { reference: `Patient/${patient}` } },
    };
    const { json: first } = await service.post('/MedicationStatement', taken);
    const body = JSON.stringify({ ...first, dosage: [{ text: '10 mg daily' }] });
    await service.fhir(`/MedicationStatement/${String(first.id)}`, { method: 'PUT', body });
    for (const content of ['summary', 'everything', `document/${page.json.id}`])
      for (const longTerm of [false, true])
        for (const embeddedLengthMax of [1_000_000, 10]) {
          const link = await share(service, EMAIL, patient, { content, long_term: longTerm });
          const text = await readContent(link, { embeddedLengthMax });
          const { rows } = await service.pool.query<{ receipt: string }>(
            'select receipt from operations.access_entry where actor_id = $1 and receipt is not null',
            [link.id],
          );
          const label = `${content} ${longTerm} ${embeddedLengthMax}`;
          expect(text.includes('5 mg daily'), label).to.equal(!content.startsWith('document/'));
          expect(rows, label).to.have.length(1);
          const row = (await receipts.all()).find(({ id }) => id === rows[0]?.receipt);
          if (row === undefined) throw new Error(label);
          expect(row).to.include({ kind: 'link', reader: `link/${link.id}` });
          await receipts.expectSent(row, text);
        }
  });

  it('are made for API keys, too, whose reads are not in the access log', async () => {
    const answer = await context(undefined, patient);
    const [row] = await receipts.all();
    if (row === undefined) throw new Error('there is no receipt');
    expect(row.reader).to.match(/^key\//);
    await receipts.expectSent(row, answer.text);
    const told = await runCommand(['receipt', row.id], { DATABASE_URL: service.databaseUrl });
    expect([told.code, told.stderr]).to.deep.equal([
      0,
      'annal: the answer was made again from the log: it is byte for byte the one that was sent\n',
    ]);
    expect(told.stdout).to.contain(row.sha256.toString('hex')).and.to.contain(row.reader);
    const content = await runCommand(['receipt', row.id, '--content'], { DATABASE_URL: service.databaseUrl });
    expect(content.stdout).to.equal(answer.text);
  });

  it('are never said to match when they were altered', async () => {
    await context(whole.token, whole.patient);
    const [row] = await receipts.all();
    if (row === undefined) throw new Error('there is no receipt');
    expect((await receipts.remake({ ...row, reader: 'grant/other' })).outcome).to.equal('altered');
    const verified = await runCommand(['receipt', 'rcpt_none'], { DATABASE_URL: service.databaseUrl });
    expect(verified.code).to.equal(1);
  });

  it('go with the record', async () => {
    const other = String((await made('/patients', { family: 'Gone' })).id);
    await context(undefined, other);
    const left = async () => (await receipts.all()).filter(({ record }) => record === other).length;
    expect(await left()).to.equal(1);
    expect((await service.fhir(`/Patient/${other}?_purge=true`, { method: 'DELETE' })).status).to.equal(204);
    expect(await left()).to.equal(0);
  });
});
