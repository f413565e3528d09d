/** Implements the FHIR interface over HTTP: the pipeline steps in which it differs from the JSON interfaces. */
import type { Context } from 'koa';
import type { CommandContext } from '#commands/command.ts';
import { type Caller, turnKey } from '#src/shared/access/caller.ts';
import { IdSource, newUuid } from '#src/shared/ids.ts';
import type { AnswerMemory } from '#src/shared/load/answer-budget.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import type { Answer } from '../answer/answer.ts';
import { readAuthorship } from '../answer/authorship.ts';
import { refuseConditions } from '../answer/conditions.ts';
import { negotiate, type Prefer, parsePrefer } from '../answer/negotiation.ts';
import { hasBody, type RawBody, readBody } from '../body.ts';
import { findVisitor, unauthenticated } from '../credential-kinds.ts';
import type { Edge } from '../edge/edge.ts';
import { fhirError } from '../errors.ts';
import { formIn, readFormBody } from '../form-body.ts';
import type { GrantToken } from '../grant/opening.ts';
import type { Attempted } from '../idempotency.ts';
import { describeRead, type KeyReads } from '../key-reads.ts';
import { FHIR_PATH, readHeaders, splitPath } from '../path.ts';
import { type Admitted, type Asked, type Dialect, routeFor, type Steps } from '../pipeline.ts';
import { refuseMoment } from './as-of.ts';
import type { Route } from './interactions.ts';
import {
  type FhirRequest,
  type FhirService,
  type FhirWrite,
  type Interaction,
  openingAt,
} from './request.ts';
import { chooseLimits, type FhirBodySettings, parseBody } from './resource-body.ts';
import { matchRoute } from './route.ts';
import { refuseUnknown } from './target.ts';

/** Dependencies of the FHIR interface, in addition to the dependencies of its interactions. */
export interface FhirInterface extends FhirService, FhirBodySettings, Steps {
  readonly answers: AnswerMemory;
  /**
   * Counts further requests against the rate limits of a caller and its address.
   * @throws Refusal throttled (429)
   */
  readonly spend: (ctx: Context, caller: Caller, requests: number) => Promise<void>;
}

/** Shared by all requests without a query, because a request's query is never modified. */
const NO_QUERY = new URLSearchParams();

/** The alternative to `If-None-Match: *` in a write. */
const INSTEAD = 'to create a resource only if there is none, send If-None-Exist with POST';

/** A known path. */
interface Place extends Route {
  readonly segments: readonly string[];
}

/** A request to an interaction. */
interface AskedFhir extends Asked<Interaction> {
  readonly segments: readonly string[];
  readonly query: URLSearchParams;
  readonly prefer: Prefer;
}

/** Defines how FHIR requests are read and answered. */
export class FhirDialect implements Dialect<Interaction, Place, AskedFhir> {
  constructor(private readonly fhir: FhirInterface) {}

  find({ path }: Context): Place {
    const segments = splitPath(path.slice(FHIR_PATH.length));
    const { pattern, methods } = matchRoute(segments);
    return { pattern: FHIR_PATH + pattern, methods, segments };
  }

  ask(ctx: Context, route: Interaction, { segments }: Place): AskedFhir {
    const query = ctx.querystring === '' ? NO_QUERY : new URLSearchParams(ctx.querystring);
    const header = readHeaders(ctx.req.headers);
    negotiate(header('accept'), query.get('_format'));
    return { route, segments, query, header, prefer: parsePrefer(header('prefer')) };
  }

  inward(ctx: Context, { segments, query, header, prefer }: AskedFhir, edge: Edge): AskedFhir {
    const inside = segments.map(edge.inward);
    const route = routeFor(matchRoute(inside).methods, ctx.method);
    return { route, segments: inside, query: edge.query(query), header: edge.header(header), prefer };
  }

  findOpening({ route, segments }: AskedFhir): GrantToken {
    return route.kind === 'open' ? 'refused' : openingAt(route, segments);
  }

  log(reads: KeyReads, asked: AskedFhir, run: () => Promise<Answer>): Promise<Answer> {
    return reads.runFhir(describeRead(this.findOpening(asked), asked.segments), run);
  }

