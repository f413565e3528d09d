/** Stories of hypertension, atrial fibrillation, heart failure and kidney disease. */
import {
  askSmoking,
  checkUps,
  commonLabs,
  pressuresAtHome,
  reportPain,
  summarize,
  writeMeasure,
} from '../background.ts';
import { diagnose, ownDevice, plan, treat, visit, write } from '../clinical.ts';
import { YEAR } from '../days.ts';
import { inVisit, observe, observeVitals, reportLabs } from '../observations.ts';
import { DEVICE, type RecordBuilder, SELF } from '../record.ts';
import { moveLinearly, settleTowards, treatedPressure } from '../trends.ts';

/** Writes hypertension that lisinopril lowers. */
export function hypertension(builder: RecordBuilder): void {
  const start = builder.ago(5 * YEAR);
  treatedPressure(builder, start);
  const visits = checkUps(builder, 7);
  const measured = visit(builder, start - 14, 'High blood pressure');
  observeVitals(builder, measured);
  const reason = diagnose(builder, 'I10', start - 14, undefined, measured);
  treat(builder, { drug: 'C09AA03', start, reason, dosage: '10 mg in the morning' });
  const [first] = visits;
  if (first !== undefined) askSmoking(builder, first, 'Never smoker');
  pressuresAtHome(builder, 12);
  plan(builder, start, 'Blood pressure below 135/85 at home', ['Lisinopril', 'Less salt'], reason);
  summarize(builder, builder.ago(5), 'Blood pressure at home is in the target range.');
}

/** Writes atrial fibrillation treated with warfarin: the INR is kept between 2 and 3. */
export function fibrillationOnWarfarin(builder: RecordBuilder): void {
  const start = builder.ago(3 * YEAR);
  const seen = visit(builder, start, 'Palpitations');
  observeVitals(builder, seen, true);
  const reason = diagnose(builder, 'I48.9', start, undefined, seen);
  reportLabs(builder, start, { inr: 1 + builder.random.noise(0.1), ...commonLabs(builder, start) });
  treat(builder, { drug: 'B01AA03', start: start + 2, reason, dosage: 'by INR, target 2.0 to 3.0' });
  for (let day = start + 40; day < builder.ago(5); day += 56)
    reportLabs(builder, day, { inr: 2.5 + builder.random.noise(0.45) });
  checkUps(builder, 2);
  pressuresAtHome(builder, 4);
  write(
    builder,
    start,
    'consultation',
    'Atrial fibrillation. Anticoagulation with warfarin, INR 2.0 to 3.0.',
  );
  summarize(builder, builder.ago(4), 'INR within the target range at most controls.');
}

/** Writes atrial fibrillation treated with apixaban, for which no INR is measured. */
export function fibrillationOnApixaban(builder: RecordBuilder): void {
  const start = builder.ago(1.6 * YEAR);
  const seen = visit(builder, start, 'Irregular pulse');
  observeVitals(builder, seen, true);
  const reason = diagnose(builder, 'I48.9', start, undefined, seen);
  treat(builder, { drug: 'B01AF02', start: start + 1, reason, dosage: '5 mg twice a day' });
  treat(builder, { drug: 'C07AB07', start: start + 1, reason, dosage: '2.5 mg a day' });
  reportLabs(builder, start + 1, commonLabs(builder, start + 1));
  checkUps(builder, 5);
  const device = ownDevice(builder, 'Heart rate watch');
  for (let day = builder.ago(90); day < builder.ago(2); day += 6)
    observe(builder, 'heartRate', 76 + builder.random.noise(12), {
      day,
      minutes: 1_200,
      author: DEVICE,
      device,
    });
  summarize(builder, builder.ago(3), 'Rate controlled; no bleeding reported under apixaban.');
}

/** Writes heart failure: after a hospital stay, weight and breathing are monitored at home. */
export function heartFailure(builder: RecordBuilder): void {
  const start = builder.ago(400);
  const base = builder.course.weight(start);
  builder.course = { ...builder.course, weight: settleTowards(base + 6, start, base, 15) };
  const stay = visit(builder, start, 'Breathlessness, swollen legs', 6);
  observeVitals(builder, stay, true);
  observe(builder, 'saturation', 91, inVisit(builder, stay));
  const reason = diagnose(builder, 'I50.9', start, undefined, stay);
  reportLabs(builder, start + 1, commonLabs(builder, start + 1), { ...stay, day: start + 1 });
  treat(builder, { drug: 'C03CA01', start: start + 1, reason, dosage: '40 mg in the morning' });
  treat(builder, { drug: 'C09AA05', start: start + 2, reason, dosage: '2.5 mg twice a day' });
  treat(builder, { drug: 'C07AB07', start: start + 6, reason, dosage: '1.25 mg a day' });
  write(
    builder,
    start + 6,
    'discharge',
    'Heart failure, compensated after diuretics. Weigh yourself every morning.',
  );
  const device = ownDevice(builder, 'Bathroom scale');
  for (let day = start + 14; day < builder.ago(2); day += 14)
    observe(builder, 'weight', builder.course.weight(day) + builder.random.noise(0.4), {
      day,
      minutes: 430,
      author: DEVICE,
      device,
    });
  reportPain(builder, builder.ago(40), 2);
  checkUps(builder, 1);
  summarize(
    builder,
    builder.ago(2),
    `Stable; ${writeMeasure('weight', builder.course.weight(builder.ago(2)))}.`,
  );
}

/** Writes chronic kidney disease: filtration falls from year to year. */
export function kidneyDisease(builder: RecordBuilder): void {
  const since = builder.ago(7 * YEAR);
  const factor = builder.person.sex === 'female' ? 0.82 : 1;
  builder.course = {
    ...builder.course,
    creatinine: moveLinearly(1.35 * factor, since, 1.95 * factor, builder.today),
  };
  const reason = diagnose(builder, 'N18.3', since + 90);
  treatedPressure(builder, since + 100);
  const pressure = diagnose(builder, 'I10', since + 60);
  treat(builder, { drug: 'C09AA05', start: since + 100, reason: pressure, dosage: '5 mg a day' });
  for (let day = since; day < builder.ago(10); day += 175) reportLabs(builder, day, commonLabs(builder, day));
  checkUps(builder, 7, 2);
  pressuresAtHome(builder, 4);
  plan(builder, since + 120, 'Keep what filtration there is', ['Ramipril', 'No ibuprofen'], reason);
  observe(builder, 'pain', 1, { day: builder.ago(30), minutes: 1_100, author: SELF });
  summarize(builder, builder.ago(4), 'Filtration falls slowly; potassium is normal.');
}
