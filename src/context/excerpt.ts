/** Resources at a glance: of each what contexts are ordered and counted by, without holding its text. Pure. */
import { withdrawnAs } from '#src/fhir/ips/classify.ts';
import { sourceOf } from '#src/fhir/ips/source.ts';
import type { Json, JsonObject } from '#src/shared/json.ts';
import { datedOf } from './dates.ts';
import { CONTEXT_TYPES, type Current, type Entry, type Excerpt, MODIFIED, type Version } from './record.ts';
import { Scan } from './scan.ts';

const QUOTE = 0x22;

/** Each by itself: thousands of glances share the text. */
const KNOWN: ReadonlyMap<string, string> = new Map(CONTEXT_TYPES.map((type) => [type, type]));

/** Types that are read whole: doses keep their digits, medications may be contained. */
const WHOLE: ReadonlySet<string> = new Set(['Patient', 'MedicationStatement', 'MedicationRequest']);

/** Members of Observations, of which there are most: what orders them. Values are read where they are told. */
const OF_OBSERVATIONS = [
  ...['status', 'category', 'code', 'effectiveDateTime', 'effectiveInstant', 'effectivePeriod', 'issued'],
] as const;
/** Members of Observations that are numbers. */
const NUMBERS = ['valueInteger', 'valueQuantity'] as const;

/** Members of other types whose numbers do not need their literals. */
const READ = [
  ...['status', 'lifecycleStatus', 'docStatus', 'verificationStatus', 'clinicalStatus', 'intent', 'title'],
  ...['category', 'code', 'type', 'class', 'description', 'criticality', 'severity', 'name', 'reaction'],
  ...['note', 'onsetDateTime', 'onsetPeriod', 'onsetAge', 'onsetRange', 'onsetString', 'recordedDate'],
  ...['lastOccurrence', 'abatementDateTime', 'abatementPeriod', 'abatementAge', 'abatementRange'],
  ...['abatementString', 'date', 'created', 'effectiveDateTime', 'effectivePeriod', 'issued'],
  ...['performedDateTime', 'performedPeriod', 'performedString', 'period', 'startDate'],
  ...['occurrenceDateTime', 'occurrenceString', 'recorded', 'reasonCode', 'reasonReference', 'diagnosis'],
  ...['vaccineCode', 'activity', 'conclusion', 'conclusionCode', 'outcome', 'content'],
] as const;

const observations = new Scan([...OF_OBSERVATIONS, ...NUMBERS]);
const others = new Scan(READ);

/** What a glance takes beside its texts. */
const GLANCE_BYTES = 400;

/** Takes a glance at the resources of one record, one after another. */
export class ExcerptReader {
  /** Values by their texts: equal codes of a record are one and the same object. */
  readonly #known = new Map<string, Json>();
  #bytes = 0;

  /** About how much memory the glances take. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * What a resource says; undefined for a type that contexts are not made of.
   * @param bytes its stored JSON, of which nothing is held.
   */
  at({ type: given, ...rest }: Version, bytes: Buffer): Excerpt | undefined {
    const type = KNOWN.get(given);
    if (type === undefined) return undefined;
    const version = { ...rest, type };
    this.#bytes += GLANCE_BYTES;
    const scan = type === 'Observation' ? observations : others;
    if (WHOLE.has(type) || !scan.read(bytes)) {
      this.#bytes += 2 * bytes.length;
      const current = { ...version, body: bytes.toString() };
      return WHOLE.has(type) ? wholeGlance(current) : parsedGlance(current);
    }
    const names = type === 'Observation' ? OF_OBSERVATIONS : READ;
    const value: JsonObject = {};
    for (const [index, name] of names.entries()) {
      const [from, to] = [scan.from(index), scan.to(index)];
      // Nearly all say when they were made, and then nobody asks when they were issued.
      if (to === 0 || (name === 'issued' && datedOf({ type, value }).date !== null)) continue;
      value[name] = this.#valueAt(bytes, from, to);
    }
    const measured = type === 'Observation' ? numberAt(bytes, scan) : undefined;
    if (measured !== undefined) this.#bytes += measured.length;
    return glanceOf(version, value, scan.isModified, scan.mayHaveValue, measured);
  }

  #valueAt(bytes: Buffer, from: number, to: number): Json {
    if (bytes[from] === QUOTE) {
      const text = bytes.toString('utf8', from + 1, to - 1);
      this.#bytes += text.length;
      if (!text.includes('\\')) return text;
    }
    const text = bytes.toString('utf8', from, to);
    const before = this.#known.get(text);
    if (before !== undefined) return before;
    const value = JSON.parse(text) as Json;
    this.#known.set(text, value);
    this.#bytes += 2 * text.length;
    return value;
  }
}

/** All of a record that is held as texts. */
export function excerptsOf(record: Iterable<Current>): Excerpt[] {
  const at = new ExcerptReader();
  return [...record].flatMap((current) => at.at(current, Buffer.from(current.body)) ?? []);
}

/** An entry that is read whole, numbers with their literals. */
export function wholeEntry(current: Current): Entry {
  return wholeGlance(current);
}

function wholeGlance(current: Current): Excerpt {
  const isModified = current.body.includes('"modifierExtension":');
  return glanceOf(current, sourceOf(current).value, isModified, false, undefined);
}

/** Of a text that has blanks between its tokens. */
function parsedGlance({ body, ...version }: Current): Excerpt {
  const value = JSON.parse(body) as JsonObject;
  const isModified = /"modifierExtension"\s*:/.test(body);
  const { valueInteger, valueQuantity } = value;
  return glanceOf(version, value, isModified, true, JSON.stringify(valueInteger ?? valueQuantity));
}

function numberAt(bytes: Buffer, scan: Scan): string | undefined {
  for (const index of NUMBERS.keys()) {
    const [from, to] = [scan.from(OF_OBSERVATIONS.length + index), scan.to(OF_OBSERVATIONS.length + index)];
    if (to > 0) return bytes.toString('utf8', from, to);
  }
  return undefined;
}

function glanceOf(
  { type, id, version }: Version,
  value: JsonObject,
  isModified: boolean,
  mayHaveValue: boolean,
  number: string | undefined,
): Excerpt {
  const leftOut = withdrawnAs({ value }) ?? (isModified ? MODIFIED : undefined);
  return { type, id, version, value, dated: datedOf({ type, value }), mayHaveValue, number, leftOut };
}
