/**
 * Dates in raw JSON, each with FHIR's meaning (https://hl7.org/fhir/R4/), as phrases in one form: `since 2019-05-02`,
 * `prescribed 2 times, 2019-01-02 to 2020-01-02`. Doesn't share any code with the product.
 */
import { type Json, read, texts } from './raw.ts';

/** Statements that must be made about an item, and statements that may be made. Any other date would be invented. */
export interface Says {
  readonly must: readonly string[];
  readonly may: readonly string[];
}

/** Returns the day in a date or date-time as written; a date without a day is returned unchanged. */
export const dayOf = (date: string): string => date.slice(0, 10);

/** Returns a date's instant, for comparison. */
export const at = (date: string | undefined): number =>
  date === undefined ? Number.NEGATIVE_INFINITY : Date.parse(date);

/** UCUM's codes for ages, in words. */
const AGES: Readonly<Record<string, string>> = { a: 'year', mo: 'month', wk: 'week', d: 'day' };

/** Returns when something began (`onset`) or ended (`abatement`): a day, an age, or the record's words. */
export function changePhrase(resource: Json, name: 'onset' | 'abatement'): string | undefined {
  const [word, label] = name === 'onset' ? ['since', 'onset'] : ['until', 'end'];
  const date = changeDate(resource, name);
  if (date !== undefined) return `${word} ${dayOf(date)}`;
  const [age] = read(resource, `${name}Age`);
  const [value] = read(age, 'value');
  if (value !== undefined) {
    const unit = AGES[texts(age, 'code')[0] ?? ''] ?? texts(age, 'unit')[0];
    return `${word} age ${value} ${unit}${value === 1 ? '' : 's'}`;
  }
  const [said] = texts(resource, `${name}String`);
  return said === undefined ? undefined : `${label} ${said}`;
}

/** Returns the date of onset or abatement. For a period, the onset is its first day, and the abatement its last. */
export function changeDate(resource: Json, name: 'onset' | 'abatement'): string | undefined {
  const ends = name === 'onset' ? ['start', 'end'] : ['end', 'start'];
  return [
    ...texts(resource, `${name}DateTime`),
    ...ends.flatMap((end) => texts(resource, `${name}Period.${end}`)),
  ][0];
}

/**
 * Returns what is said about an allergy: since when it exists, otherwise its last reaction, otherwise the day on which it was
 * recorded, which is labelled as such.
 */
export function allergySays(resource: Json): Says {
  const onset = changePhrase(resource, 'onset');
  const reaction = texts(resource, 'lastOccurrence').map((date) => `last reaction ${dayOf(date)}`);
  const happened = [...(onset === undefined ? [] : [onset]), ...reaction];
  const recorded = texts(resource, 'recordedDate').map((date) => `recorded ${dayOf(date)}`);
  const [first] = [...happened, ...recorded];
  return { must: first === undefined ? [] : [first], may: [...happened, ...recorded] };
}

/**
 * Returns what may be said about a problem: its earliest onset if it is active, or its newest episode if it is past. There are
 * several results if several resources tie.
 */
export function problemSays(resources: readonly Json[], isOver: boolean): Says[] {
  const dates = resources.map((each) => at(changeDate(each, 'onset')));
  const known = dates.filter((date) => date > Number.NEGATIVE_INFINITY);
  const best = isOver ? Math.max(...known) : Math.min(...known);
  const times = resources.length === 1 ? [] : [`${resources.length} times`];
  // The other end of the period between the onsets, if it is a different day.
  const far = isOver ? Math.min(...known) : Math.max(...known);
  const others = resources.flatMap((each, n) => {
    const date = changeDate(each, 'onset');
    return date !== undefined && dates[n] === far ? [dayOf(date)] : [];
  });
  const recorded = resources.flatMap((each) =>
    texts(each, 'recordedDate').map((date) => `recorded ${dayOf(date)}`),
  );
  const leading = resources.filter((_, n) => known.length === 0 || dates[n] === best);
  return leading.flatMap((each) => {
    const [began, ended] = [changePhrase(each, 'onset'), changePhrase(each, 'abatement')];
    const said = [...(began === undefined ? [] : [began]), ...(isOver && ended !== undefined ? [ended] : [])];
    const own = dayOf(changeDate(each, 'onset') ?? '');
    const ends = far === best ? [] : others.filter((other) => other !== own);
    const spans = ends.map((other) => [...times, `${isOver ? 'first' : 'last'} began ${other}`]);
    return (spans.length === 0 ? [times] : spans).map((span) => ({
      must: [...said, ...span],
      may: [...said, ...span, ...recorded],
    }));
  });
}

