/** Assembles the services for auditors (docs/audit.md). */
import type { Pool } from 'pg';
import { readPage } from '#queries/admin/page.ts';
import { openAccessSearch } from '#queries/audit/access-search.ts';
import { refuseCostly } from '#queries/database/gather.ts';
import type { EventStore } from '#src/events/store.ts';
import type { AuditServices } from '#src/http/ports/audit.ts';
import { CHECKPOINT_COLUMNS, type CheckpointRow, Checkpoints, readRow } from '#src/operations/checkpoints.ts';
import { JOB_COLUMNS } from '#src/shared/job.ts';
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
    async listCheckpoints(asked) {
      const page = await readPage<CheckpointRow & { readonly created_at: number }>(
        deps.pool,
        {
          name: 'checkpoints',
          rows: `select ${CHECKPOINT_COLUMNS}, c.made_at as created_at from operations.checkpoint c`,
          values: [],
        },
        asked,
      );
      return { ...page, rows: page.rows.map(({ created_at: _, ...row }) => readRow(row)) };
    },
    findCheckpoint: (id) => checkpoints.find(id),
    readCheckpoint: (id) => checkpoints.file(id),
    // Index: job_of_kind (kind, created_at, id).
    jobsOfProject: (kind, project, asked) =>
      readPage(
        deps.pool,
        {
          name: 'jobs-of-project',
          rows: `select ${JOB_COLUMNS} from operations.job j
            where j.kind = $1 and (j.subject = 'project ' || $2 or j.subject like 'record % ' || $2)`,
          values: [kind, project],
        },
        asked,
      ),
    coveredBy: (stream, revision) => checkpoints.coveredBy(stream, revision),
  };
}
