/**
 * The work of one machine divided among processes, compared with one process. Measures the processor time per create at a
 * fixed rate, by process, and how soon a search shows a write.
 */
import {
  processorTime,
  processorTimeOfChildren,
  processorTimeWithChildren,
} from '../../against/processor.ts';
import type { Bench, MeasuredService } from '../../bench.ts';
import type { Created, Pace } from '../../load/paced.ts';
import type { Load } from '../../load/plan.ts';
import { alternate, type Figure, type Measure } from '../../measure.ts';
import { createPatients, FHIR } from '../../records.ts';
import { median } from '../../statistics.ts';
import type { Worker } from '../../worker.ts';
import { type Lsn, walPosition } from '../../writes/wal.ts';

const RATE = 300;
const CLIENTS = 16;

/** Time per create, in ms, and commits per create. */
interface Cost {
  readonly node: ReadonlyMap<string, number>;
  readonly postgres: number;
  readonly commits: number;
  readonly searched: number;
}

export const processes: Measure = {
  row: 'processes',
  subject: `two workers and a projector: ${RATE} creates/s by ${CLIENTS} clients, 64 patients`,
  baseline: 'one process under the same load',
  async run(bench) {
    const alone = await bench.service();
    const divided = await bench.service({ env: { WORKERS: '2', PROJECTORS: '1' } });
    const writer = bench.worker('load/paced.ts');
    const measures = await Promise.all(
      [alone, divided].map(async (started) => {
        const patients = await createPatients(started.service, 64);
        return () => measureCreates(bench, writer, started, patients);
      }),
    );
    const [ofOne, ofSeveral] = measures;
    if (ofOne === undefined || ofSeveral === undefined) throw new Error('no service');
    await ofOne();
    await ofSeveral();
    const runs = await alternate(bench.options.runs, ofOne, ofSeveral);
    const part = (costs: readonly Cost[], name: RegExp): number =>
      median(costs.map(({ node }) => sum([...node].filter(([each]) => name.test(each)).map(([, ms]) => ms))));
    const whole = (costs: readonly Cost[]): number =>
      median(costs.map(({ node, postgres }) => sum([...node.values()]) + postgres));
    const main = part(runs.baseline, /./);
    const of = (costs: readonly Cost[], key: 'postgres' | 'commits' | 'searched'): number =>
      median(costs.map((cost) => cost[key]));
    const figures: Figure[] = [
      { name: 'one process', value: main, unit: 'ms' },
      { name: 'PostgreSQL of one process', value: of(runs.baseline, 'postgres'), unit: 'ms' },
      { name: 'both workers', value: part(runs.subject, /http/), unit: 'ms' },
      { name: 'projector', value: part(runs.subject, /projector/), unit: 'ms' },
      { name: 'primary', value: part(runs.subject, /primary/), unit: 'ms' },
      { name: 'PostgreSQL of several', value: of(runs.subject, 'postgres'), unit: 'ms' },
      { name: 'search after write, one process', value: of(runs.baseline, 'searched'), unit: 'ms' },
      { name: 'search after write, several', value: of(runs.subject, 'searched'), unit: 'ms' },
    ];
    const atMost = (ratio: string, value: number, bound: number) =>
      ({ ratio, value, sense: 'at most', bound }) as const;
    return {
      bounds: [
        atMost('processor time / one process', whole(runs.subject) / whole(runs.baseline), 1.15),
        atMost('workers / one process', part(runs.subject, /http/) / main, 0.75),
        atMost('projector / one process', part(runs.subject, /projector/) / main, 0.4),
        atMost('primary / one process', part(runs.subject, /primary/) / main, 0.03),
        atMost('commits per create', of(runs.subject, 'commits'), 2.5),
        atMost('search after write', of(runs.subject, 'searched') / of(runs.baseline, 'searched'), 1.5),
      ],
      figures,
    };
  },
};

const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0);

async function measureCreates(
  bench: Bench,
  writer: Worker,
  { service, databaseUrl }: MeasuredService,
  patients: readonly string[],
): Promise<Cost> {
  const count = bench.size(RATE * 10, RATE / 10);
  const from = await walPosition(bench, databaseUrl);
  const before = await readTimes(bench, service.pid);
  await writer.call<Omit<Load, 'count'> & Pace, Created[]>({
    ...{ target: service.target, clients: CLIENTS, count, rate: RATE, expect: 201 },
    requests: { kind: 'observations', path: `${FHIR}/Observation`, patients },
  });
  const after = await readTimes(bench, service.pid);
  const commits = await countCommits(bench, databaseUrl, from);
  const each = (name: string): number => ((after.node.get(name) ?? 0) - (before.node.get(name) ?? 0)) / count;
  return {
    node: new Map([...after.node.keys()].map((name) => [name, each(name)])),
    postgres: (after.postgres - before.postgres) / count,
    commits: commits / count,
    searched: await searchAfterWrites(bench, service),
  };
}

async function readTimes(
  bench: Bench,
  pid: number,
): Promise<{ readonly node: ReadonlyMap<string, number>; readonly postgres: number }> {
  const node = new Map(await processorTimeOfChildren(pid));
  return {
    node: node.set('primary', await processorTime(pid)),
    postgres: await processorTimeWithChildren(bench.server.pid),
  };
}

/** Returns the number of transactions that wrote something since a position. */
async function countCommits(bench: Bench, url: string, from: Lsn): Promise<number> {
  const to = await walPosition(bench, url);
  const [row] = await bench.query<{ n: string }>(
    url,
    `select sum(count) as n from pg_get_wal_stats('${from}', '${to}', true) where "resource_manager/record_type" like 'Transaction/COMMIT%'`,
  );
  return Number(row?.n);
}

/** Returns the median time, in ms, of a search that must include a create answered just before it. */
async function searchAfterWrites(bench: Bench, { request }: MeasuredService['service']): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < bench.size(100, 5); n += 1) {
    const family = `Soon${process.hrtime.bigint()}`;
    await request('POST', `${FHIR}/Patient`, 201, { resourceType: 'Patient', name: [{ family }] });
    const began = performance.now();
    const { text } = await request('GET', `${FHIR}/Patient?family=${family}`, 200);
    if (!text.includes(family)) throw new Error('a search did not show a create that was answered');
    times.push(performance.now() - began);
  }
  return median(times);
}
