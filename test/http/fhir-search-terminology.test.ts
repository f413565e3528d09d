import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const ATC = 'http://www.whocc.no/atc';
const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';

/** https://hl7.org/fhir/R4/search.html#token */
describe('search by what codes mean', () => {
  let service: InProcess;
  let metformin: string;
  let aspirin: string;
  before(async () => {
    service = await startInProcess();
    const patient = (await service.post('/Patient', { resourceType: 'Patient' })).json.id as string;
    const taken = async (code: string): Promise<string> => {
      const { json, status } = await service.post('/MedicationStatement', {
        resourceType: 'MedicationStatement',
        status: 'active',
        subject: { reference: `Patient/${patient}` },
        category: { coding: [{ system: CATEGORY, code: 'vital-signs' }] },
        medicationCodeableConcept: { coding: [{ system: ATC, code }] },
      });
      expect(status).to.equal(201);
      return json.id as string;
    };
    metformin = await taken('A10BA02');
    aspirin = await taken('B01AC06');
  });
  after(() => service.stop());

  const found = async (query: string): Promise<string[]> => {
    const answer = await service.fhir(`/MedicationStatement?${query}`);
    expect(answer.status, answer.text).to.equal(200);
    return ((answer.json.entry ?? []) as { resource: { id: string } }[]).map(({ resource }) => resource.id);
  };

  it(':below finds what a code of the bundled ATC subsumes, :above what subsumes it', async () => {
    expect(await found(`code:below=${ATC}|A10`)).to.deep.equal([metformin]);
    expect(await found(`code:below=${ATC}|A10BA02`)).to.deep.equal([metformin]);
    expect(await found(`code:above=${ATC}|B01AC06`)).to.deep.equal([aspirin]);
    expect(await found(`code:below=${ATC}|C`)).to.deep.equal([]);
  });

  it(':in and :not-in take value sets that only the terminology knows', async () => {
    const set = 'http://hl7.org/fhir/ValueSet/observation-category';
    expect(await found(`category:in=${set}`)).to.have.members([metformin, aspirin]);
    expect(await found(`category:not-in=${set}`)).to.deep.equal([]);
  });

  it(':in and :not-in take a value set by where it is, too', async () => {
    const { text } = await service.fhir('/ValueSet?url=http://hl7.org/fhir/ValueSet/observation-category');
    const [first] = (JSON.parse(text) as { entry: { resource: { id: string } }[] }).entry;
    for (const set of [
      `ValueSet/${first?.resource.id}`,
      `${service.base}/ValueSet/${first?.resource.id}`,
      'ValueSet/observation-category',
    ]) {
      expect(await found(`category:in=${set}`), set).to.have.members([metformin, aspirin]);
      expect(await found(`category:not-in=${set}`), set).to.deep.equal([]);
    }
    expect(await found('category:in=ValueSet/administrative-gender')).to.deep.equal([]);
    expect(await found('category:not-in=ValueSet/administrative-gender')).to.have.length(2);
    const statuses = '/ValueSet?status:in=ValueSet/publication-status&_summary=count';
    expect((await service.fhir(statuses)).json.total).to.be.greaterThan(10);
  });

  it('refuses what it does not know, by name', async () => {
    for (const [query, named] of [
      [`code:below=${ATC}|Z99`, 'Z99'],
      ['code:in=http://example.org/none', 'http://example.org/none'],
      ['code:in=ValueSet/none', 'ValueSet/none'],
      ['code:in=ValueSet/00000000-0000-4000-8000-000000000000', 'ValueSet/00000000'],
    ] as const) {
      const answer = await service.fhir(`/MedicationStatement?${query}`);
      expect(answer.status).to.equal(400);
      expect(answer.text).to.contain(named);
    }
  });
});
