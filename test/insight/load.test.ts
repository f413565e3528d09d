/** Large records: which patterns are searched for, what is reported, and that evidence is built only on request. */
import { expect } from 'chai';
import { Flights } from '#queries/database/flights.ts';
import { findPatterns } from '#src/insight/find.ts';
import { DAY, type Track } from '#src/insight/track.ts';
import { Random } from '#src/sandbox/random.ts';
import { atOnce, inSlices } from '#src/shared/load/slices.ts';

const START = Date.UTC(2024, 0, 1);

/** Returns series that vary together. */
function together(series: number, count: number): Track[] {
  const random = new Random('load');
  const common = Array.from({ length: count }, () => random.noise(1));
  return Array.from({ length: series }, (_, s) => ({
    codes: [{ system: 'http://loinc.org', code: `c${String(s).padStart(3, '0')}` }],
    unit: 'mg/dL',
    points: common.map((value, n) => {
      const at = START + n * DAY;
      return {
        ...{ at, date: new Date(at).toISOString(), offset: 0, value: value + random.noise(0.5) },
        ...{ bound: null, low: null, high: null },
        source: { fhir: `Observation/${s}-${n}`, version: 1, authorType: 'device' as const },
      };
    }),
  }));
}

describe('insight: large records', () => {
  it('pair the 40 longest of 60 series, tell the 50 strongest associations, and say so', () => {
    const { findings, warnings } = atOnce(findPatterns(together(60, 60), []));
    const pairs = findings.filter(({ codes }) => codes.length === 2);
    expect(pairs).to.have.length(50);
    expect(warnings).to.deep.equal([
      { kind: 'left_out', text: 'not paired: series beyond the 40 with the most values', count: 20 },
      {
        kind: 'left_out',
        text: 'not told: correlations of series beyond the 50 strongest',
        count: 780 - 50,
      },
    ]);
    const told = pairs.map(({ effect }) => Math.abs(effect.value));
    expect(Math.min(...told)).to.be.greaterThan(0.5);
    for (const { evidence } of pairs) expect(evidence).to.have.length(120);
  });

  it('make evidence anew each time, and the same', () => {
    const { findings } = atOnce(findPatterns(together(3, 60), []));
    const pair = findings.find(({ codes }) => codes.length === 2);
    expect(pair?.evidence).to.have.length(120);
    expect(pair?.evidence).not.to.equal(pair?.evidence);
    expect(pair?.evidence).to.deep.equal(pair?.evidence);
    expect(pair?.evidence.slice(0, 1)).to.deep.equal([
      {
        ...{ fhir: 'Observation/0-0', version: 1, at: '2024-01-01T00:00:00.000Z', unit: 'mg/dL' },
        ...{ value: pair?.evidence[0]?.value, comparator: null, author_type: 'device', role: 'supports' },
      },
    ]);
  });

  it('end when they are told to', async () => {
    const stop = new Error('stop');
    let slices = 0;
    const work = inSlices(findPatterns(together(60, 200), []), () => {
      slices += 1;
      if (slices === 3) throw stop;
    });
    expect(await work.catch((error: unknown) => error)).to.equal(stop);
  });
});

describe('flights', () => {
  it('do equal work once at a time, and end it only when all that wait have gone', async () => {
    const flights = new Flights<number>();
    let begun = 0;
    const gone = [false, false];
    const isGone: boolean[] = [];
    let land: (value: number) => void = () => undefined;
    const work = (areGone: () => boolean): Promise<number> => {
      begun += 1;
      return new Promise((resolve) => {
        land = (value) => {
          isGone.push(areGone());
          resolve(value);
        };
      });
    };
    const both = [0, 1].map((n) => flights.join('a', () => gone[n] === true, work));
    gone[0] = true;
    land(7);
    expect(await Promise.all(both)).to.deep.equal([7, 7]);
    expect([begun, isGone]).to.deep.equal([1, [false]]);
    const again = flights.join('a', () => true, work);
    land(8);
    expect(await again).to.equal(8);
    expect([begun, isGone]).to.deep.equal([2, [false, true]]);
  });

  it('forget work that failed', async () => {
    const flights = new Flights<string>();
    const failed = flights.join(
      'a',
      () => false,
      () => Promise.reject(new Error('broken')),
    );
    expect(await failed.catch((error: unknown) => String(error))).to.equal('Error: broken');
    expect(
      await flights.join(
        'a',
        () => false,
        async () => 'fine',
      ),
    ).to.equal('fine');
  });
});
