/** Details of allergies, vaccinations and procedures that a reader acts on: each view shows them. */
import { expect } from 'chai';
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { readPerson } from '#src/clinical/reading/person.ts';
import { readRecord } from '#src/clinical/reading/reading.ts';
import { subpotentText } from '#src/clinical/reading/vaccinations.ts';
import { texts } from '#src/http/pages/texts.ts';
import { allergyLine, medicineLine, vaccinationLine } from '#src/http/reading/known-lines.ts';
import { summaryToday } from '#src/http/reading/summary-words.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import type { Version } from '#test/reading/raw.ts';
import { composeContext, summarize, view } from '#test/reading/views.ts';

const TODAY = '2026-11-01';
const AROUND = { today: TODAY, look: () => undefined, name: nameConcept };

const words = (text: string) => ({ text });

/** Returns the current versions of a record that contains the given entries. */
function recordOf(...values: readonly JsonObject[]) {
  const [patient, ...versions] = [{ resourceType: 'Patient' }, ...values].map((value, n): Version => {
    const id = `01890a5d-ac96-774b-bcce-${String(n).padStart(12, '0')}`;
    return { type: value.resourceType as string, id, version: 1, resource: { id, ...value }, byAi: false };
  });
  if (patient === undefined) throw new Error('no patient');
  return { name: '', patient, versions: [patient, ...versions], directory: new Map() };
}

/** Returns the reading of the given entries, as the patient pages use it. */
function read(...values: readonly JsonObject[]) {
  const entries = values.map(
    (value, n): ClinicalEntry => ({
      ...{ type: String(value.resourceType), id: String(n), version: 1, partOfAi: 'no' },
      ...{ value, before: undefined, recorded: Date.parse(TODAY) },
    }),
  );
  return readRecord({}, entries, AROUND);
}

const place = (lang: 'en' | 'de') => ({
  say: texts(lang),
  known: { name: nameConcept, person: readPerson({}), before: () => undefined },
});

