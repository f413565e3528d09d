/** Problems that users of other FHIR servers have reported publicly, one test per thread: none of them occurs here. */
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { Asking, type Bundle, idsIn, nextOf } from '#test/support/search/asking.ts';
import { concept, ucum } from '#test/support/search/table.ts';

describe('published threads about what is found', () => {
  let service: InProcess;
  let asking: Asking;
  before(async () => {
    service = await startInProcess();
    asking = new Asking(service);
  });
  after(() => service.stop());

  // hapi-fhir issues 2427 and 2837, microsoft/fhir-server issues 709 and 3920
  it('`:not` on multi-valued tokens', async () => {
    const patient = await asking.create({ resourceType: 'Patient' });
    const of = (query: string) => asking.found('Observation', `patient=${patient}&_sort=_id&${query}`);
    const both = await asking.observe(patient, { code: { coding: [{ code: 'A' }, { code: 'B' }] } });
    const b = await asking.observe(patient, {
      code: { coding: [{ code: 'B' }] },
      category: [concept('urn:c', 'x'), concept('urn:c', 'y')],
    });
    const none = await asking.observe(patient);
    expect(await of('code:not=A')).to.deep.equal([b, none]);
    expect(await of('code:not=B')).to.deep.equal([none]);
    expect(await of(`_id=${both}&code:not=A`)).to.deep.equal([]);
    expect(await of('category:not=urn:c|x')).to.deep.equal([both, none]);
    // The search doesn't find deleted resources either.
    await service.fhir(`/Observation/${none}`, { method: 'DELETE' });
    expect(await of('code:not=A')).to.deep.equal([b]);
  });

  it('quantity across units', async () => {
    const patient = await asking.create({ resourceType: 'Patient' });
    const grams = await asking.observe(patient, { valueQuantity: ucum(0.0054, 'g') });
    const milligrams = await asking.observe(patient, { valueQuantity: ucum(5.4, 'mg') });
    const kilograms = await asking.observe(patient, { valueQuantity: ucum(5.4, 'kg') });
    const of = (value: string) =>
      asking.found('Observation', `patient=${patient}&_sort=_id&value-quantity=${value}`);
    expect(await of('5.4|http://unitsofmeasure.org|mg')).to.deep.equal([grams, milligrams]);
    expect(await of('5400|http://unitsofmeasure.org|ug')).to.deep.equal([grams, milligrams]);
    expect(await of('gt5|http://unitsofmeasure.org|g')).to.deep.equal([kilograms]);
    expect(await of('5.4||mg')).to.deep.equal([milligrams]);
  });

  it('composite across components', async () => {
    const patient = await asking.create({ resourceType: 'Patient' });
    const pressure = (systolic: number, diastolic: number) =>
      asking.observe(patient, {
        component: [
          { code: concept('http://loinc.org', '8480-6'), valueQuantity: ucum(systolic, 'mm[Hg]') },
          { code: concept('http://loinc.org', '8462-4'), valueQuantity: ucum(diastolic, 'mm[Hg]') },
        ],
      });
    const high = await pressure(150, 80);
    await pressure(110, 95);
    const of = (value: string) =>
      asking.found('Observation', `patient=${patient}&component-code-value-quantity=${value}`);
    expect(await of('http://loinc.org|8480-6$gt140')).to.deep.equal([high]);
    // The value 110 exists, and so does a diastolic pressure, but the diastolic pressure isn't over 100.
    expect(await of('http://loinc.org|8462-4$gt100')).to.deep.equal([]);
  });

  it('date search at time-zone borders', async () => {
    const patient = await asking.create({ resourceType: 'Patient' });
    const at = (effectiveDateTime: string) => asking.observe(patient, { effectiveDateTime });
    const evening = await at('2024-02-29T23:30:00-02:00');
    const morning = await at('2024-03-01T01:30:00+02:00');
    const day = await at('2024-02-29');
    const of = (value: string) => asking.found('Observation', `patient=${patient}&_sort=_id&date=${value}`);
    expect(await of('2024-02-29')).to.deep.equal([morning, day]);
    expect(await of('2024-03-01')).to.deep.equal([evening]);
    expect(await of('2024-03-01T01:30:00Z')).to.deep.equal([evening]);
    expect(await of('2024-03-01T02:30:00+01:00')).to.deep.equal([evening]);
    expect(await of('ge2024-03-01T00:00:00Z')).to.deep.equal([evening]);
    expect(await of('lt2024-03-01T00:00:00+01:00')).to.deep.equal([day]);
  });

  // hapi-fhir issues 1061 and 4098, microsoft/fhir-server issue 1404, medplum pull request 6767
  it('sort on a missing value', async () => {
    const tag = newUuid();
    const person = (rest: object = {}) =>
      asking.create({ resourceType: 'Patient', meta: { tag: [{ code: tag }] }, ...rest });
    const without = await person();
    const young = await person({ birthDate: '1999-01-01' });
    const old = await person({ birthDate: '1930' });
    const also = await person();
    expect(await asking.found('Patient', `_tag=${tag}&_sort=birthdate`)).to.deep.equal([
      old,
      young,
      without,
      also,
    ]);
    const descending = await asking.found('Patient', `_tag=${tag}&_sort=-birthdate`);
    expect(descending.slice(0, 2)).to.deep.equal([young, old]);
    for (const sort of ['birthdate', '-birthdate', 'family,birthdate']) {
      const seen: string[] = [];
      let page: Bundle | undefined = await asking.search('Patient', `_tag=${tag}&_sort=${sort}&_count=1`);
      while (page !== undefined) {
        expect(page.total).to.equal(4);
        seen.push(...idsIn(page));
        const next = nextOf(page);
        page = next === undefined ? undefined : await asking.get(next);
      }
      expect(seen.sort(), sort).to.deep.equal([without, young, old, also].sort());
    }
  });
});
