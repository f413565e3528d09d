/** Parameters that shape the answer instead of the matches: `_count _total _summary _sort _format` and the cursor. */
import { CURSOR } from '../cursor.ts';
import { badParameter, type RawParameter, refuseModifier } from './raw.ts';

/** Entries a page when nobody says (decisions.md, section 5). */
export const DEFAULT_COUNT = 50;
/** Most entries a page; more is answered with this many. */
export const MAX_COUNT = 200;

/** The order of the answer. Ids are UUIDv7: their order is that of creation. */
export interface Sort {
  readonly by: string;
  readonly descending: boolean;
}

/** How an answer is shaped. */
export interface Controls {
  readonly count: number;
  /** Only the total: `_summary=count` or `_count=0`. */
  readonly onlyTotal: boolean;
  readonly total: boolean;
  readonly sort: Sort;
  readonly cursor?: string;
}

/** Names that `parseControls` takes; `_pretty` is accepted without effect. */
const CONTROLS = new Set(['_count', '_total', '_summary', '_sort', '_format', '_pretty', CURSOR]);

/** Whether a parameter shapes the answer. */
export function isControl(parameter: RawParameter): boolean {
  return CONTROLS.has(parameter.name);
}

/**
 * Reads the controls.
 * @param sorts what the listing can be sorted by, its default first.
 * @throws Refusal `malformed` naming the parameter.
 */
export function parseControls(parameters: readonly RawParameter[], sorts: readonly Sort[]): Controls {
  let count = DEFAULT_COUNT;
  let onlyTotal = false;
  let total = true;
  let sort = sorts[0] ?? { by: '_id', descending: false };
  let cursor: string | undefined;
  for (const parameter of parameters) {
    if (!isControl(parameter)) continue;
    refuseModifier(parameter);
    const { name, text } = parameter;
    if (name === '_count') {
      count = parseCount(text);
      onlyTotal ||= count === 0;
    } else if (name === '_total') {
      total = oneOf(name, text, ['accurate', 'estimate', 'none']) !== 'none';
    } else if (name === '_summary') {
      onlyTotal ||= oneOf(name, text, ['false', 'count']) === 'count';
    } else if (name === '_sort') {
      sort = parseSort(text, sorts);
    } else if (name === CURSOR) {
      cursor = text;
    }
  }
  return { count, onlyTotal, total, sort, ...(cursor === undefined ? {} : { cursor }) };
}

/** `_count`: a whole number from 0; more than `MAX_COUNT` is answered with that many. @throws Refusal `malformed` */
export function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw badParameter('_count', 'the value must be a whole number from 0');
  return Math.min(Number(text), MAX_COUNT);
}

function oneOf(name: string, text: string, values: readonly string[]): string {
  if (values.includes(text)) return text;
  throw badParameter(name, `the value must be one of ${values.join(', ')}`);
}

function parseSort(text: string, sorts: readonly Sort[]): Sort {
  const descending = text.startsWith('-');
  const by = descending ? text.slice(1) : text;
  const found = sorts.find((sort) => sort.by === by && sort.descending === descending);
  if (found !== undefined) return found;
  const names = sorts.map((sort) => (sort.descending ? '-' : '') + sort.by);
  throw badParameter('_sort', `the value must be one of ${names.join(', ')}`);
}
