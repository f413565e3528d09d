/** Reads classifications with nested codes, ATC and ICD-10, from tables. */
import { parentOfAtc } from '../bundled/bundled.ts';
import type { NewConcept } from '../rows.ts';
import { BadFile, type Table } from './table.ts';

/** A classification's format. */
interface Classification {
  readonly code: RegExp;
  /** Returns a code's parent; empty for a top-level code. */
  readonly parentCode: (code: string) => string;
}

const ATC: Classification = {
  code: /^[A-Z](?:\d\d(?:[A-Z](?:[A-Z](?:\d\d)?)?)?)?$/,
  parentCode: parentOfAtc,
};

/** Three characters name a category; each character after the point narrows it. */
const ICD10: Classification = {
  code: /^[A-Z]\d[0-9A-Z](?:\.[0-9A-Z]{1,4})?$/,
  parentCode: (code) => (code.length <= 3 ? '' : code.slice(0, -1).replace(/\.$/, '')),
};

/** Possible names of the column with the codes. */
const CODE = ['code', 'atc_code', 'atccode', 'atc code', 'icd10_code', 'icd_code', 'icd10'];
const DISPLAY = ['display', 'name', 'title', 'atc_name', 'atcname', 'atc level name', 'description', 'label'];
const PARENT = ['parent', 'parent_code'];

/**
 * Yields ATC's concepts.
 * @throws BadFile
 */
export const atcConcepts = (table: Table, read?: (bytes: number) => void): AsyncGenerator<NewConcept> =>
  concepts(table, ATC, read);

/**
 * Yields ICD-10's concepts; if there is a column `parent`, also chapters and blocks.
 * @throws BadFile
 */
export const icd10Concepts = (table: Table, read?: (bytes: number) => void): AsyncGenerator<NewConcept> =>
  concepts(table, ICD10, read);

async function* concepts(
  table: Table,
  { code: form, parentCode: parentOf }: Classification,
  read?: (bytes: number) => void,
): AsyncGenerator<NewConcept> {
  const column = (names: readonly string[]) => names.find((name) => table.heading.includes(name));
  const [code, display, parent] = [column(CODE), column(DISPLAY), column(PARENT)];
  if (code === undefined || display === undefined) {
    throw new BadFile(
      `${table.path}, line 1: the heading must have a column for codes (${CODE.join(', ')}) and one for names (${DISPLAY.join(', ')})`,
    );
  }
  const seen = new Map<string, string>();
  for await (const row of table.rows(read)) {
    const value = row.need(code);
    if (parent === undefined && !form.test(value))
      throw row.fault(code, `${value.slice(0, 40)} is not a valid code of this code system`);
    const name = row.need(display);
    // Some ATC tables have one line for each dose of a substance.
    const before = seen.get(value);
    if (before !== undefined) {
      if (before !== name) throw row.fault(code, `${value} occurs earlier with another name`);
      continue;
    }
    seen.set(value, name);
    const above = parent === undefined ? parentOf(value) : row.get(parent);
    yield { code: value, display: name, parents: above === '' ? [] : [above] };
  }
}
