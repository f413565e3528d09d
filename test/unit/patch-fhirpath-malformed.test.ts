/** Parameters that aren't a FHIRPath Patch, and paths that a patch doesn't accept (400). */
import { expect } from 'chai';
import { parseFhirPathPatch } from '#src/fhir/patch/fhirpath-patch.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { refusal } from '#test/support/refusal.ts';

describe('FHIRPath Patch, malformed', () => {
  const part = (name: string, members: JsonObject): JsonObject => ({ name, ...members });
  const document = (...parts: readonly JsonObject[]): JsonObject => ({
    resourceType: 'Parameters',
    parameter: [{ name: 'operation', part: [...parts] }],
  });
  const operations = (...parameter: readonly Json[]): JsonObject => ({
    resourceType: 'Parameters',
    parameter: [...parameter],
  });
  const many = (count: number): JsonObject => operations(...Array.from({ length: count }, () => 'x'));
  const type = (code: string): JsonObject => part('type', { valueCode: code });
  const path = part('path', { valueString: 'Patient' });
  const malformed: readonly [name: string, parameters: JsonObject, says: RegExp][] = [
    [
      'a parameter of another name',
      { resourceType: 'Parameters', parameter: [{ name: 'op', part: [type('delete'), path] }] },
      /^Parameters\.parameter\[0\]\.name must be `operation`/,
    ],
    [
      'an unknown member',
      { resourceType: 'Parameters', parameters: [] },
      /^Parameters has the unknown member `parameters`; did you mean `parameter`\?$/,
    ],
    [
      'parameters that are no array',
      { resourceType: 'Parameters', parameter: {} },
      /^Parameters\.parameter must be an array of operations/,
    ],
    ['implicit rules', { resourceType: 'Parameters', implicitRules: 'x' }, /implicitRules is not supported/],
    ['too many operations', many(1001), /^Parameters\.parameter has more than 1000 operations/],
    ['an operation that is no object', operations('x'), /^Parameters\.parameter\[0\] must be an object/],
    ['an operation without parts', operations({ name: 'operation' }), /\[0\]\.part is missing: it must be/],
    ['no parts', document(), /\[0\]\.part is empty/],
    [
      'an unknown member of an operation',
      operations({ name: 'operation', part: [path], parts: [] }),
      /\[0\] has the unknown member `parts`; did you mean `part`\?/,
    ],
    ['a part without a name', document({ valueCode: 'add' }), /\[0\]\.part\[0\]\.name is missing/],
    [
      'a part that is no object',
      operations({ name: 'operation', part: [1] }),
      /\.part\[0\] must be an object/,
    ],
    [
      'a value with parts that have no name',
      document(type('replace'), path, part('value', { part: [{ valueString: 'x' }] })),
      /\[0\]\.part\.where\(name='value'\)\.part\[0\]\.name is missing/,
    ],
    ['a type that is nearly one', document(type('replac'), path), /not replac; did you mean `replace`\?/],
    [
      'a part whose name is nearly right',
      document(type('delete'), path, part('pth', { valueString: 'x' })),
      /must not have a part pth; did you mean `path`\?/,
    ],
    ['no type', document(path), /needs a part type/],
    ['an unknown type', document(type('remove'), path), /must be of type add/],
    ['an inherited type', document(type('constructor'), path), /must be of type add/],
    ['no path', document(type('delete')), /needs a part path/],
    ['an empty path', document(type('delete'), part('path', { valueString: ' ' })), /needs a part path/],
    [
      'a path that is not FHIRPath',
      document(type('delete'), part('path', { valueString: 'Patient..x(' })),
      /is not valid FHIRPath/,
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
      'arithmetic',
      document(type('delete'), part('path', { valueString: 'component.where(value.value mod 7 = 1)' })),
      /uses arithmetic/,
    ],
    [
      'arithmetic in an index',
      document(type('delete'), part('path', { valueString: 'name[1 + 1]' })),
      /uses arithmetic/,
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
      /\(delete\) must not have a part index/,
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
      /is not a HumanName/,
    ],
  ];
  for (const [name, given, says] of malformed) {
    it(`calls ${name} malformed (400)`, () => {
      const thrown = refusal(() => parseFhirPathPatch(given));
      expect(thrown.status).to.equal(400);
      expect(thrown.message).to.match(says);
      expect(thrown.message).not.to.match(/Invalid input|Unrecognized|Too (?:small|big)/);
    });
  }
});
