/** Rules 9 to 21: values, and how illness and treatment change them. */
import { estimatedFiltration } from '#src/sandbox/renal.ts';
import { limitsOf } from './limits.ts';
import { DAY_MS, eachRecord, eachResource, type RecordView, type Rule, type Value } from './view.ts';

const mean = (values: readonly Value[]): number =>
  values.reduce((sum, { value }) => sum + value, 0) / values.length;

/**
 * Checks that a measure falls by at least `by` under a treatment, by comparing the last `days` before the treatment with the
 * time from `settled` days after its start.
 */
function falls(
  record: RecordView,
  code: string,
  atc: string,
  by: number,
  settled: number,
  days = 800,
): string[] {
  const start = record.treatedSince(atc);
  if (start === undefined) return [];
  const values = record.values(code);
  const before = values.filter(({ at }) => at < start + DAY_MS && at > start - days * DAY_MS);
  const after = values.filter(({ at }) => at > start + settled * DAY_MS);
  if (before.length === 0 || after.length === 0) return [];
  return mean(before) - mean(after) >= by
    ? []
    : [`${code} does not fall under ${atc}: ${mean(before)} to ${mean(after)}`];
}

/** Returns the values of several codes that were measured at the same time. */
function together(record: RecordView, codes: readonly string[]): Value[][] {
  const [first = '', ...others] = codes;
  return record.values(first).flatMap((value) => {
    const rest = others.map((code) => record.values(code).find(({ at }) => at === value.at));
    const found = [value, ...rest].filter((one) => one !== undefined);
    return found.length === codes.length ? [found] : [];
  });
}

export const VALUE_RULES: readonly Rule[] = [
  eachRecord('HbA1c falls after an antidiabetic begins', (record) => falls(record, '4548-4', 'A10', 0.5, 90)),
  eachRecord('systolic pressure is above diastolic by 15 mm[Hg] at least', (record) =>
    record.values('8480-6').flatMap((systolic) => {
      const diastolic = record.values('8462-4').find(({ name }) => name === systolic.name);
      if (diastolic === undefined) return [`${systolic.name}: no diastolic pressure`];
      return systolic.value - diastolic.value >= 15
        ? []
        : [`${systolic.name}: ${systolic.value}/${diastolic.value}`];
    }),
  ),
  eachRecord('the body mass index is weight by height squared', (record) =>
    together(record, ['39156-5', '29463-7', '8302-2']).flatMap(([bmi, weight, height]) =>
      bmi !== undefined &&
      weight !== undefined &&
      height !== undefined &&
      Math.abs(bmi.value - weight.value / (height.value / 100) ** 2) > 0.11
        ? [`${bmi.name}: ${bmi.value} of ${weight.value} kg, ${height.value} cm`]
        : [],
    ),
  ),
  eachRecord('values lie within the limits of age', (record) =>
    record.values().flatMap(({ code, value, at, name }) => {
      const limits = limitsOf(code, record.age(at));
      if (limits === undefined) return [`${name}: no limits are known of ${code}`];
      return value >= limits.from && value <= limits.to ? [] : [`${name}: ${code} is ${value}`];
    }),
  ),
  eachRecord('a child grows and never shrinks', (record) =>
    record
      .values('8302-2')
      .filter(({ at }) => record.age(at) < 18)
      .flatMap((value, index, all) =>
        value.value < (all[index - 1]?.value ?? 0)
          ? [`${value.name}: ${value.value} cm after ${all[index - 1]?.value}`]
          : [],
      ),
  ),
  eachRecord('an adult keeps their height', (record) => {
    const heights = record
      .values('8302-2')
      .filter(({ at }) => record.age(at) >= 18.5)
      .map(({ value }) => value);
    return heights.length > 0 && Math.max(...heights) - Math.min(...heights) > 3 ? ['height changes'] : [];
  }),
  eachRecord('filtration is what creatinine, age and sex give (CKD-EPI 2021)', (record) =>
    together(record, ['98979-8', '2160-0']).flatMap(([filtration, creatinine]) => {
      if (filtration === undefined || creatinine === undefined) return [];
      const sex = record.patient.gender === 'female' ? 'female' : 'male';
      const expected = estimatedFiltration(creatinine.value, record.age(filtration.at), sex);
      return Math.abs(filtration.value - expected) > 2
        ? [`${filtration.name}: ${filtration.value}, not ${expected}`]
        : [];
    }),
  ),
  eachRecord('filtration falls in chronic kidney disease', (record) => {
    const values = record.has('N18') ? record.values('98979-8') : [];
    const third = Math.floor(values.length / 3);
    return third > 0 && mean(values.slice(0, third)) - mean(values.slice(-third)) < 5
      ? ['filtration does not fall']
      : [];
  }),
  eachRecord('thyrotropin falls under levothyroxine', (record) => falls(record, '3016-3', 'H03AA', 3, 60)),
  eachRecord('the INR is about 1, and from 1.8 to 3.5 under warfarin', (record) => {
    const start = record.treatedSince('B01AA03');
    return record.values('6301-6').flatMap(({ at, value, name }) => {
      const treated = start !== undefined && at > start + 30 * DAY_MS;
      const [from, to] = treated ? [1.8, 3.5] : [0.8, 1.3];
      return value < from || value > to ? [`${name}: INR ${value}`] : [];
    });
  }),
  eachRecord('hypertension is measured before its treatment, not for years, and falls under it', (record) => {
    const start = record.treatedSince('C09');
    if (!record.has('I10') || start === undefined) return [];
    const before = record.values('8480-6').filter(({ at }) => at < start + DAY_MS);
    return [
      ...(before.some(({ value, at }) => value >= 140 && at > start - 120 * DAY_MS)
        ? []
        : ['no high pressure was measured before the treatment']),
      ...before
        .filter(({ value, at }) => value >= 145 && at < start - 500 * DAY_MS)
        .map(({ name, value }) => `${name}: ${value} mm[Hg] that nobody treats`),
      ...falls(record, '8480-6', 'C09', 8, 60, 120),
    ];
  }),
  eachResource(
    'a score of questions is a whole number, and the PHQ-9 falls under an antidepressant',
    'Patient',
    (_, record) => [
      ...['44261-6', '72106-8', '72514-3'].flatMap((code) =>
        record
          .values(code)
          .filter(({ value }) => !Number.isInteger(value))
          .map(({ name }) => `${name} is no whole number`),
      ),
      ...falls(record, '44261-6', 'N06A', 4, 30),
    ],
  ),
  eachRecord('LDL is total cholesterol without HDL and a fifth of triglycerides (Friedewald)', (record) =>
    together(record, ['13457-7', '2093-3', '2085-9', '2571-8']).flatMap(
      ([ldl, total, hdl, triglycerides]) => {
        if (ldl === undefined || total === undefined || hdl === undefined || triglycerides === undefined)
          return [];
        const expected = total.value - hdl.value - triglycerides.value / 5;
        return Math.abs(ldl.value - expected) > 1 ? [`${ldl.name}: ${ldl.value}, not ${expected}`] : [];
      },
    ),
  ),
];
