/**
 * Values that go into composed statements, and rows that come back as one text, because the driver would spend more time on
 * the rows and columns of a page than on their content. Control characters separate them, which JSON escapes; a column with
 * arbitrary text is encoded as JSON.
 */
import { Refusal } from '#src/shared/refusal.ts';

const BETWEEN_ROWS = '\x1e';
const BETWEEN_COLUMNS = '\x1f';

/** Returns SQL for a column with arbitrary text, as JSON. */
export const asJson = (column: string): string => `coalesce(to_json(${column})::text, 'null')`;

/**
 * Returns SQL for a row as one text.
 * @param columns none of them null
 */
export function joinedColumns(columns: readonly string[]): string {
  return `concat_ws('${BETWEEN_COLUMNS}', ${columns.join(', ')})`;
}

/**
 * Returns SQL for all rows as one text; null without rows.
 * @param by their order; default: as they come
 */
export function joinedRows(row: string, by?: string): string {
  return `string_agg(${row}, '${BETWEEN_ROWS}'${by === undefined ? '' : ` order by ${by}`})`;
}

/** Splits such a text into the columns of its rows. */
export function rowsIn(text: string | null | undefined): string[][] {
  return text?.split(BETWEEN_ROWS).map(columnsIn) ?? [];
}

/** Splits a row's text into its columns. */
export function columnsIn(row: string): string[] {
  return row.split(BETWEEN_COLUMNS);
}

/** The maximum number of values that PostgreSQL takes with a statement. */
const MAX_BOUND = 65_535;

/** The parameters of a composed statement: every value is bound, none becomes part of the SQL. */
export class Binds {
  readonly values: unknown[] = [];

  /**
   * Binds a value and returns its placeholder, such as `$3::uuid`.
   * @throws Refusal `malformed` (400, `too-costly`) if a statement would have too many
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
