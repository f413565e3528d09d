/** Sources of a medicine other than the leading source, planned medicines, and which dosage belongs to which source. */
import { expect } from 'chai';
import fc from 'fast-check';
import { inEnglish, readEnglish, standingText } from '#src/clinical/reading/english.ts';
import { joinMedicines, type Medicine, readMedicineSource } from '#src/clinical/reading/medicines.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { dosePhrases, medicinePhrases } from '#src/clinical/reading/phrases.ts';
import type { JsonObject } from '#src/shared/json/json.ts';

const AROUND = { today: '2026-11-01', look: () => undefined, name: nameConcept };

const read = (...values: readonly JsonObject[]): Medicine[] =>
  joinMedicines(
    values.map((value, n) => {
      const whole: JsonObject = { medicationCodeableConcept: { text: 'X' }, status: 'active' };
      const { resourceType: type, ...told } = Object.assign(whole, value);
      return readMedicineSource({ type: String(type), id: String(n), value: told }, AROUND);
    }),
  );
const said = (...values: readonly JsonObject[]): string[] =>
  read(...values).map((medicine) => standingText(medicine, undefined));

const taken = (more: JsonObject): JsonObject => ({ resourceType: 'MedicationStatement', ...more });
const ordered = (authoredOn: string, more: JsonObject = {}): JsonObject => ({
  ...{ resourceType: 'MedicationRequest', intent: 'order', authoredOn },
  ...more,
});
const stored = (versionId: string, lastUpdated: string): JsonObject => ({ meta: { versionId, lastUpdated } });
const reason = { text: 'nausea; vomiting' };

