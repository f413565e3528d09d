/** Stories of mental and neurological disease, cancer, joint disease, and the end of life. */
import {
  askSmoking,
  checkUps,
  commonLabs,
  pressuresAtHome,
  pulseAtHome,
  reportPain,
  summarize,
} from '../background.ts';
import { diagnose, operate, ownDevice, plan, treat, visit, write } from '../clinical.ts';
import { dateText, timeText, YEAR } from '../days.ts';
import { inVisit, observe, observeVitals, reportLabs } from '../observations.ts';
import { DEVICE, IMPORT, type RecordBuilder, SELF } from '../record.ts';
import { moveLinearly, settleTowards } from '../trends.ts';

/** Writes depression: the PHQ-9 score falls with sertraline. */
export function depression(builder: RecordBuilder): void {
  const start = builder.ago(300);
  const seen = visit(builder, start, 'Low mood, poor sleep');
  const reason = diagnose(builder, 'F32.1', start - 30, undefined, seen);
  const score = settleTowards(builder.random.int(15, 18), start + 2, 5, 90);
  for (const days of [-4, 14, 42, 95, 150, 210, 270])
    observe(builder, 'phq9', score(start + days), { day: start + days, minutes: 1_200, author: SELF });
  treat(builder, { drug: 'N06AB06', start: start + 2, reason, dosage: '50 mg in the morning' });
  plan(builder, start, 'PHQ-9 below 5', ['Cognitive behavioural therapy once a week', 'Sertraline'], reason);
  for (const days of [42, 150]) observeVitals(builder, visit(builder, start + days, 'Control'), days === 42);
  pulseAtHome(builder, 8);
  summarize(builder, builder.ago(7), 'Depressive symptoms have eased under sertraline.');
}

/** Writes breast cancer in follow-up after an operation. */
export function breastCancer(builder: RecordBuilder): void {
  const start = builder.ago(4 * YEAR);
  const stay = visit(builder, start, 'Operation of the breast', 4);
  const cancer = diagnose(builder, 'C50.9', start - 25);
  operate(builder, 'Breast-conserving surgery with sentinel node biopsy', stay, cancer);
  const letter = write(
    builder,
    start + 4,
    'discharge',
    'Breast cancer, hormone receptor positive, removed in healthy margins.',
    IMPORT,
  );
  builder.add('Provenance', IMPORT, {
    target: [{ reference: letter }],
    recorded: timeText(start + 4, 1_030),
    agent: [{ who: { reference: builder.directory.hospital } }],
  });
  treat(builder, { drug: 'L02BG04', start: start + 60, reason: cancer, dosage: '2.5 mg a day' });
  for (let day = start + 120; day < builder.ago(8); day += 182) {
    const seen = visit(builder, day, 'Follow-up of breast cancer');
    observeVitals(builder, seen);
    reportLabs(
      builder,
      day,
      {
        ...commonLabs(builder, day),
        leukocytes: 6.1 + builder.random.noise(1.5),
        platelets: 240 + builder.random.noise(50),
      },
      seen,
    );
  }
  reportPain(builder, start + 6, 4);
  pulseAtHome(builder, 4);
  plan(builder, start + 10, 'Five years without recurrence', ['Letrozole', 'Mammography every year'], cancer);
  summarize(builder, builder.ago(6), 'No sign of recurrence four years after operation.');
}

/** Writes prostate cancer: PSA after the operation. */
export function prostateCancer(builder: RecordBuilder): void {
  const start = builder.ago(3 * YEAR);
  const cancer = diagnose(builder, 'C61', start - 60);
  const psa = settleTowards(9.4 + builder.random.noise(2), start, 0.03, 30);
  const stay = visit(builder, start, 'Prostatectomy', 5);
  operate(builder, 'Radical prostatectomy', stay, cancer);
  for (const days of [-60, 90, 180, 365, 550, 730, 1_000])
    reportLabs(builder, start + days, { psa: psa(start + days) });
  write(builder, start + 5, 'discharge', 'Prostate cancer removed. PSA every six months.');
  checkUps(builder, 6, 2);
  pressuresAtHome(builder, 3);
  reportPain(builder, start + 8, 3);
  summarize(builder, builder.ago(12), 'PSA stays below the limit of detection.');
}

/** Writes migraine, with a pain diary. */
export function migraine(builder: RecordBuilder): void {
  const start = builder.ago(3 * YEAR);
  const seen = visit(builder, start, 'Headache with nausea');
  observeVitals(builder, seen, true);
  const reason = diagnose(builder, 'G43.0', start, undefined, seen);
  treat(builder, { drug: 'N02CC01', start, reason, dosage: '50 mg at the start of an attack' });
  for (let day = builder.ago(240); day < builder.ago(2); day += 17 + builder.random.int(0, 9))
    reportPain(builder, day, builder.random.int(5, 8));
  checkUps(builder, 2);
  pulseAtHome(builder, 4);
  summarize(builder, builder.ago(3), 'One to two attacks of migraine a month.');
}

