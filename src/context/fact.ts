/** What a context may tell: one line each. */
import type { JsonObject } from '#src/shared/json.ts';
import type { Entry } from './record.ts';
import type { Kind } from './request.ts';
import type { Coded } from './scores.ts';

/** A fact. */
export interface Fact {
  readonly kind: Kind;
  /** One line, without who wrote it. */
  readonly text: string;
  /** The resource that says it, or the newest of several. */
  readonly entry: Entry;
  /** Others that it was made from. */
  readonly also: readonly Entry[];
  /** What it is about. */
  readonly codes: readonly Coded[];
  /** The higher, the sooner it is told. */
  readonly score: number;
  /** Further members of the item. */
  readonly members: JsonObject;
}

/** Most characters of one part of a line: no note crowds out the rest. */
const LONGEST = 240;

/** A text as a part of a line. */
export function inLine(text: string): string {
  const line = text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
  return line.length > LONGEST ? `${[...line].slice(0, LONGEST - 1).join('')}…` : line;
}

/** Parts of a line that are there. */
export function line(separator: string, ...parts: readonly (string | undefined)[]): string {
  return parts
    .filter((part) => part !== undefined && part !== '')
    .map((part) => inLine(String(part)))
    .join(separator);
}
