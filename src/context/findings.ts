/** Observations: of each code the newest value, those before it, their range and change. */
import { LOINC, objects, text } from '#src/fhir/ips/parts.ts';
import { sourceOf } from '#src/fhir/ips/source.ts';
import { choice, concept, quantity, referenceRange } from '#src/fhir/ips/words.ts';
import { isNumber, type Json, type JsonObject } from '#src/shared/json.ts';
import type { Kind } from './ask.ts';
import { type Fact, inLine, line } from './fact.ts';
import type { Focus } from './focus.ts';
import { MEASURE_OF, type Measure } from './measures.ts';
import { ageDays, codedIn, codeMembers, dayIn, namedEntry, nameOf, type Reading } from './reading.ts';
import { type Entry, type Version, versionedOf } from './record.ts';
import { asked, scoreOfFinding, type Watched } from './scores.ts';

/** Values of one code, newest first. */
export interface Series {
  readonly kind: Kind;
  readonly measure: Measure | undefined;
  readonly entries: readonly Entry[];
}

/** A series whose newest values have been read. */
export interface Course extends Series {
  /** The newest that have a value, read whole. */
  readonly newest: readonly Entry[];
}

/** The texts of versions, by `versionedOf`. */
export type ReadBodies = (versions: readonly Version[]) => Promise<ReadonlyMap<string, string>>;

/** Codes that make an Observation a vital sign when it has no category. */
const VITAL: ReadonlySet<Measure> = new Set([
  ...([
    'pressure',
    'heartRate',
    'saturation',
    'breathing',
    'temperature',
    'weight',
    'height',
    'bmi',
    'head',
  ] as const),
]);

/** The newest values of each code; what has none, and what was cancelled, is in none. */
export function seriesOf(entries: readonly Entry[]): Series[] {
  const found = new Map<string, Entry[]>();
  // Equal codes of a record are mostly one and the same object.
  const keys = new Map<Json, string>();
  for (const entry of entries) {
    const { status, code = null } = entry.value;
    if (status === 'registered' || status === 'cancelled' || !entry.mayHaveValue) continue;
    let key = keys.get(code);
    if (key === undefined) {
      key = keyOf(code);
      keys.set(code, key);
    }
    if (found.get(key)?.push(entry) === undefined) found.set(key, [entry]);
  }
  return [...found.values()].map((all) => ({ ...placeOf(all[0]), entries: all }));
}

function keyOf(code: Json): string {
  const all = codedIn(code);
  const best = all.find(({ system }) => system === LOINC) ?? all[0];
  return best === undefined ? (concept(code) ?? '').toLowerCase() : `${best.system}|${best.code}`;
}

function placeOf(entry: Entry | undefined): { readonly kind: Kind; readonly measure: Measure | undefined } {
  const measure = codedIn(entry?.value.code)
    .map(({ code }) => MEASURE_OF.get(code))
    .find((each) => each !== undefined);
  const categories = codedIn(entry?.value.category).map(({ code }) => code);
  const isVital = measure !== undefined && VITAL.has(measure);
  if (categories.includes('vital-signs') || (categories.length === 0 && isVital))
    return { kind: 'vitals', measure };
  if (categories.includes('laboratory')) return { kind: 'labs', measure };
  return { kind: categories.includes('social-history') ? 'social_history' : 'observations', measure };
}

/** A value in words; undefined when there is none. Systolic and diastolic pressure as `131/82 mm[Hg]`. */
export function valueIn(value: JsonObject): string | undefined {
  const own = choice(value, 'value');
  if (own !== undefined) return inLine(own);
  const components = objects(value.component);
  const [high, low] = ['8480-6', '8462-4'].map((wanted) =>
    components.find(({ code }) => codedIn(code).some(({ code: each }) => each === wanted)),
  );
  const [systolic, diastolic] = [quantity(high?.valueQuantity), quantity(low?.valueQuantity)];
  if (systolic !== undefined && diastolic !== undefined && unitIn(systolic) === unitIn(diastolic))
    return `${systolic.split(' ')[0]}/${diastolic}`;
  const said = components.flatMap((component) => {
    const shown = choice(component, 'value');
    return shown === undefined ? [] : [`${nameOf(component.code, 'part')} ${shown}`];
  });
  return said.length === 0 ? undefined : inLine(said.join(', '));
}

