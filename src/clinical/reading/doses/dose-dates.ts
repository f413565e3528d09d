/**
 * Reads when a dosage began, was stated and ended, and which of two dosages is newer. Dates of any precision are compared;
 * dates that may be the same day are treated as unordered. Pure.
 */
import { first, objects, text } from '#src/fhir/parts.ts';
import type { Json } from '#src/shared/json/json-value.ts';
import type { Told } from '../told.ts';

/** The parts of a medicine's source that say how the medicine is taken, and since when. */
export interface Dosed {
  readonly told: Pick<Told, 'id' | 'value'>;
  readonly name: string | undefined;
  readonly isPrescription: boolean;
  readonly status: string;
  readonly standing: string;
  readonly dosage: Json | undefined;
  readonly from: string | undefined;
  readonly takenOn: string | undefined;
  readonly until: string | undefined;
  readonly prescribed: string | undefined;
  readonly today: string;
}

/** The day since which a dosage has applied, and what this day means. */
export interface DoseStart {
  readonly means: 'prescribed' | 'takensince' | 'takenon' | 'recorded';
  readonly day: string;
}

/** How long a change is considered recent, in days. */
const RECENT_DAYS = 90;
/** A day in ms. */
export const DAY = 86_400_000;

/** Returns whether a date or date-time is recent. */
export function isRecent(at: string, today: string): boolean {
  return Date.parse(today) - Date.parse(at) < RECENT_DAYS * DAY;
}

/** Returns the day since which a source's dosage has applied, if the source says so. */
export function readStart({ isPrescription, prescribed, from, takenOn, told }: Dosed): string | undefined {
  return isPrescription ? prescribed : (from ?? takenOn ?? text(told.value.dateAsserted));
}

/** Returns the same day together with its meaning. */
export function readOwnStart(source: Dosed): DoseStart | undefined {
  const { isPrescription, from, takenOn } = source;
  const day = readStart(source);
  if (day === undefined) return undefined;
  const means = isPrescription
    ? 'prescribed'
    : from !== undefined
      ? 'takensince'
      : takenOn !== undefined
        ? 'takenon'
        : 'recorded';
  return { means, day };
}

/** Returns the day on which a source was stated. */
function readStated({ isPrescription, prescribed, told }: Dosed): string | undefined {
  return isPrescription ? prescribed : text(told.value.dateAsserted);
}

/**
 * Returns the day that makes a source newer than another; undefined if it isn't certain that the source is newer. If they may
 * have started on the same day, the days on which they were stated decide.
 */
export function findOrder(source: Dosed, other: Dosed): DoseStart | undefined {
  const [began, stated] = [
    compareDates(readStart(source), readStart(other)),
    compareDates(readStated(source), readStated(other)),
  ];
  if (began === 'after' && stated !== 'before') return readOwnStart(source);
  const day = readStated(source);
  if (began === 'before' || stated !== 'after' || day === undefined) return undefined;
  return { means: source.isPrescription ? 'prescribed' : 'recorded', day };
}

/** Compares dates of any precision; `unknown` if they may be the same day. */
export function compareDates(
  one: string | undefined,
  other: string | undefined,
): 'after' | 'before' | 'unknown' {
  if (one === undefined || other === undefined) return 'unknown';
  if (one.length > 10 && other.length > 10) {
    const apart = Date.parse(one) - Date.parse(other);
    return apart > 0 ? 'after' : apart < 0 ? 'before' : 'unknown';
  }
  const length = Math.min(one.length, other.length, 10);
  const [own, others] = [listPossibleDays(one, length), listPossibleDays(other, length)];
  if (own.first > others.last) return 'after';
  return own.last < others.first ? 'before' : 'unknown';
}

/**
 * Returns the first and the last day that a date may stand for. A moment in UTC, which doesn't say where it was, may be on the
 * previous or the next day there.
 * @param length the number of characters to compare: 10 for days, 7 for months
 */
function listPossibleDays(date: string, length: number): { readonly first: string; readonly last: string } {
  const at = /T.*(?:Z|[+-]00:00)$/.test(date) ? Date.parse(date) : Number.NaN;
  const dayAt = (hours: number): string =>
    (Number.isNaN(at) ? date : new Date(at + (hours * DAY) / 24).toISOString()).slice(0, length);
  return { first: dayAt(-12), last: dayAt(14) };
}

/** Returns the day on which a dosage ended, if a period or the bounds of all dosages give it. */
export function readEnd({ isPrescription, until, dosage, prescribed }: Dosed): string | undefined {
  if (!isPrescription && until !== undefined) return until;
  const ends = objects(dosage).map(({ timing }) => {
    const { boundsPeriod, boundsDuration } = first(first(timing)?.repeat) ?? {};
    return text(first(boundsPeriod)?.end) ?? addDuration(prescribed, first(boundsDuration));
  });
  return ends.every((end) => end !== undefined) ? ends.toSorted().at(-1) : undefined;
}

/** The number of days in UCUM's units of time. */
const UNITS: Readonly<Record<string, number>> = { d: 1, wk: 7, mo: 31, a: 366 };

function addDuration(start: string | undefined, duration: ReturnType<typeof first>): string | undefined {
  const unit = UNITS[text(duration?.code) ?? ''];
  const at = Date.parse(start ?? '') + Number(String(duration?.value)) * (unit ?? Number.NaN) * DAY;
  return Number.isNaN(at) ? undefined : new Date(at).toISOString().slice(0, 10);
}

/**
 * Returns the last day on which an entry without an end is known to have applied. Its last change here is treated as a change
 * of its status.
 */
export function readLastSign(source: Dosed): string | undefined {
  const { versionId, lastUpdated } = first(source.told.value.meta) ?? {};
  const changed = versionId === undefined || text(versionId) === '1' ? undefined : text(lastUpdated);
  return [readStart(source), readStated(source), changed]
    .flatMap((date) => date ?? [])
    .toSorted()
    .at(-1);
}
