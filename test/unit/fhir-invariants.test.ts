/**
 * Compiled invariants compared with fhirpath.js: both give the same verdict on every element of real and of mutated resources.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { type Invariant, jsonName, PRIMITIVES, typeDefinition } from '#src/fhir/definitions/tables.ts';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { validateResource } from '#src/fhir/validate.ts';
import { compileInvariant, holdsByEngine, isCompiled } from '#src/fhir/validation/invariants.ts';
import { isObject, type Json, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { EXAMPLES } from '#test/support/fhir-examples.ts';
import { syntheaFolder } from '#test/support/synthea.ts';

/** fhirpath.js can resolve references only through a server, so ctm-1 is tested separately. */
const NOT_COMPARED = new Set(['ctm-1']);

interface Case {
  readonly invariant: Invariant;
  readonly type: string;
  readonly focus: Json;
  readonly resource: JsonObject;
}

/** Returns every invariant with every element that it applies to. */
function casesIn(object: JsonObject, type: string, resource: JsonObject): Case[] {
  const { elements, invariants } = typeDefinition(type);
  const here = invariants
    .filter(({ element }) => element === undefined)
    .map((invariant) => ({ invariant, type, focus: object, resource }));
  const below = elements.flatMap((element) =>
    element.types.flatMap(({ code }) => {
      const value = object[jsonName(element, code)];
      const items = value === undefined ? [] : Array.isArray(value) ? value : [value];
      const rules = invariants.filter((invariant) => invariant.element === element.name);
      return items.flatMap((item) => {
        const own =
          item === null ? [] : rules.map((invariant) => ({ invariant, type: code, focus: item, resource }));
        if (!isObject(item) || PRIMITIVES.has(code)) return own;
        if (code !== 'Resource') return [...own, ...casesIn(item, code, resource)];
        return [...own, ...casesIn(item, String(item.resourceType), item)];
      });
    }),
  );
  return [...here, ...below];
}

/**
 * Returns whether an element contains a quantity without a UCUM code. fhirpath.js doesn't order such quantities, while we
 * compare those with the same unit.
 */
function hasBareQuantity(focus: Json): boolean {
  if (!isObject(focus)) return false;
  return [focus.low, focus.high].some((bound) => isObject(bound) && bound.system === undefined);
}

function differences(cases: readonly Case[]): string[] {
  return cases.flatMap(({ invariant, type, focus, resource }) => {
    if (NOT_COMPARED.has(invariant.key) || hasBareQuantity(focus)) return [];
    const environment = { resource, rootResource: resource };
    // A new object each time, because the number of engine calls is limited per object.
    const ours = compileInvariant(invariant, type)([focus], { resource, rootResource: { ...resource } });
    const theirs = holdsByEngine(invariant, type, [focus], environment);
    return ours === theirs
      ? []
      : [`${invariant.key} of ${type}: ${ours} for ${JSON.stringify(focus).slice(0, 300)}`];
  });
}

const DATATYPES =
  'Age Attachment ContactPoint Count DataRequirement Distance Duration ElementDefinition Expression Period Range Ratio Timing TriggerDefinition Quantity SimpleQuantity'.split(
    ' ',
  );

function ucum(value: number, code: string): JsonObject {
  return { value, unit: code, system: 'http://unitsofmeasure.org', code };
}

