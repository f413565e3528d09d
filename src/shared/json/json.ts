/**
 * Parses and prints JSON as FHIR requires: decimals keep their literals; duplicate keys and deep nesting are refused
 * (docs/spec/decisions.md, section 2; R4 json.html#primitive for decimals).
 */
import { randomBytes } from 'node:crypto';
import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';
import { cut } from '../cut.ts';
import { atOnce, type Steps } from '../load/slices.ts';
import { Refusal } from '../refusal.ts';
import { isNumber, isObject, type Json, type JsonObject } from './json-value.ts';

export { isNumber, isObject, type Json, type JsonObject };

/**
 * A parsed body. `exact` means that it contains `LosslessNumber`s and must be printed by `printJson` with that flag.
 */
export interface ParsedJson {
  readonly value: Json;
  readonly exact: boolean;
}

/** The maximum nesting depth. */
export const MAX_DEPTH = 100;
/** The maximum length of a number's literal, in characters; exact arithmetic with longer literals takes too long. */
const MAX_NUMBER = 1_000;
/** Matches a number as JSON writes it (RFC 8259, section 6). */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
/** The maximum number of numbers in a body whose literals must be kept, such as 1.50. */
const MAX_LITERALS = 200_000;
/** Matches an exponent with more than 6 digits. */
const LONG_EXPONENT = /[eE][+-]?\d{7}/;

/** The maximum number of values in one resource, so that synchronous work on all its values is short. */
export const MAX_VALUES = 90_000;

/**
 * Parses a JSON text. Its values aren't counted here; they are counted when a body arrives (`src/http/body-count.ts`).
 * @throws Refusal `malformed` for bad syntax, a duplicate key, nesting over `MAX_DEPTH`, a number with more than 1,000
 *   characters or an exponent of more than 6 digits; `too_large` (413) for too many literals that must be kept
 */
export function parseJson(text: string): ParsedJson {
  const scan = new Scan(text);
  scan.to(text.length);
  const value = parsePart(scan, 0, text.length);
  if (settle(value) !== scan.members) throw duplicate(atOnce(firstDuplicate(text)));
  return { value, exact: scan.literals.length > 0 };
}

/** Number of characters that are processed in one step. */
const STEP = 200_000;

/**
 * Parses a JSON text in steps. The outermost object is split into parts of a few members each. Lists that are its members,
 * such as a Bundle's entries, are split into parts of a few items each.
 * @throws the same Refusal as `parseJson`
 */
export function* parseInParts(text: string): Steps<ParsedJson> {
  const outer: Outer = { open: -1, commas: [], close: -1, lists: [] };
  const scan = new Scan(text, outer);
  for (let at = STEP; at < text.length + STEP; at += STEP) {
    scan.to(Math.min(at, text.length));
    yield;
  }
  if (outer.close < 0 || text.length <= STEP) {
    const value = parsePart(scan, 0, text.length);
    if (settle(value) !== scan.members) throw duplicate(yield* firstDuplicate(text));
    return { value, exact: scan.literals.length > 0 };
  }
  // Nothing may precede or follow the object.
  parsed(text, 0, `${text.slice(0, outer.open)}{}${text.slice(outer.close + 1)}`);
  const lists: Json[][] = [];
  let members = 0;
  const value: JsonObject = {};
  for (const [from, to] of splitContainer(outer)) {
    let frame = '';
    let at = from;
    for (
      let list = outer.lists[lists.length];
      list !== undefined && list.open < to;
      list = outer.lists[lists.length]
    ) {
      frame += `${markedPart(scan, at, list.open + 1)}${lists.length}`;
      at = list.close;
      const items: Json[] = [];
      for (const [first, last] of splitContainer(list)) {
        const part = parsePart(scan, first, last, '[', ']');
        members += settle(part);
        // There must be a value between commas; only a list without commas may be empty.
        if (!Array.isArray(part) || (part.length === 0 && list.commas.length > 0))
          throw badSyntax(text, first);
        for (const item of part) items.push(item);
        yield;
      }
      lists.push(items);
    }
    const part = parsed(text, from, `{${frame}${markedPart(scan, at, to)}}`);
    members += settle(part);
    const names = isObject(part) ? Object.keys(part) : [];
    if (!isObject(part) || (names.length === 0 && outer.commas.length > 0)) throw badSyntax(text, from);
    for (const name of names) {
      const member = part[name] ?? null;
      const own = Array.isArray(member) ? (lists[Number(member[0])] ?? []) : member;
      if (Object.hasOwn(value, name)) throw duplicate(cut(name, 60));
      if (name === '__proto__') Object.defineProperty(value, name, { ...OWN, value: own });
      else value[name] = own;
    }
    yield;
  }
  if (members !== scan.members) throw duplicate(yield* firstDuplicate(text));
  return { value, exact: scan.literals.length > 0 };
}

