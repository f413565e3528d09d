/** Assistants learn nothing about values that a grant leaves out, and nothing that the values don't support (docs/mcp.md). */
import type { Client } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { signIn } from '#test/support/admin.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { callTool, connectMcp } from '#test/support/mcp.ts';
import { restOf } from '#test/support/rest.ts';

const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';
const GLUCOSE = '2345-7';

describe('values that assistants are told of', () => {
  let service: InProcess;
  let granting: Granting;
  let application: Application;
  const clients: Client[] = [];

  const { made } = restOf(() => service);

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    application = await granting.register(owner, id, ['patient/*.cruds']);
  });
  after(async () => {
    for (const client of clients) await client.close();
    await granting?.close();
    await service?.stop();
  });

  const newPatient = async (): Promise<string> => String((await made('/patients', { family: 'Sand' })).id);
  const allow = (patient: string): Promise<Allowed> =>
    granting.allow(application, patient, { scopes: ['patient/*.cruds'] });
  /** Connects an assistant under a grant. */
  const connect = async (allowed: Allowed, scopes?: readonly string[]): Promise<Client> => {
    const token = await granting.tokenOf(allowed, scopes, [`${service.url}/mcp`]);
    const client = await connectMcp(service.url, token);
    clients.push(client);
    return client;
  };
  const quantity = (value: number, unit: string, more: JsonObject = {}): JsonObject => ({
    ...{ value, unit, system: UCUM, code: unit },
    ...more,
  });
  /** Writes a glucose Observation, unless `more` changes the code. */
  const measure = async (patient: string, effectiveDateTime: string, more: JsonObject = {}) => {
    const sent = await service.post('/Observation', {
      ...{ resourceType: 'Observation', status: 'final', effectiveDateTime },
      code: { coding: [{ system: LOINC, code: GLUCOSE, display: 'Glucose' }] },
      subject: { reference: `Patient/${patient}` },
      ...more,
    });
    expect(sent.status, sent.text).to.equal(201);
    return sent.json;
  };
  /** Writes twelve rising glucose values with a category. */
  const rise = async (patient: string, category: string): Promise<void> => {
    for (let month = 1; month <= 12; month += 1)
      await measure(patient, `2025-${String(month).padStart(2, '0')}-01T08:00:00Z`, {
        category: [
          {
            coding: [
              { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: category },
            ],
          },
        ],
        valueQuantity: quantity(100 + 3 * month, 'mg/dL'),
      });
  };
  const contentOf = ({ structured }: { readonly structured: JsonObject }): JsonObject =>
    Object(structured.record_content);

  it('are of a moment that says nothing of changes outside the grant', async () => {
    const patient = await newPatient();
    await rise(patient, 'laboratory');
    const client = await connect(await allow(patient), ['patient/Observation.rs?category=laboratory']);
    const read = async (): Promise<Json | undefined> => {
      const [first] = objects(contentOf(await callTool(client, 'find_patterns')).findings);
      expect(first).to.not.equal(undefined);
      return first?.computed_at;
    };
    const before = await read();
    await made(`/patients/${patient}/conditions`, { code: 'B20', onset: '2020-01-01' });
    await measure(patient, '2026-01-01', { valueQuantity: quantity(5, 'mg/dL') });
    expect(await read()).to.equal(before);
    await rise(patient, 'laboratory');
    expect(String(await read()) > String(before)).to.equal(true);
  });

  it('say in patterns what was left out, and that medicines are outside the grant', async () => {
    const patient = await newPatient();
    await rise(patient, 'laboratory');
    await measure(patient, '2026-01-01', { valueQuantity: quantity(9, 'mg/dL'), status: 'entered-in-error' });
    await measure(patient, '2026-01-02', { valueQuantity: quantity(9, 'cm') });
    const allowed = await allow(patient);
    const found = await callTool(await connect(allowed), 'find_patterns', { limit: 1 });
    const { warnings, total } = contentOf(found);
    expect(objects(warnings).map(({ text }) => text)).to.have.members([
      'left out: entered in error',
      "left out: cm can't be converted to mg/dL",
    ]);
    expect(total).to.be.greaterThan(0);
    expect(found.text).to.contain('Warning: left out: entered in error (1)');
    expect(found.structured.incomplete).to.deep.equal([]);
    const narrow = await connect(allowed, ['patient/Observation.rs']);
    expect((await callTool(narrow, 'find_patterns')).structured.incomplete).to.deep.equal([
      { left_out_by: 'scope', what: 'MedicationStatement' },
    ]);
  });

  it('keep their signs, in series and as evidence', async () => {
    const patient = await newPatient();
    const signs = ['<', '<=', '>=', '>'];
    for (const [n, comparator] of signs.entries())
      await measure(patient, `2026-01-0${n + 1}`, {
        valueQuantity: quantity(200, 'mg/dL', { comparator }),
        referenceRange: [{ high: quantity(200, 'mg/dL') }],
      });
    for (let day = 5; day <= 8; day += 1)
      await measure(patient, `2026-01-0${day}`, {
        valueQuantity: quantity(300, 'mg/dL', { comparator: '>=' }),
        referenceRange: [{ high: quantity(200, 'mg/dL') }],
      });
    const client = await connect(await allow(patient));
    const { points } = contentOf(await callTool(client, 'series', { code: GLUCOSE }));
    expect(
      objects(points)
        .slice(0, 4)
        .map(({ comparator }) => comparator),
    ).to.deep.equal(signs);
    const found = objects(contentOf(await callTool(client, 'find_patterns')).findings);
    const run = found.find(({ kind }) => kind === 'out_of_range');
    const of = await callTool(client, 'find_patterns', { finding_id: String(run?.finding_id) });
    // "At least 200" may mean 200, which is in range; "above 200" can't.
    expect(objects(contentOf(of).evidence).map(({ comparator }) => comparator)).to.deep.equal([
      ...['>', '>=', '>=', '>=', '>='],
    ]);
    expect(of.text).to.contain('>=300 mg/dL');
  });

  it('say how many have the code and no number, and how many may still change', async () => {
    const patient = await newPatient();
    await measure(patient, '2026-01-01', { valueQuantity: quantity(90, 'mg/dL'), status: 'preliminary' });
    await measure(patient, '2026-01-02', { valueString: 'hemolyzed' });
    await measure(patient, '2026-01-03', {
      valueRange: { low: quantity(80, 'mg/dL'), high: quantity(90, 'mg/dL') },
    });
    const part = (code: string, value: number): JsonObject => ({
      code: { coding: [{ system: LOINC, code }] },
      valueQuantity: quantity(value, 'mm[Hg]'),
    });
    await measure(patient, '2026-01-04', {
      code: { coding: [{ system: LOINC, code: '85354-9' }] },
      component: [part('8480-6', 120), part('8462-4', 80)],
    });
    const client = await connect(await allow(patient));
    const warned = async (code: string): Promise<unknown[]> =>
      objects(contentOf(await callTool(client, 'series', { code })).warnings).map(
        ({ kind, count }) => [kind, count] as const,
      );
    expect(await warned(GLUCOSE)).to.deep.equal([
      ['left_out', 2],
      ['preliminary', 1],
    ]);
    expect(await warned('85354-9')).to.deep.equal([['left_out', 1]]);
    expect(await warned('8480-6')).to.deep.equal([]);
    expect(await warned('85354-9~8480-6')).to.deep.equal([]);
  });

  it('count copies once, and not what is dated after it was recorded', async () => {
    const patient = await newPatient();
    for (let copy = 0; copy < 6; copy += 1)
      await measure(patient, '2026-01-01T08:00:00Z', {
        valueQuantity: quantity(300, 'mg/dL'),
        referenceRange: [{ high: quantity(200, 'mg/dL') }],
      });
    for (let day = 1; day <= 6; day += 1)
      await measure(patient, `2026-02-0${day}`, { valueQuantity: quantity(100 + day, 'mg/dL') });
    await measure(patient, '2999-01-01', { valueQuantity: quantity(100, 'mg/dL') });
    const client = await connect(await allow(patient));
    const { findings, warnings } = contentOf(await callTool(client, 'find_patterns'));
    expect(objects(findings)).to.deep.equal([]);
    expect(objects(warnings).map(({ count }) => count)).to.deep.equal([1, 5]);
    const compared = contentOf(
      await callTool(client, 'compare_periods', {
        code: GLUCOSE,
        a: { from: '2026-01-01', to: '2026-01-31' },
        b: { from: '2026-02-01', to: '2026-02-28' },
      }),
    );
    expect(compared).to.include({ sufficient: false });
    expect(compared.a).to.include({ count: 1 });
    const { points } = contentOf(await callTool(client, 'series', { code: GLUCOSE }));
    expect(objects(points)).to.have.length(12);
  });

  it('belong to a period only if their dates are wholly in it', async () => {
    const patient = await newPatient();
    for (const date of ['2024', '2024-05', '2024-05-31', '2024-06-01'])
      await measure(patient, date, { valueQuantity: quantity(90, 'mg/dL') });
    const client = await connect(await allow(patient));
    const { a, b, warnings } = contentOf(
      await callTool(client, 'compare_periods', {
        code: GLUCOSE,
        a: { from: '2024-01-01', to: '2024-05-31' },
        b: { from: '2024-06-01', to: '2024-12-31' },
      }),
    );
    expect([Object(a).count, Object(b).count]).to.deep.equal([2, 1]);
    expect(objects(warnings)).to.deep.equal([
      { kind: 'left_out', text: "left out: the date doesn't say in which period", count: 1 },
    ]);
  });

  it('aren’t all that a line says: it says that a medicine must not be given', async () => {
    const patient = await newPatient();
    await service.post('/MedicationRequest', {
      ...{ resourceType: 'MedicationRequest', status: 'active', intent: 'order', doNotPerform: true },
      ...{ subject: { reference: `Patient/${patient}` }, medicationCodeableConcept: { text: 'Ibuprofen' } },
    });
    const client = await connect(await allow(patient));
    const { text } = await callTool(client, 'search_record', { type: 'MedicationRequest' });
    expect(text).to.contain('must NOT be given · Ibuprofen');
  });

  it('are named medians where they are', async () => {
    const patient = await newPatient();
    for (const value of [90, 100, 140])
      await measure(patient, '2026-01-05', { valueQuantity: quantity(value, 'mg/dL') });
    const client = await connect(await allow(patient));
    const { text } = await callTool(client, 'series', { code: GLUCOSE, bucket: 'month' });
    expect(text).to.contain('1 medians on this page').and.contain('100 mg/dL, the median of 3');
  });

  it('come with what the token opens, not only with what the person allowed', async () => {
    const allowed = await allow(await newPatient());
    const client = await connect(allowed, ['patient/Observation.rs?category=laboratory']);
    const { text, structured } = await callTool(client, 'what_may_i_do');
    expect(objects(structured.access).filter(({ type }) => type === 'Observation')).to.deep.equal([
      { type: 'Observation', letters: 'rs', category: 'laboratory' },
    ]);
    expect(objects(structured.access).map(({ type }) => type)).to.not.contain('Condition');
    expect(text).to.contain('Observation (category laboratory)');
  });

  it('are counted apart from what a search includes and from what an AI wrote', async () => {
    const patient = await newPatient();
    await measure(patient, '2026-01-01', { valueQuantity: quantity(90, 'mg/dL') });
    await made(
      `/patients/${patient}/observations`,
      {
        code: GLUCOSE,
        category: 'laboratory',
        effective_at: '2026-01-02T08:00:00Z',
        value: 91,
        unit: 'mg/dL',
      },
      { 'X-Service-Author-Type': 'ai' },
    );
    const client = await connect(await allow(patient));
    const { text } = await callTool(client, 'search_record', {
      ...{ type: 'Observation', parameters: { _include: 'Observation:subject' } },
    });
    expect(text).to.contain(
      '1 Observation resource on this page, and 1 included; 1 more that an AI wrote, only in ai_written.',
    );
    expect((await callTool(client, 'timeline')).text).to.contain('1 events on this page; 1 more');
  });

  it('say that the person has died', async () => {
    const patient = await newPatient();
    const { json } = await service.fhir(`/Patient/${patient}`);
    const died = { ...json, deceasedDateTime: '2026-02-01' };
    const put = await service.fhir(`/Patient/${patient}`, { method: 'PUT', body: JSON.stringify(died) });
    expect(put.status, put.text).to.equal(200);
    const client = await connect(await allow(patient));
    expect((await callTool(client, 'search_record', { type: 'Patient' })).text).to.contain('died 2026-02-01');
  });

  it('say who wrote an early version of many', async () => {
    const patient = await newPatient();
    let json = await measure(patient, '2026-01-01', { valueQuantity: quantity(0, 'mg/dL') });
    const id = String(json.id);
    for (let value = 1; value <= 201; value += 1) {
      const body = JSON.stringify({ ...json, valueQuantity: quantity(value, 'mg/dL') });
      ({ json } = await service.fhir(`/Observation/${id}`, { method: 'PUT', body }));
    }
    const client = await connect(await allow(patient));
    const read = await callTool(client, 'read_resource', { type: 'Observation', id, version: 1 });
    expect(contentOf(read)).to.have.nested.property('provenance.version', 1);
    expect(read.structured.incomplete).to.deep.equal([]);
  });

  it('call a document what it is: entered in error, or superseded', async () => {
    const patient = await newPatient();
    const client = await connect(await allow(patient));
    for (const [status, said] of [
      ['current', undefined],
      ['entered-in-error', 'entered in error'],
      ['superseded', 'superseded'],
    ] as const) {
      const data = Buffer.from('You have diabetes').toString('base64');
      const { json, text } = await service.post('/DocumentReference', {
        ...{ resourceType: 'DocumentReference', status, subject: { reference: `Patient/${patient}` } },
        content: [{ attachment: { contentType: 'text/plain', data } }],
      });
      const read = await callTool(client, 'read_document', { id: String(json.id) });
      expect(read.isError, text + read.text).to.equal(false);
      expect(contentOf(read).withdrawn, status).to.equal(said);
      expect(read.text.includes('don’t state its content as fact'), read.text).to.equal(said !== undefined);
    }
  });
});

function objects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}