describe('invariants', () => {
  it('of the 26 types and the datatypes are all compiled', () => {
    const seen = new Set<string>();
    const visit = (type: string): string[] => {
      if (seen.has(type) || PRIMITIVES.has(type) || type === 'Resource') return [];
      seen.add(type);
      const { elements, invariants } = typeDefinition(type);
      const missed = invariants.filter((invariant) => {
        const element = elements.find(({ name }) => name === invariant.element);
        return !isCompiled(invariant, element?.types[0]?.code ?? type);
      });
      return [
        ...missed.map(({ key }) => `${type} ${key}`),
        ...elements.flatMap(({ types }) => types.flatMap(({ code }) => visit(code))),
      ];
    };
    expect([...TYPE_NAMES, ...DATATYPES].flatMap(visit)).to.deep.equal([]);
  });

  it('judge the examples as fhirpath.js does', () => {
    for (const type of TYPE_NAMES)
      expect(differences(casesIn(EXAMPLES[type], type, EXAMPLES[type]))).to.deep.equal([]);
  });

  const DATATYPES_BROKEN: readonly (readonly [string, JsonObject])[] = [
    ['Count', { value: 1.5, system: 'http://unitsofmeasure.org', code: '1' }],
    ['Count', { value: 1, system: 'http://x.org', code: '1' }],
    ['Count', { value: 1, system: 'http://unitsofmeasure.org', code: '1' }],
    ['Distance', { value: 1 }],
    ['DataRequirement.codeFilter', { path: 'a', searchParam: 'b' }],
    ['DataRequirement.dateFilter', {}],
    ['Expression', { language: 'text/fhirpath' }],
    ['TriggerDefinition', { type: 'named-event' }],
    ['TriggerDefinition', { type: 'data-added', data: [{ type: 'Patient' }], timingDate: '2020' }],
    [
      'ElementDefinition',
      { path: 'A.b', min: 2, max: '1', fixedString: 'x', patternString: 'y', isModifier: true },
    ],
    [
      'ElementDefinition',
      { path: 'A.b', max: '*', min: 0, contentReference: '#A', binding: { strength: 'example' } },
    ],
    ['ElementDefinition', { path: 'a b', type: [{ code: 'X' }, { code: 'X' }], sliceIsConstraining: true }],
    ['ElementDefinition.slicing', { rules: 'open' }],
    ['ElementDefinition.type', { code: 'string', aggregation: ['bundled'], targetProfile: ['http://x.org'] }],
    ['ElementDefinition.binding', { strength: 'required', valueSet: 'x' }],
    ['Timing.repeat', { countMax: 3, durationMax: 3, periodMax: 3 }],
    ['Timing.repeat', { offset: 5, when: ['C'], timeOfDay: ['10:00:00'], duration: -1 }],
    ['Observation', { dataAbsentReason: { text: 'x' }, valueString: 'x' }],
  ];
  it('judge broken datatypes as fhirpath.js does', () => {
    for (const [type, focus] of DATATYPES_BROKEN)
      expect(differences(casesIn(focus, type, focus)), type).to.deep.equal([]);
  });

  it('judge real resources as fhirpath.js does', function () {
    const folder = syntheaFolder();
    if (folder === undefined) this.skip();
    const [file] = readdirSync(folder).filter((name) => name.endsWith('.json'));
    const { value: bundle } = parseJson(readFileSync(join(folder, file ?? ''), 'utf8'));
    const entries = isObject(bundle) && Array.isArray(bundle.entry) ? bundle.entry : [];
    const resources = entries.flatMap((entry) =>
      isObject(entry) && isObject(entry.resource) ? [entry.resource] : [],
    );
    expect(resources).to.have.length.greaterThan(50);
    for (const resource of resources.slice(0, 150)) {
      expect(differences(casesIn(resource, String(resource.resourceType), resource))).to.deep.equal([]);
    }
  });

  const MUTANTS = TYPE_NAMES.flatMap((type) => casesIn(EXAMPLES[type], type, EXAMPLES[type])).filter(
    ({ focus }) => isObject(focus),
  );
  const members: Readonly<Record<string, readonly Json[]>> = {
    code: ['a', '1', 'd', { coding: [{ system: 'http://loinc.org', code: '85354-9' }] }],
    system: ['http://unitsofmeasure.org', 'phone', 'http://x.org'],
    value: [1, 0, -1, 1.5, 'x'],
    comparator: ['<'],
    low: [ucum(1, 'mg'), ucum(3, 'mg'), ucum(1, 'g')],
    high: [ucum(2, 'mg'), ucum(2, 'g'), ucum(1, 'm')],
    start: ['2020', '2020-03', '2021-01-03T10:00:00Z'],
    end: ['2020', '2020-02-01', '2020-12-31T10:00:00+02:00'],
    _start: [{ extension: [{ url: 'http://x.org/u', valueCode: 'unknown' }] }],
    period: [1, -1],
    duration: [1, -1],
    durationUnit: ['h'],
    count: [2],
    countMax: [3],
    when: [['C'], ['MORN']],
    offset: [5],
    valueString: ['x'],
    dataAbsentReason: [{ text: 'x' }],
    name: ['x', [{ text: 'x' }]],
    clinicalStatus: [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }] },
    ],
    verificationStatus: [
      {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/condition-ver-status', code: 'entered-in-error' },
        ],
      },
    ],
    use: ['home', 'work'],
    url: ['http://x.org'],
    mode: ['fixed', 'other-map'],
    equivalence: ['narrower', 'equal'],
    detailString: ['x'],
    reference: [{ reference: 'Observation/1' }],
    abstract: [true, false],
    concept: [[{ code: 'a' }, { code: 'a' }], [{ code: 'a', concept: [{ code: 'b' }] }]],
    filter: [[{ property: 'p', op: '=', value: 'v' }]],
  };

  it('judge mutated resources as fhirpath.js does', () => {
    const change = fc.oneof(
      fc.record({
        put: fc.constantFrom(
          ...Object.entries(members).flatMap(([key, values]) => values.map((value) => ({ key, value }))),
        ),
      }),
      fc.record({ remove: fc.nat(20) }),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...MUTANTS),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        (found, changes) => {
          const { invariant, type, focus, resource } = found;
          if (!isObject(focus)) return;
          const known = new Set(
            typeDefinition(type).elements.flatMap((element) =>
              element.types.map(({ code }) => jsonName(element, code)),
            ),
          );
          const mutant = structuredClone(focus);
          for (const step of changes) {
            if ('remove' in step) {
              const key = Object.keys(mutant).filter((name) => name !== 'resourceType')[step.remove];
              if (key !== undefined) delete mutant[key];
            } else if (known.has(step.put.key.replace(/^_/, ''))) mutant[step.put.key] = step.put.value;
          }
          const whole = focus === resource ? mutant : resource;
          expect(differences([{ invariant, type, focus: mutant, resource: whole }])).to.deep.equal([]);
        },
      ),
      { numRuns: 1500 },
    );
  });

  it('ctm-1 looks at the type that a reference names', () => {
    const [invariant] = typeDefinition('CareTeam.participant').invariants;
    if (invariant === undefined) throw new Error('ctm-1 is gone');
    const resource = {
      resourceType: 'CareTeam',
      contained: [
        { resourceType: 'Practitioner', id: 'c' },
        { resourceType: 'Patient', id: 'p' },
      ],
    };
    const holds = (reference: string): boolean =>
      compileInvariant(invariant, 'CareTeam.participant')(
        [{ member: { reference }, onBehalfOf: { display: 'x' } }],
        { resource, rootResource: resource },
      );
    expect(['Practitioner/1', '#c', 'https://x.org/1', 'urn:uuid:1'].map(holds)).to.deep.equal([
      true,
      true,
      true,
      true,
    ]);
    expect(['Patient/1', 'PractitionerRole/1/_history/2', '#p'].map(holds)).to.deep.equal([
      false,
      false,
      false,
    ]);
  });

  it('compares quantities of different units as UCUM converts them', () => {
    const [invariant] = typeDefinition('Range').invariants;
    if (invariant === undefined) throw new Error('rng-2 is gone');
    const holds = (low: JsonObject, high: JsonObject): boolean =>
      compileInvariant(invariant, 'Range')([{ low, high }], { resource: {}, rootResource: {} });
    expect(holds(ucum(500, 'mg'), ucum(1, 'g'))).to.equal(true);
    expect(holds(ucum(1, 'g'), ucum(500, 'mg'))).to.equal(false);
    expect(holds(ucum(1, 'g'), ucum(1, 'm'))).to.equal(true);
    expect(holds({ value: 2 }, { value: 1 })).to.equal(false);
    expect(holds({ value: 2, unit: 'tab' }, { value: 1, unit: 'tab' })).to.equal(false);
    expect(holds({ value: 2, unit: 'tab' }, { value: 1, unit: 'drop' })).to.equal(true);
  });
});

describe('ranges in two units', () => {
  const ranges = (length: number) => ({
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'a' },
    referenceRange: Array.from({ length }, () => ({
      low: { value: 1, system: 'http://unitsofmeasure.org', code: 'g' },
      high: { value: 2_000, system: 'http://unitsofmeasure.org', code: 'mg' },
    })),
    component: Array.from({ length }, () => ({
      code: { text: 'a' },
      valueRange: {
        low: { value: 1, system: 'http://unitsofmeasure.org', code: 'g' },
        high: { value: 2_000, system: 'http://unitsofmeasure.org', code: 'mg' },
      },
    })),
  });

  it('are compared a hundred times in one validation, and as often in the next of the same resource', () => {
    const most = ranges(50);
    for (let times = 0; times < 3; times += 1) expect(validateResource(most)).to.deep.equal([]);
    expect(() => validateResource(ranges(200))).to.throw(
      'at most 100 comparisons of quantities in different units',
    );
  });
});
