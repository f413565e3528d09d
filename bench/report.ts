/** Reports a run to terminals and programs; `page.ts` creates the page for docs/ from it. */
import { availableParallelism } from 'node:os';
import { type Bound, type Figure, type Finding, holds } from './measure.ts';

/** A row's result, or why the row failed. */
export interface RowReport extends Finding {
  readonly row: string;
  readonly subject: string;
  readonly baseline: string;
  /** The peak memory of the measured Node processes, in MB. */
  readonly memory: number;
  /** The message of an error that stopped the row. */
  readonly failure?: string;
}

/** A whole run. */
export interface RunReport {
  readonly date: string;
  readonly command: string;
  readonly machine: { readonly cores: number; readonly node: string; readonly postgresql: string };
  readonly scale: number;
  readonly runs: number;
  readonly rows: readonly RowReport[];
}

/** Returns the machine's relevant properties, omitting names and paths. */
export function machine(postgresql: string): RunReport['machine'] {
  return { cores: availableParallelism(), node: process.version.slice(1), postgresql };
}

/** The promised limit on memory, in MB. */
const MEMORY_BOUND = 350;

/** Returns the bound on a row's memory. */
export function memoryBound(row: RowReport): Bound {
  return {
    ratio: 'memory of Node, MB',
    value: row.memory,
    sense: 'at most',
    bound: row.mostMemory ?? MEMORY_BOUND,
  };
}

/** Returns whether every promise of every row holds. */
export function allHold(report: RunReport): boolean {
  return report.rows.every(
    (row) => row.failure === undefined && [...row.bounds, memoryBound(row)].every(holds),
  );
}

/** Returns the run as JSON, including whether each bound holds. */
export function toJson(report: RunReport): string {
  const rows = report.rows.map((row) => ({
    ...row,
    bounds: [...row.bounds, memoryBound(row)].map((bound) => ({ ...bound, holds: holds(bound) })),
  }));
  return JSON.stringify({ ...report, holds: allHold(report), rows }, null, 2);
}

/** Formats a row for a terminal. */
export function toText(row: RowReport): string {
  const lines = [`${row.row}: ${row.subject}`, `  against ${row.baseline}`];
  if (row.failure !== undefined) lines.push(`  FAILED: ${row.failure}`);
  for (const bound of [...row.bounds, memoryBound(row)]) {
    lines.push(
      `  ${holds(bound) ? 'holds' : 'MISSED'}  ${bound.ratio} ${number(bound.value)} (${limit(bound)})`,
    );
  }
  lines.push(`  ${row.figures.map(figure).join(' · ')}`);
  return lines.join('\n');
}

/** Formats a bound: `at least 0.6`. */
export const limit = ({ sense, bound }: Bound): string => `${sense} ${bound}`;

/** Formats a figure with its unit. */
export const figure = ({ name, value, unit }: Figure): string =>
  `${name} ${number(value)}${unit === '' ? '' : ` ${unit}`}`;

/** Formats a number with three significant digits, or as an integer with thousands separators. */
export function number(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
