/** Facts: the lines that a context may contain. */
import { cut } from '#src/shared/cut.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import type { Coded } from './guidance/scores.ts';
import type { Entry } from './record.ts';
import type { Kind } from './request.ts';

export interface Fact {
  readonly kind: Kind;
  /** The line, without its author. */
  readonly text: string;
  /** The resource that states it; the newest if there are several. */
  readonly entry: Entry;
  /** The other resources that it was made from. */
  readonly also: readonly Entry[];
  /** The codes for its subject. */
  readonly codes: readonly Coded[];
  /** Facts with a higher score come first. */
  readonly score: number;
  /** Its place in the section; facts without a place are ordered by score. */
  readonly place?: number;
  /** True if it applies now and is never left out: an active allergy or problem, a current medicine. */
  readonly isNeeded?: boolean;
  /** For an AI's note: the sections that the earlier versions by someone else were in. */
  readonly before?: readonly Kind[];
  /** The item's other members. */
  readonly members: JsonObject;
}

/** The maximum length of one part of a line, so that a long note leaves room for other parts. */
const LONGEST = 240;

/** Returns a text as part of one line, unshortened. */
export function onOneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

/** Returns a text as part of one line, shortened. */
export function inLine(text: string): string {
  const line = onOneLine(text);
  if (line.length <= LONGEST) return line;
  const { length } = [...line].slice(0, LONGEST - 1).join('');
  return `${cut(line, length)}…`;
}

/** Joins the defined parts without shortening them, so that nothing in a dose or a reaction is cut. */
export function wholeLine(separator: string, ...parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined && part !== '')
    .map((part) => onOneLine(String(part)))
    .join(separator);
}

/** Joins the defined parts, each shortened. */
export function line(separator: string, ...parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined && part !== '')
    .map((part) => inLine(String(part)))
    .join(separator);
}