/** The sources of one medicine. */
export interface MedicineGroup {
  readonly all: readonly Json[];
  /** The sources that determine its standing. */
  readonly deciding: readonly Json[];
  readonly standing: 'current' | 'unclear' | 'planned' | 'past' | 'forbidden';
  /** The sources that plan the medicine, if it is current or unclear. */
  readonly planned: readonly Json[];
  readonly today: string;
}

/** Returns what is said about a medicine. The day on which it was prescribed is neither a start nor an end. */
export function medicineSays(group: MedicineGroup): Says {
  const { all, deciding, standing, planned, today } = group;
  const statements = deciding.filter(({ resourceType }) => resourceType === 'MedicationStatement');
  const starts = byTime(statements.flatMap((each) => texts(each, 'effectivePeriod.start')));
  const ends = statements.map((each) => texts(each, 'effectivePeriod.end')[0]);
  const isEnded = ends.every((end) => end !== undefined);
  const until = isEnded ? byTime(ends.filter((end) => end !== undefined)).at(-1) : undefined;
  const on = byTime(statements.flatMap((each) => texts(each, 'effectiveDateTime'))).at(-1);
  const [from] = starts;
  const said: string[] = [];
  const begin = from ?? (until === undefined ? on : undefined);
  if (begin !== undefined && isToCome(begin, today))
    said.push(`planned from ${dayOf(begin)}${until === undefined ? '' : ` to ${dayOf(until)}`}`);
  else if (until !== undefined && isToCome(until, today))
    said.push(`${from === undefined ? '' : `taken from ${dayOf(from)}, `}planned until ${dayOf(until)}`);
  else if (from !== undefined && until !== undefined) said.push(`taken ${dayOf(from)} to ${dayOf(until)}`);
  else if (from !== undefined) said.push(`taken ${standing === 'past' ? 'from' : 'since'} ${dayOf(from)}`);
  else if (until !== undefined) said.push(`taken until ${dayOf(until)}`);
  else if (on !== undefined) said.push(`taken on ${dayOf(on)}`);
  const orders = byTime(
    all.filter(({ intent }) => intent !== 'plan').flatMap((each) => texts(each, 'authoredOn')),
  );
  const [first, last] = [orders[0], orders.at(-1)];
  if (first !== undefined && last !== undefined) {
    said.push(
      standing === 'forbidden'
        ? `ordered ${dayOf(last)}`
        : ordersSay(orders.length, dayOf(first), dayOf(last)),
    );
  }
  // A plan isn't a prescription, so its day is only the day on which it was recorded.
  const plans = deciding
    .filter(({ intent }) => intent === 'plan')
    .flatMap((each) => texts(each, 'authoredOn'));
  const asserted = deciding.flatMap((each) => texts(each, 'dateAsserted'));
  const recorded = [...plans, ...asserted].map((date) => `recorded ${dayOf(date)}`);
  const denials = ['current', 'unclear', 'planned'].includes(standing) ? denialsIn(group) : [];
  const later = planned.map((each) => {
    const [day] = ['effectivePeriod.start', 'effectiveDateTime'].flatMap((path) => texts(each, path));
    return day === undefined ? 'also planned' : `also planned from ${dayOf(day)}`;
  });
  return { must: said, may: [...said, ...(said.length === 0 ? recorded : []), ...denials, ...later] };
}

