/**
 * Counts the parts of a body while its bytes arrive, so that a body that exceeds a limit is refused before anything is built
 * from it. A small body can decompress to a large one: 23 kB of gzip can contain eight million empty objects.
 */
import { MAX_DEPTH, tooDeep } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** Counts the parts of one body. */
export interface BodyCount {
  /**
   * Counts the next bytes.
   * @throws Refusal too_large (413) once a limit is exceeded
   */
  add(bytes: Uint8Array): void;
}

/**
 * Bodies up to this length, in bytes, aren't counted, and nearly all bodies are that short. They are too short to exceed a
 * limit, or their parser checks the limit.
 */
export const SPARED = 64_000;

/** Limits on a JSON body; each is above `SPARED` values. A value is a literal, an object or a list. */
export interface JsonLimits {
  /** Maximum number of values in the whole body. */
  readonly values: number;
  /** Limits on the lists that are members of the outermost object: maximum number of items, and of values in each item. */
  readonly entries?: { readonly most: number; readonly values: number };
}

/** Number of bytes in a string that are checked one by one. Calling a native function costs about as much. */
const NEAR = 32;

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const LIST = 0x5b;
const LIST_END = 0x5d;
const OBJECT = 0x7b;
const OBJECT_END = 0x7d;

/** 1 for the bytes listed above except the backslash, 0 for all others. */
const MARKS = new Uint8Array(256);
for (const mark of [QUOTE, COMMA, LIST, LIST_END, OBJECT, OBJECT_END]) MARKS[mark] = 1;

/**
 * Counts the values in JSON by its brackets, commas and strings. Text that isn't JSON is counted in the same way; the parser
 * refuses it later.
 */
export class JsonCount implements BodyCount {
  #values = 1;
  /**
   * Number of values since the current item began, if the position is in a list that is a member of the outermost object;
   * otherwise since the last such list ended.
   */
  #ofItem = 1;
  #entries = 0;
  #depth = 0;
  #inObject = false;
  /** True if the position is in a list that is a member of the outermost object. */
  #inEntries = false;
  #inString = false;
  #escaped = false;

  constructor(private readonly limits: JsonLimits) {}

  /** Values so far. */
  get values(): number {
    return this.#values;
  }

  /** @throws Refusal too_large (413) for too many values or entries; malformed (400) for nesting over `MAX_DEPTH` */
  add(bytes: Uint8Array): void {
    const { length } = bytes;
    if (length === 0) return;
    let at = this.#escaped ? 1 : 0;
    let inString = this.#inString;
    this.#escaped = false;
    while (at < length) {
      if (inString) {
        at = this.#endOfString(bytes, at);
        inString = at >= length;
        at += 1;
        continue;
      }
      // Most bytes aren't brackets, commas or quotes.
      const c = bytes[at] as number;
      at += 1;
      if (MARKS[c] === 0) continue;
      if (c === QUOTE) inString = true;
      else if (c === COMMA) this.#next();
      else if (c === OBJECT || c === LIST) this.#open(c === LIST);
      else this.#close();
    }
    this.#inString = inString;
    this.#checkItem();
    const { values } = this.limits;
    if (this.#values > values) throw tooMany(values);
  }

  /**
   * Returns where the string that contains the position `from` ends; if it doesn't end, the number of bytes. Records whether
   * the last byte is a backslash that escapes the next byte.
   */
  #endOfString(bytes: Uint8Array, from: number): number {
    const { length } = bytes;
    let at = from;
    for (;;) {
      for (const near = Math.min(length, at + NEAR); at < near; at += 1) {
        const c = bytes[at];
        if (c === QUOTE) return at;
        if (c === BACKSLASH) at += 1;
      }
      if (at >= length) {
        this.#escaped = at > length;
        return length;
      }
      // In a long string, a native function finds the end. A quote after an odd number of backslashes is part of the string.
      const found = bytes.indexOf(QUOTE, at);
      const end = found < 0 ? length : found;
      let slashes = 0;
      while (end - slashes > at && bytes[end - slashes - 1] === BACKSLASH) slashes += 1;
      const isEscaped = slashes % 2 === 1;
      if (found < 0) this.#escaped = isEscaped;
      if (found < 0 || !isEscaped) return end;
      at = end + 1;
    }
  }

  #next(): void {
    this.#values += 1;
    this.#ofItem += 1;
    if (this.#inEntries && this.#depth === 2) this.#entry();
  }

  #open(isList: boolean): void {
    this.#values += 1;
    this.#ofItem += 1;
    this.#depth += 1;
    if (this.#depth > MAX_DEPTH) throw tooDeep();
    if (this.#depth === 1) this.#inObject = !isList;
    else if (this.#depth === 2 && isList && this.#inObject) {
      this.#inEntries = true;
      this.#entries = 0;
      this.#entry();
    }
  }

  #close(): void {
    if (this.#depth === 2) this.#inEntries = false;
    this.#depth -= 1;
  }

  /** Begins an item in a list that is a member of the outermost object. */
  #entry(): void {
    this.#checkItem();
    this.#ofItem = 1;
    this.#entries += 1;
    const { entries } = this.limits;
    if (entries !== undefined && this.#entries > entries.most) {
      const diagnostics = `a Bundle can have at most ${entries.most} entries; this one has more`;
      throw new Refusal('too_large', { code: 'too-long', diagnostics });
    }
  }

  #checkItem(): void {
    const { entries } = this.limits;
    if (entries !== undefined && this.#ofItem > entries.values) throw tooMany(entries.values);
  }
}

/** Maximum number of newlines and separators in text. A message of 20,000 segments with every field filled has half as many. */
const MOST_SIGNS = 1_000_000;

/**
 * Counts newlines and punctuation, because these separate the parts of a text: HL7 v2 messages may use any punctuation as
 * delimiters; tables use commas, semicolons and tabs.
 */
export class SignCount implements BodyCount {
  #signs = 0;

  /** @throws Refusal too_large (413) */
  add(bytes: Uint8Array): void {
    let signs = this.#signs;
    for (let at = 0; at < bytes.length; at += 1) signs += SIGNS[bytes[at] ?? 0] ?? 0;
    this.#signs = signs;
    if (this.#signs > MOST_SIGNS) {
      const diagnostics = `the body has more than ${MOST_SIGNS} separators and line ends, the limit; send it in parts`;
      throw new Refusal('too_large', { code: 'too-costly', diagnostics });
    }
  }
}

/** 1 for control characters and ASCII punctuation, 0 for other bytes. */
const SIGNS = Uint8Array.from({ length: 256 }, (_, c) =>
  c < 0x20 || /[!-/:-@[-`{-~]/.test(String.fromCharCode(c)) ? 1 : 0,
);

function tooMany(most: number): Refusal {
  const diagnostics = `the body has more than ${most} JSON values, the limit`;
  return new Refusal('too_large', { code: 'too-costly', diagnostics });
}
