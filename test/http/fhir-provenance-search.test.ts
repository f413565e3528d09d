import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Provenance {
  readonly resourceType: string;
  readonly id: string;
  readonly activity?: { readonly coding: readonly { readonly code: string }[] };
}
interface Bundle {
  readonly total: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly { readonly resource: Provenance }[];
}

/** Provenances written by the service and by clients, in one list: https://hl7.org/fhir/R4/provenance.html#search */
describe('search of Provenance', () => {
  let service: InProcess;
  let practitioner: string;
  let role: string;
  before(async () => {
    service = await startInProcess();
    const create = async (resource: { resourceType: string; [key: string]: unknown }) =>
      `${resource.resourceType}/${(await service.post(`/${resource.resourceType}`, resource)).json.id}`;
    practitioner = await create({ resourceType: 'Practitioner', name: [{ family: 'Doc' }] });
    role = await create({ resourceType: 'PractitionerRole', practitioner: { reference: practitioner } });
  });
  after(() => service.stop());

  const patient = { resourceType: 'Patient', name: [{ family: 'P' }] };
  const search = async (query: string): Promise<Bundle> => {
    const answer = await service.fhir(query);
    expect(answer.status, `${query}: ${answer.text}`).to.equal(200);
    return JSON.parse(answer.text) as Bundle;
  };
  const of = async (query: string) => ((await search(query)).entry ?? []).map(({ resource }) => resource);

  it('goes by every parameter, whoever wrote them', async () => {
    const headers = {
      'X-Service-Author-Type': 'practitioner',
      'X-Service-Author-Ref': practitioner,
      'X-Service-Acting-As': role,
      'X-Service-Source-System': 'Praxis 1',
      'X-Service-Origin-Id': 'A-7',
    };
    const { id } = (await service.post('/Patient', { ...patient, name: [{ family: 'Allesamt' }] }, headers))
      .json;
    await service.fhir(`/Patient/${id}`, { method: 'PUT', body: JSON.stringify({ ...patient, id }) });
    const { id: own } = (
      await service.post('/Provenance', {
        resourceType: 'Provenance',
        meta: { tag: [{ system: 'urn:t', code: 'mine' }] },
        target: [{ reference: `Patient/${id}` }],
        occurredDateTime: '2019-03-04',
        recorded: '2020-05-01T10:00:00Z',
        activity: { coding: [{ system: 'urn:activity', code: 'Import' }] },
        agent: [{ type: { coding: [{ code: 'verifier' }] }, who: { reference: practitioner } }],
      })
    ).json;
    /** C, U: the automatic Provenances of the versions; o: the client's own Provenance. Newest first. */
    const letters = async (query: string, record = `target=Patient/${id}`) =>
      (await of(`/Provenance?${record}&${query}`))
        .map((each) => (each.id === own ? 'o' : (each.activity?.coding[0]?.code ?? '?').charAt(0)))
        .join('');
    const { rows } = await service.pool.query<{ key_id: string }>(
      'select key_id from projects.api_key where last4 = $1',
      [service.key.slice(-4)],
    );
    const keyId = rows[0]?.key_id ?? '';
    const cases: Record<string, string> = {
      '_count=50': 'UCo',
      '_sort=recorded': 'oCU',
      '_sort=-_lastUpdated': 'oUC',
      '_sort=_id': 'CUo',
      '_sort=-_id': 'oUC',
      [`_id=${own}`]: 'o',
      [`_id:not=${own}`]: 'UC',
      '_id:missing=false': 'UCo',
      'recorded=2020-05-01': 'o',
      'recorded=gt2021': 'UC',
      'when=2019-03': 'o',
      'when:missing=true': 'UC',
      'when:missing=false': 'o',
      'recorded:missing=true': '',
      'target:missing=false': 'UCo',
      [`agent=${practitioner}`]: 'Co',
      [`agent=${role}`]: 'C',
      [`agent:Practitioner=${practitioner.split('/')[1]}`]: 'Co',
      'agent:identifier=practitioner': 'C',
      'agent:identifier=https://annal.dev/fhir/author-type|import': 'U',
      'agent:identifier=https://annal.dev/fhir/author-type|': 'UC',
      [`agent:identifier=https://annal.dev/fhir/api-key|${keyId}`]: 'UC',
      [`agent:identifier=${keyId}`]: 'UC',
      'agent:identifier=https://annal.dev/fhir/api-key|key_other': '',
      'agent-type=author': 'UC',
      'agent-type=AUTHOR,verifier': 'UCo',
      'agent-type=enterer': 'UC',
      'agent-type=http://terminology.hl7.org/CodeSystem/provenance-participant-type|enterer': 'UC',
      'agent-type=urn:x|enterer': '',
      'agent-type:not=enterer': 'o',
      'agent-role:missing=true': 'UCo',
      'entity:missing=false': 'C',
      'entity:missing=true': 'Uo',
      'entity:identifier=A-7': 'C',
      'entity:identifier=Praxis%25201|a-7': 'C',
      'entity:identifier=Praxis%25201|': 'C',
      'entity:identifier=Praxis|A-7': '',
      'activity=CREATE': 'C',
      'activity=http://terminology.hl7.org/CodeSystem/v3-DataOperation|UPDATE,import': 'Uo',
      'activity=urn:activity|': 'o',
      'activity:not=CREATE': 'Uo',
      'activity:missing=false': 'UCo',
      '_tag=urn:t|mine': 'o',
      '_tag:not=mine': 'UC',
      'patient.family=P': 'UCo',
      'target:Patient.family=P': 'UCo',
      'target:Patient.family=Allesamt': '',
      'agent:Practitioner.family=Doc': 'Co',
      'agent:Practitioner.family=Nobody': '',
      'location:missing=false': '',
      'signature-type=x': '',
    };
    for (const [query, expected] of Object.entries(cases)) {
      expect(await letters(query), query).to.equal(expected);
      expect((await search(`/Provenance?target=Patient/${id}&${query}`)).total, query).to.equal(
        expected.length,
      );
    }
    expect(await letters('_count=50', 'patient.family=P&recorded=gt2000')).to.contain('UC');
    const bundle = await search(
      `/Provenance?target=Patient/${id}&_count=2&_summary=data&_include=Provenance:target&_include=Provenance:agent`,
    );
    expect(bundle.entry?.map(({ resource }) => resource.resourceType)).to.have.members([
      'Provenance',
      'Provenance',
      'Patient',
      'Patient',
      'Practitioner',
      'PractitionerRole',
    ]);
    expect(bundle.link[1]?.url).to.contain('_summary=data').and.to.contain('_include=');
    for (const query of [
      'agent-type:exact=author',
      'activity:missing=x',
      'activity:text=x',
      'target=a b',
      '_sort=agent',
      'target:Patient.nothing=x',
    ]) {
      const { status, text } = await service.fhir(`/Provenance?${query}`, {
        headers: { Prefer: 'handling=strict' },
      });
      expect(status, `${query}: ${text}`).to.equal(400);
    }
    const strange = await service.fhir('/Provenance?activity=CREATE', { key: await service.newProject() });
    expect(strange.json.total).to.equal(0);
    expect(
      (await search('/_history?_count=200')).entry?.some(
        ({ resource }) => resource?.activity?.coding[0]?.code === 'CREATE',
      ),
    ).to.equal(false);
  });
});
