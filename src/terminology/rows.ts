/** Converts terminology to rows, and writes them. */
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { v5 } from 'uuid';
import { toInstant } from '#src/shared/time/time.ts';
import type { BundledConcept } from './bundled/bundled.ts';
import type { Properties } from './bundled/own.ts';
import type { CodeSystem, Concept, ConceptMap, ValueSet } from './resources.ts';

/** A concept to write. */
export interface NewConcept {
  readonly code: string;
  readonly display?: string | undefined;
  readonly category?: string | undefined;
  readonly unit?: string | undefined;
  readonly selectable?: boolean;
  readonly active?: boolean;
  readonly properties?: Properties | undefined;
  /** The codes of its parent concepts. */
  readonly parents?: readonly string[];
}

/** A row of `terminology.concept`, without its place in the code system. */
export interface ConceptRow extends NewConcept {
  /** The number of the concept's code system. */
  readonly system: number;
}

/** The namespace UUID from which the ids of terminology resources are derived. It must never change. */
const NAMESPACE = '6c1f7b0e-3a52-4d0e-9c7c-5f0b8f1d2a64';

/** Returns a terminology resource's id, which is the same in every installation. */
export function resourceId(type: string, url: string): string {
  return v5(`${type} ${url}`, NAMESPACE);
}

/** Yields a code system's concepts as rows, parents before children. */
export function* conceptRows(
  system: number,
  concepts: readonly BundledConcept[],
  parents: readonly string[] = [],
): Generator<ConceptRow> {
  for (const { code, display, category, unit, properties, property = [], concept } of concepts) {
    const says = (name: string) => property.find((each) => each.code === name);
    const inactive =
      says('inactive')?.valueBoolean === true ||
      ['retired', 'deprecated', 'inactive'].includes(says('status')?.valueCode ?? '');
    yield {
      system,
      code,
      display,
      category,
      unit,
      selectable: says('notSelectable')?.valueBoolean !== true,
      active: !inactive,
      properties,
      parents,
    };
    if (concept !== undefined) yield* conceptRows(system, concept, [code]);
  }
}

/**
 * Writes resources. Each replaces an existing resource with the same type and URL.
 * @param changedAt microseconds since 1970
 */
export async function putResources(
  tx: ClientBase,
  resources: readonly (CodeSystem | ValueSet | ConceptMap)[],
  { loaded, changedAt }: { readonly loaded: boolean; readonly changedAt: number },
): Promise<void> {
  const meta = { versionId: '1', lastUpdated: toInstant(changedAt) };
  const rows = resources.map((resource) => {
    const { resourceType: type, url } = resource;
    const id = resourceId(type, url);
    const { resourceType, ...content } = withoutRowFields(resource);
    return { id, type, url, body: JSON.stringify({ resourceType, id, meta, ...content }) };
  });
  await tx.query(
    `insert into terminology.resource (id, type, url, loaded, changed_at, body)
     select x.id, x.type, x.url, $2, $3, x.body from json_to_recordset($1) as x(id uuid, type text, url text, body text)
     on conflict (id) do update
       set loaded = excluded.loaded, changed_at = excluded.changed_at, body = excluded.body`,
    [JSON.stringify(rows), loaded, changedAt],
  );
}

/**
 * Returns a CodeSystem in the form in which it is read. The category and unit of its concepts, which are columns here, become
 * properties, because a CodeSystem has no such elements. Properties that only $lookup returns are left out. Resources of other
 * types are returned unchanged.
 */
function withoutRowFields<R extends CodeSystem | ValueSet | ConceptMap>(resource: R): R {
  if (resource.resourceType !== 'CodeSystem' || resource.concept === undefined) return resource;
  const concepts: readonly BundledConcept[] = resource.concept;
  const concept = concepts.map(withoutFields);
  if (!concepts.some(({ category, unit }) => category !== undefined || unit !== undefined))
    return { ...resource, concept };
  const property = [
    { code: 'category', description: 'Category of observations with this code, by Annal', type: 'code' },
    { code: 'unit', description: 'UCUM unit of what is measured', type: 'string' },
  ];
  return { ...resource, property, concept };
}

