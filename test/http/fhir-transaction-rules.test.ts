/**
 * The finer rules of transactions: each test is a case that a reviewer once broke. They cover what must be refused as a whole,
 * and what must be linked.
 */
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import type { Answer } from '#test/support/service.ts';

const SYSTEM = 'urn:annal:test';
const URN = 'urn:uuid:11111111-1111-4111-8111-111111111111';

describe('transaction rules', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const identifier = (value: string): JsonObject[] => [{ system: SYSTEM, value }];
  const observation = (patient: string, more: JsonObject = {}): JsonObject => ({
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'test' },
    subject: { reference: patient },
    ...more,
  });
  const provenance = (...targets: string[]): JsonObject => ({
    resourceType: 'Provenance',
    target: targets.map((reference) => ({ reference })),
    recorded: '2026-01-01T00:00:00Z',
    agent: [{ who: { display: 'somebody' } }],
  });
  const post = (resource: JsonObject, more: JsonObject = {}, request: JsonObject = {}): JsonObject => ({
    ...more,
    resource,
    request: { method: 'POST', url: String(resource.resourceType), ...request },
  });
  const put = (
    resource: JsonObject,
    url = `${String(resource.resourceType)}/${String(resource.id)}`,
  ): JsonObject => ({
    resource,
    request: { method: 'PUT', url },
  });
  const remove = (url: string): JsonObject => ({ request: { method: 'DELETE', url } });
  const get = (url: string): JsonObject => ({ request: { method: 'GET', url } });

  const send = (type: 'transaction' | 'batch', ...entry: JsonObject[]): Promise<Answer> =>
    service.fhir('', { method: 'POST', body: JSON.stringify({ resourceType: 'Bundle', type, entry }) });
  const transaction = (...entry: JsonObject[]): Promise<Answer> => send('transaction', ...entry);
  const create = async (resource: JsonObject): Promise<string> => {
    const answer = await service.post(`/${String(resource.resourceType)}`, resource);
    return String(answer.json.id);
  };
  const patient = (value = newUuid()): Promise<string> =>
    create({ resourceType: 'Patient', identifier: identifier(value) });

  function responses(answer: Answer): JsonObject[] {
    expect(answer.status, answer.text).to.equal(200);
    const { entry } = answer.json;
    if (!Array.isArray(entry)) throw new Error(answer.text);
    return entry.flatMap((one) => (isObject(one) && isObject(one.response) ? [one.response] : []));
  }
  const statuses = (answer: Answer): string[] =>
    responses(answer).map(({ status }) => String(status).slice(0, 3));
  const idAt = (answer: Answer, index: number): string =>
    String(responses(answer)[index]?.location).split('/')[1] ?? '';

  function refused(answer: Answer, status: number, ...at: string[]): void {
    expect(answer.status, answer.text).to.equal(status);
    const { issue } = answer.json;
    const places = Array.isArray(issue)
      ? issue.map((one) => (isObject(one) ? String(one.expression) : ''))
      : [];
    for (const place of at)
      expect(
        places.some((one) => one.startsWith(place)),
        `${place} in ${answer.text}`,
      ).to.equal(true);
  }

  const total = async (search: string): Promise<unknown> => (await service.fhir(search)).json.total;

  describe('records', () => {
    it('a Provenance of itself and a patient, or of two patients, is refused', async () => {
      const [one, other] = [await patient(), await patient()];
      const self = post(provenance(URN, `Patient/${one}`), { fullUrl: URN });
      refused(await transaction(self), 422, 'Bundle.entry[0]');
      refused(
        await transaction(post(provenance(`Patient/${one}`, `Patient/${other}`))),
        422,
        'Bundle.entry[0]',
      );
      expect(await total(`/Provenance?target=Patient/${one}`)).to.equal(1);
    });

    it('a Provenance of a Provenance of the same Bundle belongs to the record, whatever their order', async () => {
      const id = await patient();
      const answer = await transaction(
        post(provenance(URN)),
        post(provenance(`Patient/${id}`), { fullUrl: URN }),
      );
      expect(statuses(answer)).to.deep.equal(['201', '201']);
      const found = (await service.fhir(`/Patient/${id}/Provenance?_count=50`)).text;
      for (const index of [0, 1]) expect(found).to.contain(`"id":"${idAt(answer, index)}"`);
    });

    it('deleting the Patient and adding to its record is a conflict; deleting both is not', async () => {
      const id = await patient();
      const kept = await create(observation(`Patient/${id}`));
      refused(
        await transaction(remove(`Patient/${id}`), post(observation(`Patient/${id}`))),
        409,
        'Bundle.entry[1]',
      );
      expect((await service.fhir(`/Patient/${id}`)).status).to.equal(200);
      expect(
        statuses(await transaction(remove(`Patient/${id}`), remove(`Observation/${kept}`))),
      ).to.deep.equal(['204', '204']);
      refused(
        await transaction(remove(`Patient/${id}`), post(observation(`Patient/${id}`))),
        409,
        'Bundle.entry[1]',
      );
      expect((await service.fhir(`/Observation/${kept}`, { method: 'DELETE' })).status).to.equal(204);
      const restored = await transaction(
        put({ resourceType: 'Patient', id }),
        post(observation(`Patient/${id}`)),
      );
      expect(statuses(restored)).to.deep.equal(['201', '201']);
    });

    it('two patients’ records in one transaction name the entry of the second', async () => {
      const [one, other] = [await patient(), await patient()];
      const both = [post(observation(`Patient/${one}`)), post(observation(`Patient/${other}`))];
      refused(await transaction(...both), 422, 'Bundle.entry[1]');
    });
  });

  describe('links', () => {
    const practitioner = (base: string): JsonObject =>
      post(
        { resourceType: 'Practitioner', name: [{ family: base }] },
        { fullUrl: `http://${base}/fhir/Practitioner/1` },
      );

    it('a relative reference is below the base of its own entry’s fullUrl', async () => {
      const id = await patient();
      const answer = await transaction(
        practitioner('a.example'),
        practitioner('b.example'),
        post(observation(`Patient/${id}`, { performer: [{ reference: 'Practitioner/1' }] }), {
          fullUrl: 'http://b.example/fhir/Observation/9',
        }),
      );
      const { text } = await service.fhir(`/Observation/${idAt(answer, 2)}`);
      expect(text).to.contain(`Practitioner/${idAt(answer, 1)}`);
    });

    it('a relative reference that two entries could be meant by is refused', async () => {
      const id = await patient();
      const ambiguous = post(observation(`Patient/${id}`, { performer: [{ reference: 'Practitioner/1' }] }));
      refused(
        await transaction(practitioner('a.example'), practitioner('b.example'), ambiguous),
        422,
        'Bundle.entry[2]',
      );
    });

    it('links in PATCH entries are replaced, in Parameters and in a JSON Patch', async () => {
      const id = await patient();
      const [one, other] = [
        await create(observation(`Patient/${id}`)),
        await create(observation(`Patient/${id}`)),
      ];
      const encounter = post(
        {
          resourceType: 'Encounter',
          status: 'finished',
          class: { code: 'AMB' },
          subject: { reference: `Patient/${id}` },
        },
        { fullUrl: URN },
      );
      const parameters = {
        resourceType: 'Parameters',
        parameter: [
          {
            name: 'operation',
            part: [
              { name: 'type', valueCode: 'add' },
              { name: 'path', valueString: 'Observation' },
              { name: 'name', valueString: 'encounter' },
              { name: 'value', valueReference: { reference: URN } },
            ],
          },
        ],
      };
      const json = [{ op: 'add', path: '/encounter', value: { reference: URN } }];
      const binary = {
        resourceType: 'Binary',
        contentType: 'application/json-patch+json',
        data: Buffer.from(JSON.stringify(json)).toString('base64'),
      };
      const answer = await transaction(
        encounter,
        { resource: parameters, request: { method: 'PATCH', url: `Observation/${one}` } },
        { resource: binary, request: { method: 'PATCH', url: `Observation/${other}` } },
      );
      expect(statuses(answer)).to.deep.equal(['201', '200', '200']);
      for (const observed of [one, other]) {
        expect((await service.fhir(`/Observation/${observed}`)).text).to.contain(
          `Encounter/${idAt(answer, 0)}`,
        );
      }
    });

    it('a search as a reference sees what the Bundle replaces and deletes, and names every entry without a match', async () => {
      const [before, after] = [newUuid(), newUuid()];
      const id = await patient(before);
      const changed = put({ resourceType: 'Patient', id, identifier: identifier(after) });
      const by = (value: string): string => `Patient?identifier=${SYSTEM}|${value}`;
      expect(statuses(await transaction(changed, post(observation(by(after)))))).to.deep.equal([
        '200',
        '201',
      ]);
      const again = put({ resourceType: 'Patient', id, identifier: identifier(before) });
      refused(await transaction(again, post(observation(by(after)))), 422, 'Bundle.entry[1]');
      refused(
        await transaction(post(observation(by(newUuid()))), post(observation(by(newUuid())))),
        422,
        'Bundle.entry[0]',
        'Bundle.entry[1]',
      );
      const absolute = post(observation(`${service.base}/${by(after)}`));
      expect(statuses(await transaction(absolute))).to.deep.equal(['201']);
    });
  });

  describe('conditions', () => {
    const organization = (value: string): JsonObject => ({
      resourceType: 'Organization',
      name: value,
      identifier: identifier(value),
    });

    it('two writes under one unmatched condition are one resource twice', async () => {
      const value = newUuid();
      const conditional = put(organization(value), `Organization?identifier=${SYSTEM}|${value}`);
      refused(await transaction(conditional, conditional), 400, 'Bundle.entry[1]');
      const created = post(organization(value), {}, { ifNoneExist: `identifier=${SYSTEM}|${value}` });
      refused(await transaction(created, conditional), 400, 'Bundle.entry[1]');
    });

    it('a conditional create does not match what the Bundle deletes', async () => {
      const value = newUuid();
      const old = await create(organization(value));
      const again = post(organization(value), {}, { ifNoneExist: `identifier=${SYSTEM}|${value}` });
      const answer = await transaction(remove(`Organization/${old}`), again);
      expect(statuses(answer)).to.deep.equal(['204', '201']);
      expect(await total(`/Organization?identifier=${SYSTEM}|${value}`)).to.equal(1);
    });

    it('a stale ifMatch counts for an unchanged directory entry, and where nothing matches', async () => {
      const value = newUuid();
      const id = await create(organization(value));
      const unchanged = put({ ...organization(value), id });
      const stale = { ...unchanged, request: { method: 'PUT', url: `Organization/${id}`, ifMatch: 'W/"7"' } };
      refused(await transaction(stale), 412, 'Bundle.entry[0]');
      expect(responses(await transaction(unchanged))[0]?.etag).to.equal('W/"1"');
      const none = await service.fhir(`/Organization?identifier=${SYSTEM}|${newUuid()}`, {
        method: 'PUT',
        body: JSON.stringify(organization(newUuid())),
        headers: { 'If-Match': 'W/"1"' },
      });
      expect(none.status, none.text).to.equal(412);
    });

    it('conditions of the wrong type or name are refused, not dropped', async () => {
      const value = newUuid();
      refused(
        await transaction(post(organization(value), {}, { ifNoneExist: [`identifier=${SYSTEM}|${value}`] })),
        422,
        'Bundle.entry[0]',
      );
      refused(
        await transaction(post(organization(value), {}, { ifNoneExists: 'identifier=x' })),
        422,
        'Bundle.entry[0]',
      );
      const id = await create(organization(value));
      refused(
        await transaction({
          ...put({ ...organization(value), id }),
          request: { method: 'PUT', url: `Organization/${id}`, ifMatch: 1 },
        }),
        422,
        'Bundle.entry[0]',
      );
    });

    it('conditions that a method does not take are refused, not dropped', async () => {
      const value = newUuid();
      const id = await create(organization(value));
      const entries: [string, JsonObject, JsonObject][] = [
        ['PUT', { ifNoneExist: `identifier=${SYSTEM}|${value}` }, { id }],
        ['PUT', { ifNoneMatch: '*' }, { id }],
        ['PUT', { ifModifiedSince: '2026-01-01T00:00:00Z' }, { id }],
        ['POST', { ifMatch: 'W/"1"' }, {}],
      ];
      for (const [method, condition, more] of entries) {
        const url = method === 'PUT' ? `Organization/${id}` : 'Organization';
        const entry = {
          resource: { ...organization(value), ...more },
          request: { method, url, ...condition },
        };
        const [name] = Object.keys(condition);
        const answer = await transaction(entry);
        refused(answer, 422, 'Bundle.entry[0]');
        expect(answer.text).to.contain(`a ${method} entry cannot have ${name}`);
        const [batched] = responses(await send('batch', entry));
        expect(batched?.status, name).to.match(/^422/);
      }
      expect((await service.fhir(`/Organization/${id}`)).version).to.equal(1);
      expect(await total(`/Organization?identifier=${SYSTEM}|${value}`)).to.equal(1);
    });

    it('criteria that refer to another entry by its fullUrl are refused: they would match nothing', async () => {
      const [value, child] = [newUuid(), newUuid()];
      const [parent, id] = [await patient(value), newUuid()];
      await create(observation(`Patient/${parent}`, { identifier: identifier(child) }));
      const matched = post(
        { resourceType: 'Patient' },
        { fullUrl: URN },
        { ifNoneExist: `identifier=${SYSTEM}|${value}` },
      );
      const again = observation(URN, { identifier: identifier(child) });
      const criteria = (key: string): string => `${key}=${URN}&identifier=${SYSTEM}|${child}`;
      for (const key of ['subject', 'patient', 'subject:Patient']) {
        refused(
          await transaction(matched, post(again, {}, { ifNoneExist: criteria(key) })),
          422,
          'Bundle.entry[1]',
        );
        refused(
          await transaction(matched, put(again, `Observation?${criteria(key)}`)),
          422,
          'Bundle.entry[1]',
        );
      }
      refused(
        await transaction(matched, remove(`Observation?${criteria('subject')}`)),
        422,
        'Bundle.entry[1]',
      );
      expect(await total(`/Observation?identifier=${SYSTEM}|${child}`)).to.equal(1);
      const chained = `patient.identifier=${SYSTEM}|${value}&identifier=${SYSTEM}|${child}`;
      expect(
        statuses(await transaction(matched, post(again, {}, { ifNoneExist: chained }))),
        'a chain instead',
      ).to.deep.equal(['200', '200']);
      const named = post(
        { resourceType: 'Patient', identifier: [{ value: `urn:uuid:${id}` }] },
        { fullUrl: `urn:uuid:${id}` },
        { ifNoneExist: `identifier=urn:uuid:${id}` },
      );
      expect(statuses(await transaction(named)), 'an identifier isn’t a reference').to.deep.equal(['201']);
    });

    it('a URL of another server is named as such', async () => {
      const answer = await transaction({
        ...post(organization('x')),
        request: { method: 'POST', url: 'https://other.example/fhir/Organization' },
      });
      refused(answer, 422, 'Bundle.entry[0]');
      expect(answer.text).to.contain(`request.url must be relative, or below ${service.base}/`);
    });

    it('If-None-Exist may be a whole URL, as the HAPI client sends it', async () => {
      const value = newUuid();
      const body = JSON.stringify(organization(value));
      const forms = [
        `${service.base}/Organization?identifier=${SYSTEM}|${value}`,
        `${service.base}/Organization?_format=json&identifier=${SYSTEM}|${value}`,
        `/Organization?identifier=${SYSTEM}|${value}`,
        `identifier=${SYSTEM}|${value}&_pretty=true`,
      ];
      const found: number[] = [];
      for (const form of forms) {
        found.push(
          (await service.fhir('/Organization', { method: 'POST', body, headers: { 'If-None-Exist': form } }))
            .status,
        );
      }
      expect(found).to.deep.equal([201, 200, 200, 200]);
      const none = await service.fhir('/Organization', {
        method: 'POST',
        body,
        headers: { 'If-None-Exist': '_format=json' },
      });
      expect(none.status, none.text).to.be.within(400, 412);
    });

    it('a DocumentReference is found by its master identifier', async () => {
      const [id, value] = [await patient(), newUuid()];
      const document = {
        resourceType: 'DocumentReference',
        status: 'current',
        masterIdentifier: { system: SYSTEM, value },
        subject: { reference: `Patient/${id}` },
        content: [{ attachment: { contentType: 'text/plain' } }],
      };
      await create(document);
      expect(await total(`/DocumentReference?identifier=${SYSTEM}|${value}`)).to.equal(1);
    });
  });

  describe('all or nothing', () => {
    it('a GET entry that fails refuses the whole, before anything is written', async () => {
      const id = await patient();
      const answer = await transaction(
        post(observation(`Patient/${id}`)),
        get(`Patient/${newUuid()}`),
        get('Patient?_count=abc'),
        get('ServiceRequest/1'),
      );
      refused(answer, 404, 'Bundle.entry[1]', 'Bundle.entry[2]', 'Bundle.entry[3]');
      expect(await total(`/Observation?patient=${id}`)).to.equal(0);
      const kept = await create(observation(`Patient/${id}`));
      refused(
        await transaction(remove(`Observation/${kept}`), get(`Observation/${kept}`)),
        410,
        'Bundle.entry[1]',
      );
      expect((await service.fhir(`/Observation/${kept}`)).status).to.equal(200);
    });

    it('every refusal names its entry', async () => {
      const id = await patient();
      const write = post(observation(`Patient/${id}`));
      const stale = { method: 'DELETE', url: `Observation/${newUuid()}`, ifMatch: 'W/"1"' };
      refused(await transaction(write, { request: stale }), 412, 'Bundle.entry[1]');
      refused(
        await transaction(write, put({ ...observation(`Patient/${id}`), id: newUuid() })),
        405,
        'Bundle.entry[1]',
      );
      const withId = put(
        { resourceType: 'Organization', id: newUuid(), name: 'x' },
        `Organization?identifier=${SYSTEM}|${newUuid()}`,
      );
      refused(await transaction(withId), 405, 'Bundle.entry[0]');
      refused(
        await transaction(
          post({ resourceType: 'Organization', name: 'x' }, {}, { ifNoneExist: 'nonsense=1' }),
        ),
        400,
        'Bundle.entry[0]',
      );
    });

    it('more directory entries than one append takes come with a record, with the longest headers', async () => {
      const entry = Array.from({ length: 1_100 }, (_, index) =>
        post({ resourceType: 'Organization', name: `of many ${index}` }),
      );
      const body = JSON.stringify({
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [post({ resourceType: 'Patient' }), ...entry],
      });
      const long = 'x'.repeat(900);
      const answer = await service.fhir('', {
        method: 'POST',
        body,
        headers: { 'X-Service-Source-System': long, 'X-Service-Origin-Id': long },
      });
      expect(new Set(statuses(answer))).to.deep.equal(new Set(['201']));
      expect(responses(answer)).to.have.length(1_101);
      expect((await service.fhir(`/Organization/${idAt(answer, 1_100)}`)).text).to.contain('of many 1099');
    });

    it('an automatic Provenance can be referred to, and not written, also by an entry', async () => {
      const id = await patient();
      const found = await service.fhir(`/Provenance?target=Patient/${id}`);
      const automatic = /"resource":\{"resourceType":"Provenance","id":"([^"]+)"/.exec(found.text)?.[1] ?? '';
      refused(await transaction(remove(`Provenance/${automatic}`)), 405, 'Bundle.entry[0]');
      expect(statuses(await send('batch', remove(`Provenance/${automatic}`)))).to.deep.equal(['405']);
      expect(statuses(await transaction(post(provenance(`Provenance/${automatic}`))))).to.deep.equal(['201']);
    });
  });

  it('an inactive practitioner is refused through a role, and every wrong header is named', async () => {
    const practitioner = await create({ resourceType: 'Practitioner', active: false });
    const role = await create({
      resourceType: 'PractitionerRole',
      practitioner: { reference: `Practitioner/${practitioner}` },
    });
    const answer = await service.fhir('/Patient', {
      method: 'POST',
      body: '{"resourceType":"Patient"}',
      headers: {
        'X-Service-Acting-As': `PractitionerRole/${role}`,
        'X-Service-On-Behalf-Of': `Organization/${newUuid()}`,
      },
    });
    expect(answer.status, answer.text).to.equal(422);
    expect(answer.text).to.contain('X-Service-Acting-As').and.to.contain('X-Service-On-Behalf-Of');
  });
});
