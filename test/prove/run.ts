/**
 * `npm run prove`: runs the same tests as `npm test` at full size, and the bench. Takes up to 100 minutes on two cores; writes
 * docs/proof.md. `npm run prove -- <stage>…` runs only the given stages and writes their rows, each with its date and commit.
 * `npm run prove -- --changed <commit>` runs the stages affected by changes since that commit.
 */
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { z } from 'zod';
import { changedFiles, touchedStages } from './changed.ts';
import type { Stage } from './stage.ts';
import { STAGES } from './stages.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const PAGE = join(ROOT, 'docs/proof.md');
/** How long a single test at full size may take, in ms, unless the test sets another limit. */
const TEST_MS = 1_800_000;

/** The files that the test reporter and the bench leave behind. */
const counts = z.object({ passes: z.int(), failures: z.int(), pending: z.int() });
const benched = z.object({
  holds: z.boolean(),
  rows: z.array(
    z.object({
      bounds: z.array(z.object({ holds: z.boolean(), ratio: z.string(), value: z.number() })),
      figures: z.array(z.object({ name: z.string(), value: z.number(), unit: z.string() })),
      failure: z.string().optional(),
    }),
  ),
});

/** A stage's result. */
interface Result {
  readonly stage: Stage;
  readonly holds: boolean;
  /** In a few words. */
  readonly found: string;
  readonly seconds: number;
  /** The commit of the code that ran. */
  readonly commit: string;
}

const NAME_WIDTH = Math.max(...STAGES.map(({ name }) => name.length));
const USAGE = `npm run prove -- [stage]…
npm run prove -- --changed <commit>
All stages take at most 100 minutes on two quiet cores. Each writes its row of docs/proof.md when it has ended.
--changed runs the stages whose code or tests differ from the commit, uncommitted changes included.

Stages:
${STAGES.map(({ name, shows }) => `  ${name.padEnd(NAME_WIDTH)}  ${shows}`).join('\n')}
`;

async function main(names: readonly string[]): Promise<number> {
  if (names.some((name) => name === '--help' || name === '-h')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const [first, commit] = names;
  if (first === '--changed') {
    if (commit === undefined || names.length > 2) {
      process.stderr.write('--changed takes one commit, for example --changed HEAD~1\n');
      return 2;
    }
    return proveAll(touchedStages(await changedFiles(ROOT, commit)));
  }
  const unknown = names.filter((name) => !STAGES.some((stage) => stage.name === name));
  if (unknown.length > 0) {
    process.stderr.write(`no stage ${unknown.join(', ')}: ${STAGES.map(({ name }) => name).join(', ')}\n`);
    return 2;
  }
  return proveAll(STAGES.filter(({ name }) => names.length === 0 || names.includes(name)));
}

async function proveAll(stages: readonly Stage[]): Promise<number> {
  if (stages.length === 0) {
    process.stdout.write('no stage is touched by the change\n');
    return 0;
  }
  const results: Result[] = [];
  for (const [index, stage] of stages.entries()) {
    process.stdout.write(`\n[${index + 1}/${stages.length}] ${stage.name}: ${stage.shows}\n`);
    const result = await prove(stage);
    results.push(result);
    const before = await readFile(PAGE, 'utf8').catch(() => '');
    await writeFile(PAGE, page(rowsOf(before).set(stage.name, row(result))));
  }
  process.stdout.write(`\n${table(results)}\n`);
  return results.every(({ holds }) => holds) ? 0 : 1;
}

/** Runs a stage, passing its output on as it arrives. */
async function prove(stage: Stage): Promise<Result> {
  const folder = await mkdtemp(join(tmpdir(), 'annal-prove-'));
  const file = join(folder, 'result.json');
  const told = join(folder, 'found.txt');
  const commit = await commitOfTree();
  const began = performance.now();
  try {
    const env = { ...settingsOf(stage), ANNAL_TEST_COUNTS: file, ANNAL_TEST_FOUND: told };
    const code = await run(argumentsOf(stage, file), env);
    const ran = { stage, seconds: (performance.now() - began) / 1000, commit };
    const text = await readFile(file, 'utf8').catch(() => undefined);
    if (text === undefined) return { ...ran, holds: false, found: `it ended with ${code} and no result` };
    const { holds, found } = verdict(stage, code, JSON.parse(text));
    const findings = (await readFile(told, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
    return { ...ran, holds, found: [found, ...findings].join('; ') };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Returns the commit that is checked out, with a note if files other than pages differ from it. */
async function commitOfTree(): Promise<string> {
  const git = (...args: string[]) =>
    promisify(execFile)('git', args, { cwd: ROOT }).then(({ stdout }) => stdout.trim());
  try {
    const commit = await git('rev-parse', '--short', 'HEAD');
    const changed = await git('status', '--porcelain', '--', '.', ':!docs');
    return changed === '' ? commit : `${commit} and changes`;
  } catch {
    return 'unknown';
  }
}

function argumentsOf({ run: what, alone = false }: Stage, file: string): string[] {
  if ('bench' in what) return ['--import', 'tsx', 'bench/run.ts', ...what.bench, '--out', file];
  const reporter = join(ROOT, 'test/support/reporter.js');
  return [
    'node_modules/mocha/bin/mocha.js',
    '--reporter',
    reporter,
    '--timeout',
    String(TEST_MS),
    ...(alone ? [] : ['--parallel', '--jobs', '2']),
    ...what.tests,
  ];
}

/**
 * Returns a stage's verdict. A skipped test shows nothing, so a stage with only skipped tests fails, and the verdict mentions
 * skipped tests.
 */
function verdict({ run: what }: Stage, code: number, result: unknown): Pick<Result, 'holds' | 'found'> {
  if ('bench' in what) {
    const { holds, rows } = benched.parse(result);
    const bounds = rows.flatMap((row) => row.bounds);
    const kept = bounds.filter((bound) => bound.holds).length;
    const [row, ...others] = rows;
    if (row !== undefined && others.length === 0) return { holds, found: row.failure ?? figuresOf(row) };
    const broken = bounds
      .filter((bound) => !bound.holds)
      .map(({ ratio, value }) => `${ratio} ${value.toPrecision(3)}`);
    return { holds, found: [`${kept} of ${bounds.length} bounds hold`, ...broken].join('; ') };
  }
  const { passes, failures, pending } = counts.parse(result);
  const skipped = pending === 0 ? '' : `, ${pending} skipped`;
  return { holds: code === 0 && passes > 0, found: `${passes} passed, ${failures} failed${skipped}` };
}

/** Returns the measured figures of one row of the bench. */
function figuresOf({ bounds, figures }: z.infer<typeof benched>['rows'][number]): string {
  return [
    ...bounds.map(({ ratio, value }) => `${ratio} ${value.toPrecision(3)}`),
    ...figures.map(({ name, value, unit }) => `${name} ${Number(value.toPrecision(4))} ${unit}`.trimEnd()),
  ].join('; ');
}

function run(args: readonly string[], env: Readonly<Record<string, string>>): Promise<number> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      env: { ...process.env, ...env },
      stdio: 'inherit',
    });
    child.on('exit', (code) => resolve(code ?? 1));
    child.on('error', () => resolve(1));
  });
}