/** Writes epilepsy: free of seizures with levetiracetam. */
export function epilepsy(builder: RecordBuilder): void {
  const start = builder.ago(8 * YEAR);
  const stay = visit(builder, start, 'Seizure', 2);
  const reason = diagnose(builder, 'G40.9', start, undefined, stay);
  treat(builder, { drug: 'N03AX14', start: start + 1, reason, dosage: '500 mg twice a day' });
  write(builder, start + 2, 'discharge', 'First seizures, epilepsy. Levetiracetam. No driving for a year.');
  checkUps(builder, 7, 2);
  pulseAtHome(builder, 5);
  reportPain(builder, builder.ago(90), 0);
  summarize(builder, builder.ago(8), 'No seizure for years.');
}

/** Writes dementia: the MMSE score falls; a care team looks after the patient. */
export function dementia(builder: RecordBuilder): void {
  const start = builder.ago(3 * YEAR);
  const reason = diagnose(builder, 'G30.1', start);
  const score = moveLinearly(24, start, 16, builder.today);
  for (let day = start; day < builder.ago(10); day += 182) {
    const seen = visit(builder, day, 'Memory clinic');
    observe(builder, 'mmse', score(day) + builder.random.noise(0.8), inVisit(builder, seen));
    observeVitals(builder, seen);
  }
  treat(builder, { drug: 'N06DA02', start: start + 20, reason, dosage: '5 mg in the evening' });
  builder.add('CareTeam', builder.doctorAuthor, {
    status: 'active',
    name: 'Care at home',
    subject: builder.subject,
    period: { start: dateText(start + 30) },
    participant: [
      { member: { reference: builder.doctor } },
      { member: { reference: builder.directory.practice } },
    ],
    reasonReference: [{ reference: reason }],
  });
  plan(
    builder,
    start + 30,
    'Live at home safely',
    ['Day care twice a week', 'Medication in a weekly box'],
    reason,
  );
  pulseAtHome(builder, 5);
  reportPain(builder, builder.ago(60), 1);
  summarize(builder, builder.ago(5), 'Memory declines slowly; lives at home with help.');
}

/** Writes rheumatoid arthritis: inflammation falls with methotrexate. */
export function arthritis(builder: RecordBuilder): void {
  const start = builder.ago(2.5 * YEAR);
  const seen = visit(builder, start, 'Swollen finger joints');
  observeVitals(builder, seen, true);
  const reason = diagnose(builder, 'M06.9', start, undefined, seen);
  const crp = settleTowards(34 + builder.random.noise(8), start + 10, 4, 100);
  for (let day = start; day < builder.ago(9); day += 120)
    reportLabs(builder, day, {
      crp: crp(day),
      leukocytes: 6.8 + builder.random.noise(1),
      platelets: 260 + builder.random.noise(50),
      alt: 24 + builder.random.noise(9),
      ...commonLabs(builder, day),
    });
  treat(builder, { drug: 'L04AX03', start: start + 10, reason, dosage: '15 mg once a week' });
  // This medication is added as part of the standard of care.
  treat(builder, {
    drug: 'B03BB01',
    start: start + 10,
    reason,
    dosage: '5 mg once a week, the day after methotrexate',
  });
  for (const [days, pain] of [
    [0, 7],
    [60, 5],
    [180, 3],
    [500, 2],
  ] as const)
    reportPain(builder, start + days, pain);
  pulseAtHome(builder, 4);
  summarize(builder, builder.ago(7), 'Joints quiet under methotrexate.');
}

/** Writes advanced lung disease in a patient who has died. */
export function endOfLife(builder: RecordBuilder): void {
  const start = builder.ago(3 * YEAR);
  const visits = checkUps(builder, 4);
  const [first] = visits;
  if (first !== undefined) askSmoking(builder, first, 'Former smoker');
  const reason = diagnose(builder, 'J44.9', start);
  treat(builder, {
    drug: 'R03BB04',
    start,
    end: builder.ago(2),
    reason,
    dosage: '18 µg once a day, inhaled',
  });
  const device = ownDevice(builder, 'Pulse oximeter');
  for (let day = builder.ago(70); day < builder.ago(8); day += 7)
    observe(builder, 'saturation', 87 + builder.random.int(0, 3), {
      day,
      minutes: 990,
      author: DEVICE,
      device,
    });
  reportPain(builder, builder.ago(20), 4);
  const stay = visit(builder, builder.ago(6), 'Breathlessness', 4);
  observe(builder, 'saturation', 84, inVisit(builder, stay));
  write(builder, stay.day + 3, 'discharge', 'Palliative care at the wish of the patient.');
  summarize(builder, builder.ago(7), 'Oxygen saturation falls from week to week.');
}
