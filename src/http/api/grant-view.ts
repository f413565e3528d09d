/** Formats grants for the JSON interfaces (docs/spec/decisions.md, section 4). */
import type { z } from 'zod';
import type { GrantRow } from '#queries/consents/grants.ts';
import { toInstant } from '#src/shared/time/time.ts';
import type { grant } from './schemas.ts';

/** Returns a grant without its patient, whose id depends on the reader. */
export function grantView(row: GrantRow): z.input<typeof grant> {
  const { status, ended_at } = row;
  return {
    id: row.id,
    status,
    purpose: row.purpose,
    application: applicationView(row),
    scopes: [...row.scopes],
    scopes_text: [...row.sentences],
    granted_at: toInstant(row.created_at),
    expires_at: toInstant(row.expires_at),
    revoked_at: status === 'revoked' && ended_at !== null ? toInstant(ended_at) : null,
    granted_by: row.granted_by,
  };
}

/** Formats the application that a grant or proposal belongs to. */
export function applicationView(
  row: Pick<
    GrantRow,
    'application_id' | 'application_name' | 'application_kind' | 'organization' | 'privacy_url'
  >,
): z.input<typeof grant>['application'] {
  return {
    id: row.application_id,
    name: row.application_name ?? '',
    kind: row.application_kind ?? '',
    organization: row.organization ?? '',
    privacy_url: row.privacy_url,
  };
}
