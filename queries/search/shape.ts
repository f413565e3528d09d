/**
 * Parameters that shape the response rather than select matches: `_count _total _summary _elements _sort _format` and the
 * cursor (https://hl7.org/fhir/R4/search.html#summary). `_summary` and `_elements` apply to reads as well.
 */
import { elementNamed, elementNames, type Subset } from '#src/fhir/summary.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { cut } from '#src/shared/cut.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { CURSOR } from '../cursor.ts';
import { badParameter, type RawParameter, refuseModifier } from './raw.ts';

/** Default number of entries per page (docs/spec/decisions.md, section 5). */
export const DEFAULT_COUNT = 50;
/** The maximum number of entries per page; a larger value is reduced to this. */
const MAX_COUNT = 200;

/** The order of the response. Ids are UUIDv7, so they sort by creation time. */
export interface Sort {
  readonly by: string;
  readonly descending: boolean;
}

/** The parameters that shape a result, such as `_sort` and `_count`. */
export interface Controls {
  readonly count: number;
  /** True if only the total is requested: `_summary=count` or `_count=0`. */
  readonly onlyTotal: boolean;
  readonly total: boolean;
  /** The first of `sorts`. */
  readonly sort: Sort;
  /** The sort keys; each orders the results that are equal by the keys before it. */
  readonly sorts: readonly Sort[];
  readonly cursor?: string;
}

/** The maximum number of keys in a `_sort`. */
const MAX_SORTS = 5;

/** Names that `parseControls` accepts; `_format` and `_pretty` are handled when the response is sent. */
const CONTROLS = new Set(['_count', '_total', '_summary', '_sort', '_format', '_pretty', CURSOR]);

/** Returns true if a parameter shapes the result. */
export function isControl(parameter: RawParameter): boolean {
  return CONTROLS.has(parameter.name);
}

/**
 * Controls that may have only one value. `parseShape` reads `_summary`; `_format` and `_pretty` are read when the response is
 * sent.
 */
const ONCE: ReadonlySet<string> = new Set(['_count', '_total', '_sort', CURSOR]);

/**
 * Refuses a control that has several values: only one of them could apply, but the `self` link would name all of them.
 * @throws Refusal `malformed` naming the control
 */
export function refuseRepeated(parameters: readonly RawParameter[]): void {
  const given = new Map<string, string>();
  for (const { name, text } of parameters) {
    if (!ONCE.has(name)) continue;
    if ((given.get(name) ?? text) !== text)
      throw badParameter(
        name,
        `it can be given once only${name === '_sort' ? '; separate several keys by commas' : ''}`,
      );
    given.set(name, text);
  }
}

const INCLUSIONS: ReadonlySet<string> = new Set(['_include', '_revinclude']);

/** Returns true if a query parameter (with its modifier) requests inclusions. */
export function isInclusion(key: string): boolean {
  return INCLUSIONS.has(key.split(':', 1)[0] ?? '');
}

/**
 * Parses the parameters that shape the result.
 * @param listed the listing's sort keys, beginning with the default; only one key at a time
 * @param sortable true if other keys are allowed too; the caller checks these
 * @throws Refusal `malformed` naming the parameter
 */
export function parseControls(
  parameters: readonly RawParameter[],
  listed: readonly Sort[],
  sortable = false,
): Controls {
  let count = DEFAULT_COUNT;
  let onlyTotal = false;
  let total = true;
  let sorts: readonly Sort[] = listed.slice(0, 1);
  let cursor: string | undefined;
  refuseRepeated(parameters);
  for (const parameter of parameters) {
    if (!isControl(parameter)) continue;
    refuseModifier(parameter);
    const { name, text } = parameter;
    if (name === '_count') {
      count = parseCount(text);
      onlyTotal ||= count === 0;
    } else if (name === '_total') {
      total = parseOneOf(name, text, ['accurate', 'estimate', 'none']) !== 'none';
    } else if (name === '_summary') {
      onlyTotal ||= parseOneOf(name, text, ['false', 'count']) === 'count';
    } else if (name === '_sort') {
      sorts = sortable ? parseSorts(parameter) : [parseSort(text, listed)];
    } else if (name === CURSOR) {
      cursor = text;
    }
  }
  const sort = sorts[0] ?? { by: '_id', descending: false };
  return { count, onlyTotal, total, sort, sorts, ...(cursor === undefined ? {} : { cursor }) };
}

