/** The resources that a search selects, and the sources from which they can be found. */
import { recordKey, searchKey } from '#src/fhir/search/keys.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Binds } from '../database/binds.ts';
import {
  combineChecks,
  combinePredicates,
  entriesWith,
  hasKeys,
  idsWith,
  impliedBy,
  isLookedUpByKey,
  keySets,
  ofTenant,
  writeCheck,
} from './predicates/conditions.ts';
import type { Predicate, Values } from './predicates/predicate.ts';

/** A search's conditions. */
export interface Selection {
  readonly type: ResourceType;
  readonly tenant: string;
  /** For the Patient compartment: the record that contains all matches. */
  readonly record?: string;
  readonly predicates: readonly Predicate[];
  /** True if the search's total may come from a tally (`tallies.ts`). */
  readonly tallied?: true;
}

/** A set of rows in the read model `search` that contains all matches and can be found by an index. */
export type Source =
  | { readonly kind: 'keys'; readonly sets: readonly (readonly string[])[] }
  | { readonly kind: 'values'; readonly values: Values; readonly of: Predicate }
  | { readonly kind: 'rows'; readonly rows: (binds: Binds) => string; readonly of: Predicate };

/**
 * Returns a selection's sources, starting with the ones that are probably small. All rows of a source belong to the tenant and
 * the type and aren't deleted, because the parameters' keys imply this. A selection without such a key has no sources.
 */
export function listSources(selection: Selection): readonly Source[] {
  const { predicates, record } = selection;
  const records = namedRecords(selection);
  const sets = keySets(predicates, records);
  const keyedInRecord = sets.some((set) => !predicates.some(({ keys }) => keys === set));
  const others = predicates.flatMap((of): Source[] => {
    const { rows } = of;
    if (rows !== undefined) return [{ kind: 'rows', rows: (binds) => rows(binds, sets), of }];
    return of.values === undefined ? [] : [{ kind: 'values', values: of.values, of }];
  });
  others.push(...recordedIn(selection));
  // A record's key covers all types, so a parameter with keys or values has to determine the type.
  if (sets.length === 0 && (records === undefined || others.every(({ kind }) => kind === 'rows')))
    return others;
  const implied = keyedInRecord ? [] : impliedBy(predicates);
  if (record !== undefined && !keyedInRecord) implied.push([searchKey(recordKey(record))]);
  return [{ kind: 'keys', sets: [...sets, ...implied] }, ...others];
}

/** Returns a source for all conditions on the recording time together; index resources.resource_of_tenant. */
function recordedIn(selection: Selection): readonly Source[] {
  const [of, ...others] = selection.predicates.filter(({ recorded }) => recorded);
  if (of === undefined) return [];
  const rows = (binds: Binds) => `select r.id, r.record from resources.resource r
    where ${[ownedBy(selection, false, binds), ...[of, ...others].map((each) => `(${each(binds)})`)].join(' and ')}`;
  return [{ kind: 'rows', rows, of }];
}

/** Returns true if the selection names ids, identifiers or records, so that few resources are read. */
export function isNarrow({
  predicates,
  record,
}: Pick<Selection, 'predicates'> & { readonly record?: string | undefined }): boolean {
  return record !== undefined || predicates.some(({ keyed, keys }) => keyed === true && keys === undefined);
}

/** Returns the records that contain all matches; undefined if matches may be in any record. */
function namedRecords({ record, predicates }: Selection): readonly string[] | undefined {
  if (record !== undefined) return [record];
  return predicates.find(({ inRecords }) => inRecords !== undefined)?.inRecords;
}

/** Returns true if a predicate names exactly the given record. */
export function isInRecord({ inRecords }: Predicate, record: string | undefined): boolean {
  return inRecords?.length === 1 && inRecords[0] === record;
}

/** Returns the record that contains all matches, if nothing else narrows the search. */
export function onlyRecord(selection: Selection): string | undefined {
  const { predicates } = selection;
  const [record, ...more] = namedRecords(selection) ?? [];
  if (record === undefined || more.length > 0) return undefined;
  const others = predicates.filter((predicate) => !isInRecord(predicate, record));
  return isNarrow({ ...selection, record: undefined, predicates: others }) ? undefined : record;
}

