/**
 * Baseline for webhook deliveries: a loop that posts bodies with Node's HTTP client over keep-alive connections, without
 * signatures, claims or logs. If a pace is given, the loop posts at that rate and measures each request.
 */
import http from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { answer } from '../worker.ts';

/** The bodies, and how to post them. */
export interface Posting {
  readonly url: string;
  /** Posted one after another; after the last body, the first comes again. */
  readonly bodies: readonly string[];
  readonly count: number;
  readonly connections: number;
  /** Posts per second; by default, as many as the connections allow. */
  readonly pace?: number;
}

answer(async ({ url, bodies, count, connections, pace }: Posting): Promise<number[]> => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections, maxFreeSockets: connections });
  const times: number[] = [];
  let sent = 0;
  const began = performance.now();
  const loop = async (): Promise<void> => {
    while (sent < count) {
      const n = sent;
      sent += 1;
      if (pace !== undefined) await delay(began + (n * 1_000) / pace - performance.now());
      const started = performance.now();
      await post(agent, url, bodies[n % bodies.length] ?? '');
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: connections }, loop));
  agent.destroy();
  return times;
});

/** @throws Error for any answer other than 2xx */
function post(agent: http.Agent, url: string, body: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) };
    const request = http.request(url, { method: 'POST', agent, headers }, (response) => {
      const { statusCode = 0 } = response;
      response.resume().on('end', () => {
        if (statusCode >= 200 && statusCode < 300) resolve();
        else reject(new Error(`the receiver answered ${statusCode}`));
      });
    });
    request.on('error', reject).end(body);
  });
}
