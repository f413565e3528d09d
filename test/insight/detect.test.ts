/**
 * Findings that aren't planted in the judged set: out-of-range runs, rhythms, medications; minimum numbers of values; wording.
 */
import { expect } from 'chai';
import { unitText } from '#src/clinical/reading/numbers/quantity.ts';
import type { Start } from '#src/insight/detect/starts.ts';
import { findPatterns } from '#src/insight/find.ts';
import type { Finding } from '#src/insight/finding.ts';
import { DAY, inOrder, type Point, type Track } from '#src/insight/track.ts';
import { writeTitle } from '#src/insight/wording.ts';
import { Random } from '#src/sandbox/random.ts';
import { atOnce } from '#src/shared/load/slices.ts';

/** A Monday, at midnight UTC. */
const START = Date.UTC(2024, 0, 1);
const LOINC = 'http://loinc.org';

interface Given {
  readonly day: number;
  readonly value: number;
  readonly offset?: number;
  readonly bound?: '<' | '>';
  readonly range?: readonly [low: number | null, high: number | null];
}

function track(values: readonly Given[], code = '2345-7'): Track {
  const points = values.map(({ day, value, offset = 0, bound, range = [null, null] }, n): Point => {
    const at = START + Math.round(day * DAY);
    return {
      ...{ at, date: new Date(at).toISOString(), offset, value, bound: bound ?? null },
      ...{ low: range[0], high: range[1] },
      source: { fhir: `Observation/${code}-${n}`, version: 1, authorType: 'device' },
    };
  });
  return { codes: [{ system: LOINC, code }], unit: 'mg/dL', points: inOrder(points) };
}

const find = (tracks: readonly Track[], starts: readonly Start[] = []): readonly Finding[] =>
  atOnce(findPatterns(tracks, starts)).findings;
const list = (count: number, each: (n: number) => Given): Given[] =>
  Array.from({ length: count }, (_, n) => each(n));

