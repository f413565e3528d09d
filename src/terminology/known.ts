/** Looks up installed terminology: resources by canonical URL, code systems by number. */

import type { Pool } from 'pg';
import { publishedUrls } from '#src/fhir/terminology.ts';
import { cut } from '#src/shared/cut.ts';
import { isUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { CodeSystem, ConceptMap, ValueSet } from './resources.ts';

/** A code system whose concepts are installed. */
export interface KnownSystem {
  readonly id: number;
  readonly url: string;
  readonly version: string | null;
  readonly name: string;
  /** `fragment` means that the system has further codes that aren't installed. */
  readonly content: 'complete' | 'fragment';
}

/** Returns the code system with the given URL; undefined if its concepts aren't installed. */
export async function findSystem(pool: Pool, url: string): Promise<KnownSystem | undefined> {
  const { rows } = await pool.query<KnownSystem>({
    name: 'terminology-system',
    text: 'select s.id, s.url, s.version, s.name, s.content from terminology.system s where s.url = $1',
    values: [url],
  });
  return rows[0];
}

/**
 * Returns the code system with the given URL.
 * @throws Refusal not_found (404) if the system isn't installed, or not in that version
 */
export async function requireSystem(pool: Pool, url: string, version?: string): Promise<KnownSystem> {
  const [canonical = url, inUrl] = url.split('|');
  const found = (await findSystem(pool, url)) ?? (await findSystem(pool, canonical));
  const wanted = version ?? (found?.url === url ? undefined : inUrl);
  if (found === undefined) {
    throw notFound(
      `code system ${cut(canonical, 200)} is not loaded; annal terminology load can load LOINC, ATC, ICD-10 and SNOMED CT`,
    );
  }
  if (wanted !== undefined && wanted !== found.version) {
    const here = found.version === null ? 'without a version' : `in version ${found.version}`;
    throw notFound(`code system ${found.url} is loaded ${here}, not in version ${cut(wanted, 100)}`);
  }
  return found;
}

interface ByType {
  readonly CodeSystem: CodeSystem;
  readonly ValueSet: ValueSet;
  readonly ConceptMap: ConceptMap;
}

/** Returns a resource by its canonical URL, with or without a version; undefined if it isn't installed. */
export async function findResource<T extends keyof ByType>(
  pool: Pool,
  type: T,
  canonical: string,
): Promise<ByType[T] | undefined> {
  const [url = canonical, version] = canonical.split('|');
  const { rows } = await pool.query<{ body: string }>({
    name: 'terminology-resource',
    text: 'select r.body from terminology.resource r where r.type = $1 and r.url = any($2::text[])',
    values: [type, [canonical, url]],
  });
  const found: ByType[T] | undefined = rows[0] && JSON.parse(rows[0].body);
  const same =
    version === undefined ||
    found?.url === canonical ||
    found?.version === undefined ||
    found.version === version;
  return same ? found : undefined;
}

/** Returns a value set by its own id or by the id under which HL7 publishes it; undefined if it isn't installed. */
export async function findValueSet(pool: Pool, id: string): Promise<ValueSet | undefined> {
  const { rows } = await pool.query<{ body: string }>(
    isUuid(id)
      ? {
          name: 'value-set-by-id',
          text: `select r.body from terminology.resource r where r.id = $1 and r.type = 'ValueSet'`,
          values: [id],
        }
      : {
          name: 'value-set-published',
          text: `select r.body from terminology.resource r where r.type = 'ValueSet' and r.url = any($1::text[])
            order by array_position($1::text[], r.url) limit 1`,
          values: [publishedUrls('ValueSet', id)],
        },
  );
  return rows[0] && JSON.parse(rows[0].body);
}

/** Returns all resources of a type. */
export async function allOfType<T extends keyof ByType>(pool: Pool, type: T): Promise<ByType[T][]> {
  const { rows } = await pool.query<{ body: string }>(
    'select r.body from terminology.resource r where r.type = $1 order by r.url',
    [type],
  );
  return rows.map(({ body }) => JSON.parse(body));
}

/** Returns the refusal for terminology that isn't installed. */
export function notFound(diagnostics: string): Refusal {
  return new Refusal('not_found', { code: 'not-found', diagnostics });
}

const SNOMED = 'http://snomed.info/sct';

/**
 * Returns a value set by its canonical URL. Implicit value sets of code systems are generated: those with all codes in a
 * system (its `valueSet`, `http://loinc.org/vs`, `http://snomed.info/sct?fhir_vs`), and those with the codes that a SNOMED CT
 * concept subsumes (`?fhir_vs=isa/<id>`).
 * @throws Refusal not_found (404)
 */
export async function requireValueSet(pool: Pool, canonical: string): Promise<ValueSet> {
  const found = (await findResource(pool, 'ValueSet', canonical)) ?? (await implied(pool, canonical));
  if (found !== undefined) return found;
  throw notFound(`value set ${cut(canonical, 200)} doesn't exist`);
}

async function implied(pool: Pool, url: string): Promise<ValueSet | undefined> {
  const set = (system: string, value?: string): ValueSet => ({
    resourceType: 'ValueSet',
    url,
    status: 'active',
    compose: {
      include: [
        { system, ...(value === undefined ? {} : { filter: [{ property: 'concept', op: 'is-a', value }] }) },
      ],
    },
  });
  const [, isa] = /^http:\/\/snomed\.info\/sct\?fhir_vs(?:=isa\/(\d+))?$/.exec(url) ?? [];
  if (isa !== undefined || url === `${SNOMED}?fhir_vs`) return set(SNOMED, isa);
  const { rows } = await pool.query<{ url: string }>(
    `select r.url from terminology.resource r
     where r.type = 'CodeSystem' and r.body::jsonb ->> 'valueSet' = $1`,
    [url],
  );
  return rows[0] && set(rows[0].url);
}
