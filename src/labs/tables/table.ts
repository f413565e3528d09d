/** Converts a table of laboratory results (CSV, RFC 4180) to items. */

import { isLoincCode } from '#src/fhir/loinc-code.ts';
import { cut } from '#src/shared/cut.ts';
import { Faults } from '#src/shared/faults.ts';
import { mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { type Decimal, numberIn } from '../../v1/elements.ts';
import type { LabItem } from '../items.ts';
import { decimalIn } from '../numbers.ts';
import { contradicted } from '../range.ts';
import { fhirTime } from '../times.ts';
import { type Column, findColumn, foldHeading, KNOWN_HEADINGS, namedCode } from './columns.ts';
import { readTableRows } from './rows.ts';

/** Maximum number of rows in a table. */
const MOST_ROWS = 5_000;

/**
 * Reads a table with a heading, one row per step; its columns are separated by commas, semicolons or tabs.
 * @param date for rows without `effective_at`, a FHIR dateTime
 * @throws Refusal invalid (422) naming every invalid row and column
 */
export function* itemsOfTable(text: string, date: string | undefined): Steps<LabItem[]> {
  const [heading = [], ...rows] = yield* readTableRows(text.replace(/^\uFEFF/, ''), MOST_ROWS);
  const faults = new Faults();
  const fault = (diagnostics: string, expression: string): void =>
    faults.add({ code: 'value', diagnostics: `${expression} ${diagnostics}`, expression });
  const columns = readColumns(heading, fault);
  if (rows.length === 0) fault('are missing', 'rows');
  if (rows.length > MOST_ROWS) fault(`are more than ${MOST_ROWS}, the limit`, 'rows');
  if (!faults.none) throw new Refusal('invalid', faults.list());
  const items = yield* mapSteps(rows, (row, index) => {
    const cell = (name: Column): string | undefined => {
      const at = columns.get(name)?.at;
      return at === undefined ? undefined : row[at]?.trim() || undefined;
    };
    const columnName = (column: Column): string => {
      const headed = columns.get(column) ?? (column === 'code' ? columns.get('name') : undefined);
      return headed?.heading ?? column;
    };
    return makeItem(cell, columnName, date, (column, diagnostics) =>
      fault(diagnostics, `rows.${index}.${columnName(column)}`),
    );
  });
  if (!faults.none) throw new Refusal('invalid', faults.list());
  return items;
}

/** The index and the heading of each column. */
type Columns = ReadonlyMap<Column, { readonly at: number; readonly heading: string }>;

/**
 * Returns the columns of a heading.
 * @param fault called for each column that is unknown, duplicate or missing
 */
function readColumns(
  heading: readonly string[],
  fault: (diagnostics: string, expression: string) => void,
): Columns {
  const columns = new Map<Column, { readonly at: number; readonly heading: string }>();
  heading.forEach((text, at) => {
    const folded = foldHeading(text);
    const place = `columns.${cut(folded, 60) || at}`;
    const column = findColumn(folded);
    const before = column === undefined ? undefined : columns.get(column);
    if (column === undefined)
      fault(
        `is unknown${didYouMean(folded, KNOWN_HEADINGS)}; the columns are ${KNOWN_HEADINGS.join(', ')}`,
        place,
      );
    else if (before === undefined) columns.set(column, { at, heading: folded });
    else
      fault(
        before.heading === folded
          ? 'occurs twice'
          : `means the same as ${before.heading}; send only one of them`,
        place,
      );
  });
  const named = columns.get('name');
  if (named !== undefined && columns.has('code') && columns.has('display'))
    fault('is the display if there is a code; send either it or display', `columns.${named.heading}`);
  if (named === undefined && !columns.has('code'))
    fault('is missing, and so are marker, test and analyte', 'columns.code');
  if (!columns.has('value')) fault('is missing, and so is result', 'columns.value');
  return columns;
}

function makeItem(
  cell: (name: Column) => string | undefined,
  columnName: (name: Column) => string,
  date: string | undefined,
  fault: (name: Column, diagnostics: string) => void,
): LabItem {
  const value = cell('value');
  const effective = cell('effective_at') ?? date ?? '';
  const system = cell('system');
  const sent = { code: cell('code')?.replaceAll(/\s+/g, ' '), name: cell('name'), display: cell('display') };
  const { code, display } = namedCode(sent, isLoincCode);
  if (code === '') fault('code', 'is missing');
  if (value === undefined) fault('value', 'is missing');
  if (system !== undefined && /\s/.test(system)) fault('system', 'must be a URI');
  if (effective === '') fault('effective_at', 'is missing, and so is query.date');
  else if (fhirTime(effective, 'dateTime') === undefined)
    fault('effective_at', 'must be a date, or a date-time with a time zone');
  const end = (name: 'low' | 'high'): Decimal | undefined => {
    const text = cell(name);
    const number = numberIn(text === undefined ? undefined : decimalIn(text));
    if (text !== undefined && number === null) fault(name, 'must be a number');
    return number ?? undefined;
  };
  const [low, high] = [end('low'), end('high')];
  if (low !== undefined && high !== undefined && Number(low) > Number(high))
    fault('high', `must not be below ${columnName('low')}`);
  const range = cell('reference_range');
  const wrong = range === undefined ? undefined : contradicted(range, cell('unit') ?? '', { low, high });
  if (wrong !== undefined)
    fault(wrong, `differs from ${columnName('reference_range')}; send only one of them`);
  const number = numberIn(value === undefined ? undefined : decimalIn(value));
  return {
    code,
    system,
    display,
    effective_at: effective,
    unit: cell('unit'),
    reference_range: { low, high },
    range_text: range,
    note: cell('note'),
    ...(number === null ? { value_text: value } : { value: number }),
  };
}
