/** Stories of diabetes, thyroid disease, cholesterol, gout and vitamin B12 deficiency. */
import {
  askSmoking,
  checkUps,
  estimateGlucose,
  lipids,
  on,
  pressuresAtHome,
  reportPain,
  summarize,
  writeMeasure,
} from '../background.ts';
import { diagnose, plan, treat, visit, write } from '../clinical.ts';
import { type Day, YEAR } from '../days.ts';
import { inVisit, observe, observeVitals, reportLabs, rounded } from '../observations.ts';
import type { RecordBuilder } from '../record.ts';
import { settleTowards, treatedPressure } from '../trends.ts';

/**
 * Adds HbA1c and glucose values before and after a treatment starts.
 * @returns the last HbA1c
 */
function glycemia(
  builder: RecordBuilder,
  start: Day,
  days: readonly Day[],
  before: number,
  after: number,
): number {
  const course = settleTowards(before, start, after, 90);
  let last = before;
  for (const day of days) {
    last = rounded('hba1c', course(day) + builder.random.noise(0.15));
    reportLabs(builder, day, { hba1c: last, glucose: 28.7 * last - 46.7 + builder.random.noise(8) });
  }
  return last;
}

const every = (from: Day, to: Day, step: number): Day[] =>
  Array.from({ length: Math.max(0, Math.floor((to - from) / step)) + 1 }, (_, index) => from + index * step);

/** Writes type 2 diabetes for twenty years, with hypertension. This is the longest record. */
export function diabetesForTwentyYears(builder: RecordBuilder): void {
  const start = builder.ago(20.3 * YEAR);
  const seen = visit(builder, start, 'Thirst and tiredness');
  const diabetes = diagnose(builder, 'E11.9', start, undefined, seen);
  const before = builder.random.between(8.6, 9.6);
  const drug = start + 21;
  const days = [start, ...every(drug + 95, builder.ago(20), 260)];
  const last = glycemia(builder, drug, days, before, builder.random.between(6.8, 7.2));
  treat(builder, { drug: 'A10BA02', start: drug, reason: diabetes, dosage: '1000 mg twice a day' });
  const pressureSince = builder.ago(12 * YEAR);
  treatedPressure(builder, pressureSince + 30);
  const measured = visit(builder, pressureSince, 'High blood pressure');
  observeVitals(builder, measured);
  const hypertension = diagnose(builder, 'I10', pressureSince, undefined, measured);
  treat(builder, { drug: 'C09AA03', start: pressureSince + 30, reason: hypertension, dosage: '10 mg a day' });
  const visits = checkUps(builder, 19.8, 1.6);
  const [first] = visits;
  if (first !== undefined) askSmoking(builder, first, 'Former smoker');
  plan(
    builder,
    drug,
    'HbA1c below 7.0 %',
    ['Metformin twice a day', 'Walk for half an hour a day'],
    diabetes,
  );
  pressuresAtHome(builder, 8);
  estimateGlucose(builder, builder.ago(15), last);
  write(
    builder,
    start,
    'consultation',
    `New diagnosis of type 2 diabetes. ${writeMeasure('hba1c', before)}. Metformin begins.`,
  );
  summarize(
    builder,
    builder.ago(14),
    `Type 2 diabetes for twenty years; last ${writeMeasure('hba1c', last)}.`,
  );
}

/** Writes type 2 diabetes that was diagnosed a year ago, with weight loss. */
export function newDiabetes(builder: RecordBuilder): void {
  const start = builder.ago(420 + builder.random.int(0, 40));
  const tall = builder.course.height(start) / 100;
  builder.course = { ...builder.course, weight: settleTowards(33 * tall ** 2, start, 30.5 * tall ** 2, 300) };
  const seen = visit(builder, start, 'Check-up');
  observeVitals(builder, seen, true);
  diagnose(builder, 'E66.9', start, undefined, seen);
  const diabetes = diagnose(builder, 'E11.9', start, undefined, seen);
  const drug = start + 10;
  const days = [start, drug + 95, drug + 190, drug + 285, drug + 375];
  const last = glycemia(
    builder,
    drug,
    days,
    builder.random.between(8, 9.2),
    builder.random.between(6.3, 6.9),
  );
  treat(builder, { drug: 'A10BA02', start: drug, reason: diabetes, dosage: '500 mg twice a day' });
  for (const day of [drug + 100, drug + 285])
    observeVitals(builder, visit(builder, day, 'Diabetes check'), true);
  plan(builder, drug, 'Lose 8 kg in a year', ['Dietary advice', 'Swim twice a week'], diabetes);
  estimateGlucose(builder, builder.ago(12), last);
  summarize(builder, builder.ago(11), `Diabetes responds to metformin; ${writeMeasure('hba1c', last)}.`);
}

