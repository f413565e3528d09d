/** Doses in words (src/clinical/reading/doses/dose.ts) in six languages; no part of a dose is lost. */
import { expect } from 'chai';
import fc from 'fast-check';
import { dosesInWords } from '#src/clinical/reading/doses/dose.ts';
import { ar } from '#src/clinical/reading/doses/dose-texts/ar.ts';
import { de } from '#src/clinical/reading/doses/dose-texts/de.ts';
import { en } from '#src/clinical/reading/doses/dose-texts/en.ts';
import { es } from '#src/clinical/reading/doses/dose-texts/es.ts';
import { fr } from '#src/clinical/reading/doses/dose-texts/fr.ts';
import { nb } from '#src/clinical/reading/doses/dose-texts/nb.ts';

const TEXTS = { en, de, fr, es, nb, ar };
type Lang = keyof typeof TEXTS;
const LANGS = ['en', 'de', 'fr', 'es', 'nb', 'ar'] as const satisfies readonly Lang[];

const amount = (value: number, unit?: string) => ({ value, ...(unit === undefined ? {} : { unit }) });
const dose = (value: number, unit?: string) => ({ doseAndRate: [{ doseQuantity: amount(value, unit) }] });
const repeat = (of: object) => ({ timing: { repeat: of } });
const everyDay = (frequency: number) => repeat({ frequency, period: 1, periodUnit: 'd' });
const say = (dosage: object | readonly object[], lang: Lang = 'en') => dosesInWords(dosage, { lang });

