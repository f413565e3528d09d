/**
 * Proposals: an application suggests a change, and a person decides on it (docs/spec/decisions.md, section 7;
 * docs/proposals.md).
 */
import { expect } from 'chai';
import { reportPage } from '#src/audit/report.ts';
import { readHistory } from '#src/audit/versions.ts';
import { recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { revoked, unlinked } from '#test/support/consents.ts';
import type { Application } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { identityOf, me } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';
import { conditionOf, Proposing, type Shared, type Shown } from '#test/support/proposals.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { type SecondInstance, startSecondInstance } from '#test/support/second-instance.ts';

interface Agent {
  readonly type: { readonly coding: readonly { readonly code: string }[] };
  readonly who: { readonly identifier: { readonly value: string } };
}

describe('proposals', () => {
  let service: InProcess;
  let second: SecondInstance;
  let proposing: Proposing;
  let application: Application;

  before(async () => {
    service = await startInProcess();
    second = await startSecondInstance(service);
    proposing = await Proposing.open(service);
    application = await proposing.application();
  });
  after(async () => {
    await proposing?.close();
    await second?.close();
    await service?.stop();
  });

  const types = async (record: string): Promise<string[]> =>
    (await proposing.events(record)).map(({ event }) => event.type);
  const newCondition = async (record: string, text = 'Asthma'): Promise<string> =>
    String((await service.post('/Condition', conditionOf(record, text))).json.id);
  const read = async ({ allowed }: Shared, id: string): Promise<Shown> =>
    JSON.parse((await proposing.app(allowed, `/${id}`)).text);

  it('waits with the record, as the application and the person see it, each with their own id of the Patient', async () => {
    const shared = await proposing.share(application);
    const { allowed, patient, record } = shared;
    const resource = { ...conditionOf(patient, 'Asthma'), extension: [{ url: 'urn:x', valueDecimal: 1.5 }] };
    const body = JSON.stringify({
      operation: 'create',
      resource,
      rationale: 'You said so',
      author_type: 'ai',
    });
    const response = await fetch(`${service.url}/v1/patients/${patient}/proposals`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${allowed.token}`, 'Content-Type': 'application/json' },
      body: body.replace('1.5', '1.50'),
    });
    const text = await response.text();
    expect(response.status, text).to.equal(201);
    expect(text).to.contain('"valueDecimal":1.50').and.not.to.contain(record);
    const made = JSON.parse(text) as Shown;
    expect(made.id).to.match(/^prop_[\w-]{22}$/);
    const { created_at, expires_at, difference, ...rest } = made;
    expect(rest).to.deep.equal({
      id: made.id,
      patient,
      status: 'pending',
      operation: 'create',
      resource_type: 'Condition',
      resource_id: null,
      current_version: null,
      resource: JSON.parse(JSON.stringify(resource)),
      author_type: 'ai',
      application: {
        id: application.applicationId,
        name: 'Hearty',
        kind: 'confidential',
        organization: 'Hearty Labs',
        privacy_url: null,
      },
      rationale: 'You said so',
      decided_at: null,
      version: null,
      fhir: null,
    });
    expect(Date.parse(String(expires_at)) - Date.parse(String(created_at))).to.be.closeTo(
      30 * 86_400_000,
      1000,
    );
    expect(difference).to.deep.include({ path: 'code.text', after: 'Asthma' });
    expect(difference).to.deep.include({ path: 'subject.reference', after: `Patient/${patient}` });

    const { json } = await proposing.person(shared);
    expect(json.total).to.equal(1);
    expect(JSON.stringify(json)).to.not.contain(patient);
    expect(json.data[0]).to.deep.include({
      id: made.id,
      patient: record,
      status: 'pending',
      author_type: 'ai',
    });
    const own = await proposing.app(allowed);
    expect([own.json.total, own.text.includes(record)]).to.deep.equal([1, false]);
    expect(await types(record)).to.deep.equal([
      'ResourceCreated',
      'RecordLinked',
      'ConsentGranted',
      'ProposalMade',
    ]);
    // Nothing from the proposal has been written to the record.
    expect((await service.fhir(`/Condition?patient=${record}`)).json.total).to.equal(0);
  });

  it('accepted, is written in one append: the application is the author, the person approved', async () => {
    const shared = await proposing.share(application);
    const { record, allowed, patient } = shared;
    const made = await proposing.condition(shared);
    const { status, json } = await proposing.decide(shared, made.id, 'accept');
    expect(status, JSON.stringify(json)).to.equal(200);
    const id = String(json.resource_id);
    expect(json).to.deep.include({
      status: 'accepted',
      version: 1,
      fhir: `Condition/${id}`,
      resource_id: id,
    });
    const [version, end] = (await proposing.events(record)).slice(-2);
    expect(version?.event).to.deep.include({ type: 'ResourceCreated', resourceId: id, version: 1 });
    expect(end?.event.type).to.equal('ProposalAccepted');
    for (const [index, event] of [version, end].entries()) {
      expect(event?.metadata.append).to.deep.equal([index, 2]);
      expect(event?.metadata.author).to.deep.equal({ type: 'ai' });
      expect(event?.metadata.credential).to.deep.equal({
        kind: 'grant',
        project: application.project,
        environment: 'sandbox',
        application: application.applicationId,
        grant_id: allowed.data.grant_id,
      });
      expect(event?.metadata.approved_by).to.deep.equal({
        ...identityOf(service, shared.email),
        role: 'self',
        proposal_id: made.id,
      });
    }
    const seen = await service.fhir(`/Condition/${id}`);
    expect(seen.json.subject).to.deep.equal({ reference: `Patient/${record}` });
    expect((await read(shared, made.id)).status).to.equal('accepted');

    const provenance = await service.fhir(`/Provenance?target=Condition/${id}`);
    const { entry } = JSON.parse(provenance.text) as { entry: { resource: { agent: Agent[] } }[] };
    const agent = entry[0]?.resource.agent ?? [];
    const codes = agent.map(({ type }) => type.coding[0]?.code);
    expect(codes).to.deep.equal(['author', 'enterer', 'verifier']);
    expect(agent[0]?.who.identifier.value).to.equal('ai');
    expect(agent[2]?.who).to.deep.equal({
      identifier: { system: 'https://annal.dev/fhir/actor', value: 'person/self' },
      display: 'The patient',
    });
    expect(provenance.text)
      .to.not.contain(shared.email)
      .and.not.contain(identityOf(service, shared.email).subject);
    const other = await newCondition(record);
    for (const query of ['agent-type=verifier', 'agent:identifier=https://annal.dev/fhir/actor|person/self'])
      for (const [target, total] of [
        [id, 1],
        [other, 0],
      ] as const)
        expect(
          (await service.fhir(`/Provenance?target=Condition/${target}&${query}`)).json.total,
          `${query} ${target}`,
        ).to.equal(total);
    const twice = await proposing.decide(shared, made.id, 'accept');
    expect([
      twice.status,
      (await types(record)).filter((type) => type === 'ProposalAccepted').length,
    ]).to.deep.equal([409, 1]);
    expect(patient).to.not.equal(record);
  });

  it('is told by the history: who proposed, what, and who approved', async () => {
    const shared = await proposing.share(application);
    const made = await proposing.condition(shared);
    expect((await proposing.decide(shared, made.id, 'accept')).status).to.equal(200);
    const { store } = proposing.granting.events;
    const history = await readHistory(store.read(recordStream(shared.record)));
    const [newest] = history.versions;
    expect(newest?.approved_by).to.deep.include({ role: 'self', proposal_id: made.id });
    expect(newest?.credential).to.deep.include({ kind: 'grant', application: application.applicationId });
    expect(newest?.author_type).to.equal('ai');
    expect(history.access.slice(0, 2).map(({ type }) => type)).to.deep.equal([
      'ProposalAccepted',
      'ProposalMade',
    ]);
    const page = [
      ...reportPage(
        {
          resource: `Patient/${shared.record}`,
          record: true,
          time: '2026-01-01',
          stream: recordStream(shared.record),
        },
        history,
      ),
    ].join('');
    expect(page).to.contain('Approved by').and.to.contain('the patient (');
  });

  it('keeps values of an AI apart from the facts, also when they are accepted', async () => {
    const shared = await proposing.share(application);
    const { record, patient } = shared;
    const observation = (author_type: string, value: number) => ({
      operation: 'create',
      author_type,
      resource: {
        resourceType: 'Observation',
        status: 'final',
        category: [
          {
            coding: [
              { system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: 'vital-signs' },
            ],
          },
        ],
        code: { coding: [{ system: 'http://loinc.org', code: '29463-7' }] },
        subject: { reference: `Patient/${patient}` },
        effectiveDateTime: '2026-01-02T08:00:00Z',
        valueQuantity: { value, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
      },
    });
    for (const [author, value] of [
      ['ai', 71],
      ['patient', 72],
    ] as const) {
      const { id, author_type } = await proposing.proposed(shared.allowed, observation(author, value));
      expect(author_type).to.equal(author);
      expect((await proposing.decide(shared, id, 'accept')).status).to.equal(200);
    }
    const context = await service.fhir(`${service.url}/v1/context`, {
      method: 'POST',
      body: JSON.stringify({ patient: record, needs: ['vitals:29463-7'] }),
    });
    expect(context.status, String(context)).to.equal(200);
    const sections = context.json.sections as { kind: string; items: object[] }[];
    const notes = sections.filter(({ kind }) => kind === 'ai_notes');
    const facts = sections.filter(({ kind }) => kind !== 'ai_notes');
    expect(JSON.stringify(notes)).to.contain('71').and.to.contain('"author_type":"ai"');
    expect(JSON.stringify(facts)).to.contain('72').and.not.to.contain('"author_type":"ai"');
  });

  it('shows what an update changes, and supersedes it when the resource has another version', async () => {
    const shared = await proposing.share(application);
    const { record, patient, allowed } = shared;
    const id = await newCondition(record);
    const change = (text: string, rest: object = {}) => ({
      operation: 'update',
      resource: { ...conditionOf(patient, text), id },
      current_version: 1,
      ...rest,
    });
    const [first, next] = [
      await proposing.proposed(allowed, change('Severe asthma')),
      await proposing.proposed(allowed, change('Mild asthma')),
    ];
    expect(first.difference).to.deep.equal([{ path: 'code.text', before: 'Asthma', after: 'Severe asthma' }]);
    expect(first).to.deep.include({ current_version: 1, resource_id: id });
    const { json } = await proposing.decide(shared, first.id, 'accept');
    expect(json).to.deep.include({
      status: 'accepted',
      version: 2,
      current_version: 1,
      difference: first.difference,
    });
    expect((await service.fhir(`/Condition/${id}`)).json.code).to.deep.equal({ text: 'Severe asthma' });
    // The other proposal changes a version that is no longer current.
    expect((await read(shared, next.id)).status).to.equal('superseded');
    expect(
      (await proposing.person(shared, '?status=superseded')).json.data.map((each) => each.id),
    ).to.deep.equal([next.id]);
    const late = await proposing.decide(shared, next.id, 'accept');
    expect([late.status, JSON.stringify(late.json)].join()).to.match(/^409.*has changed/);
    expect((await types(record)).slice(-1)).to.deep.equal(['ProposalSuperseded']);
    expect((await service.fhir(`/Condition/${id}`)).version).to.equal(2);
    const stale = await proposing.app(allowed, '', 'POST', change('Cured'));
    expect([stale.status, stale.text].join()).to.match(/^409.*is at version 2/);
    // If the resource is sent as it was read, its version is in `meta`.
    const { current_version: _version, ...rest } = change('Cured');
    const asRead = { ...rest, resource: { ...rest.resource, meta: { versionId: '2' } } };
    expect((await proposing.proposed(allowed, asRead)).current_version).to.equal(2);
  });

  it('can be rejected, with a note that no application sees, and be withdrawn', async () => {
    const shared = await proposing.share(application);
    const [one, two] = [await proposing.condition(shared), await proposing.condition(shared, 'Eczema')];
    const { status, json } = await proposing.decide(shared, one.id, 'reject', { reason: 'never had it' });
    expect([status, json.status, json.fhir]).to.deep.equal([200, 'rejected', null]);
    const seen = await proposing.app(shared.allowed);
    expect(seen.text).to.not.contain('never had it');
    expect((await read(shared, one.id)).status).to.equal('rejected');
    const withdraw = () => proposing.app(shared.allowed, `/${two.id}/withdraw`, 'POST', {});
    expect((await withdraw()).json.status).to.equal('withdrawn');
    expect((await withdraw()).status).to.equal(200);
    expect((await proposing.decide(shared, two.id, 'accept')).status).to.equal(409);
    expect((await proposing.decide(shared, one.id, 'reject')).status).to.equal(409);
    expect((await proposing.app(shared.allowed, `/${one.id}/withdraw`, 'POST', {})).status).to.equal(409);
    const { record } = shared;
    expect((await types(record)).slice(-2)).to.deep.equal(['ProposalRejected', 'ProposalWithdrawn']);
  });

  it('ends with its grant, and with the link of the person', async () => {
    const shared = await proposing.share(application);
    const { record, email } = shared;
    const [one] = [await proposing.condition(shared)];
    await proposing.granting.events.append(record, revoked(shared.allowed.data));
    const late = await proposing.decide(shared, one.id, 'accept');
    expect([late.status, JSON.stringify(late.json)].join()).to.match(
      /^409.*access with which it was made has ended/,
    );
    const end = (await proposing.events(record)).at(-1);
    expect(end?.event.type).to.equal('ProposalExpired');
    // The person approved nothing, and the application wrote nothing.
    const { credential, author, approved_by } = end?.metadata ?? {};
    expect(credential).to.deep.include({ kind: 'id_token', ...identityOf(service, email) });
    expect([author, approved_by]).to.deep.equal([undefined, undefined]);
    expect((await proposing.person(shared)).json.data[0]?.status).to.equal('expired');
    expect((await proposing.app(shared.allowed)).status).to.equal(401);
    // A new grant doesn't make the expired proposal valid again.
    const again = { ...shared, allowed: await proposing.allow(application, record, email) };
    expect((await read(again, one.id)).status).to.equal('expired');
    expect((await proposing.decide(again, one.id, 'accept')).status).to.equal(409);

    const other = await proposing.condition(again);
    await proposing.granting.events.append(record, unlinked(shared.linkId));
    await eventually(async () => (await me(service, email, `/patients/${record}/grants`)).status === 404);
    expect((await proposing.decide(again, other.id, 'accept')).status).to.equal(404);
    expect((await types(record)).includes('ProposalAccepted')).to.equal(false);
  });

  it('can’t be withdrawn after it has lapsed: the status that was shown stays', async () => {
    const shared = await proposing.share(application);
    const { record, email, patient } = shared;
    const id = await newCondition(record);
    const resource = { ...conditionOf(patient, 'Eczema'), id };
    const change = await proposing.proposed(shared.allowed, {
      operation: 'update',
      resource,
      current_version: 1,
    });
    await service.fhir(`/Condition/${id}`, {
      method: 'PUT',
      body: JSON.stringify({ ...conditionOf(record, 'Cured'), id }),
    });
    const older = await proposing.condition(shared);
    const withdraw = (by: Shared, of: string) => proposing.app(by.allowed, `/${of}/withdraw`, 'POST', {});
    expect([
      (await withdraw(shared, change.id)).status,
      (await read(shared, change.id)).status,
    ]).to.deep.equal([409, 'superseded']);
    await proposing.granting.events.append(record, revoked(shared.allowed.data));
    const again = { ...shared, allowed: await proposing.allow(application, record, email) };
    expect([(await withdraw(again, older.id)).status, (await read(again, older.id)).status]).to.deep.equal([
      409,
      'expired',
    ]);
    expect((await types(record)).includes('ProposalWithdrawn')).to.equal(false);
  });

  it('is ended by the service when it has lapsed', async () => {
    const shared = await proposing.share(application);
    await proposing.condition(shared);
    await proposing.granting.revoke(shared.allowed);
    await eventually(async () => (await types(shared.record)).at(-1) === 'ProposalExpired', 30_000);
    const end = (await proposing.events(shared.record)).at(-1);
    expect(end?.metadata.credential).to.deep.equal({ kind: 'system' });
  });

  it('is checked like the write that it proposes', async () => {
    const shared = await proposing.share(application, {
      scopes: ['patient/Condition.c', 'patient/Observation.cu?category=laboratory', 'patient/Procedure.rs'],
    });
    const { allowed, patient, record } = shared;
    const id = await newCondition(record);
    const of = (resource: object, rest: object = {}) =>
      proposing.app(allowed, '', 'POST', { operation: 'create', resource, ...rest });
    const observation = (category: string) => ({
      resourceType: 'Observation',
      status: 'final',
      category: [{ coding: [{ code: category }] }],
      code: { text: 'x' },
      subject: { reference: `Patient/${patient}` },
    });
    for (const [answer, status, words] of [
      [await of(conditionOf(patient, 'x', { onsetDateTime: 'yesterday' })), 422, /"field":"resource\.onset/],
      [
        await of(conditionOf(patient, 'x', { recorder: { reference: `Practitioner/${newUuid()}` } })),
        422,
        /exist/,
      ],
      [await of(conditionOf(newUuid(), 'x')), 422, /exist/],
      [
        await of({ ...conditionOf(patient, 'x'), id }, { operation: 'update', current_version: 1 }),
        403,
        /Condition/,
      ],
      [await of({ ...conditionOf(patient, 'x'), resourceType: 'Procedure' }), 403, /Procedure/],
      [
        await of({ ...conditionOf(patient, 'x'), resourceType: 'AllergyIntolerance' }),
        403,
        /AllergyIntolerance/,
      ],
      [await of(observation('vital-signs')), 403, /Observation/],
      [await of({ resourceType: 'Practitioner' }), 422, /belongs to a patient/],
      [await of({ resourceType: 'Patient' }), 403, /Patient/],
      [await of(conditionOf(patient, 'x'), { resource_type: 'Observation' }), 422, /resource_type/],
      [await of(conditionOf(patient, 'x'), { current_version: 1 }), 422, /current_version/],
      [await of(conditionOf(patient, 'x'), { reason: 'x' }), 422, /reason/],
      [await of(conditionOf(patient, 'x', { note: [{ text: 'x'.repeat(100_001) }] })), 413, /characters/],
      [await of(observation('laboratory')), 201, /pending/],
    ] as const)
      expect([answer.status, words.test(answer.text)], `${answer}`).to.deep.equal([status, true]);
  });

  it('is checked again when it is accepted: what it refers to, and whether its application still exists', async () => {
    const app = await proposing.application();
    const shared = await proposing.share(app);
    const made = await proposing.condition(shared);
    expect((await service.fhir(`/Patient/${shared.record}`, { method: 'DELETE' })).status).to.equal(204);
    const deleted = await proposing.decide(shared, made.id, 'accept');
    expect([deleted.status, JSON.stringify(deleted.json)].join()).to.match(/^409.*is deleted/);
    expect((await proposing.person(shared)).json.data[0]?.status).to.equal('pending');
    const restored = JSON.stringify({ resourceType: 'Patient', id: shared.record });
    expect(
      (await service.fhir(`/Patient/${shared.record}`, { method: 'PUT', body: restored })).status,
    ).to.equal(201);
    await proposing.owner.done('DELETE', `/applications/${app.applicationId}`);
    const gone = await proposing.decide(shared, made.id, 'accept');
    expect(gone.status).to.equal(409);
    expect((await types(shared.record)).includes('ProposalAccepted')).to.equal(false);
  });

  it('can’t be accepted once the record’s project is deleted, even before the end of the grant is written', async () => {
    const shared = await proposing.share(application);
    const made = await proposing.condition(shared);
    const set = async (deletedAt: number | null) => {
      const owner = `(select owner_project from consents.grants where grant_id = $1)`;
      const values = [shared.allowed.data.grant_id, deletedAt];
      await service.pool.query(
        `update projects.project set deleted_at = $2::int8 where id = ${owner}`,
        values,
      );
    };
    await set(1);
    try {
      expect((await proposing.app(shared.allowed)).status).to.equal(401);
      const { status, json } = await proposing.decide(shared, made.id, 'accept');
      expect([status, JSON.stringify(json)].join()).to.match(/^409.*project was deleted/);
      expect((await types(shared.record)).slice(-1)).to.deep.equal(['ProposalMade']);
    } finally {
      await set(null);
    }
  });

  it('hides stored values from an application that may not read them', async () => {
    const shared = await proposing.share(application, { scopes: ['patient/Condition.cu'] });
    const id = await newCondition(shared.record, 'a secret');
    const made = await proposing.app(shared.allowed, '', 'POST', {
      operation: 'update',
      resource: { ...conditionOf(shared.patient, 'Asthma'), id },
      current_version: 1,
    });
    // If the application can't read the resource, the response to a proposed update must say nothing about it.
    if (made.status === 201) expect(made.json.difference).to.equal(null);
    expect(made.text).to.not.contain('a secret');
  });

  it('leaves out the id of a creation, because the service chooses another', async () => {
    const shared = await proposing.share(application);
    const resource = { ...conditionOf(shared.patient, 'Asthma'), id: newUuid() };
    const made = await proposing.proposed(shared.allowed, { operation: 'create', resource });
    const [seen] = (await proposing.person(shared)).json.data;
    for (const shown of [made, seen, (await proposing.decide(shared, made.id, 'accept')).json])
      expect(JSON.stringify(shown)).to.not.contain(resource.id);
  });

  it('hides the version that it changes once the resource is outside the grant’s categories', async () => {
    const scopes = ['patient/Observation.cru?category=laboratory'];
    const shared = await proposing.share(application, { scopes });
    const { record, patient, allowed } = shared;
    const of = (subject: string, category: string, text: string) => ({
      ...{ resourceType: 'Observation', status: 'final', subject: { reference: `Patient/${subject}` } },
      ...{ category: [{ coding: [{ code: category }] }], code: { text } },
    });
    const { id } = (await service.post('/Observation', of(record, 'laboratory', 'a secret'))).json;
    const { id: made, difference } = await proposing.proposed(allowed, {
      ...{ operation: 'update', current_version: 1 },
      resource: { ...of(patient, 'laboratory', 'Glucose'), id },
    });
    expect(difference).to.deep.equal([{ path: 'code.text', before: 'a secret', after: 'Glucose' }]);
    const body = JSON.stringify({ ...of(record, 'vital-signs', 'moved'), id });
    expect((await service.fhir(`/Observation/${String(id)}`, { method: 'PUT', body })).status).to.equal(200);
    const headers = { Authorization: `Bearer ${allowed.token}` };
    const old = await fetch(`${service.base}/Observation/${String(id)}/_history/1`, { headers });
    expect(old.status).to.equal(404);
    const seen = await read(shared, made);
    expect([seen.status, seen.difference]).to.deep.equal(['superseded', null]);
    expect((await proposing.app(allowed)).text).to.not.contain('a secret');
    // The person sees all of it.
    expect(JSON.stringify((await proposing.person(shared)).json)).to.contain('a secret');
  });

  it('names no other record among its differences', async () => {
    const shared = await proposing.share(application);
    const other = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
    const theirs = await newCondition(other, 'Of another');
    const evidence = [{ detail: [{ reference: `Condition/${theirs}`, display: 'Seen elsewhere' }] }];
    const stored = { ...conditionOf(shared.record, 'Asthma'), evidence };
    const { id } = (await service.post('/Condition', stored)).json;
    const change = (more: object) => ({
      operation: 'update',
      resource: { ...conditionOf(shared.patient, 'Severe asthma'), id, ...more },
      current_version: 1,
    });
    const without = await proposing.app(shared.allowed, '', 'POST', change({}));
    expect(without.status, without.text).to.equal(201);
    expect(without.json.difference).to.deep.include({
      path: 'evidence[0].detail[0].display',
      before: 'Seen elsewhere',
    });
    const kept = await proposing.app(
      shared.allowed,
      '',
      'POST',
      change({ evidence: [{ detail: [{ display: 'Seen elsewhere' }] }] }),
    );
    expect(kept.status, kept.text).to.equal(201);
    const list = await proposing.app(shared.allowed, '');
    for (const { text } of [without, kept, list]) expect(text).to.not.contain(theirs);
    // The person sees what they have to decide on: the write keeps a reference that the application couldn't see.
    const seen = (await proposing.person(shared)).json.data;
    const changed = (of: string) => seen.find(({ id: each }) => each === of)?.difference;
    expect(changed(String(kept.json.id))).to.deep.equal([
      { path: 'code.text', before: 'Asthma', after: 'Severe asthma' },
    ]);
    expect(JSON.stringify(changed(String(without.json.id)))).to.contain(theirs);
    const { json } = await proposing.decide(shared, String(kept.json.id), 'accept');
    const written = (await service.fhir(`/Condition/${String(id)}`)).json;
    expect([json.resource, written]).to.deep.equal([
      { ...stored, id, code: { text: 'Severe asthma' } },
      { ...stored, id, code: { text: 'Severe asthma' }, meta: written.meta },
    ]);
  });

  it('shows the person what is written of a document’s content and of an AI’s label', async () => {
    const shared = await proposing.share(application, {
      scopes: ['patient/DocumentReference.cru', 'patient/Condition.cru'],
    });
    const { record, patient } = shared;
    const attachment = { contentType: 'text/plain', data: Buffer.from('a letter').toString('base64') };
    const subject = { reference: `Patient/${record}` };
    const document = await service.post('/DocumentReference', {
      ...{ resourceType: 'DocumentReference', status: 'current', subject, content: [{ attachment }] },
    });
    const [{ attachment: held }] = document.json.content as [{ attachment: { url: string } }];
    const { id } = document.json;
    const resource = {
      ...{ resourceType: 'DocumentReference', id, status: 'current', description: 'A letter' },
      subject: { reference: `Patient/${patient}` },
      content: [{ attachment: { url: held.url } }],
    };
    const { id: one } = await proposing.proposed(shared.allowed, {
      operation: 'update',
      resource,
      current_version: 1,
    });
    const label = { system: 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue', code: 'AIAST' };
    const labelled = { ...conditionOf(record, 'Asthma'), meta: { security: [label] } };
    const condition = (await service.post('/Condition', labelled)).json.id;
    const { id: two } = await proposing.proposed(shared.allowed, {
      ...{ operation: 'update', current_version: 1, author_type: 'patient' },
      resource: { ...conditionOf(patient, 'Asthma'), id: condition },
    });
    const waiting = (await proposing.person(shared)).json.data;
    const changed = (of: string) => waiting.find(({ id: each }) => each === of)?.difference;
    expect(changed(one)).to.deep.equal([{ path: 'description', after: 'A letter' }]);
    expect(changed(two)).to.deep.equal([
      { path: 'meta.security[0].system', before: label.system },
      { path: 'meta.security[0].code', before: label.code },
    ]);
    for (const [proposal, name] of [
      [one, `DocumentReference/${String(id)}`],
      [two, `Condition/${String(condition)}`],
    ] as const) {
      const { json } = await proposing.decide(shared, proposal, 'accept');
      const { versionId: _v, lastUpdated: _l, ...meta } = Object((await service.fhir(`/${name}`)).json.meta);
      expect([json.status, meta]).to.deep.equal(['accepted', {}]);
      const { meta: _, ...written } = (await service.fhir(`/${name}`)).json;
      expect(json.resource).to.deep.equal(written);
    }
  });

  itAtFullSize('waits for a hundred of a grant at most', async () => {
    const shared = await proposing.share(application);
    const made: Shown[] = [];
    for (let batch = 0; batch < 10; batch += 1)
      made.push(
        ...(await Promise.all(
          Array.from({ length: 10 }, (_, n) => proposing.condition(shared, `c ${batch} ${n}`)),
        )),
      );
    const body = { operation: 'create', resource: conditionOf(shared.patient, 'One more') };
    const full = await proposing.app(shared.allowed, '', 'POST', body);
    expect([full.status, full.text].join()).to.match(/^409.*100 proposals under this grant are pending/);
    const places = (await proposing.events(shared.record)).flatMap(({ event }) =>
      event.type === 'ProposalMade' ? [event.data.place] : [],
    );
    expect(places.sort((a, b) => a - b)).to.deep.equal(Array.from({ length: 100 }, (_, place) => place));
    await proposing.app(shared.allowed, `/${made[3]?.id}/withdraw`, 'POST', {});
    expect((await proposing.app(shared.allowed, '', 'POST', body)).status).to.equal(201);
    const pages: string[] = [];
    for (let cursor = ''; ; ) {
      const page = await proposing.app(shared.allowed, `?limit=40${cursor && `&cursor=${cursor}`}`);
      const { data, next_cursor } = JSON.parse(page.text) as { data: Shown[]; next_cursor: string | null };
      pages.push(...data.map(({ id }) => id));
      if (next_cursor === null) break;
      cursor = next_cursor;
    }
    expect([pages.length, new Set(pages).size]).to.deep.equal([101, 101]);
    expect((await proposing.person(shared, '?status=pending&limit=1')).json.total).to.equal(100);
    expect((await proposing.person(shared, '?status=withdrawn')).json.total).to.equal(1);
  });

  it('belongs to its application: others, and keys, see nothing of it', async () => {
    const shared = await proposing.share(application);
    const made = await proposing.condition(shared);
    const stranger = await proposing.allow(await proposing.application(), shared.record, shared.email);
    expect((await proposing.app(stranger, `/${made.id}`)).status).to.equal(404);
    expect((await proposing.app(stranger)).json.total).to.equal(0);
    expect((await proposing.app(stranger, `/${made.id}/withdraw`, 'POST', {})).status).to.equal(404);
    const elsewhere = await proposing.share(application);
    expect((await proposing.app(elsewhere.allowed, `/${made.id}`)).status).to.equal(404);
    expect((await proposing.decide(elsewhere, made.id, 'accept')).status).to.equal(404);
    for (const [method, path, body] of [
      ['GET', '', undefined],
      ['POST', '', { operation: 'create', resource: conditionOf(shared.record, 'x') }],
    ] as const) {
      const key = { patient: shared.record, token: service.key };
      const answer = await proposing.app(key, path, method, body);
      expect([answer.status, answer.text].join()).to.match(/^403.*under a grant/);
    }
    const wrong = { patient: shared.record, token: shared.allowed.token };
    expect((await proposing.app(wrong)).status).to.equal(404);
    expect((await proposing.person({ ...shared, email: 'other@example.org' })).status).to.equal(404);
    expect(
      (await proposing.decide({ ...shared, email: 'other@example.org' }, made.id, 'accept')).status,
    ).to.equal(404);
  });

  it('is made, accepted and rejected once under an Idempotency-Key', async () => {
    const shared = await proposing.share(application);
    const headers = { 'Idempotency-Key': 'same' };
    const body = { operation: 'create', resource: conditionOf(shared.patient, 'Asthma') };
    const answers = [
      await proposing.app(shared.allowed, '', 'POST', body, { headers }),
      await proposing.app(shared.allowed, '', 'POST', body, { headers }),
    ];
    expect(answers[1]?.text).to.equal(answers[0]?.text);
    expect((await proposing.app(shared.allowed)).json.total).to.equal(1);
  });

  it('is decided once, whichever instances are asked at the same time', async () => {
    const shared = await proposing.share(application);
    for (let round = 0; round < 5; round += 1) {
      const made = await proposing.condition(shared, `round ${round}`);
      const answers = await Promise.all(
        [service.url, second.url].flatMap((url) =>
          (['accept', 'reject', 'accept'] as const).map((how) =>
            proposing.decide(shared, made.id, how, {}, url),
          ),
        ),
      );
      const statuses = answers.map(({ status }) => status).sort();
      expect(statuses, JSON.stringify(answers.map(({ json }) => json))).to.deep.equal([
        200, 409, 409, 409, 409, 409,
      ]);
      const ends = (await proposing.events(shared.record)).filter(
        ({ event }) => 'data' in event && 'proposal_id' in event.data && event.data.proposal_id === made.id,
      );
      expect(ends).to.have.length(2);
    }
  });

  it('is in the access log: what the application reads', async () => {
    const shared = await proposing.share(application);
    const made = await proposing.condition(shared);
    await proposing.app(shared.allowed);
    await proposing.app(shared.allowed, `/${made.id}`);
    const { rows } = await service.pool.query<{ action: string }>(
      'select action from operations.access_entry where record = $1 order by id',
      [shared.record],
    );
    expect(rows.map(({ action }) => action)).to.include.members(['list-proposals', 'read-proposal']);
  });

  it('goes with the record', async () => {
    const shared = await proposing.share(application);
    await proposing.condition(shared);
    const purged = await service.fhir(`/Patient/${shared.record}?_purge=true`, { method: 'DELETE' });
    expect(purged.status, String(purged)).to.equal(204);
    const { rows } = await service.pool.query('select from consents.proposals where record = $1', [
      shared.record,
    ]);
    expect(rows).to.have.length(0);
  });
});