  readBody(ctx: Context, { route }: AskedFhir, owner: string): Promise<RawBody> | undefined {
    if (route.kind === 'form') return this.#readForm(ctx);
    const takes =
      route.kind === 'operation' ? hasBody(ctx.req) && 'resource' : route.kind === 'write' && route.takes;
    if (takes === false || takes === 'nothing') return undefined;
    return readBody(
      ctx.req,
      chooseLimits(this.fhir, takes),
      this.fhir.largeBodies.memory.hold(owner, ctx.res),
    );
  }

  async #readForm(ctx: Context): Promise<RawBody> {
    const body = await readFormBody(ctx);
    const form = formIn(body);
    negotiate(undefined, form.get('_format'));
    if (form.get('_pretty') === 'true') ctx.state.pretty = true;
    return body;
  }

  run(
    ctx: Context,
    { route, segments, query, header, prefer }: AskedFhir,
    { credential, caller, pass, reads, permitted }: Admitted,
    body?: RawBody,
    attempted?: Attempted,
  ): Promise<Answer> {
    const { fhir } = this;
    if (route.kind === 'open') return Promise.resolve(route.run(fhir));
    if (query.size > 0 && route.takesAsOf !== true) refuseMoment(query);
    if (caller === undefined) throw new TypeError(`${route.kind} needs a caller`);
    const budget = fhir.answers.budget(turnKey(caller.calls), ctx.res);
    const confirm = pass === undefined ? undefined : () => fhir.authenticator.confirm(credential);
    const goOn = () => requireWorking(fhir, ctx, credential);
    const request = { service: fhir, caller, query, header, prefer, budget, pass, confirm, goOn, reads };
    if (route.kind === 'read') return route.run(request, segments);
    if (route.kind !== 'write') return answerPosted(route, request, segments, body);
    // Search criteria are checked by their own rules.
    if (query.size > 0 && (ctx.method === 'POST' || segments.length > 1))
      refuseUnknown(ctx.method, { query, prefer });
    refuseConditions(header, { ifMatch: ctx.method !== 'POST', instead: INSTEAD });
    const command: CommandContext = {
      caller,
      authorship: readAuthorship(header, caller),
      requestId: ctx.state.requestId,
      ids: new IdSource(attempted?.commandId ?? newUuid(), attempted?.millis ?? Date.now()),
      now: nowMicros,
      retry: attempted?.retry,
      permitted,
      searched: pass?.searched,
      asKnown: pass?.edge.outward,
    };
    const write: FhirWrite = {
      ...request,
      command,
      body,
      spend: (requests) => fhir.spend(ctx, caller, requests),
    };
    return route.run(write, segments);
  }

  printRefusal(_: Context, refusal: Refusal): Answer {
    return fhirError(refusal);
  }
}

/**
 * Checks that a caller may still read, because a grant, key or session may end while a response is being sent.
 * @throws Refusal unauthenticated (401); also whatever `Visitor.caller` throws
 */
async function requireWorking(
  { authenticator }: Pick<FhirInterface, 'authenticator'>,
  ctx: Context,
  credential: string,
): Promise<void> {
  const visitor = findVisitor(ctx);
  if (visitor !== undefined) await visitor.caller();
  else if (!(await authenticator.works(credential)))
    throw unauthenticated('the credential has ended since the request began', 'invalid_token');
}

/**
 * Answers an operation, or a search whose parameters are in a form.
 * @throws Refusal unauthenticated (401) if the token has stopped working
 */
async function answerPosted(
  route: Extract<Interaction, { kind: 'form' | 'operation' }>,
  request: FhirRequest,
  segments: readonly string[],
  body: RawBody | undefined,
): Promise<Answer> {
  // The body may have taken a long time to arrive.
  if (body !== undefined) await request.confirm?.();
  if (route.kind === 'operation') {
    const answer = await route.run(request, body === undefined ? undefined : parseBody(body));
    return { ...answer, reads: true, refused: 1 };
  }
  const form = formIn(body);
  const query = new URLSearchParams([...request.query, ...(request.pass?.edge.query(form) ?? form)]);
  if (route.takesAsOf !== true) refuseMoment(query);
  return { ...(await route.run({ ...request, query }, segments)), reads: true };
}
