import { expect } from 'chai';
import fc from 'fast-check';
import { ExcerptReader } from '#src/context/excerpt.ts';
import { Scan } from '#src/context/scan.ts';
import { randomSeed } from '#test/support/scale.ts';

const WORDS = [
  ...['status', 'code', 'valueString', 'value', 'valueA', 'component', 'modifierExtension', 'a'],
  ...['"valueB', '\\"component":', '"modifierExtension":', '{', '},', '\\', 'é\u2028日', ''],
];
const word = fc.oneof(fc.constantFrom(...WORDS), fc.string());
const { value: json } = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    word,
    fc.double({ noNaN: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.constantFrom(...WORDS), tie('value'), { maxKeys: 4 }),
  ),
}));
const resource = fc.dictionary(word, json, { maxKeys: 8 });

describe('one pass over a stored resource', () => {
  const names = ['status', 'code', 'value', 'é\u2028日'];

  it('finds the members that parsing it gives, and what its text has anywhere', () => {
    const scan = new Scan(names);
    fc.assert(
      fc.property(resource, (each) => {
        const text = JSON.stringify(each);
        const bytes = Buffer.from(text);
        expect(scan.read(bytes)).to.equal(true);
        const found = names.flatMap((name, n) =>
          scan.to(n) === 0 ? [] : [[name, JSON.parse(bytes.toString('utf8', scan.from(n), scan.to(n)))]],
        );
        const wanted = JSON.parse(text) as object;
        expect(Object.fromEntries(found)).to.deep.equal(
          Object.fromEntries(Object.entries(wanted).filter(([name]) => names.includes(name))),
        );
        expect(scan.isModified, text).to.equal(text.includes('"modifierExtension":'));
        expect(scan.mayHaveValue, text).to.equal(/"value[A-Z]/.test(text) || text.includes('"component":'));
      }),
      { numRuns: 500, seed: randomSeed() },
    );
  });

  it('says so of a text with blanks between its tokens, which is then read as a whole', () => {
    const version = { type: 'Observation', id: 'x', version: 1 };
    const body = { status: 'final', code: { text: 'a b' }, effectiveDateTime: '2026-01-02', valueInteger: 3 };
    const spaced = Buffer.from(JSON.stringify({ ...body, modifierExtension: [] }, null, 1));
    expect(new Scan(names).read(spaced)).to.equal(false);
    expect(new Scan(names).read(Buffer.from('{"status":"final"'))).to.equal(false);
    const glance = new ExcerptReader().at(version, spaced);
    expect(glance).to.deep.include({
      mayHaveValue: true,
      dated: { date: '2026-01-02', at: Date.UTC(2026, 0, 2), means: 'measured' },
    });
    expect(glance?.leftOut).to.be.a('string');
    expect(glance?.value).to.deep.include({ status: 'final', code: { text: 'a b' } });
  });
});
