/**
 * JSON as FHIR needs it: decimals keep their literal text, duplicate keys and excessive nesting are refused
 * (decisions.md, section 2; R4 json.html#primitive for decimals).
 */
import { isLosslessNumber, LosslessNumber, parse, stringify } from 'lossless-json';
import { Refusal } from './refusal.ts';

/** A JSON value. Numbers whose text JavaScript would change (`1.50`, 20 digits) are `LosslessNumber`s. */
export type Json = null | boolean | number | string | LosslessNumber | Json[] | JsonObject;
/** A JSON object. */
export type JsonObject = { [key: string]: Json };

/** A parsed body. `exact` says that it holds `LosslessNumber`s and must go through `printJson` with that flag. */
export interface ParsedJson {
  readonly value: Json;
  readonly exact: boolean;
}

/** Deepest nesting that is read. */
export const MAX_DEPTH = 100;
/** Longest literal of a number that is read, in characters: exact arithmetic on more takes too long. */
const MAX_NUMBER = 1_000;
/** An exponent of more than 6 digits. */
const LONG_EXPONENT = /[eE][+-]?\d{7}/;

/**
 * Parses a JSON text.
 * @throws Refusal `malformed` naming the fault: bad syntax, a duplicate key, nesting over `MAX_DEPTH`, or a number with
 * more than 1,000 characters or an exponent of more than 6 digits.
 */
export function parseJson(text: string): ParsedJson {
  const { members, exact } = scan(text);
  let value: Json;
  try {
    value = (
      exact
        ? parse(text, undefined, { parseNumber: literalOrNumber, onDuplicateKey: ({ newValue }) => newValue })
        : JSON.parse(text)
    ) as Json;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw malformed(`the body is not JSON: ${explain(text)}`);
  }
  if (countMembers(value) !== members) {
    throw malformed(`the key "${firstDuplicate(text)}" occurs twice in one object`);
  }
  return { value, exact };
}

/** The text of a value: compact, numbers as they came. */
export function printJson(value: Json | undefined, exact = true): string {
  return (exact ? stringify(value) : JSON.stringify(value)) ?? 'null';
}

/** Whether a value is a number, plain or with its literal kept. */
export function isNumber(value: unknown): value is number | LosslessNumber {
  return typeof value === 'number' || isLosslessNumber(value);
}

/** Whether a value is a JSON object (no array, no null, no number). */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !isLosslessNumber(value);
}

/** One pass over the text: how many object members it has, and whether a number's literal would change. */
function scan(text: string): { members: number; exact: boolean } {
  let depth = 0;
  let members = 0;
  let exact = false;
  for (let i = 0; i < text.length; i += 1) {
    const c = text.charCodeAt(i);
    if (c === 0x22) {
      for (i += 1; i < text.length; i += 1) {
        const inside = text.charCodeAt(i);
        if (inside === 0x5c) i += 1;
        else if (inside === 0x22) break;
      }
    } else if (c === 0x3a) members += 1;
    else if (c === 0x7b || c === 0x5b) {
      depth += 1;
      if (depth > MAX_DEPTH) throw malformed(`the JSON is nested more than ${MAX_DEPTH} levels deep`);
    } else if (c === 0x7d || c === 0x5d) depth -= 1;
    else if (c === 0x2d || (c >= 0x30 && c <= 0x39)) {
      const start = i;
      while (i + 1 < text.length && isNumberPart(text.charCodeAt(i + 1))) i += 1;
      // What is shorter has no room for a long exponent, and is nearly every number.
      if (i - start >= 8) checkNumber(text, start, i + 1);
      if (!exact) exact = !survives(text.slice(start, i + 1));
    }
  }
  return { members, exact };
}

function checkNumber(text: string, start: number, end: number): void {
  const length = end - start;
  if (length > MAX_NUMBER) {
    throw malformed(
      `the number at ${placeOf(text, start)} has ${length} characters, more than ${MAX_NUMBER} are not read`,
    );
  }
  if (LONG_EXPONENT.test(text.slice(start, end))) {
    throw malformed(`the number at ${placeOf(text, start)} has an exponent of more than 6 digits`);
  }
}

function isNumberPart(c: number): boolean {
  return (c >= 0x30 && c <= 0x39) || c === 0x2e || c === 0x65 || c === 0x45 || c === 0x2b || c === 0x2d;
}

function survives(literal: string): boolean {
  return String(Number(literal)) === literal;
}

function literalOrNumber(literal: string): number | LosslessNumber {
  return survives(literal) ? Number(literal) : new LosslessNumber(literal);
}

function countMembers(value: Json): number {
  if (typeof value !== 'object' || value === null || isLosslessNumber(value)) return 0;
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === 'object') count += countMembers(item);
    return count;
  }
  for (const key of Object.keys(value)) {
    count += 1;
    const member = value[key];
    if (typeof member === 'object' && member !== null) count += countMembers(member);
  }
  return count;
}

/** Only on the way to a refusal: which key it was. The text is known to be valid JSON. */
function firstDuplicate(text: string): string {
  const open: Set<string>[] = [];
  for (const [token, colon] of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      const key = JSON.parse(token.slice(0, -colon.length)) as string;
      const keys = open.at(-1);
      if (keys?.has(key)) return key.slice(0, 60);
      keys?.add(key);
    }
  }
  return '?';
}

/** A parser's sentence about the place of a fault, without quoting the body. */
function explain(text: string): string {
  try {
    parse(text);
  } catch (error) {
    const at = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    if (at !== undefined) return `syntax error at ${placeOf(text, Number(at))}`;
  }
  return 'syntax error';
}

function placeOf(text: string, at: number): string {
  const before = text.slice(0, at);
  return `line ${before.split('\n').length}, column ${before.length - before.lastIndexOf('\n')}`;
}

function malformed(diagnostics: string): Refusal {
  return new Refusal('malformed', { code: 'structure', diagnostics });
}
