/** Bundles under a grant: each entry is checked separately (docs/spec/decisions.md, sections 5 "Bundles" and 9). */
import { expect } from 'chai';
import { byPerson, identityOf, openInstance } from '#test/support/consent-commands.ts';
import { GrantWriting, type Resource } from '#test/support/grant-writing.ts';
import type { Allowed } from '#test/support/granted.ts';
import type { Answer } from '#test/support/service.ts';

const [LAB, VITAL] = ['laboratory', 'vital-signs'];
const UNKNOWN = '01890000-0000-7000-8000-000000000000';

interface Entry {
  readonly request: { method: string; url: string; ifNoneExist?: string; ifMatch?: string };
  readonly fullUrl?: string;
  readonly resource?: object;
}
interface Shown {
  readonly resource?: Resource & { id: string };
  readonly response: { status: string; location?: string; outcome?: object };
}

describe('Bundles under a grant', () => {
  let on: GrantWriting;
  let whole: Allowed;
  let other: string;

  before(async () => {
    on = await GrantWriting.start();
    whole = await on.allow(['patient/*.cruds']);
    other = await on.created({ resourceType: 'Patient', name: [{ family: 'Sand' }] });
  });
  after(() => on?.stop());

  const send = (
    allowed: Allowed,
    type: string,
    entry: readonly Entry[],
    headers: Record<string, string> = {},
  ) => on.send(allowed, 'POST', '/', { resourceType: 'Bundle', type, entry }, headers);
  const entriesIn = ({ text }: Answer): Shown[] => (JSON.parse(text) as { entry: Shown[] }).entry;
  const statuses = (answer: Answer) => entriesIn(answer).map(({ response }) => response.status.slice(0, 3));
  const idIn = ({ response }: Shown | undefined = { response: { status: '' } }) =>
    response.location?.split('/')[1] ?? '';
  const post = (resource: Resource, rest: Partial<Entry> = {}, ifNoneExist?: string): Entry => ({
    ...rest,
    resource,
    request: {
      method: 'POST',
      url: resource.resourceType,
      ...(ifNoneExist === undefined ? {} : { ifNoneExist }),
    },
  });
  const get = (url: string): Entry => ({ request: { method: 'GET', url } });
  const requestOf = (answer: Answer) => answer.headers.get('service-request-id') ?? '';

  it('write, match and read in one transaction, with pairwise ids in URLs, links and criteria', async () => {
    const subject = { reference: `Patient/${whole.patient}` };
    const known = await on.created(
      on.observation(on.record, LAB, { identifier: [{ system: 'urn:known', value: '1' }] }),
    );
    const gone = await on.created(on.observation(on.record, LAB));
    const answer = await send(
      whole,
      'transaction',
      [
        post(
          {
            resourceType: 'Encounter',
            status: 'finished',
            class: { code: 'AMB' },
            subject,
          },
          { fullUrl: 'urn:uuid:0198c2a0-0000-7000-8000-00000000000a' },
        ),
        post(
          on.observation(whole.patient, LAB, {
            encounter: { reference: 'urn:uuid:0198c2a0-0000-7000-8000-00000000000a' },
            derivedFrom: [{ reference: 'Observation?identifier=urn:known|1' }],
            focus: [{ reference: `${on.service.base}/Patient/${whole.patient}` }],
          }),
        ),
        post(
          on.observation(whole.patient, LAB),
          {},
          `identifier=urn:known|1&subject=Patient/${whole.patient}`,
        ),
        {
          request: { method: 'PUT', url: `Patient/${whole.patient}` },
          resource: {
            resourceType: 'Patient',
            id: whole.patient,
            name: [{ family: 'Sand' }],
            birthDate: '1957-03-14',
          },
        },
        { request: { method: 'DELETE', url: `Observation/${gone}` } },
        get(`Patient/${whole.patient}`),
        get(`Observation?subject=Patient/${whole.patient}&identifier=urn:known|1`),
        get(`Patient/${encodeURIComponent(whole.patient).replace('-', '%2D')}/Observation?_count=1`),
      ],
      { Prefer: 'return=representation' },
    );
    expect(answer.status, answer.text).to.equal(200);
    expect(statuses(answer)).to.deep.equal(['201', '201', '200', '200', '204', '200', '200', '200']);
    expect(answer.text).not.to.contain(on.record);
    const [encounter, observation, matched, patient, , read, found] = entriesIn(answer);
    expect(encounter?.resource?.subject).to.deep.equal(subject);
    expect(idIn(matched)).to.equal(known);
    expect(observation?.resource).to.deep.include({
      encounter: { reference: `Encounter/${idIn(encounter)}` },
      derivedFrom: [{ reference: `Observation/${known}` }],
      focus: [{ reference: `${on.service.base}/Patient/${whole.patient}` }],
      subject,
    });
    expect(patient?.resource?.id).to.equal(whole.patient);
    expect(read?.resource?.birthDate).to.equal('1957-03-14');
    expect(JSON.stringify(found)).to.contain(known);
    const owned = await on.service.fhir(`/Observation/${idIn(observation)}`);
    expect(owned.text).to.contain(`Patient/${on.record}`).and.not.to.contain(whole.patient);
    expect((await on.metadataOf(idIn(observation))).transaction_id).to.be.a('string');
    const log = await on.logged(requestOf(answer));
    expect(log).to.have.deep.members([
      ['condition', 'Observation', 'ok', 1],
      ['condition', 'Observation', 'ok', 1],
      ['create', 'Observation', 'ok', 1],
      ['read', 'Patient', 'ok', 1],
      ['search-type', 'Observation', 'ok', 1],
      ['search-compartment', 'Observation', 'ok', 1],
    ]);
  });

  it('resolve references that are searches within the grant, with the pairwise id', async () => {
    const narrow = await on.allow(['patient/Observation.cru', 'patient/Condition.s']);
    const link = (allowed: Allowed, reference: string) =>
      send(allowed, 'transaction', [
        post({ ...on.observation(allowed.patient, LAB), subject: { reference } }),
      ]);
    const made = await link(narrow, `Patient?_id=${narrow.patient}`);
    expect([made.status, made.status === 200 && statuses(made)], made.text).to.deep.equal([200, ['201']]);
    expect(await on.logged(requestOf(made))).to.deep.equal([['condition', 'Patient', 'ok', 1]]);
    const before = await on.events();
    const unknown = await link(narrow, `Patient?_id=${UNKNOWN}`);
    expect(unknown.status).to.equal(422);
    for (const id of [other, on.record]) {
      const answer = await link(narrow, `Patient?_id=${id}`);
      expect([answer.status, answer.text.replaceAll(id, UNKNOWN)]).to.deep.equal([422, unknown.text]);
    }
    const derived = on.observation(narrow.patient, LAB, {
      derivedFrom: [{ reference: 'Observation?identifier=urn:known|1' }],
    });
    const refused = await send(narrow, 'transaction', [post(derived)]);
    expect([refused.status, refused.text.includes('patient/Observation.s')], refused.text).to.deep.equal([
      403,
      true,
    ]);
    expect(await on.events()).to.equal(before);
  });

  it('check each entry of a batch by itself', async () => {
    const narrow = await on.allow([`patient/Observation.cruds?category=${LAB}`, 'patient/Condition.r']);
    const [lab, vital] = [
      await on.created(on.observation(on.record, LAB)),
      await on.created(on.observation(on.record, VITAL)),
    ];
    const condition: Resource = {
      resourceType: 'Condition',
      subject: { reference: `Patient/${narrow.patient}` },
      code: { text: 'Gout' },
    };
    const put = (id: string, category: string): Entry => ({
      request: { method: 'PUT', url: `Observation/${id}` },
      resource: { ...on.observation(narrow.patient, category), id },
    });
    const entries = [
      post(on.observation(narrow.patient, LAB)),
      post(on.observation(narrow.patient, VITAL)),
      post(condition),
      post({ resourceType: 'Patient' }),
      post({ resourceType: 'Practitioner', name: [{ family: 'House' }] }),
      put(lab, LAB),
      put(vital, LAB),
      put(UNKNOWN, LAB),
      { request: { method: 'DELETE', url: `Observation/${vital}` } },
      get(`Observation/${lab}`),
      get(`Observation/${vital}`),
      get('Condition'),
      get('Encounter'),
      get(`Patient/${other}`),
      get(`Patient/${on.record}`),
      get(`Patient/${narrow.patient}`),
    ];
    const answer = await send(narrow, 'batch', entries);
    expect(statuses(answer), answer.text).to.deep.equal([
      ...['201', '403', '403', '403', '422', '200', '405', '405', '204'],
      ...['200', '404', '403', '403', '404', '404', '200'],
    ]);
    const texts = entriesIn(answer).map((each) => JSON.stringify(each));
    expect(texts[6]).to.equal(texts[7]?.replaceAll('entry[7]', 'entry[6]'));
    expect(answer.text).to.contain('business-rule');
    // In a transaction, one refused entry causes the whole transaction to be refused.
    const before = await on.events();
    for (const [index, status] of [
      [1, 403],
      [2, 403],
      [3, 403],
      [4, 422],
      [6, 405],
      [10, 404],
      [11, 403],
      [13, 404],
    ] as const) {
      const one = entries[index];
      const refused = await send(narrow, 'transaction', [
        post(on.observation(narrow.patient, LAB)),
        ...(one === undefined ? [] : [one]),
      ]);
      expect(refused.status, `${index}: ${refused.text}`).to.equal(status);
      expect(refused.text).to.contain('Bundle.entry[1]');
    }
    expect(await on.events()).to.equal(before);
  });

  it('exchange ids in JSON Patches, which are base64', async () => {
    const id = await on.created(on.observation(on.record, LAB));
    const patch = (operations: string): Entry => ({
      request: { method: 'PATCH', url: `Observation/${id}` },
      resource: {
        resourceType: 'Binary',
        contentType: 'application/json-patch+json',
        data: Buffer.from(operations).toString('base64'),
      },
    });
    const escaped = (text: string) =>
      [...text].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
    const test = (reference: string) => `[{"op":"test","path":"/subject/reference","value":"${reference}"}]`;
    for (const type of ['batch', 'transaction'])
      for (const own of [`Patient/${whole.patient}`, escaped(`Patient/${whole.patient}`)]) {
        const answer = await send(whole, type, [patch(test(own))]);
        expect(answer.status === 200 ? statuses(answer) : answer.text).to.deep.equal(['200']);
      }
    const unknown = (await send(whole, 'transaction', [patch(test(`Patient/${UNKNOWN}`))])).text;
    expect(unknown).to.contain('issue');
    for (const real of [`Patient/${on.record}`, escaped(`Patient/${on.record}`)])
      expect((await send(whole, 'transaction', [patch(test(real))])).text).to.equal(unknown);
    // The message about invalid JSON would quote the id.
    const broken = await send(whole, 'batch', [patch(`[{"op": ${on.record} `)]);
    expect(broken.text).not.to.contain(whole.patient);
  });

  it('bring directory entries into a personal record’s directory, and into no other', async () => {
    const doctor = {
      resourceType: 'Practitioner',
      name: [{ family: 'Grey' }],
      identifier: [{ system: 'urn:l', value: '7' }],
    };
    const bundle = (patient: string) => [
      post(doctor, { fullUrl: 'urn:uuid:0198c2a0-0000-7000-8000-00000000000b' }),
      post(
        on.observation(patient, LAB, {
          performer: [{ reference: 'urn:uuid:0198c2a0-0000-7000-8000-00000000000b' }],
        }),
      ),
    ];
    const before = await on.events();
    const refused = await send(whole, 'transaction', bundle(whole.patient));
    expect([refused.status, refused.text.includes('business-rule')], refused.text).to.deep.equal([422, true]);
    expect(await on.events()).to.equal(before);
    // An existing resource is matched.
    await on.created({ ...doctor });
    const matched = await send(whole, 'transaction', [
      post(doctor, { fullUrl: 'urn:uuid:0198c2a0-0000-7000-8000-00000000000b' }, 'identifier=urn:l|7'),
      ...bundle(whole.patient).slice(1),
    ]);
    expect([matched.status, statuses(matched)], matched.text).to.deep.equal([200, ['200', '201']]);
    const instance = await openInstance(on.service.databaseUrl);
    const person = identityOf('ada');
    const { result } = await instance.consents
      .startPersonalRecord(byPerson(person), person, 'sandbox', {
        given: 'Ada',
        family: 'Lind',
        birth_date: '1984-07-19',
      })
      .finally(() => instance.close());
    const personal = await on.allow(['patient/*.cruds'], result.patient);
    const made = await send(personal, 'transaction', bundle(personal.patient));
    expect([made.status, made.status === 200 && statuses(made)], made.text).to.deep.equal([
      200,
      ['201', '201'],
    ]);
    const [practitioner] = entriesIn(made);
    const seen = await on.ask(personal, `/Practitioner/${idIn(practitioner)}`);
    expect(seen.text).to.contain('Grey');
    expect((await on.metadataOf(idIn(practitioner))).owner).to.deep.equal({
      project: result.project,
      environment: 'sandbox',
    });
    // Neither the application's project nor the other owner has the resource.
    for (const key of [on.service.key, on.appKey])
      expect((await on.service.fhir(`/Practitioner/${idIn(practitioner)}`, { key })).status).to.equal(404);
    const batch = await send(personal, 'batch', [
      post({ ...doctor, identifier: [{ system: 'urn:l', value: '8' }] }),
    ]);
    expect(statuses(batch), batch.text).to.deep.equal(['201']);
    expect((await on.send(personal, 'POST', '/Practitioner', doctor)).status).to.equal(403);
    const change = {
      request: { method: 'PUT', url: `Practitioner/${idIn(practitioner)}` },
      resource: { ...doctor, id: idIn(practitioner), active: false },
    };
    expect((await send(personal, 'transaction', [change])).status).to.equal(422);
    expect(statuses(await send(personal, 'batch', [change]))).to.deep.equal(['403']);
  });

  it('are answered once with an Idempotency-Key, also with a refreshed token, and for that grant alone', async () => {
    const entries = [post(on.observation(whole.patient, LAB)), get(`Patient/${whole.patient}`)];
    const key = { 'Idempotency-Key': 'bundle-1' };
    const first = await send(whole, 'batch', entries, key);
    const token = await on.granting.tokenOf(whole);
    const before = await on.events();
    const again = await send({ ...whole, token }, 'batch', entries, key);
    expect(again.headers.get('idempotent-replayed')).to.equal('true');
    expect(again.text).to.equal(first.text);
    expect(await on.events()).to.equal(before);
    expect(await on.logged(requestOf(again))).to.deep.equal([['bundle', null, 'ok', null]]);
    const another = await on.allow(['patient/*.cruds']);
    const other = await send(
      another,
      'batch',
      [post(on.observation(another.patient, LAB)), get(`Patient/${another.patient}`)],
      key,
    );
    expect([other.headers.get('idempotent-replayed'), other.text.includes(whole.patient)]).to.deep.equal([
      null,
      false,
    ]);
  });

  it('don’t get the first answer of an Idempotency-Key with a token of other scopes', async () => {
    const entries = [get(`Patient/${whole.patient}`), get('Observation?_count=1'), get('Condition?_count=1')];
    const key = { 'Idempotency-Key': 'bundle-narrowed' };
    expect((await send(whole, 'batch', entries, key)).status).to.equal(200);
    const token = await on.granting.tokenOf(whole, ['patient/Condition.rs']);
    const narrowed = await send({ ...whole, token }, 'batch', entries, key);
    expect([narrowed.status, narrowed.text.includes('"Observation"')]).to.deep.equal([422, false]);
    expect(statuses(await send({ ...whole, token }, 'batch', entries))).to.deep.equal(['200', '403', '200']);
    const again = await on.granting.tokenOf(whole);
    const repeated = await send({ ...whole, token: again }, 'batch', entries, key);
    expect(repeated.headers.get('idempotent-replayed')).to.equal('true');
  });
});
