/** Computes the measures of a person without any illness, from age, sex and height. */
import { ageOn, type Day } from './days.ts';
import type { Person } from './people.ts';
import type { Random } from './random.ts';
import type { Course } from './record.ts';

/** Median height in cm and weight in kg by age in years, for both sexes; rounded values from the WHO's growth standards. */
const GROWTH: readonly (readonly [age: number, height: number, weight: number])[] = [
  [0, 50, 3.4],
  [0.25, 60, 6],
  [0.5, 66.5, 7.6],
  [1, 75, 9.4],
  [2, 87, 12.1],
  [3, 95.5, 14.2],
  [4, 103, 16.2],
  [5, 110, 18.3],
  [6, 116, 20.5],
  [8, 127.5, 25.5],
  [10, 138, 32],
  [12, 149, 41],
  [14, 160, 50],
  [16, 167, 58],
  [18, 170, 64],
];

/** Median head circumference in cm by age in years, from the same source, rounded. */
const HEADS: readonly Line[] = [
  [0, 34.2],
  [0.08, 36.9],
  [0.17, 38.7],
  [0.25, 40],
  [0.33, 41.1],
  [0.5, 42.8],
  [0.75, 44.5],
  [1, 45.6],
  [2, 47.7],
];

type Line = readonly [age: number, value: number];
const HEIGHTS = GROWTH.map(([age, height]): Line => [age, height]);
const WEIGHTS = GROWTH.map(([age, , weight]): Line => [age, weight]);

/** Returns a child's head circumference in cm, by age in years. */
export function headCircumference(age: number): number {
  return along(HEADS, age);
}

/** Returns a table's value for an age, interpolated between two lines. */
function along(table: readonly Line[], age: number): number {
  const above = table.findIndex(([years]) => years > age);
  const after = table[above];
  const before = table[above < 0 ? table.length - 1 : Math.max(0, above - 1)];
  if (before === undefined) throw new RangeError('no growth');
  if (after === undefined) return before[1];
  const share = Math.max(0, (age - before[0]) / (after[0] - before[0]));
  return before[1] + share * (after[1] - before[1]);
}

/** Returns a healthy person's measures over time. */
export function healthyCourse(person: Person, random: Random): Course {
  const size = random.between(0.96, 1.04);
  const adultHeight = (person.sex === 'female' ? 164 : 177) * size;
  const bmi = random.between(21, 26);
  const adultWeight = bmi * (adultHeight / 100) ** 2;
  const pressure = random.between(-5, 5);
  const ldl = random.between(90, 125);
  const creatinine = person.sex === 'female' ? random.between(0.62, 0.8) : random.between(0.78, 0.98);
  const age = (day: Day): number => ageOn(person.birth, day);
  return {
    systolic: (day) => (age(day) < 18 ? 88 + 1.6 * age(day) : 108 + 0.3 * age(day)) + pressure,
    heartRate: (day) => (age(day) < 2 ? 120 : age(day) < 12 ? 92 : 71),
    weight: (day) => (age(day) < 18 ? along(WEIGHTS, age(day)) * size : adultWeight + (age(day) - 40) * 0.08),
    height: (day) => (age(day) < 18 ? along(HEIGHTS, age(day)) * size : adultHeight),
    creatinine: () => creatinine,
    ldl: () => ldl,
    saturation: () => 98,
  };
}
