/** Answers queries about single codes: their display, validity and relations. */

import type { Pool } from 'pg';
import type { SystemCode } from '#src/fhir/terminology.ts';
import { cut } from '#src/shared/cut.ts';
import { Bound } from './binds.ts';
import { subsumedBy, subsuming } from './filters.ts';
import { findSystem, type KnownSystem, notFound, requireSystem } from './known.ts';
import { queryMembers } from './query-members.ts';
import type { ValueSet } from './resources.ts';
import { membersSql } from './sets.ts';
import { isUnit } from './units.ts';

/** A code with its system, as in a Coding. */
export interface Coded {
  readonly system?: string | undefined;
  readonly version?: string | undefined;
  readonly code: string;
  readonly display?: string | undefined;
}

/** The properties of a code that are known. */
export interface CodeFacts {
  readonly code: string;
  readonly display: string | null;
  readonly category: string | null;
  /** The UCUM unit. */
  readonly unit: string | null;
  readonly selectable: boolean;
  readonly active: boolean;
  readonly properties: Readonly<Record<string, string | readonly string[]>> | null;
  readonly parents: readonly string[];
  readonly children: readonly string[];
}

const FACTS = `
  select c.code, c.display, c.category, c.unit, c.selectable, c.active, c.properties,
    array(select p.parent from terminology.parent p where p.system = c.system and p.code = c.code order by 1) as parents,
    array(select p.code from terminology.parent p where p.system = c.system and p.parent = c.code order by 1) as children
  from terminology.concept c where c.system = $1 and c.code = $2`;

/** Returns a code's properties; undefined if the installed system doesn't contain the code. */
async function readFacts(pool: Pool, system: KnownSystem, code: string): Promise<CodeFacts | undefined> {
  const { rows } = await pool.query<CodeFacts>({
    name: 'terminology-code',
    text: FACTS,
    values: [system.id, code],
  });
  return rows[0];
}

/**
 * Returns the properties of a code and of its system.
 * @throws Refusal not_found (404) for an unknown system or code
 */
export async function lookup(
  pool: Pool,
  { system = '', version, code }: Coded,
): Promise<{ readonly system: KnownSystem; readonly facts: CodeFacts }> {
  const known = await requireSystem(pool, system, version);
  const facts = await readFacts(pool, known, code);
  if (facts === undefined) throw notFound(`${unknownCode(known, code)}`);
  return { system: known, facts };
}

/** Returns the message for an invalid code. */
function unknownCode({ url, content }: KnownSystem, code: string): string {
  const named = `unknown code ${cut(code, 100)} in ${url}`;
  return content === 'fragment' ? `${named}; this service has loaded only a part of that code system` : named;
}

/** A code's validity and its display. */
export interface Validity {
  readonly result: boolean;
  readonly message?: string;
  readonly display?: string;
}

/**
 * Validates a code against its code system.
 * @throws Refusal not_found (404) for a system that isn't installed
 */
export async function validateInSystem(
  pool: Pool,
  { system = '', version, code, display }: Coded,
  abstract = true,
): Promise<Validity> {
  const known = await requireSystem(pool, system, version);
  const facts = await readFacts(pool, known, code);
  if (facts === undefined) {
    if (isUnit(known.url, code)) return { result: true };
    return { result: false, message: unknownCode(known, code) };
  }
  if (!abstract && !facts.selectable)
    return { result: false, message: `code ${code} is abstract: it only groups other codes` };
  return judgeDisplay(facts.display, display);
}

/**
 * Validates a code against a value set; if the code has no system, it may be from any system.
 * @throws the same Refusal as `membersSql`
 */
export async function validateInSet(
  pool: Pool,
  set: ValueSet,
  coded: Coded,
  abstract = true,
): Promise<Validity> {
  const { system, code, display } = coded;
  const bound = new Bound();
  const members = await membersSql(set, { pool, bound, walk: 'up' });
  const where = [`u.code = ${bound.add(code, 'text')}`];
  if (system !== undefined) where.push(`u.system = ${bound.add(system, 'text')}`);
  if (!abstract) where.push('u.selectable');
  const [found] = await queryMembers<{ display: string | null }>(
    pool,
    `select u.display from (${members}) u where ${where.join(' and ')} limit 1`,
    bound,
  );
  if (found !== undefined) return judgeDisplay(found.display, display);
  // UCUM has infinitely many units, so a set that includes all of UCUM also includes units that aren't listed.
  const all = set.compose?.include.some(
    (part) => part.system === system && part.concept === undefined && part.filter === undefined,
  );
  if (system !== undefined && all === true && isUnit(system, code)) return { result: true };
  const known = system === undefined ? undefined : await findSystem(pool, system);
  if (known?.content === 'complete' && (await readFacts(pool, known, code)) === undefined)
    return { result: false, message: unknownCode(known, code) };
  const inSystem = system === undefined ? code : `${system}|${code}`;
  return {
    result: false,
    message: `${cut(inSystem, 300)} is not in the value set ${set.url ?? 'given'}`,
  };
}

