/** Moves systolic blood pressures before diastolic ones, which is the usual order. Also used in the scripts of pages. Pure. */

/** LOINC codes for arterial pressures: at rest, sitting, standing, lying, central. */
const SYSTOLIC: ReadonlySet<string> = new Set(['8480-6', '8459-0', '8460-8', '8461-6', '76534-7']);
const DIASTOLIC: ReadonlySet<string> = new Set(['8462-4', '8453-3', '8454-1', '8455-8', '76535-4']);

/** A pressure and its day; the day is empty for the parts of one measurement. */
export interface Pressure {
  readonly isSystolic: boolean;
  readonly day: string;
}

/**
 * Returns the pressure that a LOINC code means; undefined for other codes.
 * @param day returns the pressure's day
 */
export function findPressure(codes: readonly string[], day: () => string = () => ''): Pressure | undefined {
  if (codes.some((code) => SYSTOLIC.has(code))) return { isSystolic: true, day: day() };
  return codes.some((code) => DIASTOLIC.has(code)) ? { isSystolic: false, day: day() } : undefined;
}

/** Returns items in their order, except that a systolic pressure is moved before the diastolic pressure of the same day. */
export function systolicFirst<Item>(
  items: readonly Item[],
  read: (item: Item) => Pressure | undefined,
): readonly Item[] {
  const ordered: Item[] = [];
  /**
   * By day: the diastolic pressures with no systolic pressure before them, and the number of systolic pressures with no
   * diastolic pressure after them.
   */
  const waiting = new Map<string, Item[]>();
  const spare = new Map<string, number>();
  for (const item of items) {
    const pressure = read(item);
    if (pressure === undefined) {
      ordered.push(item);
      continue;
    }
    const { isSystolic, day } = pressure;
    const left = spare.get(day) ?? 0;
    const open = waiting.get(day) ?? [];
    const partner = isSystolic ? open.pop() : undefined;
    if (partner !== undefined) {
      ordered.splice(ordered.lastIndexOf(partner), 0, item);
      continue;
    }
    ordered.push(item);
    if (isSystolic) spare.set(day, left + 1);
    else if (left > 0) spare.set(day, left - 1);
    else waiting.set(day, [...open, item]);
  }
  return ordered;
}
