/**
 * Creates on a disk that takes two milliseconds for each flush, with one process and with several. Each worker commits its own
 * appends, so several processes commit more often than one.
 */
import type { Bench } from '../../bench.ts';
import type { Outcome } from '../../load/plan.ts';
import { alternate, type Measure } from '../../measure.ts';
import { createPatients, FHIR } from '../../records.ts';
import { median } from '../../statistics.ts';

const CLIENTS = 64;
const WORKERS = 4;
/**
 * The wait before each flush, in µs, which applies even if no other session is about to commit (PostgreSQL 18, section
 * 19.5.1).
 */
const DELAY = 2_000;

export const slowDisk: Measure = {
  row: 'disk',
  subject: `${WORKERS} workers and a projector on a disk that takes ${DELAY / 1_000} ms for each flush: creates by ${CLIENTS} clients, 64 patients`,
  baseline: 'one process under the same load',
  async run(bench) {
    const several = await start(bench, { WORKERS: String(WORKERS), PROJECTORS: '1' });
    const one = await start(bench, {});
    await several();
    await one();
    const runs = await alternate(bench.options.runs, one, several);
    const rate = (outcomes: readonly Outcome[]): number => median(outcomes.map(({ rate: each }) => each));
    const p95 = (outcomes: readonly Outcome[]): number => median(outcomes.map(({ p95: each }) => each));
    return {
      bounds: [
        {
          ...{ ratio: `${WORKERS} workers / one process`, sense: 'at least', bound: 0.8 },
          value: rate(runs.subject) / rate(runs.baseline),
        },
      ],
      figures: [
        { name: 'one process', value: rate(runs.baseline), unit: '/s' },
        { name: `${WORKERS} workers`, value: rate(runs.subject), unit: '/s' },
        { name: 'p95 of one process', value: p95(runs.baseline), unit: 'ms' },
        { name: `p95 of ${WORKERS} workers`, value: p95(runs.subject), unit: 'ms' },
      ],
    };
  },
};

/**
 * Starts a service on a database with slow flushes.
 * @returns a function that sends creates to the service for some seconds
 */
async function start(bench: Bench, env: Readonly<Record<string, string>>): Promise<() => Promise<Outcome>> {
  const databaseUrl = await bench.database();
  const name = new URL(databaseUrl).pathname.slice(1);
  for (const setting of [`commit_delay = ${DELAY}`, 'commit_siblings = 0'])
    await bench.query(databaseUrl, `alter database "${name}" set ${setting}`);
  const { service } = await bench.service({ databaseUrl, env });
  const patients = await createPatients(service, 64);
  return () =>
    bench.load({
      ...{ target: service.target, clients: CLIENTS, expect: 201, seconds: bench.seconds(5) },
      requests: { kind: 'observations', path: `${FHIR}/Observation`, patients },
    });
}
