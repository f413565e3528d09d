/** The command line of `npm run bench`. */
import { parseArgs } from 'node:util';

/** The rows to run and the sizes. */
export interface Options {
  /** Rows to run; empty for all. */
  readonly only: readonly string[];
  /** Factor by which all sizes and times are multiplied. */
  readonly scale: number;
  /** Number of alternating runs of baseline and subject; the median is reported. */
  readonly runs: number;
  /** True to run the row `growth` at the size of its promise: 500,000 creates instead of a tenth of that. */
  readonly full: boolean;
  /** True to print JSON on standard output instead of a table. */
  readonly json: boolean;
  /** A file to which the results are also written, as JSON. */
  readonly out: string | undefined;
  /** Folder for V8 CPU profiles of the measured Node processes. */
  readonly profile: string | undefined;
}

/**
 * Returns the text for `--help`.
 * @param rows name and subject of each row.
 */
export const usage = (
  rows: readonly (readonly [name: string, what: string])[],
): string => `npm run bench -- [options]
  --only <row>      only this row; may be repeated
  --scale <n>       factor on all sizes and times (default 1)
  --runs <n>        alternating runs of baseline and subject, median counts (default 3)
  --full            the row "growth" with 500,000 creates instead of 50,000
  --json            results as JSON on standard output
  --out <file>      results as JSON to a file too
  --profile <dir>   writes V8 CPU profiles of the measured processes there
A run at scale 1 or more writes its rows into docs/performance.md.

Rows:
${rows.map(([name, what]) => `  ${name.padEnd(14)}  ${what}`).join('\n')}`;

/**
 * Parses arguments; undefined if `usage` should be printed.
 * @throws TypeError naming the problem.
 */
export function parseOptions(args: readonly string[], rows: readonly string[]): Options | undefined {
  const { values } = parseArgs({
    args: [...args],
    options: {
      only: { type: 'string', multiple: true, default: [] },
      scale: { type: 'string', default: '1' },
      runs: { type: 'string', default: '3' },
      full: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      out: { type: 'string' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) return undefined;
  for (const row of values.only) {
    if (!rows.includes(row)) throw new TypeError(`--only ${row}: the rows are ${rows.join(', ')}`);
  }
  const scale = Number(values.scale);
  if (!(scale > 0)) throw new TypeError('--scale must be a number above 0');
  const runs = Number(values.runs);
  if (!Number.isInteger(runs) || runs < 1) throw new TypeError('--runs must be a whole number from 1');
  const { only, full, json, out, profile } = values;
  return { only, scale, runs, full, json, out, profile };
}
