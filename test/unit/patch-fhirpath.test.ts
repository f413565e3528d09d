/**
 * FHIRPath Patch (https://hl7.org/fhir/R4/fhirpatch.html): the situations of HL7's published test cases in JSON, and
 * choices, primitives with extensions, literals and everything that is refused.
 */
import { expect } from 'chai';
import { applyFhirPathPatch } from '#src/fhir/patch/fhirpath-apply.ts';
import { parseFhirPathPatch } from '#src/fhir/patch/fhirpath-patch.ts';
import { type Json, type JsonObject, parseJson, printJson } from '#src/shared/json.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** `value` is the members of the part: `{ valueDate: '1930-01-01' }`. */
interface Operation {
  readonly type: string;
  readonly path?: string;
  readonly name?: string;
  readonly index?: number;
  readonly source?: number;
  readonly destination?: number;
  readonly value?: JsonObject;
}

function parameters(...operations: readonly Operation[]): JsonObject {
  return {
    resourceType: 'Parameters',
    parameter: operations.map((operation) => ({
      name: 'operation',
      part: Object.entries(operation).map(([name, given]: [string, Json]): JsonObject => {
        if (name === 'value') return { name, ...(given as JsonObject) };
        if (name === 'type') return { name, valueCode: given };
        return typeof given === 'number' ? { name, valueInteger: given } : { name, valueString: given };
      }),
    })),
  };
}

function apply(resource: JsonObject, ...operations: readonly Operation[]): JsonObject {
  return applyFhirPathPatch(resource, parseFhirPathPatch(parameters(...operations)));
}

function refusal(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}

const patient = (members: JsonObject = {}): JsonObject => ({ resourceType: 'Patient', ...members });
const observation = (members: JsonObject = {}): JsonObject => ({ resourceType: 'Observation', ...members });
const identifiers = (...values: readonly number[]): JsonObject =>
  patient({ identifier: values.map((n) => ({ system: 'http://example.org', value: `value ${n}` })) });
const third: JsonObject = { valueIdentifier: { system: 'http://example.org', value: 'value 3' } };
const note = (text: string): JsonObject => ({
  extension: [{ url: 'http://example.org/note', valueString: text }],
});

type Case = readonly [name: string, before: JsonObject, operations: readonly Operation[], after: JsonObject];

