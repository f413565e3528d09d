/** Reads through REST v1 under a grant (docs/spec/decisions.md, sections 1, 4 and 9). */
import { expect } from 'chai';
import type { JsonObject } from '#src/shared/json/json.ts';
import { signIn } from '#test/support/admin.ts';
import { runCommand } from '#test/support/cli.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { dataOf, restOf } from '#test/support/rest.ts';
import type { Answer } from '#test/support/service.ts';

const LAB = 'laboratory';
const VITAL = 'vital-signs';
const SYSTEM = 'http://terminology.hl7.org/CodeSystem/observation-category';
const UNKNOWN = '01890000-0000-7000-8000-000000000000';

/** A patient's record that other resources refer to. */
interface Filled {
  readonly patient: string;
  readonly labs: readonly string[];
  readonly vital: string;
  readonly both: string;
  readonly condition: string;
  readonly medication: string;
  readonly prescription: string;
  readonly document: string;
}

describe('REST v1 under a grant', () => {
  let service: InProcess;
  let granting: Granting;
  let application: Application;
  let record: Filled;
  let other: Filled;
  let whole: Allowed;
  let narrow: Allowed;

  const { v1, made, fhir } = restOf(() => service);

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    application = await granting.register(owner, id);
    [record, other] = [await filled('Sand'), await filled('Other')];
    whole = await granting.allow(application, record.patient);
    narrow = await granting.allow(application, record.patient, {
      scopes: [`patient/Observation.rs?category=${SYSTEM}|${LAB}`, 'patient/Provenance.rs'],
    });
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  const observed = (patient: string, category: string, at: string, code = '4548-4') =>
    made(`/patients/${patient}/observations`, {
      ...{ code, category, effective_at: `${at}T08:00:00Z`, value: 7.1, unit: '%' },
    });
  async function filled(family: string): Promise<Filled> {
    const patient = String((await made('/patients', { family, birth_date: '1957-03-14' })).id);
    const labs: string[] = [];
    for (const day of ['2026-01-01', '2026-01-02', '2026-01-03'])
      labs.push(String((await observed(patient, LAB, day)).id));
    const vital = String((await observed(patient, VITAL, '2026-01-02')).id);
    const both = String((await observed(patient, LAB, '2026-01-04')).id);
    const stored = await fhir('Observation', both);
    const category = [LAB, VITAL].map((code) => ({ coding: [{ system: SYSTEM, code }] }));
    const body = JSON.stringify({ ...stored, category });
    expect((await service.fhir(`/Observation/${both}`, { method: 'PUT', body })).status).to.equal(200);
    const of = `/patients/${patient}`;
    const condition = await made(`${of}/conditions`, { code: 'E11.9', onset: '2020-01-01' });
    const medication = await made(`${of}/medications`, { code: 'A10BA02', start: '2026-01-01' });
    const prescribed = await service.post('/MedicationRequest', {
      ...{ resourceType: 'MedicationRequest', status: 'active', intent: 'order', authoredOn: '2026-01-01' },
      subject: { reference: `Patient/${patient}` },
      medicationCodeableConcept: { text: 'Metformin' },
      requester: { reference: `Patient/${patient}` },
    });
    const document = await made(`${of}/documents`, { title: `About ${patient}`, content_type: 'text/plain' });
    const put = await fetch(`${service.url}/v1/documents/${String(document.id)}/content`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'text/plain' },
      body: `Dear Patient/${patient}`,
    });
    expect(put.status, await put.text()).to.equal(200);
    const ids = {
      condition: String(condition.id),
      medication: String(medication.id),
      prescription: String(prescribed.json.id),
      document: String(document.id),
    };
    return { patient, labs, vital, both, ...ids };
  }
  const ask = (allowed: Allowed, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
    v1('GET', path, undefined, headers, allowed.token);
  const idsOf = (answer: Answer) => dataOf(answer).map(({ id }) => String(id));
  /** Returns every page of a list. */
  async function pages(allowed: Allowed, path: string): Promise<{ ids: string[]; total: number }> {
    const ids: string[] = [];
    let total = -1;
    let cursor = '';
    do {
      const more = `${path.includes('?') ? '&' : '?'}limit=1${cursor === '' ? '' : `&cursor=${cursor}`}`;
      const answer = await ask(allowed, path + more);
      ids.push(
        ...dataOf(answer).map(({ id, fhir: name, version }) =>
          String(id ?? `${String(name)} ${String(version)}`),
        ),
      );
      total = Number(answer.json.total);
      cursor = String(answer.json.next_cursor ?? '');
      const clear = Buffer.from(cursor, 'base64url').toString('latin1');
      expect(clear.toLowerCase()).not.to.contain(record.patient);
    } while (cursor !== '');
    return { ids, total };
  }
  async function entriesOf(answer: Answer): Promise<JsonObject[]> {
    const { rows } = await service.pool.query<JsonObject>(
      `select record, action, resource_type, resource_id, status, count, grant_id from operations.access_entry
        where request_id = $1 order by seq`,
      [answer.headers.get('service-request-id')],
    );
    return rows;
  }

  it('answers as the owner is answered, under the pairwise id', async () => {
    const { patient, labs, condition, medication, prescription, document } = record;
    for (const path of [
      `/patients/${patient}`,
      `/patients/${patient}/observations`,
      `/patients/${patient}/observations?category=${LAB}&code=4548-4&from=2026-01-02&to=2026-01-03`,
      `/patients/${patient}/conditions?clinical_status=active`,
      `/patients/${patient}/medications`,
      `/patients/${patient}/prescriptions?status=active`,
      `/patients/${patient}/prescriptions/${prescription}`,
      `/patients/${patient}/documents?kind=other`,
      `/patients/${patient}/timeline`,
      `/patients/${patient}/timeline?kinds=document,condition&from=2019-01-01`,
      `/patients/${patient}/provenance/Observation/${labs[0]}`,
      `/observations/${labs[0]}`,
      `/conditions/${condition}`,
      `/medications/${medication}`,
      `/documents/${document}`,
      '/terminology/loinc?q=hemoglobin',
      '/terminology/atc/A10BA02',
    ]) {
      const own = await v1('GET', path);
      const seen = await ask(whole, path.replace(patient, whole.patient));
      expect([own.status, seen.status], `${path} ${seen.text}`).to.deep.equal([200, 200]);
      const known = own.text
        .replaceAll(patient, whole.patient)
        // The API key belongs to another project.
        .replace(/"written_by":\{[^}]*\}/g, '"written_by":{}');
      expect(seen.text.replace(/"written_by":\{[^}]*\}/g, '"written_by":{}'), path).to.equal(known);
      for (const [name, value] of seen.headers) expect(value, name).not.to.contain(patient);
    }
  });

  it('lists the patient of the grant alone', async () => {
    expect(await pages(narrow, '/patients')).to.deep.equal({ ids: [narrow.patient], total: 1 });
  });

  it('lists, counts and pages what the categories cover; several of them count an Observation once', async () => {
    const { labs, both, vital } = record;
    const [first = '', second = '', third = ''] = labs;
    const list = `/patients/${narrow.patient}/observations`;
    expect(await pages(narrow, list)).to.deep.equal({ ids: [both, third, second, first], total: 4 });
    expect(await pages(narrow, `${list}?code=4548-4&from=2026-01-02`)).to.deep.equal({
      ids: [both, third, second],
      total: 3,
    });
    expect(await pages(narrow, `${list}?category=${VITAL}`)).to.deep.equal({ ids: [both], total: 1 });
    const several = await granting.allow(application, record.patient, {
      scopes: [`patient/Observation.s?category=${LAB}`, `patient/Observation.rs?category=${VITAL}`],
    });
    const merged = await pages(several, `/patients/${several.patient}/observations`);
    expect([merged.total, merged.ids.length, new Set(merged.ids).size]).to.deep.equal([5, 5, 5]);
    expect((await ask(several, `/observations/${first}`)).status).to.equal(404);
    expect((await ask(several, `/observations/${vital}`)).status).to.equal(200);
    expect(await pages(narrow, `/patients/${narrow.patient}/timeline`)).to.deep.equal({
      ids: [both, third, second, first],
      total: 4,
    });
    const told = await pages(narrow, `/patients/${narrow.patient}/provenance/Observation/${both}`);
    expect([told.total, told.ids.length]).to.deep.equal([2, 2]);
  });

  it('refuses a type outside the grant with 403, naming the scope, and hides the rest like an unknown id', async () => {
    const { patient } = narrow;
    for (const [path, scope] of [
      [`/patients/${patient}/conditions`, 'Condition.s'],
      [`/conditions/${record.condition}`, 'Condition.r'],
      [`/patients/${patient}/medications`, 'MedicationStatement.s'],
      [`/patients/${patient}/prescriptions`, 'MedicationRequest.s'],
      [`/patients/${patient}/prescriptions/${record.prescription}`, 'MedicationRequest.r'],
      [`/medications/${record.medication}`, 'MedicationStatement.r'],
      [`/patients/${patient}/documents`, 'DocumentReference.s'],
      [`/documents/${record.document}`, 'DocumentReference.r'],
      [`/documents/${record.document}/content`, 'DocumentReference.r'],
      [`/patients/${patient}/timeline?kinds=observation,condition`, 'Condition.rs'],
      [`/patients/${patient}/provenance/Condition/${record.condition}`, 'Condition.s'],
    ] as const) {
      const answer = await ask(narrow, path);
      expect(answer.status, path).to.equal(403);
      expect(answer.headers.get('www-authenticate'), path).to.contain(`scope="patient/${scope}"`);
      expect(answer.text, path).to.contain(`patient/${scope}`);
    }
    const refusal = async (path: string, id: string, allowed = narrow) => {
      const { status, text } = await ask(allowed, path.replace('ID', id));
      return [status, text.replaceAll(id, 'ID').replace(/req_[\w-]+/, 'REQUEST')];
    };
    for (const path of ['/observations/ID', `/patients/${patient}/provenance/Observation/ID`]) {
      const unknown = await refusal(path, UNKNOWN);
      expect(unknown[0], path).to.equal(404);
      for (const id of [record.vital, other.labs[0] ?? '', record.condition, record.patient])
        expect(await refusal(path, id), `${path} ${id}`).to.deep.equal(unknown);
    }
    for (const path of [
      '/patients/ID',
      '/patients/ID/observations',
      '/patients/ID/documents',
      '/patients/ID/timeline',
      '/patients/ID/grants',
      `/patients/ID/provenance/Observation/${record.labs[0]}`,
    ]) {
      const unknown = await refusal(path, UNKNOWN, whole);
      expect(unknown[0], path).to.equal(404);
      const strangers = await granting.allow(application, other.patient);
      for (const id of [record.patient, other.patient, record.patient.toUpperCase(), strangers.patient])
        expect(await refusal(path, id, whole), `${path} ${id}`).to.deep.equal(unknown);
    }
  });

  it('takes a cursor only from its own grant, and not a plain one', async () => {
    const again = await granting.allow(application, record.patient);
    const list = (allowed: Allowed) => `/patients/${allowed.patient}/observations?limit=1`;
    const { next_cursor: cursor } = (await ask(whole, list(whole))).json;
    expect((await ask(whole, `${list(whole)}&cursor=${String(cursor)}`)).status).to.equal(200);
    const { next_cursor: plain } = (await v1('GET', `/patients/${record.patient}/observations?limit=1`)).json;
    for (const wrong of [cursor, plain, 'x'])
      expect((await ask(again, `${list(again)}&cursor=${String(wrong)}`)).status, String(wrong)).to.equal(
        422,
      );
  });

  it('refuses an invalid cursor of any patient as it does for a key', async () => {
    for (const list of ['timeline', 'observations', 'documents', 'conditions', 'medications']) {
      const asked = (id: string) => `/patients/${id}/${list}?cursor=x`;
      const unknown = (await v1('GET', asked(UNKNOWN))).status;
      for (const id of [UNKNOWN, record.patient, other.patient])
        expect((await ask(whole, asked(id))).status, `${list} of ${id}`).to.equal(unknown);
      expect((await ask(whole, asked(whole.patient))).status, list).to.equal(422);
    }
  });

  it('pages through the concepts of the terminology, whose cursors are encrypted, too', async () => {
    const seen = await ask(whole, '/terminology/symptoms?limit=2');
    const [, cursor = ''] = /"next_cursor":"([^"]+)"/.exec(seen.text) ?? [];
    const next = await ask(whole, `/terminology/symptoms?limit=2&cursor=${cursor}`);
    expect([seen.status, next.status], next.text).to.deep.equal([200, 200]);
    expect(next.text).not.to.equal(seen.text);
  });

  it('gives the bytes of documents unchanged, in whole and in part, and no URL of the store', async () => {
    const path = `/documents/${record.document}/content`;
    const text = `Dear Patient/${record.patient}`;
    const got = await ask(whole, path);
    expect([got.status, got.text]).to.deep.equal([200, text]);
    expect(got.headers.get('content-disposition'))
      .to.contain(whole.patient)
      .and.not.to.contain(record.patient);
    const part = await ask(whole, path, { Range: 'bytes=0-3' });
    expect([part.status, part.text]).to.deep.equal([206, 'Dear']);
    const etag = got.headers.get('etag') ?? '';
    const known = await ask(whole, path, { 'If-None-Match': etag });
    const head = await v1('HEAD', path, undefined, {}, whole.token);
    expect([known.status, head.status, head.text]).to.deep.equal([304, 200, '']);
    const beyond = await ask(whole, path, { Range: 'bytes=900-' });
    expect(beyond.status).to.equal(416);
    const of = { record: record.patient, action: 'content', resource_type: 'DocumentReference' };
    const entry = { ...of, resource_id: record.document, grant_id: whole.data.grant_id };
    expect(await entriesOf(got)).to.deep.equal([{ ...entry, status: 'ok', count: 1 }]);
    expect(await entriesOf(part)).to.deep.equal([{ ...entry, status: 'ok', count: 1 }]);
    expect(await entriesOf(head)).to.deep.equal([{ ...entry, status: 'ok', count: 1 }]);
    expect(await entriesOf(known)).to.deep.equal([{ ...entry, status: 'ok', count: 0 }]);
    expect(await entriesOf(beyond)).to.deep.equal([{ ...entry, status: 'error', count: 0 }]);
    const shown = await fhir('DocumentReference', record.document);
    const seen = await service.fhir(`/DocumentReference/${record.document}`, { key: whole.token });
    const url = `${service.url}/v1${path}`;
    expect(JSON.stringify([shown.content, seen.json.content])).to.contain(url);
    expect((await ask(whole, `/documents/${record.document}`)).json.download_url).to.equal(null);
    expect((await ask(whole, `/documents/${other.document}/content`)).status).to.equal(404);
  });

  it('lists the application’s own grants for the patient', async () => {
    const seen = await ask(whole, `/patients/${whole.patient}/grants`);
    const ids = idsOf(seen);
    expect(ids).to.include(whole.data.grant_id).and.to.include(narrow.data.grant_id);
    expect(seen.text).not.to.contain(record.patient);
    const { rows } = await service.pool.query<{ n: number }>(
      'select count(*)::int as n from consents.grants where record = $1 and application_id = $2',
      [record.patient, application.applicationId],
    );
    expect([seen.json.total, ids.length]).to.deep.equal([rows[0]?.n, rows[0]?.n]);
  });

  describe('contexts', () => {
    const context = (allowed: Allowed, patient = allowed.patient) =>
      v1('POST', '/context', { patient, budget_tokens: 2_000, needs: ['conditions'] }, {}, allowed.token);

    it('hold what the grant covers, with ids of their own, and what an AI wrote apart', async () => {
      const by = { 'X-Service-Author-Type': 'ai' };
      const note = {
        code: '4548-4',
        category: LAB,
        effective_at: '2026-02-01T08:00:00Z',
        value: 6,
        unit: '%',
      };
      const ai = String((await made(`/patients/${record.patient}/observations`, note, by)).id);
      const seen = await context(narrow);
      expect(seen.status, seen.text).to.equal(200);
      expect(seen.text).not.to.contain(record.patient);
      for (const id of [record.vital, record.condition, record.medication])
        expect(seen.text).not.to.contain(id);
      expect(seen.text).to.contain(record.both);
      expect(seen.text).to.contain('Not covered by the grant').and.not.contain('none recorded');
      expect(seen.text).to.contain('the part of the record that the grant covers has nothing for conditions');
      const sections = seen.json.sections as unknown as {
        kind: string;
        items: { fhir: string; verified?: boolean }[];
      }[];
      for (const { kind, items } of sections)
        for (const item of items)
          expect([item.fhir.includes(ai), item.verified === false], kind).to.deep.equal([
            kind === 'ai_notes',
            kind === 'ai_notes',
          ]);
      const all = await context(whole);
      expect(all.text).to.contain(record.condition);
      const own = await v1('POST', '/context', { patient: record.patient });
      const manifests = [own, all, await context(await granting.allow(application, record.patient))];
      expect(new Set(manifests.map(({ json }) => json.manifest_id)).size).to.equal(3);
      for (const id of [record.patient, other.patient, UNKNOWN])
        expect((await context(whole, id)).status, id).to.equal(404);
      expect(await entriesOf(seen)).to.have.length(1);
      expect((await entriesOf(seen))[0]).to.include({
        action: 'context',
        status: 'ok',
        record: record.patient,
      });
      await v1('DELETE', `/observations/${ai}`);
    });

    it('don’t change when something changes that the grant doesn’t cover, and can be made again', async () => {
      const before = await context(narrow);
      const { id } = await observed(record.patient, VITAL, '2026-03-01');
      const after = await context(narrow);
      expect(after.text).to.equal(before.text);
      const again = await runCommand(['context', String(after.json.manifest_id), '--json'], {
        DATABASE_URL: service.databaseUrl,
      });
      expect([again.code, again.stderr]).to.deep.equal([0, '']);
      expect(again.stdout.trim().replaceAll(record.patient, narrow.patient)).to.equal(after.text);
      await v1('DELETE', `/observations/${String(id)}`);
    });
  });

  it('has every read in the access log before it answers', async () => {
    const { patient, token, data } = whole;
    for (const [path, entry] of [
      ['/patients', ['search-type', 'Patient', null, 1]],
      [`/patients/${patient}/observations?limit=2`, ['search-type', 'Observation', null, 2]],
      [`/observations/${record.vital}`, ['read', 'Observation', record.vital, 1]],
      [`/patients/${patient}/documents`, ['search-type', 'DocumentReference', null, 1]],
      [`/patients/${patient}/timeline?limit=3`, ['timeline', null, null, 3]],
      [`/patients/${patient}/provenance/Observation/${record.both}`, ['provenance', 'Provenance', null, 2]],
      [`/patients/${patient}/grants`, ['grants', null, null, 0]],
      ['/terminology/loinc/4548-4', ['terminology', null, null, 0]],
    ] as const) {
      const answer = await v1('GET', path, undefined, {}, token);
      expect(answer.status, `${path} ${answer.text}`).to.equal(200);
      const [action, resource_type, resource_id, count] = entry;
      expect(await entriesOf(answer), path).to.deep.equal([
        {
          record: record.patient,
          action,
          resource_type,
          resource_id,
          status: 'ok',
          count,
          grant_id: data.grant_id,
        },
      ]);
    }
    for (const [path, status, of] of [
      [`/conditions/${record.condition}`, 403, { resource_type: 'Condition', status: 'denied' }],
      [`/observations/${record.vital}`, 404, { resource_type: 'Observation', status: 'not_found' }],
      [`/patients/${narrow.patient}/observations?limit=0`, 422, { status: 'error' }],
    ] as const) {
      const answer = await ask(narrow, path);
      expect(answer.status, path).to.equal(status);
      await eventually(async () => (await entriesOf(answer)).length === 1);
      expect((await entriesOf(answer))[0], path).to.include(of);
    }
  });

  it('sends nothing while the access log can’t be written', async () => {
    const paths = [
      `/patients/${whole.patient}/observations`,
      `/observations/${record.vital}`,
      `/documents/${record.document}/content`,
      `/patients/${whole.patient}/timeline`,
    ];
    await service.pool.query('alter table operations.access_entry rename to access_entry_away');
    try {
      for (const path of paths) {
        const { status, text } = await ask(whole, path);
        expect(status, path).to.equal(503);
        expect(text).not.to.match(/4548-4|Dear/);
      }
    } finally {
      await service.pool.query('alter table operations.access_entry_away rename to access_entry');
    }
    for (const path of paths) await eventually(async () => (await ask(whole, path)).status === 200);
  });
});
