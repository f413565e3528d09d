/**
 * Defines the text by which tokens and references are sorted, and where a row stores it.
 * https://hl7.org/fhir/R4/search.html#sort
 */
import type { ResourceType } from '../types.ts';
import type { Path } from './expressions.ts';
import { compiledParameters, isSortedByText, namesRecord } from './paths.ts';
import { pieces, withoutIds } from './text.ts';
import { readCoded } from './values.ts';

/** Separates a code from its system; sorts before all characters that either may contain. */
const BETWEEN = '\u0001';

/**
 * Returns the text by which a token or a reference is sorted: for a token, its first code, then the system; for a reference,
 * its text, such as `Patient/5`. Long text is truncated, and ids are masked in a token's text. Undefined if the element has no
 * such text.
 */
export function sortText(type: 'token' | 'reference', element: unknown, path: Path): string | undefined {
  const text = type === 'token' ? tokenText(element, path) : referenceText(element);
  if (text === undefined) return undefined;
  return pieces(type === 'token' ? withoutIds(text) : text).beginning;
}

function tokenText(element: unknown, path: Path): string | undefined {
  // The system of a `code` element is implied.
  if (typeof element === 'string') return element;
  const first = readCoded(element, path).find(({ code }) => code !== undefined);
  if (first?.code === undefined) return undefined;
  return typeof element === 'boolean' || first.system === ''
    ? first.code
    : first.code + BETWEEN + first.system;
}

function referenceText(element: unknown): string | undefined {
  if (typeof element === 'string') return element;
  const { reference } = element as { readonly reference?: unknown };
  return typeof reference === 'string' && !reference.startsWith('#') ? reference : undefined;
}

/** The first and last text of a code's values, which are the sort keys in ascending and descending order. */
export interface Ends {
  first: string;
  last: string;
}

const slots = new Map<ResourceType, ReadonlyMap<string, number>>();

/**
 * Returns where a type's rows store each code's sort texts. For slot n, counted from 1, position 2n contains the text for
 * descending order, and position 2n - 1 the text for ascending order.
 */
export function sortSlots(type: ResourceType): ReadonlyMap<string, number> {
  const known = slots.get(type);
  if (known !== undefined) return known;
  const codes = compiledParameters(type)
    .filter((parameter) => parameter.stored[0] === parameter.code && isSortedByText(parameter))
    .filter((parameter) => !namesRecord(type, parameter))
    .map(({ code }) => code);
  const found = new Map(codes.map((code, at) => [code, at + 1]));
  slots.set(type, found);
  return found;
}

/**
 * Returns a resource's sort texts at the positions that `sortSlots` defines. A position is null if there is no text, or if the
 * last text is the same as the first. Trailing nulls are left out.
 */
export function sortRow(type: ResourceType, sorts: ReadonlyMap<string, Ends>): (string | null)[] {
  const row: (string | null)[] = [];
  const at = sortSlots(type);
  for (const [code, { first, last }] of sorts) {
    const slot = at.get(code);
    if (slot === undefined) continue;
    while (row.length < 2 * slot - 1) row.push(null);
    row[2 * slot - 2] = first;
    if (last === first) continue;
    while (row.length < 2 * slot) row.push(null);
    row[2 * slot - 1] = last;
  }
  return row;
}
