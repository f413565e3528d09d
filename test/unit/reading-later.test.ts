/** Prescriptions that become valid later, and medicines dated after the person's death: each view says so. */
import { expect } from 'chai';
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { readPerson } from '#src/clinical/reading/person.ts';
import { readRecord } from '#src/clinical/reading/reading.ts';
import { texts } from '#src/http/pages/texts.ts';
import { medicineLine } from '#src/http/reading/known-lines.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import type { Version } from '#test/reading/raw.ts';
import { composeContext, summarize, view } from '#test/reading/views.ts';

const TODAY = '2026-11-01';

/** Returns a record that contains the given entries. */
function recordOf(person: JsonObject, ...values: readonly JsonObject[]) {
  const [patient, ...versions] = [{ resourceType: 'Patient', ...person }, ...values].map(
    (value, n): Version => {
      const id = `01890a5d-ac96-774b-bcce-${String(n).padStart(12, '0')}`;
      return { type: String(value.resourceType), id, version: 1, resource: { id, ...value }, byAi: false };
    },
  );
  if (patient === undefined) throw new Error('no patient');
  return { name: '', patient, versions: [patient, ...versions], directory: new Map() };
}

/** Returns the badge and the details that a patient's page shows for a medicine. */
function lineOf(lang: 'en' | 'de' | 'ar', person: JsonObject, value: JsonObject): string[] {
  const entry: ClinicalEntry = {
    ...{ type: String(value.resourceType), id: '1', version: 1, partOfAi: 'no' },
    ...{ value, before: undefined, recorded: Date.parse(TODAY) },
  };
  const around = { today: TODAY, look: () => undefined, name: nameConcept };
  const [medicine] = readRecord(person, [entry], around).facts.medicines;
  if (medicine === undefined) throw new Error('no medicine');
  const known = { name: nameConcept, person: readPerson(person), before: () => undefined };
  const { badges, details } = medicineLine({ say: texts(lang), known }, medicine);
  return [...badges.map(([, words]) => words), ...details];
}

/** Returns the medicine's status in the summary, its line in the context, and its phrases on the page of shared links. */
async function sayEverywhere(person: JsonObject, value: JsonObject) {
  const record = recordOf(person, value);
  const { sections, bundle } = summarize(record, TODAY);
  const [row] = (await view([bundle], TODAY)).sections.get('medications') ?? [];
  return {
    summary: sections.get('10160-0')?.rows[0]?.Status,
    context: (await composeContext(record, TODAY, 5_000)).text,
    link: row?.says.map(({ key, days }) => [key, Object.values(days ?? {})[0]]),
  };
}

const order = (more: JsonObject): JsonObject => ({
  ...{ resourceType: 'MedicationRequest', status: 'active', intent: 'order', authoredOn: '2026-10-01' },
  ...{ medicationCodeableConcept: { text: 'Ibuprofen' }, ...more },
});
const validFrom = (start: string, more: JsonObject = {}): JsonObject =>
  order({ dispenseRequest: { validityPeriod: { start } }, ...more });
const bounds = (start: string): JsonObject => ({
  dosageInstruction: [{ text: 'daily', timing: { repeat: { boundsPeriod: { start } } } }],
});

describe('a prescription that becomes valid later', () => {
  it('is planned from that day in each view', async () => {
    const { summary, context, link } = await sayEverywhere({}, validFrom('2027-01-01'));
    expect(summary).to.equal('planned; planned from 2027-01-01; prescribed 2026-10-01');
    expect(context).to.contain('- Ibuprofen; planned; planned from 2027-01-01; prescribed 2026-10-01\n');
    expect(link?.[0]).to.deep.equal(['known.plannedfrom', '2027-01-01']);
    expect(lineOf('en', {}, validFrom('2027-01-01')).slice(0, 2)).to.deep.equal([
      'planned',
      'planned from 1 January 2027',
    ]);
    expect(lineOf('de', {}, validFrom('2027-01-01'))[1]).to.equal('geplant ab 1. Januar 2027');
  });

  it('is current if it is valid already, or its dosage has begun', async () => {
    for (const given of [
      validFrom('2026-11-01'),
      validFrom('2026'),
      // Somewhere on earth it is the next day.
      validFrom('2026-11-02T00:00:00+13:00'),
      validFrom('2027-01-01', bounds('2026-10-01')),
      validFrom('2027-01-01', { reportedBoolean: true }),
    ])
      expect((await sayEverywhere({}, given)).summary, JSON.stringify(given)).to.equal(
        'active; prescribed 2026-10-01',
      );
    const later = await sayEverywhere({}, validFrom('2027-01-01', bounds('2027-01-02')));
    expect(later.summary).to.contain('planned from 2027-01-01');
  });
});

