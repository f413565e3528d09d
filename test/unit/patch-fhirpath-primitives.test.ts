/**
 * FHIRPath Patch for primitives with extensions, which are stored next to the value
 * (https://hl7.org/fhir/R4/json.html#primitive).
 */
import { type Case, note, patient, testCases } from '#test/support/fhirpath-patch.ts';

const CASES: readonly Case[] = [
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
];

describe('FHIRPath Patch of primitives', () => testCases(CASES));
