/** Resources that validation accepts, and mutations that it must reject. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { type ElementDefinition, jsonName, typeDefinition } from '#src/fhir/definitions/tables.ts';
import { elementPath } from '#src/fhir/element-path.ts';
import { isResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import { validateResource } from '#src/fhir/validate.ts';
import { isObject, type Json, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { EXAMPLES } from '#test/support/fhir-examples.ts';
import { syntheaFolder } from '#test/support/synthea.ts';

function issuesOf(resource: JsonObject): string[] {
  return validateResource(resource).map(({ code, diagnostics }) => `${code}: ${diagnostics}`);
}

const HL7 = 'http://hl7.org/fhir/StructureDefinition';

describe('validation of good resources', () => {
  for (const type of TYPE_NAMES) {
    it(`passes the example of ${type}`, () => {
      expect(issuesOf(EXAMPLES[type])).to.deep.equal([]);
    });
  }

  it('passes every resource of the Synthea bundles', function () {
    const folder = syntheaFolder();
    if (folder === undefined) this.skip();
    const faults: string[] = [];
    let resources = 0;
    for (const file of readdirSync(folder).filter((name) => name.endsWith('.json'))) {
      const { value: bundle } = parseJson(readFileSync(join(folder, file), 'utf8'));
      if (!isObject(bundle) || !Array.isArray(bundle.entry)) continue;
      for (const entry of bundle.entry) {
        if (!isObject(entry) || !isObject(entry.resource)) continue;
        resources += 1;
        faults.push(...issuesOf(entry.resource));
      }
      faults.push(...issuesOf(bundle));
    }
    expect(resources).to.be.greaterThan(1000);
    expect(faults).to.deep.equal([]);
  });

  const GOOD: readonly (readonly [string, JsonObject])[] = [
    [
      'a list whose values have only extensions',
      { name: [{ _given: [{ extension: [{ url: 'http://x.org/u', valueCode: 'c' }] }] }] },
    ],
    ['an id beside a value', { gender: 'male', _gender: { id: 'g' } }],
    ['nulls at the end of ids and extensions', { name: [{ given: ['a'], _given: [null, null] }] }],
    ['relative urls within an extension', { extension: [{ url: 'urn:x', extension: [part(part())] }] }],
    [
      'extensions that R4 defines, by their types',
      {
        name: [
          { family: 'x', _family: { extension: [{ url: `${HL7}/humanname-own-prefix`, valueString: 'x' }] } },
        ],
        address: [{ city: 'x', extension: [{ url: `${HL7}/geolocation`, extension: [latitude()] }] }],
      },
    ],
    ['nulls beside values', { name: [{ given: ['a', 'b'], _given: [null, null] }] }],
    ['text beyond the basic plane', { name: [{ family: '𝒳 é 漢\n\t' }] }],
    ['a leap day and a leap second', { birthDate: '2000-02-29', deceasedDateTime: '2016-12-31T23:59:60Z' }],
    ['a year, a month', { birthDate: '1974', deceasedDateTime: '2016-12' }],
    ['references of every form', { generalPractitioner: references() }],
    [
      'a null flavour for a bound concept',
      { maritalStatus: { extension: [{ url: 'http://x.org/u', valueCode: 'unknown' }] } },
    ],
    ['padded base64 over lines', { photo: [{ contentType: 'image/png', data: 'YWJj\nZGU=' }] }],
    [
      'narrative without a namespace, with entities and images',
      { text: { status: 'additional', div: markup() } },
    ],
  ];
  for (const [what, members] of GOOD) {
    it(`passes ${what}`, () => {
      expect(issuesOf({ resourceType: 'Patient', ...members })).to.deep.equal([]);
    });
  }

  function part(inner?: JsonObject): JsonObject {
    return { url: 'u', ...(inner === undefined ? { valueString: 'x' } : { extension: [inner] }) };
  }
  function latitude(): JsonObject {
    return { url: 'latitude', valueDecimal: 1.5 };
  }
  function references(): Json[] {
    const texts = ['Practitioner/a', 'Organization/b/_history/2', 'https://x.org/any/thing', 'urn:uuid:1'];
    return [
      ...texts.map((reference) => ({ reference })),
      { display: 'x' },
      { reference: 'Practitioner?identifier=x|y' },
    ];
  }
  function markup(): string {
    return '<div><!-- c --><p title="a &lt; b">&apos;x &#169;&#xA0;<br/><img src="#i" alt=\'y\'/></p></div>';
  }

  it('passes a required primitive that has only an extension, where no codes are required', () => {
    const { recorded: _, ...provenance } = EXAMPLES.Provenance;
    const _recorded = { extension: [{ url: `${HL7}/data-absent-reason`, valueCode: 'unknown' }] };
    expect(issuesOf({ ...provenance, _recorded })).to.deep.equal([]);
  });

  it('passes resources in a Bundle and in Parameters, each with local references of its own', () => {
    const { MedicationRequest } = EXAMPLES;
    const entry = [{ resource: MedicationRequest }, { resource: EXAMPLES.Patient }];
    expect(issuesOf({ resourceType: 'Bundle', type: 'collection', entry })).to.deep.equal([]);
    const parameter = [{ name: 'resource', resource: MedicationRequest }];
    expect(issuesOf({ resourceType: 'Parameters', parameter })).to.deep.equal([]);
    const lone = { ...MedicationRequest, contained: undefined } as unknown as JsonObject;
    const faulty = validateResource({
      resourceType: 'Bundle',
      type: 'collection',
      entry: [...entry, { resource: lone }],
    });
    expect(faulty.map(({ expression }) => expression)).to.deep.equal([
      'Bundle.entry[2].resource.medication.ofType(Reference)',
    ]);
  });

  it('lets a contained resource refer to its container alone', () => {
    const contained = [{ resourceType: 'Provenance', ...provenanceOf('#') }];
    expect(issuesOf({ resourceType: 'Patient', contained })).to.deep.equal([]);
    const issues = validateResource({
      resourceType: 'Patient',
      contained: [{ resourceType: 'Provenance', ...provenanceOf('#x') }],
    });
    expect(issues.map(({ expression }) => expression)).to.deep.equal([
      'Patient.contained[0].target[0]',
      'Patient.contained[0]',
    ]);
  });

  function provenanceOf(reference: string): JsonObject {
    return { target: [{ reference }], recorded: '2020-01-01T00:00:00Z', agent: [{ who: { display: 'x' } }] };
  }

  it('tells of every reference, contained ones included', () => {
    const seen: string[] = [];
    const sink = {
      reference: (path: string, holder: JsonObject) => seen.push(`${path} ${String(holder.reference)}`),
    };
    const extension = [{ url: 'http://x.org/u', valueReference: { reference: 'Patient/x' } }];
    const contained = [
      { resourceType: 'Medication', id: 'med', manufacturer: { reference: 'Organization/o' } },
    ];
    validateResource({ ...EXAMPLES.MedicationRequest, contained, extension }, 'MedicationRequest', sink);
    expect(seen).to.have.members([
      'MedicationRequest.medication.ofType(Reference) #med',
      'MedicationRequest.contained[0].manufacturer Organization/o',
      'MedicationRequest.subject Patient/p1',
      'MedicationRequest.requester Practitioner/a',
      'MedicationRequest.extension[0].value.ofType(Reference) Patient/x',
    ]);
  });
});

/** A member of an example: how to access it, and what R4 says about it. */
interface Place {
  readonly path: string;
  /** Returns the object that contains the member. */
  readonly holder: (root: JsonObject) => JsonObject;
  readonly key: string;
  readonly element: ElementDefinition;
}

