/**
 * Finds the dosage that a medicine had before a newer prescription or statement. A change is reported only if one entry
 * follows the other and their dosages can be compared (docs/clinical-reading.md, "Dosages of other entries"). Pure.
 */
import { first, objects, text } from '#src/fhir/parts.ts';
import { foldName } from '../join-same.ts';
import { compareDoses } from './compare-doses.ts';
import type { DoseComparison } from './compare-texts.ts';
import {
  DAY,
  type Dosed,
  type DoseStart,
  findOrder,
  isRecent,
  readEnd,
  readLastSign,
  readOwnStart,
  readStart,
} from './dose-dates.ts';

/** The dosage before a medicine's current one. */
export interface DoseChange<Source> {
  /** True if the dosage is certainly different; false if the two dosages can't be compared. */
  readonly isCertain: boolean;
  /** The day since which the current dosage has applied. */
  readonly since: DoseStart;
  /** The sources with the earlier dosage: several if they were prescribed on the same day. */
  readonly before: readonly Source[];
  /** True if the change is recent. */
  readonly isRecent: boolean;
}

/**
 * Maximum number of days between a prescription and the one that it follows; after a longer gap, the medicine was started
 * again.
 */
const MOST_DAYS = 366;
/** The same maximum, counted from a known end. */
const MOST_DAYS_AFTER_END = 90;
/** The maximum number of renewals that are traced back, and of current sources that are compared. */
const MOST_RENEWALS = 50;
const MOST_CURRENT = 10;

/**
 * Returns the previous dosage of a medicine's sources; undefined if no source is certainly older.
 * @param sources all sources of the medicine
 * @param own the sources that determine its standing
 */
