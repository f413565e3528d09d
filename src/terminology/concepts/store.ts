/** Writes concepts to the database: bundled concepts, and concepts from a customer's files. */
import { randomUUID } from 'node:crypto';
import type { ClientBase, Pool } from 'pg';
import { madeFrom, noteMade, writingTerminology } from '../install.ts';
import { BadFile, openTable, type TableRow } from '../load/table.ts';
import { BUNDLED_LANGUAGE, bundledConcepts, bundledConceptsFingerprint } from './bundled.ts';
import { type ConceptEntry, type ConceptType, conceptEntries, type Relation } from './entry.ts';

/** The row in `terminology.made` that changes whenever concepts change. */
export const CONCEPTS_MADE = 'concepts';
/** The row in `terminology.made` that identifies the installed bundled files. */
const BUNDLED_MADE = 'bundled concepts';

/** Number of rows in one statement. */
const ROWS = 1_000;

/** Installs the bundled concepts if they differ from those in the database; loaded concepts stay. */
export async function installConcepts(pool: Pool): Promise<void> {
  const fingerprint = bundledConceptsFingerprint();
  if ((await madeFrom(pool, BUNDLED_MADE)) === fingerprint) return;
  const entries = await bundledConcepts();
  await writingTerminology(pool, async (tx) => {
    if ((await madeFrom(tx, BUNDLED_MADE)) === fingerprint) return;
    await tx.query('delete from terminology.concept_entry where not loaded');
    await insert(tx, entries, { lang: BUNDLED_LANGUAGE, loaded: false });
    await noteMade(tx, BUNDLED_MADE, fingerprint);
    await noteMade(tx, CONCEPTS_MADE, randomUUID());
  });
}

