/** Units as laboratories write them, compared with UCUM's own library; also numbers, ranges and codes. */
import { expect } from 'chai';
import { readUnit, toUcum } from '#src/fhir/units/spelled-units.ts';
import { AMBIGUOUS, SPELLINGS } from '#src/fhir/units/unit-spellings.ts';
import { readClock, readDay, readMoment, readZone } from '#src/labs/hl7v2/time.ts';
import { chooseUnit } from '#src/labs/international.ts';
import { decimalIn, measuredIn } from '#src/labs/numbers.ts';
import { makeRange } from '#src/labs/range.ts';
import { zoneNamed } from '#src/labs/zones.ts';
import { isUnit, UCUM } from '#src/terminology/units.ts';

describe('units of laboratories', () => {
  const certain: readonly (readonly [string, string])[] = [
    ['mg/dl', 'mg/dL'],
    ['mmol/L', 'mmol/L'],
    ['µmol/l', 'umol/L'],
    ['μg/L', 'ug/L'],
    ['ng / ml', 'ng/mL'],
    ['pg/mL', 'pg/mL'],
    ['x10E9/L', '10*9/L'],
    ['10^3/µL', '10*3/uL'],
    ['10*12/L', '10*12/L'],
    ['/µl', '/uL'],
    ['fl', 'fL'],
    ['pg', 'pg'],
    ['IU/l', '[IU]/L'],
    ['mIU/mL', 'm[IU]/mL'],
    ['U/L', 'U/L'],
    ['kU/L', 'kU/L'],
    ['mEq/L', 'meq/L'],
    ['g%', 'g/dL'],
    ['mm/h', 'mm/h'],
    ['sec', 's'],
    ['mL/min/1.73 m²', 'mL/min/{1.73_m2}'],
    ['mg/mmol', 'mg/mmol'],
    ['µkat/L', 'ukat/L'],
    ['mosm/kg', 'mosm/kg'],
    ['K/uL', '10*3/uL'],
    ['°C', 'Cel'],
    ['Thousand/uL', '10*3/uL'],
    ['K/cumm', '10*3/uL'],
    ['Million/uL', '10*6/uL'],
    ['M/cumm', '10*6/uL'],
    ['mg/24 hr', 'mg/(24.h)'],
    ['g/24h', 'g/(24.h)'],
    ['mg/day', 'mg/d'],
    ['(calc)', '{calc}'],
    ['mg/dL (calc)', 'mg/dL'],
    ['{titer}', '{titer}'],
    ['umol/L/h', 'umol/L/h'],
    ['µmol/l/h', 'umol/L/h'],
    ['/[HPF]', '/[HPF]'],
    ['{cells}/uL', '{cells}/uL'],
    ['mg/g{creat}', 'mg/g{creat}'],
    ['{Ratio}', '{Ratio}'],
    ['wk', 'wk'],
    ['AU/mL', "[arb'U]/mL"],
    ['AU/l', "[arb'U]/L"],
    ['g/L/h', 'g/L/h'],
  ];
  for (const [written, code] of certain)
    it(`${written} is ${code}`, () => expect(toUcum(written)).to.equal(code));

  for (const written of [
    '',
    'C',
    'F',
    'S',
    'a',
    'arb',
    'RLU',
    'mmol/mol Hb x',
    'B/min',
    'M',
    '10',
    'E/ml',
    'G/L',
    'MG/L',
    'MU/L',
    'Gm/dL',
    'Mmol/L',
    'AU',
    'AU/dL',
    'EU/dL',
  ])
    it(`${written || 'nothing'} is not surely one`, () => expect(toUcum(written)).to.equal(undefined));

  it('are UCUM’s when the message says so', () => {
    expect(toUcum('{score}/a', true)).to.equal('{score}/a');
    expect(toUcum('foo', true)).to.equal(undefined);
    expect(toUcum('a b', true)).to.equal(undefined);
  });

  const isUcum = (text: string): boolean => isUnit(UCUM, text);

  it('are UCUM’s, whatever the spelling', () => {
    for (const [spelling, ucum] of SPELLINGS) expect(isUcum(ucum), `${spelling}: ${ucum}`).to.equal(true);
    for (const [spelling, advice] of AMBIGUOUS)
      for (const each of advice)
        expect(isUcum(each.split(' ')[0] ?? ''), `${spelling}: ${each}`).to.equal(true);
  });

  for (const [typed, ucum] of [
    ['mmHg', 'mm[Hg]'],
    ['mm Hg', 'mm[Hg]'],
    ['bpm', '/min'],
    ['°C', 'Cel'],
    ['ºC', 'Cel'],
    ['℃', 'Cel'],
    ['°F', '[degF]'],
    ['IU/L', '[IU]/L'],
    ['IU', '[IU]'],
    ['kIU/mL', 'k[IU]/mL'],
    ['mcg', 'ug'],
    ['mcg/kg/min', 'ug/kg/min'],
    ['ug/dL', 'ug/dL'],
    ['µg/dL', 'ug/dL'],
    ['mg/dl', 'mg/dl'],
    ['pounds', '[lb_av]'],
    ['Kilograms', 'kg'],
    ['grams', 'g'],
    ['percentage', '%'],
    ['Bpm', '/min'],
    ['beats per minute', '/min'],
    ['MMHG', 'mm[Hg]'],
    ['kg/m²', 'kg/m2'],
    ['lbs', '[lb_av]'],
    ['ft', '[ft_i]'],
    ['pH', '[pH]'],
    ['10^9/L', '10^9/L'],
    ['x10^9/L', '10*9/L'],
    ['{score}', '{score}'],
    ['1', '1'],
    ['AU/mL', "[arb'U]/mL"],
  ] as const)
    it(`that people type: ${typed} is ${ucum}`, () => {
      expect(readUnit(typed)).to.deep.equal({ ucum });
      expect(isUcum(ucum)).to.equal(true);
    });

  for (const typed of [
    'C',
    'F',
    'K',
    'G/L',
    ' G / L',
    'MG',
    'oz',
    'beats',
    'mph',
    'kph',
    'PH',
    'AU',
    'EU/mL',
  ])
    it(`that people type: ${typed} is ambiguous`, () =>
      expect(readUnit(typed)).to.have.property('ambiguous'));

  for (const typed of ['', ' ', 'furlongs', 'arb', 'x'.repeat(100)])
    it(`that people type: "${typed}" is none`, () => expect(readUnit(typed)).to.equal(undefined));

  const code = (loinc: string, display?: string) => ({
    coding: [{ system: 'http://loinc.org', code: loinc, ...(display === undefined ? {} : { display }) }],
  });
  it('are international where what was measured is given in these', () => {
    expect(chooseUnit('uU/mL', code('3016-3'))).to.equal('u[IU]/mL');
    expect(chooseUnit('mU/L', code('20448-7'))).to.equal('m[IU]/L');
    expect(chooseUnit('U/L', code('19080-1'))).to.equal('[IU]/L');
    expect(chooseUnit('uU/mL', { coding: [{ system: 'urn:lab', code: 'tsh' }] })).to.equal('u[IU]/mL');
    for (const text of ['β-hCG', 'ß-HCG', 'Β-HCG', 'ß-hcg', ' Beta-hCG '])
      expect(chooseUnit('mU/L', { text }), text).to.equal('m[IU]/L');
    for (const unit of ['u[IU]/mL', 'm[IU]/L', '[IU]/L']) expect(isUnit(UCUM, unit)).to.equal(true);
  });
  it('stay units of enzymes where it is one, or not certain', () => {
    expect(chooseUnit('U/L', code('1742-6', 'ALT'))).to.equal('U/L');
    expect(chooseUnit('uU/mL', { text: 'TSH receptor antibodies' })).to.equal('uU/mL');
    expect(chooseUnit('uU/mL', undefined)).to.equal('uU/mL');
    expect(chooseUnit('kU/L', code('3016-3'))).to.equal('kU/L');
    expect(chooseUnit(undefined, code('3016-3'))).to.equal(undefined);
  });

  it('are all known to UCUM’s library', () => {
    for (const [written, ucum] of certain) expect(isUcum(ucum), written).to.equal(true);
  });
});

