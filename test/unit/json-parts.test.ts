/** Parsing JSON text in parts gives the same result as parsing it all at once: values, literals, and faults. */
import { expect } from 'chai';
import fc from 'fast-check';
import { parseInParts, parseJson, printJson, readStored } from '#src/shared/json/json.ts';
import { atOnce } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { refusal } from '#test/support/refusal.ts';

function outcome(parse: () => { value: unknown }): string {
  try {
    return printJson(parse().value as never);
  } catch (error) {
    if (error instanceof Refusal) return error.kind;
    throw error;
  }
}

const same = (text: string): void => {
  expect(
    outcome(() => atOnce(parseInParts(text))),
    text.slice(0, 200),
  ).to.equal(outcome(() => parseJson(text)));
};

describe('a stored body', () => {
  it('is printed with the literals that it has', () => {
    const digits = fc.stringMatching(/^-?(?:0|[1-9]\d{0,18})(?:\.\d{1,10})?(?:[eE][+-]?\d)?$/);
    const literals = fc.oneof(digits, fc.constantFrom('-0', '0', '-0.0', '0.0000001', '-0.00000012', '1e21'));
    fc.assert(
      fc.property(fc.array(literals, { minLength: 1, maxLength: 3 }), (numbers) => {
        for (const body of [`{"a":[${numbers.join(',')}]}`, `{"a":${numbers[0]},"b":${numbers.at(-1)}}`]) {
          const { value, exact } = readStored(body);
          expect(printJson(value, exact)).to.equal(body);
        }
      }),
      { numRuns: 2_000 },
    );
  });
});

describe('JSON in parts', () => {
  it('is what it is at once, for any JSON and for what one character makes of it', () => {
    const texts = fc.tuple(
      fc.json({ maxDepth: 4 }).map((inner) => `{"a":[${inner},1.50,"x]",{"b":[1,2]}],"c":${inner},"d":[]}`),
      fc.nat(),
      fc.constantFrom('', ',', '[', ']', '{', '}', '"', ':', '1', ' '),
    );
    fc.assert(
      fc.property(texts, ([text, at, other]) => {
        same(text);
        const place = at % text.length;
        same(text.slice(0, place) + other + text.slice(place + 1));
      }),
      { numRuns: 500 },
    );
  });

  it('is what it is at once where lists are longer than a part', () => {
    const entry = `{"resource":{"value":1.50,"text":"${'a'.repeat(1_000)}","list":[1,[2]]}}`;
    const text = `{"entry":[${Array.from({ length: 1_000 }, () => entry)}],"x":[],"y":[ ],"z":{"w":[1]}}`;
    same(text);
    for (const wrong of [
      text.replace('}},', '}},,'),
      text.replace('[],', '[,],'),
      text.replace('"x":[]', '"x":[}'),
      text.slice(0, -1),
      `${text}]`,
      text.replace('"z"', '"x"'),
      text.replace('"value":1.50,', '"value":1.50,"value":1,'),
    ])
      expect(() => atOnce(parseInParts(wrong)), wrong.slice(-40)).to.throw(Refusal);
    const { value } = atOnce(parseInParts(text));
    expect(printJson(value)).to.equal(printJson(parseJson(text).value));
    expect(printJson(value)).to.contain('1.50');
  });

  it('keeps a text that looks like the mark of a number', () => {
    const text = '{"a":"number 0123 1.50","b":1.50,"__proto__":2.50}';
    expect(printJson(parseJson(text).value)).to.equal(text);
  });

  it('says in which line and column a fault is, however many lines there are', () => {
    const long = `${'\n'.repeat(2_000_000)} 1e1234567`;
    const [issue] = refusal(() => parseJson(long)).issues;
    expect(issue?.diagnostics).to.include('line 2000001, column 2 ');
  });
});
