/** Reads LOINC's own table, the `Loinc.csv` in a release (https://loinc.org/downloads/). */

import { isLoincCode } from '#src/fhir/loinc-code.ts';
import { CATEGORY_OF } from '../bundled/categories.ts';
import type { NewConcept } from '../rows.ts';
import { needColumns, type Table, type TableRow } from './table.ts';

const PROPERTIES = [
  'COMPONENT',
  'PROPERTY',
  'TIME_ASPCT',
  'SYSTEM',
  'SCALE_TYP',
  'METHOD_TYP',
  'CLASS',
  'STATUS',
  'COMMON_TEST_RANK',
];

/** Matches the classes of clinical terms that are vital signs. */
const VITAL_SIGNS = /^(?:BP|HRTRATE|RESP|BDYTMP|BDYWGT|BDYHGT|BDYCRC|HEMODYN)\./;

/**
 * Yields LOINC's concepts.
 * @throws BadFile
 */
export async function* loincConcepts(
  table: Table,
  read?: (bytes: number) => void,
): AsyncGenerator<NewConcept> {
  needColumns(table, 'LOINC_NUM', 'LONG_COMMON_NAME');
  for await (const row of table.rows(read)) {
    const code = row.need('LOINC_NUM');
    if (!isLoincCode(code))
      throw row.fault('LOINC_NUM', `${code.slice(0, 40)} is not a LOINC code: its check digit is wrong`);
    const said = PROPERTIES.map((name) => [name, row.get(name)] as const).filter(([, value]) => value !== '');
    const [unit] = row.get('EXAMPLE_UCUM_UNITS').split(';');
    yield {
      code,
      display: row.need('LONG_COMMON_NAME'),
      category: CATEGORY_OF[code] ?? readCategory(row),
      unit: unit === '' ? undefined : unit,
      active: row.get('STATUS') !== 'DEPRECATED',
      properties: Object.fromEntries(said),
    };
  }
}

/** Returns the observation category for one of LOINC's class types: 1 laboratory, 2 clinical, 3 attachments, 4 surveys. */
function readCategory(row: TableRow): string | undefined {
  const type = row.get('CLASSTYPE');
  const of = row.get('CLASS');
  if (type === '1') return 'laboratory';
  if (type === '4') return 'survey';
  if (type !== '2') return undefined;
  if (VITAL_SIGNS.test(of)) return 'vital-signs';
  return of.startsWith('RAD') ? 'imaging' : 'exam';
}
