/** Checks who may use `/me`, and which records are theirs (docs/spec/decisions.md, section 9, "Persons and links"). */
import type { GrantRow } from '#queries/consents/grants.ts';
import type { LinkRow } from '#queries/consents/records.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { notFound } from '#src/shared/refusal.ts';
import { requireInstallationsTrust } from '../admin/access.ts';
import type { ApiRequest } from '../api/route.ts';

/** The context of every request that a person makes. */
export type MeRequest = Pick<
  ApiRequest<string, 'identity'>,
  'services' | 'identity' | 'requestId' | 'ids' | 'now' | 'retry' | 'concerns'
>;

/**
 * Refuses people whose token is trusted only because of an organization's SSO settings: anyone who runs such an issuer can
 * claim to be anybody.
 * @throws Refusal forbidden (403)
 */
export function requirePerson({ identity }: MeRequest): void {
  requireInstallationsTrust(identity, 'access to patients’ records');
}

/**
 * Returns the person's link to a record. A link is returned even while the record's Patient is deleted, because grants can
 * still be revoked then.
 * @param environment the environment that the record must be in; default: either
 * @throws Refusal forbidden (403); not_found (404) for a record that isn't theirs
 */
export async function linkFor(
  request: MeRequest,
  patient: string,
  environment?: Environment,
): Promise<LinkRow> {
  requirePerson(request);
  const found = await request.services.consentQueries.linkTo(request.identity, patient);
  if (found === undefined || (environment ?? found.environment) !== found.environment)
    throw notFound('Patient', patient.slice(0, 64));
  return found;
}

/**
 * Returns a grant on the person's record, even if another person gave it.
 * @param environment as in `linkFor`
 * @throws Refusal forbidden (403), not_found (404)
 */
export async function grantFor(
  request: MeRequest,
  patient: string,
  id: string,
  environment?: Environment,
): Promise<GrantRow> {
  const { record } = await linkFor(request, patient, environment);
  const found = await request.services.consentQueries.grant(id);
  if (found?.record !== record) throw notFound('grant', id.slice(0, 64));
  return found;
}
