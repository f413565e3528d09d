/** Models how illness and treatment change a measure over time. */
import type { Day } from './days.ts';
import type { RecordBuilder } from './record.ts';

/**
 * Returns a measure that stays at `before` until a day and then approaches `after`: nine tenths of the change take place
 * within `days`.
 */
export function settleTowards(before: number, start: Day, after: number, days = 60): (day: Day) => number {
  return (day) =>
    day <= start ? before : after + (before - after) * Math.exp((-2.3 * (day - start)) / days);
}

/** Returns a measure that moves linearly from one day's value to another day's. */
export function moveLinearly(from: number, first: Day, to: number, last: Day): (day: Day) => number {
  return (day) => from + (to - from) * Math.max(0, Math.min(1, (day - first) / (last - first)));
}

/** Changes the course so that hypertension develops within a year and is then lowered by a treatment. */
export function treatedPressure(builder: RecordBuilder, start: Day): void {
  const { course, random } = builder;
  const high = 158 + random.noise(6);
  const treated = settleTowards(high, start, 129 + random.noise(4), 45);
  builder.course = {
    ...course,
    systolic: (day) =>
      day < start ? moveLinearly(course.systolic(day), start - 480, high, start - 120)(day) : treated(day),
  };
}
