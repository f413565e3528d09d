/** A dosage that changed through another entry for the same medicine: when the change is shown, and when it isn't. */
import { expect } from 'chai';
import fc from 'fast-check';
import { compareDoses } from '#src/clinical/reading/doses/compare-doses.ts';
import {
  doseChangeText,
  readChangeText,
  readRefutedText,
  refutedText,
} from '#src/clinical/reading/english.ts';
import { joinMedicines, type Medicine, readMedicineSource } from '#src/clinical/reading/medicines.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';

const TODAY = '2026-11-01';

function read(...values: readonly JsonObject[]): Medicine {
  const [medicine, ...others] = joinMedicines(
    values.map((value, n) => {
      const whole: JsonObject = { medicationCodeableConcept: { text: 'Methotrexate' }, status: 'active' };
      const { resourceType: type, ...told } = Object.assign(whole, value);
      const around = { today: TODAY, look: () => undefined, name: nameConcept };
      return readMedicineSource({ type: String(type), id: String(n), value: told }, around);
    }),
  );
  if (medicine === undefined || others.length > 0) throw new Error('not one medicine');
  return medicine;
}
const said = (...values: readonly JsonObject[]): string | undefined => doseChangeText(read(...values));

const dose = (
  value: number,
  unit: string,
  frequency: number,
  period: number,
  periodUnit: string,
): JsonObject => ({
  doseAndRate: [{ doseQuantity: { value, unit } }],
  timing: { repeat: { frequency, period, periodUnit } },
});
const WEEKLY = dose(15, 'mg', 1, 1, 'wk');
const DAILY = dose(15, 'mg', 1, 1, 'd');

const ordered = (authoredOn: string | undefined, dosage: Json, more: JsonObject = {}): JsonObject => ({
  ...{ resourceType: 'MedicationRequest', intent: 'order', dosageInstruction: [dosage] },
  ...(authoredOn === undefined ? {} : { authoredOn }),
  ...more,
});
const taken = (start: string | undefined, dosage: Json, more: JsonObject = {}): JsonObject => ({
  ...{ resourceType: 'MedicationStatement', dosage: [dosage] },
  ...(start === undefined ? {} : { effectivePeriod: { start } }),
  ...more,
});
const over = { status: 'completed' };
const CHANGED = 'dosage changed, prescribed 2026-05-12, before: 15 mg once a week (prescribed 2025-11-03)';

