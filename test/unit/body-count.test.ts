/** The values in bodies are counted from their bytes, however the bytes are divided into pieces: docs/limits.md. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type BodyCount, JsonCount, SignCount } from '#src/http/body-count.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** Counts a text in pieces, and returns the outcome. */
function outcome(count: BodyCount, text: string, cuts: readonly number[] = []): string {
  const bytes = Buffer.from(text);
  const places = [0, ...cuts.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  try {
    for (const [index, from] of places.entries()) count.add(bytes.subarray(from, places[index + 1]));
    return 'accepted';
  } catch (error) {
    if (error instanceof Refusal) return error.kind;
    throw error;
  }
}

/** Returns the number of JSON values, including containers, plus one for each opened container, as the service's count does. */
function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  const members = Object.values(value);
  return 1 + Math.max(0, members.length - 1) + members.reduce((sum, one) => sum + valuesOf(one), 0);
}

describe('The count of a body', () => {
  it('is that of the JSON, wherever its bytes are cut', () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 5 }), fc.array(fc.nat(), { maxLength: 4 }), (text, cuts) => {
        const count = new JsonCount({ values: 1_000_000 });
        expect(outcome(count, text, cuts)).to.equal('accepted');
        expect(count.values, text).to.equal(1 + valuesOf(JSON.parse(text)));
      }),
    );
  });

  it('is one of the whole, of each item of an outer list, and of the items', () => {
    const text = `{"entry":[${Array.from({ length: 10 }, () => '{"a":[1,2,3]}')}]}`;
    const of = (values: number, most: number, ofItem: number) =>
      outcome(new JsonCount({ values, entries: { most, values: ofItem } }), text, [20, 50]);
    expect(of(1_000, 10, 10)).to.equal('accepted');
    expect(of(1_000, 10, 3)).to.equal('too_large');
    expect(of(1_000, 9, 10)).to.equal('too_large');
    expect(of(10, 10, 10)).to.equal('too_large');
    expect(outcome(new JsonCount({ values: 10 }), text)).to.equal('too_large');
    expect(outcome(new JsonCount({ values: 100 }), text)).to.equal('accepted');
    expect(outcome(new JsonCount({ values: 100 }), `[${text}]`)).to.equal('accepted');
  });

  it('sees nothing in strings, and refuses nesting over 100', () => {
    const count = () => new JsonCount({ values: 2, entries: { most: 1, values: 2 } });
    const text = '"[,{\\",\\\\\\",[[{"';
    const long = '[,{'.repeat(20);
    const texts = [text, `"${long}\\"${long}\\\\\\",${long}\\\\"`, `"${'\\\\'.repeat(40)}\\"[,"`];
    for (const one of texts)
      for (let at = 0; at < one.length; at += 1) expect(outcome(count(), one, [at])).to.equal('accepted');
    // After a string, values are counted again.
    for (const one of texts)
      for (let at = 0; at < one.length; at += 1)
        expect(outcome(count(), `[${one},1,2]`, [at + 1])).to.equal('too_large');
    expect(outcome(new JsonCount({ values: 1_000 }), '['.repeat(101))).to.equal('malformed');
    expect(outcome(new JsonCount({ values: 1_000 }), '['.repeat(100))).to.equal('accepted');
  });

  it('is one of separators and line ends in texts', () => {
    expect(outcome(new SignCount(), 'a b1'.repeat(500_000))).to.equal('accepted');
    for (const sign of ['|', ',', '\t', '\r', '\n', '~'])
      expect(outcome(new SignCount(), sign.repeat(1_000_001), [9]), sign).to.equal('too_large');
  });
});
