/**
 * Packs a table of LOINC codes into `generated/loinc.json`: `node --import tsx tools/terminology/pack-loinc.ts
 * <codes.csv>`. The table has the columns code, display, short_name, class, unit, rank, synonyms and members
 * (docs/terminology.md).
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse } from 'csv-parse/sync';
import { isLoincCode } from '#src/fhir/loinc-code.ts';
import { LOINC_NOTICE } from '#src/terminology/bundled/bundled.ts';
import { CATEGORY_OF } from '#src/terminology/bundled/categories.ts';
import { isUnit, UCUM } from '#src/terminology/units.ts';

/**
 * Totals and panels of third-party instruments whose terms of use aren't in NOTICE. NOTICE has the terms for 44249-1, 44261-6
 * and 72106-8.
 */
const LEFT_OUT = new Set(
  (
    '55758-7 89204-2 69737-5 70274-6 72110-0 75624-7 72109-2 75626-2 72172-0 99046-5 38227-5 93025-5 88124-3 ' +
    '89247-1 89243-0 63503-7 76506-5 9269-2 72089-6'
  ).split(' '),
);

const CATEGORY_OF_CLASS: Readonly<Record<string, string | null>> = {
  lab: 'laboratory',
  panel: 'laboratory',
  vitals: 'vital-signs',
  survey: 'survey',
  imaging: 'imaging',
  document: null,
};

/** LOINC's answers for smoking status and pregnancy status, as HL7's International Patient Summary names them. */
const ANSWERS = [
  ['LA15173-0', 'Pregnant'],
  ['LA15920-4', 'Former smoker'],
  ['LA18976-3', 'Current every day smoker'],
  ['LA18978-9', 'Never smoker'],
];

/** Annal's own additions to the table: words that people use to look for a test. */
const MORE_NAMES: Readonly<Record<string, string>> = {
  '8480-6': 'upper blood pressure',
  '8462-4': 'lower blood pressure',
  '718-7': 'anemia',
  '1975-2': 'jaundice',
  '10839-9': 'heart attack',
  '3084-1': 'gout',
  '2276-4': 'iron stores',
  '1988-5': 'inflammation',
};

interface Row {
  readonly code: string;
  readonly display: string;
  readonly short_name: string;
  readonly class: string;
  readonly unit: string;
  readonly rank: string;
  readonly synonyms: string;
  readonly members: string;
}

const table: Row[] = parse(readFileSync(process.argv[2] ?? '', 'utf8'), { columns: true });
const rows = table
  .filter(({ code }) => !LEFT_OUT.has(code))
  .sort((one, other) => Number(one.rank) - Number(other.rank));
const kept = new Set(rows.map(({ code }) => code));
const list = (text: string): string[] => text.split('|').filter((each) => each !== '');

const codes = rows.map((row) => {
  const { code, display, unit } = row;
  if (!isLoincCode(code)) throw new Error(`${code}: the check digit is wrong`);
  if (unit !== '' && !isUnit(UCUM, unit)) throw new Error(`${code}: ${unit} is not a unit of UCUM`);
  const category = CATEGORY_OF[code] ?? CATEGORY_OF_CLASS[row.class];
  if (category === undefined) throw new Error(`${code}: unknown class ${row.class}`);
  const members = list(row.members).filter((member) => kept.has(member));
  const names = [...list(row.synonyms), ...list(MORE_NAMES[code] ?? '')];
  return [code, display, unit === '' ? null : unit, category, row.short_name, names, members];
});

const head = {
  notice: LOINC_NOTICE,
  selection: 'Selection; names of LOINC 2.67 to 2.82, unchanged.',
  'columns of LOINC': ['code', 'display'],
  'column in UCUM': ['unit'],
  'columns of Annal, not of LOINC': ['category', 'short name', 'synonyms', 'members'],
  order: 'the commonest first; the order is of Annal, not of LOINC',
};
const lines = (all: readonly unknown[]): string => all.map((each) => JSON.stringify(each)).join(',\n');
const text = `${JSON.stringify(head).slice(0, -1)},\n"answers": [\n${lines(ANSWERS)}\n],\n"codes": [\n${lines(codes)}\n]}\n`;
writeFileSync(
  fileURLToPath(new URL('../../src/terminology/bundled/generated/loinc.json', import.meta.url)),
  text,
);
process.stdout.write(`${codes.length} codes, ${table.length - codes.length} left out\n`);
