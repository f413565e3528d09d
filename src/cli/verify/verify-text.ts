/** Formats causes as text that fits in a terminal. */
import type { RowChange } from '#projections/compare.ts';
import { printable } from '../table.ts';
import type { Cause } from './verify-causes.ts';

/** The maximum number of causes that are listed. */
const SHOWN = 50;
/** The maximum number of changes that are shown per cause. */
const CHANGES = 5;
/** The width in columns for output to a file, and for a terminal that doesn't report its width. */
const WIDTH = 80;
/** At a smaller width, ids would be broken. */
const NARROWEST = 60;

/** Returns the terminal's width in columns. */
export function terminalWidth(): number {
  return Math.max(process.stdout.columns ?? WIDTH, NARROWEST);
}

/** Returns the causes as a numbered list. No line is wider than `width`, unless it is a single word. */
export function describeCauses(causes: readonly Cause[], width = terminalWidth()): string[] {
  const lines = causes
    .slice(0, SHOWN)
    .flatMap((cause, n) => [...describe(cause, `${String(n + 1).padStart(2)}. `, width), '']);
  return causes.length > SHOWN
    ? [...lines, `… and ${causes.length - SHOWN} more: --json shows all`, '']
    : lines;
}

function describe(
  { where, what, which, event, messages, changes, follows }: Cause,
  number: string,
  width: number,
): string[] {
  const indent = ' '.repeat(number.length);
  const under = (text: string): string[] => wrapped(text, width, indent);
  const tables = Object.entries(follows).map(([table, rows]) => (rows === 1 ? table : `${table} (${rows})`));
  return [
    ...wrapped(`${where} ${what}: ${messages.map(printable).join('; ')}`, width, indent, number),
    ...(which === '' ? [] : under(printable(which))),
    ...(event === null ? [] : under(`event ${event}`)),
    ...changes.slice(0, CHANGES).flatMap((change) => shownChange(change, width, indent)),
    ...(changes.length > CHANGES
      ? under(`… and ${changes.length - CHANGES} more elements: --json shows all`)
      : []),
    ...(tables.length === 0 ? [] : under(`causes differing rows in ${tables.join(', ')}`)),
  ];
}

function shownChange({ path, before, after }: RowChange, width: number, indent: string): string[] {
  const line = `${indent}~ ${printable(path)}: ${printable(before ?? 'nothing')} → ${printable(after ?? 'nothing')}`;
  if (line.length <= width) return [line];
  const cut = (text: string): string => (text.length > width ? `${text.slice(0, width - 1)}…` : text);
  return [
    cut(`${indent}~ ${printable(path)}`),
    cut(`${indent}  before: ${printable(before ?? 'nothing')}`),
    cut(`${indent}  after:  ${printable(after ?? 'nothing')}`),
  ];
}

/**
 * Wraps a text at spaces.
 * @param first the prefix of the first line; default: the indent.
 */
export function wrapped(text: string, width = terminalWidth(), indent = '', first = indent): string[] {
  const lines: string[] = [];
  let line = first;
  for (const word of text.split(' ')) {
    const start = lines.length === 0 ? first : indent;
    if (line === start) line += word;
    else if (line.length + 1 + word.length <= width) line += ` ${word}`;
    else {
      lines.push(line);
      line = indent + word;
    }
  }
  return [...lines, line];
}
