/** FHIRPath Patch beyond HL7's test cases: choices, paths, lists, anonymous types, literals. */
import { expect } from 'chai';
import { applyFhirPathPatch } from '#src/fhir/patch/fhirpath-apply.ts';
import { parseFhirPathPatch } from '#src/fhir/patch/fhirpath-patch.ts';
import { type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { atOnce } from '#src/shared/load/slices.ts';
import {
  type Case,
  identifiers,
  note,
  observation,
  parameters,
  patient,
  testCases,
} from '#test/support/fhirpath-patch.ts';

const CASES: readonly Case[] = [
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
  testCases(CASES);

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
    const patched = atOnce(applyFhirPathPatch(resource, parseFhirPathPatch(operations.value as JsonObject)));
    expect(printJson(patched)).to.equal(
      '{"resourceType":"Observation","component":[{"valueQuantity":{"value":1.50}}],"valueQuantity":{"value":2.00}}',
    );
  });
});
