/**
 * Rows that come as one text: the driver would spend more time on the rows and columns of a page than on what is in them.
 * Between them stand control characters, which JSON escapes: a column that holds any text goes as JSON.
 */

const BETWEEN_ROWS = '\x1e';
const BETWEEN_COLUMNS = '\x1f';

/** A column of any text: as JSON. */
export const asJson = (column: string): string => `coalesce(to_json(${column})::text, 'null')`;

/** A row as one text. @param columns none of them null */
export function joinedColumns(columns: readonly string[]): string {
  return `concat_ws('${BETWEEN_COLUMNS}', ${columns.join(', ')})`;
}

/** All rows as one text; null where there are none. @param by their order; without it that in which they come */
export function joinedRows(row: string, by?: string): string {
  return `string_agg(${row}, '${BETWEEN_ROWS}'${by === undefined ? '' : ` order by ${by}`})`;
}

/** The columns of the rows in such a text. */
export function rowsIn(text: string | null | undefined): string[][] {
  return text?.split(BETWEEN_ROWS).map(columnsIn) ?? [];
}

/** The columns of a row as one text. */
export function columnsIn(row: string): string[] {
  return row.split(BETWEEN_COLUMNS);
}
