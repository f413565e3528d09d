import { expect } from 'chai';
import { readWriters } from '#queries/provenance/writers.ts';
import { objects } from '#src/fhir/parts.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Provenance {
  readonly id: string;
  readonly meta: { readonly versionId: string; readonly lastUpdated: string };
  readonly target: readonly { readonly reference: string }[];
  readonly recorded: string;
  readonly activity: { readonly coding: readonly { readonly system: string; readonly code: string }[] };
  readonly agent: readonly {
    readonly type: { readonly coding: readonly { readonly system: string; readonly code: string }[] };
    readonly who: {
      readonly reference?: string;
      readonly identifier?: { readonly system: string; readonly value: string };
      readonly display?: string;
    };
    readonly onBehalfOf?: { readonly reference: string; readonly display: string };
  }[];
  readonly entity?: readonly {
    readonly role: string;
    readonly what: {
      readonly identifier: { readonly system?: string; readonly value?: string };
      readonly display?: string;
    };
  }[];
}
interface Bundle {
  readonly total: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly { readonly resource: Provenance }[];
}

/** docs/spec/interface.md, section 2.4; docs/spec/decisions.md, section 5 */
describe('FHIR Provenance', () => {
  let service: InProcess;
  let practitioner: string;
  let role: string;
  let organization: string;
  before(async () => {
    service = await startInProcess();
    const create = async (resource: { resourceType: string }) =>
      `${resource.resourceType}/${(await service.post(`/${resource.resourceType}`, resource)).json.id}`;
    practitioner = await create({ resourceType: 'Practitioner', ...{ name: [{ family: 'Doc' }] } });
    organization = await create({ resourceType: 'Organization', ...{ name: 'Klinik Süd' } });
    role = await create({
      resourceType: 'PractitionerRole',
      ...{ practitioner: { reference: practitioner }, organization: { reference: organization } },
    });
  });
  after(() => service.stop());

  const patient = { resourceType: 'Patient', name: [{ family: 'P' }] };
  const search = async (query: string): Promise<Bundle> => {
    const answer = await service.fhir(query);
    expect(answer.status, `${query}: ${answer.text}`).to.equal(200);
    return JSON.parse(answer.text) as Bundle;
  };
  const of = async (query: string) => ((await search(query)).entry ?? []).map(({ resource }) => resource);
  const codes = (all: readonly Provenance[]) => all.map(({ activity }) => activity.coding[0]?.code);

  it('is written for every version, with the elements of the specification', async () => {
    const headers = {
      'X-Service-Author-Type': 'practitioner',
      'X-Service-Author-Ref': practitioner,
      'X-Service-Acting-As': role,
      'X-Service-On-Behalf-Of': organization,
      'X-Service-Source-System': Buffer.from('Praxis Süd/1').toString('latin1'),
      'X-Service-Origin-Id': '4711',
    };
    const { id } = (await service.post('/Patient', patient, headers)).json as { id: string };
    await service.fhir(`/Patient/${id}`, { method: 'PUT', body: JSON.stringify({ ...patient, id }) });
    await service.fhir(`/Patient/${id}`, { method: 'DELETE' });

    const all = await of(`/Provenance?target=Patient/${id}`);
    expect(codes(all)).to.deep.equal(['DELETE', 'UPDATE', 'CREATE']);
    expect(all.map(({ target }) => target[0]?.reference)).to.deep.equal(
      [3, 2, 1].map((version) => `Patient/${id}/_history/${version}`),
    );
    const [exact] = await of(`/Provenance?target=Patient/${id}/_history/1`);
    expect(exact).to.deep.equal(all[2]);
    const version = await service.fhir(`/Patient/${id}/_history/1`);
    expect(version.json).to.nested.include({ 'meta.lastUpdated': exact?.recorded });
    const participant = 'http://terminology.hl7.org/CodeSystem/provenance-participant-type';
    const onBehalfOf = { reference: organization, display: 'Klinik Süd' };
    const { rows } = await service.pool.query<{ key_id: string; name: string }>(
      'select key_id, name from projects.api_key where last4 = $1',
      [service.key.slice(-4)],
    );
    const key = {
      type: { coding: [{ system: participant, code: 'enterer', display: 'Enterer' }] },
      who: {
        identifier: { system: 'https://annal.dev/fhir/api-key', value: rows[0]?.key_id },
        display: `${rows[0]?.name} (…${service.key.slice(-4)})`,
      },
    };
    expect(exact?.agent).to.deep.equal([
      {
        type: { coding: [{ system: participant, code: 'author', display: 'Author' }] },
        who: {
          reference: practitioner,
          identifier: { system: 'https://annal.dev/fhir/author-type', value: 'practitioner' },
          display: 'Doc',
        },
        onBehalfOf,
      },
      {
        type: { coding: [{ system: participant, code: 'enterer', display: 'Enterer' }] },
        who: { reference: role, display: 'Doc' },
        onBehalfOf,
      },
      key,
    ]);
    expect(exact?.entity).to.deep.equal([
      {
        role: 'source',
        what: { identifier: { system: 'Praxis%20S%C3%BCd/1', value: '4711' }, display: 'Praxis Süd/1' },
      },
    ]);
    expect(exact?.activity.coding[0]).to.include({
      system: 'http://terminology.hl7.org/CodeSystem/v3-DataOperation',
      code: 'CREATE',
    });
    const plain = all[1];
    expect(plain?.agent).to.have.length(2);
    expect(plain?.agent[1]).to.deep.equal(key);
    expect(plain?.agent[0]?.who).to.deep.equal({
      identifier: { system: 'https://annal.dev/fhir/author-type', value: 'import' },
    });
    expect(plain).not.to.have.property('entity');
  });

  it('names a key to its own project alone, also a revoked one; others see the organization', async () => {
    const { rows } = await service.pool.query<{ key_id: string; name: string; project: string; org: string }>(
      `select k.key_id, k.name, k.project, o.name as org from projects.api_key k
       join projects.project p on p.id = k.project join projects.organization o on o.id = p.organization
       where k.last4 = $1`,
      [service.key.slice(-4)],
    );
    const [key] = rows;
    if (key === undefined) throw new Error('the key is not in the read model');
    const environment = 'sandbox' as const;
    const credential = { kind: 'api_key' as const, project: key.project, environment, key_id: key.key_id };
    const seenBy = async (project: string) =>
      (await readWriters(service.pool, tenantId({ project, environment }), [credential]))[0];
    const own = { kind: 'api_key', id: key.key_id, name: key.name, last4: service.key.slice(-4) };
    expect(await seenBy(key.project)).to.deep.equal(own);
    const foreign = await seenBy('proj_other');
    expect(foreign).to.include({ kind: 'organization', name: key.org });
    expect(JSON.stringify(foreign)).not.to.contain(key.key_id);
    const revoked = 'update projects.api_key set revoked_at = $2 where key_id = $1';
    await service.pool.query(revoked, [key.key_id, 1]);
    try {
      expect(await seenBy(key.project)).to.deep.equal(own);
    } finally {
      await service.pool.query(revoked, [key.key_id, null]);
    }
    const [system] = await readWriters(service.pool, '', [{ kind: 'system' }]);
    expect(system).to.deep.equal({ kind: 'service' });
  });

  it('is read, vread and listed by its id, and takes no writes', async () => {
    const { id } = (await service.post('/Patient', patient)).json;
    const [made] = await of(`/Provenance?target=Patient/${id}`);
    const at = `/Provenance/${made?.id}`;
    const read = await service.fhir(at);
    expect(JSON.parse(read.text)).to.deep.equal(made);
    expect([read.version, made?.meta.versionId]).to.deep.equal([1, '1']);
    expect((await service.fhir(at, { headers: { 'If-None-Match': 'W/"1"' } })).status).to.equal(304);
    expect((await service.fhir(`${at}/_history/1`)).text).to.equal(read.text);
    expect((await service.fhir(`${at}/_history/2`)).status).to.equal(404);
    expect((await service.fhir(`${at}/_history`)).json.total).to.equal(1);
    const body = JSON.stringify({ ...made });
    expect((await service.fhir(at, { method: 'PUT', body })).status).to.equal(405);
    expect((await service.fhir(at, { method: 'DELETE' })).status).to.equal(405);
    const patch = { 'Content-Type': 'application/json-patch+json' };
    const patched = await service.fhir(at, {
      method: 'PATCH',
      headers: patch,
      body: '[{"op":"remove","path":"/agent"}]',
    });
    expect(patched.status).to.equal(405);
    expect(patched.headers.get('allow')).to.contain('GET');
  });

  it('is found by agent, patient, recorded, id and record, together and page by page', async () => {
    const { id } = (await service.post('/Patient', patient, { 'X-Service-Acting-As': role })).json;
    const observation = {
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'x' },
      subject: { reference: `Patient/${id}` },
    };
    for (let i = 0; i < 3; i += 1) {
      await service.post('/Observation', observation, { 'X-Service-Acting-As': practitioner });
    }
    const total = async (query: string) => (await search(query)).total;
    expect(await total(`/Provenance?agent=${role}&patient=${id}`)).to.equal(1);
    expect(await total(`/Provenance?agent=${practitioner}&patient=Patient/${id}`)).to.equal(0);
    expect(await total(`/Provenance?patient=Patient/${id}`)).to.equal(1);
    const record = await of(`/Patient/${id}/Provenance`);
    expect(record).to.have.length(4);
    expect(await total(`/Patient/${id}/Provenance?agent=${practitioner}`)).to.equal(3);
    expect(await total(`/Patient/${id}/Provenance?agent=${practitioner},${role}`)).to.equal(4);
    const [newest, second] = record;
    expect(await total(`/Patient/${id}/Provenance?recorded=${second?.recorded}`)).to.equal(1);
    expect(await total(`/Patient/${id}/Provenance?recorded=gt${second?.recorded}`)).to.equal(1);
    expect(await total(`/Patient/${id}/Provenance?_lastUpdated=le${second?.recorded}`)).to.equal(3);
    expect(await total(`/Provenance?_id=${newest?.id},${second?.id}`)).to.equal(2);
    expect(await total('/Provenance?target=Patient/nobody')).to.equal(0);
    const seen: string[] = [];
    for (let url: string | undefined = `/Patient/${id}/Provenance?_count=1`; url !== undefined; ) {
      const bundle: Bundle = await search(url);
      seen.push(...(bundle.entry ?? []).map(({ resource }) => resource.id));
      await service.post('/Observation', observation);
      url = bundle.link.find(({ relation }) => relation === 'next')?.url;
    }
    expect(seen).to.deep.equal(record.map((each) => each.id));
    const whole = await of('/Provenance?_count=200');
    const recorded = whole.map((each) => each.recorded);
    expect(recorded).to.deep.equal([...recorded].sort().reverse());
    expect(await of('/Provenance?_count=200&_sort=recorded')).to.deep.equal([...whole].reverse());
  });

  it('stands beside those that clients write', async () => {
    const { id } = (await service.post('/Patient', patient)).json;
    const own = {
      resourceType: 'Provenance',
      target: [{ reference: `Patient/${id}` }],
      recorded: '2020-05-01T10:00:00Z',
      agent: [{ who: { reference: practitioner } }],
    };
    const created = await service.post('/Provenance', own);
    const found = await of(`/Provenance?target=Patient/${id}`);
    expect(found.map((each) => each.id))
      .to.include(created.json.id)
      .and.to.have.length(2);
    expect(found.at(-1)?.id).to.equal(created.json.id);
    expect(await of(`/Provenance?recorded=2020-05&agent=${practitioner}`)).to.deep.equal([
      JSON.parse(created.text),
    ]);
    expect((await service.fhir(`/Provenance/${created.json.id}`)).text).to.equal(created.text);
    const about = await of(`/Provenance?target=Provenance/${created.json.id}`);
    expect(codes(about)).to.deep.equal(['CREATE']);
    expect((await service.fhir('/Provenance/_history')).json.total).to.equal(1);
    await service.fhir(`/Provenance/${created.json.id}`, { method: 'DELETE' });
    expect((await search(`/Provenance?target=Patient/${id}`)).total).to.equal(1);
    expect((await service.fhir(`/Provenance/${created.json.id}`)).status).to.equal(410);
  });

  it('is matched by criteria only where a client wrote it', async () => {
    const { id } = (await service.post('/Patient', patient)).json;
    const [automatic] = await of(`/Provenance?target=Patient/${id}`);
    const body = JSON.stringify({
      resourceType: 'Provenance',
      target: [{ reference: `Patient/${id}` }],
      recorded: '2026-01-01T00:00:00Z',
      agent: [{ who: { display: 'a client' } }],
    });
    const create = (criteria: string) =>
      service.fhir('/Provenance', { method: 'POST', body, headers: { 'If-None-Exist': criteria } });
    const own = await create(`target=Patient/${id}`);
    expect(own.status, own.text).to.equal(201);
    const again = await create(`target=Patient/${id}`);
    expect([again.status, again.json.id]).to.deep.equal([200, own.json.id]);
    expect((await create(`_id=${automatic?.id}`)).status).to.equal(201);
    const gone = await service.fhir(`/Provenance?_id=${automatic?.id}`, { method: 'DELETE' });
    expect(gone.status, 'nothing matches').to.equal(204);
    expect((await service.fhir(`/Provenance/${automatic?.id}`)).status).to.equal(200);
    const [declared] = objects((await service.fhir('/metadata')).json.rest);
    const said = objects(declared?.resource).find(({ type }) => type === 'Provenance')?.documentation;
    expect(said).to.contain('match only Provenances that clients wrote');
  });

  it('is written for each entry of a Bundle', async () => {
    const entry = (resource: object, fullUrl: string, type: string) => ({
      fullUrl,
      resource,
      request: { method: 'POST', url: type },
    });
    const subject = { reference: 'urn:uuid:00000000-0000-4000-8000-000000000001' };
    const coded = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject };
    const answer = await service.post(
      '/',
      {
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          entry(patient, subject.reference, 'Patient'),
          entry(coded, 'urn:uuid:00000000-0000-4000-8000-000000000002', 'Observation'),
        ],
      },
      { 'X-Service-Author-Type': 'device' },
    );
    const { entry: entries } = JSON.parse(answer.text) as { entry: { response: { location: string } }[] };
    for (const { response } of entries) {
      const all = await of(`/Provenance?target=${response.location}`);
      expect(all).to.have.length(1);
      expect(all[0]?.agent[0]?.who.identifier?.value).to.equal('device');
    }
  });
});