/** Writes diabetes and hypertension in old age. */
export function diabetesAndPressure(builder: RecordBuilder): void {
  const start = builder.ago(6 * YEAR);
  treatedPressure(builder, start + 20);
  const hypertension = diagnose(builder, 'I10', start);
  treat(builder, { drug: 'C09AA05', start: start + 20, reason: hypertension, dosage: '5 mg a day' });
  const since = builder.ago(4 * YEAR);
  const diabetes = diagnose(builder, 'E11.9', since);
  const drug = since + 14;
  const last = glycemia(builder, drug, [since, ...every(drug + 95, builder.ago(25), 240)], 8.4, 6.9);
  treat(builder, { drug: 'A10BA02', start: drug, reason: diabetes, dosage: '850 mg twice a day' });
  checkUps(builder, 7);
  pressuresAtHome(builder, 6);
  summarize(
    builder,
    builder.ago(9),
    `Diabetes and hypertension, both treated; ${writeMeasure('hba1c', last)}.`,
  );
}

/** Writes hypothyroidism: thyrotropin falls with levothyroxine. */
export function hypothyroidism(builder: RecordBuilder): void {
  const start = builder.ago(5 * YEAR);
  const seen = visit(builder, start, 'Tiredness, feeling cold');
  observeVitals(builder, seen, true);
  const thyroid = diagnose(builder, 'E03.9', start, undefined, seen);
  const drug = start + 7;
  const tsh = settleTowards(builder.random.between(11, 18), drug, builder.random.between(1.6, 2.6), 60);
  for (const day of [start, drug + 95, drug + 200, drug + 560, drug + 930, drug + 1_300, drug + 1_670])
    reportLabs(builder, day, { tsh: tsh(day) + builder.random.noise(0.2) });
  treat(builder, { drug: 'H03AA01', start: drug, reason: thyroid, dosage: '75 µg in the morning' });
  checkUps(builder, 4);
  write(builder, start, 'consultation', `Hypothyroidism. ${writeMeasure('tsh', tsh(start))}.`);
  summarize(builder, builder.ago(8), `Hypothyroidism, well under levothyroxine ${on(builder.ago(9))}.`);
}

/** Writes high cholesterol that a statin lowers. */
export function cholesterol(builder: RecordBuilder): void {
  const start = builder.ago(3 * YEAR);
  builder.course = { ...builder.course, ldl: settleTowards(185 + builder.random.noise(10), start, 98, 40) };
  checkUps(builder, 5);
  const reason = diagnose(builder, 'E78.0', start - 10);
  treat(builder, { drug: 'C10AA05', start, reason, dosage: '20 mg in the evening' });
  for (const day of [start + 60, start + 420]) reportLabs(builder, day, lipids(builder, day));
  summarize(builder, builder.ago(7), 'LDL cholesterol has fallen under atorvastatin.');
}

/** Writes gout: urate falls with allopurinol. */
export function gout(builder: RecordBuilder): void {
  const start = builder.ago(2.5 * YEAR);
  const seen = visit(builder, start, 'Painful big toe');
  const reason = diagnose(builder, 'M10.9', start, undefined, seen);
  reportPain(builder, start, 8);
  const drug = start + 30;
  const urate = settleTowards(9.1 + builder.random.noise(0.4), drug, 5.4, 60);
  for (const day of [start, drug + 90, drug + 400, drug + 760])
    reportLabs(builder, day, { urate: urate(day), crp: day === start ? 38 : 3 });
  treat(builder, { drug: 'M04AA01', start: drug, reason, dosage: '100 mg a day' });
  checkUps(builder, 4);
  summarize(builder, builder.ago(10), 'No attack of gout since allopurinol began.');
}

/** Writes pernicious anaemia: haemoglobin rises with vitamin B12. */
export function perniciousAnaemia(builder: RecordBuilder): void {
  const start = builder.ago(2 * YEAR);
  const seen = visit(builder, start, 'Pale and out of breath');
  observe(builder, 'saturation', 97, inVisit(builder, seen));
  observeVitals(builder, seen, true);
  const reason = diagnose(builder, 'D51.0', start, undefined, seen);
  const hemoglobin = settleTowards(8.6 + builder.random.noise(0.4), start + 3, 13.1, 80);
  const cobalamin = settleTowards(110, start + 3, 480, 30);
  for (const day of [start, start + 30, start + 90, start + 360, start + 650])
    reportLabs(builder, day, { hemoglobin: hemoglobin(day), cobalamin: cobalamin(day) });
  treat(builder, {
    drug: 'B03BA01',
    start: start + 3,
    reason,
    dosage: '1 mg into the muscle every 3 months',
  });
  summarize(builder, builder.ago(6), 'Haemoglobin is normal again under vitamin B12.');
}
