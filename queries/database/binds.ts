/**
 * Values for composed statements, and rows that are returned as a single text, because the driver would spend more time on
 * splitting a page into rows and columns than on their content. Control characters separate rows and columns. JSON escapes
 * these characters, so a column with arbitrary text is encoded as JSON.
 */
import { Refusal } from '#src/shared/refusal.ts';

const BETWEEN_ROWS = '\x1e';
const BETWEEN_COLUMNS = '\x1f';

/** Returns SQL that encodes a column with arbitrary text as JSON. */
export const asJson = (column: string): string => `coalesce(to_json(${column})::text, 'null')`;

/**
 * Returns SQL that joins the columns of a row into a single text.
 * @param columns none of them may be null
 */
export function joinedColumns(columns: readonly string[]): string {
  return `concat_ws('${BETWEEN_COLUMNS}', ${columns.join(', ')})`;
}

/**
 * Returns SQL that joins all rows into a single text; null if there are no rows.
 * @param by the order of the rows; unspecified by default
 */
export function joinedRows(row: string, by?: string): string {
  return `string_agg(${row}, '${BETWEEN_ROWS}'${by === undefined ? '' : ` order by ${by}`})`;
}

/** Splits the text of joined rows into each row's columns. */
export function rowsIn(text: string | null | undefined): string[][] {
  return text?.split(BETWEEN_ROWS).map(columnsIn) ?? [];
}

/** Splits a row's text into its columns. */
export function columnsIn(row: string): string[] {
  return row.split(BETWEEN_COLUMNS);
}

/** The maximum number of values that PostgreSQL accepts in a statement. */
const MAX_BOUND = 65_535;

/** The parameters of a composed statement: every value is bound, and none becomes part of the SQL. */
export class Binds {
  readonly values: unknown[] = [];

  /**
   * Binds a value and returns its placeholder, such as `$3::uuid`.
   * @throws Refusal `malformed` (400, `too-costly`) if a statement would have too many values
   */
  add(
    value: unknown,
    type: 'uuid' | 'uuid[]' | 'text' | 'text[]' | 'int8' | 'int8[]' | 'int4' | 'numeric',
  ): string {
    if (this.values.push(value) > MAX_BOUND) {
      throw new Refusal('malformed', {
        code: 'too-costly',
        diagnostics:
          'the search has too many values: each value counts once for every type of a chain and every code it stands for; use fewer values, or name the types of chains',
      });
    }
    return `$${this.values.length}::${type}`;
  }
}
