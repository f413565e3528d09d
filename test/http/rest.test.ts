import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { isObject, type JsonObject } from '#src/shared/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { productionKey } from '#test/support/project.ts';
import type { Answer } from '#test/support/service.ts';

/** Records on REST v1 and on the FHIR interface: one resource, two mouths (interface.md, section 4.3; decisions.md, section 4). */
describe('REST v1', () => {
  let service: InProcess;
  let patient: string;
  before(async () => {
    service = await startInProcess();
    patient = String((await made('/patients', { family: 'Berg' })).id);
  });
  after(() => service.stop());

  type Headers = Readonly<Record<string, string>>;
  const v1 = (method: string, path: string, body?: object, headers: Headers = {}, key = service.key) =>
    service.fhir(`${service.url}/v1${path}`, {
      method,
      key,
      headers: { ...headers, ...(body === undefined ? {} : { 'Content-Type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const get = (path: string) => v1('GET', path);
  const made = async (path: string, body: object, headers: Headers = {}): Promise<JsonObject> => {
    const answer = await v1('POST', path, body, headers);
    expect(answer.status, answer.text).to.equal(201);
    return answer.json;
  };
  const fhir = async (type: string, id: unknown): Promise<JsonObject> => {
    const answer = await service.fhir(`/${type}/${String(id)}`);
    expect(answer.status, answer.text).to.equal(200);
    return JSON.parse(answer.text) as JsonObject;
  };
  const data = (answer: Answer): JsonObject[] => {
    expect(answer.status, answer.text).to.equal(200);
    return Array.isArray(answer.json.data) ? answer.json.data.filter(isObject) : [];
  };

  describe('patients', () => {
    const full = {
      given: 'Ida Marie',
      family: 'Berg',
      birth_date: '1984-02-29',
      gender: 'female',
      identifiers: [{ system: 'urn:ahv', value: '756.1' }, { value: 'loose' }],
    };

    it('are created, read, and the same on the FHIR interface', async () => {
      const answer = await v1('POST', '/patients', full, { 'X-Service-Author-Type': 'practitioner' });
      expect(answer.status, answer.text).to.equal(201);
      const { id, created_at } = answer.json;
      expect(answer.headers.get('location')).to.equal(`${service.url}/v1/patients/${String(id)}`);
      expect(answer.json).to.deep.equal({
        id,
        patient: id,
        ...full,
        identifiers: [full.identifiers[0], { system: null, value: 'loose' }],
        version: answer.json.version,
        created_at,
        updated_at: created_at,
        author_type: 'practitioner',
        source_system: null,
        origin_id: null,
        fhir: `Patient/${String(id)}`,
      });
      expect((await get(`/patients/${String(id)}`)).text).to.equal(answer.text);
      expect(await fhir('Patient', id)).to.deep.include({
        identifier: full.identifiers,
        name: [{ family: 'Berg', given: ['Ida Marie'] }],
        gender: 'female',
        birthDate: '1984-02-29',
      });
    });

    it('that FHIR wrote are shown, and keep what v1 cannot say when they are replaced', async () => {
      const rich = {
        resourceType: 'Patient',
        text: { status: 'generated', div: '<div xmlns="http://www.w3.org/1999/xhtml">Anna</div>' },
        name: [
          { use: 'nickname', given: ['Anni'] },
          { use: 'official', prefix: ['Dr.'], family: 'Muster', given: ['Anna', 'Lea'] },
        ],
        telecom: [{ system: 'phone', value: '1' }],
        birthDate: '1970',
      };
      const { id } = (await service.post('/Patient', rich)).json;
      const shown = (await get(`/patients/${String(id)}`)).json;
      expect(shown).to.include({ given: 'Anna Lea', family: 'Muster', gender: null, version: shown.version });
      const put = await v1('PUT', `/patients/${String(id)}`, {
        given: 'Anna Lea',
        family: 'Muster',
        birth_date: '1970-05-01',
        gender: null,
      });
      expect(put.status, put.text).to.equal(200);
      expect(put.json).to.include({
        birth_date: '1970-05-01',
        created_at: shown.created_at,
        author_type: 'import',
      });
      const stored = await fhir('Patient', id);
      expect(stored).to.deep.include({ name: rich.name, telecom: rich.telecom, birthDate: '1970-05-01' });
      expect(stored).not.to.have.property('text');
      expect((await get(`/patients/${String(id)}`)).text).to.equal(put.text);
      const bare = await v1('PUT', `/patients/${String(id)}`, { family: 'Neu' });
      expect(bare.json).to.include({ given: null, family: 'Neu', birth_date: null });
      expect(await fhir('Patient', id)).to.deep.include({ name: [{ family: 'Neu' }], telecom: rich.telecom });
    });

    it('are listed, the newest first, page by page, whatever is created meanwhile', async () => {
      const key = await service.newProject();
      const create = async (family: string) =>
        String((await v1('POST', '/patients', { family }, {}, key)).json.id);
      const ids: string[] = [];
      for (let number = 0; number < 5; number += 1) ids.unshift(await create(`P${number}`));
      const seen: string[] = [];
      for (let cursor = ''; ; ) {
        const page = (await v1('GET', `/patients?limit=2${cursor}`, undefined, {}, key)).json;
        expect(page.total).to.equal(5);
        seen.push(...(page.data as JsonObject[]).map(({ id }) => String(id)));
        await create('Later');
        if (page.next_cursor === null) break;
        cursor = `&cursor=${encodeURIComponent(String(page.next_cursor))}`;
      }
      expect(seen).to.deep.equal(ids);
    });

    it('that are deleted, another project’s or the other environment’s are not found', async () => {
      const id = String((await made('/patients', { family: 'Gone' })).id);
      const others = [
        await service.newProject(),
        await productionKey(service.databaseUrl, service.pool, service.key),
      ];
      for (const key of others) {
        expect((await v1('GET', `/patients/${id}`, undefined, {}, key)).status).to.equal(404);
        expect((await v1('PUT', `/patients/${id}`, { family: 'X' }, {}, key)).status).to.equal(404);
      }
      expect((await service.fhir(`/Patient/${id}`, { method: 'DELETE' })).status).to.equal(204);
      for (const path of [`/patients/${id}`, `/patients/${id}/observations`, '/patients/nobody'])
        expect((await get(path)).status, path).to.equal(404);
    });
  });

  describe('observations', () => {
    const at = { category: 'laboratory', effective_at: '2026-03-31T09:30:00+02:00' };
    const values: readonly [string, object, object, object][] = [
      [
        'a number',
        { code: '4548-4', value: 6.1, unit: '%', reference_range: { low: 4, high: 5.6 }, note: 'fasting' },
        {
          code: '4548-4',
          system: 'http://loinc.org',
          value: 6.1,
          unit: '%',
          reference_range: { low: 4, high: 5.6 },
        },
        {
          valueQuantity: { value: 6.1, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
          note: [{ text: 'fasting' }],
        },
      ],
      [
        'components',
        {
          code: '85354-9',
          display: 'Blood pressure',
          components: [
            { code: '8480-6', value: 120, unit: 'mm[Hg]' },
            { code: 'urn:x|dia', value: 80, unit: 'mm[Hg]', display: 'Diastolic' },
          ],
        },
        { display: 'Blood pressure', value: null },
        {
          code: {
            coding: [{ system: 'http://loinc.org', code: '85354-9', display: 'Blood pressure' }],
            text: 'Blood pressure',
          },
        },
      ],
      [
        'a text',
        { code: '8251-1', value_text: 'unremarkable' },
        { value_text: 'unremarkable' },
        { valueString: 'unremarkable' },
      ],
      [
        'a code',
        { code: '882-1', value_code: { code: 'http://snomed.info/sct|112144000', display: 'A' } },
        { value_code: { code: '112144000', system: 'http://snomed.info/sct', display: 'A' } },
        {
          valueCodeableConcept: {
            coding: [{ system: 'http://snomed.info/sct', code: '112144000', display: 'A' }],
            text: 'A',
          },
        },
      ],
      [
        'a truth',
        { code: '74204-9', value_boolean: false },
        { value_boolean: false },
        { valueBoolean: false },
      ],
      [
        'a symptom',
        { code: 'urn:own|tired', category: 'symptom', value_boolean: true },
        { category: 'symptom', system: 'urn:own', code: 'tired' },
        {
          category: [
            { coding: [{ system: 'https://annal.dev/fhir/observation-category', code: 'symptom' }] },
          ],
        },
      ],
    ];
    for (const [name, given, shown, stored] of values) {
      it(`with ${name} are the same on both interfaces`, async () => {
        const record = await made(`/patients/${patient}/observations`, { ...at, ...given });
        const plain = JSON.parse(JSON.stringify(record)) as JsonObject;
        expect(JSON.parse((await get(`/observations/${String(record.id)}`)).text)).to.deep.include(shown);
        expect(plain.patient).to.equal(patient);
        expect(plain.status).to.equal('final');
        expect(await fhir('Observation', record.id)).to.deep.include(stored);
      });
    }

    it('without seconds have none, and name documents that are there', async () => {
      const document = await service.post('/DocumentReference', {
        resourceType: 'DocumentReference',
        status: 'current',
        subject: { reference: `Patient/${patient}` },
        content: [{ attachment: { title: 'x' } }],
      });
      const body = { code: '4548-4', category: 'laboratory', value: 5, unit: '%' };
      const id = String(document.json.id);
      const record = await made(`/patients/${patient}/observations`, {
        ...body,
        effective_at: '2026-01-01T10:00Z',
        derived_from: id,
      });
      expect(record).to.deep.include({ effective_at: '2026-01-01T10:00:00Z', derived_from: [id] });
      const unknown = await v1('POST', `/patients/${patient}/observations`, {
        ...body,
        ...at,
        derived_from: [newUuid()],
      });
      expect(unknown.status, unknown.text).to.equal(422);
      expect(unknown.text).to.contain('derived_from');
    });

    it('that FHIR wrote are shown in words where v1 has no field', async () => {
      const { id } = (
        await service.post('/Observation', {
          resourceType: 'Observation',
          status: 'amended',
          subject: { reference: `Patient/${patient}` },
          code: { text: 'CRP' },
          valueQuantity: { value: 5, comparator: '<', unit: 'mg/L' },
          effectivePeriod: { start: '2026-01-01' },
        })
      ).json;
      const shown = JSON.parse((await get(`/observations/${String(id)}`)).text) as JsonObject;
      expect(shown).to.include({
        code: null,
        display: 'CRP',
        value: null,
        value_text: '< 5 mg/L',
        effective_at: '2026-01-01',
        category: null,
        status: 'amended',
      });
    });

    it('are listed by category, code and day, without what was entered in error', async () => {
      const mine = String((await made('/patients', { given: 'Lists' })).id);
      const days = ['2026-01-01T23:59:59Z', '2026-01-02T00:00:00Z', '2026-01-03T12:00:00Z'];
      const ids: string[] = [];
      for (const effective_at of days) {
        const body = { code: '4548-4', category: 'laboratory', value: 5, unit: '%', effective_at };
        ids.unshift(String((await made(`/patients/${mine}/observations`, body)).id));
      }
      const pulse = {
        code: '8867-4',
        category: 'vital-signs',
        value: 60,
        unit: '/min',
        effective_at: days[0],
      };
      const vital = String((await made(`/patients/${mine}/observations`, pulse)).id);
      const wrong = { ...(await fhir('Observation', vital)), id: undefined, status: 'entered-in-error' };
      await service.post('/Observation', wrong);
      const list = async (query: string) => {
        const answer = await get(`/patients/${mine}/observations${query}`);
        const found = data(answer).map(({ id }) => String(id));
        expect(answer.json.total, query).to.equal(found.length);
        return found;
      };
      expect(await list('')).to.deep.equal([vital, ...ids]);
      expect(await list('?category=vital-signs')).to.deep.equal([vital]);
      expect(await list('?code=4548-4')).to.deep.equal(ids);
      expect(await list(`?code=${encodeURIComponent('http://loinc.org|8867-4')}`)).to.deep.equal([vital]);
      expect(await list('?code=urn:other|8867-4')).to.deep.equal([]);
      expect(await list('?from=2026-01-02')).to.deep.equal(ids.slice(0, 2));
      expect(await list('?to=2026-01-01')).to.deep.equal([vital, ids[2]]);
      expect(await list('?from=2026-01-02&to=2026-01-02')).to.deep.equal([ids[1]]);
      const first = await get(`/patients/${mine}/observations?limit=1`);
      expect(first.json.total).to.equal(4);
    });

    it('are deleted softly', async () => {
      const body = { ...at, code: '4548-4', value: 5, unit: '%' };
      const { id } = await made(`/patients/${patient}/observations`, body);
      const remove = () => v1('DELETE', `/observations/${String(id)}`);
      expect((await remove()).status).to.equal(204);
      expect((await get(`/observations/${String(id)}`)).status).to.equal(404);
      expect((await service.fhir(`/Observation/${String(id)}`)).status).to.equal(410);
      expect((await remove()).status).to.equal(204);
      expect((await v1('DELETE', `/observations/${newUuid()}`)).status).to.equal(404);
      expect((await v1('DELETE', `/conditions/${String(id)}`)).status).to.equal(404);
    });

    const refused: readonly [string, object, ...string[]][] = [
      ['no value', {}, 'value'],
      ['two values', { value: 1, unit: '1', value_text: 'x' }, 'value_text'],
      ['a value without its unit', { value: 1 }, 'unit'],
      ['a unit that UCUM does not know', { value: 1, unit: 'furlongs' }, 'unit'],
      ['a unit without its value', { value_text: 'x', unit: '1' }, 'unit'],
      ['a range of a text', { value_text: 'x', reference_range: { low: 1 } }, 'reference_range'],
      ['a range without ends', { value: 1, unit: '1', reference_range: {} }, 'reference_range'],
      [
        'a range upside down',
        { value: 1, unit: '1', reference_range: { low: 2, high: 1 } },
        'reference_range',
      ],
      ['an unknown member', { value_text: 'x', colour: 'red' }, 'colour'],
      [
        'an unknown member within',
        { components: [{ code: 'a', value: 1, unit: '1', x: 1 }] },
        'components.0.x',
      ],
      ['a unit of a component', { components: [{ code: 'a', value: 1, unit: 'zz' }] }, 'components.0.unit'],
      [
        'a moment without an offset',
        { value_text: 'x', effective_at: '2026-01-01T10:00:00' },
        'effective_at',
      ],
      ['a day that there is not', { value_text: 'x', effective_at: '2026-02-30T10:00:00Z' }, 'effective_at'],
      ['a category that there is not', { value_text: 'x', category: 'other' }, 'category'],
      ['two systems', { value_text: 'x', code: 'urn:a|1', system: 'urn:b' }, 'system'],
      ['a number as a text', { value: '1', unit: '1' }, 'value'],
      ['several at once', { value: '1', category: 1, code: '' }, 'value', 'category', 'code'],
    ];
    for (const [name, given, ...fields] of refused) {
      it(`are refused with ${name}`, async () => {
        const body = { ...at, code: '4548-4', ...given };
        const answer = await v1('POST', `/patients/${patient}/observations`, body);
        expect(answer.status, answer.text).to.equal(422);
        const named = (answer.json.error as JsonObject).errors as JsonObject[];
        expect(named.map(({ field }) => field)).to.include.members(fields);
      });
    }
  });

  it('conditions: both interfaces, default and filter', async () => {
    const mine = String((await made('/patients', { family: 'Ill' })).id);
    const path = `/patients/${mine}/conditions`;
    const given = { code: 'I10', display: 'Hypertension', onset: '2019-05-01', note: 'mild' };
    const active = await made(path, given);
    expect(active).to.include({
      ...given,
      system: 'http://hl7.org/fhir/sid/icd-10',
      clinical_status: 'active',
    });
    const over = await made(path, {
      ...given,
      clinical_status: 'resolved',
      abatement: '2020-01-01',
      author_type: 'patient',
    });
    expect(over).to.include({ abatement: '2020-01-01', author_type: 'patient' });
    expect(await fhir('Condition', over.id)).to.deep.include({
      clinicalStatus: {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'resolved' }],
      },
      onsetDateTime: '2019-05-01',
      abatementDateTime: '2020-01-01',
    });
    expect(data(await get(`${path}?clinical_status=resolved`)).map(({ id }) => id)).to.deep.equal([over.id]);
    expect(data(await get(path))).to.have.length(2);
    for (const wrong of [
      { abatement: '2020-01-01' },
      { clinical_status: 'resolved', abatement: '2000-01-01' },
    ])
      expect((await v1('POST', path, { ...given, ...wrong })).text).to.contain('"field":"abatement"');
    expect((await v1('DELETE', `/conditions/${String(active.id)}`)).status).to.equal(204);
    expect(data(await get(path))).to.have.length(1);
  });

  it('medications: a code, words, or both', async () => {
    const mine = String((await made('/patients', { family: 'Treated' })).id);
    const path = `/patients/${mine}/medications`;
    const given = {
      code: 'A10BA02',
      display: 'Metformin',
      dosage: '500 mg 1-0-1',
      start: '2024-01-01',
      end: '2024-02-01',
    };
    const coded = await made(path, { ...given, status: 'completed' });
    expect(coded).to.include({ ...given, system: 'http://www.whocc.no/atc', status: 'completed' });
    expect(await fhir('MedicationStatement', coded.id)).to.deep.include({
      effectivePeriod: { start: '2024-01-01', end: '2024-02-01' },
      dosage: [{ text: '500 mg 1-0-1' }],
    });
    const named = await made(path, { display: 'Herbal tea' });
    expect(named).to.include({ code: null, system: null, display: 'Herbal tea', status: 'active' });
    expect(data(await get(`${path}?status=active`)).map(({ id }) => id)).to.deep.equal([named.id]);
    expect((await v1('POST', path, { dosage: 'x' })).text).to.contain('"field":"code"');
    expect((await v1('POST', path, { ...given, end: '2023-01-01' })).text).to.contain('"field":"end"');
    expect((await get(`/medications/${String(named.id)}`)).json).to.deep.equal(named);
  });

  it('says who wrote what: headers, the body, and the summary of all versions', async () => {
    const practitioner = `Practitioner/${String((await service.post('/Practitioner', { resourceType: 'Practitioner' })).json.id)}`;
    const headers = {
      'X-Service-Author-Type': 'device',
      'X-Service-Acting-As': practitioner,
      'X-Service-Source-System': 'Lab',
      'X-Service-Origin-Id': '7',
    };
    const { id } = await made('/patients', { family: 'Written' }, headers);
    await v1('PUT', `/patients/${String(id)}`, { family: 'Changed', author_type: 'ai' });
    const path = `/patients/${String(id)}/provenance/Patient/${String(id)}`;
    const [second, first] = data(await get(path));
    expect(second).to.include({ version: 2, activity: 'UPDATE', author_type: 'ai', author: null });
    expect(first).to.include({
      version: 1,
      activity: 'CREATE',
      author_type: 'device',
      author: practitioner,
      source_system: 'Lab',
      origin_id: '7',
    });
    const made1 = await service.fhir(`/${String(first?.fhir)}`);
    expect(made1.text).to.contain(`Patient/${String(id)}/_history/1`);
    const paged = await get(`${path}?limit=1`);
    expect(paged.json.total).to.equal(2);
    expect(data(await get(`${path}?limit=1&cursor=${String(paged.json.next_cursor)}`))).to.deep.equal([
      first,
    ]);
    for (const other of [
      `/patients/${patient}/provenance/Patient/${String(id)}`,
      `/patients/${patient}/provenance/Nothing/x`,
    ])
      expect((await get(other)).status).to.equal(404);
    const both = await v1('POST', '/patients', { family: 'X', author_type: 'ai' }, headers);
    expect([both.status, (both.json.error as JsonObject).field]).to.deep.equal([422, 'author_type']);
    const nobody = { 'X-Service-Acting-As': `Practitioner/${newUuid()}` };
    const unknown = await v1('POST', '/patients', { family: 'X' }, nobody);
    expect([unknown.status, unknown.json.resourceType]).to.deep.equal([422, 'OperationOutcome']);
    const remove = await v1('DELETE', `/observations/${newUuid()}`, undefined, nobody);
    expect([remove.status, remove.json.resourceType]).to.deep.equal([422, 'OperationOutcome']);
    const robot = await v1('POST', '/patients', { family: 'X' }, { 'X-Service-Author-Type': 'robot' });
    expect([robot.status, (robot.json.error as JsonObject).field]).to.deep.equal([
      422,
      'header.x-service-author-type',
    ]);
  });

  it('a request that is sent again is done once', async () => {
    const headers = { 'Idempotency-Key': newUuid() };
    const body = { code: 'I10' };
    const first = await v1('POST', `/patients/${patient}/conditions`, body, headers);
    const second = await v1('POST', `/patients/${patient}/conditions`, body, headers);
    expect([second.status, second.text]).to.deep.equal([201, first.text]);
    expect(second.headers.get('idempotent-replayed')).to.equal('true');
    const other = await v1('POST', `/patients/${patient}/conditions`, { code: 'I11' }, headers);
    expect(other.status).to.equal(422);
  });

  it('a page that is none, an unknown filter, a cursor of nothing: 422 with the name', async () => {
    for (const [query, field] of [
      ['limit=0', 'query.limit'],
      ['limit=201', 'query.limit'],
      ['cursor=x', 'query.cursor'],
      [`cursor=${Buffer.from('[1,"x"]').toString('base64url')}`, 'query.cursor'],
      ['from=2026-13-01', 'query.from'],
      ['category=x', 'query.category'],
      ['colour=red', 'query.colour'],
    ]) {
      const answer = await get(`/patients/${patient}/observations?${query}`);
      expect([answer.status, (answer.json.error as JsonObject).field], answer.text).to.deep.equal([
        422,
        field,
      ]);
    }
  });
});
