/**
 * Baseline for transactions: COPY of the same JSON into three tables (log, resources, history). There is one commit for each
 * group of resources as large as a transaction, and there are as many connections as the transactions have clients.
 */
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { v7 } from 'uuid';
import { transaction } from '../sample.ts';
import { answer } from '../worker.ts';

const TABLES = `
  CREATE TABLE IF NOT EXISTS log (position int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id uuid NOT NULL, data text NOT NULL);
  CREATE TABLE IF NOT EXISTS resources (id uuid PRIMARY KEY, body text NOT NULL);
  CREATE TABLE IF NOT EXISTS history (id uuid NOT NULL, version int NOT NULL, body text NOT NULL, PRIMARY KEY (id, version))`;

/** Prepared before the measurement starts: each resource's JSON in COPY's text format. */
let bodies: (readonly string[])[] = [];
let clients: pg.Client[] = [];

interface Setup {
  readonly url: string;
  readonly clients: number;
  /** Resources a commit. */
  readonly entries: number;
  readonly kinds: number;
}

async function setUp({ url, clients: many, entries, kinds }: Setup): Promise<void> {
  bodies = Array.from({ length: kinds }, (_, n) => {
    const { entry } = transaction(n, entries);
    return (entry as { resource: object }[]).map(({ resource }) =>
      JSON.stringify(resource).replaceAll('\\', '\\\\'),
    );
  });
  clients = await Promise.all(
    Array.from({ length: many }, async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      return client;
    }),
  );
  await clients[0]?.query(TABLES);
}

/** @returns resources per second */
async function run(seconds: number): Promise<number> {
  const began = performance.now();
  let copied = 0;
  let sent = 0;
  await Promise.all(
    clients.map(async (client) => {
      while (performance.now() - began < seconds * 1000) {
        const texts = bodies[sent % bodies.length] ?? [];
        sent += 1;
        await copyThrice(client, texts);
        copied += texts.length;
      }
    }),
  );
  return copied / ((performance.now() - began) / 1000);
}

async function copyThrice(client: pg.Client, texts: readonly string[]): Promise<void> {
  const ids = texts.map(() => v7());
  const plain = Buffer.from(texts.map((text, i) => `${ids[i]}\t${text}\n`).join(''));
  const versioned = Buffer.from(texts.map((text, i) => `${ids[i]}\t1\t${text}\n`).join(''));
  await client.query('BEGIN');
  await pipeline([plain], client.query(copyFrom('COPY log (id, data) FROM STDIN')));
  await pipeline([plain], client.query(copyFrom('COPY resources (id, body) FROM STDIN')));
  await pipeline([versioned], client.query(copyFrom('COPY history (id, version, body) FROM STDIN')));
  await client.query('COMMIT');
}

answer(async (call: Setup | { readonly seconds: number }): Promise<number> => {
  if ('seconds' in call) return run(call.seconds);
  await setUp(call);
  return 0;
});
