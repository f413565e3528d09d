/** Defines what the routes for people linked to a patient share. */

import { type RequestContext as By, toEventCredential } from '#commands/command.ts';
import { cut } from '#src/shared/cut.ts';
import { isUuid } from '#src/shared/ids.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { RestRequest } from './record.ts';

/** Returns the author and request of a command. */
export function byKey({ caller, requestId, ids, now, retry }: RestRequest): By {
  return {
    credential: toEventCredential(caller),
    requestId,
    ids,
    now,
    ...(retry === undefined ? {} : { retry }),
  };
}

/**
 * Checks that a patient belongs to the caller. The patient may be deleted, because links and grants remain when a patient is
 * deleted.
 * @throws Refusal not_found (404)
 */
export async function requirePatient({ services, caller }: RestRequest, id: string): Promise<void> {
  const found = isUuid(id) ? await services.queries.read(caller, 'Patient', id) : undefined;
  if (found === undefined) throw notFound('Patient', cut(id, 64));
}
