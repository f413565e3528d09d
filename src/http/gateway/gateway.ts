/**
 * Runs the gateway `/app/api`, through which scripts on the service's own pages call the routes of `/me`, `/admin`, `/v1` and
 * `/fhir/R4` on behalf of the signed-in person. The session cookie is the only credential, and scripts never get a token.
 * Nothing is remembered between requests: each request checks again who the person is and what they may do.
 */
import type { Context } from 'koa';
import type { AdminQueries } from '#queries/admin/admin.ts';
import { type Caller, type Environment, ownCaller } from '#src/shared/access/caller.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import { suffices, TO_READ, TO_WRITE } from '#src/shared/access/member.ts';
import type { Session } from '#src/shared/access/session.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { requireRole } from '../admin/access.ts';
import { requireHead } from '../answer/send.ts';
import { parseReason, REASON_HEADER } from '../api/reason.ts';
import { isJwt, setVisitor } from '../credential-kinds.ts';
import { readBearer, refuseInQuery } from '../credentials.ts';
import { requireOwnOrigin } from '../signin/form-origin.ts';
import type { Visitors } from '../signin/visitors.ts';

/** The header, with its value, that every request must have. Forms and links on other sites can't send it. */
export const SESSION_HEADER = 'X-Service-Session';
/** The header that names the project whose data a request to `/v1` or `/fhir/R4` is about. */
export const PROJECT_HEADER = 'X-Service-Project';
/** The header that names the project's environment: `sandbox` (default) or `production`. */
export const ENVIRONMENT_HEADER = 'X-Service-Environment';

/** How long production records can be read after sign-in, in seconds. */
const FRESH_S = 1_800;

/** Dependencies of the gateway. */
export interface GatewayDeps {
  readonly visitors: Pick<Visitors, 'findAnySession' | 'readSecret' | 'baseUrl'>;
  readonly projects: Pick<AdminQueries, 'project'>;
  /**
   * Refuses an environment that an operator hasn't allowed yet.
   * @throws Refusal forbidden (403)
   */
  readonly requireEnvironment: (project: string, environment: Environment) => Promise<void>;
  /**
   * Counts a person's request.
   * @throws Refusal throttled (429)
   */
  readonly count: (ctx: Context, person: Identity) => void | Promise<void>;
  /** Returns whether a credential works on the interfaces themselves. */
  readonly worksElsewhere: (credential: string) => Promise<boolean>;
}

/**
 * Checks a gateway request, and records the person, who replaces a credential.
 * @param path the requested path on the interface
 * @throws Refusal unauthenticated (401) without a live session; malformed (400) if there is another credential in addition to
 *   a session; forbidden (403) if there is another credential instead of a session, for requests from another origin or without
 *   the header, and, outside `/admin`, for a session that only an organization trusts; throttled (429)
 */
export async function enter(deps: GatewayDeps, ctx: Context, path: string): Promise<void> {
  requireHead(ctx).set('Cross-Origin-Resource-Policy', 'same-origin');
  await refuseOthers(deps, ctx);
  requireOwnOrigin(ctx, deps.visitors.baseUrl, 'the request does not come from a page of this service');
  if (ctx.get(SESSION_HEADER) !== '1')
    throw forbidden(`${SESSION_HEADER}: 1 is missing: scripts on this service's pages send it`);
  const session = await deps.visitors.findAnySession(ctx);
  if (session === undefined)
    throw signedOut('nobody is signed in, or the session has ended; sign in again at /signin');
  const { person, id } = session;
  if (person.organizations !== undefined && !/^\/admin(?:\/|$)/.test(path))
    throw forbidden(
      'only an organization trusts the issuer at which you signed in, so this session opens only /admin',
    );
  const counted = deps.count(ctx, person);
  if (counted !== undefined) await counted;
  setVisitor(ctx, {
    identity: person,
    credential: `session ${id}`,
    session: id,
    caller: () => makeMember(deps, ctx, session),
    hasReason: ctx.get(REASON_HEADER) !== '',
    reason: () => requireReason(ctx, session),
  });
}

