/**
 * A load that nothing slows down: each client sends its next request as soon as the previous one is answered, whatever the
 * answer. After a refusal, the client opens a new connection.
 */
import { gzipSync } from 'node:zlib';
import { answer } from '../worker.ts';
import { Connection } from './connection.ts';
import { type Load, message, prepare } from './plan.ts';

/** A load of unspecified length, or a compressed Bundle with a given number of empty entries. */
export type Flood = Load | (Omit<Load, 'requests'> & { readonly emptyEntries: number });

/** The answers to it. */
export interface FloodOutcome {
  readonly rate: number;
  /** Number of answers by status; 0 means that the connection was closed without an answer. */
  readonly statuses: Readonly<Record<string, number>>;
}

async function run({ seconds, ...flood }: Flood & { readonly seconds: number }): Promise<FloodOutcome> {
  const { target, clients, expect } = flood;
  const request = 'requests' in flood ? prepare({ ...flood, seconds }) : compressed(flood);
  const statuses: Record<string, number> = {};
  const began = performance.now();
  const until = began + seconds * 1_000;
  let sent = 0;
  const client = async (): Promise<void> => {
    let connection: Connection | undefined;
    while (performance.now() < until) {
      const n = sent;
      sent += 1;
      let status = 0;
      try {
        connection ??= await Connection.open(target.host, target.port);
        ({ status } = await connection.send(request(n)));
      } catch {
        // Counted as 0.
      }
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status === expect) continue;
      connection?.close();
      connection = undefined;
    }
    connection?.close();
  };
  await Promise.all(Array.from({ length: clients }, client));
  // Measured until the last answer, because some loads are answered only after many seconds.
  return { rate: (statuses[expect] ?? 0) / ((performance.now() - began) / 1_000), statuses };
}

function compressed({ target, emptyEntries }: Extract<Flood, { emptyEntries: number }>): () => Buffer {
  const entries = `{},${'{},'.repeat(Math.max(0, emptyEntries - 2))}{}`;
  const body = gzipSync(`{"resourceType":"Bundle","type":"batch","entry":[${entries}]}`);
  const made = message(target, 'POST', '/fhir/R4', body);
  return () => made;
}

answer(run);