/** The words after the first: the unit of a quantity. */
function unitIn(shown: string): string {
  return shown.split(' ').slice(1).join(' ');
}

/**
 * A number and its unit; undefined for every other value, for one that is only known to be more or less, and for one that is
 * too large to be reckoned with.
 */
export function numberIn({
  valueQuantity,
  valueInteger,
}: JsonObject): { readonly value: number; readonly unit: string } | undefined {
  const whole = finite(valueInteger);
  if (whole !== undefined) return { value: whole, unit: '' };
  const { value, unit, code, comparator } = objects(valueQuantity)[0] ?? {};
  const number = finite(value);
  if (number === undefined || comparator !== undefined) return undefined;
  return { value: number, unit: text(code) ?? text(unit) ?? '' };
}

/** By its text: a literal such as 1e-400, which JavaScript would lose, does not become a number by itself. */
function finite(said: Json | undefined): number | undefined {
  const number = isNumber(said) ? Number(String(said)) : Number.NaN;
  return Number.isFinite(number) ? number : undefined;
}

/** Why a value is remarkable, in a word; undefined when nobody says that it is. */
export function flagOf(value: JsonObject): string | undefined {
  const flags = objects(value.interpretation);
  if (flags.length > 0) return line(', ', ...flags.map(flagIn)) || undefined;
  const found = numberIn(value);
  const [range] = objects(value.referenceRange);
  const bound = (name: 'low' | 'high') => numberIn({ valueQuantity: range?.[name] ?? null });
  const [low, high] = [bound('low'), bound('high')];
  if (found === undefined) return undefined;
  if (low !== undefined && low.unit === found.unit && found.value < low.value) return 'low';
  return high !== undefined && high.unit === found.unit && found.value > high.value ? 'high' : undefined;
}

/** Without a code its words tell it. */
function flagIn(flag: JsonObject): string | undefined {
  const [{ code = '' } = {}] = codedIn(flag);
  const said = WORDS[code] ?? concept(flag);
  return code === 'N' || /^n(ormal)?$/i.test(said ?? '') ? undefined : said;
}

/** Statuses of results that may still change, or of which nobody knows whether they hold. */
const UNFINISHED: Readonly<Record<string, string>> = {
  preliminary: 'preliminary',
  unknown: 'status unknown',
};

const WORDS: Readonly<Record<string, string>> = {
  H: 'high',
  HH: 'critically high',
  L: 'low',
  LL: 'critically low',
  A: 'abnormal',
  AA: 'critical',
};

/** How many values of a series are told. */
export function toldOf({ work, needs }: Focus): number {
  return work === 'follow_up' || needs.length > 0 ? 4 : 2;
}

/** How many times more are read of a series each time that those before had no value. */
const GROWTH = 4;

/**
 * Reads the newest values of each series.
 * @param most of each; what seems to have a value and has none is passed over.
 */
export async function readNewest(
  series: readonly Series[],
  most: number,
  bodies: ReadBodies,
): Promise<Course[]> {
  const courses = series.map((one) => ({ ...one, newest: [] as Entry[], from: 0 }));
  let open = courses;
  for (let size = most; open.length > 0; size *= GROWTH) {
    const texts = await bodies(open.flatMap(({ entries, from }) => entries.slice(from, from + size)));
    for (const course of open) {
      for (const entry of course.entries.slice(course.from, course.from + size)) {
        if (course.newest.length === most) break;
        const { value } = sourceOf({ ...entry, body: textOf(entry, texts) });
        if (valueIn(value) !== undefined) course.newest.push({ ...entry, value });
      }
      course.from += size;
    }
    open = open.filter(({ entries, newest, from }) => newest.length < most && from < entries.length);
  }
  return courses;
}

function textOf(entry: Entry, texts: ReadonlyMap<string, string>): string {
  const text = texts.get(versionedOf(entry));
  if (text === undefined) throw new TypeError(`${versionedOf(entry)} has no text`);
  return text;
}

/** One fact for each series. */
export function findings(reading: Reading, courses: readonly Course[], watched: Watched): Fact[] {
  return courses.flatMap((course) => findingOf(reading, course, watched) ?? []);
}

