/** A load with a fixed rate of creates per second, in a separate process; records when each response arrives. */
import { setTimeout as delay } from 'node:timers/promises';
import { answer } from '../worker.ts';
import { Connection } from './connection.ts';
import { type Load, prepare } from './plan.ts';

/** The number of creates, and the rate per second. */
export interface Pace {
  readonly count: number;
  readonly rate: number;
}

/** A create that has been answered. */
export interface Created {
  readonly id: string;
  /** When the response arrived, in ms since 1970 with fractions. */
  readonly at: number;
}

/**
 * Sends the creates at the given rate.
 * @throws Error on any status other than the expected one.
 */
answer(async ({ count, rate, ...load }: Load & Pace): Promise<Created[]> => {
  const { target, clients, expect } = load;
  const request = prepare({ ...load, count });
  const connections = await Promise.all(
    Array.from({ length: clients }, () => Connection.open(target.host, target.port)),
  );
  const created: Created[] = [];
  let sent = 0;
  const began = performance.now();
  const client = async (connection: Connection): Promise<void> => {
    while (sent < count) {
      const n = sent;
      sent += 1;
      await delay(began + (n * 1_000) / rate - performance.now());
      const { status, location = '', fault } = await connection.send(request(n));
      if (status !== expect) throw new Error(`${status} instead of ${expect}: ${fault}`);
      const [id = ''] = /[0-9a-f]{8}-[0-9a-f-]{27}/.exec(location) ?? [];
      created.push({ id, at: performance.timeOrigin + performance.now() });
    }
    connection.close();
  };
  await Promise.all(connections.map(client));
  return created;
});