/** Property descriptor of an ordinary member of an object. */
const OWN = { writable: true, enumerable: true, configurable: true };

/**
 * Yields the bounds of a container's parts. Each part ends at the first comma after at least `STEP` characters; the last part
 * may be shorter.
 */
function* splitContainer({ open, commas, close }: Container): Iterable<readonly [number, number]> {
  let from = open + 1;
  for (const comma of commas) {
    if (comma - from < STEP) continue;
    yield [from, comma];
    from = comma + 1;
  }
  yield [from, close];
}

/** Returns a value as compact text; numbers keep their literals. */
export function printJson(value: Json | undefined, exact = true): string {
  return (exact ? stringify(value) : JSON.stringify(value)) ?? 'null';
}

/** Positions in an object or list: its beginning, the commas between its items, and its end. */
interface Container {
  open: number;
  readonly commas: number[];
  close: number;
}

/** The outermost object, and its members that are lists. */
interface Outer extends Container {
  readonly lists: Container[];
}

/** Scans a text once: counts object members, and finds numbers whose literals JavaScript would change. */
class Scan {
  members = 0;
  /** Bounds of the literals that JavaScript would change, alternating between beginning and end. */
  readonly literals: number[] = [];
  #at = 0;
  #depth = 0;
  #list: Container | undefined;

  /** @param outer receives the outermost object, if there is one */
  constructor(
    readonly text: string,
    readonly outer?: Outer,
  ) {}

