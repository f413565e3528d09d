/** Formats access requests for `/me` (docs/spec/decisions.md, section 7). */
import { z } from 'zod';
import { type AccessRequestRow, REQUEST_STATUSES } from '#queries/consents/access-requests.ts';
import { knownScopes, type Scope } from '#src/oauth/scopes.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { environment, grant, instant } from '../api/schemas.ts';
import { fixedSentences, itemSentences } from '../oauth/authorize/sentences.ts';
import type { Texts } from '../pages/texts.ts';

export const accessRequestSchema = z
  .object({
    id: z.string(),
    status: z
      .enum(REQUEST_STATUSES)
      .describe(
        '`expired`: nobody answered in time, or a newer request from the application has replaced it.',
      ),
    environment,
    application: grant.shape.application,
    binding_message: z
      .string()
      .nullable()
      .describe(
        'The application’s text, which the person compares with the text that the application shows. Show it as plain text.',
      ),
    patient_id: z
      .string()
      .nullable()
      .describe('The record that the application named, or that you approved. Null: choose one.'),
    scopes: z
      .array(z.string())
      .describe('The requested scopes in SMART v2 form; after an approval, the granted scopes.'),
    scopes_text: z.array(z.string()).describe('The same scopes in words.'),
    created_at: instant,
    expires_at: instant,
    decided_at: instant.nullable(),
    grant_id: z.string().nullable().describe('The grant that an approval gave.'),
  })
  .meta({ id: 'AccessRequest' });

/**
 * Describes, in sentences, the rights that scopes give.
 * @param own whether every record on offer is the person's own
 */
export function requestSentences(say: Texts, scopes: readonly Scope[], app: string, own: boolean): string[] {
  return [
    ...itemSentences(say, scopes, own).map(({ sentence }) => sentence),
    ...fixedSentences(say, scopes, app),
    ...(scopes.includes('offline_access') ? [say('sentence.offline', { app })] : []),
  ];
}

/**
 * Formats an access request for `/me`.
 * @param own as in `requestSentences`
 */
export function accessRequestView(
  row: AccessRequestRow,
  say: Texts,
  own: boolean,
): z.input<typeof accessRequestSchema> {
  const names = (row.granted_scope ?? row.scope).split(' ');
  return {
    id: row.id,
    status: row.status,
    environment: row.environment,
    application: {
      id: row.application_id,
      name: row.application_name,
      kind: row.application_kind,
      organization: row.organization,
      privacy_url: row.privacy_url,
    },
    binding_message: row.binding_message,
    patient_id: row.record ?? row.named,
    scopes: names,
    scopes_text: requestSentences(say, knownScopes(names), row.application_name, own),
    created_at: toInstant(row.created_at),
    expires_at: toInstant(row.expires_at),
    decided_at: row.decided_at === null ? null : toInstant(row.decided_at),
    grant_id: row.grant_id,
  };
}
