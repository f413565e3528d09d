/** Searches of records that use the terminology: `:in`, `:not-in`, `:above` and `:below`. */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const ATC = 'http://www.whocc.no/atc';

describe('searches by terminology', () => {
  let service: InProcess;
  const ids = new Map<string, string>();
  before(async () => {
    service = await startInProcess();
    const patient = (await service.post('/Patient', { resourceType: 'Patient' })).json.id;
    const subject = { reference: `Patient/${patient}` };
    for (const code of ['A10BA02', 'A10AE04', 'C07AB02']) {
      const statement = {
        resourceType: 'MedicationStatement',
        status: 'active',
        subject,
        medicationCodeableConcept: { coding: [{ system: ATC, code }] },
      };
      ids.set(String((await service.post('/MedicationStatement', statement)).json.id), code);
    }
    for (const code of ['4548-4', '8867-4']) {
      const observation = {
        resourceType: 'Observation',
        status: 'final',
        subject,
        code: { coding: [{ system: 'http://loinc.org', code }] },
      };
      ids.set(String((await service.post('/Observation', observation)).json.id), code);
    }
  });
  after(() => service.stop());

  for (const [query, expected] of [
    [`MedicationStatement?code:below=${ATC}|A10`, ['A10AE04', 'A10BA02']],
    [`MedicationStatement?code:below=${ATC}|A10BA`, ['A10BA02']],
    [`MedicationStatement?code:above=${ATC}|A10BA02`, ['A10BA02']],
    [`MedicationStatement?code:in=${ATC}/vs`, []],
    ['Observation?code:in=http://loinc.org/vs', ['4548-4', '8867-4']],
    ['Observation?code:not-in=http://loinc.org/vs', []],
  ] as const) {
    it(`answers ${query}`, async () => {
      const answer = await service.fhir(`/${query}`);
      if (query.includes(`${ATC}/vs`)) {
        // There is no value set for ATC here.
        expect(answer.status).to.equal(400);
        return;
      }
      expect(answer.status, String(answer)).to.equal(200);
      const { entry = [] }: { entry?: { resource: { id: string } }[] } = JSON.parse(answer.text);
      expect(entry.map(({ resource }) => ids.get(resource.id)).sort()).to.deep.equal(expected);
    });
  }

  it('names a value set that is not here', async () => {
    const answer = await service.fhir('/Observation?code:in=http://example.org/vs');
    expect(answer.status).to.equal(400);
    expect(answer.text).to.contain('http://example.org/vs');
  });
});
