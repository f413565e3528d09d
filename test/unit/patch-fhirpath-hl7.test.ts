/** FHIRPath Patch (https://hl7.org/fhir/R4/fhirpatch.html): the situations in HL7's published test cases, in JSON. */
import { type Case, identifiers, patient, testCases, third } from '#test/support/fhirpath-patch.ts';

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

describe('FHIRPath Patch, as in HL7’s test cases', () => testCases(HL7));