describe('insight: detectors', () => {
  const noise = new Random('detectors');
  const wavering = (): number => noise.noise(1);

  it('tell four values in a row beyond their own ranges, but not three, nor values that may be within', () => {
    const values = (above: number) =>
      list(12, (n) => ({ day: n * 7, value: n < 12 - above ? 90 : 120 + n, range: [70, 99] }));
    expect(find([track(values(3))]).filter(({ kind }) => kind === 'out_of_range')).to.deep.equal([]);
    const [run] = find([track(values(4))]).filter(({ kind }) => kind === 'out_of_range');
    expect(run).to.include({ direction: 'above', confidence: 0.9375 });
    expect(run?.effect.value).to.equal(30.5);
    expect(run?.evidence).to.have.length(4);
    expect(run?.window.from).to.equal(new Date(START + 56 * DAY).toISOString());
    // Each value is compared with its own range.
    const moving = list(12, (n) => ({ day: n * 7, value: 100 + n, range: [70, 99 + n * 2] as const }));
    expect(find([track(moving)]).filter(({ kind }) => kind === 'out_of_range')).to.deep.equal([]);
    const bounded = list(12, (n) => ({
      day: n * 7,
      value: 69,
      bound: '>' as const,
      range: [70, 99] as const,
    }));
    expect(find([track(bounded)]).filter(({ kind }) => kind === 'out_of_range')).to.deep.equal([]);
    const below = list(12, (n) => ({ day: n * 7, value: 70, bound: '<' as const, range: [70, 99] as const }));
    expect(find([track(below)]).map(({ direction }) => direction)).to.deep.equal(['below']);
  });

  it('tell a rhythm of the week and of the day, in the offsets of the values', () => {
    const weekly = list(140, (n) => ({ day: n + 0.4, value: 90 + (n % 7 >= 5 ? 8 : 0) + wavering() }));
    const week = find([track(weekly)]);
    expect(week.map(({ kind, method }) => [kind, method.includes('day of the week')])).to.deep.equal([
      ['correlation', true],
    ]);
    expect(week[0]?.effect.value).to.be.closeTo(8, 1.5);
    // At seven in the morning and in the evening in Berlin. In UTC, the values fall into the same two blocks each day, too.
    const daily = list(120, (n) => ({
      day: Math.floor(n / 2) + (n % 2 === 0 ? 6 : 18) / 24,
      value: 90 + (n % 2 === 0 ? 0 : 6) + wavering(),
      offset: 60,
    }));
    expect(find([track(daily)]).map(({ method }) => method.includes('four hours'))).to.deep.equal([true]);
    // Dates without times don't provide an hour.
    const dated = track(daily);
    const points = dated.points.map((point) => ({ ...point, date: point.date.slice(0, 10) }));
    expect(find([{ ...dated, points }])).to.deep.equal([]);
  });

  it('tell that values differ after the start of a medication, with its statement as evidence', () => {
    const start: Start = {
      code: { system: 'http://www.whocc.no/atc', code: 'A10BA02' },
      date: '2024-07-01',
      time: START / DAY + 182,
      source: { fhir: 'MedicationStatement/1', version: 3, authorType: 'practitioner' },
    };
    const values = list(40, (n) => ({ day: n * 9, value: (n * 9 < 182 ? 150 : 120) + 3 * wavering() }));
    const found = find([track(values)], [start]);
    const after = found.find(({ codes }) => codes.length === 2);
    expect(after).to.include({ kind: 'correlation', direction: 'down' });
    expect(after?.effect).to.include({ since: '2024-07-01', unit: 'mg/dL' });
    expect(after?.effect.value).to.be.closeTo(-30, 2);
    expect(after?.evidence[0]).to.include({ fhir: 'MedicationStatement/1', version: 3 });
    const late = { ...start, time: start.time + 170, date: '2024-12-18' };
    expect(find([track(values)], [late]).filter(({ codes }) => codes.length === 2)).to.deep.equal([]);
  });

  it('claim nothing below the least number of values', () => {
    const rising = (count: number) => track(list(count, (n) => ({ day: n * 7, value: 100 + n })));
    expect(find([rising(7)])).to.deep.equal([]);
    expect(find([rising(8)]).map(({ kind }) => kind)).to.deep.equal(['trend']);
    expect(find([])).to.deep.equal([]);
    expect(find([track(list(300, (n) => ({ day: n, value: 5 })))])).to.deep.equal([]);
  });

  it('work with the medians of days of a long series, and name all their values', () => {
    const long = track(list(9_000, (n) => ({ day: n / 12, value: 100 + n / 3_000 + 10 * wavering() })));
    const [trend] = find([long]);
    expect(trend).to.include({ kind: 'trend', direction: 'up' });
    expect(trend?.effect.value).to.be.closeTo(3, 0.6);
    expect(trend?.evidence).to.have.length(9_000);
    expect(trend?.evidence.some(({ role }) => role === 'contradicts')).to.equal(true);
  });

  it('use words that observe', () => {
    const start: Start = {
      code: { system: 'http://www.whocc.no/atc', code: 'A10BA02' },
      ...{ date: '2024-07-01', time: START / DAY + 182 },
      source: { fhir: 'MedicationStatement/1', version: 1, authorType: 'import' },
    };
    const a = list(60, (n) => ({
      day: n * 6 + (n > 50 ? 60 : 0),
      value: (n < 30 ? 150 : 120) + 5 * wavering(),
      range: [70, 99] as const,
    }));
    const b = a.map(({ day, value }) => ({ day, value: value / 2 + 0.2 * wavering() }));
    const found = [
      ...find([track(a), track(b, '4548-4')], [start]),
      ...find([track(list(140, (n) => ({ day: n, value: 90 + (n % 7 >= 5 ? 8 : 0) + wavering() })))]),
      ...find([track(list(30, (n) => ({ day: n, value: n + wavering() })))]),
    ];
    const kinds = new Set(found.map(({ kind }) => kind));
    expect([...kinds].sort()).to.deep.equal(['change_point', 'correlation', 'gap', 'out_of_range', 'trend']);
    const names = new Map([[`${LOINC}|2345-7`, 'Glucose']]);
    for (const finding of found) {
      const title = writeTitle(finding, names, unitText);
      expect(title).to.match(/^[A-Z0-9].*[^.]$/);
      expect(title).not.to.match(
        /\b(should|must|recommend|suspect|indicat|suggest|caus|because|due to|effect of|better|worse|improv|risk|disease|diagnos|danger|abnormal|treat)/i,
      );
    }
    expect(found.map((finding) => writeTitle(finding, names, unitText)).join('\n')).to.contain('Glucose was');
  });
});
