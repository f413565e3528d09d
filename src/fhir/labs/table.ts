/** Laboratory results as a table (CSV, RFC 4180) → items. */
import parse from 'csv-parse/lib/sync.js';
import { Faults } from '#src/shared/faults.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { numberIn } from '../v1/elements.ts';
import type { LabItem } from './items.ts';
import { decimalIn } from './numbers.ts';
import { fhirTime } from './times.ts';

/** Columns, in any order; letters' case does not count. */
export const COLUMNS = [
  'code',
  'system',
  'display',
  'value',
  'unit',
  'reference_range',
  'effective_at',
  'note',
] as const;
type Column = (typeof COLUMNS)[number];

/** Most rows of a table. */
const MOST_ROWS = 5_000;
/** Most columns of a table. */
const MOST_COLUMNS = 100;

/**
 * Reads a table with a heading; commas, semicolons or tabs part its columns.
 * @param date of rows that have no `effective_at`, a FHIR dateTime.
 * @throws Refusal invalid (422) naming every row and column that is wrong
 */
export function itemsOfTable(text: string, date: string | undefined): LabItem[] {
  const [heading = [], ...rows] = rowsOf(text.replace(/^\uFEFF/, ''));
  const faults = new Faults();
  const fault = (diagnostics: string, expression: string): void =>
    faults.add({ code: 'value', diagnostics: `${expression} ${diagnostics}`, expression });
  if (heading.length > MOST_COLUMNS) fault(`are more than ${MOST_COLUMNS}`, 'columns');
  const columns = heading.slice(0, MOST_COLUMNS).map((name) => name.trim().toLowerCase());
  columns.forEach((name, at) => {
    if (!COLUMNS.some((known) => known === name))
      fault(`is not known; there are ${COLUMNS.join(', ')}`, `columns.${name.slice(0, 60) || at}`);
    else if (columns.indexOf(name) < at) fault('occurs twice', `columns.${name}`);
  });
  for (const needed of ['code', 'value'] as const)
    if (!columns.includes(needed)) fault('is missing', `columns.${needed}`);
  if (rows.length === 0) fault('are missing', 'rows');
  if (rows.length > MOST_ROWS) fault(`are more than ${MOST_ROWS}`, 'rows');
  if (!faults.none) throw new Refusal('invalid', faults.list());
  const items = rows.map((row, index) => {
    const cell = (name: Column): string | undefined => row[columns.indexOf(name)]?.trim() || undefined;
    return itemOf(cell, date, (name, diagnostics) => fault(diagnostics, `rows.${index}.${name}`));
  });
  if (!faults.none) throw new Refusal('invalid', faults.list());
  return items;
}

function itemOf(
  cell: (name: Column) => string | undefined,
  date: string | undefined,
  fault: (name: Column, diagnostics: string) => void,
): LabItem {
  const code = cell('code') ?? '';
  const value = cell('value');
  const effective = cell('effective_at') ?? date ?? '';
  const system = cell('system');
  if (code === '') fault('code', 'is missing');
  if (value === undefined) fault('value', 'is missing');
  if (system !== undefined && /\s/.test(system)) fault('system', 'must be a URI');
  if (effective === '') fault('effective_at', 'is missing, and so is query.date');
  else if (fhirTime(effective, 'dateTime') === undefined)
    fault('effective_at', 'must be a date, or a date-time with an offset');
  const number = numberIn(value === undefined ? undefined : decimalIn(value));
  return {
    code: code.replaceAll(/\s+/g, ' '),
    system,
    display: cell('display'),
    effective_at: effective,
    unit: cell('unit'),
    range_text: cell('reference_range'),
    note: cell('note'),
    ...(number === null ? { value_text: value } : { value: number }),
  };
}

function rowsOf(text: string): string[][] {
  const [first = ''] = text.split(/\r?\n/, 1);
  const delimiter = ['\t', ';', ','].sort((a, b) => first.split(b).length - first.split(a).length)[0] ?? ',';
  try {
    const rows: string[][] = parse(text, { delimiter, skip_empty_lines: true, relax_column_count: false });
    return rows;
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    throw new Refusal('invalid', {
      code: 'structure',
      diagnostics: `it is no table: ${told.slice(0, 200)}`,
      expression: 'rows',
    });
  }
}
