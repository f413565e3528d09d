/**
 * Runs EventStoreDB's scavenge, which deletes the events of erased streams from the chunk files of the node that runs it. Each
 * node in a cluster has its own files. <https://developers.eventstore.com/server/v24.10/operations/scavenge>
 */
import http from 'node:http';
import https from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { Unavailable } from '../store.ts';
import { LogClient } from './client.ts';
import { translate } from './faults.ts';
import { eventIn, readStream } from './messages.ts';
import { DEFAULTS } from './options.ts';

/** How often a running scavenge's state is checked, in ms. */
const LOOK_MS = 500;

/** An empty id means that no scavenge is running. */
const running = z.object({ scavengeId: z.string().nullish() });
const completed = z.object({ result: z.string(), error: z.string().nullish() });

/**
 * Starts a scavenge, or joins the running one, and waits for it to finish.
 * @param url as in `EventStoreDbStore.open`; its user must be in `$ops` or `$admins`.
 * @param answerWithin the longest wait for a response from the server, in ms.
 * @throws Unavailable if the server doesn't respond or refuses the request; Error if the scavenge failed.
 */
export async function scavenge(
  url: string,
  answerWithin: number = DEFAULTS.answerWithin,
): Promise<{ readonly id: string }> {
  const client = new LogClient(url, answerWithin);
  try {
    const id = (await current(client)) ?? (await begin(client));
    while ((await current(client)) === id) await delay(LOOK_MS);
    await assertSucceeded(client, id);
    return { id };
  } finally {
    await client.close();
    // Otherwise, a server that never responds would keep this process alive.
    for (const { globalAgent } of [http, https]) globalAgent.destroy();
  }
}

async function begin(client: LogClient): Promise<string> {
  const { scavengeId } = running.parse(await ask(client, 'POST', '/admin/scavenge'));
  if (!scavengeId) throw new Unavailable('EventStoreDB did not start a scavenge');
  return scavengeId;
}

async function current(client: LogClient): Promise<string | undefined> {
  return running.parse(await ask(client, 'GET', '/admin/scavenge/current')).scavengeId || undefined;
}

/** Checks the result of a scavenge, which is in the last event of the scavenge's stream. */
async function assertSucceeded(client: LogClient, id: string): Promise<void> {
  let last: z.infer<typeof completed> | undefined;
  for await (const answer of await client.read(readStream(`$scavenges-${id}`, 'backwards', undefined, 1))) {
    const event = eventIn(answer);
    if (event?.type === '$scavengeCompleted') last = completed.parse(JSON.parse(event.data));
  }
  if (last?.result !== 'Success') {
    throw new Error(`scavenge ${id} did not succeed: ${last?.error ?? last?.result ?? 'it was stopped'}`);
  }
}

async function ask(client: LogClient, method: 'GET' | 'POST', path: string): Promise<unknown> {
  try {
    return await client.http(method, path);
  } catch (error) {
    throw translate(error);
  }
}
