/** Cases from public reports about searches, for `test/http/public-reports.test.ts`: none of the faults occurs here. */
import { expect } from 'chai';
import type { JsonObject } from '#src/shared/json/json.ts';
import type { InProcess } from '../in-process.ts';
import { Asking, type Bundle, idsIn, nextOf } from '../search/asking.ts';

const SYSTEM = 'https://ex.test/held';

/**
 * Describes the cases.
 * @param service returns the service, which is started before the cases run
 */
export function searchesHold(service: () => InProcess): void {
  describe('searches', () => {
    let asking: Asking;
    /** A patient, the visit, and the visit's results. */
    let patient: string;
    let visit: string;
    const results: string[] = [];
    before(async () => {
      asking = new Asking(service());
      patient = await asking.create({
        resourceType: 'Patient',
        identifier: [{ system: `${SYSTEM}|a`, value: 'x,y$z\\w|v' }],
        name: [{ family: 'Odd, A$B|C\\D' }],
        gender: 'female',
      });
      visit = await asking.create({
        resourceType: 'Encounter',
        status: 'finished',
        class: { code: 'AMB' },
        subject: { reference: `Patient/${patient}` },
      });
      for (const quantity of [
        { value: 2, unit: 'mmol' },
        { value: 58.7, unit: 'mg', system: 'http://unitsofmeasure.org', code: 'mg' },
        { value: 7, unit: 'a,b|c$d\\e' },
      ])
        results.push(
          await asking.observe(patient, {
            code: { coding: [{ system: 'http://loinc.org', code: '2339-0' }] },
            encounter: { reference: `Encounter/${visit}` },
            valueQuantity: quantity,
          }),
        );
    });

    const cases: [string, () => string, () => readonly string[]][] = [
      ['a unit without a code', () => 'Observation?value-quantity=2||mmol', () => results.slice(0, 1)],
      [
        'a composite in another unit',
        () => 'Observation?code-value-quantity=2339-0$0.0587|http://unitsofmeasure.org|g',
        () => results.slice(1, 2),
      ],
      [
        'a unit with escapes',
        () => 'Observation?value-quantity=7||a\\,b\\|c\\$d\\\\e',
        () => results.slice(2),
      ],
      [
        'an identifier with escapes',
        () => `Patient?identifier=${SYSTEM}\\|a|x\\,y\\$z\\\\w\\|v`,
        () => [patient],
      ],
      ['a system with an escape', () => `Patient?identifier=${SYSTEM}\\|a|`, () => [patient]],
      ['a name with escapes', () => 'Patient?family:exact=Odd\\, A\\$B\\|C\\\\D', () => [patient]],
      [
        '_has → chain → _has',
        () => 'Patient?_has:Observation:subject:encounter._has:Observation:encounter:code=2339-0&family=odd',
        () => [patient],
      ],
      [
        'a chain to _has',
        () => 'Encounter?subject:Patient._has:Observation:subject:value-quantity=2||mmol',
        () => [visit],
      ],
      [
        '_has by a chain',
        () => `Patient?_has:Observation:subject:encounter.status=finished&family=odd`,
        () => [patient],
      ],
      [
        ':not in a chain',
        () => `Observation?subject:Patient.gender:not=male&subject=${patient}`,
        () => results,
      ],
      [
        ':missing in a chain',
        () => `Observation?subject:Patient.birthdate:missing=true&subject=${patient}`,
        () => results,
      ],
      [
        ':missing in a chain, present',
        () => `Observation?subject:Patient.gender:missing=true&subject=${patient}`,
        () => [],
      ],
    ];
    for (const [title, query, expected] of cases)
      it(`find by ${title}`, async () => {
        const [type = '', criteria = ''] = query().split('?');
        expect(await asking.found(type, criteria)).to.have.members([...expected()]);
      });

    it('page through _id, and include on every page', async () => {
      const found: string[] = [];
      const first = `/Observation?_id=${[...results, 'nobody'].join(',')}&_count=2&_include=Observation:subject`;
      for (let url: string | undefined = first; url !== undefined; ) {
        const page: Bundle = await asking.get(url);
        expect(page.total).to.equal(results.length);
        found.push(...idsIn(page));
        expect(idsIn(page, 'include')).to.deep.equal([patient]);
        url = nextOf(page);
      }
      expect(found).to.deep.equal(results);
      const nothing = await asking.search('Observation', '_id=nobody&_include=Observation:subject');
      expect([nothing.total, nothing.entry]).to.deep.equal([0, undefined]);
    });

    it('by POST take the parameters of the URL and of the body', async () => {
      const answer = await service().fhir(`/Observation/_search?subject=${patient}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: `value-quantity=${encodeURIComponent('2||mmol')}`,
      });
      expect((answer.json.entry as unknown as { resource: JsonObject }[])[0]?.resource.id).to.equal(
        results[0],
      );
      expect(answer.json.total).to.equal(1);
    });

    it('$everything has all of the record over its pages', async () => {
      const found: string[] = [];
      for (let url: string | undefined = `/Patient/${patient}/$everything?_count=2`; url !== undefined; ) {
        const page: Bundle = await asking.get(url);
        found.push(...(page.entry ?? []).map(({ resource }) => resource?.id ?? ''));
        url = nextOf(page);
      }
      expect(found).to.have.members([patient, visit, ...results]);
    });
  });
}
