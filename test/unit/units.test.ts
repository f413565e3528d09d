import { expect } from 'chai';
import fc from 'fast-check';
import {
  canonicalRange,
  decimalText,
  parseDecimal,
  plus,
  rounded,
  times,
} from '#src/fhir/units/canonical.ts';

/** Returns a value in canonical units, as `numeric` would print it, and its dimension. */
function canonical(value: string, unit: string): string {
  const found = canonicalRange(unit, value, value);
  return found === undefined ? 'literal' : `${Number(found.low)} ${found.dimension}`;
}

describe('quantities in canonical units', () => {
  it('are equal where UCUM says so', () => {
    for (const [value, unit, other, otherUnit] of [
      ['1000', 'mg', '1', 'g'],
      ['5.4', 'mmol/L', '0.0054', 'mol/L'],
      ['1', '[in_i]', '2.54', 'cm'],
      ['150', '[lb_av]', '68.0388555', 'kg'],
      ['5', '10*3/uL', '5', '10*9/L'],
      ['100.4', '[degF]', '38', 'Cel'],
      ['38', 'Cel', '311.15', 'K'],
      ['60', '/min', '1', 'Hz'],
      ['72', '{beats}/min', '1.2', '/s'],
      ['2', 'm[IU]/L', '2', 'u[iU]/mL'],
      ['50', '%', '0.5', '1'],
      ['48', 'mmol/mol', '48', 'umol/mmol'],
      ['4.8', 'meq/L', '4800', 'ueq/L'],
      ['90', 'min', '1.5', 'h'],
      ['1', 'mg{creat}/dL', '10', 'g/m3'],
    ] as const) {
      expect(canonical(value, unit), `${value} ${unit}`)
        .to.equal(canonical(other, otherUnit))
        .and.not.equal('literal');
    }
  });

  it('do not compare across dimensions, nor arbitrary units with anything but themselves', () => {
    for (const [unit, other] of [
      ['mg', 'mL'],
      ['[iU]/mL', '10*6/L'],
      ['[iU]/mL', "[arb'U]/mL"],
      ['Cel', 'kg'],
      ['mmol/mol', '%'],
      ['mmol/mol{Hb}', '1'],
      ['meq/L', 'mmol/L'],
      ['ueq/mL', '10*6/L'],
    ] as const) {
      expect(canonicalRange(unit, '1', '1')?.dimension, unit).to.not.equal(
        canonicalRange(other, '1', '1')?.dimension,
      );
    }
  });

  it('are taken as they are written when UCUM refuses the unit or it has no factor', () => {
    const refused = ['mmHg', 'bogus', '', ' mg', 'mg ', 'MM[HG]', 'gram', 'constructor', '__proto__', 'é'];
    for (const unit of [...refused, '[pH]', 'dB', 'mCel', 'x'.repeat(200)]) {
      expect(canonical('1', unit), unit).to.equal('literal');
    }
  });

  it('keep open ends and every digit', () => {
    expect(canonicalRange('kg', '-Infinity', '0.1000000000000000000000001')).to.deep.include({
      low: '-Infinity',
      high: '1000000000000000000000001e-22',
    });
    expect(canonicalRange('mg', '-0.0', 'Infinity')).to.deep.include({ low: '0', high: 'Infinity' });
  });

  it('cost a few microseconds once the unit is known', () => {
    canonicalRange('mg/dL', '1', '1');
    const start = process.cpuUsage();
    for (let n = 0; n < 10_000; n += 1) canonicalRange('mg/dL', String(n / 10), String(n / 10));
    expect(process.cpuUsage(start).user / 10_000).to.be.lessThan(100);
  });
});

describe('decimals', () => {
  const decimal = fc
    .tuple(fc.bigInt({ min: -(10n ** 18n), max: 10n ** 18n }), fc.integer({ min: -12, max: 12 }))
    .map(([digits, power]) => ({ digits, power }));
  const scaled = ({ digits, power }: { digits: bigint; power: number }): bigint =>
    digits * 10n ** BigInt(power + 48);

  it('come back from their texts, and add and multiply exactly (property)', () => {
    fc.assert(
      fc.property(decimal, decimal, (a, b) => {
        expect(scaled(parseDecimal(decimalText(a)))).to.equal(scaled(a));
        expect(scaled(plus(a, b))).to.equal(scaled(a) + scaled(b));
        expect(scaled(times(a, b)) * 10n ** 48n).to.equal(scaled(a) * scaled(b));
      }),
    );
  });

  it('are rounded half away from zero', () => {
    const to3 = (text: string) => decimalText(rounded(parseDecimal(text), 3));
    expect([to3('1.2345'), to3('1.235'), to3('-1.235'), to3('999.5'), to3('12')]).to.deep.equal([
      '123e-2',
      '124e-2',
      '-124e-2',
      '1000',
      '12',
    ]);
  });

  it('are no other texts', () => {
    for (const text of ['', '.', 'e5', '1e', '0x1', '1,5', ' 1', 'Infinity']) {
      expect(() => parseDecimal(text), text).to.throw();
    }
  });
});
