/** Stories of healthy people, an infant, a pregnancy, fractures, and an almost empty record. */
import {
  askSmoking,
  checkUps,
  commonLabs,
  pressuresAtHome,
  pulseAtHome,
  reportPain,
  summarize,
} from '../background.ts';
import { diagnose, operate, treat, vaccinate, visit, write } from '../clinical.ts';
import { headCircumference } from '../course.ts';
import { YEAR } from '../days.ts';
import { inVisit, observe, observeCode, observeVitals, reportLabs } from '../observations.ts';
import { AI, DEVICE, type RecordBuilder, SELF } from '../record.ts';
import { moveLinearly } from '../trends.ts';

/** Writes the record of a healthy adult. */
export function healthy(builder: RecordBuilder): void {
  const visits = checkUps(builder, 6, 1.5);
  const [first] = visits;
  if (first !== undefined) askSmoking(builder, first, 'Never smoker');
  vaccinate(builder, 'J07AM51', builder.ago(2.2 * YEAR), 1);
  pulseAtHome(builder, 8);
  reportPain(builder, builder.ago(200), builder.random.int(0, 2));
  summarize(builder, builder.ago(6), 'No illness known.');
}

/** Writes an almost empty record: one visit, one pulse, one statement by the patient, and a summary. */
export function almostNothing(builder: RecordBuilder): void {
  const seen = visit(builder, builder.ago(35), 'Registration');
  observe(builder, 'heartRate', builder.course.heartRate(seen.day), {
    day: seen.day + 2,
    minutes: 700,
    author: DEVICE,
  });
  observe(builder, 'pain', 0, { day: seen.day + 3, minutes: 600, author: SELF });
  write(
    builder,
    seen.day + 4,
    'summary',
    'Machine-made summary, not reviewed. New patient, nothing to report.',
    AI,
  );
}

/** Writes an infant's record: growth and the vaccinations of the first year. */
export function infant(builder: RecordBuilder): void {
  const { birth } = builder.person;
  const larger = builder.random.noise(0.8);
  for (const weeks of [6, 13, 22, 32, 52]) {
    const day = birth + weeks * 7 + builder.random.int(0, 4);
    if (day > builder.ago(4)) break;
    const seen = visit(builder, day, 'Well-child visit');
    observeVitals(builder, seen, true);
    observe(
      builder,
      'headCircumference',
      headCircumference(builder.age(day)) + larger,
      inVisit(builder, seen),
    );
    observe(builder, 'temperature', 36.9 + builder.random.noise(0.3), inVisit(builder, seen));
  }
  const doses = [
    ['J07CA09', 61, 1],
    ['J07AL02', 61, 1],
    ['J07CA09', 122, 2],
    ['J07AL02', 122, 2],
    ['J07CA09', 340, 3],
    ['J07AL02', 340, 3],
    ['J07BD52', 345, 1],
  ] as const;
  for (const [vaccine, age, dose] of doses) {
    if (birth + age + 5 < builder.ago(3))
      vaccinate(builder, vaccine, birth + age + builder.random.int(0, 5), dose);
  }
  write(builder, birth + 45, 'consultation', 'Healthy infant, feeds well, grows along its percentile.');
  summarize(builder, builder.ago(4), 'Growth and vaccinations as scheduled.');
}

/** Writes a pregnancy in its thirtieth week. */
export function pregnancy(builder: RecordBuilder): void {
  checkUps(builder, 3);
  const conceived = builder.ago(205);
  const before = builder.course.weight(conceived);
  builder.course = { ...builder.course, weight: moveLinearly(before, conceived, before + 10, builder.today) };
  const first = visit(builder, conceived + 45, 'Pregnancy test');
  reportLabs(
    builder,
    first.day,
    { hcg: 38_000 + builder.random.int(0, 20_000), ...commonLabs(builder, first.day) },
    first,
  );
  const pregnant = {
    coding: [{ system: 'http://loinc.org', code: 'LA15173-0', display: 'Pregnant' }],
    text: 'Pregnant',
  };
  observeCode(builder, ['82810-3', 'Pregnancy status'], 'social-history', pregnant, inVisit(builder, first));
  const reason = diagnose(builder, 'Z34.9', first.day, undefined, first);
  treat(builder, { drug: 'B03BB01', start: first.day, reason, dosage: '400 µg a day' });
  for (let day = first.day + 28; day < builder.ago(3); day += 28) {
    const seen = visit(builder, day, 'Antenatal visit');
    observeVitals(builder, seen);
    reportLabs(
      builder,
      day,
      { hemoglobin: 11.9 + builder.random.noise(0.5), glucose: 86 + builder.random.noise(8) },
      seen,
    );
  }
  pressuresAtHome(builder, 6);
  reportPain(builder, builder.ago(12), 2);
  summarize(builder, builder.ago(3), 'Pregnancy of thirty weeks without complications.');
}

/** Writes a broken wrist caused by osteoporosis. */
export function brokenWrist(builder: RecordBuilder): void {
  const start = builder.ago(1.5 * YEAR);
  const seen = visit(builder, start, 'Fall on the hand');
  reportPain(builder, start, 7);
  const fracture = diagnose(builder, 'S52.5', start, start + 50, seen);
  operate(builder, 'Closed reduction and cast of the wrist', seen, fracture);
  treat(builder, {
    drug: 'N02BE01',
    start,
    end: start + 14,
    reason: fracture,
    dosage: '1 g up to three times a day',
  });
  reportPain(builder, start + 14, 3);
  const bones = diagnose(builder, 'M81.0', start + 40);
  treat(builder, { drug: 'M05BA04', start: start + 45, reason: bones, dosage: '70 mg once a week' });
  checkUps(builder, 4, 2);
  pulseAtHome(builder, 5);
  write(builder, start, 'consultation', 'Fracture of the distal radius, reduced and put in a cast.');
  summarize(builder, builder.ago(9), 'Fracture healed; osteoporosis under treatment.');
}

/** Writes the record of a young athlete with a broken ankle. */
export function brokenAnkle(builder: RecordBuilder): void {
  const start = builder.ago(500);
  const seen = visit(builder, start, 'Ankle twisted at football', 2);
  const fracture = diagnose(builder, 'S82.6', start, start + 70, seen);
  operate(builder, 'Fixation of the lateral malleolus with plate', seen, fracture);
  treat(builder, {
    drug: 'N02BE01',
    start,
    end: start + 10,
    reason: fracture,
    dosage: '1 g up to three times a day',
  });
  for (const [days, score] of [
    [1, 7],
    [7, 4],
    [30, 2],
    [70, 0],
  ] as const)
    reportPain(builder, start + days, score);
  write(builder, start + 2, 'discharge', 'Fracture of the lateral malleolus, fixed. No load for six weeks.');
  observeVitals(builder, visit(builder, start + 70, 'Plate control'), true);
  pulseAtHome(builder, 6);
  summarize(builder, builder.ago(8), 'Fracture healed without sequelae.');
}
