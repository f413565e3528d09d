/**
 * Adds the parts that every record has: check-ups over the years, values measured at home, and reports by the patient and by a
 * model.
 */

import { ownDevice, vaccinate, visit, write } from './clinical.ts';
import { MEASURES, type MeasureName } from './codes.ts';
import { type Day, dateText, YEAR } from './days.ts';
import {
  inVisit,
  observe,
  observeCode,
  observePressure,
  observeVitals,
  reportLabs,
  rounded,
} from './observations.ts';
import { AI, DEVICE, type RecordBuilder, SELF, type Visit } from './record.ts';
import { estimatedFiltration } from './renal.ts';

/** Returns blood values for a day, based on the person's course. */
export function commonLabs(builder: RecordBuilder, day: Day): Partial<Record<MeasureName, number>> {
  const { course, person, random } = builder;
  const creatinine = rounded('creatinine', course.creatinine(day) + random.noise(0.03));
  return {
    creatinine,
    egfr: estimatedFiltration(creatinine, builder.age(day), person.sex),
    potassium: 4.3 + random.noise(0.4),
    sodium: 140 + random.noise(3),
    hemoglobin: (person.sex === 'female' ? 13.4 : 14.8) + random.noise(0.7),
  };
}

/** Returns cholesterol values for a day. Friedewald: LDL = total − HDL − triglycerides / 5. */
export function lipids(builder: RecordBuilder, day: Day): Partial<Record<MeasureName, number>> {
  const { course, person, random } = builder;
  const hdl = rounded('hdl', (person.sex === 'female' ? 58 : 49) + random.noise(5));
  const triglycerides = rounded('triglycerides', 110 + random.noise(30));
  const cholesterol = rounded('cholesterol', course.ldl(day) + random.noise(6) + hdl + triglycerides / 5);
  return { cholesterol, hdl, triglycerides, ldl: cholesterol - hdl - triglycerides / 5 };
}

/** Adds an adult's check-ups. Each includes vital signs; every other check-up includes a blood test. */
export function checkUps(builder: RecordBuilder, years: number, everyYears = 1): readonly Visit[] {
  const visits: Visit[] = [];
  const { random } = builder;
  for (let ago = years * YEAR; ago > 20; ago -= everyYears * YEAR) {
    const seen = visit(builder, builder.ago(ago - random.int(0, 15)), 'Check-up');
    visits.push(seen);
    observeVitals(builder, seen, visits.length % 2 === 1);
    if (visits.length % 2 === 1)
      reportLabs(builder, seen.day, { ...commonLabs(builder, seen.day), ...lipids(builder, seen.day) }, seen);
    if (visits.length % 3 === 2) vaccinate(builder, 'J07BB02', seen.day, 1);
  }
  return visits;
}

/** Adds the answer about smoking at a visit. The answers are those of the LOINC answer list that HL7 uses. */
export function askSmoking(
  builder: RecordBuilder,
  seen: Visit,
  answer: 'Never smoker' | 'Former smoker' | 'Current every day smoker',
): void {
  const code = {
    'Never smoker': 'LA18978-9',
    'Former smoker': 'LA15920-4',
    'Current every day smoker': 'LA18976-3',
  }[answer];
  const value = { coding: [{ system: 'http://loinc.org', code, display: answer }], text: answer };
  observeCode(
    builder,
    ['72166-2', 'Tobacco smoking status'],
    'social-history',
    value,
    inVisit(builder, seen, 8),
  );
}

/** Adds blood pressure readings taken at home, a week apart, until `last`. */
export function pressuresAtHome(builder: RecordBuilder, count: number, last: Day = builder.ago(3)): void {
  const device = ownDevice(builder, 'Blood pressure monitor');
  for (let index = count - 1; index >= 0; index -= 1) {
    const minutes = 420 + builder.random.int(0, 60);
    observePressure(builder, { day: last - index * 7, minutes, author: DEVICE, device });
  }
}

/** Adds pulse readings taken at home, for patients who don't measure their blood pressure. */
export function pulseAtHome(builder: RecordBuilder, count: number, last: Day = builder.ago(3)): void {
  const device = ownDevice(builder, 'Activity tracker');
  for (let index = count - 1; index >= 0; index -= 1) {
    const day = last - index * 7;
    const value = builder.course.heartRate(day) + builder.random.noise(6);
    observe(builder, 'heartRate', value, { day, minutes: 1_260, author: DEVICE, device });
  }
}

/** Adds pain as the patient reports it, 0 to 10. */
export function reportPain(builder: RecordBuilder, day: Day, score: number): void {
  observe(builder, 'pain', Math.max(0, Math.min(10, score)), { day, minutes: 1_140, author: SELF });
}

/** Adds a model's summary of the record. */
export function summarize(builder: RecordBuilder, day: Day, text: string): void {
  write(builder, day, 'summary', `Machine-made summary, not reviewed. ${text}`, AI);
}

/** Adds a model's estimate of mean glucose, based on an HbA1c value (ADAG: 28.7 × HbA1c − 46.7). */
export function estimateGlucose(builder: RecordBuilder, day: Day, hba1c: number): void {
  observe(builder, 'meanGlucose', 28.7 * hba1c - 46.7, { day, minutes: 780, author: AI });
}

/** Returns a value as text for a letter. */
export function writeMeasure(name: MeasureName, value: number): string {
  return `${MEASURES[name].display} ${rounded(name, value)} ${MEASURES[name].unit}`;
}

/** Returns a day as text for documents. */
export const on = (day: Day): string => `on ${dateText(day)}`;