  /**
   * Scans up to a position, or to the end of a string or number that begins before it.
   * @throws Refusal
   */
  to(end: number): void {
    const { text, outer } = this;
    let i = this.#at;
    let depth = this.#depth;
    let members = this.members;
    for (; i < end; i += 1) {
      const c = text.charCodeAt(i);
      if (c === 0x22) {
        for (i += 1; i < text.length; i += 1) {
          const inside = text.charCodeAt(i);
          if (inside === 0x5c) i += 1;
          else if (inside === 0x22) break;
        }
      } else if (c === 0x3a) members += 1;
      else if (c === 0x2c) {
        if (depth === 1 && outer !== undefined && outer.open >= 0) outer.commas.push(i);
        else if (depth === 2) this.#list?.commas.push(i);
      } else if (c === 0x7b || c === 0x5b) {
        depth += 1;
        if (depth > MAX_DEPTH) throw tooDeep();
        if (outer !== undefined && depth <= 2) {
          if (depth === 1) {
            // A second value after the first is invalid.
            if (outer.close >= 0) throw badSyntax(text, i);
            if (c === 0x7b) outer.open = i;
          } else if (c === 0x5b && outer.open >= 0) {
            this.#list = { open: i, commas: [], close: i };
            outer.lists.push(this.#list);
          }
        }
      } else if (c === 0x7d || c === 0x5d) {
        if (depth === 2 && this.#list !== undefined) {
          if (c === 0x7d) throw badSyntax(text, i);
          this.#list.close = i;
          this.#list = undefined;
        }
        if (depth === 1 && outer !== undefined && outer.open >= 0) {
          if (c === 0x5d) throw badSyntax(text, i);
          outer.close = i;
        }
        depth -= 1;
      } else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
        const start = i;
        while (i + 1 < text.length && isNumberPart(text.charCodeAt(i + 1))) i += 1;
        // Shorter numbers, which almost all numbers are, can't have a long exponent.
        if (i - start >= 8) checkNumber(text, start, i + 1);
        const literal = text.slice(start, i + 1);
        if (survives(literal)) continue;
        if (!NUMBER.test(literal)) throw badSyntax(text, start);
        this.literals.push(start, i + 1);
        if (this.literals.length > 2 * MAX_LITERALS) throw tooManyLiterals();
      }
    }
    // The list is not closed.
    if (end === text.length && this.#list !== undefined) throw badSyntax(text, this.#list.open);
    this.#at = i;
    this.#depth = depth;
    this.members = members;
  }
}

/** Marks the text that replaces a literal during parsing; clients can't guess this mark. */
const MARK = `number ${randomBytes(12).toString('hex')} `;

/** Returns a part of the text in which literals are replaced by marked strings. */
function markedPart({ text, literals }: Scan, from: number, to: number): string {
  let at = firstAtOrAfter(literals, from);
  if (at >= literals.length || (literals[at] ?? to) >= to) return text.slice(from, to);
  const parts: string[] = [];
  let copied = from;
  for (; at < literals.length && (literals[at] ?? to) < to; at += 2) {
    const [start = to, end = to] = [literals[at], literals[at + 1]];
    parts.push(text.slice(copied, start), '"', MARK, text.slice(start, end), '"');
    copied = end;
  }
  return parts.join('') + text.slice(copied, to);
}

/** Returns the index of the first literal at or after a position; literals are sorted. */
function firstAtOrAfter(literals: readonly number[], place: number): number {
  let [low, high] = [0, literals.length / 2];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((literals[2 * middle] ?? place) < place) low = middle + 1;
    else high = middle;
  }
  return 2 * low;
}

/**
 * Parses a part of the text; literals stay marked.
 * @throws Refusal malformed
 */
function parsePart(scan: Scan, from: number, to: number, before = '', after = ''): Json {
  return parsed(scan.text, from, before + markedPart(scan, from, to) + after);
}

/** @param from where the part begins in the whole text, for locating a fault */
function parsed(text: string, from: number, part: string): Json {
  try {
    const value = JSON.parse(part) as Json;
    return typeof value === 'string' && value.startsWith(MARK) ? numberIn(value) : value;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw badSyntax(text, from);
  }
}

/** Replaces marked strings by numbers with their literals, and returns the number of object members. */
function settle(value: Json): number {
  if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index += 1) {
      const item = value[index];
      if (typeof item === 'object') count += item === null ? 0 : settle(item);
      else if (typeof item === 'string' && item.startsWith(MARK)) value[index] = numberIn(item);
    }
    return count;
  }
  for (const key of Object.keys(value)) {
    count += 1;
    const member = value[key];
    if (typeof member === 'object') count += member === null ? 0 : settle(member);
    else if (typeof member === 'string' && member.startsWith(MARK)) value[key] = numberIn(member);
  }
  return count;
}

function numberIn(marked: string): LosslessNumber {
  return new LosslessNumber(marked.slice(MARK.length));
}

function checkNumber(text: string, start: number, end: number): void {
  const length = end - start;
  if (length > MAX_NUMBER) {
    throw malformed(
      `the number at ${describePosition(text, start)} has ${length} characters; the limit is ${MAX_NUMBER}`,
    );
  }
  if (LONG_EXPONENT.test(text.slice(start, end))) {
    throw malformed(`the number at ${describePosition(text, start)} has an exponent of more than 6 digits`);
  }
}

function isNumberPart(c: number): boolean {
  return (c >= 0x30 && c <= 0x39) || c === 0x2e || c === 0x65 || c === 0x45 || c === 0x2b || c === 0x2d;
}

function survives(literal: string): boolean {
  return String(Number(literal)) === literal;
}