export function findDoseChange<Source extends Dosed>(
  sources: readonly Source[],
  own: readonly Source[],
): DoseChange<Source> | undefined {
  if (sources.length < 2) return undefined;
  const dosed = own.filter(isDosed);
  for (const source of dosed.slice(0, MOST_CURRENT)) {
    const over = sources.filter((each) => isEarlier(each, source, own));
    const found = over.length === 0 ? undefined : follow(source, over, dosed);
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * Returns whether one of several current dosages is new and different from all others, although nothing says that it replaces
 * them.
 * @param own the sources that determine a medicine's standing
 */
export function hasNewDose(own: readonly Dosed[]): boolean {
  const dosed = own.filter(isDosed).slice(0, MOST_CURRENT);
  return dosed.some((source) => {
    const day = readStart(source);
    if (day === undefined || !isRecent(day, source.today)) return false;
    const others = dosed.filter((each) => each !== source);
    return (
      others.some((each) => findOrder(source, each) !== undefined) &&
      others.every((each) => compare(source, each) !== 'same')
    );
  });
}

/** Returns whether a source has a dosage and isn't recorded as not taken. */
function isDosed({ dosage, status }: Dosed): boolean {
  return objects(dosage).length > 0 && status !== 'not-taken';
}

/**
 * Returns whether a source may contain the dosage that preceded another source's dosage, because it has ended or the other
 * source replaces it.
 */
function isEarlier(each: Dosed, source: Dosed, own: readonly Dosed[]): boolean {
  if (each === source || !isDosed(each)) return false;
  if (replaces(source, each)) return true;
  if (own.includes(each) || each.standing === 'planned' || each.standing === 'forbidden') return false;
  const { intent, reportedBoolean, reportedReference } = each.told.value;
  const isOnlyPlan = intent === 'plan' && reportedBoolean !== true && reportedReference === undefined;
  return !isOnlyPlan && isOfOneKind(each, source);
}

/** Returns whether a prescription says that it replaces another. */
function replaces({ told: { value } }: Dosed, { told: { id } }: Dosed): boolean {
  const reference = text(first(value.priorPrescription)?.reference) ?? '';
  return /(?:^|\/)MedicationRequest\/([^/]+)(?:\/_history\/[^/]+)?$/.exec(reference)?.[1] === id;
}

/** Returns whether one order may follow another. For example, an order in hospital doesn't follow an order at home. */
function isOfOneKind({ told: { value: one } }: Dosed, { told: { value: other } }: Dosed): boolean {
  if (one.category === undefined || other.category === undefined) return true;
  return JSON.stringify(one.category) === JSON.stringify(other.category);
}

/** Goes back from a source, through renewals with the same dosage, to the source with a different dosage. */
function follow<Source extends Dosed>(
  source: Source,
  over: readonly Source[],
  dosed: readonly Source[],
): DoseChange<Source> | undefined {
  let left = over;
  let last: Source = source;
  for (let n = 0; n < MOST_RENEWALS; n += 1) {
    const before = findPrevious(last, left);
    if (before === undefined) return undefined;
    const { each } = before;
    const compared = compare(last, each);
    if (compared !== 'same') {
      const others = dosed.filter((other) => other !== each && other !== source);
      return isHeldBy(each, last, others)
        ? undefined
        : makeChange(
            last,
            before,
            left,
            compared === 'other' && others.every((other) => compare(other, each) === 'other'),
          );
    }
    left = left.filter((other) => other !== each);
    last = each;
  }
  return undefined;
}

/**
 * Returns whether the earlier dosage is still taken alongside the later one, or the current dosage is older than the earlier
 * one. In both cases, nothing changed.
 */
function isHeldBy(earlier: Dosed, last: Dosed, others: readonly Dosed[]): boolean {
  return others.some(
    (other) =>
      compare(other, earlier) === 'same' ||
      (compare(other, last) === 'same' && findOrder(other, earlier) === undefined),
  );
}

interface Previous<Source> {
  readonly each: Source;
  readonly since: DoseStart | undefined;
  /** False if it isn't known how long the previous dosage was taken. */
  readonly isSure: boolean;
}

/**
 * @param left sources that may contain the earlier dosage too, because they are from the same day or their order isn't known
 */
function makeChange<Source extends Dosed>(
  last: Source,
  { each, since, isSure }: Previous<Source>,
  left: readonly Source[],
  isOther: boolean,
): DoseChange<Source> | undefined {
  if (since === undefined) return undefined;
  const beside = left.filter(
    (other) =>
      other !== each &&
      findOrder(last, other) !== undefined &&
      findOrder(each, other) === undefined &&
      findOrder(other, each) === undefined,
  );
  if (beside.some((other) => compare(last, other) === 'same')) return undefined;
  const before = new Map(
    [each, ...beside].map((source) => [
      `${JSON.stringify(source.dosage)} ${foldName(source.name ?? '')}`,
      source,
    ]),
  );
  return {
    isCertain: isOther && isSure,
    since,
    before: [...before.values()],
    isRecent: isRecent(since.day, each.today),
  };
}

/**
 * Returns the source that precedes the given source: the one that it replaces, otherwise the newest source that is certainly
 * older.
 */
function findPrevious<Source extends Dosed>(
  source: Source,
  over: readonly Source[],
): Previous<Source> | undefined {
  const linked = over.find((each) => replaces(source, each));
  if (linked !== undefined) {
    const since = findOrder(source, linked);
    // If the dates contradict the link, the link is doubtful.
    if (since === undefined && findOrder(linked, source) !== undefined) return undefined;
    return { each: linked, since: since ?? readOwnStart(source), isSure: true };
  }
  let newest: Previous<Source> | undefined;
  for (const each of over) {
    const since = findOrder(source, each);
    if (since === undefined) continue;
    if (newest === undefined || findOrder(each, newest.each) !== undefined)
      newest = { each, since, isSure: true };
  }
  const isSure = newest === undefined ? undefined : isSoonAfter(newest);
  return newest === undefined || isSure === undefined ? undefined : { ...newest, isSure };
}

/**
 * Returns whether a dosage began while the previous one may still have been taken; undefined if the medicine was started
 * again. False after a long gap if the previous one is a statement without an end, because it doesn't say how long it applied.
 */
function isSoonAfter({ each, since }: Previous<Dosed>): boolean | undefined {
  const end = readEnd(each);
  const last = end ?? readLastSign(each);
  if (last === undefined || since === undefined) return undefined;
  const days = (Date.parse(since.day) - Date.parse(last)) / DAY;
  if (days <= (end === undefined ? MOST_DAYS : MOST_DAYS_AFTER_END)) return true;
  return end === undefined && !each.isPrescription ? false : undefined;
}

function compare(one: Dosed, other: Dosed): DoseComparison {
  const isSame =
    one.name === undefined || other.name === undefined || foldName(one.name) === foldName(other.name);
  return compareDoses(one.dosage, other.dosage, isSame);
}