/**
 * Parses `_count`, an integer of at least 0; values greater than `MAX_COUNT` are reduced to `MAX_COUNT`.
 * @throws Refusal `malformed`
 */
export function parseCount(text: string): number {
  if (!/^\d+$/.test(text)) throw badParameter('_count', 'the value must be a whole number from 0');
  return Math.min(Number(text), MAX_COUNT);
}

function parseOneOf(name: string, text: string, values: readonly string[]): string {
  if (values.includes(text)) return text;
  throw badParameter(name, `the value must be one of ${values.join(', ')}`);
}

/** `a,-b`: https://hl7.org/fhir/R4/search.html#sort */
function parseSorts({ values }: RawParameter): Sort[] {
  if (values.length > MAX_SORTS)
    throw badParameter('_sort', `a search can have at most ${MAX_SORTS} sort keys`);
  const sorts = values.map(parseSortKey);
  if (new Set(sorts.map(({ by }) => by)).size < sorts.length) {
    throw badParameter('_sort', 'each parameter can be named only once');
  }
  return sorts;
}

function parseSortKey(text: string): Sort {
  const descending = text.startsWith('-');
  return { by: descending ? text.slice(1) : text, descending };
}

function parseSort(text: string, sorts: readonly Sort[]): Sort {
  const { by, descending } = parseSortKey(text);
  const found = sorts.find((sort) => sort.by === by && sort.descending === descending);
  if (found !== undefined) return found;
  const names = sorts.map((sort) => (sort.descending ? '-' : '') + sort.by);
  throw badParameter('_sort', `the value must be one of ${names.join(', ')}`);
}

const FORMS = ['true', 'text', 'data', 'count', 'false'] as const;

/** The parts of resources that a request selects; `onlyTotal` is true for `_summary=count`. */
export interface Shape {
  /** Undefined if everything is selected. */
  readonly subset: Subset | undefined;
  readonly onlyTotal: boolean;
}

/**
 * Parses `_summary` and `_elements`.
 * @param types the resource types in the result; an element must exist in at least one of them
 * @throws Refusal malformed (400) for an invalid value, an unknown element, and for using both parameters
 */
export function parseShape(query: URLSearchParams, types: readonly ResourceType[]): Shape {
  for (const key of query.keys()) {
    if (/^(?:_summary|_elements):/.test(key)) throw badParameter(key, 'it takes no modifier');
  }
  const forms = new Set(query.getAll('_summary').filter((text) => text !== ''));
  const [form, ...others] = forms;
  if (others.length > 0 || (form !== undefined && !FORMS.some((each) => each === form)))
    throw badParameter('_summary', `the value must be one of ${FORMS.join(', ')}`);
  const elements = parseElements(query, types);
  const summary = form === 'true' || form === 'text' || form === 'data' ? form : undefined;
  if (summary !== undefined && elements !== undefined)
    throw badParameter('_elements', 'it cannot be used together with _summary');
  return { subset: summary ?? elements, onlyTotal: form === 'count' };
}

function parseElements(
  query: URLSearchParams,
  types: readonly ResourceType[],
): ReadonlySet<string> | undefined {
  const names = query
    .getAll('_elements')
    .flatMap((text) => text.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) return undefined;
  return new Set(names.flatMap((name) => findElements(name, types)));
}

/** Finds elements by name: `name`, or with the type, `Patient.name`. */
function findElements(name: string, types: readonly ResourceType[]): string[] {
  const known = types.flatMap((type) => {
    const own = name.startsWith(`${type}.`) ? name.slice(type.length + 1) : name;
    return elementNamed(type, own) ?? [];
  });
  if (known.length > 0) return known;
  throw badParameter(
    '_elements',
    `${cut(name, 64)} is not a top-level element of ${types.length === 1 ? types[0] : 'these types'}${didYouMean(name.split('.').at(-1) ?? '', types.flatMap(elementNames))}`,
  );
}
