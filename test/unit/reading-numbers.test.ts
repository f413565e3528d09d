/** Numbers for people: rounded as laboratories report them, with units as people write them (src/clinical/reading/). */
import { expect } from 'chai';
import fc from 'fast-check';
import { LosslessNumber } from 'lossless-json';
import { compareDecimals, formatDecimal, roundDecimal } from '#src/clinical/reading/numbers/decimal.ts';
import {
  pressureText,
  quantityText,
  rangeText,
  ratioText,
  roundForReading,
  unitText,
} from '#src/clinical/reading/numbers/quantity.ts';
import { RULES_BY_CODE, RULES_BY_UNIT } from '#src/clinical/reading/numbers/rounding-rules.ts';
import { isLoincCode } from '#src/fhir/loinc-code.ts';

describe('numbers for reading', () => {
  it('are rounded by code, then by unit, and else lose noise only', () => {
    for (const [stored, code, unit, shown] of [
      ['133.74837485214002', '8480-6', 'mm[Hg]', '134'],
      ['79.83879368443145', '', 'mmHg', '80'],
      ['6.4123', '4548-4', '%', '6.4'],
      ['48.4', '59261-8', 'mmol/mol', '48.4'],
      ['52.4', '59261-8', 'mmol/mol', '52'],
      ['4.6213', '2823-3', 'mmol/L', '4.6'],
      ['56.2001', '29463-7', 'kg', '56.2'],
      ['3.4512', '8339-4', 'kg', '3.45'],
      ['159.49942214087477', '8302-2', 'cm', '159.5'],
      ['37.92659141183542', '8331-1', 'Cel', '37.9'],
      ['88.4', '14682-9', 'umol/L', '88'],
      ['1.0049', '2160-0', 'mg/dL', '1.00'],
      ['2.4499', '6301-6', '{INR}', '2.4'],
      ['0.9099822667259718', '72514-3', '{score}', '0.9'],
      ['2.1384', '72514-3', '{score}', '2.1'],
      ['100.002', '13457-7', 'mg/dL', '100'],
      ['99.7', '13457-7', 'mg/dL', '99.7'],
      ['99.98', '13457-7', 'mg/dL', '100'],
      ['1.0222107264651217', '5811-5', '{nominal}', '1.022'],
      ['6.0551234567', '5803-2', 'pH', '6.1'],
      ['6.0551234567', '5803-2', '[pH]', '6.1'],
      ['12345.678912', '', 'x', '12346'],
      ['0.000123456', '', 'x', '0.0001235'],
      ['12.3456', '', 'x', '12.3456'],
      ['1.50', '', 'x', '1.50'],
      ['1e-7', '', 'x', '0.0000001'],
    ] as const)
      expect(roundForReading(stored, { codes: [code], unit }), stored).to.equal(shown);
  });

  it('stay on their side of limits, and never become zero', () => {
    const potassium = { codes: ['2823-3'], unit: 'mmol/L', limits: ['3.5', '6.0'] };
    expect(roundForReading('6.04', potassium)).to.equal('6.04');
    expect(roundForReading('3.46', potassium)).to.equal('3.46');
    expect(roundForReading('6.04', { ...potassium, limits: [] })).to.equal('6.04'); // An alert limit.
    const ldl = { codes: ['13457-7'], unit: 'mg/dL', limits: ['100'] };
    expect(roundForReading('100.002', ldl)).to.equal('100.002');
    expect(roundForReading('37.96', { codes: ['8310-5'], unit: 'Cel' })).to.equal('37.96');
    expect(roundForReading('0.04', { codes: ['8480-6'], unit: 'mm[Hg]' })).to.equal('0.04');
    const decimal = fc
      .tuple(fc.integer({ min: -999_999_999, max: 999_999_999 }), fc.integer({ min: 0, max: 12 }))
      .map(([digits, places]) => (digits / 10 ** places).toFixed(places));
    fc.assert(
      fc.property(
        decimal,
        fc.constantFrom('8480-6', '2823-3', '4548-4', '72514-3', ''),
        fc.constantFrom('mm[Hg]', 'mmol/L', '%', '{score}', 'x'),
        fc.array(decimal, { maxLength: 2 }),
        (stored, code, unit, limits) => {
          const shown = roundForReading(stored, { codes: [code], unit, limits });
          expect(shown.length).to.be.at.most(stored.length);
          expect(compareDecimals(shown, '0')).to.equal(compareDecimals(stored, '0'));
          for (const limit of limits)
            expect(compareDecimals(shown, limit)).to.equal(compareDecimals(stored, limit));
        },
      ),
    );
  });

  it('have the numbers in their units as the language writes them', () => {
    const rate = { value: new LosslessNumber('82.4'), unit: 'mL/min/1.73m2' };
    expect(quantityText(rate, {}, { lang: 'de', exact: true })).to.equal('82,4 mL/min/1,73 m²');
    expect(quantityText(rate, {}, { exact: true })).to.equal('82.4 mL/min/1.73 m²');
  });

  it('say of a score that is nearly zero that it is below the smallest that is written', () => {
    const pain = { codes: ['72514-3'] };
    const score = (value: string) => ({ value: new LosslessNumber(value), unit: '{score}' });
    expect(quantityText(score('0.003'), pain)).to.equal('<0.1');
    expect(quantityText(score('0.003'), pain, { lang: 'de' })).to.equal('<0,1');
    expect(quantityText(score('0.06'), pain)).to.equal('0.1');
    expect(quantityText(score('0.0'), pain)).to.equal('0.0');
    expect(quantityText(score('0.003'), { ...pain, limits: ['0.002'] })).to.equal('0.003');
  });

  it('are rounded as decimals, not as binary fractions', () => {
    expect(
      ['1.005', '2.5', '-2.5', '0.05', '99.95', '12'].map((each) => roundDecimal(each, 1)),
    ).to.deep.equal([...['1.0', '2.5', '-2.5', '0.1', '100.0', '12']]);
    expect(roundDecimal('1.005', 2)).to.equal('1.01');
  });

  it('have rules with codes of LOINC and a source', () => {
    for (const { codes, source } of RULES_BY_CODE) {
      expect(source).to.not.equal('');
      for (const code of codes.split(' ')) expect(isLoincCode(code), code).to.equal(true);
    }
    for (const { places, source } of RULES_BY_UNIT) {
      expect(source).to.not.equal('');
      for (const unit of Object.keys(places)) expect(unitText(unit)).to.equal(unit);
    }
    for (const { places } of RULES_BY_CODE)
      for (const unit of Object.keys(places)) expect(unitText(unit)).to.equal(unit);
  });

  it('have the separators of a language and the digits that they have', () => {
    expect(formatDecimal('12345.60', 'de')).to.equal('12.345,60');
    expect(formatDecimal('12345.60', 'en')).to.equal('12,345.60');
    expect(formatDecimal('12345.60')).to.equal('12345.60');
    expect(formatDecimal('1e400', 'de')).to.equal('1e400');
  });

  it('have units as people write them', () => {
    for (const [code, shown] of [
      ['mm[Hg]', 'mmHg'],
      ['cm[H2O]', 'cmH₂O'],
      ['Cel', '°C'],
      ['[degF]', '°F'],
      ['umol/L', 'µmol/L'],
      ['u[IU]/mL', 'µIU/mL'],
      ['10*9/L', '10⁹/L'],
      ['10*-6', '10⁻⁶'],
      ['{beats}/min', '/min'],
      ['{cells}/uL', 'cells/µL'],
      ['mL/min/{1.73_m2}', 'mL/min/1.73 m²'],
      ['kg/m2', 'kg/m²'],
      ['mg/mmol{creat}', 'mg/mmol creat'],
      ['meq/L', 'mEq/L'],
      ['{score}', ''],
      ['(score)', ''],
      ['[pH]', ''],
      ['1', ''],
    ] as const)
      expect(unitText(code), code).to.equal(shown);
  });

  it('keep comparators, and what stands behind them', () => {
    const below = { value: new LosslessNumber('0.0340'), comparator: '<', unit: 'mg/dL' };
    expect(quantityText(below)).to.equal('<0.0340 mg/dL');
    expect(quantityText({ value: 5, comparator: '>=', code: 'ug/dL' })).to.equal('≥5 µg/dL');
    expect(quantityText({ unit: 'mg' })).to.equal(undefined);
  });

  it('are titres as 1:128, as ratio and as quantity', () => {
    expect(ratioText({ numerator: { value: 1 }, denominator: { value: 128 } })).to.equal('1:128');
    const titer = { value: 128, unit: 'titer', code: '{titer}' };
    expect(quantityText(titer)).to.equal('1:128');
    expect(quantityText({ ...titer, comparator: '>=' })).to.equal('≥1:128');
    const amount = (value: number, unit: string) => ({ value, unit });
    expect(ratioText({ numerator: amount(5, 'mg'), denominator: amount(1, 'mL') })).to.equal('5 mg/mL');
    expect(ratioText({ numerator: amount(5, 'mg'), denominator: amount(10, 'mL') })).to.equal('5 mg / 10 mL');
  });

  it('are ranges and blood pressures with their unit once', () => {
    const amount = (value: number, unit: string) => ({ value, unit });
    expect(rangeText({ low: amount(4, 'mmol/L'), high: amount(6, 'mmol/L') })).to.equal('4 – 6 mmol/L');
    expect(rangeText({ high: amount(6, 'mmol/L') })).to.equal('≤ 6 mmol/L');
    const part = (code: string, value: number, unit = 'mm[Hg]') => ({
      code: { coding: [{ system: 'http://loinc.org', code }] },
      valueQuantity: amount(value, unit),
    });
    const systolic = part('8480-6', 128.4);
    const diastolic = part('8462-4', 81.9);
    expect(pressureText([diastolic, systolic])).to.equal('128/82 mmHg');
    expect(pressureText([systolic, part('8462-4', 10.9, 'kPa')])).to.equal(undefined);
    expect(pressureText([systolic, diastolic, part('8478-0', 97)]), 'nothing is left out').to.equal(
      undefined,
    );
  });
});
