/** Classifications whose codes nest, as tables: ATC and ICD-10. */
import { parentOfAtc } from '../bundled/bundled.ts';
import type { NewConcept } from '../rows.ts';
import { BadFile, type Table } from './table.ts';

/** How a classification is written. */
interface Classification {
  readonly code: RegExp;
  /** The code that a code is below; empty for one at the top. */
  readonly parentOf: (code: string) => string;
}

const ATC: Classification = { code: /^[A-Z](?:\d\d(?:[A-Z](?:[A-Z](?:\d\d)?)?)?)?$/, parentOf: parentOfAtc };

/** Three characters are a category; what follows the point refines it, a character at a time. */
const ICD10: Classification = {
  code: /^[A-Z]\d[0-9A-Z](?:\.[0-9A-Z]{1,4})?$/,
  parentOf: (code) => (code.length <= 3 ? '' : code.slice(0, -1).replace(/\.$/, '')),
};

/** Names that columns go by. */
const CODE = ['code', 'atc_code', 'atccode', 'atc code', 'icd10_code', 'icd_code', 'icd10'];
const DISPLAY = ['display', 'name', 'title', 'atc_name', 'atcname', 'atc level name', 'description', 'label'];
const PARENT = ['parent', 'parent_code'];

/** ATC's concepts. @throws BadFile */
export const atcConcepts = (table: Table, read?: (bytes: number) => void): AsyncGenerator<NewConcept> =>
  concepts(table, ATC, read);

/** ICD-10's concepts; with a column `parent`, also chapters and blocks. @throws BadFile */
export const icd10Concepts = (table: Table, read?: (bytes: number) => void): AsyncGenerator<NewConcept> =>
  concepts(table, ICD10, read);

async function* concepts(
  table: Table,
  { code: form, parentOf }: Classification,
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
    // A substance with several doses has a line for each in some tables of ATC.
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
