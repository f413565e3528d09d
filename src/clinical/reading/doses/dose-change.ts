/**
 * Finds the dosage that a medicine had before a newer prescription or statement: a change is told only if the entries follow
 * each other and their dosages can be compared (docs/clinical-reading.md, "Dosages of other entries"). Pure.
 */
import { first, objects, text } from '#src/fhir/parts.ts';
import type { Json } from '#src/shared/json/json.ts';
import { foldName } from '../join-same.ts';
import type { Told } from '../told.ts';
import { compareDoses } from './compare-doses.ts';
import type { DoseComparison } from './compare-texts.ts';

/** The parts of a source of a medicine that say how it is taken, and since when. */
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

/** A day since when a dosage holds, with its meaning. */
export interface DoseStart {
  readonly means: 'prescribed' | 'takensince' | 'takenon' | 'recorded';
  readonly day: string;
}

/** The dosage before the one that a medicine has now. */
export interface DoseChange<Source> {
  /** True if the dosage is certain to be another one; false if the two can't be compared. */
  readonly isCertain: boolean;
  /** Since when it is the one of now. */
  readonly since: DoseStart;
  /** The sources that had the earlier one: several if they were prescribed on one day. */
  readonly before: readonly Source[];
  /** True if that isn't long ago. */
  readonly isRecent: boolean;
}

/** How long a change counts as recent, in days. */
const RECENT_DAYS = 90;
/** Days after which a prescription doesn't follow another one: it is a new beginning. */
const MOST_DAYS = 366;
/** The same after a known end. */
const MOST_DAYS_AFTER_END = 90;
/** Renewals that are looked through, and sources of now that are compared. */
const MOST_RENEWALS = 50;
const MOST_CURRENT = 10;
const DAY = 86_400_000;

/** Tells whether an instant or a day isn't long ago. */
export function isRecent(at: string, today: string): boolean {
  return Date.parse(today) - Date.parse(at) < RECENT_DAYS * DAY;
}

/**
 * Returns the dosage that the sources of a medicine had before; undefined if there is none that is certain to be older.
 * @param sources all of the medicine
 * @param own those that decide its standing
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
 * Tells whether one of two current dosages is new, and the other one isn't: nothing says that it replaces it.
 * @param own the sources that decide the standing of a medicine
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

/** Tells whether a source has a dosage that somebody took. */
function isDosed({ dosage, status }: Dosed): boolean {
  return objects(dosage).length > 0 && status !== 'not-taken';
}

/** Tells whether a source may have the dosage before that of another one: it is over, or the other one replaces it. */
function isEarlier(each: Dosed, source: Dosed, own: readonly Dosed[]): boolean {
  if (each === source || !isDosed(each)) return false;
  if (replaces(source, each)) return true;
  if (own.includes(each) || each.standing === 'planned' || each.standing === 'forbidden') return false;
  const { intent, reportedBoolean, reportedReference } = each.told.value;
  const isOnlyPlan = intent === 'plan' && reportedBoolean !== true && reportedReference === undefined;
  return !isOnlyPlan && isOfOneKind(each, source);
}

/** Tells whether a prescription names another one as that which it replaces. */
function replaces({ told: { value } }: Dosed, { told: { id } }: Dosed): boolean {
  const reference = text(first(value.priorPrescription)?.reference) ?? '';
  return /(?:^|\/)MedicationRequest\/([^/]+)(?:\/_history\/[^/]+)?$/.exec(reference)?.[1] === id;
}

/** Tells whether orders may follow each other: one in a hospital and one at home don't. */
function isOfOneKind({ told: { value: one } }: Dosed, { told: { value: other } }: Dosed): boolean {
  if (one.category === undefined || other.category === undefined) return true;
  return JSON.stringify(one.category) === JSON.stringify(other.category);
}

/** Goes back from a source through renewals with the same dosage to one with another. */
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
 * Tells whether a dosage goes on beside the one that follows it, or the dosage of now is older: then nothing changed.
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
  /** False if it isn't known how long it was taken. */
  readonly isSure: boolean;
}

/** @param left sources that may also have the earlier dosage: those of the same day, or whose order isn't known */
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