/** Finds the first duplicate key in a text that is valid JSON; used only to explain a refusal. */
function* firstDuplicate(text: string): Steps<string> {
  const open: Set<string>[] = [];
  let stepped = 0;
  for (let at = 0; at < text.length; at += 1) {
    const c = text.charCodeAt(at);
    if (c === 0x7b) open.push(new Set());
    else if (c === 0x7d) open.pop();
    else if (c === 0x22) {
      const from = at;
      for (at += 1; at < text.length && text.charCodeAt(at) !== 0x22; at += 1)
        if (text.charCodeAt(at) === 0x5c) at += 1;
      let next = at + 1;
      while (BLANKS.has(text.charCodeAt(next))) next += 1;
      if (text.charCodeAt(next) === 0x3a) {
        const key = JSON.parse(text.slice(from, at + 1)) as string;
        const keys = open.at(-1);
        if (keys?.has(key)) return cut(key, 60);
        keys?.add(key);
      }
    }
    if (at - stepped < STEP) continue;
    stepped = at;
    yield;
  }
  return '?';
}

const BLANKS = new Set([0x20, 0x09, 0x0a, 0x0d]);

function duplicate(key: string): Refusal {
  return malformed(`the key "${key}" occurs twice in one object`);
}

/** The maximum length of a text that is parsed again to locate a fault. */
const MAX_EXPLAINED = 500_000;

/**
 * Returns a refusal that states a fault's position, but doesn't quote the body.
 * @param from where the faulty part begins
 */
function badSyntax(text: string, from: number): Refusal {
  let at: number | undefined = text.length > MAX_EXPLAINED ? from : undefined;
  if (at === undefined) {
    try {
      parse(text);
    } catch (error) {
      const found = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
      if (found !== undefined) at = Number(found);
    }
  }
  const where =
    at === undefined ? '' : ` ${at === from && from > 0 ? 'after' : 'at'} ${describePosition(text, at)}`;
  return malformed(`the body is not JSON: syntax error${at === 0 && from === 0 ? '' : where}`);
}

function describePosition(text: string, at: number): string {
  let [line, from] = [1, 0];
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', from)) {
    line += 1;
    from = end + 1;
  }
  return `line ${line}, column ${at - from + 1}`;
}

function malformed(diagnostics: string): Refusal {
  return new Refusal('malformed', { code: 'structure', diagnostics });
}

/** Returns the refusal for JSON that is nested too deeply. */
export function tooDeep(): Refusal {
  return malformed(`the JSON is nested more than ${MAX_DEPTH} levels deep`);
}

function tooManyLiterals(): Refusal {
  const diagnostics = `the body has more than ${MAX_LITERALS} numbers whose digits JavaScript would change, for example 1.50; that is the limit`;
  return new Refusal('too_large', { code: 'too-costly', diagnostics });
}

/**
 * A parsed body. `exact` means that it may contain `LosslessNumber`s and must be printed by `printJson` with that flag.
 */
export interface StoredJson {
  readonly value: JsonObject;
  readonly exact: boolean;
}

/**
 * Matches a number that JavaScript would not print as it was written: a number with 16 characters or more, with a final zero
 * or an exponent, below 0.000001, or -0.
 */
const OTHER_LITERAL = /[:,[]-?(?:\d[\d.]{15}|\d+\.\d*0[,}\]]|[\d.]+[eE]|0\.0{6}|(?<=-)0[,}\]])/;

/**
 * Parses a stored body; decimals that JavaScript would print differently become `LosslessNumber`s.
 * @throws TypeError if the body isn't an object
 */
export function parseStored(body: string): JsonObject {
  return readStored(body).value;
}

/**
 * Like `parseStored`, but also returns whether such decimals may occur.
 * @throws TypeError if the body isn't an object
 */
export function readStored(body: string): StoredJson {
  const exact = OTHER_LITERAL.test(body);
  const value: unknown = exact ? parseJson(body).value : JSON.parse(body);
  if (!isObject(value)) throw new TypeError('a stored body is not an object');
  return { value, exact };
}