describe('numbers of laboratories', () => {
  const numbers: readonly (readonly [string, string | undefined])[] = [
    ['5.60', '5.60'],
    ['+5', '5'],
    ['007', '7'],
    ['.5', '0.5'],
    ['5.', '5'],
    ['-0.0', '-0.0'],
    ['5,6', '5.6'],
    ['0,123', '0.123'],
    ['1234,567', '1234.567'],
    ['1,234', undefined],
    ['1.2E3', '1.2e3'],
    ['1e9999', undefined],
    ['1 000', undefined],
    ['', undefined],
    ['-', undefined],
    ['e5', undefined],
    ['0x10', undefined],
    ['Infinity', undefined],
    ['1'.repeat(19), undefined],
  ];
  for (const [text, value] of numbers)
    it(`${text || 'nothing'} is ${value ?? 'none'}`, () => {
      const read = decimalIn(text);
      expect(read === undefined ? undefined : String(read)).to.equal(value === '-0.0' ? '-0.0' : value);
    });

  it('have comparators', () => {
    expect(measuredIn('< 5')).to.deep.equal({ comparator: '<', value: 5 });
    expect(measuredIn('≥60')).to.deep.equal({ comparator: '>=', value: 60 });
    expect(measuredIn('=5')).to.deep.equal({ value: 5 });
    expect(measuredIn('<>5')).to.equal(undefined);
    expect(measuredIn('5-6')).to.equal(undefined);
  });

  it('are the ends of ranges only where the text says nothing else', () => {
    const ends = (text: string) => {
      const { low, high } = makeRange(text, 'g/L', 'g/L');
      return [low, high].map((end) => (end === undefined ? null : Reflect.get(Object(end), 'value')));
    };
    expect(ends('4-5')).to.deep.equal([4, 5]);
    expect(ends(' 4 bis 5 g/L ')).to.deep.equal([4, 5]);
    expect(ends('<=7')).to.deep.equal([null, 7]);
    expect(ends('>60')).to.deep.equal([60, null]);
    expect(ends('> OR = 60')).to.deep.equal([60, null]);
    expect(ends('< or = 7')).to.deep.equal([null, 7]);
    expect(ends('150,000-450,000')).to.deep.equal([150000, 450000]);
    expect(ends('4,500 - 450,000')).to.deep.equal([4500, 450000]);
    expect(ends('0,270-4,200')).to.deep.equal([null, null]);
    for (const text of ['4-5 (adults)', '4-5-6', '2026-03-31', '4-5 mg/L', '5-4', 'neg', '<5 or >9', '1:40'])
      expect(ends(text), text).to.deep.equal([null, null]);
  });
});

