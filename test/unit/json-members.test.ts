import { expect } from 'chai';
import fc from 'fast-check';
import { someMembers } from '#src/shared/json/json-members.ts';

describe('some members of a JSON object', () => {
  it('are those that parsing all of it gives', () => {
    const names = fc.constantFrom('a', 'code', 'status', 'note', '_text');
    const object = fc.dictionary(names, fc.jsonValue({ maxDepth: 4 }), { maxKeys: 5 });
    const wanted = new Set(['a', 'code', '_text']);
    fc.assert(
      fc.property(object, object, (one, other) => {
        const known = new Map();
        for (const each of [one, other, one]) {
          const all = JSON.parse(JSON.stringify(each));
          const some = Object.fromEntries(Object.entries(all).filter(([name]) => wanted.has(name)));
          expect(someMembers(JSON.stringify(each), wanted, known)).to.deep.equal(some);
        }
      }),
    );
  });

  it('are read past braces, commas and quotes in strings', () => {
    const text = '{"note":"a \\"}],{\\\\","code":{"x":"\\\\\\""},"n":-1.50e3,"last":[[],{}]}';
    const known = new Map();
    expect(someMembers(text, new Set(['code', 'n', 'last']), known)).to.deep.equal({
      code: { x: '\\"' },
      n: -1500,
      last: [[], {}],
    });
    expect(someMembers('{}', new Set(['a']), known)).to.deep.equal({});
  });

  it('are not read from a text with blanks between its tokens, or one that is cut off', () => {
    for (const text of [
      '{ "a":1}',
      '{"a":1 , "b":2}',
      '{"a":',
      '{"a":"x',
      '{"a":[1}',
      '[]',
      '',
      '{"a":1,}',
      '{"a" :1}',
    ]) {
      expect(someMembers(text, new Set(['b']), new Map()), text).to.equal(undefined);
    }
  });
});
