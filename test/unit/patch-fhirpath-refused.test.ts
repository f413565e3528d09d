/** FHIRPath Patches that cannot be applied to a resource (422). */
import { expect } from 'chai';
import type { JsonObject } from '#src/shared/json/json.ts';
import { apply, identifiers, type Operation, patient, third } from '#test/support/fhirpath-patch.ts';
import { refusal } from '#test/support/refusal.ts';

describe('FHIRPath Patch, refused', () => {
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
      /already has gender/,
    ],
    [
      'adding a second choice',
      patient({ deceasedBoolean: true }),
      { type: 'add', path: 'Patient', name: 'deceased', value: { valueDateTime: '2020' } },
      /already has deceased/,
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
      /name must be a HumanName/,
    ],
    [
      'a primitive where an object belongs',
      patient(),
      { type: 'add', path: 'Patient', name: 'name', value: { valueString: 'n' } },
      /name must be a HumanName/,
    ],
    [
      'text where a boolean belongs',
      patient(),
      { type: 'add', path: 'Patient', name: 'active', value: { valueString: 'true' } },
      /active must be a boolean/,
    ],
    [
      'a type that a choice lacks',
      patient(),
      { type: 'add', path: 'Patient', name: 'deceased', value: { valueString: 'no' } },
      /deceased has a value of the wrong type/,
    ],
    [
      'parts where a primitive belongs',
      patient(),
      { type: 'add', path: 'Patient', name: 'gender', value: { part: [{ name: 'a', valueCode: 'b' }] } },
      /gender must be a code/,
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
      /gender occurs twice/,
    ],
    [
      'a resource where a value belongs',
      patient(),
      { type: 'add', path: 'Patient', name: 'name', value: { resource: patient() } },
      /name must be a HumanName/,
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
});
