/** Finds patients in all projects, including deleted ones, by name, identifier or id, for auditors. */
import type { Pool } from 'pg';
import { shownName } from '#src/fhir/human-name.ts';
import { parameterKey, searchKey, tokenForm, valueKey } from '#src/fhir/search/keys.ts';
import { folded } from '#src/fhir/search/text.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { isObject, type Json, type JsonObject, parseJson } from '#src/shared/json/json.ts';
import { Failure } from '../failure.ts';

export interface FoundPatient {
  readonly id: string;
  readonly name: string | null;
  /** As in FHIR; the day, or the month and day, may be missing. */
  readonly birth_date: string | null;
  readonly identifiers: readonly { readonly system: string | null; readonly value: string }[];
  readonly project: string | null;
  readonly project_name: string | null;
  readonly environment: string | null;
  readonly deleted: boolean;
  /**
   * True if the text equals the whole name, an identifier or the id; false if its words are only prefixes of words in the
   * name.
   */
  readonly exact: boolean;
}

interface Row {
  readonly id: string;
  readonly body: string;
  readonly deleted: boolean;
}

/** Lists every tenant that has or had resources, stepping from tenant to tenant along the index history.version_of_tenant. */
const TENANTS = `
  with recursive tenants(tenant) as (
    (select v.tenant from history.version v order by v.tenant limit 1)
    union all
    select (select v.tenant from history.version v where v.tenant > t.tenant order by v.tenant limit 1)
    from tenants t where t.tenant is not null)
  select tenant from tenants where tenant is not null`;

/**
 * Finds patients whose name contains a word, or who have an identifier or id. Indexes: search.string_by_value (key, folded,
 * id), from which all names of a tenant's patients are read; search.entry_keys; the resources' primary key.
 */
const LIVING = `
  select r.id, r.body, false as deleted from resources.resource r
  where r.tenant = $1 and r.type = 'Patient' and not r.deleted and r.id in (
    select s.id from search.string s where s.key = $2 and (
      strpos(s.folded, $3) > 0 or s.rest is not null and strpos(s.folded || s.rest, $3) > 0)
    union all select e.id from search.entry e where e.keys && $4::int8[]
    union all select unnest($5::uuid[]))`;

// Indexes: history.version_of_tenant (tenant, type, …); primary keys of resources.resource and history.version.
const DELETED = `
  select r.id, true as deleted, (
    select b.body from history.version b where b.id = r.id and b.body is not null order by b.version desc limit 1) as body
  from resources.resource r
  where r.deleted and r.id in (
    select v.id from history.version v where v.tenant = $1 and v.type = 'Patient' and v.operation = 'DELETE')`;

const PROJECTS = `select p.id, p.name from projects.project p`;

/** Limits which patients are searched. */
export interface PatientFilter {
  /** Searches only this project, given by id or name. */
  readonly project?: string;
  /** Searches deleted patients even if other patients match. This reads the versions of every Patient. */
  readonly deleted?: boolean;
}

/**
 * Finds patients. The text matches if each of its words is a prefix of a word in a name, ignoring case and accents, or if the
 * text is an identifier's value, `system|value`, or the patient's id. Deleted patients are searched if no other patients
 * match, or if the filter requests them.
 * @param pool connections without a time limit for statements.
 * @returns exact matches first, then sorted by name.
 * @throws Failure if the project doesn't exist.
 */
export async function findPatients(
  pool: Pool,
  text: string,
  { project: only, deleted = false }: PatientFilter = {},
): Promise<FoundPatient[]> {
  const projects = await pool.query<{ id: string; name: string }>(PROJECTS);
  if (only !== undefined && !projects.rows.some(({ id, name }) => only === id || only === name))
    throw new Failure(`unknown project ${only}: no project has this id or name`);
  const owners = new Map(
    projects.rows.flatMap(({ id: project, name }) =>
      (['sandbox', 'production'] as const).map((environment) => [
        tenantId({ project, environment }),
        { project, project_name: name, environment },
      ]),
    ),
  );
  const { rows: tenants } = await pool.query<{ tenant: string }>(TENANTS);
  const found: FoundPatient[] = [];
  const look = async (readRows: (tenant: string) => Promise<Row[]>): Promise<void> => {
    for (const { tenant } of tenants) {
      const owner = owners.get(tenant) ?? { project: null, project_name: null, environment: null };
      if (only !== undefined && only !== owner.project && only !== owner.project_name) continue;
      for (const row of await readRows(tenant)) {
        const match = matchPatient(row, text);
        if (match !== undefined) found.push({ ...match, ...owner });
      }
    }
  };
  await look(async (tenant) => (await pool.query<Row>(LIVING, candidateParameters(tenant, text))).rows);
  if (deleted || found.length === 0)
    await look(async (tenant) => (await pool.query<Row>(DELETED, [tenant])).rows);
  const order = new Intl.Collator('en');
  return found.sort(
    (a, b) =>
      Number(b.exact) - Number(a.exact) ||
      order.compare(a.name ?? '', b.name ?? '') ||
      (a.id < b.id ? -1 : 1),
  );
}

/**
 * Returns the parameters of `LIVING`. Its condition is that a name contains the text's longest word; the whole text is
 * compared later.
 */
function candidateParameters(tenant: string, text: string): unknown[] {
  const words = splitWords(folded(text)).sort((one, other) => other.length - one.length);
  const bar = text.lastIndexOf('|');
  const forms = [
    tokenForm.code(text),
    ...(bar < 0 ? [] : [tokenForm.pair(text.slice(0, bar), text.slice(bar + 1))]),
  ];
  return [
    tenant,
    searchKey(parameterKey(tenant, 'Patient', 'name')),
    words[0] ?? '',
    forms.map((form) => searchKey(valueKey(tenant, 'Patient', 'identifier', form))),
    isUuid(text) ? [text] : [],
  ];
}

const splitWords = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');

function matchPatient({ id, body, deleted }: Row, text: string) {
  const { value: patient } = parseJson(body ?? '{}');
  if (!isObject(patient)) return undefined;
  const identifiers = objects(patient.identifier).flatMap(({ system, value }) =>
    typeof value === 'string' ? [{ system: typeof system === 'string' ? system : null, value }] : [],
  );
  const names = objects(patient.name);
  const wanted = folded(text);
  const exact =
    id === text ||
    identifiers.some(({ system, value }) => [value, `${system ?? ''}|${value}`].includes(text)) ||
    names.some((name) => folded(shownName([name]) ?? '') === wanted);
  if (!exact && !names.some((name) => begins(name, wanted))) return undefined;
  return {
    id,
    name: shownName(names) ?? null,
    birth_date: typeof patient.birthDate === 'string' ? patient.birthDate : null,
    identifiers,
    deleted,
    exact,
  };
}

/** Returns true if each word is a prefix of a word in a name. */
function begins({ text, prefix, given, family, suffix }: JsonObject, wanted: string): boolean {
  const parts = [text, prefix, given, family, suffix].flat().filter((part) => typeof part === 'string');
  const words = parts.flatMap((part) => folded(part).split(/[\s,.-]+/));
  const asked = splitWords(wanted);
  return (
    asked.length > 0 &&
    asked.every(
      (word) =>
        words.some((one) => one.startsWith(word)) || parts.some((part) => folded(part).startsWith(word)),
    )
  );
}

const objects = (value: Json | undefined): JsonObject[] =>
  Array.isArray(value) ? value.filter(isObject) : [];