describe('a prescription that would have become valid later', () => {
  it('isn’t planned if it must not be given, has ended, is on hold, or the person has died', async () => {
    for (const [more, person, status] of [
      [{ doNotPerform: true }, {}, 'not to be given; ordered 2026-10-01'],
      [{ status: 'stopped' }, {}, 'stopped; date not recorded; prescribed 2026-10-01'],
      [{ status: 'completed' }, {}, 'completed; prescribed 2026-10-01'],
      [{ status: 'on-hold' }, {}, 'on hold; prescribed 2026-10-01'],
      [{ status: 'on-hold', ...bounds('2027-01-02') }, {}, 'on hold; prescribed 2026-10-01'],
      [{}, { deceasedDateTime: '2026-10-15' }, 'recorded as active (person deceased); prescribed 2026-10-01'],
    ] as const) {
      const given = validFrom('2027-01-01', more);
      const { context, link = [] } = await sayEverywhere(person, given);
      expect(context, JSON.stringify(given)).to.contain(`; ${status}\n`).and.not.contain('planned');
      expect(JSON.stringify([link, lineOf('en', person, given)])).to.not.contain('planned');
    }
  });
});

describe('a medicine that must not be given', () => {
  it('has its reason in each view', async () => {
    const forbidden = order({ doNotPerform: true, reasonCode: [{ text: 'GI bleed' }] });
    const { summary, context, link } = await sayEverywhere({}, forbidden);
    expect(summary).to.equal('not to be given; reason: GI bleed; ordered 2026-10-01');
    expect(context).to.contain('- Ibuprofen; not to be given; reason: GI bleed; ordered 2026-10-01\n');
    expect(link?.map(([key]) => key)).to.include('known.statusreason');
    expect(lineOf('en', {}, forbidden)).to.deep.equal([
      ...['Not to be given', 'reason: GI bleed', 'ordered 1 October 2026'],
    ]);
  });
});

describe('a medicine of a deceased person', () => {
  const died = { deceasedDateTime: '2026-05-01' };

  it('is said to be dated after the death, in each view', async () => {
    const { summary, context, link } = await sayEverywhere(died, order({}));
    const said = 'dated after the recorded death (2026-05-01)';
    expect(summary).to.equal(`recorded as active (person deceased); prescribed 2026-10-01; ${said}`);
    expect(context).to.contain(`; ${said}\n`);
    expect(context).to.contain('dated after the death (2026-05-01): Ibuprofen (2026-10-01)');
    expect(link).to.deep.include(['known.afterdeath', '2026-05-01']);
    expect(lineOf('en', died, order({}))).to.include('dated after the recorded death (1 May 2026)');
    expect(lineOf('de', died, order({}))).to.include('datiert nach dem eingetragenen Tod (1. Mai 2026)');
    expect(lineOf('ar', died, order({})).join()).to.contain('بتاريخ لاحق للوفاة المسجّلة');
    const taken = {
      resourceType: 'MedicationStatement',
      status: 'active',
      effectivePeriod: { start: '2026-06' },
    };
    for (const authoredOn of ['2026-05-02', '2026-05-02T00:30:00-04:00', '2026-05-02T12:30:00Z'])
      expect((await sayEverywhere(died, order({ authoredOn }))).summary, authoredOn).to.contain(said);
    const statement = { ...taken, medicationCodeableConcept: { text: 'Ibuprofen' } };
    expect((await sayEverywhere(died, statement)).summary).to.contain(said);
  });

  it('isn’t if it may be from the day of death or before, or was only planned', async () => {
    for (const [given, person] of [
      [order({ authoredOn: '2026-04-30' }), died],
      [order({ authoredOn: '2026-05-01T20:00:00Z' }), died],
      [order({ authoredOn: '2026' }), died],
      // In New York, it is still the first of May.
      [order({ authoredOn: '2026-05-02T00:30:00Z' }), died],
      [order({ authoredOn: '2026-05-02' }), { deceasedDateTime: '2026-05-01T23:30:00Z' }],
      [order({ authoredOn: '2026-05-01T09:00:00Z' }), { deceasedDateTime: '2026-05-01T09:30:00Z' }],
      [order({ intent: 'plan' }), died],
      [order({}), { deceasedBoolean: true }],
    ] as const) {
      const { summary, context } = await sayEverywhere(person, given);
      expect(`${summary} ${context}`, JSON.stringify(given)).to.not.contain('dated after');
    }
  });

  it('is named in contexts together with a vaccination after the death', async () => {
    const dose = (occurrenceDateTime: string): JsonObject => ({
      ...{ resourceType: 'Immunization', status: 'completed', occurrenceDateTime },
      vaccineCode: { text: 'Influenza' },
    });
    const told = async (day: string): Promise<string> =>
      (await composeContext(recordOf(died, dose(day)), TODAY, 5_000)).text;
    expect(await told('2026-10-01')).to.contain('dated after the death (2026-05-01): Influenza (2026-10-01)');
    expect(await told('2026-04-01')).to.not.contain('dated after');
  });
});