describe('a dosage that a newer entry changes', () => {
  it('is told with the day of the newer entry and with the earlier dosage', () => {
    for (const status of ['completed', 'stopped'])
      expect(said(ordered('2026-05-12', DAILY), ordered('2025-11-03', WEEKLY, { status }))).to.equal(CHANGED);
    expect(
      said(
        taken('2026-05-12', DAILY),
        taken(undefined, WEEKLY, {
          status: 'stopped',
          effectivePeriod: { start: '2025-11-03', end: '2026-05-11' },
        }),
      ),
    ).to.equal(
      'dosage changed, taken since 2026-05-12, before: 15 mg once a week (taken 2025-11-03 to 2026-05-11)',
    );
    expect(said(taken('2026-05-12', DAILY), ordered('2025-11-03', WEEKLY, over))).to.contain(
      'taken since 2026-05-12, before: 15 mg once a week (prescribed 2025-11-03)',
    );
    // Both entries say since when the medicine has been taken, and one was asserted after the other.
    expect(
      said(
        taken('2019', DAILY, { dateAsserted: '2026-05-12' }),
        taken('2019', WEEKLY, { ...over, dateAsserted: '2025-11-03' }),
      ),
    ).to.equal('dosage changed, recorded 2026-05-12, before: 15 mg once a week (taken from 2019)');
  });

  it('is told of one that is recorded as active if the newer one names it as the one before', () => {
    const link = (n: number): JsonObject => ({ priorPrescription: { reference: `MedicationRequest/${n}` } });
    const older = ordered('2025-11-03', WEEKLY);
    expect(said(ordered('2026-05-12', DAILY, link(1)), older)).to.equal(CHANGED);
    expect(said(ordered('2026-05-12', DAILY, link(7)), older)).to.equal(undefined);
    // If the dates are in the reverse order, the link is doubtful.
    expect(said(ordered('2025-01-01', DAILY, link(1)), older)).to.equal(undefined);
  });

  it('is no change if both are current: both are shown, and the newer one is marked', () => {
    const [morning, evening] = ['MORN', 'EVE'].map((when) => ({
      ...DAILY,
      timing: { repeat: { frequency: 1, period: 1, periodUnit: 'd', when: [when] } },
    }));
    const both = read(ordered('2026-10-12', morning ?? {}), ordered('2025-11-03', evening ?? {}));
    expect([both.doseChange, both.hasNewDose, both.doses.length]).to.deep.equal([undefined, true, 2]);
    for (const day of ['2026-10-12', '2026-10'])
      expect(read(ordered('2026-10-12', morning ?? {}), ordered(day, evening ?? {})).hasNewDose).to.equal(
        false,
      );
    expect(read(ordered('2025-12-12', DAILY), ordered('2025-11-03', WEEKLY)).hasNewDose).to.equal(false);
    // An older entry with the same dosage continues, so nothing has changed.
    expect(
      said(ordered('2026-05-12', DAILY), taken('2020', WEEKLY), ordered('2025-11-03', WEEKLY, over)),
    ).to.equal(undefined);
  });

  it('is never an older entry, nor one whose day isn’t certain to be earlier', () => {
    for (const authoredOn of ['2026-05-13', '2026-05-12', '2026-05', '2026', undefined])
      expect(said(ordered('2026-05-12', DAILY), ordered(authoredOn, WEEKLY, over)), authoredOn).to.equal(
        undefined,
      );
    expect(
      said(
        ordered('2026-05-12T15:00:00Z', DAILY),
        ordered('2026-05-12T09:00:00+02:00', WEEKLY, { status: 'stopped' }),
      ),
    ).to.contain('dosage changed, prescribed 2026-05-12, before: 15 mg once a week');
    const since = taken('2020', DAILY, { dateAsserted: '2026-05-12' });
    expect(said(since, ordered('2025-11-03', WEEKLY, over))).to.equal(undefined);
    const day = fc.integer({ min: 0, max: 300 }).map((n) => Date.UTC(2026, 0, 1) + n * 86_400_000);
    fc.assert(
      fc.property(day, day, (one, other) => {
        const [now, then] = [one, other].map((at) => new Date(at).toISOString().slice(0, 10));
        const text = said(ordered(now, DAILY), ordered(then, WEEKLY, { status: 'stopped' }));
        expect(text !== undefined).to.equal(one > other);
      }),
    );
  });

  it('is told by the first of the renewals that have it, and the newest of those before', () => {
    expect(
      said(
        ordered('2026-08-12', DAILY),
        ordered('2026-05-12', DAILY, over),
        ordered('2025-11-03', WEEKLY, over),
        ordered('2025-08-03', dose(10, 'mg', 1, 1, 'wk'), over),
      ),
    ).to.equal(CHANGED);
    // Two entries from the same day formed one regimen.
    const [one, two] = [5, 10].map((value) => ordered('2025-11-03', dose(value, 'mg', 1, 1, 'wk'), over));
    expect(said(ordered('2026-05-12', DAILY), one ?? {}, two ?? {})).to.match(
      /before: (?:5|10) mg once a week \(prescribed 2025-11-03\) \| (?:5|10) mg once a week/,
    );
  });

  it('isn’t told of what was over long before, never taken, only planned, or of another setting', () => {
    const now = ordered('2026-05-12', DAILY);
    const setting = (code: string): JsonObject => ({ category: [{ coding: [{ code }] }] });
    const ended = {
      ...WEEKLY,
      timing: { repeat: { frequency: 1, period: 1, periodUnit: 'wk', boundsPeriod: { end: '2025-12-01' } } },
    };
    for (const earlier of [
      ordered('2015-11-03', WEEKLY, over),
      ordered('2025-11-03', ended, over),
      taken('2025-11-03', WEEKLY, { status: 'not-taken' }),
      ordered('2025-11-03', WEEKLY, { ...over, intent: 'plan' }),
      taken(undefined, WEEKLY, over),
    ])
      expect(said(now, earlier), JSON.stringify(earlier)).to.equal(undefined);
    const [home, ward] = ['community', 'inpatient'].map(setting);
    expect(said({ ...now, ...home }, ordered('2026-05-01', WEEKLY, { ...over, ...ward }))).to.equal(
      undefined,
    );
    expect(said({ ...now, ...home }, ordered('2026-05-01', WEEKLY, { ...over, ...home }))).to.contain(
      'changed',
    );
    // A statement without an end doesn't say until when it was true, so its dosage is shown, but no change.
    expect(said(now, taken('2019', WEEKLY, { status: 'stopped' }))).to.equal(
      'earlier dosage, before the one prescribed 2026-05-12: 15 mg once a week (taken from 2019)',
    );
    expect(said(ordered('2026-05-12', DAILY, over), ordered('2025-11-03', WEEKLY, over))).to.equal(undefined);
  });

  it('is marked for 90 days', () => {
    const recent = (day: string): boolean | undefined =>
      read(ordered(day, DAILY), ordered('2026-01-03', WEEKLY, over)).doseChange?.isRecent;
    expect([recent('2026-08-04'), recent('2026-08-03')]).to.deep.equal([true, false]);
  });

  it('isn’t claimed where texts can’t be compared: the earlier one is told', () => {
    const [now, then] = ['one in the morning, half at night', 'one at night'];
    expect(said(ordered('2026-05-12', { text: now }), ordered('2025-11-03', { text: then }, over))).to.equal(
      'earlier dosage, before the one prescribed 2026-05-12: one at night (prescribed 2025-11-03)',
    );
    const named = (text: string): JsonObject => ({
      medicationCodeableConcept: { text, coding: [{ system: 'urn:x', code: '1' }] },
    });
    const tablets = (value: number): JsonObject => dose(value, 'tablet', 1, 1, 'wk');
    expect(
      said(
        ordered('2026-05-12', tablets(1), named('Methotrexate 10 mg')),
        ordered('2025-11-03', tablets(4), { ...over, ...named('Methotrexate 2.5 mg') }),
      ),
    ).to.equal(
      'earlier dosage, before the one prescribed 2026-05-12: Methotrexate 2.5 mg: 4 tablets once a week (prescribed 2025-11-03)',
    );
  });
});