/** Returns every member of a resource, at any depth, that is part of the resource's definition. */
function placesIn(root: JsonObject, type: string, path: string, holder: Place['holder']): Place[] {
  const object = holder(root);
  return typeDefinition(type).elements.flatMap((element) =>
    element.types.flatMap(({ code }) => {
      const key = jsonName(element, code);
      const value = object[key];
      if (value === undefined) return [];
      const typed = elementPath(`${type}.${key}`).slice(type.length);
      const here: Place = { path: path + typed, holder, key, element };
      const items = Array.isArray(value) ? value : [value];
      const below = items.flatMap((item, index) => {
        if (!isObject(item)) return [];
        const at = Array.isArray(value) ? `[${index}]` : '';
        const inside = (from: JsonObject): JsonObject =>
          objectAt(holder(from)[key], at === '' ? undefined : index);
        const itemType = code === 'Resource' ? String(item.resourceType) : code;
        return placesIn(root, itemType, `${path}${typed}${at}`, inside);
      });
      return [here, ...below];
    }),
  );
}

function objectAt(value: Json | undefined, index: number | undefined): JsonObject {
  const item = index !== undefined && Array.isArray(value) ? value[index] : value;
  if (!isObject(item)) throw new Error('the example has another form');
  return item;
}

/** Returns a path without the type of a choice, because a missing choice has no type. */
const withoutType = (path: string): string => path.replace(/\.ofType\(\w+\)$/, '');

describe('mutations of good resources', () => {
  const all = TYPE_NAMES.map((type) => ({
    type,
    places: placesIn(EXAMPLES[type], type, type, (root) => root),
  }));

  for (const { type, places } of all) {
    const required = places.filter(({ element }) => element.required);
    if (required.length === 0) continue;
    it(`${type} without any of its ${required.length} required elements is caught`, () => {
      for (const { path: typed, holder, key } of required) {
        const path = withoutType(typed);
        const mutant = structuredClone(EXAMPLES[type]);
        delete holder(mutant)[key];
        const found = validateResource(mutant, type).map((issue) => `${issue.code} ${issue.expression}`);
        expect(found, path).to.include(`required ${path}`);
      }
    });
  }

  const anywhere = fc.constantFrom(
    ...all.flatMap(({ type, places }) => places.map((place) => ({ type, place }))),
  );

  it('any member of another JSON type is caught at its place', () => {
    fc.assert(
      fc.property(anywhere, ({ type, place }) => {
        const mutant = structuredClone(EXAMPLES[type]);
        const holder = place.holder(mutant);
        holder[place.key] = place.element.list ? { x: 1 } : [holder[place.key] ?? 1];
        const found = validateResource(mutant, type).map((issue) => `${issue.code} ${issue.expression}`);
        expect(found).to.include(`structure ${place.path}`);
      }),
      { numRuns: 500 },
    );
  });

  it('any member under an unknown name is caught', () => {
    fc.assert(
      fc.property(anywhere, fc.stringMatching(/^[a-z]{12}$/), ({ type, place }, name) => {
        const mutant = structuredClone(EXAMPLES[type]);
        place.holder(mutant)[name] = 'x';
        const parent = withoutType(place.path).replace(/\.[^.]*$/, '');
        const found = validateResource(mutant, type).map((issue) => `${issue.code} ${issue.expression}`);
        expect(found).to.include(`structure ${parent}.${name}`);
      }),
      { numRuns: 500 },
    );
  });

  it('no JSON whatever makes validation throw', () => {
    fc.assert(
      fc.property(anywhere, fc.jsonValue(), ({ type, place }, value) => {
        const mutant = structuredClone(EXAMPLES[type]);
        place.holder(mutant)[place.key] = value as Json;
        expect(isResourceType(type) && validateResource(mutant, type)).to.be.an('array');
      }),
      { numRuns: 1000 },
    );
  });
});
