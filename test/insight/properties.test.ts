/** Properties of findings and conversions for generated values. */
import { expect } from 'chai';
import fc from 'fast-check';
import { findPatterns } from '#src/insight/find.ts';
import type { Finding } from '#src/insight/finding.ts';
import { DAY, inOrder, type Point, type Track } from '#src/insight/track.ts';
import { findConverter } from '#src/insight/units.ts';
import { atOnce } from '#src/shared/load/slices.ts';
import { randomSeed } from '#test/support/scale.ts';

const START = Date.UTC(2024, 0, 1, 8);
const LOINC = 'http://loinc.org';

function pointAt(code: string, n: number, day: number, value: number, version = 1): Point {
  const at = START + day * DAY;
  return {
    ...{ at, date: new Date(at).toISOString(), offset: 0, value, bound: null, low: null, high: 6 },
    source: { fhir: `Observation/${code}-${n}`, version, authorType: 'device' },
  };
}

const track = (code: string, points: readonly Point[]): Track => ({
  codes: [{ system: LOINC, code }],
  unit: 'mmol/L',
  points: inOrder(points),
});

/** Generates values with a trend, a step or neither, and in half of the cases with a gap. */
const values = (code: string) =>
  fc
    .record({
      count: fc.integer({ min: 5, max: 45 }),
      slope: fc.constantFrom(0, 0.2, -0.3),
      step: fc.constantFrom(0, 4),
      gap: fc.constantFrom(0, 20),
      noise: fc.array(fc.double({ min: -1, max: 1, noNaN: true }), { minLength: 45, maxLength: 45 }),
    })
    .map(({ count, slope, step, gap, noise }) =>
      Array.from({ length: count }, (_, n) => {
        const isLate = n >= count / 2;
        return pointAt(
          code,
          n,
          n + (isLate ? gap : 0),
          5 + n * slope + (isLate ? step : 0) + (noise[n] ?? 0),
        );
      }),
    );

const findingsOf = (tracks: readonly Track[]): readonly Finding[] =>
  atOnce(findPatterns(tracks, [])).findings;

describe('insight: properties', () => {
  it('does not depend on the order in which values arrived', () => {
    const records = fc.tuple(values('a'), values('b')).chain(([a, b]) =>
      fc.record({
        a: fc.constant(a),
        b: fc.constant(b),
        // All values, in a different order.
        mixedA: fc.shuffledSubarray(a, { minLength: a.length, maxLength: a.length }),
        mixedB: fc.shuffledSubarray(b, { minLength: b.length, maxLength: b.length }),
      }),
    );
    let found = 0;
    fc.assert(
      fc.property(records, ({ a, b, mixedA, mixedB }) => {
        const findings = findingsOf([track('a', a), track('b', b)]);
        found += findings.length;
        expect(findingsOf([track('a', mixedA), track('b', mixedB)])).to.deep.equal(findings);
      }),
      { numRuns: 100, seed: randomSeed() },
    );
    expect(found).to.be.greaterThan(50);
  });

  it('changes exactly the findings that rest on a corrected value', () => {
    const records = fc.tuple(
      values('a'),
      values('b'),
      fc.nat(),
      fc.double({ min: -20, max: 20, noNaN: true }),
    );
    let kept = 0;
    let changed = 0;
    fc.assert(
      fc.property(records, ([a, b, which, value]) => {
        const n = which % a.length;
        const corrected = a.map((point, k) =>
          k === n ? { ...point, value, source: { ...point.source, version: 2 } } : point,
        );
        const before = findingsOf([track('a', a), track('b', b)]);
        const after = findingsOf([track('a', corrected), track('b', b)]);
        const fhir = a[n]?.source.fhir;
        const restsOnIt = ({ evidence }: Finding): boolean => evidence.some((each) => each.fhir === fhir);
        const without = (all: readonly Finding[]) => all.filter((each) => !restsOnIt(each));
        const isOfB = ({ codes }: Finding): boolean => codes.every(({ code }) => code === 'b');
        // Findings based only on other values (in the other series, or in gaps elsewhere) are byte-for-byte the same.
        expect(without(after).filter(isOfB)).to.deep.equal(without(before).filter(isOfB));
        const gaps = (all: readonly Finding[]) => without(all).filter(({ kind }) => kind === 'gap');
        expect(gaps(after)).to.deep.equal(gaps(before));
        // Findings based on the old version are gone.
        const ids = new Set(before.filter(restsOnIt).map(({ finding_id: id }) => id));
        expect(after.filter(({ finding_id: id }) => ids.has(id))).to.deep.equal([]);
        for (const each of after.filter(restsOnIt))
          expect(
            each.evidence.filter((one) => one.fhir === fhir).map(({ version }) => version),
          ).to.deep.equal([2]);
        kept += without(before).length;
        changed += ids.size;
      }),
      { numRuns: 200, seed: randomSeed() },
    );
    expect(kept).to.be.greaterThan(20);
    expect(changed).to.be.greaterThan(20);
  });

  it('converts units back and forth without changing more than the last digits', () => {
    const pairs = [
      ['mg/dL', 'mmol/L', 180.156],
      ['umol/L', 'mg/dL', 113.12],
      ['mm[Hg]', 'kPa', undefined],
      ['Cel', '[degF]', undefined],
      ['kg', '[lb_av]', undefined],
      ['10*3/uL', '10*9/L', undefined],
      ['%', '1', undefined],
    ] as const;
    fc.assert(
      fc.property(
        fc.constantFrom(...pairs),
        fc.double({ min: 0.001, max: 1e6, noNaN: true }),
        ([from, to, mass], value) => {
          const back = findConverter(to, from, mass)?.(findConverter(from, to, mass)?.(value) ?? Number.NaN);
          expect(Math.abs((back ?? Number.NaN) - value)).to.be.at.most(1e-8 * Math.max(300, value));
        },
      ),
      { numRuns: 500, seed: randomSeed() },
    );
  });

  it('converts temperatures to what people write', () => {
    for (const [fahrenheit, celsius] of [
      [98.6, 37],
      [99.5, 37.5],
      [32, 0],
      [104, 40],
      [-40, -40],
    ] as const) {
      expect(findConverter('[degF]', 'Cel', undefined)?.(fahrenheit)).to.equal(celsius);
      expect(findConverter('Cel', '[degF]', undefined)?.(celsius)).to.equal(fahrenheit);
    }
    expect(findConverter('Cel', 'K', undefined)?.(36.6)).to.equal(309.75);
  });

  it('never converts what would need a guess', () => {
    for (const [from, to] of [
      ['mg/dL', 'mmol/L'],
      ['%', 'mmol/mol'],
      ['meq/L', 'mmol/L'],
      ['mL/min/{1.73_m2}', 'mL/min'],
      ['[iU]/L', 'U/L'],
      ['mg/g{creat}', 'mg/g'],
      ['mmHg', 'mm[Hg]'],
    ] as const)
      expect(findConverter(from, to, undefined), `${from} to ${to}`).to.equal(undefined);
  });
});
