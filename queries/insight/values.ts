/** Reads numbers out of the members that REST v1 shows of Observations. */
import type { Measurement } from '#src/insight/measurement.ts';
import type { Coded, Point } from '#src/insight/track.ts';
import type { JsonObject } from '#src/shared/json.ts';
import { listIn, objectIn, textIn } from '#src/v1/elements.ts';
import type { ReadRow } from './rows.ts';

/** A measurement and the code of what was measured. */
export interface CodedMeasurement extends Measurement {
  readonly code: Coded;
  /** Whether it is a component of the Observation. */
  readonly isPart: boolean;
}

/** `< 5 mg/dL`, as `src/v1/observation.ts` shows a quantity with a comparator. */
const BOUND = /^(<=?|>=?) (-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?: (\S+))?$/;

/**
 * Returns the numbers of an Observation: its own, and those of its components. None for a version without a date.
 * @throws TypeError if the row has no members
 */
export function measurementsIn({ id, version, author, date, at, fields }: ReadRow): CodedMeasurement[] {
  if (fields === undefined) throw new TypeError(`Observation/${id} has no members`);
  if (date === null) return [];
  const shown = objectIn(JSON.parse(`{${fields}}`));
  const base = {
    date,
    at: at / 1000,
    offset: offsetOf(date),
    source: { fhir: `Observation/${id}`, version, authorType: author },
  };
  const range = objectIn(shown.reference_range);
  const own = measured(shown, { ...base, low: numberOf(range.low), high: numberOf(range.high) }, false);
  const parts = listIn(shown.components).flatMap((part) =>
    measured(part, { ...base, low: null, high: null }, true),
  );
  return parts.length === 0 ? own : [...own, ...parts];
}

function measured(
  shown: JsonObject,
  base: Omit<Point, 'value' | 'bound'>,
  isPart: boolean,
): CodedMeasurement[] {
  const code = textIn(shown.code);
  if (code === null) return [];
  const coded = { system: textIn(shown.system) ?? '', code };
  const value = numberOf(shown.value);
  if (value !== null)
    return [{ code: coded, isPart, point: { ...base, value, bound: null }, unit: textIn(shown.unit) }];
  const [, sign, number, unit] = BOUND.exec(textIn(shown.value_text) ?? '') ?? [];
  const limit = number === undefined ? Number.NaN : Number(number);
  if (sign === undefined || !Number.isFinite(limit)) return [];
  const bound = sign.startsWith('<') ? '<' : '>';
  return [{ code: coded, isPart, point: { ...base, value: limit, bound }, unit: unit ?? null }];
}

/** Returns a finite number, or null. */
function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Returns the minutes east of UTC that a date-time says; 0 for a day. */
export function offsetOf(date: string): number {
  const [, sign, hours, minutes] = /T.*([+-])(\d\d):(\d\d)$/.exec(date) ?? [];
  const east = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === '-' ? -east : east;
}
