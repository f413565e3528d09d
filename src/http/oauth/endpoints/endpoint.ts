/**
 * Implements what the endpoints for clients have in common: a form, an authenticated client, JSON, and the errors in RFC 6749.
 */
import { z } from 'zod';
import { ASSERTION_TYPE } from '#src/oauth/client-assertion.ts';
import type { Client } from '#src/oauth/clients.ts';
import { OAuthError } from '#src/oauth/error.ts';
import {
  answerJson,
  type OpenRequest,
  type OpenRoute,
  type OpenService,
  openRoute,
} from '../../api/open-route.ts';
import type { DescribedAnswer } from '../../api/route.ts';
import { hasSeveralValues, repeatedName } from '../../path.ts';
import { describeErrors, NOT_STORED } from '../errors.ts';

/** Form parameters. An empty parameter is treated as absent. */
interface Parameters<Name extends string> {
  /** Returns a parameter; undefined if it is absent. */
  readonly one: (name: Name) => string | undefined;
  /** Returns all values of a parameter that may be repeated. */
  readonly all: (name: Name) => readonly string[];
}

/** A request whose client has been authenticated. */
export interface ClientRequest<Name extends string = string> extends Parameters<Name> {
  readonly service: OpenService;
  readonly client: Client;
  readonly requestId: string;
  /** The form's parameters, which can be read by any name. */
  readonly form: Parameters<string>;
}

/** The definition of an endpoint. */
interface ClientEndpoint<Form extends z.ZodObject>
  extends Pick<OpenRoute, 'path' | 'operationId' | 'summary' | 'description' | 'serversOnly'> {
  /** Its own parameters. */
  readonly form: Form;
  readonly answer: DescribedAnswer;
  work(request: ClientRequest<Extract<keyof Form['shape'], string>>): Promise<object>;
}

/** Client authentication parameters; public applications send only `client_id`. */
const AUTHENTICATION = {
  client_id: z
    .string()
    .max(500)
    .optional()
    .describe('Required unless the `Authorization` header names the client.')
    .meta({ example: 'client_test_Yk3q0Zt7bV1sXc9wLm2Npw' }),
  client_secret: z
    .string()
    .max(500)
    .optional()
    .describe('Of `client_secret_post`.')
    .meta({ example: 'the-secret-of-the-application' }),
  client_assertion_type: z.literal(ASSERTION_TYPE).optional(),
  client_assertion: z.string().optional().describe('A signed JWT, for `private_key_jwt`.'),
};

const ERRORS = describeErrors({
  400: 'The request, the code or the refresh token is invalid: `error` says which',
  401: '`invalid_client`: client authentication failed',
  405: 'Another method',
  413: 'The form is too long',
  415: 'The body is not a form',
  429: 'Too many requests, or too many failed authentications; see `Retry-After`',
  500: '`server_error`',
  503: '`temporarily_unavailable`; see `Retry-After`',
});

/** Returns a route that accepts a form from an authenticated client. */
export function clientRoute<Form extends z.ZodObject>(endpoint: ClientEndpoint<Form>): OpenRoute {
  const { answer, work, form, ...described } = endpoint;
  return openRoute({
    ...described,
    method: 'POST',
    tag: 'OAuth',
    models: ['projects', 'consents'],
    form: z.object({ ...form.shape, ...AUTHENTICATION }),
    errorForm: 'oauth',
    answers: { 200: answer, ...ERRORS },
    run: async (request) => answerUnstored(await work(await readClientRequest(request))),
  });
}

/** Returns a JSON response that must not be stored. */
export function answerUnstored(body: object): ReturnType<typeof answerJson> {
  return { ...answerJson(body, { headers: NOT_STORED }), plain: true };
}

/** Parameters that may be repeated (RFC 8707, section 2). */
const REPEATABLE = new Set(['resource']);

async function readClientRequest({ service, ctx, form, requestId }: OpenRequest): Promise<ClientRequest> {
  const twice = repeatedName(form.keys(), REPEATABLE);
  if (twice !== undefined)
    throw new OAuthError('invalid_request', `the parameter ${twice.slice(0, 60)} occurs twice`);
  if (hasSeveralValues(ctx.req.rawHeaders, 'authorization'))
    throw new OAuthError('invalid_request', 'the header Authorization occurs twice');
  const { authorization } = ctx.req.headers;
  const address = service.limits.readAddress(ctx);
  const client = await service.oauth.authenticate({ authorization }, form, { address });
  const all = (name: string) => form.getAll(name).filter((value) => value !== '');
  const parameters = { one: (name: string) => all(name)[0], all };
  return { service, client, requestId, form: parameters, ...parameters };
}

/**
 * Returns a parameter.
 * @throws OAuthError invalid_request if it is absent
 */
export function required<Name extends string>({ one }: Pick<ClientRequest<Name>, 'one'>, name: Name): string {
  const value = one(name);
  if (value === undefined) throw new OAuthError('invalid_request', `the parameter ${name} is missing`);
  return value;
}