describe('doses in words', () => {
  it('are sentences in six languages', () => {
    const weekly = { ...dose(4, 'tablet'), ...repeat({ frequency: 1, period: 1, periodUnit: 'wk' }) };
    expect(LANGS.map((lang) => say(weekly, lang))).to.deep.equal([
      '4 tablets once a week',
      '4 Tabletten einmal pro Woche',
      '4 comprimés une fois par semaine',
      '4 comprimidos una vez por semana',
      '4 tabletter en gang i uken',
      '4 أقراص مرة واحدة أسبوعيًا',
    ]);
    const needed = {
      doseAndRate: [{ doseRange: { low: amount(1, 'TAB'), high: amount(2, 'TAB') } }],
      timing: { code: { coding: [{ code: 'Q6H' }], text: 'Q6H' } },
      asNeededBoolean: true,
      maxDosePerPeriod: { numerator: amount(8, 'tablet'), denominator: amount(24, 'h') },
    };
    expect(LANGS.map((lang) => say(needed, lang))).to.deep.equal([
      '1 to 2 tablets every 6 hours, as needed, at most 8 tablets in 24 hours',
      '1 bis 2 Tabletten alle 6 Stunden, bei Bedarf, höchstens 8 Tabletten je 24 Stunden',
      '1 à 2 comprimés toutes les 6 heures, si besoin, au plus 8 comprimés en 24 heures',
      '1 a 2 comprimidos cada 6 horas, si es necesario, como máximo 8 comprimidos en 24 horas',
      '1 til 2 tabletter hver 6. time, ved behov, høyst 8 tabletter på 24 timer',
      '1 إلى 2 أقراص كل 6 ساعات، عند الحاجة، بحد أقصى 8 أقراص خلال 24 ساعة',
    ]);
  });

  it('have plurals, meals, codes, bounds, routes and steps', () => {
    for (const [given, told] of [
      [
        { ...dose(1, 'TAB'), ...repeat({ frequency: 2, period: 1, periodUnit: 'd', when: ['C'] }) },
        '1 tablet twice a day with meals',
      ],
      [{ asNeededBoolean: true }, 'as needed'],
      [{ ...dose(1, 'TAB'), asNeededCodeableConcept: { text: 'pain' } }, '1 tablet, as needed: pain'],
      // The reason, the timing or an instruction may already say it.
      [
        { ...dose(1, 'TAB'), asNeededCodeableConcept: { text: 'as needed for pain' } },
        '1 tablet, as needed for pain',
      ],
      [{ asNeededBoolean: true, timing: { code: { text: 'PRN' } } }, 'as needed'],
      [
        { asNeededCodeableConcept: { text: 'pain' }, timing: { code: { coding: [{ code: 'PRN' }] } } },
        'as needed: pain',
      ],
      [
        { asNeededBoolean: true, additionalInstruction: [{ text: 'As needed' }, { text: 'with food' }] },
        'As needed, with food',
      ],
      [
        { asNeededCodeableConcept: { text: 'pain' }, additionalInstruction: [{ text: 'As needed' }] },
        'as needed: pain',
      ],
      [{ asNeededBoolean: false }, undefined],
      [{ ...dose(1), ...everyDay(1) }, 'dose 1, once a day'],
      [{ ...dose(0.5, 'tablet'), timing: { code: { text: 'QD' } } }, '0.5 tablets once a day'],
      [{ ...dose(10, '[iU]'), timing: { code: { text: 'BID' } } }, '10 IU twice a day'],
      [{ timing: { code: { text: 'QOD' } } }, 'every 2 days'],
      [{ timing: { code: { text: 'nach Plan' } } }, 'nach Plan'],
      [{ timing: { code: { coding: [{ code: 'BID' }], text: '8 h apart' } } }, 'twice a day (8 h apart)'],
      [
        { ...everyDay(3), route: { coding: [{ code: '26643006' }], text: 'Oral' } },
        '3 times a day, by mouth (Oral)',
      ],
      [
        repeat({ frequency: 3, period: 2, periodUnit: 'wk', boundsDuration: { value: 10, code: 'd' } }),
        '3 times every 2 weeks, for 10 days',
      ],
      [repeat({ period: 4, periodMax: 6, periodUnit: 'h' }), 'every 4 to 6 hours'],
      [repeat({ when: ['ACM'], offset: 30 }), '30 minutes before breakfast'],
      [repeat({ dayOfWeek: ['mon', 'thu'], timeOfDay: ['08:00:00'] }), 'on Monday and Thursday at 08:00'],
      [repeat({ frequency: 1, period: 3 }), 'once, period: 3'],
      [
        { doseAndRate: [{ rateRatio: { numerator: amount(100, 'mL'), denominator: amount(1, 'h') } }] },
        'at 100 mL/h',
      ],
      [{ ...dose(2.25, '%') }, '2.25 %'],
      [{ timing: { event: ['2026-01-01T08:00:00Z'] } }, 'on 2026-01-01 08:00 UTC'],
      [{ ...dose(1, 'puff'), unknownPart: { a: 5, b: ['x'] } }, '1 puff, unknownPart: (a: 5, b: x)'],
      [
        [
          { sequence: 2, ...dose(2, 'tablet'), ...everyDay(1) },
          { sequence: 1, ...dose(1, 'tablet'), ...everyDay(1) },
        ],
        '1 tablet once a day; then 2 tablets once a day',
      ],
      [
        [
          { sequence: 1, ...dose(10, 'mg'), ...everyDay(1) },
          { sequence: 2, text: 'Then 5 mg once a day' },
          { sequence: 3, text: 'dann absetzen' },
          { sequence: 4, text: 'thence nothing' },
        ],
        '10 mg once a day; Then 5 mg once a day; dann absetzen; then thence nothing',
      ],
    ] as const)
      expect(say(given), JSON.stringify(given)).to.equal(told);
  });

  it('begin with the author’s words, and repeat nothing that these say', () => {
    const told = { ...dose(500, 'mg'), ...everyDay(2) };
    expect(say({ text: '500 mg twice a day', ...told })).to.equal('500 mg twice a day');
    expect(say({ text: '500 mg twice a day', ...told }, 'de')).to.equal(
      '500 mg twice a day (500 mg zweimal täglich)',
    );
    expect(say({ text: 'as directed', patientInstruction: 'With water', ...told })).to.equal(
      'as directed. With water (500 mg twice a day)',
    );
  });

  it('name codes as their reader does', () => {
    const given = { asNeededCodeableConcept: { coding: [{ code: '25064002' }] }, ...dose(1, 'tablet') };
    const name = () => 'Headache';
    expect(dosesInWords(given, { lang: 'en', name })).to.equal('1 tablet, as needed: Headache');
    expect(say(given)).to.equal('1 tablet, as needed: 25064002');
  });

  it('have every text in every language, with the forms of its plurals', () => {
    for (const lang of LANGS) {
      const categories = new Intl.PluralRules(lang)
        .resolvedOptions()
        .pluralCategories.filter((each) => lang === 'ar' || each !== 'many');
      for (const [key, english] of Object.entries(en)) {
        const text = Object.entries(TEXTS[lang]).find(([name]) => name === key)?.[1] ?? '';
        const names = (of: string) => [...of.matchAll(/\{([a-z]+)/g)].map(([, name]) => name).sort();
        expect(names(text), `${lang} ${key}`).to.deep.equal(names(english));
        for (const [, forms = ''] of text.matchAll(/\{n\|([^}]*)\}/g)) {
          const said = forms.split('|').map((form) => form.split(':')[0]);
          expect(said, `${lang} ${key}`).to.have.members(categories);
        }
        if (lang !== 'en' && / /.test(english) && !/\||bare|timesevery/.test(`${key}${english}`))
          expect(text, `${lang} ${key}`).to.not.equal(english);
      }
    }
  });

  it('lose no part of a dose, in any language', () => {
    // Numbers and words that occur only once, because each of them must be found in the text.
    let next = 100;
    const unique = (): number => {
      next += 1;
      return next;
    };
    const number = fc.constant(undefined).map(unique);
    const words = fc.constant(undefined).map(() => `words${unique()}`);
    const concept = words.map((text) => ({ text }));
    const unit = fc.constantFrom('tablet', 'mg', 'mL', 'drop', undefined, '[iU]', 'puff');
    const time = fc.constantFrom('s', 'min', 'h', 'd', 'wk', 'mo', 'a');
    const quantity = fc.tuple(number, unit).map(([value, of]) => amount(value, of));
    const range = fc.record({ low: quantity, high: quantity }, { requiredKeys: [] });
    const timed = fc.tuple(number, time).map(([value, code]) => ({ value, code }));
    const ratio = fc.record({ numerator: quantity, denominator: fc.oneof(timed, quantity) });
    const timing = fc.record(
      {
        code: concept,
        event: fc.array(fc.constantFrom('2026-02-03', '2026-02-03T07:08:09Z'), { maxLength: 1 }),
        repeat: fc.record(
          {
            boundsDuration: timed,
            boundsPeriod: fc.record(
              { start: fc.constant('2025-04-05'), end: fc.constant('2025-06-07') },
              { requiredKeys: [] },
            ),
            count: number,
            countMax: number,
            duration: number,
            durationMax: number,
            durationUnit: time,
            frequency: number,
            frequencyMax: number,
            period: number,
            periodMax: number,
            periodUnit: time,
            timeOfDay: fc.array(fc.constantFrom('21:43:00', '05:17:30'), { maxLength: 2 }),
            offset: number,
            when: fc.array(fc.constantFrom('ACM', 'HS', 'PC.x'), { maxLength: 2 }),
          },
          { requiredKeys: [] },
        ),
      },
      { requiredKeys: [] },
    );
    const dosage = fc.record(
      {
        text: words,
        patientInstruction: words,
        additionalInstruction: fc.array(concept, { maxLength: 2 }),
        timing,
        asNeededCodeableConcept: concept,
        site: concept,
        route: concept,
        method: concept,
        doseAndRate: fc.array(
          fc.record(
            {
              type: concept,
              doseQuantity: quantity,
              doseRange: range,
              rateQuantity: quantity,
              rateRatio: ratio,
            },
            { requiredKeys: [] },
          ),
          { maxLength: 2 },
        ),
        maxDosePerPeriod: ratio,
        maxDosePerAdministration: quantity,
        maxDosePerLifetime: quantity,
        extension: fc.array(fc.record({ url: words, valueString: words }), { maxLength: 1 }),
        surprise: fc.record({ inner: words }),
      },
      { requiredKeys: [] },
    );
    /**
     * Returns the texts and numbers of a value that its wording must contain; time units and events are words of the language.
     */
    const partsOf = (value: unknown): string[] => {
      if (typeof value === 'number') return [String(value)];
      if (typeof value === 'string')
        return /^words|^\d/.test(value)
          ? [value.replace(/T(\d\d:\d\d).*$/, ' $1').replace(/^(\d\d:\d\d):00$/, '$1')]
          : [];
      if (Array.isArray(value)) return value.flatMap(partsOf);
      return typeof value === 'object' && value !== null ? Object.values(value).flatMap(partsOf) : [];
    };
    fc.assert(
      fc.property(
        fc.array(dosage, { minLength: 1, maxLength: 2 }),
        fc.constantFrom(...LANGS),
        (given, lang) => {
          const said = dosesInWords(given, { lang }) ?? '';
          // An offset in whole hours is expressed in hours.
          const offsets = given.map(({ timing: of }) => String(of?.repeat?.offset));
          for (const part of partsOf(given)) {
            if (offsets.includes(part)) continue;
            const shown = [part, new Intl.NumberFormat(lang === 'en' ? 'en-GB' : lang).format(Number(part))];
            expect(
              shown.some((each) => said.includes(each)),
              `${JSON.stringify(given)} ${part}: ${said}`,
            ).to.equal(true);
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