const HL7: readonly Case[] = [
  ['no difference', patient({ birthDate: '1920-01-01' }), [], patient({ birthDate: '1920-01-01' })],
  [
    'replace primitive',
    patient({ birthDate: '1920-01-01' }),
    [{ type: 'replace', path: 'Patient.birthDate', value: { valueDate: '1930-01-01' } }],
    patient({ birthDate: '1930-01-01' }),
  ],
  [
    'delete primitive',
    patient({ birthDate: '1920-01-01' }),
    [{ type: 'delete', path: 'Patient.birthDate' }],
    patient(),
  ],
  [
    'add primitive',
    patient(),
    [{ type: 'add', path: 'Patient', name: 'birthDate', value: { valueDate: '1930-01-01' } }],
    patient({ birthDate: '1930-01-01' }),
  ],
  [
    'replace nested primitive #1',
    patient({ contact: [{ name: { text: 'a name' }, gender: 'male' }] }),
    [{ type: 'replace', path: 'Patient.contact[0].gender', value: { valueCode: 'female' } }],
    patient({ contact: [{ name: { text: 'a name' }, gender: 'female' }] }),
  ],
  [
    'replace nested primitive #2',
    patient({ contact: [{ name: { text: 'a name' }, gender: 'male' }] }),
    [{ type: 'replace', path: 'Patient.contact[0].name.text', value: { valueString: 'the name' } }],
    patient({ contact: [{ name: { text: 'the name' }, gender: 'male' }] }),
  ],
  [
    'delete nested primitive #1',
    patient({ contact: [{ name: { text: 'a name' }, gender: 'male' }] }),
    [{ type: 'delete', path: 'Patient.contact[0].gender' }],
    patient({ contact: [{ name: { text: 'a name' } }] }),
  ],
  [
    'delete nested primitive #2, which leaves nothing of the name',
    patient({ contact: [{ name: { text: 'a name' }, gender: 'male' }] }),
    [{ type: 'delete', path: 'Patient.contact[0].name.text' }],
    patient({ contact: [{ gender: 'male' }] }),
  ],
  [
    'add nested primitive',
    patient({ contact: [{ name: { text: 'a name' } }] }),
    [{ type: 'add', path: 'Patient.contact[0]', name: 'gender', value: { valueCode: 'male' } }],
    patient({ contact: [{ name: { text: 'a name' }, gender: 'male' }] }),
  ],
  [
    'add complex',
    patient(),
    [
      {
        type: 'add',
        path: 'Patient',
        name: 'maritalStatus',
        value: { valueCodeableConcept: { text: 'married' } },
      },
    ],
    patient({ maritalStatus: { text: 'married' } }),
  ],
  [
    'replace complex',
    patient({ maritalStatus: { id: '1', text: 'married' } }),
    [
      {
        type: 'replace',
        path: 'Patient.maritalStatus',
        value: { valueCodeableConcept: { id: '2', text: 'not married' } },
      },
    ],
    patient({ maritalStatus: { id: '2', text: 'not married' } }),
  ],
  [
    'delete complex',
    patient({ maritalStatus: { text: 'married' } }),
    [{ type: 'delete', path: 'Patient.maritalStatus' }],
    patient(),
  ],
  [
    'add anonymous type',
    patient(),
    [
      {
        type: 'add',
        path: 'Patient',
        name: 'contact',
        value: { part: [{ name: 'name', valueHumanName: { text: 'a name' } }] },
      },
    ],
    patient({ contact: [{ name: { text: 'a name' } }] }),
  ],
  [
    'delete anonymous type',
    patient({ contact: [{ name: { text: 'a name' } }] }),
    [{ type: 'delete', path: 'Patient.contact[0]' }],
    patient(),
  ],
  ['list unchanged', identifiers(1, 2), [], identifiers(1, 2)],
  [
    'list unchanged, contents changed',
    identifiers(1, 2),
    [
      { type: 'replace', path: 'Patient.identifier[0].value', value: { valueString: 'value 2' } },
      { type: 'replace', path: 'Patient.identifier[1].value', value: { valueString: 'value 1' } },
    ],
    identifiers(2, 1),
  ],
  [
    'add to list',
    identifiers(1, 2),
    [{ type: 'insert', path: 'Patient.identifier', index: 2, value: third }],
    identifiers(1, 2, 3),
  ],
  [
    'insert in list #1',
    identifiers(1, 2),
    [{ type: 'insert', path: 'Patient.identifier', index: 1, value: third }],
    identifiers(1, 3, 2),
  ],
  [
    'insert in list #2',
    identifiers(1, 2),
    [{ type: 'insert', path: 'Patient.identifier', index: 0, value: third }],
    identifiers(3, 1, 2),
  ],
  [
    'delete from list #1',
    identifiers(1, 2, 3),
    [{ type: 'delete', path: 'Patient.identifier[0]' }],
    identifiers(2, 3),
  ],
  [
    'delete from list #2',
    identifiers(1, 2, 3),
    [{ type: 'delete', path: 'Patient.identifier[1]' }],
    identifiers(1, 3),
  ],
  [
    'delete from list #3',
    identifiers(1, 2, 3),
    [{ type: 'delete', path: 'Patient.identifier[2]' }],
    identifiers(1, 2),
  ],
  [
    'reorder list #1',
    identifiers(1, 2, 3, 4),
    [{ type: 'move', path: 'Patient.identifier', source: 3, destination: 1 }],
    identifiers(1, 4, 2, 3),
  ],
  [
    'reorder list #2',
    identifiers(1, 2, 3, 4),
    [{ type: 'move', path: 'Patient.identifier', source: 3, destination: 0 }],
    identifiers(4, 1, 2, 3),
  ],
  [
    'reorder list #3',
    identifiers(1, 2, 3, 4),
    [{ type: 'move', path: 'Patient.identifier', source: 3, destination: 2 }],
    identifiers(1, 2, 4, 3),
  ],
  [
    'reorder list #4',
    identifiers(1, 2, 3, 4),
    [{ type: 'move', path: 'Patient.identifier', source: 0, destination: 3 }],
    identifiers(2, 3, 4, 1),
  ],
  [
    'reorder list #5 and #6',
    identifiers(1, 2, 3, 4),
    [
      { type: 'move', path: 'Patient.identifier', source: 1, destination: 0 },
      { type: 'move', path: 'Patient.identifier', source: 2, destination: 1 },
      { type: 'move', path: 'Patient.identifier', source: 3, destination: 2 },
    ],
    identifiers(2, 3, 4, 1),
  ],
  [
    'operation on missing element #2: add begins a list',
    patient(),
    [{ type: 'add', path: 'Patient', name: 'identifier', value: third }],
    identifiers(3),
  ],
  [
    'full resource: narrative and a name',
    patient({
      text: { status: 'generated', div: '<div>1</div>' },
      name: [{ family: 'Chalmers', given: ['Peter', 'James'] }, { given: ['Jim'] }],
    }),
    [
      { type: 'replace', path: 'Patient.text.div', value: { valueString: '<div>2</div>' } },
      { type: 'replace', path: 'Patient.name[0].family', value: { valueString: 'Chalmers1' } },
    ],
    patient({
      text: { status: 'generated', div: '<div>2</div>' },
      name: [{ family: 'Chalmers1', given: ['Peter', 'James'] }, { given: ['Jim'] }],
    }),
  ],
];

