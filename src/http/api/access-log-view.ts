/** Formats access-log entries for the JSON interfaces (docs/spec/decisions.md, section 4). */
import { z } from 'zod';
import type { AccessRow } from '#queries/access-log.ts';
import { ACCESS_STATUSES } from '#src/shared/access/access-entry.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { instant } from './schemas.ts';

export const accessEntrySchema = z
  .object({
    id: z.string(),
    ts: instant,
    action: z
      .string()
      .describe(
        'The interaction, such as `read` or `search-type`. `token_reuse`: a refresh token or code was used a second time. `open-link`, `open-link-file`: a shared link was opened, or its file fetched; `link-file-sent`: the whole file was sent.',
      ),
    resource_type: z.string().nullable(),
    resource_id: z.string().nullable(),
    status: z.enum(ACCESS_STATUSES),
    count: z
      .int()
      .nullable()
      .describe('How many of the patient’s resources the answer showed; null if it was streamed.'),
    purpose: z
      .string()
      .nullable()
      .describe('The purpose that the grant states, or why a member read a production record.'),
    actor: z
      .string()
      .nullable()
      .describe(
        'The name of the application, key or member, or the one that the recipient of a shared link gave; under `/me` also of a patient or representative.',
      ),
    actor_ref: z
      .string()
      .describe(
        '`application/app_…`, `key/key_…`, `link/shl_…`, or `person/` with `self`, `representative` or `member`.',
      ),
    request_id: z.string(),
    receipt: z
      .string()
      .nullable()
      .describe(
        'The receipt for a context, a `$summary`, an answer to an assistant or shared content: `rcpt_…`.',
      ),
  })
  .meta({ id: 'AccessLogEntry' });

/** Formats an entry for a response. */
export function accessEntryView(row: AccessRow): z.input<typeof accessEntrySchema> {
  return {
    id: row.id,
    ts: toInstant(row.at),
    action: row.action,
    resource_type: row.resource_type,
    resource_id: row.resource_id,
    status: row.status,
    count: row.count,
    purpose: row.purpose,
    actor: row.actor,
    actor_ref: row.actor_kind === 'person' ? `person/${row.role}` : `${row.actor_kind}/${row.actor_id}`,
    request_id: row.request_id,
    receipt: row.receipt,
  };
}