/** Returns a query for a source's rows with the column `id` and, for a source of keys, the column `record`. */
export function selectRows(source: Source, binds: Binds): string {
  if (source.kind === 'keys') return entriesWith(source.sets, binds);
  if (source.kind === 'rows') return `select k.id from (${source.rows(binds)}) k`;
  return idsWith(source.values, binds);
}

/**
 * Returns a query for the matches among a source's rows, with the columns `id` and `last_updated`; `last_updated` is null
 * unless it is needed.
 * @param rows the rows, in the form used after `from`
 */
export function matchesAmong(
  rows: string,
  source: Source,
  selection: Selection,
  lastUpdated: boolean,
  binds: Binds,
): string {
  const conditions = entryConditions(selection, source, binds);
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;
  // A resource may have several of the values, and would then be returned several times.
  const entries =
    source.kind === 'keys'
      ? `select ${isLookedUpByKey(source.sets) ? 'distinct' : ''} r.id from ${rows} r ${where}`
      : conditions.length === 0
        ? `select distinct r.id from ${rows} r`
        : `select r.id from (select distinct v.id from ${rows} v) d
           cross join lateral (select e.id, e.record, e.keys from search.entry e where e.id = d.id offset 0) r ${where}`;
  const others = selection.predicates.filter(
    (each) => each.ofEntry !== true && (source.kind === 'keys' || each !== source.of),
  );
  if (!lastUpdated && others.length === 0)
    return `select e.id, null::int8 as last_updated from (${entries}) e`;
  return `select e.id, x.last_updated from (${entries}) e cross join lateral (
    select r.last_updated from resources.resource r
    where r.id = e.id and ${ownedBy(selection, true, binds)} and ${combineChecks(others, binds)} offset 0) x`;
}

/** Returns the conditions on an entry `r`, except the conditions that all rows of a source meet. */
export function entryConditions(
  { predicates, record }: Selection,
  source: Source | undefined,
  binds: Binds,
): string[] {
  const left = predicates.filter(
    (each) => each.ofEntry === true && (source === undefined || source.kind === 'keys' || each !== source.of),
  );
  // If entries were found by keys, only their ids and records are available.
  const hasOwn = source?.kind !== 'keys';
  const conditions = left
    .filter(({ keys }) => keys === undefined)
    .map((predicate) =>
      hasOwn && predicate.without !== undefined
        ? `not r.keys && ${binds.add(predicate.without, 'int8[]')}`
        : `(${writeCheck(predicate, binds)})`,
    );
  const sets = hasOwn ? keySets(left) : [];
  if (sets.length > 0) conditions.push(hasKeys('r', sets, binds));
  if (record !== undefined && !(source?.kind === 'rows' && isInRecord(source.of, record)))
    conditions.push(`r.record = ${binds.add(record, 'uuid')}`);
  return conditions;
}

/** Returns a query for the matches without using a source, with the columns `id` and `last_updated`. */
export function selectMatches(selection: Selection, binds: Binds): string {
  return `select r.id, r.last_updated from resources.resource r where ${matchCondition(selection, binds)}`;
}

/** Returns the condition that resources `r` match, including the predicates that name rows. */
export function matchCondition(selection: Selection, binds: Binds): string {
  const keyed = selection.record !== undefined || selection.predicates.some((each) => each.keyed === true);
  return `${ownedBy(selection, keyed, binds)} and ${combinePredicates(selection.predicates, binds)}`;
}

/**
 * Returns the condition that a resource `r` belongs to the tenant, the type and the record and isn't deleted.
 */
export function ownedBy({ type, tenant, record }: Selection, keyed: boolean, binds: Binds): string {
  const owner = `${ofTenant(tenant, keyed, binds)} and r.type = ${binds.add(type, 'text')} and not r.deleted`;
  return record === undefined ? owner : `${owner} and r.record = ${binds.add(record, 'uuid')}`;
}
