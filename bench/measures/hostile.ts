/**
 * The cost of one project's work for another project: reads and creates at a steady rate, alone and during each hostile load.
 */
import type { Bench } from '../bench.ts';
import { HOSTILE, type HostileLoad, type OwnTarget } from '../hostile-loads.ts';
import type { Flood, FloodOutcome } from '../load/flood.ts';
import type { SteadyOutcome, SteadyPlan } from '../load/steady.ts';
import type { Bound, Figure, Finding, Measure } from '../measure.ts';
import { openProject, openTokens } from '../open-project.ts';
import { createObservations, createPatients, FHIR, resourcePath } from '../records.ts';
import { requestTo } from '../service.ts';
import type { Worker } from '../worker.ts';

/** The other project's requests per second. */
const READS = 30;
const CREATES = 15;
/** The maximum p99: this many ms, or this multiple of the p99 without load, whichever is higher. */
const MOST_MS = 250;
const TIMES_ALONE = 5;
/** Maximum memory, in MB. One project may use a third of the memory for bodies, which are kept both as bytes and as text. */
const MOST_MEGABYTES = 800;
/** The minimum share of its usual rate that a hostile project must still reach. */
const KEEPS = 0.2;

/** The answers that the other project gets. */
interface Answers {
  readonly reads: SteadyOutcome;
  readonly creates: SteadyOutcome;
}

/** The row. */
export const hostile: Measure = {
  row: 'hostile',
  subject: `reads (${READS} a second) and creates (${CREATES} a second) in a project while another project sends the most costly requests: ${HOSTILE.map(({ name }) => name).join('; ')}`,
  baseline: 'the same reads and creates alone; the same hostile load alone',
  run: (bench) => measureHostile(bench, HOSTILE),
};

/** Measures the row for the given loads. */
export async function measureHostile(bench: Bench, loads: readonly HostileLoad[]): Promise<Finding> {
  const measured = await bench.service();
  const { service, databaseUrl } = measured;
  const tokens = openTokens(measured);
  const patients = await createPatients(service, 20);
  const { locations } = await createObservations(bench, service, patients, { count: 1_000, locations: true });
  const [steady, flood] = [bench.worker('load/steady.ts'), bench.worker('load/flood.ts')];
  const other = (seconds: number): Promise<Answers> =>
    measureAnswers(steady, service.target, locations.map(resourcePath), patients, seconds);
  const seconds = bench.seconds(15);
  await other(bench.seconds(5));
  const alone = await other(seconds);
  bench.say(`alone: ${formatAnswers(alone)}`);

  const bounds: Bound[] = [];
  const figures: Figure[] = [
    { name: 'p99 of reads alone', value: alone.reads.p99, unit: 'ms' },
    { name: 'p99 of creates alone', value: alone.creates.p99, unit: 'ms' },
  ];
  let [asked, failed] = [0, 0];
  for (const load of loads) {
    // Each load gets its own project; otherwise searches would find another load's data.
    const { key } = await openProject(measured, tokens);
    const target: OwnTarget = { ...service.target, key };
    const [patient = ''] = await createPatients({ request: requestTo(target) }, 1);
    const made = await load.prepare(bench, target, patient);
    await bench.settle(databaseUrl);
    const sent = { target, clients: load.clients, expect: load.expect, ...made };
    const send = (): Promise<FloodOutcome> =>
      flood.call<Flood & { seconds: number }, FloodOutcome>({ ...sent, seconds });
    const own = await send();
    const [during, beside] = await Promise.all([other(seconds), send()]);
    asked += during.reads.requests + during.creates.requests;
    failed += during.reads.failed + during.creates.failed;
    bench.say(
      `${load.name}: ${formatAnswers(during)}; own ${formatFlood(own)}, beside ${formatFlood(beside)}`,
    );
    for (const what of ['reads', 'creates'] as const) {
      const most = Math.max(MOST_MS, TIMES_ALONE * alone[what].p99);
      const ratio = `${load.name}: p99 of ${what} / ${MOST_MS} ms or ${TIMES_ALONE} × alone`;
      bounds.push({ ratio, value: during[what].p99 / most, sense: 'at most', bound: 1 });
      figures.push({ name: `${load.name}: p99 of ${what}`, value: during[what].p99, unit: 'ms' });
    }
    const keeps = { ratio: `${load.name}: rate / own rate`, value: beside.rate / own.rate };
    bounds.push({ ...keeps, sense: 'at least', bound: KEEPS });
    figures.push({ name: `${load.name}: own rate`, value: own.rate, unit: '/s' });
  }
  bounds.push({
    ratio: 'reads and creates that succeeded',
    value: 1 - failed / asked,
    sense: 'at least',
    bound: 1,
  });
  return { rounds: 'one run of each', mostMemory: MOST_MEGABYTES, bounds, figures };
}

async function measureAnswers(
  worker: Worker,
  target: OwnTarget,
  paths: readonly string[],
  patients: readonly string[],
  seconds: number,
): Promise<Answers> {
  const creates = { kind: 'observations', path: `${FHIR}/Observation`, patients } as const;
  const [reads, written] = await worker.call<readonly SteadyPlan[], readonly SteadyOutcome[]>([
    { load: { target, expect: 200, requests: { kind: 'reads', paths } }, rate: READS, seconds },
    { load: { target, expect: 201, requests: creates }, rate: CREATES, seconds },
  ]);
  if (reads === undefined || written === undefined) throw new Error('the load was not answered');
  return { reads, creates: written };
}

function formatAnswers({ reads, creates }: Answers): string {
  return [reads, creates]
    .map(({ requests, failed, p50, p99, max, faults }, n) => {
      const times = [p50, p99, max].map((ms) => ms.toFixed(1)).join('/');
      return `${requests} ${n === 0 ? 'reads' : 'creates'} p50/p99/max ${times} ms, ${failed} failed ${faults.join(' | ').slice(0, 300)}`;
    })
    .join('; ');
}

const formatFlood = ({ rate, statuses }: FloodOutcome): string =>
  `${rate.toFixed(2)}/s ${JSON.stringify(statuses)}`;
