/**
 * Checks access below `/admin` (docs/admin.md). A caller who isn't a member gets the same response as for an unknown id; a
 * member with an insufficient role gets 403.
 */
import type { RequestContext as By } from '#commands/command.ts';
import type { OrganizationRow } from '#queries/admin/organizations.ts';
import type { Held, KeyRow, NamedProject } from '#queries/admin/projects.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import { type Needed, type Role, suffices, TO_WRITE } from '#src/shared/access/member.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import type { ApiRequest } from '../api/route.ts';

/** The context of every admin request. */
export type AdminRequest = Pick<
  ApiRequest<string, 'identity'>,
  'services' | 'identity' | 'requestId' | 'ids' | 'now' | 'retry' | 'concerns'
>;

/**
 * Returns one of the caller's organizations.
 * @throws Refusal not_found (404), forbidden (403)
 */
export function organizationFor(
  { services, identity }: AdminRequest,
  id: string,
  role: Needed,
): Promise<OrganizationRow> {
  return held(services.adminQueries.organization(identity, id), 'organization', id, role);
}

/**
 * Returns an open project in one of the caller's organizations.
 * @throws Refusal not_found (404), forbidden (403)
 */
export function projectFor(
  { services, identity, concerns }: AdminRequest,
  id: string,
  role: Needed,
): Promise<Held<NamedProject>> {
  return held(services.adminQueries.project(identity, id), 'project', id, role, (found) =>
    concerns(found.id),
  );
}

/**
 * Returns a key in an open project of one of the caller's organizations.
 * @throws Refusal not_found (404), forbidden (403)
 */
export function keyFor(
  { services, identity, concerns }: AdminRequest,
  id: string,
  role: Needed,
): Promise<Held<KeyRow>> {
  return held(services.adminQueries.key(identity, id), 'key', id, role, (found) => concerns(found.project));
}

/**
 * Returns an application in an open project of one of the caller's organizations.
 * @throws Refusal not_found (404), forbidden (403)
 */
export function applicationFor({ services, identity, concerns }: AdminRequest, id: string, role: Needed) {
  return held(services.adminQueries.application(identity, id), 'application', id, role, (found) =>
    concerns(found.project),
  );
}

/**
 * Returns a webhook endpoint in an open project of one of the caller's organizations; for production, the caller needs the
 * admin role.
 * @throws Refusal not_found (404), forbidden (403)
 */
export async function endpointFor({ services, identity, concerns }: AdminRequest, id: string) {
  const asked = services.webhooks.queries.endpointOfMember(identity, id);
  const found = await held(asked, 'webhook', id, 'developer', ({ project }) => concerns(project));
  requireRole(found.role, TO_WRITE[found.environment]);
  return found;
}

/** Returns whether the caller is an operator of the installation: an owner or admin of the organization that operates it. */
export async function isOperator({
  services,
  identity,
}: Pick<AdminRequest, 'services' | 'identity'>): Promise<boolean> {
  const operating = await services.operatorOrganization();
  if (operating === undefined) return false;
  const found = await services.adminQueries.organization(identity, operating);
  return found !== undefined && suffices(found.role, 'admin');
}

/**
 * Refuses anyone who isn't an operator.
 * @throws Refusal forbidden (403)
 */
export async function requireOperator(request: Pick<AdminRequest, 'services' | 'identity'>): Promise<void> {
  if (await isOperator(request)) return;
  throw new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics:
      'only operators of the installation may do this: owners and admins of the organization that OPERATOR_ORGANIZATION names',
  });
}

/**
 * Refuses an insufficient role.
 * @throws Refusal forbidden (403)
 */
export function requireRole(actual: Role, needed: Needed): void {
  if (suffices(actual, needed)) return;
  throw new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `this requires the role ${needed === 'auditor' ? 'auditor, admin or owner' : needed}; your role in this organization is ${actual}`,
  });
}

/**
 * Refuses identities that only some organizations trust, for actions that affect more than those organizations.
 * @throws Refusal forbidden (403)
 */
export function requireInstallationsTrust({ organizations }: Identity, what: string): void {
  if (organizations === undefined) return;
  throw new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `${what} requires an ID token from one of OIDC_ISSUERS; only an organization trusts the issuer of your token`,
  });
}

/** Returns the identity and the request on whose behalf commands run. */
export function toAuthor({ identity, requestId, ids, now, retry }: AdminRequest): By {
  const { issuer, subject } = identity;
  return {
    credential: { kind: 'id_token', issuer, subject },
    requestId,
    ids,
    now,
    ...(retry === undefined ? {} : { retry }),
  };
}

async function held<T extends { readonly role: Role }>(
  asked: Promise<T | undefined>,
  kind: string,
  id: string,
  role: Needed,
  seen: (found: T) => void = () => undefined,
): Promise<T> {
  const found = await asked;
  if (found === undefined) throw notFound(kind, id.slice(0, 60));
  seen(found);
  requireRole(found.role, role);
  return found;
}
