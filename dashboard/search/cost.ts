/**
 * Explains what each part of a search costs, judging only by the kind of part: it follows the service's own rules in
 * docs/search.md without looking at data.
 */
import type { Parameter, SearchType } from './parameters.ts';
import { joinKey, type Part, type Query, splitPrefix, withoutEmpty } from './query.ts';

/** The reason why a part is fast or slow; `search.cost.{kind}` is its text. */
export type CostKind =
  | 'record'
  | 'ids'
  | 'within'
  | 'exact'
  | 'beginning'
  | 'range'
  | 'allValues'
  | 'check'
  | 'chain'
  | 'unknown'
  | 'include'
  | 'ordered'
  | 'orderedByFirst'
  | 'sortsAll'
  | 'sortsFew'
  | 'total'
  | 'asOf';

/** Where the whole search gets its data from; `search.cost.{lead}` is the text for it. */
export type Lead = 'named' | 'sources' | 'order' | 'everything';

export interface Cost {
  readonly lead: Lead;
  /** The parts that cost something, as written in the search. */
  readonly parts: readonly { readonly text: string; readonly kind: CostKind }[];
}

const ABSENT: ReadonlySet<string> = new Set(['missing', 'not', 'not-in']);
/** Provenance parameters for which there is an index; all others are checked row by row. */
const PROVENANCE: ReadonlySet<string> = new Set(['_id', 'target', 'patient', 'agent']);
const SHAPE: ReadonlySet<string> = new Set([
  '_count',
  '_total',
  '_summary',
  '_elements',
  '_format',
  '_pretty',
]);
/** From this number of records on, records are no longer read as a whole. */
const MANY_RECORDS = 32;
/** Kinds of conditions that can be used to find matches. */
const LEADS: ReadonlySet<CostKind> = new Set(['exact', 'beginning', 'range', 'allValues', 'chain']);

/** Kinds of sorting. */
const SORTS: ReadonlySet<CostKind> = new Set(['ordered', 'orderedByFirst', 'sortsAll']);

/** Returns the cost of a search. */
export function explainCost(query: Query, type: SearchType): Cost {
  const { parts } = withoutEmpty(query);
  const kinds = parts.map((part) => ({ part, kind: classifyPart(part, type) }));
  const has = (...wanted: CostKind[]): boolean => kinds.some(({ kind }) => kind && wanted.includes(kind));
  const isNamed = has('record', 'ids');
  const leads = kinds.some(({ kind }) => kind !== undefined && LEADS.has(kind));
  const lead = isNamed ? 'named' : leads ? 'sources' : has('check') ? 'order' : 'everything';
  const found = kinds.flatMap(({ part, kind }) =>
    kind === undefined
      ? []
      : [
          {
            text: `${joinKey(part)}=${part.value}`,
            kind: isNamed && LEADS.has(kind) && kind !== 'chain' ? 'within' : adaptSort(kind, isNamed),
          },
        ],
  );
  const counts = !parts.some(({ name, value }) => name === '_total' && value === 'none');
  return { lead, parts: counts ? [...found, { text: '_total=accurate', kind: 'total' }] : found };
}

/** If there are few matches, they are sorted quickly, whatever the order. */
function adaptSort(kind: CostKind, isNamed: boolean): CostKind {
  return isNamed && SORTS.has(kind) ? 'sortsFew' : kind;
}

/** Returns a part's kind of cost; undefined for parts that cost nothing. */
function classifyPart({ name, modifier, value }: Part, type: SearchType): CostKind | undefined {
  if (SHAPE.has(name)) return undefined;
  if (name === '_include' || name === '_revinclude') return 'include';
  if (name === '_asOf') return 'asOf';
  const find = (wanted: string) => type.parameters.find((each) => each.name === wanted);
  if (name === '_sort') {
    const [first = '', ...others] = value.split(',').map((key) => key.replace(/^-/, ''));
    if (first === '_id') return 'ordered';
    if (['token', 'reference'].includes(find(first)?.type ?? '')) return 'sortsAll';
    return others.length === 0 ? 'ordered' : 'orderedByFirst';
  }
  if (name === '_has' || name.includes('.') || modifier.includes('.')) return 'chain';
  const parameter = find(name);
  if (parameter === undefined) return 'unknown';
  if (ABSENT.has(modifier)) return 'check';
  if (type.name === 'Provenance' && (!PROVENANCE.has(name) || modifier === 'identifier')) return 'check';
  if (name === '_id') return 'ids';
  const isRecord = name === 'patient' || name === 'subject';
  if (type.isInRecord && isRecord && (modifier === '' || modifier === 'Patient'))
    return value.split(',').length < MANY_RECORDS ? 'record' : 'exact';
  return kindOfValues(parameter, modifier, value);
}

function kindOfValues({ type, name, hasPrefix }: Parameter, modifier: string, value: string): CostKind {
  if (modifier === 'contains' || (hasPrefix && splitPrefix(value)[0] === 'ne')) return 'allValues';
  if (hasPrefix || name === 'near') return 'range';
  if (type === 'reference' && (modifier === 'above' || modifier === 'below')) return 'chain';
  if (modifier === 'text' || (type === 'uri' && modifier === 'below')) return 'beginning';
  return type === 'string' && modifier === '' && name !== 'phonetic' ? 'beginning' : 'exact';
}
