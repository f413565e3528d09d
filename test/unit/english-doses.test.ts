/** Dosages in a page's language, translated from their English words (src/clinical/reading/doses/english-doses.ts). */
import { expect } from 'chai';
import fc from 'fast-check';
import { dosesInWords } from '#src/clinical/reading/doses/dose.ts';
import type { DoseStyle } from '#src/clinical/reading/doses/dose-words.ts';
import { translateDoses } from '#src/clinical/reading/doses/english-doses.ts';

const LANGS = ['en', 'de', 'fr', 'es', 'nb', 'ar'] as const;

const quantity = (value: number, unit?: string) => ({ value, ...(unit === undefined ? {} : { unit }) });

/** Dosages as people prescribe them; all of them can be expressed in words in every language. */
const unit = fc.constantFrom('tablet', 'mg', 'mL', 'drop', 'puff', '[iU]', 'µg', undefined);
const amount = fc.tuple(fc.constantFrom(0.5, 1, 2, 2.5, 15, 1_250), unit);
const count = fc.integer({ min: 1, max: 12 });
const time = fc.constantFrom('min', 'h', 'd', 'wk', 'mo');
const dosage = fc.record(
  {
    doseAndRate: fc
      .tuple(amount, fc.constantFrom(0, 0, 0, 2))
      .map(([[value, of], more]) => [
        more === 0
          ? { doseQuantity: quantity(value, of) }
          : { doseRange: { low: quantity(value, of), high: quantity(value + more, of) } },
      ]),
    timing: fc.oneof(
      fc.constantFrom('BID', 'Q6H', 'QHS', 'AM', 'STAT').map((code) => ({ code: { coding: [{ code }] } })),
      fc.record({
        repeat: fc.record(
          {
            frequency: count,
            period: count,
            periodMax: fc.constant(13),
            periodUnit: time,
            when: fc.array(fc.constantFrom('MORN', 'EVE', 'ACM', 'HS', 'ICM', 'PC', 'MORN.early'), {
              maxLength: 3,
            }),
            dayOfWeek: fc.subarray(['mon', 'wed', 'fri', 'sun']),
            timeOfDay: fc.subarray(['08:00:00', '12:30:00', '20:00:00']),
            boundsDuration: fc.tuple(count, time).map(([value, code]) => ({ value, code })),
            boundsPeriod: fc.record(
              { start: fc.constantFrom('2026-03', '2026-03-01T08:00:00Z'), end: fc.constant('2026-05-01') },
              { requiredKeys: [] },
            ),
            count,
          },
          { requiredKeys: ['frequency', 'period', 'periodUnit'] },
        ),
      }),
    ),
    asNeededBoolean: fc.constant(true),
    asNeededCodeableConcept: fc.constantFrom(
      ...['pain', 'pain, or fever', 'as needed for pain'].map((text) => ({ text })),
    ),
    route: fc.constantFrom(
      { coding: [{ code: '26643006' }] },
      { coding: [{ code: 'IV' }], text: 'drip' },
      { coding: [{ code: '45890007' }] },
    ),
    maxDosePerPeriod: amount.map(([value, of]) => ({
      numerator: quantity(value, of),
      denominator: { value: 24, code: 'h' },
    })),
    maxDosePerAdministration: amount.map(([value, of]) => quantity(value, of)),
    sequence: fc.constantFrom(1, 2),
  },
  { requiredKeys: [] },
);

/** Returns dosages in words, joined as in a narrative, where lines are later split at semicolons. */
function say(given: unknown, style: DoseStyle): string {
  const comma = style.lang === 'ar' ? '، ' : ', ';
  return (dosesInWords(given, style) ?? '').replace(/\s*[;؛]\s*/g, comma);
}

describe('dosages that are words of English', () => {
  it('are in each language what they would be from their data', () => {
    let translated = 0;
    fc.assert(
      fc.property(fc.array(dosage, { minLength: 1, maxLength: 2 }), (given) => {
        const english = say(given, { lang: 'en' });
        if (english === '') return;
        for (const lang of LANGS) {
          const style = { lang, day: (date: string) => date.split('-').reverse().join('.') };
          const own = translateDoses(english, style);
          if (own === undefined) continue;
          translated += 1;
          expect(own, `${lang}: ${english}`).to.equal(say(given, style));
        }
      }),
      { numRuns: 200 },
    );
    expect(translated).to.be.greaterThan(200 * LANGS.length * 0.8);
  });

  it('stay as they are if a word is another one', () => {
    for (const text of [
      'as discussed with the ward',
      'one in the morning, more if the weight rises',
      '15 mg once a fortnight',
      '15 mg once a week, never on a Sunday',
      '15 mg, x: (y)',
      `${'1 to '.repeat(90)}mg`,
      `${'1 '.repeat(10_000)}mg`,
      '',
    ])
      expect(translateDoses(text, { lang: 'de' }), text).to.equal(undefined);
    expect(translateDoses('15 mg once a week', { lang: 'de' })).to.equal('15 mg einmal pro Woche');
    // Any later part of the text may belong to the reason.
    expect(translateDoses(`${'as needed: a, '.repeat(23)}x`, { lang: 'de' })).to.match(
      /^(?:bei Bedarf: a, ){23}x$/,
    );
    expect(translateDoses('Take it slowly (2.5 mg once a day)', { lang: 'fr' })).to.equal(
      'Take it slowly (2,5 mg une fois par jour)',
    );
  });
});
