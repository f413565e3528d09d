/**
 * Creates excerpts of resources. An excerpt has the members by which contexts are sorted and counted, but not the stored text.
 * Pure.
 */
import { happened } from '#src/clinical/reading/dates.ts';
import { withdrawnAs } from '#src/clinical/reading/status.ts';
import { parseSource } from '#src/clinical/summary/source.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { CONTEXT_TYPES, type Current, type Entry, type Excerpt, MODIFIED, type Version } from './record.ts';
import { Scan } from './scan.ts';

const QUOTE = 0x22;

/** One string object per type, shared by thousands of excerpts. */
const KNOWN: ReadonlyMap<string, string> = new Map(CONTEXT_TYPES.map((type) => [type, type]));

/** Types that are read as a whole, because doses must keep their digits, and medications may be contained. */
const WHOLE: ReadonlySet<string> = new Set(['Patient', 'MedicationStatement', 'MedicationRequest']);

/** Members by which Observations are sorted. Values are read later, and only for the Observations that are shown. */
const OF_OBSERVATIONS = [
  ...['status', 'category', 'code', 'effectiveDateTime', 'effectiveInstant', 'effectivePeriod', 'issued'],
  'implicitRules',
] as const;
/** Numeric members of Observations. */
const NUMBERS = ['valueInteger', 'valueQuantity'] as const;

/** Members of other types; their numbers needn't be kept as written. */
const READ = [
  ...['status', 'lifecycleStatus', 'docStatus', 'verificationStatus', 'clinicalStatus', 'intent', 'title'],
  ...['category', 'code', 'type', 'class', 'description', 'criticality', 'severity', 'name', 'reaction'],
  ...['note', 'onsetDateTime', 'onsetPeriod', 'onsetAge', 'onsetRange', 'onsetString', 'recordedDate'],
  ...['lastOccurrence', 'abatementDateTime', 'abatementPeriod', 'abatementAge', 'abatementRange'],
  ...['abatementString', 'date', 'created', 'effectiveDateTime', 'effectivePeriod', 'issued'],
  ...['performedDateTime', 'performedPeriod', 'performedString', 'performedAge'],
  ...['performedRange', 'period', 'startDate'],
  ...['occurrenceDateTime', 'occurrenceString', 'recorded', 'reasonCode', 'reasonReference', 'diagnosis'],
  ...[
    'vaccineCode',
    'activity',
    'statusReason',
    'conclusion',
    'conclusionCode',
    'outcome',
    'complication',
    'content',
    'context',
    'bodySite',
    'isSubpotent',
    'subpotentReason',
  ],
  'implicitRules',
] as const;

const observations = new Scan([...OF_OBSERVATIONS, ...NUMBERS]);
const others = new Scan(READ);

/** The size of an excerpt without text, in bytes. */
const EXCERPT_BYTES = 400;

/** Reads excerpts of the resources in one record, one after another. */
export class ExcerptReader {
  /** Values by their JSON, so that equal codes in a record share one object. */
  readonly #known = new Map<string, Json>();
  #bytes = 0;

  /** Returns approximately how many bytes the excerpts use. */
  get bytes(): number {
    return this.#bytes;
  }

  /**
   * Returns a resource's excerpt, or undefined for a type that contexts don't use.
   * @param bytes the stored JSON, which isn't kept
   */
  at({ type: given, ...rest }: Version, bytes: Buffer): Excerpt | undefined {
    const type = KNOWN.get(given);
    if (type === undefined) return undefined;
    const version = { ...rest, type };
    this.#bytes += EXCERPT_BYTES;
    const scan = type === 'Observation' ? observations : others;
    if (WHOLE.has(type) || !scan.read(bytes)) {
      this.#bytes += 2 * bytes.length;
      const current = { ...version, body: bytes.toString() };
      return WHOLE.has(type) ? wholeExcerpt(current) : parsedExcerpt(current);
    }
    const names = type === 'Observation' ? OF_OBSERVATIONS : READ;
    const value: JsonObject = {};
    for (const [index, name] of names.entries()) {
      const [from, to] = [scan.from(index), scan.to(index)];
      // `issued` matters only if the Observation has no effective time.
      if (to === 0 || (name === 'issued' && happened({ type, value }).date !== null)) continue;
      value[name] = this.#valueAt(bytes, from, to);
    }
    const measured = type === 'Observation' ? numberAt(bytes, scan) : undefined;
    if (measured !== undefined) this.#bytes += measured.length;
    return makeExcerpt(version, value, scan, measured);
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

/** Returns the excerpts of resources that are given as text. */
export function makeExcerpts(record: Iterable<Current>): Excerpt[] {
  const at = new ExcerptReader();
  return [...record].flatMap((current) => at.at(current, Buffer.from(current.body)) ?? []);
}

/** Returns a resource that is read as a whole, with numbers as written. */
export function wholeEntry(current: Current): Entry {
  return wholeExcerpt(current);
}

function wholeExcerpt(current: Current): Excerpt {
  const isModified = current.body.includes('"modifierExtension":');
  const found = { isModified, mayHaveValue: false, isJudged: false };
  return makeExcerpt(current, parseSource(current).value, found, undefined);
}

/** Returns the excerpt of a text that has spaces between its tokens. */
function parsedExcerpt({ body, ...version }: Current): Excerpt {
  const value = JSON.parse(body) as JsonObject;
  const isModified = /"modifierExtension"\s*:/.test(body);
  const { valueInteger, valueQuantity, interpretation } = value;
  const found = {
    isModified,
    mayHaveValue: /"(?:value[A-Z]\w*|component)"\s*:/.test(body),
    isJudged: interpretation !== undefined,
  };
  return makeExcerpt(version, value, found, JSON.stringify(valueInteger ?? valueQuantity));
}

function numberAt(bytes: Buffer, scan: Scan): string | undefined {
  for (const index of NUMBERS.keys()) {
    const [from, to] = [scan.from(OF_OBSERVATIONS.length + index), scan.to(OF_OBSERVATIONS.length + index)];
    if (to > 0) return bytes.toString('utf8', from, to);
  }
  return undefined;
}

function makeExcerpt(
  { type, id, version }: Version,
  value: JsonObject,
  { isModified, mayHaveValue, isJudged }: Pick<Scan, 'isModified' | 'mayHaveValue' | 'isJudged'>,
  number: string | undefined,
): Excerpt {
  const leftOut =
    withdrawnAs(value) ?? (isModified || value.implicitRules !== undefined ? MODIFIED : undefined);
  const isOnlyJudged = isJudged && !mayHaveValue;
  const dated = happened({ type, value });
  // An object literal without spreads: contexts read these members of every entry, and objects created by spreading are slower
  // to read.
  return { type, id, version, value, dated, mayHaveValue, isOnlyJudged, number, leftOut };
}
