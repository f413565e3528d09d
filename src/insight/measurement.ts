/** Measurements: numbers as resources state them, before units are made one. Pure. */

import { type Coded, inOrder, type Point, type Track } from './track.ts';
import { type Convert, converterOf } from './units.ts';

/** A number with its unit. */
export interface Measurement {
  readonly point: Point;
  /** UCUM; null for numbers without a unit. */
  readonly unit: string | null;
}

/** Values that have no place in a track, by their unit. */
export type Unconverted = ReadonlyMap<string, number>;

/** Returns the molar mass of what a code measures, in g/mol; undefined if it isn't known. */
export type MolarMassOf = (code: Coded) => number | undefined;

/**
 * Makes a track of measurements: in the unit that most of them have (of equal ones the first by alphabet), the others
 * converted. Those that can't be are left out, and counted by unit.
 */
export function trackOf(
  codes: readonly Coded[],
  measurements: readonly Measurement[],
  molarMass: MolarMassOf,
): { readonly track: Track; readonly unconverted: Unconverted } {
  const unit = commonUnit(measurements);
  const mass = massOf(codes, molarMass);
  const known = new Map<string | null, Convert | undefined>();
  const unconverted = new Map<string, number>();
  const points: Point[] = [];
  for (const { point, unit: own } of measurements) {
    if (!known.has(own)) known.set(own, converterOf(own, unit, mass));
    const convert = known.get(own);
    if (convert === undefined) unconverted.set(own ?? '', (unconverted.get(own ?? '') ?? 0) + 1);
    else points.push(own === unit ? point : converted(point, convert));
  }
  return { track: { codes, unit, points: inOrder(points) }, unconverted };
}

function converted(point: Point, convert: Convert): Point {
  const limit = (value: number | null): number | null => (value === null ? null : convert(value));
  return {
    ...point,
    value: convert(point.value),
    low: limit(point.low),
    high: limit(point.high),
  };
}

function commonUnit(measurements: readonly Measurement[]): string | null {
  const counts = new Map<string | null, number>();
  for (const { unit } of measurements) counts.set(unit, (counts.get(unit) ?? 0) + 1);
  const [first] = [...counts].sort(([a, n], [b, m]) => m - n || ((a ?? '') < (b ?? '') ? -1 : 1));
  return first?.[0] ?? null;
}

/** Returns the molar mass that all codes agree on. */
function massOf(codes: readonly Coded[], molarMass: MolarMassOf): number | undefined {
  const masses = new Set(codes.map(molarMass));
  const [mass] = masses;
  return masses.size === 1 ? mass : undefined;
}