describe('the sources of a medicine', () => {
  it('contradict each other: a prescription that was stopped after the newest statement, and the reverse', () => {
    const current = taken({ effectivePeriod: { start: '2019' }, dateAsserted: '2024-03-01' });
    expect(said(current, ordered('2024-06-01', { status: 'stopped' }))).to.deep.equal([
      'active; taken since 2019; prescribed 2024-06-01; also recorded as stopped (prescription of 2024-06-01)',
    ]);
    for (const status of ['completed', 'on-hold'])
      expect(said(current, ordered('2024-06-01', { status })).join(), status).to.contain(
        '; also recorded as ',
      );
    const earlier = ordered('2024-02-01', { status: 'stopped' });
    expect(said(current, earlier)).to.deep.equal(['active; taken since 2019; prescribed 2024-02-01']);
    expect(
      said(current, ordered('2024-06-01', { status: 'stopped' }), ordered('2024-07-01')).join(),
    ).to.not.contain('also recorded');
    const stopped = taken({ status: 'stopped', effectivePeriod: { start: '2019', end: '2024-09-01' } });
    expect(said(ordered('2024-06-01'), stopped)).to.deep.equal([
      'active; prescribed 2024-06-01; also recorded as stopped on 2024-09-01',
    ]);
    expect(
      said(ordered('2024-06-01'), taken({ status: 'on-hold', effectiveDateTime: '2024-05-01' })),
    ).to.deep.equal([
      'on hold; taken on 2024-05-01; prescribed 2024-06-01; also recorded as active (prescription of 2024-06-01)',
    ]);
  });

  it('contradict each other by the day on which an entry was changed here, if their dates don’t say', () => {
    const current = taken({ effectivePeriod: { start: '2020' }, ...stored('1', '2025-01-05T10:00:00Z') });
    const order = (meta: JsonObject): JsonObject => ordered('2019-12-01', { status: 'stopped', ...meta });
    expect(said(current, order(stored('2', '2026-05-03T09:00:00Z')))).to.deep.equal([
      'active; taken since 2020; prescribed 2019-12-01; also recorded as stopped on 2026-05-03 (prescription)',
    ]);
    // An order that was never changed says nothing beyond its dates, and neither does an order that was changed on the same
    // day.
    for (const meta of [stored('1', '2026-05-03T09:00:00Z'), stored('2', '2025-01-05T23:00:00Z')])
      expect(said(current, order(meta)).join()).to.not.contain('also recorded');
  });

  it('say nothing by a prescription that a newer one follows, even if it was stopped here later', () => {
    const order = (versionId: string, day: string, more: JsonObject = {}): JsonObject =>
      ordered(day, { ...more, ...stored(versionId, `${day}T09:00:00Z`) });
    const stopped = ordered('2024-06-01', { status: 'stopped', ...stored('2', '2026-05-03T09:00:00Z') });
    expect(said(order('1', '2024-05-01'), stopped).join()).to.contain('also recorded as stopped');
    expect(said(order('1', '2024-07-01'), stopped).join()).to.not.contain('also recorded');
  });

  it('contradict a statement on or after its day, whatever the days, and never before', () => {
    const day = fc
      .integer({ min: 0, max: 3_000 })
      .map((n) => new Date(Date.UTC(2018, 0, 1) + n * 86_400_000).toISOString().slice(0, 10));
    fc.assert(
      fc.property(day, day, fc.constantFrom('stopped', 'completed'), (asserted, authored, status) => {
        const [text = ''] = said(taken({ dateAsserted: asserted }), ordered(authored, { status }));
        expect(text.includes('also recorded as')).to.equal(authored >= asserted);
      }),
    );
  });

  it('say nothing by orders that never were one, and by states that aren’t known', () => {
    const [medicine] = read(
      taken({ effectiveDateTime: '2020-01-01' }),
      taken({ effectiveDateTime: '2021-01-01', status: 'unknown' }),
    );
    expect(medicine?.status).to.equal('unknown');
    expect(said(taken({}), ordered('2024-01-01', { status: 'unknown' })).join()).to.not.contain('also');
  });

  it('say why they have their state', () => {
    const stopped = taken({ status: 'stopped', dateAsserted: '2024-01-01', statusReason: [reason] });
    expect(said(stopped)).to.deep.equal([
      'stopped; reason: nausea, vomiting; date not recorded; recorded 2024-01-01',
    ]);
    const [text = ''] = said(
      taken({ effectiveDateTime: '2020' }),
      ordered('2024-01-01', { status: 'stopped', statusReason: reason }),
    );
    expect(text).to.match(
      /also recorded as stopped \(prescription of 2024-01-01\); reason: nausea, vomiting$/,
    );
  });

  it('are only planned if they are intended, a plan, or about the future', () => {
    expect(said(taken({ status: 'intended' }))).to.deep.equal(['planned']);
    expect(said(taken({ effectivePeriod: { start: '2027-01-01' } }))).to.deep.equal([
      'planned; planned from 2027-01-01',
    ]);
    expect(said(taken({ effectivePeriod: { start: '2027', end: '2028' } }))).to.deep.equal([
      'planned; planned from 2027 to 2028',
    ]);
    expect(said(taken({ effectiveDateTime: '2026-11-02' }))).to.deep.equal([
      'planned; planned from 2026-11-02',
    ]);
    expect(said(ordered('2026-10-01', { intent: 'plan' }))).to.deep.equal(['planned; recorded 2026-10-01']);
    expect(read(ordered('2026-10-01', { intent: 'plan', reportedBoolean: true }))[0]?.standing).to.equal(
      'current',
    );
    expect(said(taken({ effectivePeriod: { start: '2020', end: '2027-02' } }))).to.deep.equal([
      'active; taken from 2020, planned until 2027-02',
    ]);
    for (const date of ['2026-11-01', '2026-11', '2026'])
      expect(said(taken({ effectivePeriod: { start: date } })), date).to.deep.equal([
        `active; taken since ${date}`,
      ]);
    expect(
      said(taken({ effectiveDateTime: '2020' }), taken({ effectivePeriod: { start: '2027' } })),
    ).to.deep.equal(['active; taken on 2020; also planned from 2027']);
  });

  it('are told apart where they have several dosages', () => {
    const dosed = (text: string, more: JsonObject): JsonObject =>
      more.resourceType === 'MedicationRequest'
        ? { ...more, dosageInstruction: [{ text }] }
        : { ...more, dosage: [{ text }] };
    const apart = (...values: readonly JsonObject[]): string[][] =>
      read(...values).flatMap((medicine) =>
        medicine.doses.map((dose) => dosePhrases(dose, medicine).map(inEnglish)),
      );
    expect(apart(dosed('20 mg', ordered('2026-01-01')), dosed('10 mg', ordered('2025-01-01')))).to.deep.equal(
      [['prescribed 2026-01-01'], ['prescribed 2025-01-01']],
    );
    expect(
      apart(
        dosed('20 mg', taken({ effectivePeriod: { start: '2024' } })),
        dosed('10 mg', ordered('2025-01-01', { status: 'on-hold' })),
        dosed('5 mg', taken({ effectivePeriod: { start: '2027' } })),
      ),
    ).to.deep.equal([['taken since 2024'], ['on hold', 'prescribed 2025-01-01'], ['planned from 2027']]);
    expect(apart(dosed('20 mg', ordered('2026-01-01')))).to.deep.equal([[]]);
  });

  it('are read again from the English of a summary', () => {
    const pairs: readonly (readonly JsonObject[])[] = [
      [
        taken({ effectiveDateTime: '2020' }),
        ordered('2024-01-01', { status: 'stopped', statusReason: { text: 'a rash' } }),
      ],
      [ordered('2024-06-01'), taken({ status: 'not-taken', dateAsserted: '2024-07-01' })],
      [taken({ effectivePeriod: { start: '2027', end: '2028' } })],
      [
        taken({ effectivePeriod: { start: '2020', end: '2027' } }),
        taken({ effectivePeriod: { start: '2028' } }),
      ],
      [taken({ status: 'stopped', statusReason: [{ text: 'a rash' }] })],
    ];
    for (const pair of pairs)
      for (const medicine of read(...pair))
        expect(readEnglish(standingText(medicine, undefined))).to.deep.equal(medicinePhrases(medicine));
  });
});
