/**
 * Reads SNOMED CT from a release's files in the RF2 format: concepts, descriptions, relationships and, optionally, a language
 * reference set, which defines the preferred names. https://confluence.ihtsdotools.org/display/DOCRELFMT
 */
import { pipeline } from 'node:stream/promises';
import type { ClientBase } from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { BadFile, type Table } from './table.ts';

const FULLY_SPECIFIED = '900000000000003001';
const SYNONYM = '900000000000013009';
const PREFERRED = '900000000000548007';
const IS_A = '116680003';

/** A kind of file, which is recognized by its heading, and the columns to keep from it. */
interface Kind {
  readonly table: string;
  readonly columns: readonly string[];
}

const KINDS: Readonly<Record<'concept' | 'description' | 'relationship' | 'language', Kind>> = {
  concept: { table: 'rf2_concept', columns: ['id', 'effectiveTime', 'active'] },
  description: {
    table: 'rf2_description',
    columns: ['id', 'effectiveTime', 'active', 'conceptId', 'typeId', 'term'],
  },
  relationship: {
    table: 'rf2_relationship',
    columns: ['id', 'effectiveTime', 'active', 'sourceId', 'destinationId', 'typeId'],
  },
  language: {
    table: 'rf2_language',
    columns: ['id', 'effectiveTime', 'active', 'referencedComponentId', 'acceptabilityId'],
  },
};

function findKind({ path, heading }: Table): Kind {
  const has = (name: string) => heading.includes(name.toLowerCase());
  if (has('acceptabilityId')) return KINDS.language;
  if (has('destinationId')) return KINDS.relationship;
  if (has('term')) return KINDS.description;
  if (has('definitionStatusId')) return KINDS.concept;
  throw new BadFile(
    `${path}, line 1: this is not the heading of an RF2 file of concepts, descriptions, relationships or a language reference set`,
  );
}

/**
 * Loads the files into a system. In a full release, only the newest row of each component is used.
 * @param system the system's number
 * @returns the number of concepts
 * @throws BadFile, also if the file of concepts or of descriptions is missing
 */
export async function loadSnomed(
  tx: ClientBase,
  system: number,
  tables: readonly Table[],
  read: (bytes: number) => void,
): Promise<number> {
  const kinds = tables.map(findKind);
  for (const name of ['concept', 'description', 'relationship'] as const)
    if (!kinds.includes(KINDS[name]))
      throw new BadFile(
        `SNOMED CT needs its files of concepts, descriptions and relationships; the file of ${name}s is missing`,
      );
  for (const { table, columns } of Object.values(KINDS))
    await tx.query(
      `create temporary table ${table} (${columns.map((name) => `${name} text`).join(', ')}) on commit drop`,
    );
  for (const [at, file] of tables.entries()) {
    const kind = kinds[at];
    if (kind !== undefined)
      await pipeline(tableLines(file, kind, read), tx.query(copyFrom(`copy ${kind.table} from stdin`)));
  }
  await tx.query(
    `analyze ${Object.values(KINDS)
      .map(({ table }) => table)
      .join(', ')}`,
  );
  const { rowCount } = await tx.query(CONCEPTS, [system, FULLY_SPECIFIED, SYNONYM, PREFERRED]);
  await tx.query(PARENTS, [system, IS_A]);
  return rowCount ?? 0;
}

/** Returns SQL for the newest row of each component, provided that this row is active. */
const current = (table: string, columns: string): string =>
  `(select distinct on (id) ${columns}, active from ${table} order by id, effectiveTime desc)`;

/**
 * Selects names: the preferred synonym, if a language reference set defines one; otherwise the fully specified name without
 * its tag; otherwise any name.
 */
const CONCEPTS = `
  insert into terminology.concept (system, code, place, display, selectable, active)
  select $1, c.id, row_number() over (order by c.id), n.name, true, c.active = '1'
  from ${current('rf2_concept', 'id')} c
  left join (
    select distinct on (d.conceptId) d.conceptId,
      case when d.typeId = $2 then regexp_replace(d.term, ' \\([^()]*\\)$', '') else d.term end as name
    from ${current('rf2_description', 'id, conceptId, typeId, term')} d
    left join ${current('rf2_language', 'id, referencedComponentId, acceptabilityId')} l
      on l.referencedComponentId = d.id and l.active = '1' and l.acceptabilityId = $4
    where d.active = '1' and d.typeId in ($2, $3)
    order by d.conceptId, (l.id is not null and d.typeId = $3) desc, d.typeId = $2 desc, d.id
  ) n on n.conceptId = c.id`;

const PARENTS = `
  insert into terminology.parent (system, code, parent)
  select distinct $1::int, r.sourceId, r.destinationId
  from ${current('rf2_relationship', 'id, sourceId, destinationId, typeId')} r
  where r.active = '1' and r.typeId = $2`;

const PIECE = 1 << 16;

async function* tableLines(
  table: Table,
  { columns }: Kind,
  read: (bytes: number) => void,
): AsyncGenerator<string> {
  let piece = '';
  for await (const row of table.rows(read)) {
    piece += `${columns.map((name) => row.need(name).replaceAll('\\', '\\\\')).join('\t')}\n`;
    if (piece.length < PIECE) continue;
    yield piece;
    piece = '';
  }
  if (piece !== '') yield piece;
}
