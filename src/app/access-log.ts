/** The access log, over connections of its own: a read never waits for other work to be logged. */
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { openPool } from '../database/pool.ts';
import type { AccessLog } from '../http/ports/access-log.ts';
import { observeAccessLog } from '../metrics/access-log.ts';
import { AccessLogWriter } from '../operations/access-log/access-log.ts';

/** The writer, and its end. */
export interface OpenAccessLog extends AccessLog {
  /** Writes the waiting entries, and closes the connections. No call may follow. */
  close(): Promise<void>;
}

/** Opens it. */
export function openAccessLog(databaseUrl: string, log: Logger, registry: Registry): OpenAccessLog {
  const pool = openPool(databaseUrl, {
    max: 1,
    name: 'annal access log',
    connectMs: 2_000,
    answerMs: 5_000,
  });
  const writer = new AccessLogWriter(pool, log);
  observeAccessLog(registry, writer);
  return {
    written: (entries, others) => writer.written(entries, others),
    given: (receipt) => writer.given(receipt),
    note: (entry) => writer.note(entry),
    async close() {
      await writer.close();
      await pool.end();
    },
  };
}
