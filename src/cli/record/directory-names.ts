/** Finds the names of directory entries that a history refers to, if the events don't contain these names. */
import type { Version } from '#src/audit/versions.ts';
import { openPool } from '#src/database/pool.ts';
import { shownName } from '#src/fhir/human-name.ts';
import { isUuid } from '#src/shared/ids.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json/json.ts';

/** `Type/id` → name. */
type Names = ReadonlyMap<string, string>;

// Index: primary keys of resources.resource and history.version. A deleted entry keeps its last name.
const ENTRIES = `
  select r.type || '/' || r.id as reference, coalesce(r.body, (
    select v.body from history.version v where v.id = r.id and v.body is not null order by v.version desc limit 1)) as body
  from resources.resource r where r.id = any($1::uuid[]) and r.record is null`;

/**
 * Fills in the names of authors, of people acting for them, and of agents in clients' Provenances. Names in events take
 * precedence over present names. If the read models can't be read, references are shown instead.
 */
export async function nameDirectoryEntries(
  databaseUrl: string,
  versions: readonly Version[],
): Promise<Version[]> {
  const wanted = versions.flatMap(({ author, author_name, acting_as, acting_as_name, provenances }) => [
    ...(author_name === null ? [author] : []),
    ...(acting_as_name === null ? [acting_as] : []),
    ...provenances.flatMap(({ agents }) => agents.flatMap(({ who, on_behalf_of }) => [who, on_behalf_of])),
  ]);
  const names = await readNames(
    databaseUrl,
    wanted.filter((reference) => reference !== null),
  ).catch((): Names => new Map());
  const findName = (reference: string | null): string | null => names.get(reference ?? '') ?? null;
  return versions.map((version) => ({
    ...version,
    author_name: version.author_name ?? findName(version.author ?? version.acting_as),
    acting_as_name: version.acting_as_name ?? findName(version.acting_as),
    provenances: version.provenances.map((said) => ({
      ...said,
      agents: said.agents.map((agent) => ({
        ...agent,
        who_name: agent.who_name ?? findName(agent.who),
        on_behalf_of_name: agent.on_behalf_of_name ?? findName(agent.on_behalf_of),
      })),
    })),
  }));
}

async function readNames(databaseUrl: string, references: readonly string[]): Promise<Names> {
  if (references.length === 0) return new Map();
  const pool = openPool(databaseUrl, { max: 1, name: 'annal history names' });
  try {
    const read = async (some: readonly string[]): Promise<Map<string, JsonObject>> => {
      const ids = some.map((reference) => reference.slice(reference.lastIndexOf('/') + 1)).filter(isUuid);
      const { rows } = await pool.query<{ reference: string; body: string }>(ENTRIES, [[...new Set(ids)]]);
      return new Map(
        rows.flatMap(({ reference, body }) => {
          const { value } = parseJson(body);
          return isObject(value) ? [[reference, value] as const] : [];
        }),
      );
    };
    const entries = await read(references);
    const holders = await read([...entries.values()].flatMap((entry) => readHolder(entry) ?? []));
    return new Map(
      [...entries].flatMap(([reference, entry]) => {
        const { name } = holders.get(readHolder(entry) ?? '') ?? entry;
        const shown = typeof name === 'string' ? name : shownName(name);
        return shown === undefined ? [] : [[reference, shown] as const];
      }),
    );
  } finally {
    await pool.end();
  }
}

/** Returns a PractitionerRole's Practitioner. */
function readHolder({ practitioner }: JsonObject): string | undefined {
  const reference = isObject(practitioner) ? practitioner.reference : undefined;
  return typeof reference === 'string' ? reference : undefined;
}
