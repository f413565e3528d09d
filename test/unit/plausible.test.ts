/** Implausible values are reported, and nothing else: impossible values, units of a different quantity, dates in the future. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { bundledPlausibility } from '#src/app/plausibility.ts';
import { areComparable } from '#src/clinical/comparable-units.ts';
import { HAPPENED, WRITTEN } from '#src/clinical/implausible-dates.ts';
import { readPossibleRanges } from '#src/clinical/possible-ranges.ts';
import { jsonName, typeDefinition } from '#src/fhir/definitions/tables.ts';
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { isUcum } from '#src/fhir/units/spelled-units.ts';
import { generateSandbox } from '#src/sandbox/generate.ts';
import { IdSource, newUuid } from '#src/shared/ids.ts';
import { IMPLAUSIBLE } from '#src/shared/implausible.ts';
import { isObject, type Json, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { loincUnits } from '#src/terminology/bundled/bundled.ts';
import { MOLAR_MASSES } from '#src/terminology/molar-masses.ts';
import { listIn, objectIn } from '#src/v1/elements.ts';
import { officialExamples } from '#test/support/official-examples.ts';
import { syntheaFolder } from '#test/support/synthea.ts';

const LOINC = 'http://loinc.org';
const UCUM = 'http://unitsofmeasure.org';
const NOW = '2026-11-28T10:00:00Z';
const find = bundledPlausibility();

const found = (resource: JsonObject) => find(resource, toMicros(NOW));
const codes = (resource: JsonObject) => found(resource).map(({ code }) => code);
const messages = (resource: JsonObject) => found(resource).map(({ message }) => message);

const concept = (...loinc: string[]): JsonObject => ({
  coding: loinc.map((code) => ({ system: LOINC, code })),
});
const quantity = (value: Json, unit: string): JsonObject => ({ value, unit, system: UCUM, code: unit });
const measured = (code: string, value: Json, unit: string, rest: JsonObject = {}): JsonObject => ({
  resourceType: 'Observation',
  status: 'final',
  code: concept(code),
  valueQuantity: { ...quantity(value, unit), ...rest },
});

describe('implausible values', () => {
  it('names an impossible value, with what is possible, in the unit of the value', () => {
    expect(found(measured('8310-5', 370, 'Cel'))).to.deep.equal([
      {
        code: 'impossible_value',
        element: 'Observation.valueQuantity',
        message: '370 °C is outside what is possible in a living person (9 to 47 °C)',
      },
    ]);
    expect(messages(measured('8310-5', 212, '[degF]'))).to.deep.equal([
      '212 °F is outside what is possible in a living person (48.2 to 116.6 °F)',
    ]);
    expect(messages(measured('59408-5', 970, '%'))).to.deep.equal([
      '970 % is outside what is possible (0 to 100 %)',
    ]);
    expect(messages(measured('11558-4', 74, '[pH]'))).to.deep.equal([
      '74 is outside what is possible in a living person (6.3 to 8.4)',
    ]);
  });

  it('counts both bounds of each range as possible, and what is beyond as impossible', () => {
    for (const { codes: all, unit, low, high, name } of readPossibleRanges())
      for (const code of all) {
        const beyond = (high - low) / 1_000;
        for (const value of [low, high, (low + high) / 2])
          expect(codes(measured(code, value, unit)), `${name} ${value}`).to.deep.equal([]);
        for (const value of [low - beyond, high + beyond])
          expect(codes(measured(code, value, unit)), `${name} ${value}`).to.deep.equal(['impossible_value']);
      }
  });

  it('accepts what severely ill people, newborns and record holders have', () => {
    const extreme: readonly [code: string, value: number, unit: string][] = [
      ['2345-7', 1_500, 'mg/dL'],
      ['2345-7', 147.6, 'mmol/L'],
      ['2823-3', 9, 'mmol/L'],
      ['2823-3', 14, 'mmol/L'],
      ['2823-3', 14, 'meq/L'],
      ['2951-2', 255, 'mmol/L'],
      ['2951-2', 99, 'mmol/L'],
      ['8310-5', 13.7, 'Cel'],
      ['8310-5', 46.5, 'Cel'],
      ['29463-7', 635, 'kg'],
      ['29463-7', 1_400, '[lb_av]'],
      ['29463-7', 212, 'g'],
      ['8302-2', 272, 'cm'],
      ['8302-2', 24, 'cm'],
      ['8867-4', 330, '/min'],
      ['8867-4', 0, '/min'],
      ['8480-6', 300, 'mm[Hg]'],
      ['8480-6', 40, 'kPa'],
      ['718-7', 0.7, 'g/dL'],
      ['2160-0', 73.8, 'mg/dL'],
      ['2160-0', 6_524, 'umol/L'],
      ['6690-2', 1_000, '10*3/uL'],
      ['6690-2', 1_000, '10*9/L'],
      ['9279-1', 120, '{breaths}/min'],
      ['4548-4', 19, '%'],
      ['4548-4', 140, 'mmol/mol'],
      ['44261-6', 27, '{score}'],
    ];
    for (const [code, value, unit] of extreme)
      expect(found(measured(code, value, unit)), `${code} ${value} ${unit}`).to.deep.equal([]);
  });

  it('converts between mass and amount of substance, and between scales', () => {
    expect(codes(measured('2345-7', 230, 'mmol/L'))).to.deep.equal(['impossible_value']);
    expect(codes(measured('14749-6', 230, 'mmol/L'))).to.deep.equal(['impossible_value']);
    expect(codes(measured('29463-7', 1_600, '[lb_av]'))).to.deep.equal(['impossible_value']);
    expect(codes(measured('8302-2', 1.75, 'cm'))).to.deep.equal(['impossible_value']);
    expect(codes(measured('8302-2', 1.75, 'm'))).to.deep.equal([]);
    expect(codes(measured('8480-6', 80, 'kPa'))).to.deep.equal(['impossible_value']);
    expect(codes(measured('718-7', 145, 'mmol/L'))).to.deep.equal(['impossible_value']);
    expect(codes(measured('2524-7', 5_000, 'mg/dL'))).to.deep.equal(['impossible_value']);
    expect(codes(measured('2951-2', 1_400, 'mg/dL'))).to.deep.equal(['impossible_value']);
    // HbA1c in `%` comes from a different method than HbA1c in mmol/mol.
    expect(codes(measured('4548-4', 53, '%'))).to.deep.equal(['impossible_value']);
  });

  it('judges the commonest codes of the bedside', () => {
    const wrong: readonly [code: string, value: number, unit: string][] = [
      ['8332-9', 370, 'Cel'],
      ['8339-4', 3_500, 'kg'],
      ['40443-4', 7_200, '/min'],
      ['8891-4', 1_400, '{beats}/min'],
      ['9843-4', 350, 'cm'],
      ['17861-6', 96, 'mg/dL'],
      ['1995-0', 12, 'mmol/L'],
      ['20564-1', 970, '%'],
      ['9274-2', 90, '{score}'],
      ['28646-8', 72, '[pH]'],
      ['2160-0', 80, 'mg/dL'],
      ['14743-9', 560, 'mmol/L'],
      ['4548-4', 480, 'mmol/mol'],
    ];
    for (const [code, value, unit] of wrong)
      expect(codes(measured(code, value, unit)), code).to.deep.equal(['impossible_value']);
  });

  it('judges electrolytes in milliequivalents, too', () => {
    const wrong: readonly [code: string, value: number][] = [
      ['2823-3', 45],
      ['2951-2', 1_400],
      ['2951-2', 14],
      ['2075-0', 1_050],
      ['1963-8', 240],
      ['19123-9', 180],
      ['17861-6', 48],
    ];
    for (const [code, value] of wrong)
      expect(codes(measured(code, value, 'meq/L')), code).to.deep.equal(['impossible_value']);
    expect(messages(measured('2823-3', 45, 'meq/L'))).to.deep.equal([
      '45 mEq/L is outside what is possible in a living person (0 to 20 mEq/L)',
    ]);
  });

  it('reads a code that UCUM does not have as the spelling that it is', () => {
    const spelt = (loinc: string, value: number, code: string) => messages(measured(loinc, value, code));
    expect(spelt('8310-5', 37_000, '°C')).to.deep.equal([
      '37000 °C is outside what is possible in a living person (9 to 47 °C)',
    ]);
    expect(spelt('8867-4', 7_200, 'bpm').length).to.equal(1);
    expect(spelt('8480-6', 1_200, 'mmHg').length).to.equal(1);
    expect(spelt('59408-5', 970, '{%}').length).to.equal(1);
    expect(spelt('11558-4', 74, '1')).to.deep.equal([
      '74 is outside what is possible in a living person (6.3 to 8.4)',
    ]);
    expect(spelt('8310-5', 37, '°C')).to.deep.equal([]);
    expect(spelt('59408-5', 97, '{%}')).to.deep.equal([]);
  });

  it('judges resources that are contained in others', () => {
    const contained = [{ ...measured('8310-5', 370, 'Cel'), id: 'a' }];
    const report = { resourceType: 'DiagnosticReport', status: 'final', contained };
    expect(found(report).map(({ element }) => element)).to.deep.equal([
      'DiagnosticReport.contained[0].value.ofType(Quantity)',
    ]);
    expect(
      found({ resourceType: 'Bundle', entry: [{ resource: report }] }).map(({ element }) => element),
    ).to.deep.equal(['Bundle.entry[0].resource.contained[0].value.ofType(Quantity)']);
  });

  it('names a diastolic pressure above the systolic one beside it', () => {
    const pressure = (high: JsonObject, low: JsonObject) =>
      found({
        resourceType: 'Observation',
        status: 'final',
        code: concept('85354-9'),
        component: [
          { code: concept('8480-6'), valueQuantity: high },
          { code: concept('8462-4'), valueQuantity: low },
        ],
      });
    expect(pressure(quantity(80, 'mm[Hg]'), quantity(120, 'mm[Hg]'))).to.deep.equal([
      {
        code: 'impossible_value',
        element: 'Observation.component[1].valueQuantity',
        message: '120 mmHg is above the systolic pressure (80 mmHg)',
      },
    ]);
    expect(pressure(quantity(80, 'mm[Hg]'), quantity(800, 'mm[Hg]')).length).to.equal(1);
    expect(pressure(quantity(80, 'mm[Hg]'), quantity(80, 'mm[Hg]'))).to.deep.equal([]);
    expect(pressure(quantity(16, 'kPa'), quantity(80, 'mm[Hg]'))).to.deep.equal([]);
    expect(pressure({ ...quantity(80, 'mm[Hg]'), comparator: '>' }, quantity(120, 'mm[Hg]'))).to.deep.equal(
      [],
    );
  });

  it('judges each component by its own code', () => {
    const pressure = {
      resourceType: 'Observation',
      status: 'final',
      code: concept('85354-9'),
      component: [
        { code: concept('8480-6'), valueQuantity: quantity(120, 'mm[Hg]') },
        { code: concept('8462-4'), valueQuantity: quantity(800, 'mm[Hg]') },
        { code: concept('8462-4'), valueQuantity: quantity(80, 'kg') },
      ],
    };
    expect(found(pressure)).to.deep.equal([
      {
        code: 'impossible_value',
        element: 'Observation.component[1].valueQuantity',
        message: '800 mmHg is outside what is possible in a living person (0 to 400 mmHg)',
      },
      {
        code: 'unit_mismatch',
        element: 'Observation.component[2].valueQuantity.code',
        message: 'the unit kg does not fit LOINC 8462-4, which is measured in mm[Hg]',
      },
    ]);
  });

  it('takes a comparator for what it says', () => {
    const sodium = (comparator: string, value: number) =>
      codes(measured('2951-2', value, 'mmol/L', { comparator }));
    expect(sodium('>', 20)).to.deep.equal([]);
    expect(sodium('<', 900)).to.deep.equal([]);
    expect(sodium('<', 20)).to.deep.equal(['impossible_value']);
    expect(sodium('>=', 900)).to.deep.equal(['impossible_value']);
    expect(messages(measured('2951-2', 900, 'mmol/L', { comparator: '>' }))).to.deep.equal([
      '> 900 mmol/L is outside what is possible in a living person (50 to 300 mmol/L)',
    ]);
  });

  it('reads numbers whatever their literal', () => {
    const { value } = parseJson(
      JSON.stringify(measured('8310-5', 0, 'Cel')).replace('"value":0', '"value":3.70e2'),
    );
    expect(isObject(value) && codes(value)).to.deep.equal(['impossible_value']);
    const { value: long } = parseJson(
      JSON.stringify(measured('8310-5', 0, 'Cel')).replace('"value":0', '"value":36.60000000000000000001'),
    );
    expect(isObject(long) && codes(long)).to.deep.equal([]);
  });

  it('says nothing where it knows nothing: no code, no unit, unknown units, other systems, no number', () => {
    const quiet: readonly JsonObject[] = [
      { resourceType: 'Observation', code: { text: 'Temperature' }, valueQuantity: quantity(370, 'Cel') },
      { resourceType: 'Observation', valueQuantity: quantity(370, 'Cel') },
      {
        resourceType: 'Observation',
        code: { coding: [{ system: 'urn:local', code: '8310-5' }] },
        valueQuantity: quantity(370, 'Cel'),
      },
      { resourceType: 'Observation', code: concept('8310-5'), valueQuantity: { value: 370 } },
      { resourceType: 'Observation', code: concept('8310-5'), valueQuantity: { value: 370, unit: 'warm' } },
      { resourceType: 'Observation', code: concept('8310-5'), valueQuantity: { value: 370, unit: 'C' } },
      {
        resourceType: 'Observation',
        code: concept('8310-5'),
        valueQuantity: { value: 370, unit: 'x', system: 'urn:local', code: 'Cel' },
      },
      {
        resourceType: 'Observation',
        code: concept('8310-5'),
        valueQuantity: { unit: '°C', system: UCUM, code: 'Cel' },
      },
      {
        resourceType: 'Observation',
        code: concept('8310-5'),
        valueQuantity: { value: 'hot', code: 'Cel', system: UCUM },
      },
      measured('99999-9', 370, 'Cel'),
      measured('8310-5', 370, 'nonsense'),
      measured('8310-5', 36.6, 'Cel', { unit: 'degrees' }),
      { resourceType: 'Observation', code: concept('8310-5'), valueString: '370 °C' },
      { resourceType: 'Condition', code: concept('8310-5') },
      {},
    ];
    for (const resource of quiet) expect(found(resource), JSON.stringify(resource)).to.deep.equal([]);
  });

  it('reads a unit that is only text, if it is certain', () => {
    const text = (unit: string, value: number) =>
      codes({ ...measured('8310-5', value, ''), valueQuantity: { value, unit } });
    expect(text('°C', 370)).to.deep.equal(['impossible_value']);
    expect(text('°C', 37)).to.deep.equal([]);
    expect(text('mmol/L', 37)).to.deep.equal(['unit_mismatch']);
  });

  it('counts a value as plausible that fits one of its codes', () => {
    const both = { ...measured('8310-5', 70, 'kg'), code: concept('8310-5', '29463-7') };
    expect(found(both)).to.deep.equal([]);
    expect(codes({ ...both, code: concept('8310-5', '8867-4') })).to.deep.equal(['unit_mismatch']);
    expect(found({ ...measured('8310-5', 70, 'kg'), code: concept('99999-9', '29463-7') })).to.deep.equal([]);
  });

  it('names those of the entries of a Bundle by their places', () => {
    const entry = [
      { resource: { resourceType: 'Patient' } },
      { resource: measured('8310-5', 370, 'Cel') },
      {},
    ];
    expect(found({ resourceType: 'Bundle', entry }).map(({ element }) => element)).to.deep.equal([
      'Bundle.entry[1].resource.value.ofType(Quantity)',
    ]);
  });

  it('says nothing of what was entered in error', () => {
    expect(found({ ...measured('8310-5', 370, 'Cel'), status: 'entered-in-error' })).to.deep.equal([]);
    const verificationStatus = { coding: [{ code: 'entered-in-error' }] };
    expect(found({ resourceType: 'Condition', verificationStatus, onsetDateTime: '2040' })).to.deep.equal([]);
  });
});

describe('units that do not fit their code', () => {
  it('names the unit and the one that LOINC has', () => {
    expect(found(measured('29463-7', 70, 'mmol/L'))).to.deep.equal([
      {
        code: 'unit_mismatch',
        element: 'Observation.valueQuantity.code',
        message: 'the unit mmol/L does not fit LOINC 29463-7, which is measured in kg',
      },
    ]);
  });

  it('finds units of other quantities, and only those', () => {
    const others =
      'kg|mmol/L 8867-4|kg 2345-7|kg 2345-7|mm[Hg] 8480-6|kg 718-7|% 8310-5|F 6690-2|kg 2951-2|Cel';
    const same =
      '2345-7|mmol/L 2345-7|g/L 8867-4|{beats}/min 8867-4|Hz 8310-5|[degF] 8310-5|K 8480-6|kPa 8480-6|cm[H2O] ' +
      '4548-4|mmol/mol 59408-5|1 1742-6|[IU]/L 1742-6|ukat/L 6690-2|10*9/L 6690-2|/uL 6690-2|{cells}/uL ' +
      '3016-3|u[IU]/mL 3016-3|mU/L 33914-3|mL/min 33914-3|mL/min/{1.73_m2} 33914-3|mL/min/1.73.m2 2951-2|meq/L ' +
      '786-4|% 786-4|mmol/L 4544-3|L/L 29463-7|[lb_av] 29463-7|g 8302-2|[in_i] 39156-5|kg/m2 5821-4|/uL ' +
      '5902-2|% 6301-6|1 6301-6|{ratio} 44261-6|1 785-6|fmol 2708-6|1';
    const pairs = (text: string) => text.split(' ').map((pair) => pair.split('|') as [string, string]);
    const mismatch = ([code, unit]: [string, string]) =>
      codes(measured(code, 1, unit)).includes('unit_mismatch');
    const [first, ...rest] = pairs(others);
    expect(first).to.deep.equal(['kg', 'mmol/L']);
    // Haemoglobin in % may mean g%.
    expect(rest.filter((pair) => !mismatch(pair))).to.deep.equal([['718-7', '%']]);
    expect(pairs(same).filter(mismatch)).to.deep.equal([]);
  });

  it('takes what a laboratory may mean for comparable', () => {
    expect(areComparable('mg/(24.h)', 'mg', true)).to.equal(true);
    expect(areComparable('mg/(24.h)', 'mg/{24_h}', true)).to.equal(true);
    expect(areComparable('mosm/kg', 'mmol/L', true)).to.equal(true);
    expect(areComparable('/d', 'd', false)).to.equal(true);
    expect(areComparable('[pH]', '1', true)).to.equal(true);
    expect(areComparable('kg', 'mmol/L', true)).to.equal(false);
  });
});

describe('dates that cannot be', () => {
  it('names dates more than 24 hours ahead, and none that are nearer', () => {
    const at = (effectiveDateTime: string) => codes({ resourceType: 'Observation', effectiveDateTime });
    for (const near of [
      '2026-11-28',
      '2026-11-29',
      '2026-11-29T10:00:00Z',
      '2026-11-29T23:30:00+14:00',
      '2026-11',
      '2026',
    ])
      expect(at(near), near).to.deep.equal([]);
    for (const far of [
      '2026-11-29T10:00:01Z',
      '2026-11-30',
      '2026-12',
      '2027',
      '2027-01-01T00:00:00Z',
      '9999',
    ])
      expect(at(far), far).to.deep.equal(['future_date']);
    expect(found({ resourceType: 'Patient', birthDate: '2062-05-14' })).to.deep.equal([
      { code: 'future_date', element: 'Patient.birthDate', message: '2062-05-14 is in the future' },
    ]);
    expect(at('not a date')).to.deep.equal([]);
  });

  it('names dates in lists and periods with their place', () => {
    const reaction = [{ onset: '2020' }, { onset: '2030-01-01' }];
    expect(found({ resourceType: 'AllergyIntolerance', reaction })[0]?.element).to.equal(
      'AllergyIntolerance.reaction[1].onset',
    );
    const effectivePeriod = { start: '2030-01-01', end: '2031' };
    expect(found({ resourceType: 'MedicationStatement', status: 'active', effectivePeriod })).to.deep.equal([
      {
        code: 'future_date',
        element: 'MedicationStatement.effectivePeriod.start',
        message: '2030-01-01 is in the future',
      },
    ]);
  });

  it('allows what is planned, ends of periods, validity and expiry', () => {
    const period = { start: '2027-02-01', end: '2027-02-02' };
    const allowed: readonly JsonObject[] = [
      { resourceType: 'Encounter', status: 'planned', period },
      {
        resourceType: 'Encounter',
        status: 'in-progress',
        period: { start: '2026-11-28', end: '2027-02-02' },
      },
      { resourceType: 'CarePlan', status: 'active', period },
      { resourceType: 'Goal', startDate: '2027-02-01', target: [{ dueDate: '2027-06-01' }] },
      {
        resourceType: 'MedicationRequest',
        authoredOn: '2026-11-28',
        dispenseRequest: { validityPeriod: period },
      },
      { resourceType: 'MedicationStatement', status: 'intended', effectivePeriod: period },
      { resourceType: 'Procedure', status: 'preparation', performedDateTime: '2027-02-01' },
      { resourceType: 'Immunization', occurrenceDateTime: '2026-11-01', expirationDate: '2028-01-01' },
      { resourceType: 'Observation', status: 'final', code: concept('11778-8'), valueDateTime: '2027-06-01' },
      { resourceType: 'Observation', status: 'registered', effectiveDateTime: '2027-02-01' },
      { resourceType: 'PractitionerRole', period },
      {
        resourceType: 'Encounter',
        status: 'in-progress',
        period: { start: '2026-11-28' },
        statusHistory: [{ status: 'planned', period }],
      },
    ];
    for (const resource of allowed) expect(found(resource), JSON.stringify(resource)).to.deep.equal([]);
    expect(
      codes({
        resourceType: 'Encounter',
        status: 'finished',
        statusHistory: [{ status: 'arrived', period }],
      }),
    ).to.deep.equal(['future_date']);
    expect(codes({ resourceType: 'Observation', effectiveTiming: { event: ['2027-02-01'] } })).to.deep.equal([
      'future_date',
    ]);
    // Not even a plan can have been written in the future.
    expect(
      codes({ resourceType: 'MedicationRequest', status: 'draft', authoredOn: '2027-02-01' }),
    ).to.deep.equal(['future_date']);
    expect(
      codes({ resourceType: 'Observation', status: 'registered', issued: '2027-02-01T00:00:00Z' }),
    ).to.deep.equal(['future_date']);
  });

  it('knows of every date of every type whether it may lie ahead', () => {
    const ahead = new Set([
      'CarePlan.activity.detail.scheduledPeriod',
      'CarePlan.activity.detail.scheduledTiming.event',
      'CarePlan.period',
      'CareTeam.participant.period',
      'CareTeam.period',
      'Device.expirationDate',
      'Encounter.location.period',
      'Encounter.participant.period',
      'Goal.startDate',
      'Goal.target.dueDate',
      'Immunization.expirationDate',
      'Medication.batch.expirationDate',
      'MedicationRequest.dispenseRequest.validityPeriod',
      'Observation.component.valueDateTime',
      'Observation.component.valuePeriod',
      'Observation.valueDateTime',
      'Observation.valuePeriod',
      'Patient.contact.period',
      'Practitioner.qualification.period',
      'PractitionerRole.notAvailable.during',
      'PractitionerRole.period',
      'RelatedPerson.period',
    ]);
    const dates = (name: string, path: string): string[] =>
      typeDefinition(name).elements.flatMap((element) =>
        element.types.flatMap(({ code }) => {
          const at = `${path}.${jsonName(element, code)}`;
          if (['date', 'dateTime', 'instant'].includes(code)) return [at];
          if (code === 'Timing') return [`${at}.event`];
          if (code === 'Period') return [ahead.has(at) ? at : `${at}.start`];
          const isPart = code.includes('.') || ['Annotation', 'Attachment', 'Signature'].includes(code);
          return isPart && path.split('.').length < 4 ? dates(code, at) : [];
        }),
      );
    const listed = [HAPPENED, WRITTEN].flatMap((table) =>
      Object.entries(table).flatMap(([type, paths]) => paths.map((path) => `${type}.${path}`)),
    );
    const types = TYPE_NAMES.filter((type) => typeEntry(type).home !== 'terminology');
    const all = types.flatMap((type) => dates(type, type));
    expect(all.filter((path) => !ahead.has(path)).sort()).to.deep.equal(listed.sort());
    expect([...ahead].filter((path) => !all.includes(path))).to.deep.equal([]);
  });

  it('names a birth after death, and what ends before it begins', () => {
    const patient = (birthDate: string, deceasedDateTime: string) =>
      found({ resourceType: 'Patient', birthDate, deceasedDateTime });
    expect(patient('1961-05-14', '1961-05-13')).to.deep.equal([
      {
        code: 'born_after_death',
        element: 'Patient.birthDate',
        message: '1961-05-14 is after the date of death (1961-05-13)',
      },
    ]);
    expect(patient('1961-05-14', '1961-05-14T23:59:00-11:00')).to.deep.equal([]);
    expect(patient('1961-05-14', '1961-05')).to.deep.equal([]);
    expect(patient('1961-05', '1961-05-01')).to.deep.equal([]);
    expect(patient('1961', '1960-12-31').length).to.equal(1);
    // In Oslo, both are on the 20th.
    expect(patient('2026-11-20', '2026-11-19T23:40:00Z')).to.deep.equal([]);
    expect(patient('2026-11-20', '2026-11-19T09:00:00Z').length).to.equal(1);
    expect(patient('2026-11-20', '2026-11-18T23:40:00-11:00')).to.deep.equal([]);
    const condition = (onsetDateTime: string, abatementDateTime: string) =>
      messages({ resourceType: 'Condition', onsetDateTime, abatementDateTime });
    expect(condition('2020-03-01', '2019-03-01')).to.deep.equal([
      '2019-03-01 is before the onset (2020-03-01)',
    ]);
    expect(condition('2020-03-01', '2020')).to.deep.equal([]);
    const specimen = (collectedDateTime: string, receivedTime: string) =>
      codes({ resourceType: 'Specimen', collection: { collectedDateTime }, receivedTime });
    expect(specimen('2020-03-01T10:00:00Z', '2020-03-01T09:00:00Z')).to.deep.equal(['dates_out_of_order']);
    expect(specimen('2020-03-01T10:00:00+02:00', '2020-03-01T09:00:00Z')).to.deep.equal([]);
    expect(specimen('2020-03-01T23:30:00-08:00', '2020-03-01')).to.deep.equal([]);
    expect(specimen('2020-03-02T06:30:00Z', '2020-03-01')).to.deep.equal([]);
    expect(specimen('2020-03-02T15:00:00Z', '2020-03-01')).to.deep.equal(['dates_out_of_order']);
  });

  it('names a birth date that gives an age that no person has reached', () => {
    const patient = (rest: JsonObject) => found({ resourceType: 'Patient', ...rest });
    expect(patient({ birthDate: '1024-05-14' })).to.deep.equal([
      {
        code: 'implausible_age',
        element: 'Patient.birthDate',
        message: '1024-05-14 is more than 130 years before now',
      },
    ]);
    expect(patient({ birthDate: '0197', deceasedBoolean: false }).length).to.equal(1);
    expect(patient({ birthDate: '1895-12-31' }).length).to.equal(1);
    expect(patient({ birthDate: '1896-01-01' })).to.deep.equal([]);
    expect(patient({ birthDate: '1756-01-27', deceasedDateTime: '1791-12-05' })).to.deep.equal([]);
    expect(patient({ birthDate: '1756-01-27', deceasedBoolean: true })).to.deep.equal([]);
    expect(patient({ birthDate: '1756-01-27', deceasedDateTime: '1991-12-05' }).length).to.equal(1);
  });
});

describe('the file of possible ranges', () => {
  const ranges = readPossibleRanges();
  const bundled = loincUnits();

  it('has the 40 commonest codes of vital signs and common laboratory values, each once and with its source', () => {
    const all = ranges.flatMap((range) => range.codes.map((code) => `${code} ${range.unit}`));
    expect(all.length).to.be.at.least(40);
    expect(new Set(all).size).to.equal(all.length);
    for (const { codes: of, unit, low, high, name, source } of ranges) {
      expect(source.length, name).to.be.greaterThan(30);
      expect(source, name).to.match(/\d{4}|^By definition: /);
      expect(low, name).to.be.lessThan(high);
      expect(isUcum(unit), name).to.equal(true);
      for (const code of of) expect(bundled.get(code)?.unit, `${name} ${code}`).to.be.a('string');
    }
  });

  it('judges each code in the unit that LOINC has for it', () => {
    for (const { codes: of, name } of ranges)
      for (const code of of)
        expect(codes(measured(code, 1e9, bundled.get(code)?.unit ?? '')), `${name} ${code}`).to.deep.equal([
          'impossible_value',
        ]);
  });

  it('has molar masses of bundled codes only, which all are of mass or amount', () => {
    for (const code of MOLAR_MASSES.keys()) expect(bundled.get(code)?.unit, code).to.match(/g\/|mol\//);
  });

  it('contains the values and the reference ranges of the sandbox, and all else that it writes is plausible', () => {
    const ids = new IdSource(newUuid(), 0);
    const { records, directory } = generateSandbox({ seed: 'plausible', today: '2026-11-28', ids });
    const resources = [...records.flatMap(({ resources: of }) => of), ...directory].map(
      ({ resource }) => resource,
    );
    expect(resources.length).to.be.greaterThan(500);
    expect(resources.flatMap(messages)).to.deep.equal([]);
    let limits = 0;
    for (const resource of resources)
      for (const range of listIn(resource.referenceRange))
        for (const limit of [range.low, range.high]
          .map(objectIn)
          .filter(({ value }) => value !== undefined)) {
          limits += 1;
          expect(messages({ ...resource, valueQuantity: limit })).to.deep.equal([]);
        }
    expect(limits).to.be.greaterThan(100);
  });

  it('finds nothing in HL7’s examples but what is wrong in them', () => {
    const faults: string[] = [];
    for (const { name, resource } of officialExamples())
      for (const { code, element, message } of found(resource))
        faults.push(`${name}: ${code} ${element} ${message}`);
    expect(faults).to.deep.equal([
      // In UCUM, K stands for kelvin.
      'Bundle-report: unit_mismatch Bundle.entry[1].resource.value.ofType(Quantity).code the unit K/uL does not fit LOINC 26464-8, which is measured in 10*3/uL',
      'Bundle-report: unit_mismatch Bundle.entry[3].resource.value.ofType(Quantity).code the unit K/uL does not fit LOINC 26515-7, which is measured in 10*3/uL',
      'Specimen-101: dates_out_of_order Specimen.receivedTime 2011-03-04T07:03:00Z is before the collection (2011-05-30T06:15:00Z)',
    ]);
  });

  it('finds nothing in real patient bundles', function () {
    const folder = syntheaFolder();
    if (folder === undefined) this.skip();
    const files = readdirSync(folder).filter((name) => name.endsWith('.json'));
    const faults = files.flatMap((name) => {
      const bundle: { entry: { resource: JsonObject }[] } = JSON.parse(
        readFileSync(join(folder, name), 'utf8'),
      );
      return bundle.entry.flatMap(({ resource }) => messages(resource));
    });
    expect([...new Set(faults)]).to.deep.equal([]);
  });

  it('has words for each kind, here and in the documentation', () => {
    const page = readFileSync(new URL('../../docs/validation.md', import.meta.url), 'utf8');
    for (const [code, words] of Object.entries(IMPLAUSIBLE)) {
      expect(words).to.match(/^a /);
      expect(page).to.include(`| \`${code}\` `);
    }
  });
});