function withoutFields({
  category,
  unit,
  properties,
  concept,
  property = [],
  ...said
}: BundledConcept): Concept {
  const all = [
    ...property,
    ...(category === undefined ? [] : [{ code: 'category', valueCode: category }]),
    ...(unit === undefined ? [] : [{ code: 'unit', valueString: unit }]),
  ];
  return {
    ...said,
    ...(all.length === 0 ? {} : { property: all }),
    ...(concept === undefined ? {} : { concept: concept.map(withoutFields) }),
  };
}

/** Creates rows for code systems, and returns their numbers by URL. There must be no rows with these URLs yet. */
export async function newSystems(
  tx: ClientBase,
  systems: readonly Pick<CodeSystem, 'url' | 'version' | 'name' | 'title' | 'content'>[],
  loaded: boolean,
): Promise<Map<string, number>> {
  const given = systems.map(({ url, version = null, name, title, content }) => ({
    url,
    version,
    name: title ?? name ?? url,
    content,
  }));
  const { rows } = await tx.query<{ id: number; url: string }>(
    `insert into terminology.system (url, version, name, content, loaded)
     select x.url, x.version, x.name, x.content, $2
     from json_to_recordset($1) as x(url text, version text, name text, content text) returning id, url`,
    [JSON.stringify(given), loaded],
  );
  return new Map(rows.map(({ id, url }) => [url, id]));
}

/**
 * Removes code systems together with their concepts.
 * @param condition SQL over terminology.system; must be constant text in the program
 */
export async function removeSystems(
  tx: ClientBase,
  condition: string,
  values: readonly unknown[],
): Promise<void> {
  await tx.query(
    `with gone as (delete from terminology.system where ${condition} returning id),
       concepts as (delete from terminology.concept where system in (select id from gone)),
       indexes as (delete from terminology.code_index where system in (select id from gone))
     delete from terminology.parent where system in (select id from gone)`,
    [...values],
  );
}

const CONCEPT_COLUMNS = 'system, code, place, display, category, unit, selectable, active, properties';

/**
 * Copies concepts into the database as they arrive, and then their parents.
 * @returns the number of concepts
 * @throws Error from the database; its code is `23505` for a duplicate code
 */
export async function copyConcepts(
  tx: ClientBase,
  concepts: AsyncIterable<ConceptRow> | Iterable<ConceptRow>,
): Promise<number> {
  let place = 0;
  const kinship: string[] = [];
  async function* lines(): AsyncGenerator<string> {
    for await (const row of concepts) {
      yield conceptLine(place, row);
      place += 1;
      for (const parent of new Set(row.parents))
        kinship.push(`${row.system}\t${field(row.code)}\t${field(parent)}\n`);
    }
  }
  const into = (table: string) => tx.query(copyFrom(`copy terminology.${table} from stdin`));
  await pipeline(inPieces(lines()), into(`concept (${CONCEPT_COLUMNS})`));
  await pipeline(inPieces(kinship), into('parent (system, code, parent)'));
  return place;
}

const PIECE = 1 << 16;

async function* inPieces(lines: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  let piece = '';
  for await (const line of lines) {
    piece += line;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}

function conceptLine(place: number, row: ConceptRow): string {
  const { system, code, display, category, unit, selectable = true, active = true, properties } = row;
  const said = properties === undefined ? undefined : JSON.stringify(properties);
  const texts = [display, category, unit].map(field);
  return `${[system, field(code), place, ...texts, selectable, active, field(said)].join('\t')}\n`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Returns a value in COPY's text format. */
function field(text: string | undefined): string {
  return text === undefined ? '\\N' : text.replace(/[\\\t\n\r]/g, (character) => ESCAPES[character] ?? '');
}
