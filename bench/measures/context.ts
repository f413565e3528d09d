/** A long record told to a language model, against reading its rows. */

import type { Bench } from '../bench.ts';
import type { Length, Outcome } from '../load/plan.ts';
import { alternate, type Finding, type Measure } from '../measure.ts';
import { FHIR } from '../records.ts';
import { additions } from '../sample.ts';
import { median } from '../statistics.ts';
import { createRecord } from './record.ts';

const CLIENTS = 4;
/** What twenty years leave behind. */
const RESOURCES = 10_000;
const AT_A_TIME = 2_000;
const BOUND = 3;

/** The row. */
export const context: Measure = {
  row: 'context',
  subject: `POST /v1/context of a record of ${RESOURCES} resources, 2,000 tokens; ${CLIENTS} clients`,
  baseline: 'a bare Koa route that reads the same rows with one statement and sends them',
  run: measure,
};

async function measure(bench: Bench): Promise<Finding> {
  const { service, databaseUrl } = await bench.common();
  const resources = bench.size(RESOURCES, 60);
  const patient = await createRecord(service, Math.min(resources, AT_A_TIME));
  for (let made = AT_A_TIME; made < resources; made += AT_A_TIME) {
    const entries = Math.min(AT_A_TIME, resources - made);
    await service.request('POST', FHIR, 200, additions(patient, made / AT_A_TIME, entries));
  }
  await bench.settle(databaseUrl);
  const route = bench.worker('baselines/record-route.ts');
  const port = await route.call<object, number>({ url: databaseUrl, connections: CLIENTS });
  const rows = (length: Length): Promise<Outcome> => {
    const target = { host: '127.0.0.1', port };
    return bench.load({
      target,
      clients: CLIENTS,
      requests: { kind: 'reads', paths: [`/${patient}`] },
      expect: 200,
      ...length,
    });
  };
  const body = {
    patient,
    task: 'follow-up: diabetes',
    question: 'Is the blood glucose stable?',
    needs: ['labs:2339-0'],
  };
  const subject = (length: Length): Promise<Outcome> => {
    const requests = { kind: 'posts', path: '/v1/context', body } as const;
    return bench.load({ target: service.target, clients: CLIENTS, requests, expect: 200, ...length });
  };

  await rows(bench.warmUp(20));
  await subject(bench.warmUp(20));
  const runs = await alternate(
    bench.options.runs,
    () => rows({ seconds: bench.seconds(5) }),
    () => subject({ seconds: bench.seconds(5) }),
  );
  const baseline = median(runs.baseline.map(({ rate }) => rate));
  const rate = median(runs.subject.map((run) => run.rate));
  return {
    bounds: [{ ratio: 'time / baseline', value: baseline / rate, sense: 'at most', bound: BOUND }],
    figures: [
      { name: 'answers', value: rate, unit: '/s' },
      { name: 'p50', value: median(runs.subject.map(({ p50 }) => p50)), unit: 'ms' },
      { name: 'p95', value: median(runs.subject.map(({ p95 }) => p95)), unit: 'ms' },
      { name: 'baseline', value: baseline, unit: '/s' },
    ],
  };
}
