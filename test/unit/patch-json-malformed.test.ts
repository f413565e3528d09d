/** Invalid JSON Patch documents: the status is 400, and every fault is reported. */
import { expect } from 'chai';
import { parseJsonPatch } from '#src/fhir/patch/json-patch.ts';
import type { Json } from '#src/shared/json/json.ts';
import { refusal } from '#test/support/refusal.ts';

describe('JSON Patch, malformed', () => {
  const malformed: readonly [name: string, patch: Json, says: RegExp][] = [
    ['an object', { op: 'add' }, /array of operations/],
    ['an operation that is no object', ['add'], /operation 0/],
    ['an unknown op', [{ op: 'insert', path: '/a', value: 1 }], /operation 0: op must be add/],
    ['a missing op', [{ path: '/a' }], /operation 0: op must be/],
    ['a missing path', [{ op: 'remove' }], /operation 0: path must be a JSON Pointer/],
    [
      'a missing value',
      [
        { op: 'test', path: '/a', value: 1 },
        { op: 'add', path: '/a' },
      ],
      /operation 1: value is missing/,
    ],
    ['a missing from', [{ op: 'copy', path: '/a' }], /operation 0: from must be a JSON Pointer/],
    [
      'a path without its slash',
      [{ op: 'remove', path: 'a' }],
      /operation 0: path is not a JSON Pointer, for example \/name\/0\/family/,
    ],
    ['a tilde that escapes nothing', [{ op: 'remove', path: '/a~2' }], /not a JSON Pointer/],
  ];
  for (const [name, patch, says] of malformed) {
    it(`calls ${name} malformed (400)`, () => {
      const given = refusal(() => parseJsonPatch(patch));
      expect(given.status).to.equal(400);
      expect(given.message).to.match(says);
    });
  }

  it('names every malformed operation', () => {
    const given = refusal(() =>
      parseJsonPatch([{ op: 'x' }, { op: 'remove', path: '/a' }, { op: 'remove' }]),
    );
    expect(given.issues.map((issue) => issue.diagnostics.slice(0, 22))).to.deep.equal([
      'JSON Patch operation 0',
      'JSON Patch operation 2',
    ]);
  });
});
