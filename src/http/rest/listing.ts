/** Reads pages of entries in a patient's record from the `timeline` read model. */

import type { PlacesPage } from '#queries/rest/places.ts';
import { requireFilled } from '#src/shared/access/caller.ts';
import { cut } from '#src/shared/cut.ts';
import { isUuid } from '#src/shared/ids.ts';
import { notFound, type Refusal } from '#src/shared/refusal.ts';
import type { RestRequest } from './record.ts';

/** Read models on which such pages are based. */
export const LISTING_MODELS = ['resources', 'history', 'timeline'];

/**
 * Reads a page. If the read model lagged behind the models that writes wait for, reads it again.
 * @throws Refusal not_found (404) for a patient that the caller can't see.
 */
export async function listing<Row>(
  { services, caller }: RestRequest,
  patient: string,
  ask: () => Promise<PlacesPage<Row>>,
): Promise<PlacesPage<Row>> {
  requireFilled(caller.sees);
  if (!isUuid(patient)) throw unknown(patient);
  let page = await ask();
  if (!page.fresh) {
    await services.freshness.catchUp(['timeline', 'resources']);
    page = await ask();
  }
  if (!page.seen) throw unknown(patient);
  return page;
}

function unknown(patient: string): Refusal {
  return notFound('Patient', cut(patient, 64));
}
