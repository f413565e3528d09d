/**
 * Finds a source that contradicts a medicine's leading source, because one entry in a record may call a medicine current and
 * another may call it stopped. Pure.
 */
import { first, text } from '#src/fhir/parts.ts';
import type { JsonObject } from '#src/shared/json/json-value.ts';
import { dayIn } from '#src/shared/time/day.ts';
import { type Dated, findLastDay } from './dates.ts';
import type { Told } from './told.ts';

/** The parts of a source that show whether it contradicts another. */
export interface Claim {
  readonly told: Pick<Told, 'value'>;
  readonly isPrescription: boolean;
  readonly status: string;
  readonly standing: string;
  readonly takenOn: string | undefined;
  readonly until: string | undefined;
  readonly prescribed: string | undefined;
  readonly dated: Dated;
}

/** A contradicting source, and the day since which it has contradicted the lead. */
export interface Contradiction<Source> {
  readonly source: Source;
  /** The day on which the source's status applied or was recorded; undefined if only the day of prescribing is known. */
  readonly day: string | undefined;
}

/** Statuses that say whether the patient takes the medicine. The status `unknown` contradicts nothing. */
const SAYS: ReadonlySet<string> = new Set(['active', 'on-hold', 'completed', 'stopped', 'not-taken']);

/**
 * Returns the newest source whose status differs from the lead's, if it isn't older than the sources with the lead's status.
 * It isn't older if it is dated on the same day or later, or if it was last changed here on a later day. A prescription also
 * ends when the next one is written, so a prescription that is followed by a newer one contradicts nothing.
 * @param sources all sources of the medicine
 * @param own the sources that determine its standing
 */
export function findContradiction<Source extends Claim>(
  sources: readonly Source[],
  own: readonly Source[],
  lead: Source,
): Contradiction<Source> | undefined {
  const same = own.filter(({ status }) => status === lead.status);
  let found: (Contradiction<Source> & { readonly said: string }) | undefined;
  for (const source of sources) {
    const { status, standing } = source;
    if (status === lead.status || !SAYS.has(status) || standing === 'planned') continue;
    const said = contradicts(source, standing === 'past' ? own : same);
    if (said !== undefined && (found === undefined || said.said > found.said)) found = { source, ...said };
  }
  return found === undefined ? undefined : { source: found.source, day: found.day };
}

/**
 * Returns the last day on which a source can have stated its status, unless this day is before the corresponding days of the
 * other sources.
 */
function contradicts(
  source: Claim,
  others: readonly Claim[],
): { readonly said: string; readonly day: string | undefined } | undefined {
  const { prescribed, until, told } = source;
  const isRenewed = (other: Claim): boolean =>
    prescribed !== undefined &&
    other.prescribed !== undefined &&
    dayIn(other.prescribed) > findLastDay(prescribed);
  if (others.some(isRenewed)) return undefined;
  const newest = latest(others.flatMap(readDates));
  const end = source.standing === 'past' && !source.isPrescription ? until : undefined;
  const dates = [...readDates(source), ...(end === undefined ? [] : [dayIn(end)])];
  const said = latest(dates.map(findLastDay));
  if (said !== undefined && said >= (newest ?? '')) {
    const day = source.isPrescription ? undefined : (end ?? text(told.value.dateAsserted) ?? source.takenOn);
    return { said, day };
  }
  const changed = changedOn(told.value);
  const stored = latest(others.flatMap(({ told: { value } }) => storedOn(value) ?? []));
  if (changed === undefined || stored === undefined || changed <= stored) return undefined;
  return changed >= (newest ?? '') ? { said: changed, day: changed } : undefined;
}

/** Returns the days on which a source began to apply and on which it was stated. */
function readDates({ dated, told }: Claim): string[] {
  return [dated.date, text(told.value.dateAsserted)].flatMap((date) =>
    typeof date === 'string' ? [dayIn(date)] : [],
  );
}

function latest(days: readonly string[]): string | undefined {
  return days.reduce<string | undefined>(
    (last, day) => (last === undefined || day > last ? day : last),
    undefined,
  );
}

/** Returns the day on which a version was stored. */
function storedOn({ meta }: JsonObject): string | undefined {
  return text(first(meta)?.lastUpdated)?.slice(0, 10);
}

/** Returns the day on which an entry was last changed; undefined if it has never been changed. */
function changedOn(value: JsonObject): string | undefined {
  return text(first(value.meta)?.versionId) === '1' ? undefined : storedOn(value);
}