/**
 * Returns the validity of a known code. A display that differs from the installed one makes the code invalid (`display` in
 * $validate-code); case is ignored.
 */
function judgeDisplay(known: string | null, given: string | undefined): Validity {
  const display = known === null ? {} : { display: known };
  if (given === undefined || known === null || given.toLowerCase() === known.toLowerCase())
    return { result: true, ...display };
  return {
    result: false,
    message: `the display of the code is ${known}, not ${cut(given, 200)}`,
    ...display,
  };
}

/** The relation of one code to another. https://hl7.org/fhir/R4/codesystem-operation-subsumes.html */
export type Subsumption = 'equivalent' | 'subsumes' | 'subsumed-by' | 'not-subsumed';

/**
 * Returns the relation between two codes in a system.
 * @throws Refusal not_found (404) for a system or a code that isn't installed
 */
export async function subsumes(
  pool: Pool,
  url: string,
  codeA: string,
  codeB: string,
  version?: string,
): Promise<Subsumption> {
  const system = await requireSystem(pool, url, version);
  for (const code of [codeA, codeB])
    if ((await readFacts(pool, system, code)) === undefined) throw notFound(unknownCode(system, code));
  if (codeA === codeB) return 'equivalent';
  const { rows } = await pool.query<{ a: boolean; b: boolean }>({
    name: 'terminology-subsumes',
    text: `select $2::text in ${subsuming('$3::text', '$1::int4')} as a, $3::text in ${subsuming('$2::text', '$1::int4')} as b`,
    values: [system.id, codeA, codeB],
  });
  const [row] = rows;
  if (row?.a === true) return 'subsumes';
  return row?.b === true ? 'subsumed-by' : 'not-subsumed';
}

/** Returns a code's display, category and unit, for use when Observations are written; undefined if the code is unknown. */
export async function describe(pool: Pool, url: string, code: string): Promise<CodeFacts | undefined> {
  const system = await findSystem(pool, url);
  return system === undefined ? undefined : readFacts(pool, system, code);
}

/**
 * Returns the names of codes, by `system|code`. The name is the code's display or, without a display, the name of the only
 * concept that has the code, in English if available. If two concepts share a code, neither name is used, because it would be
 * too specific (R11: nausea, vomiting). Indexes: terminology.system (url), primary keys of terminology.concept and
 * concept_entry, concept_entry_by_code.
 */
export async function readDisplays(
  pool: Pool,
  codes: readonly SystemCode[],
): Promise<ReadonlyMap<string, string>> {
  const { rows } = await pool.query<{ key: string; display: string }>({
    name: 'terminology-displays',
    text: `
      select w.system || '|' || w.code as key, coalesce(named.display, concept.display) as display
      from unnest($1::text[], $2::text[]) as w(system, code)
      left join lateral (
        select c.display from terminology.system s
        join terminology.concept c on c.system = s.id and c.code = w.code
        where s.url = w.system) named on true
      left join lateral (
        select min(one.display) as display from (
          select distinct on (e.concept_id) e.concept_id, e.display from terminology.concept_entry e
          where e.concept_id in (
            select o.concept_id from terminology.concept_entry o
            where o.codes @> jsonb_build_array(jsonb_build_object('system', w.system, 'code', w.code)))
          order by e.concept_id, e.lang <> 'en', not e.loaded, e.lang) one
        having count(*) = 1) concept on named.display is null
      where coalesce(named.display, concept.display) is not null`,
    values: [codes.map(({ system }) => system), codes.map(({ code }) => code)],
  });
  return new Map(rows.map(({ key, display }) => [key, display]));
}

/** Returns a code together with its descendants (`below`) or its ancestors (`above`); undefined if the code isn't installed. */
export async function related(
  pool: Pool,
  url: string,
  code: string,
  direction: 'below' | 'above',
): Promise<string[] | undefined> {
  const system = await findSystem(pool, url);
  if (system === undefined || (await readFacts(pool, system, code)) === undefined) return undefined;
  const all = (direction === 'below' ? subsumedBy : subsuming)('$2::text', '$1::int4');
  const { rows } = await pool.query<{ codes: string[] }>({
    name: `terminology-${direction}`,
    text: `select array${all} as codes`,
    values: [system.id, code],
  });
  return rows[0]?.codes;
}