const OURS: readonly Case[] = [
  [
    'replaces a choice and with it its type',
    observation({ valueQuantity: { value: 1 }, _valueQuantity: {} }),
    [{ type: 'replace', path: 'Observation.value', value: { valueString: 'high' } }],
    observation({ valueString: 'high' }),
  ],
  [
    'replaces a choice by its type',
    observation({ valueString: 'high', _valueString: note('x') }),
    [{ type: 'replace', path: 'Observation.value.ofType(string)', value: { valueString: 'low' } }],
    observation({ valueString: 'low' }),
  ],
  [
    'replaces a choice named with its type',
    observation({ valueString: 'high' }),
    [{ type: 'replace', path: 'Observation.valueString', value: { valueInteger: 3 } }],
    observation({ valueInteger: 3 }),
  ],
  [
    'adds a choice under the name that its type gives',
    observation(),
    [{ type: 'add', path: 'Observation', name: 'value', value: { valueQuantity: { value: 7 } } }],
    observation({ valueQuantity: { value: 7 } }),
  ],
  [
    'adds a choice under its full name',
    patient(),
    [{ type: 'add', path: 'Patient', name: 'deceasedBoolean', value: { valueBoolean: false } }],
    patient({ deceasedBoolean: false }),
  ],
  [
    'deletes a choice, extensions and all',
    patient({ deceasedDateTime: '2020', _deceasedDateTime: note('about'), active: true }),
    [{ type: 'delete', path: 'Patient.deceased' }],
    patient({ active: true }),
  ],
  [
    'deletes nothing when nothing is there',
    patient(),
    [{ type: 'delete', path: 'Patient.birthDate' }],
    patient(),
  ],
  [
    'deletes nothing when no item matches',
    identifiers(1),
    [{ type: 'delete', path: "Patient.identifier.where(value = 'value 9')" }],
    identifiers(1),
  ],
  [
    'deletes the one item that matches',
    identifiers(1, 2, 3),
    [
      {
        type: 'delete',
        path: "Patient.identifier.where(system = 'http://example.org' and value = 'value 2')",
      },
    ],
    identifiers(1, 3),
  ],
  [
    'takes a path that begins below the resource',
    patient({ gender: 'male' }),
    [{ type: 'replace', path: 'gender', value: { valueCode: 'other' } }],
    patient({ gender: 'other' }),
  ],
  [
    'takes exists() in criteria',
    patient({ name: [{ family: 'a' }, { family: 'b', given: ['c'] }] }),
    [{ type: 'delete', path: 'Patient.name.where(given.exists())' }],
    patient({ name: [{ family: 'a' }] }),
  ],
  [
    'takes first() and last()',
    identifiers(1, 2, 3),
    [
      { type: 'replace', path: 'Patient.identifier.first().value', value: { valueString: 'value 8' } },
      { type: 'delete', path: 'Patient.identifier.last()' },
    ],
    identifiers(8, 2),
  ],
  [
    'takes extension() and its value',
    patient(note('a')),
    [
      {
        type: 'replace',
        path: "Patient.extension('http://example.org/note').value",
        value: { valueBoolean: true },
      },
    ],
    patient({ extension: [{ url: 'http://example.org/note', valueBoolean: true }] }),
  ],
  [
    'replaces a primitive together with its extensions',
    patient({ birthDate: '1920', _birthDate: note('old') }),
    [{ type: 'replace', path: 'Patient.birthDate', value: { valueDate: '1930' } }],
    patient({ birthDate: '1930' }),
  ],
  [
    'adds a primitive with extensions',
    patient(),
    [
      {
        type: 'add',
        path: 'Patient',
        name: 'birthDate',
        value: { valueDate: '1930', _valueDate: note('new') },
      },
    ],
    patient({ birthDate: '1930', _birthDate: note('new') }),
  ],
  [
    'adds a primitive that is nothing but an extension',
    patient(),
    [{ type: 'add', path: 'Patient', name: 'gender', value: { _valueCode: note('asked, unknown') } }],
    patient({ _gender: note('asked, unknown') }),
  ],
  [
    'deletes a primitive that is nothing but an extension',
    patient({ _gender: note('unknown'), active: true }),
    [{ type: 'delete', path: 'Patient.gender' }],
    patient({ active: true }),
  ],
  [
    'adds an extension to a primitive',
    patient({ birthDate: '1930' }),
    [
      {
        type: 'add',
        path: 'Patient.birthDate',
        name: 'extension',
        value: { valueExtension: { url: 'u', valueCode: 'c' } },
      },
    ],
    patient({ birthDate: '1930', _birthDate: { extension: [{ url: 'u', valueCode: 'c' }] } }),
  ],
  [
    'deletes the only extension of a primitive and leaves its value',
    patient({ birthDate: '1930', _birthDate: note('x') }),
    [{ type: 'delete', path: 'Patient.birthDate.extension' }],
    patient({ birthDate: '1930' }),
  ],
  [
    'replaces the value of an extension of a primitive',
    patient({ birthDate: '1930', _birthDate: note('x') }),
    [{ type: 'replace', path: 'Patient.birthDate.extension[0].value', value: { valueString: 'y' } }],
    patient({ birthDate: '1930', _birthDate: note('y') }),
  ],
  [
    'keeps extensions in step when an item of a list of primitives goes',
    patient({ name: [{ given: ['a', 'b', 'c'], _given: [null, note('b'), note('c')] }] }),
    [{ type: 'delete', path: 'Patient.name[0].given[1]' }],
    patient({ name: [{ given: ['a', 'c'], _given: [null, note('c')] }] }),
  ],
  [
    'keeps extensions in step when an item is inserted',
    patient({ name: [{ given: ['a', 'c'], _given: [null, note('c')] }] }),
    [{ type: 'insert', path: 'Patient.name[0].given', index: 1, value: { valueString: 'b' } }],
    patient({ name: [{ given: ['a', 'b', 'c'], _given: [null, null, note('c')] }] }),
  ],
  [
    'keeps extensions in step when items move',
    patient({ name: [{ given: ['a', 'b', 'c'], _given: [note('a'), null, null] }] }),
    [{ type: 'move', path: 'Patient.name.given', source: 0, destination: 2 }],
    patient({ name: [{ given: ['b', 'c', 'a'], _given: [null, null, note('a')] }] }),
  ],
  [
    'adds an extension to an item of a list of primitives',
    patient({ name: [{ given: ['a', 'b'] }] }),
    [
      {
        type: 'add',
        path: 'Patient.name[0].given[1]',
        name: 'extension',
        value: { valueExtension: { url: 'u', valueCode: 'c' } },
      },
    ],
    patient({ name: [{ given: ['a', 'b'], _given: [null, { extension: [{ url: 'u', valueCode: 'c' }] }] }] }),
  ],
  [
    'takes div for an element, not for a division',
    patient({ text: { status: 'generated', div: '.div' } }),
    [{ type: 'replace', path: "Patient.text.where($this.div = '.div').div", value: { valueString: 'x' } }],
    patient({ text: { status: 'generated', div: 'x' } }),
  ],
  [
    'inserts into a list that is not there yet',
    patient({ contact: [{ gender: 'male' }] }),
    [
      {
        type: 'insert',
        path: 'Patient.contact.telecom',
        index: 0,
        value: { valueContactPoint: { system: 'phone' } },
      },
    ],
    patient({ contact: [{ gender: 'male', telecom: [{ system: 'phone' }] }] }),
  ],
  [
    'adds one item to a list that is there',
    patient({ name: [{ family: 'a' }] }),
    [{ type: 'add', path: 'Patient.name[0]', name: 'given', value: { valueString: 'b' } }],
    patient({ name: [{ family: 'a', given: ['b'] }] }),
  ],
  [
    'builds anonymous types in anonymous types, lists and choices',
    observation(),
    [
      {
        type: 'add',
        path: 'Observation',
        name: 'component',
        value: {
          part: [
            { name: 'code', valueCodeableConcept: { text: 'c' } },
            { name: 'value', valueQuantity: { value: 5 } },
            {
              name: 'referenceRange',
              part: [
                { name: 'low', valueQuantity: { value: 1 } },
                { name: 'text', valueString: 't' },
              ],
            },
            { name: 'interpretation', valueCodeableConcept: { text: 'i' } },
            { name: 'interpretation', valueCodeableConcept: { text: 'j' } },
          ],
        },
      },
    ],
    observation({
      component: [
        {
          code: { text: 'c' },
          valueQuantity: { value: 5 },
          referenceRange: [{ low: { value: 1 }, text: 't' }],
          interpretation: [{ text: 'i' }, { text: 'j' }],
        },
      ],
    }),
  ],
  [
    'replaces an anonymous type',
    patient({ contact: [{ gender: 'male' }, { gender: 'female' }] }),
    [
      {
        type: 'replace',
        path: 'Patient.contact[1]',
        value: { part: [{ name: 'gender', valueCode: 'other' }] },
      },
    ],
    patient({ contact: [{ gender: 'male' }, { gender: 'other' }] }),
  ],
  [
    'reaches into Timing.repeat of a dosage',
    { resourceType: 'MedicationRequest', dosageInstruction: [{ timing: { repeat: { frequency: 1 } } }] },
    [
      {
        type: 'replace',
        path: 'MedicationRequest.dosageInstruction.timing.repeat.frequency',
        value: { valuePositiveInt: 2 },
      },
      {
        type: 'add',
        path: 'MedicationRequest.dosageInstruction.timing.repeat',
        name: 'bounds',
        value: { valueDuration: { value: 3 } },
      },
      {
        type: 'add',
        path: 'MedicationRequest.dosageInstruction.timing',
        name: 'event',
        value: { valueDateTime: '2024-01-01' },
      },
    ],
    {
      resourceType: 'MedicationRequest',
      dosageInstruction: [
        { timing: { repeat: { frequency: 2, boundsDuration: { value: 3 } }, event: ['2024-01-01'] } },
      ],
    },
  ],
  [
    'follows a definition that refers to another (component.referenceRange)',
    observation({ component: [{ code: { text: 'c' } }] }),
    [
      {
        type: 'add',
        path: 'Observation.component[0]',
        name: 'referenceRange',
        value: { part: [{ name: 'text', valueString: 't' }] },
      },
      {
        type: 'add',
        path: 'Observation.component[0].referenceRange[0]',
        name: 'appliesTo',
        value: { valueCodeableConcept: { text: 'x' } },
      },
    ],
    observation({
      component: [{ code: { text: 'c' }, referenceRange: [{ text: 't', appliesTo: [{ text: 'x' }] }] }],
    }),
  ],
  [
    'changes a contained resource, and adds one',
    patient({ contained: [{ resourceType: 'Organization', id: 'o', name: 'before' }] }),
    [
      { type: 'replace', path: "Patient.contained.where(id = 'o').name", value: { valueString: 'after' } },
      { type: 'add', path: 'Patient.contained[0]', name: 'alias', value: { valueString: 'short' } },
      {
        type: 'add',
        path: 'Patient',
        name: 'contained',
        value: { resource: { resourceType: 'Organization', id: 'p' } },
      },
    ],
    patient({
      contained: [
        { resourceType: 'Organization', id: 'o', name: 'after', alias: ['short'] },
        { resourceType: 'Organization', id: 'p' },
      ],
    }),
  ],
  [
    'adds to meta',
    patient({ meta: { versionId: '1' } }),
    [{ type: 'add', path: 'Patient.meta', name: 'tag', value: { valueCoding: { code: 't' } } }],
    patient({ meta: { versionId: '1', tag: [{ code: 't' }] } }),
  ],
  [
    'removes whatever a deletion leaves empty, up to the resource',
    patient({ contact: [{ name: { given: ['a'] } }] }),
    [{ type: 'delete', path: 'Patient.contact.name.given' }],
    patient(),
  ],
  [
    'sees what the operations before it did',
    patient(),
    [
      { type: 'add', path: 'Patient', name: 'name', value: { valueHumanName: { family: 'f' } } },
      { type: 'add', path: "Patient.name.where(family = 'f')", name: 'given', value: { valueString: 'g' } },
    ],
    patient({ name: [{ family: 'f', given: ['g'] }] }),
  ],
];

