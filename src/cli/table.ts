/** Formats tables and counts for a terminal. */

/** Returns a count with its noun: `1 event`, `2 events`. */
export const counted = (count: number, thing: string, things = `${thing}s`): string =>
  `${count} ${count === 1 ? thing : things}`;

/** The content of a cell; numbers are right-aligned. */
export type Cell = string | number;

/**
 * Formats a table as text: each column is as wide as its widest cell, with two spaces between columns and a rule under the
 * heading. Control characters in cells become spaces, so that stored text can't control a terminal.
 * @param foot a last row, with a rule above it.
 */
export function table(
  heading: readonly string[],
  rows: readonly (readonly Cell[])[],
  foot?: readonly Cell[],
): string {
  const all = foot === undefined ? rows : [...rows, foot];
  const widths = heading.map((name, i) =>
    Math.max(name.length, ...all.map((row) => printable(row[i]).length)),
  );
  const right = heading.map((_, i) => all.length > 0 && all.every((row) => typeof row[i] !== 'string'));
  const print = (cells: readonly (Cell | undefined)[]): string =>
    widths
      .map((width, i) =>
        right[i] === true ? printable(cells[i]).padStart(width) : printable(cells[i]).padEnd(width),
      )
      .join('  ')
      .trimEnd();
  const rule = widths.map((width) => '-'.repeat(width)).join('  ');
  const lines = [print(heading), rule, ...rows.map(print)];
  if (foot !== undefined) lines.push(rule, print(foot));
  return lines.join('\n');
}

/** Formats a table, leaving out columns that are empty in every row. */
export function withoutEmpty(
  heading: readonly string[],
  rows: readonly (readonly Cell[])[],
): [string[], Cell[][]] {
  const kept = heading.map((_, i) => rows.some((row) => row[i] !== ''));
  const filled = <T>(cells: readonly T[]): T[] => cells.filter((_, i) => kept[i] === true);
  return [filled(heading), rows.map(filled)];
}

/** Returns a cell's text, with control characters replaced by spaces. */
export function printable(cell: Cell | undefined): string {
  return typeof cell === 'number' ? String(cell) : (cell ?? '').replace(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}