describe('the English of a change', () => {
  it('is read again as it was written', () => {
    expect(readChangeText(CHANGED)).to.deep.equal({
      isCertain: true,
      since: { says: 'prescribed', days: { day: '2026-05-12' } },
      doses: [{ dose: '15 mg once a week', when: { says: 'prescribed', days: { day: '2025-11-03' } } }],
    });
    // In form 4 of `$summary`, the day was missing.
    for (const [next, since] of [
      [', before the one taken since 2026-05', { says: 'takensince', days: { day: '2026-05' } }],
      ['', undefined],
    ] as const)
      expect(readChangeText(`earlier dosage${next}: A: one (half) | two (taken from 2019)`)).to.deep.equal({
        isCertain: false,
        since,
        doses: [
          { dose: 'A: one (half)', when: undefined },
          { dose: 'two', when: { says: 'takenfrom', days: { day: '2019' } } },
        ],
      });
    expect(readChangeText('body site changed 3 times, last 2026-05-12, before: left, upper')).to.deep.equal({
      ...{ element: 'bodySite', day: '2026-05-12', times: 3, before: 'left, upper' },
    });
    expect(readChangeText('Peanut')).to.equal(undefined);
    const refuted = (more: JsonObject): string =>
      refutedText('A: refuted once', { type: 'AllergyIntolerance', id: '1', value: more });
    for (const [recordedDate, day] of [
      ['2026-05-12T10:00:00Z', '2026-05-12'],
      [undefined, undefined],
    ] as const)
      expect(readRefutedText(refuted(recordedDate === undefined ? {} : { recordedDate }))).to.deep.equal({
        ...{ name: 'A: refuted once', day, isRecorded: day !== undefined, before: [] },
      });
  });
});