describe('FHIRPath Patch', () => {
  for (const [title, cases] of [
    ['HL7', HL7],
    ['ours', OURS],
  ] as const) {
    for (const [name, before, operations, after] of cases) {
      it(`${title}: ${name}`, () => {
        const copy = structuredClone(before);
        expect(apply(before, ...operations)).to.deep.equal(after);
        expect(before).to.deep.equal(copy);
      });
    }
  }

  it('keeps literals, and compares them exactly in criteria', () => {
    const text =
      '{"resourceType":"Observation","component":[{"valueQuantity":{"value":1.50}},{"valueQuantity":{"value":100000000000000.25}}]}';
    const resource = parseJson(text).value as JsonObject;
    const operations = parseJson(
      printJson(
        parameters(
          { type: 'add', path: 'Observation', name: 'value', value: { valueInteger: 1 } },
          { type: 'delete', path: 'Observation.component.where(value.value > 100000000000000.24)' },
        ),
      ).replace('"valueInteger":1', '"valueQuantity":{"value":2.00}'),
    );
    const patched = applyFhirPathPatch(resource, parseFhirPathPatch(operations.value as JsonObject));
    expect(printJson(patched)).to.equal(
      '{"resourceType":"Observation","component":[{"valueQuantity":{"value":1.50}}],"valueQuantity":{"value":2.00}}',
    );
  });

  const refused: readonly [name: string, before: JsonObject, operation: Operation, says: RegExp][] = [
    [
      'HL7: operation on missing element #1',
      patient({ identifier: [{ use: 'official', value: '123' }] }),
      {
        type: 'add',
        path: "Patient.identifier.where(use = 'official').period",
        name: 'end',
        value: { valueDate: '2021-12-01' },
      },
      /parameter\[0\] \(add Patient\.identifier.*\): the path gives nothing/,
    ],
    [
      'deleting several',
      identifiers(1, 2),
      { type: 'delete', path: 'Patient.identifier' },
      /2 elements; only one/,
    ],
    ['deleting the resource', patient(), { type: 'delete', path: 'Patient' }, /the resource itself/],
    [
      'replacing nothing',
      patient(),
      { type: 'replace', path: 'Patient.gender', value: { valueCode: 'male' } },
      /gives nothing/,
    ],
    [
      'replacing several',
      identifiers(1, 2),
      { type: 'replace', path: 'Patient.identifier', value: third },
      /2 elements instead of one/,
    ],
    [
      'replacing the resource',
      patient(),
      { type: 'replace', path: 'Patient', value: { resource: patient() } },
      /the resource itself/,
    ],
    [
      'adding what is there and does not repeat',
      patient({ gender: 'male' }),
      { type: 'add', path: 'Patient', name: 'gender', value: { valueCode: 'male' } },
      /has gender already/,
    ],
    [
      'adding a second choice',
      patient({ deceasedBoolean: true }),
      { type: 'add', path: 'Patient', name: 'deceased', value: { valueDateTime: '2020' } },
      /has deceased already/,
    ],
    [
      'adding an element that R4 lacks',
      patient(),
      { type: 'add', path: 'Patient', name: 'nickname', value: { valueString: 'n' } },
      /a Patient, which has no element nickname/,
    ],
    [
      'adding to several',
      identifiers(1, 2),
      { type: 'add', path: 'Patient.identifier', name: 'value', value: { valueString: 'v' } },
      /2 elements/,
    ],
    [
      'a value of the wrong type',
      patient(),
      { type: 'add', path: 'Patient', name: 'name', value: { valueAddress: { text: 'a' } } },
      /name takes a HumanName/,
    ],
    [
      'a primitive where an object belongs',
      patient(),
      { type: 'add', path: 'Patient', name: 'name', value: { valueString: 'n' } },
      /name takes a HumanName/,
    ],
    [
      'text where a boolean belongs',
      patient(),
      { type: 'add', path: 'Patient', name: 'active', value: { valueString: 'true' } },
      /active takes a boolean/,
    ],
    [
      'a type that a choice lacks',
      patient(),
      { type: 'add', path: 'Patient', name: 'deceased', value: { valueString: 'no' } },
      /deceased takes another type/,
    ],
    [
      'parts where a primitive belongs',
      patient(),
      { type: 'add', path: 'Patient', name: 'gender', value: { part: [{ name: 'a', valueCode: 'b' }] } },
      /gender takes a code/,
    ],
    [
      'parts with a name that the type lacks',
      patient(),
      { type: 'add', path: 'Patient', name: 'contact', value: { part: [{ name: 'nick', valueCode: 'b' }] } },
      /Patient\.contact, which has no element nick/,
    ],
    [
      'a part twice that does not repeat',
      patient(),
      {
        type: 'add',
        path: 'Patient',
        name: 'contact',
        value: {
          part: [
            { name: 'gender', valueCode: 'male' },
            { name: 'gender', valueCode: 'male' },
          ],
        },
      },
      /gender is given twice/,
    ],
    [
      'a resource where a value belongs',
      patient(),
      { type: 'add', path: 'Patient', name: 'name', value: { resource: patient() } },
      /name takes a HumanName/,
    ],
    [
      'inserting past the end',
      identifiers(1),
      { type: 'insert', path: 'Patient.identifier', index: 2, value: third },
      /a list of 1; the index is 2/,
    ],
    [
      'inserting into what does not repeat',
      patient({ gender: 'male' }),
      { type: 'insert', path: 'Patient.gender', index: 0, value: { valueCode: 'male' } },
      /gives no list/,
    ],
    [
      'inserting into a part of a list',
      identifiers(1, 2),
      { type: 'insert', path: 'Patient.identifier.first()', index: 0, value: third },
      /whole of one list/,
    ],
    [
      'inserting into two lists',
      patient({ name: [{ given: ['a'] }, { given: ['b'] }] }),
      { type: 'insert', path: 'Patient.name.given', index: 0, value: { valueString: 'c' } },
      /whole of one list/,
    ],
    [
      'inserting below nothing',
      patient(),
      { type: 'insert', path: 'Patient.contact.telecom', index: 0, value: { valueContactPoint: {} } },
      /no list/,
    ],
    [
      'moving from past the end',
      identifiers(1, 2),
      { type: 'move', path: 'Patient.identifier', source: 2, destination: 0 },
      /a list of 2; source is 2/,
    ],
    [
      'moving to past the end',
      identifiers(1, 2),
      { type: 'move', path: 'Patient.identifier', source: 0, destination: 2 },
      /destination 2/,
    ],
    [
      'another type than the resource',
      patient(),
      { type: 'add', path: 'Observation', name: 'status', value: { valueCode: 'final' } },
      /gives nothing/,
    ],
    [
      'a computed value',
      patient({ gender: 'male' }),
      { type: 'replace', path: 'Patient.gender.upper()', value: { valueCode: 'x' } },
      /computed value/,
    ],
    ['a constant', patient(), { type: 'delete', path: "'text'" }, /computed value/],
    [
      'a path that fails on this resource',
      identifiers(1, 2),
      { type: 'delete', path: 'Patient.identifier.single()' },
      /cannot be evaluated/,
    ],
  ];
  for (const [name, before, operation, says] of refused) {
    it(`refuses ${name} (422)`, () => {
      const given = refusal(() => apply(before, operation));
      expect(given.status).to.equal(422);
      expect(given.message).to.match(says);
      expect(given.issues[0]?.expression).to.equal('Parameters.parameter[0]');
    });
  }

  it('names the operation that cannot be applied, and applies none of the others', () => {
    const before = patient({ gender: 'male' });
    const given = refusal(() =>
      apply(
        before,
        { type: 'delete', path: 'Patient.gender' },
        { type: 'replace', path: 'Patient.gender', value: { valueCode: 'male' } },
      ),
    );
    expect(given.issues[0]?.expression).to.equal('Parameters.parameter[1]');
    expect(before).to.deep.equal(patient({ gender: 'male' }));
  });

  const part = (name: string, members: JsonObject): JsonObject => ({ name, ...members });
  const document = (...parts: readonly JsonObject[]): JsonObject => ({
    resourceType: 'Parameters',
    parameter: [{ name: 'operation', part: [...parts] }],
  });
  const type = (code: string): JsonObject => part('type', { valueCode: code });
  const path = part('path', { valueString: 'Patient' });
  const malformed: readonly [name: string, parameters: JsonObject, says: RegExp][] = [
    [
      'a parameter of another name',
      { resourceType: 'Parameters', parameter: [{ name: 'op', part: [type('delete'), path] }] },
      /parameter\[0\]/,
    ],
    ['an unknown member', { resourceType: 'Parameters', parameters: [] }, /Parameters/],
    ['no type', document(path), /needs a part type/],
    ['an unknown type', document(type('remove'), path), /must be of type add/],
    ['an inherited type', document(type('constructor'), path), /must be of type add/],
    ['no path', document(type('delete')), /needs a part path/],
    ['an empty path', document(type('delete'), part('path', { valueString: ' ' })), /needs a part path/],
    [
      'a path that is not FHIRPath',
      document(type('delete'), part('path', { valueString: 'Patient..x(' })),
      /is not FHIRPath/,
    ],
    [
      'resolve()',
      document(type('delete'), part('path', { valueString: 'Patient.managingOrganization.resolve().name' })),
      /uses resolve\(\)/,
    ],
    [
      'descendants()',
      document(type('delete'), part('path', { valueString: 'descendants()' })),
      /uses descendants\(\)/,
    ],
    [
      'a regular expression',
      document(type('delete'), part('path', { valueString: "Patient.name.where(family.matches('(a+)+b'))" })),
      /uses matches\(\)/,
    ],
    [
      'criteria nested too deep',
      document(type('delete'), part('path', { valueString: 'a.where(b.where(c))' })),
      /nests criteria/,
    ],
    [
      'a variable',
      document(type('delete'), part('path', { valueString: '%resource.name' })),
      /uses a variable/,
    ],
    [
      'a variable in criteria',
      document(type('delete'), part('path', { valueString: 'name.where(%`vs-x`.exists())' })),
      /uses a variable/,
    ],
    [
      'a path that is too long',
      document(type('delete'), part('path', { valueString: `a${'.a'.repeat(600)}` })),
      /longer than 1000/,
    ],
    ['a part twice', document(type('delete'), path, path), /has the part path twice/],
    [
      'a part too many',
      document(type('delete'), path, part('index', { valueInteger: 1 })),
      /\(delete\) takes no part index/,
    ],
    [
      'add without a name',
      document(type('add'), path, part('value', { valueString: 'x' })),
      /needs a part name/,
    ],
    [
      'add with a name that is none',
      document(
        type('add'),
        path,
        part('name', { valueString: '__proto__' }),
        part('value', { valueString: 'x' }),
      ),
      /the name of an element/,
    ],
    [
      'add without a value',
      document(type('add'), path, part('name', { valueString: 'gender' })),
      /needs a part value/,
    ],
    [
      'insert without an index',
      document(type('insert'), path, part('value', { valueString: 'x' })),
      /needs a part index/,
    ],
    [
      'an index below 0',
      document(
        type('insert'),
        path,
        part('index', { valueInteger: -1 }),
        part('value', { valueString: 'x' }),
      ),
      /needs a part index/,
    ],
    [
      'move without a destination',
      document(type('move'), path, part('source', { valueInteger: 0 })),
      /needs a part destination/,
    ],
    [
      'two values',
      document(type('replace'), path, part('value', { valueString: 'x', valueCode: 'y' })),
      /one value\[x\]/,
    ],
    ['an empty value', document(type('replace'), path, part('value', {})), /one value\[x\]/],
    [
      'a value of a type that R4 lacks',
      document(type('replace'), path, part('value', { valueNothing: 'x' })),
      /no value\[x\] of R4/,
    ],
    [
      'a value that is not of its type',
      document(type('replace'), path, part('value', { valueHumanName: 'x' })),
      /does not hold a HumanName/,
    ],
  ];
  for (const [name, given, says] of malformed) {
    it(`calls ${name} malformed (400)`, () => {
      const thrown = refusal(() => parseFhirPathPatch(given));
      expect(thrown.status).to.equal(400);
      expect(thrown.message).to.match(says);
    });
  }
});
