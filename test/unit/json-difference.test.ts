import { expect } from 'chai';
import { isObject, type JsonObject, parseJson, printJson } from '#src/shared/json/json.ts';
import { differences } from '#src/shared/json/json-difference.ts';

const tree = (text: string): JsonObject => {
  const { value } = parseJson(text);
  if (!isObject(value)) throw new Error('no object');
  return value;
};

/** Returns `path: before → after`, as JSON. */
const lines = (before: string | undefined, after: string): string[] =>
  differences(before === undefined ? undefined : tree(before), tree(after)).map(
    (each) =>
      `${each.path}: ${each.before === undefined ? '' : printJson(each.before)} → ${each.after === undefined ? '' : printJson(each.after)}`,
  );

describe('the differences of two versions', () => {
  it('name each element with what it was and what it is', () => {
    const before =
      '{"active":true,"name":[{"family":"Sand","given":["Mira","A"]}],"birthDate":"1984","note":{"text":"x"}}';
    const after = '{"active":false,"name":[{"family":"Sand-Aune","given":["Mira"]}],"gender":"female"}';
    expect(lines(before, after)).to.deep.equal([
      'active: true → false',
      'name[0].family: "Sand" → "Sand-Aune"',
      'name[0].given[1]: "A" → ',
      'gender:  → "female"',
      'birthDate: "1984" → ',
      'note.text: "x" → ',
    ]);
  });

  it('of a first version are all its elements', () => {
    expect(lines(undefined, '{"a":{"b":[1,{"c":null}]},"d":[]}')).to.deep.equal([
      'a.b[0]:  → 1',
      'a.b[1].c:  → null',
      'd:  → []',
    ]);
  });

  it('keep what stands at the beginning and the end of a list apart from what was put between', () => {
    const list = (...items: readonly string[]): string => `{"x":[${items.join()}]}`;
    const [a, b, c, d] = ['{"v":"a"}', '{"v":"b"}', '{"v":"c"}', '{"v":"d"}'];
    expect(lines(list(a, b), list(d, a, b))).to.deep.equal(['x[0].v:  → "d"']);
    expect(lines(list(a, b, c), list(a, c))).to.deep.equal(['x[1].v: "b" → ']);
    expect(lines(list(a, b, c), list(a, d, c))).to.deep.equal(['x[1].v: "b" → "d"']);
    expect(lines(list(a), list(a, a))).to.deep.equal(['x[1].v:  → "a"']);
    expect(lines(list(a, b), list(b, a))).to.deep.equal(['x[0].v: "a" → "b"', 'x[1].v: "b" → "a"']);
  });

  it('see the literals of numbers, and no order of members', () => {
    expect(lines('{"v":1.50,"u":"g"}', '{"u":"g","v":1.5}')).to.deep.equal(['v: 1.50 → 1.5']);
    expect(lines('{"v":[{"a":1,"b":2}]}', '{"v":[{"b":2,"a":1}]}')).to.deep.equal([]);
  });

  it('of elements of another kind are the new and the old', () => {
    expect(lines('{"v":{"a":1}}', '{"v":"a"}')).to.deep.equal(['v:  → "a"', 'v.a: 1 → ']);
    expect(lines('{"toString":1}', '{"constructor":1}')).to.deep.equal([
      'constructor:  → 1',
      'toString: 1 → ',
    ]);
  });
});