/** Refuses credentials meant for programs, even in addition to a session (docs/spec/interface.md, section 5: exactly one). */
async function refuseOthers({ visitors, worksElsewhere }: GatewayDeps, ctx: Context): Promise<void> {
  refuseInQuery(ctx.querystring);
  const { authorization, 'x-api-key': apiKey } = ctx.req.headers;
  if (authorization === undefined && apiKey === undefined) return;
  const name = authorization === undefined ? 'X-Api-Key' : 'Authorization';
  const diagnostics = `${name} is for the interfaces themselves; below /app/api the session of the page is the only credential`;
  if (visitors.readSecret(ctx) !== undefined) throw new Refusal('malformed', { code: 'login', diagnostics });
  const key = typeof apiKey === 'string' && !isJwt(apiKey) ? apiKey : '';
  throw (await worksElsewhere(readBearer(ctx.req.headers) ?? key))
    ? forbidden(diagnostics)
    : signedOut(diagnostics);
}

/** Returns the caller for a member of the project that a request names. The caller is the same as for a dashboard token. */
async function makeMember(
  { projects, requireEnvironment }: GatewayDeps,
  ctx: Context,
  session: Session,
): Promise<Caller> {
  const { person } = session;
  const project = ctx.get(PROJECT_HEADER);
  if (project === '')
    throw malformed(
      PROJECT_HEADER,
      `${PROJECT_HEADER} is missing: name the project whose data you ask for, and with ${ENVIRONMENT_HEADER} its environment`,
    );
  const environment = parseEnvironment(ctx.get(ENVIRONMENT_HEADER));
  const found = await projects.project(person, project);
  if (found === undefined) throw notFound('project', project.slice(0, 60));
  requireRole(found.role, TO_READ[environment]);
  const { issuer, subject } = person;
  const tenant = { project: found.id, environment };
  const { calls, sees } = ownCaller(
    tenant,
    { kind: 'member', issuer, subject },
    suffices(found.role, TO_WRITE[environment]) ? ['read', 'write'] : ['read'],
    found.filling,
  );
  if (environment === 'sandbox') return { calls, sees };
  // This queries the event store, which reads in sandboxes don't need.
  await requireEnvironment(found.id, environment);
  return { calls: { ...calls, reason: requireReason(ctx, session) }, sees };
}

/**
 * Returns the person's reason for requesting production records.
 * @throws Refusal unauthenticated (401, RFC 9470) if the last sign-in was too long ago; malformed (400) without a reason
 */
function requireReason(ctx: Context, { authTime, startedAt }: Session): string {
  if (Date.now() / 1_000 - (authTime ?? startedAt) > FRESH_S)
    throw signedOut(
      `records of production are open for ${FRESH_S / 60} minutes after a sign-in; sign in again at /signin?max_age=${FRESH_S}`,
      `, error="insufficient_user_authentication", max_age="${FRESH_S}"`,
    );
  return parseReason(ctx.get(REASON_HEADER));
}

function parseEnvironment(text: string): Environment {
  if (text === '' || text === 'sandbox') return 'sandbox';
  if (text === 'production') return text;
  throw malformed(ENVIRONMENT_HEADER, `${ENVIRONMENT_HEADER} must be sandbox or production`);
}

function malformed(header: string, diagnostics: string): Refusal {
  return new Refusal('malformed', { code: 'value', diagnostics, expression: `http.${header.toLowerCase()}` });
}

function forbidden(diagnostics: string): Refusal {
  return new Refusal('forbidden', { code: 'forbidden', diagnostics });
}

/** The 401 names a scheme that programs don't know, because a token wouldn't help them. */
function signedOut(diagnostics: string, more = ''): Refusal {
  return new Refusal(
    'unauthenticated',
    { code: 'login', diagnostics },
    { 'WWW-Authenticate': `Cookie realm="annal"${more}` },
  );
}