/** Returns whether the whole day, month or year of a date is in the future. */
export const isToCome = (date: string, today: string): boolean =>
  date.slice(0, 10) > today.slice(0, Math.min(date.length, 10));

/** Returns what is said about orders. Two days don't make a span, and a single day has no end. */
function ordersSay(times: number, first: string, last: string): string {
  if (times === 1) return `prescribed ${first}`;
  if (first === last) return `prescribed ${times} times on ${first}`;
  return times === 2 ? `prescribed ${first} and ${last}` : `prescribed ${times} times, ${first} to ${last}`;
}

/** Statuses that say whether a medicine is taken. A cancelled order never took effect, and `unknown` says nothing. */
const TELLS = ['active', 'on-hold', 'completed', 'stopped', 'not-taken'];
const ENDED = ['completed', 'stopped', 'not-taken'];

/** Returns what may be said about the other sources of a group: their status, with one of their days. */
function denialsIn({ all }: MedicineGroup): string[] {
  return all
    .filter((each) => TELLS.includes(String(each.status)))
    .flatMap((each) => {
      const words = `also recorded as ${String(each.status)}`;
      if (each.resourceType === 'MedicationRequest')
        return [words, ...texts(each, 'authoredOn').map((day) => `${words} (prescription of ${dayOf(day)})`)];
      const days = ['effectivePeriod.end', 'dateAsserted', 'effectiveDateTime'];
      return [words, ...days.flatMap((path) => texts(each, path)).map((day) => `${words} on ${dayOf(day)}`)];
    });
}

/**
 * Returns whether a source saying that the medicine isn't taken is at least as new as all sources that call it current. If so,
 * this must be said.
 */
export function isDenied({ all, deciding, standing }: MedicineGroup): boolean {
  if (!['current', 'unclear', 'planned'].includes(standing)) return false;
  const stated = deciding.flatMap((each) => [started(each), texts(each, 'dateAsserted')[0]]);
  const newest = days(stated).at(-1);
  const orders = deciding
    .filter(({ intent }) => intent !== 'plan')
    .flatMap((each) => texts(each, 'authoredOn'));
  return all.some((each) => {
    if (deciding.includes(each) || !ENDED.includes(String(each.status))) return false;
    const isOrder = each.resourceType === 'MedicationRequest';
    const [authored] = each.intent === 'plan' ? [] : texts(each, 'authoredOn');
    // A later order ends the previous one.
    if (isOrder && authored !== undefined && orders.some((order) => dayOf(order) > lastOf(authored)))
      return false;
    const said = days(
      [started(each), ...['effectivePeriod.end', 'dateAsserted'].flatMap((path) => texts(each, path))].map(
        (date) => date && lastOf(date),
      ),
    ).at(-1);
    return said !== undefined && (newest === undefined || said >= newest);
  });
}

const days = (dates: readonly (string | undefined)[]): string[] =>
  dates.flatMap((date) => (date === undefined ? [] : [dayOf(date)])).sort();

/** Returns the last day of a year or a month. */
const lastOf = (date: string): string =>
  date.length === 4 ? `${date}-12-31` : date.length === 7 ? `${date}-31` : dayOf(date);

/** Returns the time at which a source's statement about a medicine was true, or was made. */
export function startOf(resource: Json): number {
  return at(started(resource));
}

function started(resource: Json): string | undefined {
  const [date] = [
    'effectiveDateTime',
    'effectivePeriod.start',
    'effectivePeriod.end',
    'dateAsserted',
    'authoredOn',
  ].flatMap((path) => texts(resource, path));
  return date;
}

const byTime = (dates: readonly string[]): string[] => [...dates].sort((a, b) => at(a) - at(b));
