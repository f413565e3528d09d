/** Assembles the services of auditors (docs/audit.md). */
import type { Pool } from 'pg';
import { openAccessSearch } from '#queries/audit/access-search.ts';
import { refuseCostly } from '#queries/database/gather.ts';
import type { EventStore } from '#src/events/store.ts';
import type { AuditServices } from '#src/http/ports/audit.ts';
import { Checkpoints } from '#src/operations/checkpoints.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { wrapCalls } from '#src/shared/wrap-calls.ts';
import type { Config } from '../../config.ts';
import { openAuditEvents } from './events.ts';
import { openExports } from './exports.ts';

/** Opens them. */
export function openAudit(deps: {
  readonly pool: Pool;
  readonly store: Pick<EventStore, 'read' | 'head'>;
  readonly config: Pick<Config, 'dataDir' | 'auditKeyFile'>;
}): AuditServices {
  const checkpoints = new Checkpoints(deps.pool);
  return {
    ...openAuditEvents(deps),
    ...openExports({ ...deps, key: { dataDir: deps.config.dataDir, file: deps.config.auditKeyFile } }),
    ...wrapCalls(openAccessSearch(deps.pool), refuseCostly),
    async coveredBy(stream, revision) {
      const found = await checkpoints.coveredBy(stream, revision);
      if (found === undefined) return undefined;
      const { made_at, ...head } = found;
      return { ...head, time: toInstant(made_at) };
    },
  };
}
