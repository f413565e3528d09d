/** Defines facts: the lines that a context may contain. */
import { cut } from '#src/shared/cut.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import type { Coded } from './guidance/scores.ts';
import type { Entry } from './record.ts';
import type { Kind } from './request.ts';

export interface Fact {
  readonly kind: Kind;
  /** The line, without its author. */
  readonly text: string;
  /** The resource that states the fact; if there are several, the newest. */
  readonly entry: Entry;
  /** The other resources from which the fact was made. */
  readonly also: readonly Entry[];
  /** The codes for the fact's subject. */
  readonly codes: readonly Coded[];
  /** Facts with a higher score come first. */
  readonly score: number;
  /** The fact's place in the section; facts without a place are ordered by score. */
  readonly place?: number;
  /** True if the fact applies now and is never left out: an active allergy or problem, a current medicine. */
  readonly isNeeded?: boolean;
  /** For an AI's note: the sections to which the earlier versions, written by someone else, belonged. */
  readonly before?: readonly Kind[];
  /** The item's other members. */
  readonly members: JsonObject;
}

/** The maximum length of one part of a line, so that a long note leaves room for other parts. */
const LONGEST = 240;

/** Returns a text on one line, without shortening it. */
export function onOneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

/** Returns a text on one line, shortened if necessary. */
export function inLine(text: string): string {
  const line = onOneLine(text);
  if (line.length <= LONGEST) return line;
  const { length } = [...line].slice(0, LONGEST - 1).join('');
  return `${cut(line, length)}…`;
}

/** Joins the parts that are defined without shortening them, so that no part of a dose or a reaction is cut off. */
export function wholeLine(separator: string, ...parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined && part !== '')
    .map((part) => onOneLine(String(part)))
    .join(separator);
}

/** Joins the parts that are defined, and shortens each. */
export function line(separator: string, ...parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined && part !== '')
    .map((part) => inLine(String(part)))
    .join(separator);
}