/** A request to load one language from one or more files. */
export interface ConceptsRequest {
  readonly files: readonly string[];
  /** Language tag (BCP 47). */
  readonly lang: string;
  /** Called with the number of bytes in each piece that is read. */
  readonly read?: (bytes: number) => void;
  /** Stops the load, after which nothing has changed. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Loads concepts in one language, replacing the concepts that were previously loaded in that language. Bundled concepts stay:
 * loaded text replaces their text in the same language; loaded codes and relations are added to theirs.
 * @returns how many entries the files contain
 * @throws BadFile naming file, line and column; nothing has then changed
 */
export async function loadConcepts(pool: Pool, request: ConceptsRequest): Promise<number> {
  const { files, read, signal } = request;
  const lang = languageTag(request.lang);
  await installConcepts(pool);
  const rows = new Map<string, { readonly entry: ConceptEntry; readonly row: TableRow }>();
  for (const file of files) {
    const table = await openTable(file);
    const each = conceptEntries(table, (bytes) => {
      signal?.throwIfAborted();
      read?.(bytes);
    });
    for await (const { entry, row } of each) {
      if (rows.has(entry.conceptId)) throw row.fault('concept_id', `${entry.conceptId} occurs twice`);
      rows.set(entry.conceptId, { entry, row });
    }
  }
  if (rows.size === 0) throw new BadFile(`${files.join(', ')}: the file contains no concepts`);
  return writingTerminology(pool, async (tx) => {
    await tx.query('delete from terminology.concept_entry where loaded and lang = $1', [lang]);
    const types = await storedTypes(tx);
    for (const { entry, row } of rows.values()) settleType(types, entry, row);
    for (const { entry, row } of rows.values()) checkRelations(types, entry, row);
    await insert(
      tx,
      [...rows.values()].map(({ entry }) => entry),
      { lang, loaded: true },
    );
    await checkOthers(tx);
    await noteMade(tx, CONCEPTS_MADE, randomUUID());
    return rows.size;
  });
}

/**
 * Returns a language tag in lower case.
 * @throws BadFile if the text isn't a language tag
 */
export function languageTag(tag: string): string {
  try {
    return new Intl.Locale(tag).toString().toLowerCase();
  } catch {
    throw new BadFile(`${tag.slice(0, 40)} is not a language tag (BCP 47); for example de or pt-BR`);
  }
}

type Types = Map<string, ConceptType>;

async function storedTypes(tx: ClientBase): Promise<Types> {
  const { rows } = await tx.query<{ concept_id: string; type: ConceptType }>(
    'select distinct e.concept_id, e.type from terminology.concept_entry e where e.type is not null',
  );
  return new Map(rows.map(({ concept_id, type }) => [concept_id, type]));
}

function settleType(types: Types, { conceptId, type }: ConceptEntry, row: TableRow): void {
  const known = types.get(conceptId);
  if (known === undefined && type === null)
    throw row.fault('type', `${conceptId} is a new concept, so it needs a type`);
  if (known !== undefined && type !== null && known !== type)
    throw row.fault('type', `${conceptId} is a ${known}, not a ${type}`);
  if (type !== null) types.set(conceptId, type);
}

/** For each relation, the types of concepts that it leads from and to; null for any type. `part_of` leads to the same type. */
const LEADS: Readonly<Record<Relation, readonly [from: ConceptType | null, to: ConceptType | null]>> = {
  symptom_of: ['symptom', 'condition'],
  treated_with: [null, 'treatment'],
  measured_by: [null, null],
  part_of: [null, null],
};

function checkRelations(types: Types, { conceptId, relations }: ConceptEntry, row: TableRow): void {
  const type = types.get(conceptId);
  for (const { relation, target } of relations) {
    if (relation === 'measured_by') continue;
    const [from, to] = LEADS[relation];
    const ofTarget = types.get(target);
    if (ofTarget === undefined)
      throw row.fault('relations', `${relation} ${target}: unknown concept ${target}`);
    const needed = relation === 'part_of' ? type : to;
    if ((from !== null && type !== from) || (needed !== null && ofTarget !== needed))
      throw row.fault(
        'relations',
        `a ${type ?? 'concept'} can't be ${relation} ${target}, which is a ${ofTarget}`,
      );
  }
}

/** Refuses a load after which concepts in another language would have no type, or relations would have no target. */
async function checkOthers(tx: ClientBase): Promise<void> {
  const { rows } = await tx.query<{ concept_id: string; lang: string; target: string | null }>(
    `select e.concept_id, e.lang, null as target from terminology.concept_entry e
     where not exists (
       select from terminology.concept_entry t where t.concept_id = e.concept_id and t.type is not null)
     union all
     select e.concept_id, e.lang, r->>'target' from terminology.concept_entry e
     cross join lateral jsonb_array_elements(e.relations) r
     where e.loaded and r->>'relation' <> 'measured_by'
       and not exists (select from terminology.concept_entry t where t.concept_id = r->>'target')
     limit 1`,
  );
  const [left] = rows;
  if (left === undefined) return;
  const says =
    left.target === null
      ? 'has no type without the replaced file'
      : `relates to ${left.target}, which the replaced file had`;
  throw new BadFile(
    `the concept ${left.concept_id}, loaded in the language ${left.lang}, ${says}; load that language first`,
  );
}

async function insert(
  tx: ClientBase,
  entries: readonly ConceptEntry[],
  { lang, loaded }: { readonly lang: string; readonly loaded: boolean },
): Promise<void> {
  for (let at = 0; at < entries.length; at += ROWS) {
    const rows = entries
      .slice(at, at + ROWS)
      .map(({ conceptId, ...entry }) => ({ concept_id: conceptId, ...entry }));
    await tx.query(
      `insert into terminology.concept_entry (concept_id, lang, loaded, type, display, synonyms, codes, relations)
       select r.concept_id, $2, $3, r.type, r.display,
         array(select s.value from jsonb_array_elements_text(r.synonyms) with ordinality s(value, place) order by s.place), r.codes, r.relations
       from jsonb_to_recordset($1::jsonb) r(
         concept_id text, type text, display text, synonyms jsonb, codes jsonb, relations jsonb)`,
      [JSON.stringify(rows), lang, loaded],
    );
  }
}
