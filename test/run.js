/**
 * `npm test`: runs the linter, the type checker and all tests, except tests that only `npm run prove` runs. The last line is
 * the total. `npm test -- <part of a path>… [mocha's options]` runs only the tests in the matching files, without the two
 * checks. Written in plain JavaScript, so that it doesn't depend on anything that it tests.
 */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Mocha options whose value is the next argument. */
const TAKES_VALUE = new Set([
  '-g',
  '--grep',
  '-f',
  '--fgrep',
  '-t',
  '--timeout',
  '-j',
  '--jobs',
  '--retries',
]);

const CORES = Math.min(4, Math.max(2, availableParallelism()));

/**
 * V8 options that reduce the tests' processor time by a third. Most code runs only a few times, so the optimising compiler
 * gains little, and the heap is large. The garbage collector keeps its threads: without them, a pause would be longer than
 * `long-work` allows for a step. Mocha's processes get only the options that this version of Node knows.
 */
const V8_OPTIONS = ['max-semi-space-size=128', 'always-sparkplug', 'interrupt-budget=600000'];

/** These run first, so that none of them is left running alone when the others have finished. */
const LONGEST = ['http/readme', 'http/event-loop', 'http/cli-', 'faults/', 'contract/'];

const { filters, options } = split(process.argv.slice(2));
const files = testFiles().filter(
  (file) => filters.length === 0 || filters.some((part) => file.includes(part)),
);
const counts = { passed: 0, failed: 0, skipped: 0 };

// Tests spend much of their time waiting, so the checks run at the same time and report at the end.
const checks =
  process.argv.length === 2
    ? [
        check('biome', ['node_modules/@biomejs/biome/bin/biome', 'check', '.']),
        check('tsc', ['node_modules/typescript/bin/tsc', '--noEmit']),
        check('tsc of the dashboard', ['node_modules/typescript/bin/tsc', '--noEmit', '-p', 'dashboard']),
        check('tsc of the client', [
          'node_modules/typescript/bin/tsc',
          '--noEmit',
          '-p',
          'clients/typescript',
        ]),
      ]
    : [];
if (files.length === 0) {
  console.log(`no test file matches ${filters.join(' ')}`);
  counts.failed += 1;
} else {
  await mocha();
}
for (const report of await Promise.all(checks)) report();
const skipped = counts.skipped === 0 ? '' : `, ${counts.skipped} skipped`;
console.log(`${counts.passed} passed, ${counts.failed} failed${skipped}`);
process.exitCode = counts.failed === 0 ? 0 : 1;

function split(args) {
  const found = { filters: [], options: [] };
  for (let i = 0; i < args.length; i++) {
    if (!args[i].startsWith('-')) found.filters.push(args[i]);
    else found.options.push(args[i], ...(TAKES_VALUE.has(args[i]) ? [args[++i]] : []));
  }
  return found;
}

function testFiles() {
  return readdirSync(join(root, 'test'), { recursive: true })
    .map((name) => relative(root, join(root, 'test', name)))
    .filter((file) => file.endsWith('.test.ts') && !file.startsWith(join('test', 'prove')))
    .sort((one, other) => rank(one) - rank(other) || (one < other ? -1 : 1));
}

function rank(file) {
  const at = LONGEST.findIndex((part) => file.startsWith(join('test', part)));
  return at === -1 ? LONGEST.length : at;
}

/**
 * Runs a check that passes or fails as a whole.
 * @returns a function that counts and prints the result
 */
async function check(name, args) {
  let output = '';
  const code = await run(args, {}, (text) => {
    output += text;
  });
  return () => {
    process.stdout.write(output);
    console.log(code === 0 ? `  ✔ ${name}` : `  ✖ ${name} failed`);
    counts[code === 0 ? 'passed' : 'failed'] += 1;
  };
}

/** Runs the tests. Mocha's own process counts them. If it exits without having written the counts, the run fails. */
async function mocha() {
  const number = String(process.pid);
  const folders = `annal-test-${number}-`;
  const counted = join(mkdtempSync(join(tmpdir(), folders)), 'counts.json');
  const reporter = ['--reporter', join(root, 'test/support/reporter.js')];
  // More processes than cores would take longer in total. If only a few tests run, they are easier to follow one after
  // another.
  const jobs = filters.length === 0 ? ['--parallel', '--jobs', String(CORES)] : [];
  const args = [
    'node_modules/mocha/bin/mocha.js',
    ...knownOptions(),
    ...reporter,
    ...jobs,
    ...options,
    ...files,
  ];
  const code = await run(args, { ANNAL_TEST_COUNTS: counted, ANNAL_TEST_RUN: number });
  let failed = 0;
  try {
    const { passes, failures, pending } = JSON.parse(readFileSync(counted, 'utf8'));
    counts.passed += passes;
    counts.skipped += pending;
    failed = failures;
  } catch {
    console.log('  ✖ mocha ended before it had run all tests');
    failed = 1;
  }
  counts.failed += code === 0 ? failed : Math.max(failed, 1);
  sweep(folders);
}

/** Returns the mocha options that pass V8's options to mocha's processes. */
function knownOptions() {
  const known = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' }).stdout ?? '';
  return V8_OPTIONS.filter((option) => known.includes(`--${option.replace(/=.*/, '')} `)).flatMap(
    (option) => ['--node-option', option],
  );
}

/** Removes the run's folders, because test processes are stopped before they have removed all of their own. */
function sweep(beginning) {
  for (const place of [tmpdir(), '/dev/shm'].filter((each) => existsSync(each)))
    for (const name of readdirSync(place).filter((each) => each.startsWith(beginning)))
      rmSync(join(place, name), { recursive: true, force: true, maxRetries: 20 });
}

/**
 * Runs a Node program in the repository, passing on its output as it arrives.
 * @param take receives the output instead
 */
function run(args, env, take) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, {
      cwd: root,
      env: { ...process.env, ...env },
      stdio: take === undefined ? ['ignore', 'inherit', 'inherit'] : ['ignore', 'pipe', 'pipe'],
    });
    child.stdout?.setEncoding('utf8').on('data', take);
    child.stderr?.setEncoding('utf8').on('data', take);
    child.on('close', (code) => resolve(code ?? 1));
    child.on('error', () => resolve(1));
  });
}
