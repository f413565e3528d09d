/** Parses the rows of a table in text form (RFC 4180), one part at a time. */

import { parse } from 'csv-parse/sync';
import { cut } from '#src/shared/cut.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** Number of characters to parse in one step; a step continues to the end of its last row. */
const PART = 100_000;
/** Maximum length of a row, in characters. */
const MOST_IN_ROW = 500_000;
/** Maximum number of columns in a table. */
const MOST_COLUMNS = 100;

/**
 * Returns the rows of a table, the heading first; empty lines are skipped.
 * @param most maximum number of rows, not counting the heading; one more row is returned if the table has more
 * @throws Refusal invalid (422) for a text that isn't a table, a row whose number of cells differs from the heading's, or a
 *   row or heading that is too long
 */
export function* readTableRows(text: string, most: number): Steps<string[][]> {
  const end = text.search(/[\r\n]/);
  const heading = end < 0 ? text : text.slice(0, end);
  const counts = ['\t', ';', ','].map((delimiter) => ({
    delimiter,
    cells: countSign(heading, delimiter) + 1,
  }));
  const [widest] = counts.sort((a, b) => b.cells - a.cells);
  if (widest === undefined || widest.cells > MOST_COLUMNS)
    throw refused('columns', `the table has more than ${MOST_COLUMNS} columns`);
  const rows: string[][] = [];
  for (const part of splitRows(text)) {
    for (const row of parsed(part, widest.delimiter, rows.length)) {
      if (row.length !== (rows[0] ?? row).length)
        throw refused(
          'rows',
          `rows.${rows.length - 1} has ${row.length} cells, the heading has ${rows[0]?.length}`,
        );
      rows.push(row);
      if (rows.length > most + 1) return rows;
    }
    yield;
  }
  return rows;
}

/** Yields parts of the text. Each part ends with a complete row, at a line end outside quotes. */
function* splitRows(text: string): Iterable<string> {
  let from = 0;
  let rowFrom = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const c = text.charCodeAt(at);
    if (c === 0x22) quoted = !quoted;
    else if (c === 0x0a || c === 0x0d) {
      if (quoted) continue;
      rowFrom = at + 1;
      if (rowFrom - from < PART) continue;
      yield text.slice(from, rowFrom);
      from = rowFrom;
    }
    if (at - rowFrom > MOST_IN_ROW) throw refused('rows', `a row can have at most ${MOST_IN_ROW} characters`);
  }
  if (from < text.length) yield text.slice(from);
}

function parsed(text: string, delimiter: string, before: number): string[][] {
  try {
    const rows: string[][] = parse(text, { delimiter, skip_empty_lines: true, relax_column_count: true });
    return rows;
  } catch (error) {
    const told = error instanceof Error ? error.message : String(error);
    const after = before === 0 ? '' : ` after row ${before}`;
    throw refused('rows', `the table cannot be read${after}: ${cut(told, 200)}`);
  }
}

function countSign(text: string, sign: string): number {
  let count = 0;
  for (let at = text.indexOf(sign); at >= 0 && count < MOST_COLUMNS; at = text.indexOf(sign, at + 1))
    count += 1;
  return count;
}

function refused(expression: string, diagnostics: string): Refusal {
  return new Refusal('invalid', { code: 'structure', diagnostics, expression });
}
