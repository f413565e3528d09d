/**
 * `npm run bench:against -- <checkout>`: compares this checkout with another checkout in one run. Each has its own service and
 * PostgreSQL server; short rounds alternate between them. The comparison uses the CPU time per request, in Node and in
 * PostgreSQL, which is reliable even on a busy machine; requests per second are shown for orientation. Linux only.
 */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { Bench } from '../bench.ts';
import { createObservations } from '../records.ts';
import { ascending, median, quantile } from '../statistics.ts';
import { processorTime, processorTimeOfEnded, processorTimeWithChildren } from './processor.ts';
import { load, prepare, ROWS, type Row, type Side } from './rows.ts';
import { compareWrites } from './writes.ts';

const HERE = fileURLToPath(new URL('../..', import.meta.url));
/** The lowest ratio that is accepted: the other checkout's time per request divided by this checkout's. */
const BOUND = 0.95;
/** Rows that aren't loads. */
const OTHERS = ['cold', 'rebuild', 'projected', 'memory', 'writes'];
const NAMES = [...ROWS.map(({ name }) => name), ...OTHERS];
const USAGE = `npm run bench:against -- <folder of another checkout> [options]
  --only <row>      only this row; may be repeated: ${NAMES.join(', ')}
  --rounds <n>      rounds of each row, alternating (default 10)
  --seconds <n>     seconds of a round (default 1.5)
  --profile <dir>   writes V8 CPU profiles of both services there`;

/** The cost of a request or of a run: CPU time in ms, and a rate for orientation. */
interface Cost {
  readonly node: number;
  readonly postgres: number;
  readonly rate: number;
}

/** The rounds, each with the other checkout's cost and this checkout's cost. */
type Rounds = readonly (readonly [theirs: Cost, ours: Cost])[];

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      only: { type: 'string', multiple: true, default: NAMES },
      rounds: { type: 'string', default: '10' },
      seconds: { type: 'string', default: '1.5' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const [other] = positionals;
  const unknown = values.only.filter((name) => !NAMES.includes(name));
  if (values.help || other === undefined || unknown.length > 0) {
    process.stdout.write(`${USAGE}\n`);
    return values.help ? 0 : 2;
  }
  const [rounds, seconds] = [Number(values.rounds), Number(values.seconds)];
  const sides: Side[] = [];
  const benches: Bench[] = [];
  const profile = values.profile === undefined ? undefined : resolve(values.profile);
  const end = async (): Promise<void> => {
    for (const bench of benches.splice(0).reverse()) await bench.end();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void end().then(() => process.exit(130)));
  const options = { only: [], scale: 1, runs: rounds, full: false, json: false, out: undefined, profile };
  try {
    for (const root of [resolve(other), HERE]) {
      const bench = await Bench.start(options, say, root);
      benches.push(bench);
      sides.push(await prepare(root, bench));
    }
    const [theirs, ours] = sides;
    if (theirs === undefined || ours === undefined) throw new Error('two checkouts are compared');
    let missed = 0;
    const judge = (name: string, found: Rounds): void => {
      if (!printRow(name, found)) missed += 1;
    };
    for (const row of ROWS.filter(({ name }) => values.only.includes(name)))
      judge(row.name, await alternately(row, theirs, ours, { rounds, seconds }));
    if (values.only.includes('memory')) await tellMemory(theirs, ours);
    if (values.only.includes('cold')) judge('cold', await coldWrites(theirs, ours));
    if (values.only.includes('writes') && !(await compareWrites(theirs.bench, ours.bench, say))) missed += 1;
    for (const [name, models] of REBUILDS)
      if (values.only.includes(name)) judge(name, await rebuilds(theirs, ours, models));
    say(`${missed === 0 ? 'all rows hold' : `${missed} rows miss`}: at least ${BOUND} of the other checkout`);
    return missed === 0 ? 0 : 1;
  } finally {
    await end();
  }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}

/** Runs both checkouts in turn; the checkout that goes first also alternates. */
async function inTurn(
  rounds: number,
  theirs: () => Promise<Cost>,
  ours: () => Promise<Cost>,
): Promise<Rounds> {
  const found: [Cost, Cost][] = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round % 2 === 0) {
      const first = await theirs();
      found.push([first, await ours()]);
    } else {
      const first = await ours();
      found.push([await theirs(), first]);
    }
  }
  return found;
}

