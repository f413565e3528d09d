/** Names of columns in tables of results, as used by laboratories and in spreadsheets. Pure data. */

/**
 * A column. `name` is the laboratory's name for the test. If there is also a `code`, the name is its display; otherwise the
 * name serves as the code.
 */
export type Column =
  | 'code'
  | 'name'
  | 'system'
  | 'display'
  | 'value'
  | 'unit'
  | 'reference_range'
  | 'low'
  | 'high'
  | 'effective_at'
  | 'note';

/** Column → its possible headings, folded (`foldHeading`). */
const HEADINGS: Readonly<Record<Column, readonly string[]>> = {
  code: ['code'],
  name: ['marker', 'test', 'analyte'],
  system: ['system'],
  display: ['display'],
  value: ['value', 'result'],
  unit: ['unit', 'units'],
  reference_range: ['reference_range', 'ref_range', 'normal_range', 'range'],
  low: ['low', 'reference_low', 'ref_low', 'range_low', 'normal_low'],
  high: ['high', 'reference_high', 'ref_high', 'range_high', 'normal_high'],
  effective_at: ['effective_at', 'date'],
  note: ['note', 'comment'],
};

/** Headings that people may use, in the order in which messages list them. */
export const KNOWN_HEADINGS: readonly string[] = Object.values(HEADINGS).flat();

const COLUMN_OF: ReadonlyMap<string, Column> = new Map(
  (Object.keys(HEADINGS) as Column[]).flatMap((column) =>
    HEADINGS[column].map((heading) => [heading, column] as const),
  ),
);

/** Returns a heading in the form used for comparisons: lower case, with underscores for blanks and hyphens. */
export function foldHeading(text: string): string {
  return text
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, '_');
}

/** Returns the column of a folded heading; undefined if there is none. */
export function findColumn(heading: string): Column | undefined {
  return COLUMN_OF.get(heading);
}

/**
 * Returns the code and display of a result that has a name.
 * @param code the code in the request, if there is one
 * @param name the laboratory's name for the test. Without a code, it also serves as the code; a bar in it is then replaced,
 *   because in a code it would separate the system.
 * @param isKnown returns whether a code needs no display because a terminology names it
 */
export function namedCode(
  {
    code,
    name,
    display,
  }: {
    readonly code?: string | undefined;
    readonly name?: string | undefined;
    readonly display?: string | undefined;
  },
  isKnown: (code: string) => boolean,
): { readonly code: string; readonly display: string | undefined } {
  if (name === undefined) return { code: code ?? '', display };
  const own = code ?? name.replaceAll('|', '/').replaceAll(/\s+/g, ' ');
  return { code: own, display: display ?? (code === undefined && isKnown(own) ? undefined : name) };
}
