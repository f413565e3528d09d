/**
 * Concepts from everyday and clinical language (docs/spec/decisions.md, section 4), as they are in files: one line per
 * concept, in one language.
 */
import { ATC, LOINC } from '../bundled/bundled.ts';
import { needColumns, type Table, type TableRow } from '../load/table.ts';

/** The types of concepts. */
export const CONCEPT_TYPES = ['symptom', 'condition', 'treatment'] as const;
export type ConceptType = (typeof CONCEPT_TYPES)[number];

/** How a concept relates to another concept or, for `measured_by`, to a LOINC code. */
export const RELATIONS = ['symptom_of', 'treated_with', 'measured_by', 'part_of'] as const;
export type Relation = (typeof RELATIONS)[number];

export interface ConceptCode {
  /** URI of the code system. */
  readonly system: string;
  readonly code: string;
}

/** A relation from a concept to another concept or to a LOINC code. */
export interface ConceptRelation {
  readonly relation: Relation;
  /** The id of a concept; for `measured_by`, a LOINC code. */
  readonly target: string;
}

/** The facts about a concept in one line of a file. */
export interface ConceptEntry {
  readonly conceptId: string;
  /** Null if an entry in another language states the type. */
  readonly type: ConceptType | null;
  readonly display: string;
  readonly synonyms: readonly string[];
  readonly codes: readonly ConceptCode[];
  readonly relations: readonly ConceptRelation[];
}

const ICD10 = 'http://hl7.org/fhir/sid/icd-10';

/** Names in files → code systems. For ICD-10, the name may include the edition. */
const SYSTEMS: Readonly<Record<string, string>> = {
  loinc: LOINC,
  atc: ATC,
  icd10: ICD10,
  'icd10-2016': ICD10,
  'icd10-2019': ICD10,
};

const ID = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** The maximum length of an id, the maximum length of a text, and the maximum number of values in a cell. */
const ID_LENGTH = 64;
const TEXT_LENGTH = 200;
const PARTS = 200;

/**
 * Yields a table's entries, with their rows. The columns are `concept_id`, `display` and, optionally, `type`, `synonyms`,
 * `codes` and `relations`, whose values are separated by `|`.
 * @param read called with the number of bytes in each piece that is read
 * @throws BadFile naming line and column
 */
export async function* conceptEntries(
  table: Table,
  read?: (bytes: number) => void,
): AsyncGenerator<{ readonly entry: ConceptEntry; readonly row: TableRow }> {
  needColumns(table, 'concept_id', 'display');
  for await (const row of table.rows(read)) yield { entry: readEntry(row), row };
}

function readEntry(row: TableRow): ConceptEntry {
  const conceptId = row.need('concept_id');
  if (!ID.test(conceptId) || conceptId.length > ID_LENGTH)
    throw row.fault(
      'concept_id',
      `${conceptId.slice(0, 40)} is not a valid id: at most ${ID_LENGTH} lower-case letters and digits, joined by hyphens, for example back-pain`,
    );
  const display = text(row, 'display', row.need('display'));
  return {
    conceptId,
    type: readType(row),
    display,
    synonyms: [...new Set(splitParts(row, 'synonyms').map((part) => text(row, 'synonyms', part)))].filter(
      (synonym) => synonym !== display,
    ),
    codes: splitParts(row, 'codes').map((part) => readCode(row, part)),
    relations: splitParts(row, 'relations').map((part) => readRelation(row, conceptId, part)),
  };
}

function readType(row: TableRow): ConceptType | null {
  const given = row.get('type');
  if (given === '') return null;
  const type = CONCEPT_TYPES.find((each) => each === given);
  if (type === undefined)
    throw row.fault('type', `${given.slice(0, 40)} is not a type; the types are ${CONCEPT_TYPES.join(', ')}`);
  return type;
}

function splitParts(row: TableRow, column: string): string[] {
  const parts = row
    .get(column)
    .split('|')
    .map((part) => part.trim())
    .filter((part) => part !== '');
  if (parts.length > PARTS)
    throw row.fault(column, `it has ${parts.length} values; at most ${PARTS} are allowed`);
  return parts;
}

function text(row: TableRow, column: string, value: string): string {
  if (value.length > TEXT_LENGTH) throw row.fault(column, `a text is longer than ${TEXT_LENGTH} characters`);
  return value;
}

function readCode(row: TableRow, part: string): ConceptCode {
  const [name = '', code = '', ...more] = part.split(/\s+/);
  const known = Object.hasOwn(SYSTEMS, name) ? SYSTEMS[name] : undefined;
  const system = known ?? (URL.canParse(name) ? name : undefined);
  if (system === undefined || code === '' || more.length > 0)
    throw row.fault(
      'codes',
      `${part.slice(0, 60)} is not a code; write the code system and the code, for example icd10 R51 or http://example.org/codes 12 (known systems: ${Object.keys(SYSTEMS).join(', ')})`,
    );
  return { system, code };
}

function readRelation(row: TableRow, conceptId: string, part: string): ConceptRelation {
  const [name = '', target = '', ...more] = part.split(/\s+/);
  const relation = RELATIONS.find((each) => each === name);
  if (relation === undefined || target === '' || more.length > 0)
    throw row.fault(
      'relations',
      `${part.slice(0, 60)} is not a relation; write one of ${RELATIONS.join(', ')} and a concept's id (of measured_by a LOINC code), for example symptom_of migraine`,
    );
  if (target === conceptId) throw row.fault('relations', `${conceptId} can't relate to itself`);
  return { relation, target };
}
