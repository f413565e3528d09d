/**
 * A `client_credentials` token works wherever an API key of its project and environment does, with the same answers, rows and
 * notes (docs/spec/interface.md, section 5; docs/spec/decisions.md, sections 3 and 9).
 */
import { expect } from 'chai';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { wholeLog } from '#test/support/whole-log.ts';

/** Ids and times, which vary between writes. */
const DRAWN =
  /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b(?:req|evt|whe|whd|ctx)_[\w-]+|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d)|expires=\d+&signature=[\w-]+|whsec_[A-Za-z0-9+/]+=/g;

describe('client credentials', () => {
  let service: InProcess;
  let granting: Granting;
  let owner: AdminUser;
  let organization: string;
  let application: Application;
  let key: string;
  let token: string;

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    owner = await signIn(service, 'owner@example.org');
    organization = (await owner.done('POST', '/organizations', { name: 'Hearty' })).id;
    const { id: project } = await owner.done('POST', `/organizations/${organization}/projects`, {
      name: 'P',
    });
    ({ key } = await owner.done('POST', `/projects/${project}/keys`, {
      name: 'k',
      environment: 'sandbox',
      scopes: ['read', 'write'],
    }));
    application = await granting.register(owner, project, ['system/*.cruds']);
    token = await granting.clientToken(application);
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  interface Sent {
    readonly method: string;
    readonly path: string;
    readonly body?: object | string;
    readonly headers?: Record<string, string>;
  }
  async function send({ method, path, body, headers = {} }: Sent, credential: string) {
    const type = path.startsWith('/fhir') ? 'application/fhir+json' : 'application/json';
    const response = await fetch(service.url + path, {
      method,
      headers: {
        Authorization: `Bearer ${credential}`,
        ...(body === undefined ? {} : { 'Content-Type': type }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const json: { id?: string; [name: string]: unknown } = text.startsWith('{') ? JSON.parse(text) : {};
    return { status: response.status, text, json, headers: response.headers };
  }
  const comparable = ({ status, text, headers }: Awaited<ReturnType<typeof send>>) => ({
    status,
    // In some places, the message mentions the kind of credential that was used.
    text: text.replace(DRAWN, '…').replace(/(?:access tokens|API keys) are for/, '… are for'),
    names: [...headers.keys()].filter((name) => name !== 'content-length').sort(),
    type: headers.get('content-type'),
    etag: headers.get('etag')?.replace(DRAWN, '…'),
    location: headers.get('location')?.replace(DRAWN, '…'),
  });

  it('get the answers of an API key, on every interface', async () => {
    /** Sends requests to all interfaces with the given credential. */
    async function walk(credential: string): Promise<[string, object][]> {
      const answers: [string, object][] = [];
      const step = async (sent: Sent) => {
        const answer = await send(sent, credential);
        answers.push([`${sent.method} ${sent.path.replace(DRAWN, '…')}`, comparable(answer)]);
        return answer.json;
      };
      const patient = (
        await step({
          method: 'POST',
          path: '/fhir/R4/Patient',
          body: { resourceType: 'Patient', name: [{ family: 'Sand' }], birthDate: '1957-03-14' },
          headers: { 'Idempotency-Key': `walk-${credential.slice(-8)}` },
        })
      ).id;
      const at = `/fhir/R4/Patient/${patient}`;
      await step({ method: 'GET', path: at });
      await step({ method: 'GET', path: at, headers: { 'If-None-Match': 'W/"1"' } });
      await step({ method: 'PUT', path: at, body: { resourceType: 'Patient', id: patient, active: true } });
      await step({ method: 'GET', path: `${at}/_history` });
      await step({ method: 'GET', path: `${at}/_history/1` });
      await step({ method: 'GET', path: `${at}/$everything` });
      await step({ method: 'GET', path: `/fhir/R4/Patient?_id=${patient}` });
      await step({
        method: 'GET',
        path: '/fhir/R4/Observation?bogus=1',
        headers: { Prefer: 'handling=strict' },
      });
      await step({
        method: 'POST',
        path: '/fhir/R4',
        body: {
          resourceType: 'Bundle',
          type: 'batch',
          entry: [{ request: { method: 'GET', url: `Patient/${patient}` } }],
        },
      });
      await step({ method: 'POST', path: '/fhir/R4/Patient/$validate', body: { resourceType: 'Patient' } });
      const v1 = `/v1/patients/${patient}`;
      await step({ method: 'GET', path: v1 });
      const observation = { code: '8867-4', category: 'vital-signs', effective_at: '2026-11-01T10:00:00Z' };
      const { id: item } = await step({
        method: 'POST',
        path: `${v1}/observations`,
        body: { ...observation, value: 61, unit: '/min' },
      });
      await step({ method: 'POST', path: `${v1}/observations`, body: observation });
      await step({ method: 'GET', path: `${v1}/observations` });
      await step({ method: 'GET', path: `/v1/observations/${item}` });
      await step({ method: 'GET', path: `${v1}/timeline` });
      await step({ method: 'POST', path: '/v1/context', body: { patient } });
      await step({ method: 'GET', path: '/v1/terminology/loinc?q=heart' });
      const { id: document } = await step({
        method: 'POST',
        path: `${v1}/documents`,
        body: { title: 'Letter', content_type: 'text/plain' },
      });
      await step({ method: 'PUT', path: `/v1/documents/${document}/content`, body: 'Dear all' });
      await step({ method: 'GET', path: `/v1/documents/${document}/content` });
      await step({
        method: 'POST',
        path: `${v1}/labs/import`,
        body: { items: [{ code: '718-7', value: 140, unit: 'g/L', date: '2026-11-02' }] },
      });
      const { id: hook } = await step({
        method: 'POST',
        path: '/v1/webhooks',
        body: { url: 'http://localhost:1/hook', events: ['*'] },
      });
      await step({ method: 'PATCH', path: `/v1/webhooks/${hook}`, body: { active: false } });
      await step({ method: 'GET', path: `/v1/webhooks/${hook}` });
      await step({ method: 'GET', path: `/v1/webhooks/${hook}/deliveries` });
      await step({ method: 'DELETE', path: `/v1/webhooks/${hook}` });
      await step({ method: 'DELETE', path: `/v1/observations/${item}` });
      await step({ method: 'GET', path: '/admin/organizations' });
      await step({ method: 'GET', path: '/me/patients' });
      await step({ method: 'DELETE', path: `${at}?_purge=true` });
      await step({ method: 'GET', path: at });
      return answers;
    }
    const [withKey, withToken] = [await walk(key), await walk(token)];
    for (const [n, [name, answer]] of withToken.entries())
      expect(answer, name).to.deep.equal(withKey[n]?.[1]);
    expect(
      withToken.filter(([, answer]) => 'status' in answer && answer.status === 200).length,
    ).to.be.greaterThan(15);
  });

  it('see what keys of the project wrote, and no other project’s', async () => {
    const body = { resourceType: 'Patient' };
    const own = (await send({ method: 'POST', path: '/fhir/R4/Patient', body }, key)).json.id;
    const other = (await service.post('/Patient', body)).json.id;
    expect((await send({ method: 'GET', path: `/fhir/R4/Patient/${own}` }, token)).status).to.equal(200);
    expect((await send({ method: 'GET', path: `/fhir/R4/Patient/${other}` }, token)).status).to.equal(404);
    expect((await send({ method: 'GET', path: `/v1/patients/${other}` }, token)).status).to.equal(404);
    const live = await granting.clientToken({ ...application, environment: 'production' });
    expect((await send({ method: 'GET', path: `/fhir/R4/Patient/${own}` }, live)).status).to.equal(404);
  });

  it('are named in the event, the Provenance and the summary of provenance', async () => {
    const made = await send(
      { method: 'POST', path: '/fhir/R4/Patient', body: { resourceType: 'Patient' } },
      token,
    );
    const { id } = made.json;
    const log = await wholeLog(granting.events.store);
    const created = log.find(({ stream }) => stream === `record-${id}`);
    expect(JSON.parse(created?.metadata ?? '{}').credential).to.deep.equal({
      kind: 'client',
      project: application.project,
      environment: 'sandbox',
      application: application.applicationId,
    });
    const found = await send({ method: 'GET', path: `/fhir/R4/Provenance?target=Patient/${id}` }, token);
    const agent = `{"type":{"coding":[{"system":"http://terminology.hl7.org/CodeSystem/provenance-participant-type","code":"enterer","display":"Enterer"}]},"who":{"identifier":{"system":"https://annal.dev/fhir/application","value":"${application.applicationId}"},"display":"Hearty"}}`;
    expect(found.text).to.contain(agent);
    const identifier = `https://annal.dev/fhir/application|${application.applicationId}`;
    for (const query of [
      `agent:identifier=${identifier}`,
      `agent:identifier=${application.applicationId}`,
      'agent-type=enterer',
    ]) {
      const searched = await send(
        { method: 'GET', path: `/fhir/R4/Provenance?target=Patient/${id}&${query}` },
        key,
      );
      expect(searched.json.total, query).to.equal(1);
    }
    const summary = await send({ method: 'GET', path: `/v1/patients/${id}/provenance/Patient/${id}` }, key);
    expect(summary.json.data).to.have.nested.property('[0].written_by').that.deep.equals({
      kind: 'application',
      id: application.applicationId,
      name: 'Hearty',
      last4: null,
    });
  });

  it('are held to their scope: 403 with insufficient_scope', async () => {
    const reader = await granting.clientToken(application, 'system/*.rs');
    expect((await send({ method: 'GET', path: '/fhir/R4/Patient' }, reader)).status).to.equal(200);
    for (const path of ['/fhir/R4/Patient', '/v1/patients', '/v1/webhooks']) {
      const refused = await send({ method: 'POST', path, body: { resourceType: 'Patient' } }, reader);
      expect(refused.status, path).to.equal(403);
      expect(refused.headers.get('www-authenticate'), path).to.equal(
        'Bearer realm="annal", error="insufficient_scope", scope="system/*.cruds"',
      );
    }
  });

  it('are held to the types that their scopes name, on every interface', async () => {
    const done = async (sent: Sent, credential = key) => {
      const answer = await send(sent, credential);
      if (answer.status >= 300)
        throw new Error(`${sent.method} ${sent.path}: ${answer.status} ${answer.text}`);
      return answer.json;
    };
    const make = async (body: { readonly resourceType: string; readonly [name: string]: unknown }) =>
      String((await done({ method: 'POST', path: `/fhir/R4/${body.resourceType}`, body })).id);
    const family = 'Unseen';
    const patient = await make({ resourceType: 'Patient', name: [{ family }], birthDate: '1957-03-14' });
    const subject = { reference: `Patient/${patient}` };
    const coding = (code: string) => ({ coding: [{ system: 'http://loinc.org', code }] });
    const condition = await make({ resourceType: 'Condition', subject, code: { text: 'Secret condition' } });
    const observation = await make({
      resourceType: 'Observation',
      status: 'final',
      subject,
      code: coding('8867-4'),
      category: [
        {
          coding: [
            { code: 'vital-signs', system: 'http://terminology.hl7.org/CodeSystem/observation-category' },
          ],
        },
      ],
      effectiveDateTime: '2026-11-01T10:00:00Z',
      valueQuantity: { value: 61, unit: '/min', system: 'http://unitsofmeasure.org', code: '/min' },
      focus: [{ reference: `Condition/${condition}` }],
    });
    const one = await granting.register(owner, application.project, ['system/*.cruds']);
    const reader = await granting.clientToken(one, 'system/Observation.rs');
    const writer = await granting.clientToken(one, 'system/Observation.cud');
    const both = await granting.clientToken(one, 'system/Observation.cruds system/Patient.rs');
    const get = (path: string, credential = reader) => send({ method: 'GET', path }, credential);
    const types = (text: string) =>
      new Set([...text.matchAll(/"resourceType":"(\w+)"/g)].map(([, type]) => type));
    const hides = ({ text }: { readonly text: string }) =>
      expect(text).to.not.include(family).and.not.include('Secret condition');
    const allowed = async (path: string, credential = reader) => {
      const answer = await get(path, credential);
      expect(answer.status, `${path} ${answer.text}`).to.equal(200);
      return answer;
    };
    const refused = async (sent: Sent, credential = reader, scope = /insufficient_scope/) => {
      const answer = await send(sent, credential);
      expect(answer.status, `${sent.method} ${sent.path} ${answer.text}`).to.equal(403);
      expect(answer.headers.get('www-authenticate'), sent.path).to.match(scope);
      hides(answer);
    };

    // FHIR: reads.
    for (const path of [
      `/fhir/R4/Observation/${observation}`,
      `/fhir/R4/Observation/${observation}/_history`,
      `/fhir/R4/Observation/${observation}/_history/1`,
      `/fhir/R4/Observation?patient=${patient}`,
      '/fhir/R4/Observation/_history',
      '/fhir/R4/ValueSet',
    ])
      hides(await allowed(path));
    for (const path of [
      `/fhir/R4/Patient/${patient}`,
      `/fhir/R4/Patient/${patient}/_history`,
      `/fhir/R4/Patient?name=${family}`,
      `/fhir/R4/Condition?patient=${patient}`,
      '/fhir/R4/Condition/_history',
      `/fhir/R4/Condition/${condition}/_history/1`,
      `/fhir/R4/Patient/${patient}/Observation`,
      `/fhir/R4/Patient/${patient}/Condition`,
      `/fhir/R4/Patient/${patient}/*`,
      `/fhir/R4/Patient/${patient}/$summary`,
      `/fhir/R4/Provenance?target=Observation/${observation}`,
      `/fhir/R4/Observation?subject:Patient.name=${family}`,
      `/fhir/R4/Observation?patient.family=${family}`,
      `/fhir/R4/Observation?focus:Condition.subject=Patient/${patient}`,
      `/fhir/R4/Observation?_has:Provenance:target:_id=x`.replace(
        '_has:Provenance:target',
        '_has:Condition:evidence-detail',
      ),
      '/fhir/R4/Observation?_include=Observation:subject:Patient',
      '/fhir/R4/Observation?_revinclude=Provenance:target',
      '/fhir/R4/?_type=Observation,Condition',
    ])
      await refused({ method: 'GET', path });
    // Requests without a type return only the allowed types.
    for (const [path, found] of [
      [`/fhir/R4/?_id=${observation},${patient},${condition}`, 1],
      ['/fhir/R4/Observation?_include=*&_count=50', 0],
      ['/fhir/R4/Observation?_revinclude=*&_count=50', 0],
      ['/fhir/R4/_history?_count=200', 0],
    ] as const) {
      const answer = await get(path);
      hides(answer);
      if (answer.status === 403) continue;
      expect(answer.status, `${path} ${answer.text}`).to.equal(200);
      const seen = types(answer.text);
      for (const type of seen) expect(['Bundle', 'Observation', 'OperationOutcome'], path).to.include(type);
      if (found > 0) expect(answer.json.total, path).to.equal(found);
    }
    const form = await send(
      {
        method: 'POST',
        path: '/fhir/R4/Condition/_search',
        body: `patient=${patient}`,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      },
      reader,
    );
    expect(form.status).to.equal(403);
    const everything = await get(`/fhir/R4/Patient/${patient}/$everything`, both);
    expect(everything.status, everything.text).to.equal(200);
    expect(types(everything.text)).to.deep.equal(new Set(['Bundle', 'Patient', 'Observation']));
    await refused({ method: 'GET', path: `/fhir/R4/Patient/${patient}/$everything` });
    const compartment = await allowed(`/fhir/R4/Patient/${patient}/*`, both);
    expect([...types(compartment.text)]).to.have.members(
      ['Bundle', 'Observation', 'Patient'].filter((type) =>
        compartment.text.includes(`"resourceType":"${type}"`),
      ),
    );
    expect(compartment.text).to.not.include('Secret condition');
    await allowed(`/fhir/R4/Observation?patient.family=${family}`, both);

    // Bundles: a batch is checked entry by entry, a transaction as a whole.
    const entries = [
      { request: { method: 'GET', url: `Observation/${observation}` } },
      { request: { method: 'GET', url: `Patient/${patient}` } },
      { request: { method: 'GET', url: `Condition?patient=${patient}` } },
      { request: { method: 'DELETE', url: `Condition/${condition}` } },
      {
        request: { method: 'PUT', url: `Patient/${patient}` },
        resource: { resourceType: 'Patient', id: patient },
      },
    ];
    const bundle = (type: string, entry: object[]) => ({ resourceType: 'Bundle', type, entry });
    const batch = await send({ method: 'POST', path: '/fhir/R4', body: bundle('batch', entries) }, both);
    const statuses = (batch.json.entry as { response: { status: string } }[]).map(({ response }) =>
      response.status.slice(0, 3),
    );
    expect(statuses).to.deep.equal(['200', '200', '403', '403', '403']);
    expect(batch.text).to.not.include('Secret condition');
    for (const entry of entries.slice(2))
      await refused(
        { method: 'POST', path: '/fhir/R4', body: bundle('transaction', [entries[0] ?? {}, entry]) },
        both,
        /./,
      );

    // FHIR: writes.
    const draft = {
      resourceType: 'Observation',
      status: 'final',
      subject,
      code: coding('8867-4'),
      valueString: 'x',
    };
    const made = await done({ method: 'POST', path: '/fhir/R4/Observation', body: draft }, writer);
    await refused({ method: 'GET', path: `/fhir/R4/Observation/${String(made.id)}` }, writer);
    await refused({ method: 'POST', path: '/fhir/R4/Observation', body: draft }, reader);
    for (const sent of [
      { method: 'POST', path: '/fhir/R4/Patient', body: { resourceType: 'Patient' } },
      { method: 'POST', path: '/fhir/R4/Organization', body: { resourceType: 'Organization', name: 'x' } },
      {
        method: 'PUT',
        path: `/fhir/R4/Condition/${condition}`,
        body: { resourceType: 'Condition', id: condition, subject },
      },
      { method: 'DELETE', path: `/fhir/R4/Condition/${condition}` },
      { method: 'DELETE', path: `/fhir/R4/Condition?patient=${patient}` },
      { method: 'DELETE', path: `/fhir/R4/Patient/${patient}?_purge=true` },
      { method: 'DELETE', path: `/fhir/R4/Observation?patient=${patient}` },
      {
        method: 'POST',
        path: '/fhir/R4/Observation',
        body: draft,
        headers: { 'If-None-Exist': `patient=${patient}` },
      },
    ])
      await refused(sent, writer, /./);
    const byName = { ...draft, subject: { reference: `Patient?name=${family}` } };
    const searched = bundle('transaction', [
      { request: { method: 'POST', url: 'Observation' }, resource: byName },
    ]);
    await refused({ method: 'POST', path: '/fhir/R4', body: searched }, writer, /./);
    await done({ method: 'POST', path: '/fhir/R4', body: searched }, both);
    const purging = await granting.clientToken(one, 'system/Patient.cruds');
    await refused({ method: 'DELETE', path: `/fhir/R4/Patient/${patient}?_purge=true` }, purging, /./);

    // REST v1 and webhooks.
    const v1 = `/v1/patients/${patient}`;
    hides(await allowed(`${v1}/observations`));
    await allowed(`/v1/observations/${observation}`);
    await allowed('/v1/terminology/loinc?q=heart');
    await allowed(`${v1}/series?code=8867-4`);
    const timeline = await allowed(`${v1}/timeline`);
    hides(timeline);
    expect(new Set((timeline.json.data as { kind: string }[]).map(({ kind }) => kind))).to.deep.equal(
      new Set(['observation']),
    );
    const medication = await make({ resourceType: 'Medication', code: { text: 'Secret medication' } });
    const statement = await make({
      resourceType: 'MedicationStatement',
      status: 'active',
      subject,
      medicationReference: { reference: `Medication/${medication}` },
      effectiveDateTime: '2026-11-01',
    });
    const ofStatements = await granting.clientToken(one, 'system/MedicationStatement.rs');
    for (const path of [`${v1}/medications`, `/v1/medications/${statement}`, `${v1}/timeline`])
      expect((await allowed(path, ofStatements)).text, path).to.not.include('Secret medication');
    expect((await allowed(`${v1}/medications`, key)).text).to.include('Secret medication');
    for (const sent of [
      { method: 'GET', path: v1 },
      { method: 'GET', path: '/v1/patients' },
      { method: 'GET', path: `${v1}/conditions` },
      { method: 'GET', path: `/v1/conditions/${condition}` },
      { method: 'GET', path: `${v1}/medications` },
      { method: 'GET', path: `${v1}/documents` },
      { method: 'GET', path: `${v1}/timeline?kinds=condition` },
      { method: 'GET', path: `${v1}/patterns` },
      { method: 'GET', path: `${v1}/provenance/Observation/${observation}` },
      { method: 'GET', path: `${v1}/links` },
      { method: 'GET', path: `${v1}/grants` },
      { method: 'GET', path: `${v1}/access-log` },
      { method: 'POST', path: `${v1}/invitations`, body: {} },
      { method: 'POST', path: '/v1/context', body: { patient } },
      { method: 'POST', path: `${v1}/patterns/compare`, body: {} },
      { method: 'GET', path: '/v1/webhooks' },
      { method: 'POST', path: '/v1/webhooks', body: { url: 'http://localhost:1/hook', events: ['*'] } },
      { method: 'POST', path: `${v1}/conditions`, body: { code: 'I10' } },
      { method: 'POST', path: '/v1/patients', body: { family: 'x' } },
      { method: 'POST', path: `${v1}/documents`, body: { title: 'x', content_type: 'text/plain' } },
    ])
      await refused(sent, await granting.clientToken(one, 'system/Observation.cruds'), /./);
    const items = { items: [{ code: '718-7', value: 140, unit: 'g/L', effective_at: '2026-11-02' }] };
    await refused({ method: 'POST', path: `${v1}/labs/import`, body: items }, reader);
    const imported = await send({ method: 'POST', path: `${v1}/labs/import`, body: items }, both);
    expect(imported.status, imported.text).to.be.oneOf([200, 201, 403]);
    hides(imported);
    const family2 = { family: 'Made' };
    await done({ method: 'POST', path: '/v1/patients', body: family2 }, purging);
    // None of these requests changed anything.
    expect((await get(`/fhir/R4/Condition/${condition}`, key)).json).to.have.nested.property(
      'meta.versionId',
      '1',
    );
    expect((await get(`/fhir/R4/Patient/${patient}`, key)).json).to.have.nested.property(
      'meta.versionId',
      '1',
    );
  });

  it('get the first answer of an Idempotency-Key with the next token, and not another application’s', async () => {
    const headers = { 'Idempotency-Key': 'renewed' };
    const create = { method: 'POST', path: '/fhir/R4/Patient', body: { resourceType: 'Patient' }, headers };
    const first = await send(create, token);
    const again = await send(create, await granting.clientToken(application));
    expect([again.text, again.headers.get('idempotent-replayed')]).to.deep.equal([first.text, 'true']);
    const another = await granting.register(owner, application.project, ['system/*.cruds']);
    expect((await send(create, await granting.clientToken(another))).status).to.equal(422);
    expect((await send(create, key)).status).to.equal(422);
  });

  it('don’t get the first answer of an Idempotency-Key with a token of other scopes', async () => {
    const headers = { 'Idempotency-Key': 'narrowed' };
    const entry = [{ request: { method: 'GET', url: 'Patient?_count=1' } }];
    const body = { resourceType: 'Bundle', type: 'batch', entry };
    const batch = { method: 'POST', path: '/fhir/R4', body, headers };
    const first = await send(batch, token);
    expect(first.text).to.contain('"resourceType":"Patient"');
    const narrow = await granting.clientToken(application, 'system/Observation.rs');
    const narrowed = await send(batch, narrow);
    expect([narrowed.status, narrowed.text.includes('"Patient"')]).to.deep.equal([422, false]);
    const again = await send(batch, await granting.clientToken(application));
    expect([again.text, again.headers.get('idempotent-replayed')]).to.deep.equal([first.text, 'true']);
  });

  it('are in the project’s log and usage by application', async () => {
    const answer = await send({ method: 'GET', path: '/v1/patients' }, token);
    const id = answer.headers.get('service-request-id');
    const listed = async () =>
      (
        await owner.done(
          'GET',
          `/projects/${application.project}/logs?application=${application.applicationId}&request_id=${id}`,
        )
      ).data;
    await eventually(async () => (await listed()).length === 1);
    expect((await listed())[0]).to.include({
      application_id: application.applicationId,
      key_id: null,
      identity: null,
      environment: 'sandbox',
    });
    const none = await owner.done('GET', `/projects/${application.project}/logs?application=app_none`);
    expect(none.data).to.deep.equal([]);
    await eventually(async () => {
      const { data } = await owner.done('GET', `/projects/${application.project}/usage`);
      return data.some(({ environment, requests }) => environment === 'sandbox' && Number(requests) > 10);
    });
  });
});

describe('limits of access tokens', () => {
  let service: InProcess;
  let granting: Granting;
  before(async () => {
    service = await startInProcess({}, { RATE_LIMIT_PER_MINUTE: '40' });
    granting = await Granting.open(service);
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  it('count per application and per grant, whatever the token', async () => {
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id: project } = await owner.done('POST', `/organizations/${organization}/projects`, {
      name: 'P',
    });
    const [one, other] = [await granting.register(owner, project), await granting.register(owner, project)];
    const made = await service.post('/Patient', { resourceType: 'Patient' });
    const record = String(made.json.id);
    const [mine, theirs] = [await granting.allow(one, record), await granting.allow(other, record)];
    await service.pool.query("update operations.rate_limit set used = 0 where subject like 'address/%'");
    const left = async (path: string, key: string) => {
      const answer = await service.fhir(path, { key });
      return Number(/r=(\d+)/.exec(answer.headers.get('ratelimit') ?? '')?.[1]);
    };
    const { rows: before } = await service.pool.query('select subject from operations.rate_limit');
    expect(before.map(({ subject }) => subject)).not.to.include(`grant/${mine.data.grant_id}`);
    for (const token of [mine.token, await granting.tokenOf(mine), mine.token])
      await left(`/Patient/${mine.patient}`, token);
    await left(`/Patient/${theirs.patient}`, theirs.token);
    for (const token of [await granting.clientToken(one), await granting.clientToken(one)])
      await left('/Patient', token);
    const { rows } = await service.pool.query<{ subject: string }>(
      'select subject from operations.rate_limit',
    );
    const subjects = rows.map(({ subject }) => subject);
    expect(subjects)
      .to.include(`grant/${mine.data.grant_id}`)
      .and.to.include(`grant/${theirs.data.grant_id}`)
      .and.to.include(`application/${one.applicationId}`)
      .and.not.to.include(`application/${other.applicationId}`);
  });
});
