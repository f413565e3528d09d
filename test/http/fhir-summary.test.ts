import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Bundle {
  readonly total?: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly {
    readonly resource: Record<string, unknown>;
    readonly search?: { mode: string };
  }[];
}

const SUBSETTED = 'http://terminology.hl7.org/CodeSystem/v3-ObservationValue|SUBSETTED';

/** https://hl7.org/fhir/R4/search.html#summary, https://hl7.org/fhir/R4/search.html#elements */
describe('_summary and _elements', () => {
  let service: InProcess;
  let patient: string;
  let observation: string;
  const div = '<div xmlns="http://www.w3.org/1999/xhtml">x</div>';
  before(async () => {
    service = await startInProcess();
    patient = (
      await service.post('/Patient', {
        resourceType: 'Patient',
        meta: { tag: [{ system: 'urn:t', code: 'mine' }] },
        text: { status: 'additional', div },
        contained: [{ resourceType: 'Organization', id: 'o', name: 'o' }],
        extension: [{ url: 'urn:e', valueBoolean: true }],
        name: [{ family: 'F', extension: [{ url: 'urn:e', valueBoolean: true }] }],
        birthDate: '1970-01-01',
        _birthDate: { extension: [{ url: 'urn:e', valueBoolean: true }] },
        active: true,
        maritalStatus: { text: 'm' },
        managingOrganization: { reference: '#o' },
        contact: [{ name: { family: 'C' } }],
      })
    ).json.id as string;
    const body = JSON.stringify({
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: 'urn:c', code: 'x' }] },
      subject: { reference: `Patient/${patient}` },
      valueQuantity: { value: 'VALUE', unit: 'mg' },
      note: [{ text: 'n' }],
      component: [
        { code: { text: 'y' }, valueQuantity: { value: 'VALUE' }, interpretation: [{ text: 'high' }] },
      ],
    }).replaceAll('"VALUE"', '1.50');
    const made = await service.fhir('/Observation', { method: 'POST', body });
    observation = made.json.id as string;
  });
  after(() => service.stop());

  const get = async (path: string): Promise<{ text: string; json: Record<string, unknown> }> => {
    const answer = await service.fhir(path);
    expect(answer.status, `${path}: ${answer.text}`).to.equal(200);
    return { text: answer.text, json: answer.json as Record<string, unknown> };
  };
  const search = async (path: string) => (await get(path)).json as unknown as Bundle;
  const keys = (resource: unknown) =>
    Object.keys(resource as object)
      .sort()
      .join(' ');
  const tags = (resource: unknown) =>
    ((resource as { meta: { tag?: { system: string; code: string }[] } }).meta.tag ?? []).map(
      ({ system, code }) => `${system}|${code}`,
    );

  it('shows what the definitions count as summary', async () => {
    const [entry] = (await search('/Patient?_summary=true')).entry ?? [];
    expect(keys(entry?.resource)).to.equal(
      '_birthDate active birthDate id managingOrganization meta name resourceType',
    );
    expect(entry?.resource.name).to.deep.equal([
      { family: 'F', extension: [{ url: 'urn:e', valueBoolean: true }] },
    ]);
    expect(tags(entry?.resource)).to.deep.equal(['urn:t|mine', SUBSETTED]);
    const { text, json } = await get(`/Observation/${observation}?_summary=true`);
    expect(keys(json)).to.equal('code component id meta resourceType status subject valueQuantity');
    expect(JSON.parse(text).component).to.deep.equal([
      { code: { text: 'y' }, valueQuantity: { value: 1.5 } },
    ]);
    expect(text.match(/"value":1\.50/g)).to.have.length(2);
  });

  it('shows the narrative with what is mandatory, or all but the narrative', async () => {
    expect(keys((await get(`/Patient/${patient}?_summary=text`)).json)).to.equal('id meta resourceType text');
    expect(keys((await get(`/Observation/${observation}?_summary=text`)).json)).to.equal(
      'code id meta resourceType status',
    );
    const data = (await get(`/Patient/${patient}?_summary=data`)).json;
    expect(data).not.to.have.property('text');
    expect(data).to.include.keys('contact', 'contained', 'extension');
    expect(tags(data)).to.include(SUBSETTED);
    const whole = await get(`/Patient/${patient}?_summary=false`);
    expect(whole.text).to.equal((await get(`/Patient/${patient}`)).text);
  });

  it('shows the elements that are asked for, what is mandatory, and modifiers', async () => {
    expect(keys((await get(`/Patient/${patient}?_elements=birthDate`)).json)).to.equal(
      '_birthDate active birthDate id meta resourceType',
    );
    const { text, json } = await get(`/Observation/${observation}?_elements=value,Observation.note`);
    expect(keys(json)).to.equal('code id meta note resourceType status valueQuantity');
    expect(text).to.contain('1.50');
    expect(tags(json)).to.deep.equal([SUBSETTED]);
    for (const name of ['value[x]', 'valueQuantity'])
      expect((await get(`/Observation/${observation}?_elements=${name}`)).json).to.have.property(
        'valueQuantity',
      );
    const bundle = await search('/Observation?_elements=subject&_include=Observation:subject');
    expect(keys(bundle.entry?.[0]?.resource)).to.equal('code id meta resourceType status subject');
    expect(bundle.entry?.[1]?.resource).to.include.keys('contact');
    expect(bundle.link[0]?.url).to.match(/\?_elements=subject&_include=Observation%3Asubject$/);
    const summary = await search('/Observation?_summary=true&_include=Observation:subject');
    expect(summary.entry?.[1]?.resource).not.to.include.keys('contact');
  });

  it('applies to vread, histories, Provenances and pages', async () => {
    expect((await get(`/Patient/${patient}/_history/1?_elements=name`)).json).not.to.have.property('contact');
    for (const path of [`/Patient/${patient}/_history`, '/Patient/_history', '/_history?_count=200']) {
      const bundle = await search(`${path}${path.includes('?') ? '&' : '?'}_summary=true`);
      const shown = bundle.entry?.find(({ resource }) => resource.id === patient)?.resource;
      expect(tags(shown), path).to.include(SUBSETTED);
      expect(shown).not.to.have.property('contact');
      expect(bundle.link[0]?.url).to.contain('_summary=true');
    }
    const counted = await search('/Patient/_history?_summary=count');
    expect([counted.total, counted.entry]).to.deep.equal([1, undefined]);
    const [provenance] = (await search(`/Provenance?target=Patient/${patient}&_summary=true`)).entry ?? [];
    expect(keys(provenance?.resource)).to.equal('agent id meta recorded resourceType target');
    const first = await search('/Provenance?_count=1&_summary=data');
    const next = first.link.find(({ relation }) => relation === 'next')?.url ?? '';
    expect(next).to.contain('_summary=data');
    expect(tags((await search(next)).entry?.[0]?.resource)).to.include(SUBSETTED);
    const total = await search('/Patient?_summary=count');
    expect([total.total, total.entry]).to.deep.equal([1, undefined]);
  });

  it('refuses what it does not know', async () => {
    for (const query of [
      '_summary=most',
      '_summary=true&_summary=data',
      '_elements=nothing',
      '_elements=name.family',
      '_elements=Observation.code',
      '_summary:x=true',
      '_elements:x=name',
      '_summary=true&_elements=name',
    ])
      for (const path of ['/Patient', `/Patient/${patient}`, '/Patient/_history'])
        expect((await service.fhir(`${path}?${query}`)).status, `${path}?${query}`).to.equal(400);
    expect((await service.fhir(`/Patient/${patient}?_summary=count`)).status).to.equal(400);
    expect((await search('/Patient?_summary=&_elements=')).entry?.[0]?.resource).to.include.keys('contact');
  });
});
