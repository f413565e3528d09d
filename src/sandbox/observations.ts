/** Adds Observations: single values, blood pressure, panels of vital signs, and laboratory reports with a specimen. */
import type { JsonObject } from '#src/shared/json/json.ts';
import { LOINC, LOINC_CODES, MEASURES, type Measure, type MeasureName, UCUM } from './codes.ts';
import { type Day, timeText } from './days.ts';
import { LABORATORY, type RecordBuilder, type Visit } from './record.ts';
import { judged } from './reference-ranges.ts';
import type { Author } from './synthetic.ts';

const CATEGORIES = 'http://terminology.hl7.org/CodeSystem/observation-category';
const CATEGORY_NAMES = {
  laboratory: 'Laboratory',
  'vital-signs': 'Vital Signs',
  survey: 'Survey',
  'social-history': 'Social History',
} as const;

/** The circumstances of a measurement: time, author, visit and device. */
export interface MeasurementContext {
  readonly day: Day;
  /** Minutes since midnight. */
  readonly minutes: number;
  readonly author: Author;
  readonly visit?: Visit;
  /** Reference to a Device. */
  readonly device?: string;
}

/**
 * Returns the circumstances of a measurement that the visit's doctor records during the visit, the given number of minutes
 * after its start.
 */
export function inVisit(builder: RecordBuilder, visit: Visit, minutes = 5): MeasurementContext {
  return { day: visit.day, minutes: visit.start + minutes, author: builder.doctorAuthor, visit };
}

/** Returns a value rounded to the measure's number of digits. */
export function rounded(name: MeasureName, value: number): number {
  const factor = 10 ** MEASURES[name].digits;
  return Math.round(value * factor) / factor;
}

/**
 * Adds one value of one measure.
 * @returns its reference
 */
export function observe(
  builder: RecordBuilder,
  name: MeasureName,
  value: number,
  circumstances: MeasurementContext,
): string {
  const measure: Measure = MEASURES[name];
  const seen = rounded(name, value);
  const content = {
    ...coded(measure),
    valueQuantity: quantity(measure, seen),
    ...judged(name, seen, builder.person.sex),
  };
  return add(builder, measure.category, content, circumstances);
}

/** Adds a coded answer. */
export function observeCode(
  builder: RecordBuilder,
  code: readonly [string, string],
  category: 'social-history' | 'survey',
  value: JsonObject,
  circumstances: MeasurementContext,
): string {
  const [loinc, display] = code;
  const content = { ...coded({ code: loinc, display }), valueCodeableConcept: value };
  return add(builder, category, content, circumstances);
}

/** Adds the course's blood pressure for a day, as one Observation with two components. */
export function observePressure(builder: RecordBuilder, circumstances: MeasurementContext): string {
  const systolic = builder.course.systolic(circumstances.day) + builder.random.noise(5);
  const diastolic = 0.62 * systolic + builder.random.noise(3);
  const component = [
    {
      ...coded(MEASURES.systolic),
      valueQuantity: quantity(MEASURES.systolic, rounded('systolic', systolic)),
    },
    {
      ...coded(MEASURES.diastolic),
      valueQuantity: quantity(MEASURES.diastolic, rounded('diastolic', diastolic)),
    },
  ];
  const [code, display] = LOINC_CODES.bloodPressure;
  return add(builder, 'vital-signs', { ...coded({ code, display }), component }, circumstances);
}

/** Adds a visit's vital signs: blood pressure, pulse, weight and, with `height`, also height and body mass index. */
export function observeVitals(builder: RecordBuilder, visit: Visit, height = false): void {
  const { course, random } = builder;
  const at = inVisit(builder, visit);
  if (builder.age(visit.day) >= 3) observePressure(builder, at);
  observe(builder, 'heartRate', course.heartRate(visit.day) + random.noise(5), at);
  const weight = rounded('weight', course.weight(visit.day));
  observe(builder, 'weight', weight, at);
  if (!height) return;
  const tall = rounded('height', course.height(visit.day));
  observe(builder, 'height', tall, at);
  observe(builder, 'bmi', weight / (tall / 100) ** 2, at);
}

/** Adds a day's laboratory report: a specimen, values, and the report that groups them. */
export function reportLabs(
  builder: RecordBuilder,
  day: Day,
  values: Partial<Record<MeasureName, number>>,
  visit?: Visit,
): void {
  const { directory, subject } = builder;
  const minutes = visit === undefined ? 480 + builder.random.int(0, 90) : visit.start + 10;
  const at = { day, minutes, author: LABORATORY, ...(visit === undefined ? {} : { visit }) };
  const specimen = builder.add('Specimen', LABORATORY, {
    status: 'available',
    type: { text: 'Venous blood' },
    subject,
    collection: { collectedDateTime: timeText(day, minutes) },
  });
  const result = Object.entries(values).map(([name, value]) => ({
    reference: observe(builder, name as MeasureName, value, { ...at, device: directory.analyser }),
  }));
  builder.add('DiagnosticReport', LABORATORY, {
    status: 'final',
    category: [
      {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/v2-0074', code: 'LAB', display: 'Laboratory' },
        ],
      },
    ],
    code: { coding: [{ system: LOINC, code: LOINC_CODES.labReport[0], display: LOINC_CODES.labReport[1] }] },
    subject,
    ...(visit === undefined ? {} : { encounter: { reference: visit.reference } }),
    effectiveDateTime: timeText(day, minutes),
    issued: timeText(day, minutes + 240),
    performer: [{ reference: directory.hospital }],
    specimen: [{ reference: specimen }],
    result,
  });
}

function add(
  builder: RecordBuilder,
  category: Measure['category'],
  content: JsonObject,
  { day, minutes, author, visit, device }: MeasurementContext,
): string {
  const time = timeText(day, minutes);
  const by = author.reference ?? (author.type === 'patient' ? builder.subject.reference : undefined);
  return builder.add('Observation', author, {
    status: 'final',
    category: [{ coding: [{ system: CATEGORIES, code: category, display: CATEGORY_NAMES[category] }] }],
    ...content,
    subject: builder.subject,
    ...(visit === undefined ? {} : { encounter: { reference: visit.reference } }),
    effectiveDateTime: time,
    issued: time,
    ...(by === undefined ? {} : { performer: [{ reference: by }] }),
    ...(device === undefined ? {} : { device: { reference: device } }),
  });
}

function coded({ code, display }: { readonly code: string; readonly display: string }): { code: JsonObject } {
  return { code: { coding: [{ system: LOINC, code, display }], text: display } };
}

function quantity({ unit }: Measure, value: number): JsonObject {
  return { value, unit, system: UCUM, code: unit };
}
