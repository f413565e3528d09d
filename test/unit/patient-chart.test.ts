/**
 * Charts of measurements: round ticks, room for their labels, colours by meaning, and separate charts for units that can't be
 * converted.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { texts } from '#src/http/pages/texts.ts';
import { chart } from '#src/http/patient/results/chart.ts';
import { axisFor } from '#src/http/patient/results/chart-axis.ts';
import { countLeft, makeCharts } from '#src/http/patient/results/chart-data.ts';
import type { Observation } from '#src/http/reading/measures.ts';

const WIDTH = 400;

const observed = (
  value: number | string | null,
  unit: string,
  day: string,
  more: Partial<Observation> = {},
): Observation => ({
  ...{ id: day, code: '99999-9', system: 'http://loinc.org', display: 'Test', unit },
  value: value === null ? null : String(value),
  ...{ value_text: null, value_code: null, value_boolean: null, category: null, components: [] },
  ...{
    effective_at: day,
    reference_range: null,
    note: null,
    status: 'final',
    created_at: `${day}T00:00:00Z`,
  },
  ...{ author_type: 'device', fhir: `Observation/${day}`, interpretations: undefined, reported: undefined },
  ...more,
});
const drawn = (...facts: readonly Observation[]): string =>
  makeCharts(texts('en'), facts)
    .map((data) => chart(texts('en'), 'Test', data).text)
    .join('');
const labelsIn = (svg: string): { readonly x: number; readonly end: boolean; readonly text: string }[] =>
  [...svg.matchAll(/<text [^>]*?x="([\d.]+)"([^>]*)>([^<]*)<\/text>/g)].map(
    ([, x, rest = '', text = '']) => ({
      ...{ x: Number(x), end: rest.includes('end'), text },
    }),
  );

describe('a chart of a measurement', () => {
  it('has ticks of 1, 2 or 5 times a power of ten that enclose its values', () => {
    expect(axisFor(126.1, 133.748).ticks).to.deep.equal([126, 128, 130, 132, 134]);
    expect(axisFor(5.2, 5.9).ticks).to.deep.equal([5.2, 5.4, 5.6, 5.8, 6]);
    expect(axisFor(70, 70).ticks).to.deep.equal([60, 65, 70, 75, 80]);
    const number = fc.double({ min: -1e6, max: 1e6, noNaN: true });
    fc.assert(
      fc.property(number, number, (a, b) => {
        const [least, most] = [Math.min(a, b), Math.max(a, b)];
        fc.pre(most - least > 1e-6 || most === least);
        const { low, high, ticks, digits } = axisFor(least, most);
        const step = (high - low) / (ticks.length - 1);
        const slack = step * 1e-6;
        expect(low).to.be.at.most(least + slack);
        expect(high).to.be.at.least(most - slack);
        expect(ticks.length).to.be.within(2, 7);
        expect(['1', '2', '5']).to.include(step.toExponential(0).split('e', 1)[0]);
        for (const tick of ticks) expect(Number(tick.toFixed(digits))).to.be.closeTo(tick, slack);
      }),
    );
  });

  it('has room for every label, its unit at the top, and numbers as people write them', () => {
    const svg = drawn(
      observed(133.74837485214002, 'mm[Hg]', '2026-01-01', { code: '8480-6' }),
      observed(126.1, 'mm[Hg]', '2025-01-01', { code: '8480-6' }),
    );
    expect(svg).to.include('<text x="0" y="13">mmHg</text>').and.include('from 126 to 134, last 134 mmHg on');
    for (const values of [
      [133748.4, 1_250_000],
      [0.00012, 0.00051],
      [-12.5, 3],
    ])
      for (const { x, end, text } of labelsIn(
        drawn(...values.map((value, i) => observed(value, 'x', `202${i}-01-01`))),
      )) {
        const width = text.length * 7;
        expect(end ? x - width : x, text).to.be.at.least(0);
        expect(end ? x : x + width, text).to.be.at.most(WIDTH);
      }
  });

  it('marks values by what they mean, and labels the ends of the range', () => {
    const range = { reference_range: { low: '4.0', high: '5.6' } };
    const svg = drawn(
      observed(5, '%', '2025-01-01', range),
      observed(6, '%', '2025-06-01', range),
      observed(9, '%', '2026-01-01', { ...range, interpretations: ['HH'] }),
    );
    expect(svg)
      .to.include('class="dot good"')
      .and.include('class="dot out"')
      .and.include('class="dot critical"');
    const limits = [...svg.matchAll(/class="limit"[^>]*>([^<]*)/g)].map(([, text]) => text);
    expect(limits).to.deep.equal(['4.0', '5.6']);
  });

  it('is in the newest unit, and units that can’t be converted stand apart', () => {
    const facts = [
      observed(48, 'mmol/mol', '2026-03-01'),
      observed(6.5, '%', '2026-02-01'),
      observed(70, 'g/L', '2026-01-01'),
      observed(7.1, 'g/dL', '2025-12-01'),
      observed(null, '', '2025-11-01', { value_text: 'clotted' }),
      observed(72, 'g/L', '', { effective_at: null, created_at: '2026-04-01T00:00:00Z' }),
    ];
    const charts = makeCharts(texts('en'), facts);
    expect(
      charts.map(({ unit, series }) => [
        unit,
        series.flatMap(({ points }) => points.map(({ value }) => value)),
      ]),
    ).to.deep.equal([
      ['mmol/mol', [48]],
      ['%', [6.5]],
      ['g/L', [71, 70]],
    ]);
    // The text and the value without a date are left. With only one chart, the other charts' values are left, too.
    expect(countLeft(facts, charts)).to.equal(2);
    expect(countLeft(facts, charts.slice(0, 1))).to.equal(5);
  });

  it('says days and times as they are written, and no more of them than is written', () => {
    const labels = (...dates: readonly string[]): readonly string[] =>
      labelsIn(drawn(...dates.map((date, i) => observed(5 + i, 'x', date, { id: String(i) }))))
        .slice(-2)
        .map(({ text }) => text);
    // 1 May local time, when it is still 30 April in UTC.
    const local = ['2026-05-01T00:30:00+02:00', '2026-04-28T08:00:00+02:00'];
    expect(labels(...local)).to.deep.equal(['Apr 2026', 'May 2026']);
    expect(drawn(observed(5, 'x', local[0] ?? ''), observed(6, 'x', local[1] ?? ''))).to.include(
      'last 5 x on 1 May 2026.',
    );
    expect(labels('2026-05-01T22:30:00+02:00', '2026-05-01T00:30:00+02:00')).to.deep.equal([
      '00:30 +02:00',
      '22:30 +02:00',
    ]);
    expect(labels('2026', '2025')).to.deep.equal(['2025', '2026']);
  });

  it('keeps the digits of its values and its range', () => {
    const range = { reference_range: { low: '4.00', high: null } };
    const facts = [observed('7.00', 'x', '2026-02-01', range), observed('5.0', 'x', '2026-01-01', range)];
    expect(drawn(...facts))
      .to.include('from 5.0 to 7.00, last 7.00 x on')
      .and.include('>4.00</text>');
    const [data] = makeCharts(texts('de'), facts);
    expect(data === undefined ? '' : chart(texts('de'), 'Test', data).text).to.include('7,00 x');
  });

  it('leaves out no component', () => {
    const part = (code: string): Observation['components'][number] => ({
      ...{ code, system: null, display: code, value: '5', unit: 'x' },
      ...{ value_text: null, value_code: null, value_boolean: null },
    });
    const charts = makeCharts(texts('en'), [
      observed(null, '', '2026-01-01', { components: ['a', 'b', 'c', 'd'].map(part) }),
    ]);
    expect(charts.map(({ series }) => series.map(({ name }) => name))).to.deep.equal([
      ['a', 'b', 'c'],
      ['d'],
    ]);
  });
});
