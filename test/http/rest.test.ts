import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { productionKey } from '#test/support/project.ts';
import { asRead, dataOf, restOf, textAsRead } from '#test/support/rest.ts';

/**
 * Records in REST v1 and in the FHIR interface: one resource, two representations (docs/spec/interface.md, section 4.3;
 * docs/spec/decisions.md, section 4).
 */
describe('REST v1', () => {
  let service: InProcess;
  let patient: string;
  before(async () => {
    service = await startInProcess();
    patient = String((await made('/patients', { family: 'Berg' })).id);
  });
  after(() => service.stop());

  const { v1, get, made, fhir } = restOf(() => service);

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
        warnings: [],
      });
      const shown = await get(`/patients/${String(id)}`);
      expect(shown.json).not.to.have.property('warnings');
      expect(shown.text).to.equal(textAsRead(answer));
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
      expect((await get(`/patients/${String(id)}`)).text).to.equal(textAsRead(put));
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

    it('are found by name, birth date and identifier', async () => {
      const key = await service.newProject();
      const ask = (query: Record<string, string>) =>
        v1('GET', `/patients?${new URLSearchParams(query)}`, undefined, {}, key);
      const create = async (body: object) => String((await v1('POST', '/patients', body, {}, key)).json.id);
      const nora = await create({
        ...{ given: 'Nóra Marie', family: 'Lind', birth_date: '1961-05-14' },
        identifiers: [{ system: 'urn:ahv', value: '756,1|2' }],
      });
      const other = await create({
        ...{ given: 'Nora', family: 'Linden', birth_date: '1961-05-15' },
        identifiers: [{ value: '756,1|2' }],
      });
      const jan = await create({ given: 'Jan', family: 'van der Berg', birth_date: '1961-05-14' });
      const found = async (query: Record<string, string>) => {
        const answer = await ask(query);
        expect(answer.json.total, answer.text).to.equal(dataOf(answer).length);
        return dataOf(answer).map(({ id }) => id);
      };
      for (const [q, ids] of [
        ['nora', [other, nora]],
        ['lind no', [other, nora]],
        ['NORA  Linde', [other]],
        ['Lind, Nora Ma', [nora]],
        ['ora', []],
        ['nora berg', []],
        ['van der berg', [jan]],
        ['jan van der be', [jan]],
        ['van jan', [jan]],
        ['a,b$c|d\\e', []],
        ['%', []],
      ] as const)
        expect(await found({ q }), q).to.deep.equal(ids);
      expect(await found({ birth_date: '1961-05-14' })).to.deep.equal([jan, nora]);
      expect(await found({ q: 'no', birth_date: '1961-05-14' })).to.deep.equal([nora]);
      expect(await found({ identifier: '756,1|2' })).to.deep.equal([]);
      expect(await found({ identifier: 'urn:ahv|756,1|2' })).to.deep.equal([nora]);
      expect(await found({ identifier: '|756,1|2' })).to.deep.equal([other]);
      const plain = await create({ family: 'Id', identifiers: [{ system: 'urn:mrn', value: 'A-7' }] });
      expect(await found({ identifier: 'a-7' })).to.deep.equal([plain]);
      // Paging works only with the same filters.
      const page = (await ask({ q: 'nora', limit: '1' })).json;
      expect([page.total, (page.data as JsonObject[])[0]?.id]).to.deep.equal([2, other]);
      const cursor = String(page.next_cursor);
      await create({ given: 'Nora', family: 'Later' });
      const next = (await ask({ q: 'nora', limit: '1', cursor })).json;
      expect([next.total, (next.data as JsonObject[])[0]?.id, next.next_cursor]).to.deep.equal([
        2,
        nora,
        null,
      ]);
      for (const query of [{ cursor }, { q: 'jan', cursor }]) expect((await ask(query)).status).to.equal(422);
      for (const [query, field] of [
        [{ q: '\u0301 ,' }, 'query.q'],
        [{ birth_date: '1961' }, 'query.birth_date'],
        [{ identifier: 'urn:ahv|' }, 'query.identifier'],
        [{ gender: 'female' }, 'query.gender'],
      ] as const) {
        const { status, json } = await ask(query);
        expect([status, (json.error as JsonObject).field]).to.deep.equal([422, field]);
      }
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
    expect(dataOf(await get(`${path}?clinical_status=resolved`)).map(({ id }) => id)).to.deep.equal([
      over.id,
    ]);
    expect(dataOf(await get(path))).to.have.length(2);
    for (const wrong of [
      { abatement: '2020-01-01' },
      { clinical_status: 'resolved', abatement: '2000-01-01' },
    ])
      expect((await v1('POST', path, { ...given, ...wrong })).text).to.contain('"field":"abatement"');
    expect((await v1('DELETE', `/conditions/${String(active.id)}`)).status).to.equal(204);
    expect(dataOf(await get(path))).to.have.length(1);
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
    expect(dataOf(await get(`${path}?status=active`)).map(({ id }) => id)).to.deep.equal([named.id]);
    expect((await v1('POST', path, { dosage: 'x' })).text).to.contain('"field":"code"');
    expect((await v1('POST', path, { ...given, end: '2023-01-01' })).text).to.contain('"field":"end"');
    expect((await get(`/medications/${String(named.id)}`)).json).to.deep.equal(asRead(named));
  });

  it('says who wrote what: headers, the body, and the summary of all versions', async () => {
    const practitioner = `Practitioner/${String((await service.post('/Practitioner', { resourceType: 'Practitioner', ...{ name: [{ text: 'Dr. Lee' }] } })).json.id)}`;
    const headers = {
      'X-Service-Author-Type': 'device',
      'X-Service-Acting-As': practitioner,
      'X-Service-Source-System': 'Lab',
      'X-Service-Origin-Id': '7',
    };
    const { id } = await made('/patients', { family: 'Written' }, headers);
    await v1('PUT', `/patients/${String(id)}`, { family: 'Changed', author_type: 'ai' });
    const path = `/patients/${String(id)}/provenance/Patient/${String(id)}`;
    const [second, first] = dataOf(await get(path));
    expect(second).to.include({ version: 2, activity: 'UPDATE', author_type: 'ai', author: null });
    const { written_by: written } = second ?? {};
    expect(written).to.include({ kind: 'api_key', last4: service.key.slice(-4) });
    expect(first?.written_by).to.deep.equal(written);
    expect(first).to.include({
      version: 1,
      activity: 'CREATE',
      author_type: 'device',
      author: practitioner,
      author_name: 'Dr. Lee',
      acting_as: null,
      source_system: 'Lab',
      origin_id: '7',
    });
    const made1 = await service.fhir(`/${String(first?.fhir)}`);
    expect(made1.text).to.contain(`Patient/${String(id)}/_history/1`);
    const paged = await get(`${path}?limit=1`);
    expect(paged.json.total).to.equal(2);
    expect(dataOf(await get(`${path}?limit=1&cursor=${String(paged.json.next_cursor)}`))).to.deep.equal([
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

  it('implausible values are told by the answers of writes, and stored as they were sent', async () => {
    const told = async (method: string, path: string, body: object): Promise<unknown> => {
      const answer = await v1(method, path, body);
      expect(answer.status, answer.text).to.be.oneOf([200, 201]);
      return answer.json.warnings;
    };
    const future = (field: string, day: string) => [
      { field, code: 'future_date', message: `${day} is in the future` },
    ];
    const born = { family: 'Early', birth_date: '2962-05-14' };
    const { id, birth_date, warnings } = await made('/patients', born);
    expect(birth_date).to.equal('2962-05-14');
    expect(warnings).to.deep.equal(future('birth_date', '2962-05-14'));
    expect(await told('PUT', `/patients/${String(id)}`, born)).to.deep.equal(warnings);
    expect(await told('PUT', `/patients/${String(id)}`, { family: 'Early' })).to.deep.equal([]);
    const dead = await service.post('/Patient', { resourceType: 'Patient', deceasedDateTime: '1990-01-01' });
    expect(
      await told('PUT', `/patients/${String(dead.json.id)}`, { ...born, birth_date: '1991-01-01' }),
    ).to.deep.equal([
      {
        field: 'birth_date',
        code: 'born_after_death',
        message: '1991-01-01 is after the date of death (1990-01-01)',
      },
    ]);
    const record = `/patients/${patient}`;
    const condition = { code: 'E11.9', onset: '2962-01-01' };
    expect(await told('POST', `${record}/conditions`, condition)).to.deep.equal(
      future('onset', '2962-01-01'),
    );
    expect(await told('POST', `${record}/conditions`, { code: 'E11.9' })).to.deep.equal([]);
    const drug = { code: 'A10BA02', start: '2962-01-01' };
    expect(await told('POST', `${record}/medications`, drug)).to.deep.equal(future('start', '2962-01-01'));
    expect(await told('POST', `${record}/medications`, { ...drug, status: 'intended' })).to.deep.equal([]);
    const letter = { title: 'Letter', content_type: 'text/plain', date: '2962-01-01' };
    const document = await v1('POST', `${record}/documents`, letter);
    const dated = future('date', '2962-01-01T00:00:00Z');
    expect(document.json.warnings).to.deep.equal(dated);
    const content = await service.fhir(`${service.url}/v1/documents/${String(document.json.id)}/content`, {
      method: 'PUT',
      headers: { 'Content-Type': 'text/plain' },
      body: 'Dear colleague',
    });
    expect(content.json.warnings, content.text).to.deep.equal(dated);
    const again = await v1('POST', `/documents/${String(document.json.id)}/finalize`, {});
    expect(again.json.warnings, again.text).to.deep.equal(dated);
    expect((await get(`/documents/${String(document.json.id)}`)).json).not.to.have.property('warnings');
  });

  it('If-Match with another version changes and deletes nothing', async () => {
    const { id } = await made('/patients', { family: 'Berg' });
    const condition = `/conditions/${String((await made(`/patients/${String(id)}/conditions`, { code: 'E11' })).id)}`;
    const send = async (method: string, path: string, tag: string): Promise<number> => {
      const body = method === 'PUT' ? { family: 'Lind' } : undefined;
      return (await v1(method, path, body, { 'If-Match': tag })).status;
    };
    expect(await send('PUT', `/patients/${String(id)}`, 'W/"9"')).to.equal(412);
    expect(await send('PUT', `/patients/${String(id)}`, 'x')).to.equal(400);
    expect((await get(`/patients/${String(id)}`)).json).to.include({ family: 'Berg', version: 1 });
    expect(await send('PUT', `/patients/${String(id)}`, 'W/"1"')).to.equal(200);
    expect(await send('PUT', `/patients/${String(id)}`, '*')).to.equal(200);
    expect(await send('DELETE', condition, 'W/"9"')).to.equal(412);
    expect((await get(condition)).status).to.equal(200);
    expect(await send('DELETE', condition, 'W/"1"')).to.equal(204);
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

  it('a code of LOINC with another check digit than its own is refused, what else a code may be is not', async () => {
    const path = `/patients/${patient}/observations`;
    const given = {
      code: '2339-0',
      category: 'laboratory',
      effective_at: '2026-01-01T12:00:00Z',
      value: 5,
      unit: 'mg/dL',
    };
    const { value, unit, ...without } = given;
    const loinc = 'http://loinc.org';
    const part = { code: '8480-5', value, unit };
    for (const [body, field] of [
      [{ ...given, code: '2339-1' }, 'code'],
      [{ ...given, code: `${loinc}|2339-1` }, 'code'],
      [{ ...given, code: '2339-1', system: loinc }, 'code'],
      [{ ...without, components: [{ ...part, code: '8480-6' }, part] }, 'components.1.code'],
      [{ ...without, value_code: { code: '2339-1', system: loinc } }, 'value_code.code'],
    ] as const) {
      const answer = await v1('POST', path, body);
      expect([answer.status, (answer.json.error as JsonObject).field], answer.text).to.deep.equal([
        422,
        field,
      ]);
    }
    for (const body of [
      { ...given, code: 'urn:local|2339-1' },
      { ...given, code: 'LP14635-4' },
      { ...given, code: 'glucose' },
      { ...without, value_code: { code: '2339-1' } },
      { ...without, value_code: { code: 'LA6576-8', system: loinc } },
    ])
      await made(path, body);
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
