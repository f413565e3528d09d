/** The load generator, which runs in a separate process and is the same for baseline and subject. `Bench.load` starts it. */
import { quantile } from '../statistics.ts';
import { answer } from '../worker.ts';
import { Connection } from './connection.ts';
import { type Outcome, type Plan, prepare } from './plan.ts';

/**
 * Runs a plan.
 * @throws Error on any status other than the expected one.
 */
async function run(plan: Plan): Promise<Outcome> {
  const { target, clients, expect } = plan;
  const count = 'count' in plan ? plan.count : Number.POSITIVE_INFINITY;
  const milliseconds = 'seconds' in plan ? plan.seconds * 1000 : Number.POSITIVE_INFINITY;
  const request = prepare(plan);
  const connections = await Promise.all(
    Array.from({ length: clients }, () => Connection.open(target.host, target.port)),
  );
  const times: number[] = [];
  const locations: string[] = [];
  let sent = 0;
  let bytes = 0;
  const began = performance.now();
  const until = began + milliseconds;
  const client = async (connection: Connection): Promise<void> => {
    for (let at = performance.now(); at < until && sent < count; ) {
      const n = sent;
      sent += 1;
      const { status, bytes: length, location, fault } = await connection.send(request(n));
      if (status !== expect) throw new Error(`${status} instead of ${expect}: ${fault}`);
      const now = performance.now();
      times.push(now - at);
      at = now;
      bytes += length;
      if (plan.locations === true && location !== undefined) locations.push(location);
    }
  };
  try {
    await Promise.all(connections.map(client));
  } finally {
    for (const connection of connections) connection.close();
  }
  const elapsed = (performance.now() - began) / 1000;
  const sorted = Float64Array.from(times).sort();
  return {
    requests: times.length,
    seconds: elapsed,
    rate: times.length / elapsed,
    p50: quantile(sorted, 0.5),
    p95: quantile(sorted, 0.95),
    p99: quantile(sorted, 0.99),
    bytes,
    locations,
  };
}

answer(run);