describe('times of messages', () => {
  it('keep the precision that they come in', () => {
    const iso = (text: string, zone?: string) => readMoment(text, zone)?.iso;
    expect(iso('2026')).to.equal('2026');
    expect(iso('202603')).to.equal('2026-03');
    expect(iso('20260331')).to.equal('2026-03-31');
    expect(iso('20260300')).to.equal('2026-03');
    expect(iso('2026033109')).to.equal('2026-03-31T09:00:00Z');
    expect(iso('202603310930', '+02:00')).to.equal('2026-03-31T09:30:00+02:00');
    expect(iso('20260331093015.1234-0500', '+02:00')).to.equal('2026-03-31T09:30:15.1234-05:00');
    expect(iso('2026-03-31T09:30:15+02:00')).to.equal('2026-03-31T09:30:15+02:00');
    expect(iso('2026-03-31 09:30')).to.equal('2026-03-31T09:30:00Z');
    expect(iso('31.03.2026')).to.equal(undefined);
    expect(iso('202603312575')).to.equal('2026-03-31T25:75:00Z');
    expect(readDay('202603312575')).to.equal('2026-03-31');
    expect(readDay('2026-03-31 morning')).to.equal('2026-03-31');
    expect(readDay('31.03.2026')).to.equal(undefined);
    expect(iso('')).to.equal(undefined);
  });
  it('are in a zone that is named: the earlier of two, and skipped ones are told', () => {
    const oslo = zoneNamed('Europe/Oslo');
    const moment = (text: string) => {
      const { iso, skipped } = readMoment(text, oslo) ?? {};
      return [iso, skipped];
    };
    expect(moment('202607010930')).to.deep.equal(['2026-07-01T09:30:00+02:00', false]);
    expect(moment('202601010930')).to.deep.equal(['2026-01-01T09:30:00+01:00', false]);
    expect(moment('202610250230')).to.deep.equal(['2026-10-25T02:30:00+02:00', false]);
    expect(moment('202610250330')).to.deep.equal(['2026-10-25T03:30:00+01:00', false]);
    expect(moment('202603290230')).to.deep.equal(['2026-03-29T02:30:00+01:00', true]);
    expect(moment('202603290330')).to.deep.equal(['2026-03-29T03:30:00+02:00', false]);
    expect(moment('202603290230-0500')).to.deep.equal(['2026-03-29T02:30:00-05:00', undefined]);
    const local = (name: string) => zoneNamed(name)?.('2026-07-01T09:30:00').offset;
    expect(local('America/New_York')).to.equal('-04:00');
    expect(local('Asia/Kolkata')).to.equal('+05:30');
    expect(local('UTC')).to.equal('+00:00');
    for (const name of ['Europe/Nowhere', '+02:00', '', 'a b', 'Oslo'])
      expect(local(name), name).to.equal(undefined);
  });
  it('have offsets and times of day', () => {
    expect(readZone('20260331093000-0530')).to.equal('-05:30');
    expect(readZone('2026-03-31')).to.equal(undefined);
    expect(readZone('20260331')).to.equal(undefined);
    expect(readZone('2026-03-31T09:30:00Z')).to.equal('Z');
    expect(readClock('0930')).to.equal('09:30:00');
    expect(readClock('09:30:15.5')).to.equal('09:30:15.5');
    expect(readClock('noon')).to.equal(undefined);
  });
});
