/** Dates in words, and phrases about what was prescribed or recorded more than once. */
import { expect } from 'chai';
import { ageText } from '#src/clinical/reading/changes.ts';
import { dayInWords } from '#src/clinical/reading/day-words.ts';
import { inEnglish } from '#src/clinical/reading/english.ts';
import { joinMedicines, readMedicineSource } from '#src/clinical/reading/medicines.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { changePhrases, medicinePhrases, repeatPhrases } from '#src/clinical/reading/phrases.ts';
import { joinProblems, readProblemSource } from '#src/clinical/reading/problems.ts';
import { choice } from '#src/clinical/reading/words.ts';
import { texts } from '#src/http/pages/texts.ts';
import { splitStates, statesText } from '#src/http/reading/summary-words.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

const AROUND = { today: '2026-11-01', look: () => undefined, name: nameConcept };

describe('phrases of the reading', () => {
  it('write dates as exactly as they are recorded', () => {
    expect(
      ['2011', '2011-05', '2011-05-02', '2011-05-02T23:30:00-05:00'].map((date) => dayInWords('en', date)),
    ).to.deep.equal(['2011', 'May 2011', '2 May 2011', '2 May 2011']);
    expect(dayInWords('de', '2011-05')).to.equal('Mai 2011');
    for (const other of ['', 'in spring', '2011 or so', '2011-13'])
      expect(dayInWords('en', other)).to.equal(other);
  });

  it('say of two prescriptions when they were, and of more the span', () => {
    const said = (more: object, ...days: readonly string[]): string[] =>
      joinMedicines(
        days.map((authoredOn, n) => {
          const value = { status: 'stopped', authoredOn, medicationCodeableConcept: { text: 'X' }, ...more };
          return readMedicineSource({ type: 'MedicationRequest', id: String(n), value }, AROUND);
        }),
      ).flatMap((medicine) => medicinePhrases(medicine).map(inEnglish));
    const ended = 'date not recorded';
    expect(said({}, '2020-01-01')).to.deep.equal([ended, 'prescribed 2020-01-01']);
    expect(said({}, '2021-02-02', '2020-01-01')).to.deep.equal([
      ended,
      'prescribed 2020-01-01 and 2021-02-02',
    ]);
    expect(said({}, '2020-01-01', '2020-01-01')).to.deep.equal([ended, 'prescribed 2 times on 2020-01-01']);
    expect(said({}, '2021-02-02', '2020-01-01', '2020-06-01')).to.deep.equal([
      ...[ended, 'prescribed 3 times, 2020-01-01 to 2021-02-02'],
    ]);
    expect(said({ status: 'active', doNotPerform: true }, '2021-02-02', '2020-01-01')).to.deep.equal([
      'ordered 2021-02-02',
    ]);
  });

  it('say how often a problem is recorded, and the day that isn’t said yet', () => {
    const said = (code: string, ...days: readonly (string | undefined)[]): string[] =>
      joinProblems(
        days.map((onset, n) => {
          const value = {
            ...{ code: { text: 'Sinusitis' }, clinicalStatus: { coding: [{ code }] } },
            ...(onset === undefined ? {} : { onsetDateTime: onset }),
          };
          return readProblemSource({ type: 'Condition', id: String(n), value }, AROUND);
        }),
      ).flatMap((problem) => repeatPhrases(problem).map(inEnglish));
    expect(said('resolved', '2010-01-01', '2015-01-01', '2020-01-01')).to.deep.equal([
      'recorded 3 times, first began 2010-01-01',
    ]);
    expect(said('active', '2010-01-01', '2020-01-01')).to.deep.equal([
      'recorded 2 times, last began 2020-01-01',
    ]);
    expect(said('active', '2010-01-01', undefined)).to.deep.equal(['recorded 2 times']);
    expect(said('active', '2010-01-01')).to.deep.equal([]);
  });

  it('say at which age something began, also if only one end of it is known', () => {
    const years = (value: number, more: object = {}) => ({ value, code: 'a', ...more });
    const said = (value: JsonObject): string[] => changePhrases(value, 'onset').map(inEnglish);
    expect(said({ onsetAge: years(30) })).to.deep.equal(['age at onset: 30 years']);
    expect(said({ onsetAge: years(30, { comparator: '<' }) })).to.deep.equal(['age at onset: <30 years']);
    expect(said({ onsetRange: { low: years(30), high: years(40) } })).to.deep.equal([
      'age at onset: 30–40 years',
    ]);
    expect(said({ onsetRange: { low: years(30) } })).to.deep.equal(['age at onset: at least 30 years']);
    expect(said({ onsetRange: { high: years(40) } })).to.deep.equal(['age at onset: up to 40 years']);
    expect(said({ onsetRange: { low: { value: 6, code: 'mo' }, high: years(2) } })).to.deep.equal([
      'onset: 6 mo – 2 a',
    ]);
    expect(
      (['de', 'fr', 'es', 'nb', 'ar'] as const).map((lang) => ageText(lang, { from: 30, unit: 'a' })),
    ).to.deep.equal([
      'mindestens 30 Jahre',
      'au moins 30 ans',
      'al menos 30 años',
      'minst 30 år',
      '30 سنة على الأقل',
    ]);
    expect(choice({ performedAge: years(40) }, 'performed')).to.equal('at age 40 years');
    expect(choice({ performedRange: { low: years(40) } }, 'performed')).to.equal('from age 40 years');
    expect(choice({ performedRange: { high: years(50) } }, 'performed')).to.equal('up to age 50 years');
  });

  it('say what was planned, and then what became of it', () => {
    const written = (lang: 'en' | 'de'): string => {
      const say = texts(lang);
      return statesText(say, splitStates(say, 'prescription', 'completed, order, daily').states);
    };
    expect([written('en'), written('de')]).to.deep.equal(['Order, completed', 'Anordnung, abgeschlossen']);
  });
});
