/** The access log has its own connections, so that logging a read never waits for other work. */
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import { openPool } from '../database/pool.ts';
import type { AccessLog } from '../http/ports/access-log.ts';
import { observeAccessLog } from '../metrics/access-log.ts';
import { AccessLogWriter } from '../operations/access-log/access-log.ts';

/** An access log that can be closed. */
export interface OpenAccessLog extends AccessLog {
  /** Writes the waiting entries and closes the connections. Don't call any method afterwards. */
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
