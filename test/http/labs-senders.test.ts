import { expect } from 'chai';
import type { JsonObject } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { GLUCOSE, importing, observations, told } from '#test/support/labs/importing.ts';
import { msh, OBR, PID, results } from '#test/support/labs/parts.ts';
import { restOf } from '#test/support/rest.ts';

/** docs/spec/decisions.md, section 4, "Labs import": a number without a universal id is specific to its sender */
describe('numbers of laboratories', () => {
  let service: InProcess;
  let patient: string;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());
  const { begin, imported, count } = importing(() => service);
  const rest = restOf(() => service);
  beforeEach(async () => {
    patient = await begin();
  });

  const ofOther = (order = OBR, value = '9.90', status = 'F'): string =>
    [
      msh().replace('CITYLAB', 'HILLLAB'),
      PID,
      order,
      GLUCOSE.replace('5.60', value).replace(/F$/, status),
    ].join('\r');

  it('with a namespace only are distinct for each sender, and a correction finds its own', async () => {
    const [own] = observations(await imported(results(GLUCOSE)));
    const other = await imported(ofOther());
    expect(told(other)).to.deep.include({ created: 1, warnings: [] });
    const [second] = observations(other);
    expect(second?.id).not.to.equal(own?.id);
    expect(await count('DiagnosticReport')).to.equal(2);
    const [corrected] = observations(await imported(ofOther(OBR.replace(/F$/, 'C'), '8.80', 'C')));
    expect(corrected).to.include({ id: second?.id, version: 2, status: 'corrected' });
    expect(String((await rest.fhir('Observation', own?.id)).status)).to.equal('final');
  });

  it('with a universal id are the same, whoever sends them', async () => {
    const order = OBR.replace('F100^LIS', 'F100^LIS^1.2.3^ISO');
    const [own] = observations(await imported(results(GLUCOSE).replace(OBR, order)));
    const [again] = observations(await imported(ofOther(order, '9.90', 'C')));
    expect(again).to.include({ id: own?.id, version: 2 });
  });

  /** Stores a result as earlier versions of Annal did, under a key without the sender. */
  const storedFormerly = async (source: string, system = 'http://loinc.org', code = '2345-7') => {
    const answer = await service.fhir('/Observation', {
      method: 'POST',
      headers: { 'X-Service-Author-Type': 'import', 'X-Service-Source-System': source },
      body: JSON.stringify({
        resourceType: 'Observation',
        identifier: [
          { system: 'https://annal.dev/fhir/lab-import', value: `filler/LIS/F100/24323-8/${code}/` },
        ],
        status: 'final',
        code: { coding: [{ system, code }] },
        subject: { reference: `Patient/${patient}` },
        effectiveDateTime: '2026-03-31T08:00:00+02:00',
        valueQuantity: { value: 5.6, unit: 'mmol/L' },
      }),
    });
    expect(answer.status, answer.text).to.equal(201);
    return String(answer.json.id);
  };
  const corrected = results(GLUCOSE.replace('5.60', '6.5').replace(/F$/, 'C'));
  const versions = (answer: JsonObject): unknown[][] =>
    observations(answer).map(({ id, version }) => [id, version]);

  it('that were stored without the sender are found by the same sender, and have it from then on', async () => {
    const id = await storedFormerly('CITYLAB');
    expect(versions(await imported(corrected))).to.deep.equal([[id, 2]]);
    const { identifier } = await rest.fhir('Observation', id);
    expect(identifier).to.deep.equal([
      { system: 'https://annal.dev/fhir/lab-import', value: 'filler-of/CITYLAB/LIS/F100/24323-8/2345-7/' },
    ]);
    expect(told(await imported(corrected))).to.deep.include({ created: 0, skipped: 1 });
  });

  it('that were stored without the sender are found although a person changed the result since', async () => {
    const id = await storedFormerly('CITYLAB');
    const added = { ...(await rest.fhir('Observation', id)), encounter: { display: 'visit' } };
    const headers = { 'X-Service-Author-Type': 'practitioner', 'X-Service-Source-System': 'ward' };
    await service.fhir(`/Observation/${id}`, { method: 'PUT', body: JSON.stringify(added), headers });
    expect(versions(await imported(corrected))).to.deep.equal([[id, 3]]);
  });

  for (const source of ['HILLLAB', 'engine'])
    it(`that were stored without the sender from ${source} stay, and the answer says so`, async () => {
      const id = await storedFormerly(source);
      const answer = await imported(corrected);
      expect(told(answer)).to.deep.include({ created: 1 });
      expect(observations(answer)[0]?.id).not.to.equal(id);
      expect(answer.warnings).to.deep.equal([
        'OBX[1]: the record has a result with the same number, which an earlier version of Annal stored without its laboratory; it isn’t certainly of this sender, so both are kept',
      ]);
      expect((await rest.fhir('Observation', id)).meta).to.include({ versionId: '1' });
      expect(told(await imported(corrected))).to.deep.include({ created: 0, skipped: 1, warnings: [] });
    });

  it('that were stored without the sender are found by the sender’s own codes', async () => {
    const id = await storedFormerly('engine', 'https://annal.dev/fhir/local-code/CITYLAB', 'NA');
    const sodium = results('OBX|1|NM|NA^Natrium^L||141|mmol/L|135-145|N|||C');
    expect(versions(await imported(sodium))).to.deep.equal([[id, 2]]);
  });
});
