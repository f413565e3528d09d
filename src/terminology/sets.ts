/**
 * Compiles value sets to SQL. Each definition becomes one statement over concepts, regardless of what it includes and
 * excludes. https://hl7.org/fhir/R4/valueset.html#compositions
 */

import type { Pool } from 'pg';
import { cut } from '#src/shared/cut.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Bound } from './binds.ts';
import { filterSql, type Walk } from './filters.ts';
import { findSystem, type KnownSystem, requireSystem, requireValueSet } from './known.ts';
import type { Contained, Part, ValueSet } from './resources.ts';

/** Maximum depth to which value sets may be nested. */
const DEEPEST = 20;
/**
 * Maximum number of parts in a value set, including filters and the value sets that it names, because each part makes the
 * statement longer.
 */
const MOST_PARTS = 500;

/** A member's columns. `part` and `place` define the order of members. */
const COLUMNS = 'system, version, code, display, selectable, active, part, place';

/** The context in which a set is compiled. */
export interface Compiling {
  readonly pool: Pool;
  readonly bound: Bound;
  readonly walk: Walk;
}

/**
 * Returns a select for a value set's members; a code that several parts include occurs several times.
 * @throws Refusal not_found (404) for a value set or code system that isn't installed; invalid (422) for an invalid definition
 */
export async function membersSql(
  set: ValueSet,
  compiling: Compiling,
  within: readonly string[] = [],
): Promise<string> {
  if (within.includes(set.url) || within.length > DEEPEST)
    throw invalid(`value set ${set.url} includes itself`);
  const deeper = set.url === undefined ? within : [...within, set.url];
  if (set.compose === undefined) {
    if (set.expansion !== undefined) return listed(flat(set.expansion.contains ?? []), compiling, 0);
    throw invalid(`value set ${set.url} must have compose or expansion`);
  }
  const { include, exclude = [], inactive } = set.compose;
  const parts = [...include, ...exclude].reduce(
    (sum, { valueSet = [], filter = [] }) => sum + 1 + valueSet.length + filter.length,
    0,
  );
  if (parts > MOST_PARTS)
    throw invalid(
      `a value set can have at most ${MOST_PARTS} parts, counting each filter; this one has ${parts}`,
    );
  const included = await Promise.all(include.map((part, at) => partSql(part, compiling, at, deeper)));
  const excluded = await Promise.all(exclude.map((part, at) => partSql(part, compiling, at, deeper)));
  const conditions = excluded.map(
    (sql) => `not exists (select from (${sql}) x where x.system = m.system and x.code = m.code)`,
  );
  if (inactive === false) conditions.push('m.active');
  const all = included.length === 0 ? none() : included.map((sql) => `(${sql})`).join(' union all ');
  return conditions.length === 0
    ? all
    : `select ${COLUMNS} from (${all}) m where ${conditions.join(' and ')}`;
}

async function partSql(
  part: Part,
  compiling: Compiling,
  at: number,
  within: readonly string[],
): Promise<string> {
  const { system, concept, filter, valueSet = [] } = part;
  const sets = await Promise.all(
    valueSet.map(async (url) => membersSql(await requireValueSet(compiling.pool, url), compiling, within)),
  );
  if (system === undefined) {
    const [first, ...others] = sets;
    if (first === undefined) throw invalid('an include of a value set must have a system or a valueSet');
    return inAll(`select ${COLUMNS.replace('part', `${at} as part`)} from (${first}) f`, others);
  }
  if (concept !== undefined) {
    if (filter !== undefined) throw invalid('an include of a value set cannot have both concept and filter');
    return inAll(
      await listed(
        concept.map((each) => ({
          ...each,
          system,
          ...(part.version !== undefined && { version: part.version }),
        })),
        compiling,
        at,
      ),
      sets,
    );
  }
  const { pool, bound, walk } = compiling;
  const { id, url, version } = await requireSystem(pool, system, part.version);
  const number = bound.add(id, 'int4');
  const conditions = (filter ?? []).map((each) => `(${filterSql(each, number, walk, bound)})`);
  const all = `select ${bound.add(url, 'text')} as system, ${bound.add(version, 'text')} as version, c.code, c.display,
      c.selectable, c.active, ${at} as part, c.place
    from terminology.concept c where ${[`c.system = ${number}`, ...conditions].join(' and ')}`;
  return inAll(all, sets);
}

/** Returns SQL for the members that are in all of the given sets. */
function inAll(sql: string, sets: readonly string[]): string {
  if (sets.length === 0) return sql;
  const conditions = sets.map(
    (set) => `exists (select from (${set}) v where v.system = m.system and v.code = m.code)`,
  );
  return `select ${COLUMNS} from (${sql}) m where ${conditions.join(' and ')}`;
}

/** A code that a definition or expansion names. */
interface Listed {
  readonly system: string;
  readonly version?: string;
  readonly code: string;
  readonly display?: string;
}

/**
 * Returns SQL for codes that are listed one by one. Their code system needn't be installed. If it is installed completely, in
 * the version (if any) that the codes name, only codes that it contains are members
 * (https://hl7.org/fhir/R4/valueset.html#compositions).
 */
async function listed(concepts: readonly Listed[], { pool, bound }: Compiling, at: number): Promise<string> {
  const systems = new Map<string, KnownSystem | undefined>();
  for (const url of new Set(concepts.map(({ system }) => system)))
    systems.set(url, await findSystem(pool, url));
  const rows = concepts.map(({ system, version, code, display }, place) => {
    const known = systems.get(system);
    return {
      url: system,
      id: known?.id ?? null,
      whole: known?.content === 'complete' && (version === undefined || version === known.version),
      code,
      display: display ?? null,
      place,
    };
  });
  return `select x.url as system, null::text as version, x.code, coalesce(x.display, c.display) as display,
      coalesce(c.selectable, true) as selectable, coalesce(c.active, true) as active, ${at} as part, x.place
    from json_to_recordset(${bound.add(JSON.stringify(rows), 'text')}::json)
      as x(url text, id int, whole boolean, code text, display text, place int)
    left join terminology.concept c on c.system = x.id and c.code = x.code
    where not x.whole or c.code is not null`;
}

function flat(contains: readonly Contained[]): Listed[] {
  return contains.flatMap(({ system, version, code, display, contains: below = [] }) => [
    ...(system === undefined || code === undefined
      ? []
      : [
          {
            system,
            code,
            ...(version !== undefined && { version }),
            ...(display !== undefined && { display }),
          },
        ]),
    ...flat(below),
  ]);
}

function none(): string {
  return `select null::text as system, null::text as version, null::text as code, null::text as display,
    true as selectable, true as active, 0 as part, 0 as place where false`;
}

function invalid(diagnostics: string): Refusal {
  return new Refusal('invalid', { code: 'invalid', diagnostics: cut(diagnostics, 300) });
}