function findingOf(
  reading: Reading,
  { kind, measure, entries, newest }: Course,
  watched: Watched,
): Fact | undefined {
  const { focus, displays } = reading;
  const [latest, ...before] = newest;
  if (latest === undefined) return undefined;
  const { value } = namedEntry(latest, displays);
  const name = nameOf(value.code, 'finding without a name');
  const number = numberIn(latest.value);
  const flag = flagOf(value);
  const range = withoutUnit(referenceRange(value.referenceRange), number?.unit);
  const statistics = statisticsOf(entries, number);
  const head = line(
    ', ',
    `${name}${number === undefined && !/^\d/.test(valueIn(value) ?? '') ? ':' : ''} ${valueIn(value) ?? ''} (${line('; ', dayIn(latest) ?? 'no date', flag, range === undefined ? undefined : `range ${range}`, UNFINISHED[String(value.status)])})`,
  );
  const past = before.map((entry) => `${shortOf(entry.value, value)} (${dayIn(entry) ?? 'no date'})`);
  const said = line(
    '; ',
    head,
    past.length === 0 ? undefined : `before ${past.join(', ')}`,
    statistics === undefined || entries.length < 4 ? undefined : statistics.text,
  );
  const score = scoreOfFinding(kind, measure, watched, focus, ageDays(reading, latest), flag !== undefined);
  const about = { kind, text: name, codes: codedIn(value.code), ageDays: ageDays(reading, latest) };
  return {
    kind,
    text: said,
    entry: latest,
    also: before,
    codes: about.codes,
    score: asked(score, focus, about),
    members: {
      ...codeMembers(value.code, name),
      value: number?.value ?? null,
      unit: number?.unit ?? null,
      value_text: valueIn(value) ?? null,
      flag: flag ?? null,
      range: range ?? null,
      trend:
        entries.length < 2
          ? null
          : {
              ...(statistics?.members ?? uncounted(entries)),
              points: before.map((entry) => ({
                date: entry.dated.date,
                value_text: valueIn(entry.value) ?? null,
                fhir: versionedOf(entry),
              })),
            },
    },
  };
}

/** Of values that are no numbers. */
const uncounted = (entries: readonly Entry[]): JsonObject => ({
  count: entries.length,
  since: entries.at(-1)?.dated.date ?? null,
  min: null,
  max: null,
  change: null,
});

/** A range whose ends have the value's unit, said once. */
function withoutUnit(range: string | undefined, unit: string | undefined): string | undefined {
  return unit === undefined || unit === '' ? range : range?.replaceAll(` ${unit}`, '');
}

/** A value without its unit where that is the same as the newest one's. */
function shortOf(value: JsonObject, latest: JsonObject): string {
  const shown = valueIn(value) ?? '';
  const unit = unitIn(valueIn(latest) ?? '');
  return unit !== '' && shown.endsWith(` ${unit}`) ? shown.slice(0, -unit.length - 1) : shown;
}

/** Values that range and change are taken of: those before them say little of today. */
const NEWEST = 100;

/** Range and change of the newest numbers that have the newest one's unit. */
function statisticsOf(
  entries: readonly Entry[],
  newest: ReturnType<typeof numberIn>,
): { readonly text: string; readonly members: JsonObject } | undefined {
  if (newest === undefined) return undefined;
  const values = entries.slice(0, NEWEST).flatMap(({ numbers }) => {
    const found = numbers === undefined ? undefined : numberIn(JSON.parse(numbers) as JsonObject);
    return found?.unit === newest.unit ? [found.value] : [];
  });
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const oldest = entries.at(-1)?.dated.date;
  const range = entries.length > NEWEST ? `; last ${NEWEST} ${min} to ${max}` : `, ${min} to ${max}`;
  const [, before] = values;
  return {
    text: `${entries.length} values since ${oldest?.slice(0, 4) ?? 'an unknown time'}${range}`,
    members: {
      count: entries.length,
      since: oldest ?? null,
      min,
      max,
      change: before === undefined ? null : rounded(newest.value - before),
    },
  };
}

/** Without what binary fractions add. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}