async function alternately(
  row: Row,
  theirs: Side,
  ours: Side,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<Rounds> {
  for (const side of [theirs, ours]) await load(row, side, { count: row.warmUp });
  const cost = async (side: Side): Promise<Cost> => {
    const before = await used(side);
    const { requests, rate } = await load(row, side, { seconds });
    const after = await used(side);
    return {
      node: (after.node - before.node) / requests,
      postgres: (after.postgres - before.postgres) / requests,
      rate,
    };
  };
  return inTurn(
    rounds,
    () => cost(theirs),
    () => cost(ours),
  );
}

/** Returns the CPU time that a side's service and database server have used so far, in ms. */
async function used({ bench, running }: Side): Promise<{ node: number; postgres: number }> {
  return {
    node: await processorTime(running.service.pid),
    postgres: await processorTimeWithChildren(bench.server.pid),
  };
}

/**
 * Starts a service and measures its first write to a stream with several thousand events, after 300 writes to other streams.
 */
async function coldWrites(theirs: Side, ours: Side): Promise<Rounds> {
  const services = new Map([theirs, ours].map((side) => [side, side.running]));
  const cost = async (side: Side): Promise<Cost> => {
    const before = services.get(side) ?? side.running;
    await before.stop();
    const running = await side.bench.service({ databaseUrl: before.databaseUrl, dataDir: before.dataDir });
    services.set(side, running);
    await createObservations(side.bench, running.service, side.patients, { count: 300 });
    const now = { ...side, running };
    const started = await used(now);
    const outcome = await createObservations(side.bench, running.service, [side.large], {
      clients: 1,
      count: 1,
    });
    const ended = await used(now);
    // A single write takes less time than the resolution of CPU time, so elapsed time is compared.
    return {
      node: outcome.p50,
      postgres: Math.max(0, ended.postgres - started.postgres),
      rate: 1000 / outcome.p50,
    };
  };
  return inTurn(
    7,
    () => cost(theirs),
    () => cost(ours),
  );
}

const REBUILDS = [
  ['rebuild', ['resources', 'history']],
  ['projected', ['search', 'timeline']],
] as const;

/** Runs `annal rebuild` while the service is running. */
function rebuilds(theirs: Side, ours: Side, models: readonly string[]): Promise<Rounds> {
  const cost = async ({ root, bench, running }: Side): Promise<Cost> => {
    const [node, postgres] = [
      await processorTimeOfEnded(),
      await processorTimeWithChildren(bench.server.pid),
    ];
    const began = performance.now();
    const env = { ...process.env, DATA_DIR: running.dataDir, DATABASE_URL: running.databaseUrl };
    await promisify(execFile)(process.execPath, [join(root, 'bin/annal.js'), 'rebuild', ...models], {
      cwd: root,
      env,
    });
    const elapsed = performance.now() - began;
    return {
      node: (await processorTimeOfEnded()) - node,
      postgres: (await processorTimeWithChildren(bench.server.pid)) - postgres,
      rate: 1000 / elapsed,
    };
  };
  return inTurn(
    3,
    () => cost(theirs),
    () => cost(ours),
  );
}

/**
 * Prints a row: the other checkout's figures → this checkout's figures. For each side, the lower quartile of its rounds is
 * used, because other programs can only make a request slower.
 * @returns whether the row is within the bound
 */
function printRow(name: string, rounds: Rounds): boolean {
  const of = (side: 0 | 1, value: (cost: Cost) => number): number =>
    quantile(rounds.map((round) => value(round[side])).sort(ascending), 0.25);
  const formatChange = (value: (cost: Cost) => number): string =>
    `${of(0, value).toPrecision(3)} → ${of(1, value).toPrecision(3)}`;
  const both = ({ node, postgres }: Cost): number => node + postgres;
  const ratio = of(0, both) / of(1, both);
  const rate = median(rounds.map(([theirs, ours]) => ours.rate / theirs.rate));
  const holds = ratio >= BOUND;
  say(
    `${name.padEnd(12)} node ${formatChange(({ node }) => node)} ms, PostgreSQL ${formatChange(({ postgres }) => postgres)} ms, both ${formatChange(both)} ms: ${ratio.toFixed(3)} ${holds ? 'holds' : 'MISSED'} (rate ${rate.toFixed(3)})`,
  );
  return holds;
}

/** Prints the peak resident memory of each service so far. */
async function tellMemory(theirs: Side, ours: Side): Promise<void> {
  const peak = async ({ running }: Side): Promise<number> => {
    const status = await readFile(`/proc/${running.service.pid}/status`, 'utf8');
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(status)?.[1]) / 1024;
  };
  const [before, now] = [await peak(theirs), await peak(ours)];
  say(`memory       peak ${before.toFixed(0)} → ${now.toFixed(0)} MB: ${(before / now).toFixed(3)}`);
}

process.exitCode = await main(process.argv.slice(2));
