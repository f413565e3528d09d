/** `npm run bench`: measures every row of the performance table in one run. Exits with 1 if a promise isn't kept. */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { Bench } from './bench.ts';
import type { Measure } from './measure.ts';
import { MEASURES } from './measures/all.ts';
import { type Options, parseOptions, usage } from './options.ts';
import { pageWith } from './page.ts';
import { allHold, machine, type RowReport, type RunReport, toJson, toText } from './report.ts';

const PAGE = fileURLToPath(new URL('../docs/performance.md', import.meta.url));

const USAGE = usage(MEASURES.map(({ row, subject }) => [row, subject]));

async function main(args: readonly string[]): Promise<number> {
  const options = parseOptions(
    args,
    MEASURES.map(({ row }) => row),
  );
  if (options === undefined) {
    process.stdout.write(`${USAGE}\n`);
    return 0;
  }
  // Progress goes to standard error if another program reads standard output.
  const say = (text: string): void =>
    void (options.json ? process.stderr : process.stdout).write(`${text}\n`);
  const bench = await Bench.start(options, say);
  const end = async (code: number): Promise<number> => {
    await bench.end();
    return code;
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void end(130).then((code) => process.exit(code)));
  }
  try {
    const report = await measureAll(bench, options, args);
    if (options.json) process.stdout.write(`${toJson(report)}\n`);
    if (options.out !== undefined) await writeFile(options.out, toJson(report));
    return await end(allHold(report) ? 0 : 1);
  } catch (error) {
    await end(2);
    throw error;
  }
}

async function measureAll(bench: Bench, options: Options, args: readonly string[]): Promise<RunReport> {
  const [version] = await bench.query<{ server_version: string }>(bench.server.url, 'SHOW server_version');
  const measures = MEASURES.filter(({ row }) => options.only.length === 0 || options.only.includes(row));
  const rows: RowReport[] = [];
  const makeReport = (found: readonly RowReport[]): RunReport => ({
    date: new Date().toISOString(),
    command: commandLine(args),
    machine: machine(version?.server_version ?? 'of unknown version'),
    scale: options.scale,
    runs: options.runs,
    rows: found,
  });
  for (const measure of measures) {
    const row = await measureOne(bench, measure);
    rows.push(row);
    bench.say(toText(row));
    // Rows that have been measured are written even if a later row fails or the run is interrupted.
    if (options.scale >= 1 && row.failure === undefined) await writeRows(makeReport([row]));
  }
  return makeReport(rows);
}

/** Writes rows to the page as soon as they are measured, so that a run that is stopped early loses none of its results. */
async function writeRows(report: RunReport): Promise<void> {
  const before = await readFile(PAGE, 'utf8').catch(() => '');
  const order = MEASURES.map(({ row }) => row);
  await writeFile(PAGE, pageWith(report, before, order));
}

/** Returns the command as a user would type it, without paths of output files. */
function commandLine(args: readonly string[]): string {
  const kept = args.filter((arg, i) => !arg.startsWith('--out') && args[i - 1] !== '--out');
  return ['npm run bench', ...(kept.length === 0 ? [] : ['--', ...kept])].join(' ');
}

/** Measures one row; if it fails, the other rows still run. */
async function measureOne(bench: Bench, { row, subject, baseline, run }: Measure): Promise<RowReport> {
  bench.memory.reset();
  try {
    const finding = await run(bench);
    return { row, subject, baseline, ...finding, memory: bench.memory.peak };
  } catch (error) {
    const failure = error instanceof Error ? error.message : String(error);
    return { row, subject, baseline, bounds: [], figures: [], memory: bench.memory.peak, failure };
  } finally {
    await bench.clear();
  }
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error: unknown) => {
    process.stderr.write(`${error instanceof TypeError ? `${error.message}\n${USAGE}` : String(error)}\n`);
    process.exitCode = 2;
  },
);