function table(results: readonly Result[]): string {
  const width = Math.max(...results.map(({ stage }) => stage.name.length));
  return results
    .map(({ stage, holds, found, seconds }) =>
      [
        holds ? 'holds ' : 'FAILED',
        stage.name.padEnd(width),
        `${Math.round(seconds)} s`.padStart(7),
        found,
      ].join('  '),
    )
    .join('\n');
}

/** Returns a page's rows, by stage. */
function rowsOf(text: string): Map<string, string> {
  const rows = text.split('\n').flatMap((line) => {
    const [, name] = /^\| ([a-z-]+) \|/.exec(line) ?? [];
    return name === undefined ? [] : [[name, line] as const];
  });
  return new Map(rows);
}

function row({ stage, holds, found, seconds, commit }: Result): string {
  const date = new Date().toISOString().slice(0, 16);
  const verdict = holds ? 'holds' : '**failed**';
  const cells = [
    stage.name,
    stage.shows,
    `\`${commandOf(stage)}\``,
    found.replaceAll('|', '\\|'),
    date,
    commit,
    `${Math.round(seconds)} s`,
    verdict,
  ];
  return `| ${cells.join(' | ')} |`;
}

function page(rows: ReadonlyMap<string, string>): string {
  const ran = STAGES.flatMap(({ name }) => rows.get(name) ?? []);
  const seconds = ran.map((line) => Number(/\| (\d+) s \|/.exec(line)?.[1] ?? 0));
  const minutes = (each: readonly number[]): number =>
    Math.round(each.reduce((sum, one) => sum + one, 0) / 60);
  const missing = STAGES.filter(({ name }) => !rows.has(name)).map(({ name }) => name);
  return `# Proof at full size

\`npm run prove\` writes this page; do not edit it. Each row shows when (UTC) and on which commit the stage ran.

- Machine: ${availableParallelism()} cores, Node ${process.version.slice(1)}, embedded PostgreSQL
- The stages that have run took ${minutes(seconds)} minutes in total; the longest stage took ${minutes([Math.max(0, ...seconds)])} minutes. The goals are at most 100 minutes for all stages and at most 15 minutes for each
- Not run yet: ${missing.length === 0 ? 'none' : missing.join(', ')}

| Stage | Shown | Command | Found | Date | Commit | Time | |
|---|---|---|---|---|---|---|---|
${ran.join('\n')}

The results of the benchmark are in [performance.md](performance.md).
`;
}

/** Returns the environment variables that set a stage's size. */
const settingsOf = ({ run: what, env }: Stage): Readonly<Record<string, string>> =>
  env ?? ('tests' in what ? { ANNAL_TEST_SCALE: '1' } : {});

/** Returns the command as a user would type it. */
function commandOf(stage: Stage): string {
  const { run: what } = stage;
  const settings = Object.entries(settingsOf(stage)).map(([name, value]) => `${name}=${value} `);
  if ('bench' in what) return `npm run bench -- ${what.bench.join(' ')}`;
  return `${settings.join('')}npx mocha ${what.tests.join(' ')}`;
}

process.exitCode = await main(process.argv.slice(2));
