/** A run as people and programs read it. */
import { availableParallelism } from 'node:os';
import { type Bound, type Figure, type Finding, holds } from './measure.ts';

/** What a row found, or why it found nothing. */
export interface RowReport extends Finding {
  readonly row: string;
  readonly subject: string;
  readonly baseline: string;
  /** Most memory of a measured Node process, in MB. */
  readonly memory: number;
  /** The message of an error that ended the row. */
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

/** The machine, as far as it matters: no names, no paths. */
export function machine(postgresql: string): RunReport['machine'] {
  return { cores: availableParallelism(), node: process.version.slice(1), postgresql };
}

/** The promise about memory. */
export const MEMORY_BOUND = 350;

/** The bound on a row's memory. */
export function memoryBound(row: RowReport): Bound {
  return { ratio: 'memory of Node, MB', value: row.memory, sense: 'at most', bound: MEMORY_BOUND };
}

/** Whether every promise of every row holds. */
export function allHold(report: RunReport): boolean {
  return report.rows.every(
    (row) => row.failure === undefined && [...row.bounds, memoryBound(row)].every(holds),
  );
}

/** The run as JSON: bounds with whether they hold. */
export function toJson(report: RunReport): string {
  const rows = report.rows.map((row) => ({
    ...row,
    bounds: [...row.bounds, memoryBound(row)].map((bound) => ({ ...bound, holds: holds(bound) })),
  }));
  return JSON.stringify({ ...report, holds: allHold(report), rows }, null, 2);
}

/** A row for a terminal. */
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

/** The run as a page for docs/. */
export function toMarkdown(report: RunReport): string {
  const { cores, node, postgresql } = report.machine;
  const judged = report.rows.flatMap((row) => [
    ...row.bounds.map((bound) => [row.subject, row.baseline, bound] as const),
  ]);
  const memory = Math.max(...report.rows.map((row) => row.memory));
  const verdicts = judged.map(
    ([subject, baseline, bound]) =>
      `| ${subject} | ${baseline} | ${bound.ratio} | ${limit(bound)} | ${number(bound.value)} | ${verdict(bound)} |`,
  );
  const whole: Bound = { ratio: '', value: memory, sense: 'at most', bound: MEMORY_BOUND };
  const figures = report.rows.map(
    (row) => `| ${row.row} | ${row.figures.map(figure).join(' · ')} | ${number(row.memory)} |`,
  );
  return `# Performance

Written by the bench; do not edit. Ratios are judged: each compares two things in one run on one machine, which is all
that carries over to another. Absolute figures are reported for orientation only.

- Date: ${report.date}
- Command: \`${report.command}\`
- Machine: ${cores} cores, shared by Node ${node}, PostgreSQL ${postgresql} (embedded, durable commits) and the load
- Of ${report.runs} alternating runs of subject and baseline the median counts

| Measure | Baseline in the same run | Ratio | Bound | Measured | |
|---|---|---|---|---|---|
${verdicts.join('\n')}
| resident memory of the Node process, most of all rows | – | MB | ${limit(whole)} | ${number(memory)} | ${verdict(whole)} |

| Row | Absolute figures | Memory, MB |
|---|---|---|
${figures.join('\n')}

How it is measured: \`bench/\`; one file per row in \`bench/measures/\`, the baselines in \`bench/baselines/\`. The load
comes from a process of its own, the same for both sides; an unexpected status fails the row. The baseline writes to the
same PostgreSQL server under the same settings.
`;
}

const limit = ({ sense, bound }: Bound): string => `${sense} ${bound}`;
const verdict = (bound: Bound): string => (holds(bound) ? 'holds' : '**missed**');
const figure = ({ name, value, unit }: Figure): string =>
  `${name} ${number(value)}${unit === '' ? '' : ` ${unit}`}`;

/** Three digits that matter, or a whole number with its thousands apart. */
function number(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(3)));
}
