/**
 * A project's requests at a steady rate, regardless of other load. Each request is due at a certain time, and its latency is
 * measured from that time, even while earlier requests are waiting. No answer stops the load; answers with unexpected statuses
 * are counted.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { withTimeout } from '#src/shared/load/with-timeout.ts';
import { ascending, quantile } from '../statistics.ts';
import { answer } from '../worker.ts';
import { Connection } from './connection.ts';
import { type Load, prepare } from './plan.ts';

/** A load at a rate. */
export interface SteadyPlan {
  readonly load: Omit<Load, 'clients'>;
  /** Requests per second. */
  readonly rate: number;
  readonly seconds: number;
}

/** How the load's requests were answered; times in ms. */
export interface SteadyOutcome {
  readonly requests: number;
  readonly failed: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** The first failures, for the report. */
  readonly faults: readonly string[];
}

/** Maximum wait for an answer, in ms; after that, the request has failed. */
const WAIT_MS = 60_000;

async function run({ load, rate, seconds }: SteadyPlan): Promise<SteadyOutcome> {
  const { target, expect } = load;
  const count = Math.max(1, Math.round(rate * seconds));
  const request = prepare({ ...load, clients: 1, count });
  const free: Connection[] = [];
  const times: number[] = [];
  const faults: string[] = [];
  const began = performance.now();
  const one = async (n: number): Promise<void> => {
    const due = began + (n * 1_000) / rate;
    await delay(due - performance.now());
    const connection = free.pop() ?? (await Connection.open(target.host, target.port));
    try {
      const { status, fault } = await withTimeout(WAIT_MS, connection.send(request(n)));
      times.push(performance.now() - due);
      if (status === expect) free.push(connection);
      else {
        faults.push(`${status}: ${fault}`);
        connection.close();
      }
    } catch (error) {
      times.push(performance.now() - due);
      faults.push(String(error));
      connection.close();
    }
  };
  await Promise.all(Array.from({ length: count }, (_, n) => one(n)));
  for (const connection of free) connection.close();
  const sorted = times.sort(ascending);
  const of = (q: number): number => quantile(sorted, q);
  return {
    ...{ requests: count, failed: faults.length, faults: faults.slice(0, 3) },
    ...{ p50: of(0.5), p99: of(0.99), max: of(1) },
  };
}

answer((plans: readonly SteadyPlan[]) => Promise.all(plans.map(run)));
