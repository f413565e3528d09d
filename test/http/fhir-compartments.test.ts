import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Bundle {
  readonly total?: number;
  readonly entry?: readonly { readonly resource: { readonly resourceType: string; readonly id: string } }[];
  readonly link: readonly { readonly relation: string; readonly url: string }[];
}

/** https://hl7.org/fhir/R4/compartmentdefinition.html */
describe('compartments', () => {
  let service: InProcess;
  const ids = new Map<string, string>();
  before(async () => {
    service = await startInProcess();
    const reference = (name: string) => ({ reference: ids.get(name) ?? '' });
    const create = async (name: string, resource: { resourceType: string; [key: string]: unknown }) => {
      const { json } = await service.post(`/${resource.resourceType}`, resource);
      ids.set(name, `${resource.resourceType}/${json.id}`);
    };
    await create('patient', { resourceType: 'Patient' });
    await create('doctor', { resourceType: 'Practitioner', name: [{ family: 'Doe' }] });
    await create('other doctor', { resourceType: 'Practitioner' });
    await create('role', { resourceType: 'PractitionerRole', practitioner: reference('doctor') });
    await create('device', { resourceType: 'Device', patient: reference('patient') });
    await create('mother', { resourceType: 'RelatedPerson', patient: reference('patient') });
    const subject = reference('patient');
    const visit = {
      resourceType: 'Encounter',
      status: 'finished',
      class: { system: 'http://terminology.hl7.org/CodeSystem/v3-ActCode', code: 'AMB' },
      subject,
    };
    await create('visit', { ...visit, participant: [{ individual: reference('doctor') }] });
    await create('other visit', visit);
    const value = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject };
    await create('measured', { ...value, encounter: reference('visit'), device: reference('device') });
    await create('told', {
      ...value,
      encounter: reference('visit'),
      performer: [reference('mother'), reference('doctor')],
    });
    await create('elsewhere', { ...value, encounter: reference('other visit') });
    await create('allergy', {
      resourceType: 'AllergyIntolerance',
      patient: subject,
      recorder: reference('doctor'),
      clinicalStatus: {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' },
        ],
      },
    });
    await create('provenance', {
      resourceType: 'Provenance',
      target: [reference('told')],
      recorded: '2024-01-01T00:00:00Z',
      agent: [{ who: reference('mother') }],
    });
  });
  after(() => service.stop());

  const names = (bundle: Bundle): string[] => {
    const found = new Map([...ids].map(([name, reference]) => [reference, name]));
    return (bundle.entry ?? [])
      .map(({ resource }) => found.get(`${resource.resourceType}/${resource.id}`) ?? 'somebody')
      .sort();
  };
  const ask = async (
    of: string,
    rest: string,
    init: Parameters<InProcess['fhir']>[1] = {},
  ): Promise<Bundle> => {
    const { status, text } = await service.fhir(`/${ids.get(of)}/${rest}`, init);
    expect(status, text).to.equal(200);
    return JSON.parse(text) as Bundle;
  };

  it('have what their parameters say, and nothing else', async () => {
    for (const [of, rest, expected] of [
      ['visit', 'Observation', ['measured', 'told']],
      ['visit', 'Observation?_id:missing=false&_sort=-_lastUpdated', ['measured', 'told']],
      ['visit', 'Encounter', ['visit']],
      ['other visit', 'Observation?status=final', ['elsewhere']],
      ['other visit', 'Observation?status=amended', []],
      ['doctor', 'Observation', ['told']],
      ['doctor', 'AllergyIntolerance', ['allergy']],
      ['doctor', 'Encounter', ['visit']],
      ['doctor', 'Practitioner?name=doe', ['doctor']],
      ['doctor', 'Practitioner?name=other', []],
      ['other doctor', 'Observation', []],
      ['device', 'Observation', ['measured']],
      ['mother', 'Observation', ['told']],
      ['mother', 'Provenance', ['provenance']],
      ['mother', 'RelatedPerson', ['mother']],
      ['doctor', '*', ['allergy', 'doctor', 'role', 'told', 'visit']],
      ['doctor', '*?_type=Encounter,Observation', ['told', 'visit']],
      ['visit', '*', ['measured', 'told', 'visit']],
    ] as const) {
      const bundle = await ask(of, rest);
      expect(names(bundle), `${of}: ${rest}`).to.deep.equal(expected);
      expect(bundle.total, `${of}: ${rest}`).to.equal(expected.length);
    }
  });

  it('are paged, and searched by form', async () => {
    const first = await ask('visit', 'Observation?_count=1');
    const next = first.link.find(({ relation }) => relation === 'next')?.url ?? '';
    expect(next).to.contain(`${ids.get('visit')}/Observation?`);
    const second = JSON.parse((await service.fhir(next)).text) as Bundle;
    expect([...names(first), ...names(second)].sort()).to.deep.equal(['measured', 'told']);
    const form = {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'status=final',
    };
    expect(names(await ask('visit', 'Observation/_search', form))).to.deep.equal(['measured', 'told']);
    expect(names(await ask('visit', '_search', { ...form, body: '_type=Encounter' }))).to.deep.equal([
      'visit',
    ]);
    const provenances = await ask('mother', 'Provenance');
    expect(provenances.link[0]?.url).to.match(/Provenance$/);
  });

  it('are not there for what nobody may see, for other types, and have no other types', async () => {
    const id = ids.get('visit')?.split('/')[1];
    const key = await service.newProject();
    expect((await service.fhir(`/Encounter/${id}/Observation`, { key })).status).to.equal(404);
    for (const path of [
      `/Encounter/${crypto.randomUUID()}/Observation`,
      `/Device/${id}/Observation`,
      `/Encounter/${id}/Patient`,
      `/Organization/${id}/Observation`,
      `/Encounter/${id}/Observation/more`,
    ])
      expect((await service.fhir(path)).status, path).to.equal(404);
    expect((await service.fhir(`/Encounter/${id}/*?_type=Patient`)).status).to.equal(400);
  });
});