describe('details of entries', () => {
  const rabies: JsonObject = {
    ...{ resourceType: 'Immunization', status: 'completed', vaccineCode: words('Rabies') },
    ...{ occurrenceDateTime: '2026-10-02', isSubpotent: true },
    subpotentReason: [{ coding: [{ code: 'partial' }] }],
  };

  it('say that a vaccination was subpotent, and why', async () => {
    const record = recordOf(rabies);
    const { sections, bundle } = summarize(record, TODAY);
    expect(sections.get('11369-6')?.rows[0]?.Dose).to.equal('subpotent: partial dose');
    const [row] = (await view([bundle], TODAY)).sections.get('immunizations') ?? [];
    expect(row?.says.map(({ text }) => text)).to.include('subpotent: partial dose');
    const [shown] = read(rabies).facts.vaccinations;
    if (shown === undefined) throw new Error('no vaccination');
    expect(vaccinationLine(place('en'), shown).details[0]).to.equal(
      '2 October 2026 (subpotent: partial dose)',
    );
    expect(vaccinationLine(place('de'), shown).details[0]).to.equal(
      '2. Oktober 2026 (nicht voll wirksam: Teildosis)',
    );
    expect(subpotentText({ isSubpotent: false, subpotentReason: [words('x')] }, 'en')).to.equal(undefined);
    expect(subpotentText({ subpotentReason: [words('spilt')] }, 'en')).to.equal('subpotent: spilt');
  });

  it('say at which age a procedure was done', async () => {
    const done = {
      ...{ resourceType: 'Procedure', status: 'completed', code: words('Appendectomy') },
      performedAge: { value: 40, system: 'http://unitsofmeasure.org', code: 'a' },
    };
    const record = recordOf(done);
    const { sections, bundle } = summarize(record, TODAY);
    expect(sections.get('47519-4')?.rows[0]?.Date).to.equal('at age 40 years');
    expect((await composeContext(record, TODAY, 5_000)).text).to.contain('Appendectomy at age 40 years');
    const [row] = (await view([bundle], TODAY)).sections.get('procedures') ?? [];
    expect(row?.says).to.deep.include({ key: 'known.performedage', values: { age: '40 years' } });
  });

  it('say in contexts that a vaccine was not given, and why', async () => {
    const vaccine = (status: string, day: string, more: JsonObject = {}): JsonObject => ({
      ...{ resourceType: 'Immunization', status, vaccineCode: words('Hepatitis B') },
      ...{ occurrenceDateTime: day, ...more },
    });
    const objected = { statusReason: { coding: [{ code: 'PATOBJ' }] } };
    const { text } = await composeContext(
      recordOf(vaccine('completed', '2026-04-01'), vaccine('not-done', '2026-05-01', objected)),
      TODAY,
      5_000,
    );
    expect(text).to.contain('- Hepatitis B: 2026-04-01\n');
    expect(text).to.contain('- Hepatitis B: not given 2026-05-01; reason: not wanted\n');
    const allergic = { statusReason: { text: 'anaphylaxis after the last dose' } };
    const reasons = await composeContext(
      recordOf(
        ...[vaccine('not-done', '2026-05-01', objected), vaccine('not-done', '2025-05-01', allergic)],
        ...[vaccine('not-done', '2024-05-01', objected)],
      ),
      TODAY,
      5_000,
    );
    expect(reasons.text)
      .to.contain('- Hepatitis B: not given 2026-05-01, 2024-05-01; reason: not wanted\n')
      .and.contain('- Hepatitis B: not given 2025-05-01; reason: anaphylaxis after the last dose\n');
  });

  it('say on patients’ pages why each time a vaccine was not given', () => {
    const missed = (day: string, statusReason?: JsonObject): JsonObject => ({
      ...{ resourceType: 'Immunization', status: 'not-done', vaccineCode: words('Hepatitis B') },
      ...{ occurrenceDateTime: day, ...(statusReason === undefined ? {} : { statusReason }) },
    });
    const { vaccinations } = read(
      missed('2026-05-01', words('not wanted')),
      missed('2025-05-01', words('anaphylaxis after the last dose')),
      missed('2024-05-01', words('not wanted')),
      missed('2023-05-01'),
    ).facts;
    expect(vaccinations.map((each) => vaccinationLine(place('en'), each).details)).to.deep.equal([
      ['1 May 2026 and 1 May 2024', 'reason: not wanted'],
      ['1 May 2025', 'reason: anaphylaxis after the last dose'],
      ['1 May 2023'],
    ]);
  });

  it('say which complication a procedure had', async () => {
    const done = { resourceType: 'Procedure', status: 'completed', code: words('Hip replacement') };
    const record = recordOf({ ...done, outcome: words('successful'), complication: [words('DVT')] });
    const { sections, bundle } = summarize(record, TODAY);
    expect(sections.get('47519-4')?.rows[0]?.Outcome).to.equal('successful; complication: DVT');
    expect((await composeContext(record, TODAY, 5_000)).text).to.contain('; successful; complication: DVT\n');
    const [row] = (await view([bundle], TODAY)).sections.get('procedures') ?? [];
    expect(row?.details).to.include('successful');
    expect(row?.says).to.deep.include({ key: 'known.complication', values: { text: 'DVT' } });
    const on = (day: string, more: JsonObject = {}): JsonObject => ({
      ...done,
      performedDateTime: day,
      ...more,
    });
    const repeated = recordOf(on('2026-05-01'), on('2020-05-01', { complication: [words('DVT')] }));
    expect((await composeContext(repeated, TODAY, 5_000)).text).to.contain(
      '- Hip replacement 2026-05-01; 2 times since 2020-05-01; complication (2020-05-01): DVT\n',
    );
  });

  it('say which part of a blood pressure could not be measured', async () => {
    const part = (loinc: string, text: string, more: JsonObject): JsonObject => ({
      code: { coding: [{ system: 'http://loinc.org', code: loinc }], text },
      ...more,
    });
    const record = recordOf({
      ...{ resourceType: 'Observation', status: 'final', code: words('Blood pressure') },
      ...{ effectiveDateTime: '2026-10-01', category: [{ coding: [{ code: 'vital-signs' }] }] },
      component: [
        part('8480-6', 'Systolic', { valueQuantity: { value: 185, unit: 'mmHg' } }),
        part('8462-4', 'Diastolic', { dataAbsentReason: { coding: [{ code: 'error' }] } }),
      ],
    });
    expect((await composeContext(record, TODAY, 5_000)).text).to.contain(
      'Systolic 185 mmHg, Diastolic could not be measured',
    );
    const { bundle } = summarize(record, TODAY);
    const rows = [...(await view([bundle], TODAY)).sections.values()].flat();
    expect(JSON.stringify(rows.find(({ name }) => name === 'Blood pressure'))).to.contain(
      'could not be measured',
    );
  });

  it('which a reader needs to judge a result: its note, and that it is beyond its range', async () => {
    const result = (more: JsonObject): JsonObject => ({
      ...{ resourceType: 'Observation', status: 'final', code: words('Troponin T') },
      ...{ effectiveDateTime: '2026-10-01', category: [{ coding: [{ code: 'laboratory' }] }] },
      ...more,
    });
    const range = { referenceRange: [{ high: { value: 14, unit: 'ng/L' } }] };
    const told = async (more: JsonObject): Promise<string> =>
      (await composeContext(recordOf(result({ ...range, ...more })), TODAY, 5_000)).text;
    const beyond = { value: 2_000, unit: 'ng/L', comparator: '>' };
    expect(await told({ valueQuantity: beyond, note: [words('haemolysed')] })).to.contain(
      'Troponin T: >2000 ng/L (2026-10-01; high; range ≤ 14); haemolysed',
    );
    const normal = [{ coding: [{ code: 'N' }] }];
    const above = { value: 20, unit: 'ng/L' };
    expect(await told({ valueQuantity: above, interpretation: normal })).to.contain('; high;');
    for (const valueQuantity of [
      { ...beyond, comparator: '<' },
      { ...above, unit: 'µg/L' },
      { value: 14, unit: 'ng/L' },
    ])
      expect(await told({ valueQuantity })).to.not.contain('high');
  });

  it('say which substance caused a reaction, unless the allergy’s name says it', async () => {
    const allergy = (substance: string): JsonObject => ({
      ...{ resourceType: 'AllergyIntolerance', code: words('Penicillin') },
      reaction: [{ substance: words(substance), manifestation: [words('rash')], severity: 'mild' }],
    });
    const lineOf = (value: JsonObject) => {
      const [shown] = read(value).facts.allergies;
      if (shown === undefined) throw new Error('no allergy');
      return allergyLine(place('en'), shown).details[0];
    };
    expect(lineOf(allergy('Amoxicillin'))).to.equal('Amoxicillin: rash, mild');
    expect(lineOf(allergy('penicillin'))).to.equal('rash, mild');
    const { bundle } = summarize(recordOf(allergy('Amoxicillin')), TODAY);
    const [row] = (await view([bundle], TODAY)).sections.get('allergies') ?? [];
    expect(row?.details[0]).to.match(/^Amoxicillin: rash/);
  });

  it('say that a prescription allows no substitution, and why', async () => {
    const order = (substitution: JsonObject): JsonObject => ({
      ...{ resourceType: 'MedicationRequest', status: 'active', intent: 'order', authoredOn: '2026-10-01' },
      medicationCodeableConcept: words('Levothyroxine'),
      substitution,
    });
    const never = order({ allowedBoolean: false, reason: words('unstable TSH') });
    const record = recordOf(never);
    const said = 'no substitution: unstable TSH';
    expect((await composeContext(record, TODAY, 5_000)).text).to.contain(`; ${said}`);
    const { sections, bundle } = summarize(record, TODAY);
    expect(sections.get('10160-0')?.rows[0]?.Substitution).to.equal(said);
    const [row] = (await view([bundle], TODAY)).sections.get('medications') ?? [];
    expect(row?.says.map(({ key }) => key)).to.include('known.nosubstitutionfor');
    const lineOf = (lang: 'en' | 'de', value: JsonObject) => {
      const [shown] = read(value).facts.medicines;
      if (shown === undefined) throw new Error('no medicine');
      return medicineLine(place(lang), shown).details;
    };
    expect(lineOf('de', never)).to.include('kein Austausch erlaubt: unstable TSH');
    const coded = { coding: [{ code: 'N' }] };
    expect(lineOf('en', order({ allowedCodeableConcept: coded }))).to.include('no substitution');
    for (const allowed of [{ allowedBoolean: true }, { allowedCodeableConcept: { coding: [{ code: 'G' }] } }])
      expect(lineOf('en', order(allowed)).join()).to.not.contain('substitution');
  });

  it('call a prescription that is dated later planned on the pages’ timelines', () => {
    const shown = (date: string) => summaryToday('prescription', date, 'active, order', `${TODAY}T23:00:00Z`);
    expect(shown('2026-12-01')).to.equal('intended, order');
    // Somewhere on earth it is the next day.
    expect(shown('2026-11-02T08:00:00+13:00')).to.equal('active, order');
  });
});
