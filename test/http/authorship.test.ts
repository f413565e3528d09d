import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { productionKey } from '#test/support/project.ts';
import type { Answer } from '#test/support/service.ts';

const ACTING = 'X-Service-Acting-As';
const AUTHOR = 'X-Service-Author-Ref';
const BEHALF = 'X-Service-On-Behalf-Of';

const DAY = 86_400_000;
/**
 * Returns a date the given number of days from now, to a precision: 4 for the year, 7 for the month, 10 for the day, 20 for
 * the second.
 */
const day = (days: number, precision = 10) =>
  new Date(Date.now() + days * DAY)
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .slice(0, precision);

/** The people named in writes: docs/spec/interface.md, section 5; docs/spec/decisions.md, section 2. */
describe('acting-as, author-ref and on-behalf-of', () => {
  let service: InProcess;
  let stranger: string;
  let production: string;
  before(async () => {
    service = await startInProcess();
    stranger = await service.newProject();
    production = await productionKey(service.databaseUrl, service.pool, service.key);
  });
  after(() => service.stop());

  const create = async (resource: JsonObject, key = service.key): Promise<string> => {
    const type = String(resource.resourceType);
    const body = JSON.stringify(resource);
    const answer = await service.fhir(`/${type}`, { method: 'POST', body, key });
    expect(answer.status, answer.text).to.equal(201);
    return `${type}/${String(answer.json.id)}`;
  };
  const practitioner = (more: JsonObject = {}, key?: string) =>
    create({ resourceType: 'Practitioner', name: [{ family: 'Doc' }], ...more }, key);
  const organization = (more: JsonObject = {}, key?: string) =>
    create({ resourceType: 'Organization', name: 'Klinik', ...more }, key);
  const role = (more: JsonObject = {}) => create({ resourceType: 'PractitionerRole', ...more });
  const heldBy = async (more: JsonObject, reference = (id: string) => id) =>
    role({ practitioner: { reference: reference(await practitioner(more)) } });
  const remove = async (reference: string) => {
    expect((await service.fhir(`/${reference}`, { method: 'DELETE' })).status).to.equal(204);
    return reference;
  };
  const write = (headers: Record<string, string>) =>
    service.fhir('/Patient', { method: 'POST', body: '{"resourceType":"Patient"}', headers });

  const cases: readonly [string, header: string, () => Promise<string>, accepted: boolean][] = [
    ['a practitioner', ACTING, () => practitioner(), true],
    ['a practitioner who is active', ACTING, () => practitioner({ active: true }), true],
    ['a practitioner who is not', ACTING, () => practitioner({ active: false }), false],
    ['a deleted practitioner', ACTING, async () => remove(await practitioner()), false],
    ['a practitioner that never was', ACTING, async () => `Practitioner/${newUuid()}`, false],
    ['an id that is no UUID', ACTING, async () => 'Practitioner/nobody', false],
    ['an organization', ACTING, () => organization(), false],
    [
      'a practitioner’s id as a role’s',
      ACTING,
      async () => (await practitioner()).replace('Practitioner/', 'PractitionerRole/'),
      false,
    ],
    [
      'an organization’s id as a practitioner’s',
      ACTING,
      async () => (await organization()).replace('Organization/', 'Practitioner/'),
      false,
    ],
    ['a version', ACTING, async () => `${await practitioner()}/_history/1`, false],
    ['a URL', ACTING, async () => `${service.base}/${await practitioner()}`, false],
    ['two of them', ACTING, async () => `${await practitioner()}, ${await practitioner()}`, false],
    ['another project’s', ACTING, () => practitioner({}, stranger), false],
    ['the other environment’s', ACTING, () => practitioner({}, production), false],
    ['a role of nobody in particular', ACTING, () => role(), true],
    ['an inactive role', ACTING, () => role({ active: false }), false],
    ['a role that begins', ACTING, () => role({ period: { start: day(0) } }), true],
    ['a role from tomorrow', ACTING, () => role({ period: { start: day(1) } }), false],
    ['a role until tomorrow', ACTING, () => role({ period: { end: day(1) } }), true],
    ['a role until yesterday', ACTING, () => role({ period: { end: day(-1) } }), false],
    ['a role until last year', ACTING, () => role({ period: { end: day(-366, 4) } }), false],
    ['a role until next month', ACTING, () => role({ period: { end: day(31, 7) } }), true],
    ['a role from this second', ACTING, () => role({ period: { start: day(0, 20) } }), true],
    ['a role between', ACTING, () => role({ period: { start: day(-400, 7), end: day(400, 4) } }), true],
    ['a role held by an active one', ACTING, () => heldBy({ active: true }), true],
    ['a role held by an inactive one', ACTING, () => heldBy({ active: false }), false],
    [
      'a role held by an inactive one, by its URL',
      ACTING,
      () => heldBy({ active: false }, (id) => `${service.base}/${id}`),
      false,
    ],
    [
      'a role held by an inactive one, by its version',
      ACTING,
      () => heldBy({ active: false }, (id) => `${id}/_history/1`),
      false,
    ],
    [
      'a role held by one who is gone',
      ACTING,
      async () => {
        const reference = await practitioner();
        const held = await role({ practitioner: { reference } });
        await remove(reference);
        return held;
      },
      false,
    ],
    [
      'a role held by an inactive one within it',
      ACTING,
      () =>
        role({
          contained: [{ resourceType: 'Practitioner', id: 'p', active: false }],
          practitioner: { reference: '#p' },
        }),
      false,
    ],
    [
      'a role held by one elsewhere',
      ACTING,
      () => role({ practitioner: { reference: 'https://elsewhere.example/fhir/Practitioner/1' } }),
      true,
    ],
    ['a practitioner', AUTHOR, () => practitioner(), true],
    ['a practitioner who is not active', AUTHOR, () => practitioner({ active: false }), false],
    ['another project’s', AUTHOR, () => practitioner({}, stranger), false],
    ['a role', AUTHOR, () => role(), false],
    ['an organization', BEHALF, () => organization(), true],
    ['an inactive organization', BEHALF, () => organization({ active: false }), false],
    ['a deleted organization', BEHALF, async () => remove(await organization()), false],
    ['another project’s organization', BEHALF, () => organization({}, stranger), false],
    ['the other environment’s organization', BEHALF, () => organization({}, production), false],
    ['a practitioner', BEHALF, () => practitioner(), false],
  ];
  for (const [name, header, named, accepted] of cases) {
    it(`${header}: ${name} is ${accepted ? 'accepted' : 'refused'}`, async () => {
      const answer = await write({ [header]: await named() });
      if (accepted) expect(answer.status, answer.text).to.equal(201);
      else refused(answer, header);
    });
  }

  it('does not tell whether somebody is there for others', async () => {
    const texts = [
      await practitioner({}, stranger),
      await practitioner({}, production),
      await remove(await practitioner()),
    ];
    const unknown = (await write({ [ACTING]: `Practitioner/${newUuid()}` })).text;
    for (const reference of texts) expect((await write({ [ACTING]: reference })).text).to.equal(unknown);
  });

  it('names every wrong header, of wrong form and naming nobody, on each way of writing', async () => {
    const patient = await create({ resourceType: 'Patient' });
    const [, id = ''] = patient.split('/');
    const body = JSON.stringify({ resourceType: 'Patient', id });
    const json = { 'Content-Type': 'application/json-patch+json' };
    const entry = [{ resource: { resourceType: 'Patient' }, request: { method: 'POST', url: 'Patient' } }];
    const bundle = (type: string) => JSON.stringify({ resourceType: 'Bundle', type, entry });
    const ways: readonly [string, string, string?, Record<string, string>?][] = [
      ['POST', '/Patient', '{"resourceType":"Patient"}'],
      ['PUT', `/${patient}`, body],
      ['PATCH', `/${patient}`, '[{"op":"add","path":"/active","value":true}]', json],
      ['DELETE', `/${patient}`],
      ['DELETE', `/${patient}?_purge=true`],
      ['POST', '', bundle('transaction')],
      ['POST', '', bundle('batch')],
    ];
    const wrong = {
      [ACTING]: `Practitioner/${newUuid()}`,
      [AUTHOR]: 'Doctor Who',
      [BEHALF]: `Organization/${newUuid()}`,
      'X-Service-Author-Type': 'robot',
    };
    for (const [method, path, sent, headers = {}] of ways) {
      const call = {
        method,
        headers: { ...wrong, ...headers },
        ...(sent === undefined ? {} : { body: sent }),
      };
      refused(await service.fhir(path, call), ...Object.keys(wrong));
    }
    expect((await service.fhir(`/${patient}`)).version).to.equal(1);
    expect((await service.fhir(`/${patient}/_history`)).json.total).to.equal(1);
  });

  it('follows the directory from one write to the next', async () => {
    const who = await practitioner();
    const [, id = ''] = who.split('/');
    const held = await role({ practitioner: { reference: who } });
    const put = (active: boolean) =>
      service.fhir(`/${who}`, {
        method: 'PUT',
        body: JSON.stringify({ resourceType: 'Practitioner', id, active }),
      });
    for (const active of [true, false, true]) {
      expect((await put(active)).status).to.equal(200);
      for (const reference of [who, held]) {
        const answer = await write({ [ACTING]: reference });
        expect(answer.status, answer.text).to.equal(active ? 201 : 422);
      }
    }
  });

  it('holds for every entry of a Bundle, and the name is the organization’s of that time', async () => {
    const who = await practitioner();
    const clinic = await organization({ name: 'Before' });
    const headers = { [ACTING]: who, [BEHALF]: clinic };
    const urn = 'urn:uuid:00000000-0000-4000-8000-000000000001';
    const entry = [
      { fullUrl: urn, resource: { resourceType: 'Patient' }, request: { method: 'POST', url: 'Patient' } },
      {
        resource: {
          resourceType: 'Observation',
          status: 'final',
          code: { text: 'x' },
          subject: { reference: urn },
        },
        request: { method: 'POST', url: 'Observation' },
      },
      {
        resource: { resourceType: 'Organization', name: 'Carried' },
        request: { method: 'POST', url: 'Organization' },
      },
    ];
    const answer = await service.post('/', { resourceType: 'Bundle', type: 'transaction', entry }, headers);
    const [, id = ''] = clinic.split('/');
    const renamed = JSON.stringify({ resourceType: 'Organization', id, name: 'After' });
    expect((await service.fhir(`/${clinic}`, { method: 'PUT', body: renamed })).status).to.equal(200);
    const locations = [...answer.text.matchAll(/"location":"([^"]+)"/g)].map(([, location]) => location);
    expect(locations).to.have.length(3);
    for (const location of locations) {
      const found = await service.fhir(`/Provenance?target=${location}`);
      const [agent] = agentsIn(found);
      expect(agent).to.deep.equal({
        type: { coding: [{ system: PARTICIPANT, code: 'author', display: 'Author' }] },
        who: { reference: who, identifier: { system: AUTHOR_TYPE, value: 'import' }, display: 'Doc' },
        onBehalfOf: { reference: clinic, display: 'Before' },
      });
    }
  });

  it('answers a repetition as before, whoever is inactive by now', async () => {
    const who = await practitioner();
    const headers = { [ACTING]: who, 'Idempotency-Key': newUuid() };
    const first = await write(headers);
    await remove(who);
    const second = await write(headers);
    expect([second.status, second.text]).to.deep.equal([201, first.text]);
    const other = await write({ ...headers, [ACTING]: await practitioner() });
    expect(other.status, other.text).to.equal(422);
    expect(other.text).to.contain('Idempotency-Key');
  });

  it('leave the names of that moment in the event: the author’s, else of who acts, and the organization’s', async () => {
    const name = [
      { use: 'old', text: 'Maiden' },
      { prefix: ['Dr.'], given: ['Ada', 'M.'], family: 'Lee' },
    ];
    const doctor = await practitioner({ name });
    const held = await role({ practitioner: { reference: doctor } });
    const klinik = await organization();
    for (const headers of [{ [AUTHOR]: doctor, [ACTING]: await practitioner() }, { [ACTING]: held }]) {
      const { json } = await write({ ...headers, [BEHALF]: klinik });
      const { rows } = await service.pool.query<{ metadata: string }>(
        'select metadata from history.version where id = $1',
        [json.id],
      );
      const { author, on_behalf_of } = JSON.parse(rows[0]?.metadata ?? '');
      expect([author.display, on_behalf_of.display]).to.deep.equal(['Dr. Ada M. Lee', 'Klinik']);
    }
  });
});

const PARTICIPANT = 'http://terminology.hl7.org/CodeSystem/provenance-participant-type';
const AUTHOR_TYPE = 'https://annal.dev/fhir/author-type';

/** Expects 422 and an OperationOutcome with an issue for each of the given headers and no others. */
function refused(answer: Answer, ...headers: readonly string[]): void {
  expect(answer.status, answer.text).to.equal(422);
  const { resourceType, issue } = answer.json;
  expect(resourceType).to.equal('OperationOutcome');
  const issues = Array.isArray(issue) ? issue.filter(isObject) : [];
  for (const { severity, code } of issues) expect([severity, code]).to.deep.equal(['error', 'invalid']);
  const named = issues.map(({ diagnostics }) =>
    headers.find((header) => String(diagnostics).includes(header)),
  );
  expect(named).to.have.members([...headers]);
}

function agentsIn(answer: Answer): unknown[] {
  const { entry } = answer.json;
  const [first] = Array.isArray(entry) ? entry : [];
  const resource = isObject(first) && isObject(first.resource) ? first.resource : {};
  return Array.isArray(resource.agent) ? resource.agent : [];
}
