/**
 * Webhook deliveries to fast receivers: how many per second, and how long after the answer to the write they arrive.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Posting } from '../baselines/post-loop.ts';
import type { Arrival, Asked } from '../baselines/receiver.ts';
import type { Bench, MeasuredService } from '../bench.ts';
import type { Created, Pace } from '../load/paced.ts';
import type { Load } from '../load/plan.ts';
import { alternate, type Measure } from '../measure.ts';
import { createPatients, FHIR } from '../records.ts';
import { ascending, median, quantile } from '../statistics.ts';

/** Number of endpoints that receive deliveries at the same time, and number of connections that the service opens to each. */
const ENDPOINTS = 4;
const CONNECTIONS = 16;
/** The rate, in writes per second, at which latency is measured. */
const PACE = 200;

/** The row for webhooks. */
export const webhooks: Measure = {
  row: 'webhooks',
  subject: `webhook deliveries: a backlog to ${ENDPOINTS} endpoints, and one by one at ${PACE} writes a second`,
  baseline: 'a bare loop that posts the same bodies to the same receiver over as many connections',
  async run(bench) {
    const receiver = bench.worker('baselines/receiver.ts');
    const port = await receiver.call<Asked, number>({ what: 'listen' });
    const url = `http://127.0.0.1:${port}`;
    const loop = bench.worker('baselines/post-loop.ts');
    const measured = await bench.service();
    const hooks = new Hooks(bench, measured, url);
    await hooks.open();
    const forget = () => receiver.call<Asked, number>({ what: 'forget' });
    const arrivals = (count: number) => receiver.call<Asked, Arrival[]>({ what: 'arrivals', count });

    const events = bench.size(2_500, 20);
    const backlog = async (): Promise<number> => {
      await hooks.write(events);
      await forget();
      await hooks.activate(true);
      return arrivalRate(await arrivals(events * ENDPOINTS));
    };
    await backlog();
    const bodies = await hooks.bodies(1_000);
    const post = (posting: Omit<Posting, 'url' | 'bodies'>): Promise<number[]> =>
      loop.call<Posting, number[]>({ url, bodies, ...posting });
    const bare = async (): Promise<number> => {
      await forget();
      const count = events * ENDPOINTS;
      await post({ count, connections: CONNECTIONS * ENDPOINTS });
      return arrivalRate(await arrivals(count));
    };
    await bare();
    const rates = await alternate(bench.options.runs, bare, backlog);

    await hooks.alone();
    const writer = bench.worker('load/paced.ts');
    const count = bench.size(2_000, 40);
    const latencies = async (): Promise<number[]> => {
      await forget();
      const created = await writer.call<Load & Pace, Created[]>({ ...hooks.creates, count, rate: PACE });
      const at = new Map((await arrivals(count)).map((arrival) => [arrival.id, arrival.at]));
      return created.map((one) => (at.get(one.id) ?? Number.NaN) - one.at);
    };
    const posts = () => post({ count, connections: 4, pace: PACE });
    await posts();
    await latencies();
    const times = await alternate(bench.options.runs, posts, latencies);
    const at = (all: readonly number[][], q: number): number =>
      median(all.map((each) => quantile([...each].sort(ascending), q)));

    const rate = median(rates.subject);
    const bareRate = median(rates.baseline);
    const [p50, p95] = [at(times.subject, 0.5), at(times.subject, 0.95)];
    const [bareP50, bareP95] = [at(times.baseline, 0.5), at(times.baseline, 0.95)];
    return {
      bounds: [
        { ratio: 'deliveries / posts', value: rate / bareRate, sense: 'at least', bound: 0.4 },
        { ratio: 'latency p50 / a bare POST’s', value: p50 / bareP50, sense: 'at most', bound: 15 },
        { ratio: 'latency p95 / a bare POST’s', value: p95 / bareP95, sense: 'at most', bound: 60 },
      ],
      figures: [
        { name: 'deliveries', value: rate, unit: '/s' },
        { name: 'posts', value: bareRate, unit: '/s' },
        { name: 'latency p50', value: p50, unit: 'ms' },
        { name: 'latency p95', value: p95, unit: 'ms' },
        { name: 'bare POST p50', value: bareP50, unit: 'ms' },
        { name: 'bare POST p95', value: bareP95, unit: 'ms' },
      ],
    };
  },
};

/** Returns the arrivals per second, from the first arrival to the last. */
function arrivalRate(arrivals: readonly Arrival[]): number {
  const [first, last] = [arrivals[0], arrivals.at(-1)];
  if (first === undefined || last === undefined) return Number.NaN;
  return ((arrivals.length - 1) * 1_000) / (last.at - first.at);
}

/** A service's endpoints, and the writes that trigger them. */
class Hooks {
  #ids: string[] = [];
  #patients: readonly string[] = [];
  #written = 0;

  constructor(
    readonly bench: Bench,
    readonly measured: MeasuredService,
    readonly url: string,
  ) {}

  /** Creates the endpoints, paused. */
  async open(): Promise<void> {
    this.#patients = await createPatients(this.measured.service, 64);
    for (let n = 0; n < ENDPOINTS; n += 1) {
      const settings = { url: `${this.url}/${n}`, events: ['resource.created'], active: false };
      const { text } = await this.measured.service.request('POST', '/v1/webhooks', 201, settings);
      this.#ids.push((JSON.parse(text) as { id: string }).id);
    }
  }

  /** Returns creates that trigger deliveries. */
  get creates(): Load {
    const requests = { kind: 'observations', path: `${FHIR}/Observation`, patients: this.#patients } as const;
    return { target: this.measured.service.target, clients: 16, requests, expect: 201 };
  }

  /** Pauses the endpoints, sends the creates, and waits until the ledger contains a delivery for each write. */
  async write(count: number): Promise<void> {
    await this.activate(false);
    await this.bench.load({ ...this.creates, count });
    this.#written += count;
    const counted = 'select count(*)::int as there from operations.webhook_delivery';
    const { databaseUrl } = this.measured;
    const there = async () => (await this.bench.query<{ there: number }>(databaseUrl, counted))[0]?.there;
    while ((await there()) !== this.#written * ENDPOINTS) await pause(20);
    await this.bench.settle(databaseUrl);
  }

  /** Pauses or resumes all endpoints. */
  async activate(active: boolean): Promise<void> {
    const { service } = this.measured;
    const change = (id: string) => service.request('PATCH', `/v1/webhooks/${id}`, 200, { active });
    await Promise.all(this.#ids.map(change));
  }

  /** Leaves one of them. */
  async alone(): Promise<void> {
    for (const id of this.#ids.splice(1))
      await this.measured.service.request('DELETE', `/v1/webhooks/${id}`, 204);
  }

  /** Returns some of the delivered bodies. */
  async bodies(count: number): Promise<string[]> {
    const sql = `select payload from operations.webhook_delivery limit ${count}`;
    const rows = await this.bench.query<{ payload: string }>(this.measured.databaseUrl, sql);
    return rows.map(({ payload }) => payload);
  }
}