/** Returns the source that one follows: the one that it replaces, or else the newest that is certain to be older. */
function findPrevious<Source extends Dosed>(
  source: Source,
  over: readonly Source[],
): Previous<Source> | undefined {
  const linked = over.find((each) => replaces(source, each));
  if (linked !== undefined) {
    const since = findOrder(source, linked);
    // Dates that say the reverse make the link doubtful.
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
 * Tells whether a dosage began while the one before may still have been taken; undefined if it is a new beginning. A statement
 * without an end doesn't say how long it was so.
 */
function isSoonAfter({ each, since }: Previous<Dosed>): boolean | undefined {
  const end = readEnd(each);
  const last = end ?? readLastSign(each);
  if (last === undefined || since === undefined) return undefined;
  const days = (Date.parse(since.day) - Date.parse(last)) / DAY;
  if (days <= (end === undefined ? MOST_DAYS : MOST_DAYS_AFTER_END)) return true;
  return end === undefined && !each.isPrescription ? false : undefined;
}

/** Returns the last day on which an entry without an end shows that it was so: its last change here is one of its status. */
function readLastSign(source: Dosed): string | undefined {
  const { versionId, lastUpdated } = first(source.told.value.meta) ?? {};
  const changed = versionId === undefined || text(versionId) === '1' ? undefined : text(lastUpdated);
  return [readStart(source), readStated(source), changed]
    .flatMap((date) => date ?? [])
    .toSorted()
    .at(-1);
}

function compare(one: Dosed, other: Dosed): DoseComparison {
  const isSame =
    one.name === undefined || other.name === undefined || foldName(one.name) === foldName(other.name);
  return compareDoses(one.dosage, other.dosage, isSame);
}

/** Returns the day since when a source's dosage holds, as far as it says so. */
function readStart({ isPrescription, prescribed, from, takenOn, told }: Dosed): string | undefined {
  return isPrescription ? prescribed : (from ?? takenOn ?? text(told.value.dateAsserted));
}

function readOwnStart(source: Dosed): DoseStart | undefined {
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
 * Returns by which day a source is newer than another; undefined if that isn't certain. A statement that says since when a
 * medicine is taken may be newer although it says the same day: then the day counts on which it was recorded.
 */
function findOrder(source: Dosed, other: Dosed): DoseStart | undefined {
  const [began, stated] = [
    order(readStart(source), readStart(other)),
    order(readStated(source), readStated(other)),
  ];
  if (began === 'after' && stated !== 'before') return readOwnStart(source);
  const day = readStated(source);
  if (began === 'before' || stated !== 'after' || day === undefined) return undefined;
  return { means: source.isPrescription ? 'prescribed' : 'recorded', day };
}

/** Compares dates of any precision: what may be the same day is `unknown`. */
function order(one: string | undefined, other: string | undefined): 'after' | 'before' | 'unknown' {
  if (one === undefined || other === undefined) return 'unknown';
  const isMoment = one.length > 10 && other.length > 10;
  const length = Math.min(one.length, other.length, 10);
  const [a, b] = isMoment
    ? [Date.parse(one), Date.parse(other)]
    : [one.slice(0, length), other.slice(0, length)];
  if (a === undefined || b === undefined || a === b) return 'unknown';
  return a > b ? 'after' : 'before';
}

/** Returns the day on which a dosage ended, if it says so: of a period, or of bounds of all dosages. */
function readEnd({ isPrescription, until, dosage, prescribed }: Dosed): string | undefined {
  if (!isPrescription && until !== undefined) return until;
  const ends = objects(dosage).map(({ timing }) => {
    const { boundsPeriod, boundsDuration } = first(first(timing)?.repeat) ?? {};
    return text(first(boundsPeriod)?.end) ?? addDuration(prescribed, first(boundsDuration));
  });
  return ends.every((end) => end !== undefined) ? ends.toSorted().at(-1) : undefined;
}

/** Days of UCUM's units of time. */
const UNITS: Readonly<Record<string, number>> = { d: 1, wk: 7, mo: 31, a: 366 };

function addDuration(start: string | undefined, duration: ReturnType<typeof first>): string | undefined {
  const unit = UNITS[text(duration?.code) ?? ''];
  const at = Date.parse(start ?? '') + Number(String(duration?.value)) * (unit ?? Number.NaN) * DAY;
  return Number.isNaN(at) ? undefined : new Date(at).toISOString().slice(0, 10);
}
