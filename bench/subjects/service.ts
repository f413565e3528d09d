/** Runs the service in a separate process without some of its read models, to measure what those read models cost. */
import { pino } from 'pino';
import { PROJECTIONS } from '#projections/all.ts';
import { startApp } from '#src/app.ts';
import { loadConfig } from '#src/config.ts';
import { migrate } from '#src/migrations/migrate.ts';
import { freePort } from '../free-port.ts';
import type { Target } from '../load/plan.ts';
import { answer } from '../worker.ts';

/** The database, and the read models to leave out. */
export interface Without {
  readonly databaseUrl: string;
  readonly dataDir: string;
  readonly without: readonly string[];
}

async function start({ databaseUrl, dataDir, without }: Without): Promise<Target & { key: string }> {
  const heap = new URL('../../bin/heap.js', import.meta.url).href;
  const { settleHeap }: { settleHeap(): void } = await import(heap);
  settleHeap();
  const [host, port] = ['127.0.0.1', await freePort()];
  const config = loadConfig({
    PORT: String(port),
    HOST: host,
    DATA_DIR: dataDir,
    RATE_LIMIT_PER_MINUTE: '1000000000',
    SANDBOX_PATIENTS: '0',
  });
  await migrate(databaseUrl);
  const projections = PROJECTIONS.filter(({ name }) => !without.includes(name));
  const app = await startApp({ config, databaseUrl, log: pino({ level: 'warn' }), projections });
  await app.listen();
  const begun = await app.quickstart();
  if (begun === undefined) throw new Error('the service made no project');
  return { host, port, key: begun.sandbox_key };
}

answer(start);
