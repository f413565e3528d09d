/** Stories of lung diseases and allergies: asthma, COPD, pollen, penicillin. */
import { askSmoking, checkUps, pulseAtHome, reportPain, summarize } from '../background.ts';
import { allergy, diagnose, ownDevice, treat, visit, write } from '../clinical.ts';
import { YEAR } from '../days.ts';
import { inVisit, observe, observeVitals } from '../observations.ts';
import { DEVICE, type RecordBuilder } from '../record.ts';

/** Writes the record of a child with asthma. */
export function asthmaOfAChild(builder: RecordBuilder): void {
  const start = builder.ago(2.6 * YEAR);
  const seen = visit(builder, start, 'Cough at night');
  observeVitals(builder, seen, true);
  observe(builder, 'saturation', 96, inVisit(builder, seen));
  const reason = diagnose(builder, 'J45.0', start, undefined, seen);
  allergy(builder, { text: 'House dust mite' }, 'environment', start, 'Wheezing');
  treat(builder, { drug: 'R03BA02', start: start + 1, reason, dosage: '200 µg twice a day, inhaled' });
  treat(builder, {
    drug: 'R03AC02',
    start: start + 1,
    reason,
    dosage: '100 µg when short of breath, inhaled',
  });
  for (let day = start + 180; day < builder.ago(10); day += 180) {
    const again = visit(builder, day, 'Asthma check');
    observeVitals(builder, again, true);
    observe(builder, 'respiratoryRate', 20 + builder.random.noise(2), inVisit(builder, again));
    observe(builder, 'saturation', 98, inVisit(builder, again));
  }
  const device = ownDevice(builder, 'Pulse oximeter');
  for (let day = builder.ago(60); day < builder.ago(2); day += 9)
    observe(builder, 'saturation', 97 + builder.random.int(0, 1), {
      day,
      minutes: 1_170,
      author: DEVICE,
      device,
    });
  write(builder, start, 'consultation', 'Allergic asthma. Inhaled budesonide; salbutamol when needed.');
  summarize(builder, builder.ago(5), 'Asthma is well controlled; oxygen saturation at home is normal.');
}

/** Writes chronic obstructive pulmonary disease in a smoker. */
export function obstructiveDisease(builder: RecordBuilder): void {
  const start = builder.ago(6 * YEAR);
  builder.course = { ...builder.course, saturation: () => 93 };
  const visits = checkUps(builder, 8, 1.5);
  for (const seen of visits)
    observe(builder, 'saturation', 93 + builder.random.noise(2), inVisit(builder, seen));
  const [first] = visits;
  if (first !== undefined) askSmoking(builder, first, 'Current every day smoker');
  const reason = diagnose(builder, 'J44.9', start);
  treat(builder, { drug: 'R03BB04', start: start + 5, reason, dosage: '18 µg once a day, inhaled' });
  const pneumonia = builder.ago(300);
  const stay = visit(builder, pneumonia, 'Fever and breathlessness', 5);
  observe(builder, 'temperature', 39.1 + builder.random.noise(0.4), inVisit(builder, stay));
  observe(builder, 'saturation', 88, inVisit(builder, stay));
  const infection = diagnose(builder, 'J18.9', pneumonia, pneumonia + 20, stay);
  treat(builder, {
    drug: 'J01CA04',
    start: pneumonia,
    end: pneumonia + 7,
    reason: infection,
    dosage: '1 g three times a day',
  });
  write(builder, pneumonia + 5, 'discharge', 'Pneumonia with COPD. Better under amoxicillin.');
  const device = ownDevice(builder, 'Pulse oximeter');
  for (let day = builder.ago(80); day < builder.ago(2); day += 10)
    observe(builder, 'saturation', 92 + builder.random.int(0, 2), {
      day,
      minutes: 1_000,
      author: DEVICE,
      device,
    });
  summarize(builder, builder.ago(3), 'One pneumonia within a year; oxygen saturation at home 92 to 94 %.');
}

/** Writes the record of a teenager with hay fever. */
export function pollen(builder: RecordBuilder): void {
  const start = builder.ago(2 * YEAR);
  const seen = visit(builder, start, 'Sneezing in spring');
  observeVitals(builder, seen, true);
  const reason = diagnose(builder, 'J30.1', start, undefined, seen);
  allergy(builder, { text: 'Birch pollen' }, 'environment', start, 'Sneezing, itching eyes');
  treat(builder, { drug: 'R06AE07', start, reason, dosage: '10 mg a day, March to June' });
  observeVitals(builder, visit(builder, start + 380, 'Check-up'), true);
  pulseAtHome(builder, 6);
  summarize(builder, builder.ago(6), 'Hay fever in spring, eased by cetirizine.');
}

/** Writes the record of a young adult who is healthy except for an allergy to penicillin. */
export function penicillinAllergy(builder: RecordBuilder): void {
  const start = builder.ago(4 * YEAR);
  const seen = visit(builder, start, 'Sore throat');
  const infection = diagnose(builder, 'J03.9', start, start + 9, seen);
  treat(builder, {
    drug: 'J01CA04',
    start,
    end: start + 2,
    reason: infection,
    dosage: '500 mg three times a day',
    stopped: 'Allergic reaction',
  });
  allergy(builder, 'J01CA04', 'medication', start + 2, 'Hives and swelling of the face');
  diagnose(builder, 'Z88.0', start + 2);
  checkUps(builder, 3);
  pulseAtHome(builder, 5);
  reportPain(builder, start, 4);
  write(builder, start + 2, 'consultation', 'Allergic reaction to amoxicillin. No penicillins any more.');
  summarize(builder, builder.ago(5), 'Allergic to penicillin.');
}
