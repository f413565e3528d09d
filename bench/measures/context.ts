/** Contexts from long records for a language model, compared with reading their rows. */
import type { Bench } from '../bench.ts';
import type { Length, Outcome } from '../load/plan.ts';
import { alternate, type Finding, type Measure } from '../measure.ts';
import { FHIR } from '../records.ts';
import { additions } from '../sample.ts';
import type { Service } from '../service.ts';
import { median } from '../statistics.ts';
import { createRecord } from './record.ts';

const CLIENTS = 4;
/** More records than the service caches, so that each context reads its record again. */
const RECORDS = 3;
/** The number of resources in a record after twenty years. */
const RESOURCES = 10_000;
const AT_A_TIME = 500;
const BOUND = 3;
/** The bound for a record that was read recently, so its rows needn't be read again. */
const AGAIN_BOUND = 1;

/** The row. */
export const context: Measure = {
  row: 'context',
  subject: `POST /v1/context for ${RECORDS} records of ${RESOURCES} resources in turn, so that each is read again, and for one record repeatedly; 2,000 tokens; ${CLIENTS} clients`,
  baseline: 'a bare Koa route that reads the same rows with one statement and sends them',
  run: measure,
};

async function measure(bench: Bench): Promise<Finding> {
  const importing = await bench.service();
  const patients: string[] = [];
  for (let n = 0; n < RECORDS; n += 1)
    patients.push(await longRecord(importing.service, bench.size(RESOURCES, 60)));
  await bench.settle(importing.databaseUrl);
  // After a restart, the service's memory contains only the data for contexts, with nothing left from the import.
  await importing.stop();
  const { service, databaseUrl } = await bench.service(importing);
  const route = bench.worker('baselines/record-route.ts');
  const port = await route.call<object, number>({ url: databaseUrl, connections: CLIENTS });
  const target = { host: '127.0.0.1', port };
  const paths = patients.map((patient) => `/${patient}`);
  const rows = (length: Length): Promise<Outcome> =>
    bench.load({ target, clients: CLIENTS, requests: { kind: 'reads', paths }, expect: 200, ...length });
  const contexts = (of: readonly string[], length: Length): Promise<Outcome> => {
    const bodies = of.map((patient) => ({
      patient,
      task: 'follow-up: diabetes',
      question: 'Is the blood glucose stable?',
      needs: ['labs:2339-0'],
    }));
    const requests = { kind: 'posts', path: '/v1/context', bodies } as const;
    return bench.load({ target: service.target, clients: CLIENTS, requests, expect: 200, ...length });
  };

  const one = patients.slice(0, 1);
  await rows(bench.warmUp(20));
  await contexts(patients, bench.warmUp(20));
  const length = { seconds: bench.seconds(5) };
  const first = await alternate(
    bench.options.runs,
    () => rows(length),
    () => contexts(patients, length),
  );
  await contexts(one, bench.warmUp(20));
  const again = await alternate(
    bench.options.runs,
    () => rows(length),
    () => contexts(one, length),
  );
  const medianRate = (outcomes: readonly Outcome[]): number => median(outcomes.map(({ rate }) => rate));
  const figures = (name: string, outcomes: readonly Outcome[]) => [
    { name, value: medianRate(outcomes), unit: '/s' },
    { name: 'p50', value: median(outcomes.map(({ p50 }) => p50)), unit: 'ms' },
    { name: 'p95', value: median(outcomes.map(({ p95 }) => p95)), unit: 'ms' },
  ];
  return {
    bounds: [
      {
        ratio: 'time / baseline',
        value: medianRate(first.baseline) / medianRate(first.subject),
        sense: 'at most',
        bound: BOUND,
      },
      {
        ratio: 'time / baseline, again',
        value: medianRate(again.baseline) / medianRate(again.subject),
        sense: 'at most',
        bound: AGAIN_BOUND,
      },
    ],
    figures: [
      ...figures('answers', first.subject),
      ...figures('again', again.subject),
      { name: 'baseline', value: medianRate(first.baseline), unit: '/s' },
    ],
  };
}

/**
 * Creates a record of the given size.
 * @returns the Patient's id
 */
async function longRecord(service: Service, resources: number): Promise<string> {
  const patient = await createRecord(service, Math.min(resources, AT_A_TIME));
  for (let made = AT_A_TIME; made < resources; made += AT_A_TIME) {
    const entries = Math.min(AT_A_TIME, resources - made);
    await service.request('POST', FHIR, 200, additions(patient, made / AT_A_TIME, entries));
  }
  return patient;
}
