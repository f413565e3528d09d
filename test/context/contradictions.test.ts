/** Contexts point out what is contradictory, uncertain or impossible. */
import { expect } from 'chai';
import { isResourceType } from '#src/fhir/types.ts';
import type { Authored } from '#src/sandbox/synthetic.ts';
import type { Coverage } from '#src/shared/access/coverage.ts';
import { IdSource } from '#src/shared/ids.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { contextOf, TODAY } from './records.ts';

const ids = new IdSource('22222222-2222-4222-8222-222222222222', Date.parse(TODAY));
const UCUM = 'http://unitsofmeasure.org';
const LOINC = 'http://loinc.org';

const words = (text: string) => ({ text });
const loinc = (code: string, text: string) => ({ coding: [{ system: LOINC, code }], text });
const quantity = (value: number, code: string) => ({ value, unit: code, system: UCUM, code });
const observation = (code: JsonObject, rest: JsonObject): JsonObject => ({
  resourceType: 'Observation',
  status: 'final',
  category: [{ coding: [{ code: 'laboratory' }] }],
  code,
  effectiveDateTime: '2026-11-01',
  ...rest,
});

/** Returns the text of a context for a record with the given resources. */
function told(...resources: readonly JsonObject[]): Promise<string> {
  return toldOf(resources);
}

/**
 * Returns the text of a context.
 * @param byAi whether an AI wrote the resources
 * @param covered what a grant covers
 */
async function toldOf(
  resources: readonly JsonObject[],
  byAi = false,
  covered: Coverage = () => 'all',
): Promise<string> {
  const authored = resources.map((resource): Authored => {
    const type = String(resource.resourceType);
    if (!isResourceType(type)) throw new TypeError(`${type} is no type`);
    const id = ids.next();
    const author = { type: byAi ? ('ai' as const) : ('practitioner' as const), sourceSystem: 'emr' };
    return { type, id, resource: { ...resource, id }, author };
  });
  return (await contextOf({ patient: 'p', resources: authored }, { task: 'acute visit' }, covered)).text;
}