describe('two dosages', () => {
  const compare = (one: Json, other: Json, isSame = true): string => compareDoses([one], [other], isSame);
  const inText = (one: string, other: string): string => compare({ text: one }, { text: other });

  it('are the same in other units, rhythms and words', () => {
    expect(compare(dose(1_000, 'mg', 1, 1, 'd'), dose(1, 'g', 1, 24, 'h'))).to.equal('same');
    expect(compare(dose(2, 'tablets', 1, 12, 'h'), dose(2, 'TAB', 2, 1, 'd'))).to.equal('same');
    const coded: Json = { doseAndRate: [{ doseQuantity: { value: 2, unit: 'tablet' } }] };
    expect(
      compare({ ...coded, timing: { code: { coding: [{ code: 'BID' }] } } }, dose(2, 'tablet', 2, 1, 'd')),
    ).to.equal('same');
    for (const [one, other] of [
      ['15 mg once a week', '15mg weekly.'],
      ['2 tablets twice daily', '2 tablets 2 times a day'],
      ['15 mg einmal pro Woche', '15 mg wöchentlich'],
    ] as const)
      expect(inText(one, other), other).to.equal('same');
    expect(compare(WEEKLY, { text: '15 mg once a week' })).to.equal('same');
    expect(compareDoses([WEEKLY, DAILY], [DAILY, WEEKLY], true)).to.equal('same');
    const bounded: Json = {
      repeat: { frequency: 1, period: 1, periodUnit: 'wk', boundsPeriod: { end: '2026' } },
    };
    expect(compare(WEEKLY, { ...WEEKLY, timing: bounded })).to.equal('same');
  });

  it('differ by amount, rhythm, route, moment and need', () => {
    const weekday = (day: string): Json => ({
      ...WEEKLY,
      timing: { repeat: { frequency: 1, period: 1, periodUnit: 'wk', dayOfWeek: [day] } },
    });
    const routed = (code: string): Json => ({ ...WEEKLY, route: { coding: [{ code }] } });
    for (const [one, other] of [
      [WEEKLY, DAILY],
      [WEEKLY, dose(20, 'mg', 1, 1, 'wk')],
      [DAILY, dose(15, 'g', 1, 1, 'd')],
      [weekday('mon'), weekday('thu')],
      [routed('26643006'), routed('SC')],
      [DAILY, { ...DAILY, asNeededBoolean: true }],
      [WEEKLY, { text: '15 mg once a day' }],
    ] as const)
      expect(compare(one, other), JSON.stringify(other)).to.equal('other');
    for (const [one, other] of [
      ['15 mg once a week', '15 mg once a day'],
      ['10 mg daily', '20 mg daily'],
      ['Take 1 tablet in the morning', 'Take 2 tablets in the morning'],
      ['15 mg einmal pro Woche', '15 mg täglich'],
    ] as const)
      expect(inText(one, other), other).to.equal('other');
    expect(compareDoses([DAILY, DAILY], [dose(45, 'mg', 1, 1, 'd')], true)).to.equal('other');
  });

  it('can’t be compared if a unit, a text or the product is another one', () => {
    expect(compare(dose(15, 'mg', 1, 1, 'd'), dose(1, 'tablet', 1, 1, 'd'))).to.equal('unclear');
    expect(compare(dose(1, 'tablet', 1, 1, 'd'), dose(2, 'tablet', 1, 1, 'd'), false)).to.equal('unclear');
    expect(compare(dose(1, 'tablet', 1, 1, 'd'), dose(1, 'tablet', 1, 1, 'd'), false)).to.equal('unclear');
    expect(compare(dose(5, 'mg', 1, 1, 'd'), dose(10, 'mg', 1, 1, 'd'), false)).to.equal('other');
    for (const [one, other] of [
      ['1 tablet at 08:00', '1 tablet at 09:00'],
      ['as directed', 'see plan'],
      ['1,000 mg daily', '1000 mg daily'],
      ['1 tablet daily, dispense 30', '1 tablet daily, dispense 90'],
      ['10 mg daily since 12.05.2025', '20 mg daily since 12.05.2026'],
      ['once a day and once a week', 'once a day and once a day'],
    ] as const)
      expect(inText(one, other), other).to.equal('unclear');
    expect(compare({ ...DAILY, text: 'with food' }, { ...DAILY, text: 'fasting' })).to.equal('unclear');
    expect(compareDoses([DAILY, DAILY], [dose(30, 'mg', 1, 1, 'd')], true)).to.equal('unclear');
  });
});
