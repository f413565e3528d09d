/** A fast receiver of webhook deliveries, in a separate process: it responds with 204 at once and records arrivals. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { answer } from '../worker.ts';

/** The messages that the receiver accepts. */
export type Asked =
  /** Listens, and responds with the port. */
  | { readonly what: 'listen' }
  | { readonly what: 'forget' }
  /** Waits for this many bodies, and responds with an `Arrival` for each, in the order of arrival. */
  | { readonly what: 'arrivals'; readonly count: number };

/** A body that came. */
export interface Arrival {
  /** When its last byte arrived, in ms since 1970 with fractions. */
  readonly at: number;
  /** The body's `data.id`; undefined if it has none. */
  readonly id: string | undefined;
}

/** How long to wait for bodies, in ms. */
const PATIENCE_MS = 120_000;

const came: { readonly at: number; readonly body: string }[] = [];
let enough: { readonly count: number; readonly resolve: () => void } | undefined;

async function listen(): Promise<number> {
  const server = createServer(async (request, response) => {
    const body = await text(request);
    response.writeHead(204).end();
    came.push({ at: performance.timeOrigin + performance.now(), body });
    if (enough !== undefined && came.length >= enough.count) enough.resolve();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

async function arrivals(count: number): Promise<Arrival[]> {
  if (came.length < count) {
    await new Promise<void>((resolve, reject) => {
      const late = (): void => reject(new Error(`${came.length} of ${count} bodies came`));
      const limit = setTimeout(late, PATIENCE_MS);
      enough = {
        count,
        resolve: () => {
          clearTimeout(limit);
          resolve();
        },
      };
    });
  }
  return came.map(({ at, body }) => ({ at, id: /"data":\{.*?"id":"([^"]+)"/.exec(body)?.[1] }));
}

answer(async (asked: Asked): Promise<number | Arrival[]> => {
  if (asked.what === 'listen') return listen();
  if (asked.what === 'arrivals') return arrivals(asked.count);
  came.length = 0;
  enough = undefined;
  return 0;
});
