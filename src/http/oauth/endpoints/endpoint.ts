/** The common parts of the endpoints for clients: a form, an authenticated client, JSON, and errors of RFC 6749. */
import type { Context } from 'koa';
import type { Logger } from 'pino';
import type { AuthenticateClient } from '#src/oauth/client-authentication.ts';
import type { Client } from '#src/oauth/clients.ts';
import { OAuthError } from '#src/oauth/error.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import { readForm } from '../../form-body.ts';
import { hasSeveralValues, repeatedName } from '../../path.ts';
import type { AccessLog } from '../../ports/access-log.ts';
import type { BackchannelEndpoints } from '../../ports/access-requests.ts';
import type { Freshness } from '../../ports/freshness.ts';
import type { IdentityGrant, TokenEndpoints } from '../../ports/oauth.ts';
import { asOAuthError, NOT_STORED, oauthErrorAnswer } from '../errors.ts';

/** Dependencies of the endpoints. */
export interface EndpointDeps {
  readonly baseUrl: string;
  readonly tokens: TokenEndpoints;
  readonly authenticate: AuthenticateClient;
  /** Returns the address that failed authentication is counted for. */
  readonly readAddress: (ctx: Context) => string;
  readonly freshness: Freshness;
  /** Returns the refusal that a client gets for an error; undefined for a fault of the service. */
  readonly refusalOf: (error: unknown) => Refusal | undefined;
  readonly log: Logger;
  readonly accessLog: Pick<AccessLog, 'note'>;
  readonly backchannel: BackchannelEndpoints;
  readonly identityGrant: IdentityGrant;
  /** Tells whether a credential that isn't a grant's token works elsewhere. */
  readonly worksElsewhere: (credential: string) => Promise<boolean>;
}

/** Parameters of a request, after its client was authenticated. An empty parameter counts as absent. */
export interface ClientRequest {
  readonly client: Client;
  /** Returns a parameter; undefined without it. */
  readonly one: (name: string) => string | undefined;
  /** Returns all values of a parameter that may occur several times. */
  readonly all: (name: string) => readonly string[];
  readonly requestId: string;
}

/** Parameters that may occur several times (RFC 8707, section 2). */
const REPEATABLE = new Set(['resource']);

/** Returns a handler that answers a client's form with JSON. */
export function clientEndpoint(
  deps: EndpointDeps,
  work: (request: ClientRequest) => Promise<object>,
): (ctx: Context) => Promise<void> {
  return (ctx) => answerJson(deps, ctx, async () => work(await readClientRequest(deps, ctx)));
}

/** Answers a request with JSON that isn't stored, or with an error of RFC 6749. */
export async function answerJson(
  deps: EndpointDeps,
  ctx: Context,
  work: () => Promise<object>,
): Promise<void> {
  ctx.set(NOT_STORED);
  try {
    const body = await work();
    ctx.status = 200;
    ctx.body = body;
  } catch (error) {
    const refused = findError(deps, error);
    if (refused === undefined) throw error;
    const { status, headers, body } = oauthErrorAnswer(refused);
    ctx.status = status;
    ctx.set({ ...headers });
    ctx.body = body;
  }
}

async function readClientRequest(deps: EndpointDeps, ctx: Context): Promise<ClientRequest> {
  deps.freshness.require(['projects', 'consents']);
  const form = await readForm(ctx);
  const twice = repeatedName(form.keys(), REPEATABLE);
  if (twice !== undefined)
    throw new OAuthError('invalid_request', `the parameter ${twice.slice(0, 60)} occurs twice`);
  if (hasSeveralValues(ctx.req.rawHeaders, 'authorization'))
    throw new OAuthError('invalid_request', 'the header Authorization occurs twice');
  const { authorization } = ctx.req.headers;
  const client = await deps.authenticate({ authorization }, form, { address: deps.readAddress(ctx) });
  const all = (name: string) => form.getAll(name).filter((value) => value !== '');
  return { client, one: (name) => all(name)[0], all, requestId: ctx.state.requestId };
}

/** Returns an error as a client gets it; undefined for a fault of the service. */
function findError({ refusalOf }: EndpointDeps, error: unknown): OAuthError | undefined {
  if (error instanceof OAuthError) return error;
  const refusal = refusalOf(error);
  return refusal === undefined || refusal.kind === 'internal' ? undefined : asOAuthError(refusal);
}

/** Returns a parameter. @throws OAuthError invalid_request without it */
export function required({ one }: ClientRequest, name: string): string {
  const value = one(name);
  if (value === undefined) throw new OAuthError('invalid_request', `the parameter ${name} is missing`);
  return value;
}
