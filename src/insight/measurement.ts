/** Defines measurements: numbers as stated in resources, before they are converted to one unit. Pure. */
import { withoutIds } from '#src/fhir/search/text.ts';
import { mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { type Coded, inOrder, type Point, type Track } from './track.ts';
import { type Convert, findConverter } from './units.ts';

/** The values as stated, in no particular order, by UCUM unit; the key is null for numbers without a unit. */
export type PointsByUnit = ReadonlyMap<string | null, Point[]>;

/** Number of values that couldn't be converted to the track's unit, by their own unit. */
export type Unconverted = ReadonlyMap<string, number>;

/** Returns the molar mass of the substance that a code measures, in g/mol; undefined if it is unknown. */
export type MolarMassOf = (code: Coded) => number | undefined;

/**
 * Creates a track from measurements, in steps. Its unit is the most common unit among the measurements; if several are equally
 * common, the first in alphabetical order. The other measurements are converted to that unit. Measurements that can't be
 * converted are left out and counted by unit.
 */
export function* makeTrack(
  codes: readonly Coded[],
  byUnit: PointsByUnit,
  molarMass: MolarMassOf,
): Steps<{ readonly track: Track; readonly unconverted: Unconverted }> {
  const unit = commonUnit(byUnit);
  const mass = commonMass(codes, molarMass);
  const unconverted = new Map<string, number>();
  let points = byUnit.get(unit) ?? [];
  for (const [own, stated] of byUnit) {
    if (own === unit) continue;
    const convert = findConverter(own, unit, mass);
    if (convert === undefined) unconverted.set(own ?? '', (unconverted.get(own ?? '') ?? 0) + stated.length);
    else points = points.concat(yield* mapSteps(stated, (point) => converted(point, convert)));
    yield;
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
    digits: undefined,
  };
}

function commonUnit(byUnit: PointsByUnit): string | null {
  const [first] = [...byUnit].sort(
    ([a, { length: n }], [b, { length: m }]) => m - n || (withoutIds(a ?? '') < withoutIds(b ?? '') ? -1 : 1),
  );
  return first?.[0] ?? null;
}

/** Returns the molar mass that all codes share. */
function commonMass(codes: readonly Coded[], molarMass: MolarMassOf): number | undefined {
  const masses = new Set(codes.map(molarMass));
  const [mass] = masses;
  return masses.size === 1 ? mass : undefined;
}