describe('contexts of records that are not all of a piece', () => {
  it('show a result that is only judged, unless another has a value', async () => {
    const antigen = loinc('5195-3', 'Hepatitis B surface antigen');
    const judged = (day: string, code: string): JsonObject =>
      observation(antigen, {
        effectiveDateTime: day,
        interpretation: [{ coding: [{ code }] }],
        dataAbsentReason: words('unknown'),
      });
    const only = await told(judged('2026-10-01', 'NEG'), judged('2026-10-02', 'POS'));
    expect(only).to.contain(
      'Hepatitis B surface antigen: positive (2026-10-02); before negative (2026-10-01)',
    );
    const valued = observation(antigen, { effectiveDateTime: '2026-09-01', valueString: 'reactive' });
    const both = await told(judged('2026-10-02', 'POS'), valued);
    expect(both).to.contain('Hepatitis B surface antigen: reactive (2026-09-01)');
    expect(both).to.not.contain('2026-10-02');
  });

  it('count allergies and plans that are over in their sections', async () => {
    const allergy = (code: string): JsonObject => ({
      resourceType: 'AllergyIntolerance',
      clinicalStatus: { coding: [{ code }] },
      code: words('Nuts'),
    });
    const plan = (status: string): JsonObject => ({
      ...{ resourceType: 'CarePlan', intent: 'plan', title: 'Care', status },
    });
    const text = await told(allergy('active'), allergy('resolved'), allergy('inactive'), plan('completed'));
    expect(text).to.contain('- 2 past ones are not shown');
    expect(text).to.contain('Not shown: plans (1 past).');
    expect(await told(allergy('resolved'))).to.contain('Allergies: none current\n- 1 past one is not shown');
    expect(await told(allergy('active'), plan('active'))).to.not.contain('past');
  });

  it('warn of a drug that is ordered and not taken, on hold or forbidden', async () => {
    const drug = words('Warfarin');
    const order = {
      resourceType: 'MedicationRequest',
      status: 'active',
      intent: 'order',
      medicationCodeableConcept: drug,
      authoredOn: '2026-01-01',
    };
    for (const [status, said] of [
      ['not-taken', 'not taken'],
      ['on-hold', 'on hold'],
    ] as const) {
      const statement = { resourceType: 'MedicationStatement', status, medicationCodeableConcept: drug };
      expect(await told(order, statement)).to.include(`- Warfarin is both active and ${said}`);
    }
    const text = await told(order, { ...order, doNotPerform: true });
    expect(text).to.include('- Warfarin is both active and not to be given');
    expect(text).to.include('- Warfarin; not to be given; ordered 2026-01-01');
    expect(await told({ ...order, doNotPerform: true, status: 'completed' })).not.to.include('Warfarin');
  });

  const atc = (code: string, text: string) => ({
    coding: [{ system: 'http://www.whocc.no/atc', code }],
    text,
  });
  const taken = (medicationCodeableConcept: JsonObject, status = 'active', dosage = '1') => ({
    resourceType: 'MedicationStatement',
    status,
    medicationCodeableConcept,
    dosage: [{ text: dosage }],
  });

  it('know a drug by its ATC code, and by its name where one has no code', async () => {
    const zocor = taken(atc('C10AA01', 'Zocor'));
    const other = await told(zocor, taken(atc('C10AA01', 'Simvastatin'), 'stopped'));
    expect(other).to.match(/- (Zocor \/ Simvastatin|Simvastatin \/ Zocor) is both active and stopped/);
    // A gel and tablets with the same name are two medicines.
    const two = await told(
      taken(atc('M02AA15', 'Diclofenac')),
      taken(atc('M01AB05', 'Diclofenac'), 'stopped'),
    );
    expect(two).not.to.include('is both active');
    const bare = await told(zocor, taken(words('zocor'), 'on-hold'));
    expect(bare).to.match(/- zocor is both active and on hold/i);
    const named = await told(
      taken(words('Warfarin'), 'active', '1'),
      taken(words('warfarin'), 'active', '2'),
    );
    expect(named).to.match(/- warfarin is active in several doses/i);
    expect(await told(zocor, taken(words('Aspirin'), 'stopped'))).not.to.include('is both active');
  });

  it('warn of a drug of the group, or the substance, that an allergy names by ATC code', async () => {
    const allergy = (code: JsonObject) => ({ resourceType: 'AllergyIntolerance', code });
    const drug = taken(atc('J01CA04', 'Amimox'));
    for (const code of ['J01CA04', 'J01CA01', 'J01CA', 'J01C', 'j01'])
      expect(await told(allergy(atc(code, 'x')), drug), code).to.include('an allergy to x');
    for (const code of ['J01DB01', 'J01D', 'J'])
      expect(await told(allergy(atc(code, 'x')), drug), code).not.to.include('an allergy to x');
  });

  it('warn of the class that an allergy names, not of a drug whose name only ends like it', async () => {
    const allergy = (text: string) => ({ resourceType: 'AllergyIntolerance', code: words(text) });
    for (const [substance, drug] of [
      ['Statin', 'Simvastatin'],
      ['Ibuprofen', 'Aspirin'],
      ['Penicillin', 'Flucloxacillin'],
      ['Morphine', 'Morphine sulfate'],
      ['Citalopram', 'Escitalopram'],
    ] as const)
      expect(await told(allergy(substance), taken(words(drug))), drug).to.include(
        `an allergy to ${substance}`,
      );
    for (const [substance, drug] of [
      ['Statin', 'Nystatin'],
      ['Statins', 'Imipenem/Cilastatin'],
      ['Morphine', 'Apomorphine'],
      ['Cefalexin', 'Aztreonam'],
    ] as const)
      expect(await told(allergy(substance), taken(words(drug))), drug).not.to.include('an allergy to');
  });

  it('name the substance of an allergy’s reaction, and warn of a drug like it', async () => {
    const allergy = {
      ...{ resourceType: 'AllergyIntolerance', clinicalStatus: { coding: [{ code: 'active' }] } },
      reaction: [
        { substance: words('Amoxicillin'), manifestation: [words('anaphylaxis')], severity: 'severe' },
        { manifestation: [words('hives')] },
      ],
    };
    const drug = (name: string): JsonObject => ({
      ...{ resourceType: 'MedicationStatement', status: 'active' },
      medicationCodeableConcept: words(name),
    });
    const nameless = await told(allergy, drug('Amoxicillin 500 mg'), drug('Metoprolol'));
    expect(nameless).to.include('- Amoxicillin: anaphylaxis (severe), hives');
    expect(nameless).to.include('Amoxicillin 500 mg is active, but there is an allergy to Amoxicillin');
    expect(nameless).to.not.include('Metoprolol is active, but');
    const wide = { ...allergy, type: 'intolerance', code: words('Antibiotic') };
    const named = await told(wide, drug('Amoxicillin 500 mg'));
    expect(named).to.include('- Antibiotic: anaphylaxis after Amoxicillin (severe), hives');
    expect(named).to.include('Amoxicillin 500 mg is active, but there is an intolerance to Amoxicillin');
  });

  it('tell which part of a result is remarkable', async () => {
    const component = [
      {
        ...{ code: words('Sodium'), valueQuantity: quantity(118, 'mmol/L') },
        interpretation: [{ coding: [{ code: 'LL' }] }],
      },
      {
        ...{ code: words('Potassium'), valueQuantity: quantity(6.4, 'mmol/L') },
        referenceRange: [{ low: quantity(3.5, 'mmol/L'), high: quantity(5, 'mmol/L') }],
      },
      { code: words('Chloride'), valueQuantity: quantity(101, 'mmol/L') },
    ];
    expect(await told(observation(words('Electrolytes'), { component }))).to.include(
      'Sodium 118 mmol/L, Potassium 6.4 mmol/L, Chloride 101 mmol/L (2026-11-01; Sodium critically low, Potassium high)',
    );
    const pressure = [
      {
        ...{ code: loinc('8480-6', 'Systolic blood pressure'), valueQuantity: quantity(190, 'mm[Hg]') },
        interpretation: [{ coding: [{ code: 'HH' }] }],
      },
      { code: loinc('8462-4', 'Diastolic blood pressure'), valueQuantity: quantity(70, 'mm[Hg]') },
    ];
    expect(await told(observation(loinc('85354-9', 'Blood pressure'), { component: pressure }))).to.include(
      '190/70 mmHg (2026-11-01; systolic critically high)',
    );
  });

  it('tell whom a reference range is for, and what it stands for if it is not what is normal', async () => {
    const meaning = (code: string): JsonObject => ({
      coding: [
        { system: 'http://terminology.hl7.org/CodeSystem/referencerange-meaning', code, display: code },
      ],
    });
    const bounds = (low: number, high: number, code: string): JsonObject => ({
      ...{ low: quantity(low, code), high: quantity(high, code) },
    });
    const text = await told(
      observation(words('Hemoglobin'), {
        valueQuantity: quantity(12.5, 'g/dL'),
        referenceRange: [
          { ...bounds(13, 17, 'g/dL'), appliesTo: [words('male')] },
          { ...bounds(12, 16, 'g/dL'), appliesTo: [words('female')], age: { low: quantity(18, 'a') } },
        ],
      }),
      observation(words('INR'), {
        valueQuantity: quantity(2.4, '1'),
        referenceRange: [
          { ...bounds(2, 3, '1'), type: meaning('therapeutic') },
          { ...bounds(0.8, 1.2, '1'), type: meaning('normal') },
        ],
      }),
    );
    expect(text).to.include('range 13 – 17 (male), 12 – 16 (female, age ≥ 18 years)');
    expect(text).to.include('range 2 – 3 (therapeutic), 0.8 – 1.2');
  });

  it('tell of a vaccination that it was subpotent, and when it was in the record’s words', async () => {
    const dose = (name: string, more: JsonObject): JsonObject => ({
      ...{ resourceType: 'Immunization', status: 'completed', vaccineCode: words(name), ...more },
    });
    const text = await told(
      dose('Hepatitis B', { occurrenceDateTime: '2026-10-01', isSubpotent: true }),
      dose('Tetanus', { occurrenceString: 'as a child' }),
      dose('Rabies', {
        ...{ occurrenceDateTime: '2026-10-02', isSubpotent: true },
        subpotentReason: [{ coding: [{ code: 'coldchainbreak' }] }],
      }),
    );
    expect(text).to.include('- Rabies: 2026-10-02 (subpotent: cold chain broken)');
    expect(text).to.include('- Hepatitis B: 2026-10-01 (subpotent)');
    expect(text).to.include('- Tetanus: as a child');
  });

  it('tell the site of a procedure, and count those of each site', async () => {
    const procedure = (site: string, performedDateTime: string): JsonObject => ({
      ...{ resourceType: 'Procedure', status: 'completed', code: words('Nephrectomy') },
      ...{ bodySite: [words(site)], performedDateTime },
    });
    const text = await told(procedure('left kidney', '2019-03-04'), procedure('right kidney', '2021-05-06'));
    expect(text).to.include('- Nephrectomy, left kidney 2019-03-04');
    expect(text).to.include('- Nephrectomy, right kidney 2021-05-06');
  });

  it('tell at which age a procedure was done', async () => {
    const text = await told({
      ...{ resourceType: 'Procedure', status: 'completed', code: words('Appendectomy') },
      performedAge: quantity(12, 'a'),
    });
    expect(text).to.include('- Appendectomy at age 12 years');
  });

  it('name what is dated after today, which is no value of today', async () => {
    const text = await told(
      { resourceType: 'MedicationStatement', status: 'active', medicationCodeableConcept: words('warfarin') },
      observation(loinc('6301-6', 'INR'), { effectiveDateTime: '2062-11-01', valueQuantity: { value: 2.5 } }),
      { resourceType: 'Procedure', status: 'preparation', code: words('Bypass'), performedDateTime: '2027' },
    );
    expect(text).to.include('- dated after today: INR (2062-11-01)\n');
    expect(text).to.include('- warfarin: no INR within 90 days; none is recorded');
  });

  it('call a prescription that is dated later, or begins later, planned', async () => {
    const order = (name: string, authoredOn: string, start?: string): JsonObject => ({
      ...{ resourceType: 'MedicationRequest', status: 'active', intent: 'order', authoredOn },
      medicationCodeableConcept: words(name),
      dosageInstruction: [
        {
          text: '1 a day',
          ...(start === undefined ? {} : { timing: { repeat: { boundsPeriod: { start } } } }),
        },
      ],
    });
    const text = await told(
      order('Warfarin', '2027-05-01'),
      order('Bisoprolol', '2026-10-01', '2027-06-01'),
      order('Ramipril', '2026-10-01', '2026-10-02'),
    );
    expect(text).to.include('- dated after today: Warfarin (2027-05-01)\n');
    expect(text).to.match(/- Warfarin: 1 a day; planned; prescribed 2027-05-01/);
    expect(text).to.match(/- Bisoprolol: 1 a day \(from 2027-06-01\); planned; prescribed 2026-10-01/);
    expect(text).to.match(/- Ramipril: 1 a day \(from 2026-10-02\); active; prescribed 2026-10-01/);
    expect(text).to.not.include('warfarin: no INR');
  });

  it('tell flags in words, and results of which nothing is sure', async () => {
    const text = await told(
      observation(words('Culture'), { valueString: 'growth', interpretation: [words('phoned at once')] }),
      observation(words('Iron'), { status: 'unknown', valueQuantity: quantity(7, 'umol/L') }),
      observation(words('Zinc'), { valueString: 'x', interpretation: [words('normal')] }),
    );
    expect(text).to.include('- Culture: growth (2026-11-01; phoned at once)');
    expect(text).to.include('- Iron 7 µmol/L (2026-11-01; status unknown)');
    expect(text).to.include('- Zinc: x (2026-11-01)');
  });

  it('give no pressure a unit that is not its own', async () => {
    const component = [
      { code: loinc('8480-6', 'systolic'), valueQuantity: quantity(150, 'mm[Hg]') },
      { code: loinc('8462-4', 'diastolic'), valueQuantity: quantity(12, 'kPa') },
    ];
    const text = await told(observation(loinc('85354-9', 'Blood pressure'), { component }));
    expect(text).to.include('systolic 150 mmHg, diastolic 12 kPa');
  });

  it('leave no part of a pressure out', async () => {
    const component = [
      { code: loinc('8480-6', 'systolic'), valueQuantity: quantity(150, 'mm[Hg]') },
      { code: loinc('8462-4', 'diastolic'), valueQuantity: quantity(90, 'mm[Hg]') },
      { code: loinc('8478-0', 'mean'), valueQuantity: quantity(110, 'mm[Hg]') },
    ];
    const panel = loinc('85354-9', 'Blood pressure');
    expect(await told(observation(panel, { component: component.slice(0, 2) }))).to.include('150/90 mmHg');
    expect(await told(observation(panel, { component }))).to.include(
      'systolic 150 mmHg, diastolic 90 mmHg, mean 110 mmHg',
    );
  });

  it('do not say of allergies that cannot be read that there are none', async () => {
    const allergy = {
      resourceType: 'AllergyIntolerance',
      code: words('Latex'),
      modifierExtension: [{ url: 'urn:x', valueBoolean: true }],
    };
    const text = await told(allergy);
    expect(text).to.include('## Allergies: none but with an unknown modifier extension');
    expect(await told()).to.include('## Allergies: none recorded');
  });

  it('tell problems of one code apart that have another name or site', async () => {
    const problem = (text: string, more: JsonObject): JsonObject => ({
      resourceType: 'Condition',
      clinicalStatus: { coding: [{ code: 'active' }] },
      code: { coding: [{ system: 'http://hl7.org/fhir/sid/icd-10', code: 'T14.2' }], text },
      ...more,
    });
    const text = await told(
      problem('Fracture', { bodySite: [words('left arm')] }),
      problem('Fracture', { bodySite: [words('right leg')] }),
      problem('Fracture of a rib', {}),
      problem('Fracture of a rib', {}),
    );
    for (const line of ['Fracture, left arm', 'Fracture, right leg', 'Fracture of a rib'])
      expect(text.split(`- ${line}: active`), line).to.have.length(2);
    expect(text).to.contain('Fracture of a rib: active; recorded 2 times');
  });

  it('say of how many values the smallest and the largest are', async () => {
    const of = (day: string, valueQuantity: JsonObject) =>
      observation(loinc('2345-7', 'Glucose'), { effectiveDateTime: day, valueQuantity });
    const values = [
      of('2026-11-04', quantity(95, 'mg/dL')),
      of('2026-11-03', { ...quantity(400, 'mg/dL'), comparator: '>' }),
      of('2026-11-02', quantity(5.5, 'mmol/L')),
      of('2026-11-01', quantity(90, 'mg/dL')),
    ];
    expect(await told(...values)).to.include('4 values since 2026; 2 in mg/dL 90 to 95');
    const plain = values.map((value) => ({ ...value, valueQuantity: quantity(91, 'mg/dL') }));
    expect(await told(...plain)).to.include('4 values since 2026, 91 to 91');
  });

  it('do not take an AI’s word that something is refuted or in error', async () => {
    const status = (code: string) => ({ verificationStatus: { coding: [{ code }] } });
    const allergy = { resourceType: 'AllergyIntolerance', code: words('Penicillin'), ...status('refuted') };
    const problem = { resourceType: 'Condition', code: words('Asthma'), ...status('entered-in-error') };
    const text = await toldOf([allergy, problem], true);
    const those = 'that an AI marked as entered in error or refuted';
    expect(text)
      .to.include(`Allergies: none but those ${those}`)
      .and.include(`Problems: none but those ${those}`);
    expect(text).to.include(`- 2 resources ${those} left out`);
    const own = await told(allergy, problem);
    expect(own).to.include('Allergies: none recorded').and.include('- 1 resource refuted left out');
    expect(own).not.to.include('an AI marked');
  });

  it('say nothing of what a grant does not cover', async () => {
    const problem = {
      resourceType: 'Condition',
      code: {
        coding: [{ system: 'http://hl7.org/fhir/sid/icd-10', code: 'E11.9' }],
        text: 'Type 2 diabetes',
      },
      clinicalStatus: { coding: [{ code: 'active' }] },
    };
    const whole = await told(problem);
    expect(whole)
      .to.include('Allergies: none recorded')
      .and.match(/no HbA1c within \d+ days; none is recorded/);
    const text = await toldOf([problem], false, (type) => (type === 'Condition' ? 'all' : 'none'));
    expect(text).to.include('Allergies: not covered by the grant');
    expect(text).to.include('Medications: not covered by the grant');
    expect(text)
      .to.include('Type 2 diabetes')
      .and.not.match(/none recorded|within \d+ days/);
    const part = await toldOf([problem], false, () => 'some');
    expect(part).to.include('Allergies: none recorded; the grant covers a part of them');
    expect(part).to.match(/no HbA1c within \d+ days among what the grant covers/);
  });

  it('pass over the conclusion of a report that was cancelled', async () => {
    const report = {
      resourceType: 'DiagnosticReport',
      status: 'cancelled',
      code: words('CT'),
      conclusion: 'embolism',
      effectiveDateTime: '2026-11-01',
    };
    expect(await told(report)).not.to.include('embolism');
    expect(await told({ ...report, status: 'preliminary' })).to.include(
      'CT 2026-11-01: preliminary; embolism',
    );
  });
});
