/** The FHIR interface over HTTP: the steps before and after a request's interaction. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import type { CommandContext } from '#commands/command.ts';
import { type Caller, turnKey } from '#src/shared/access/caller.ts';
import { IdSource, newUuid } from '#src/shared/ids.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { credentialModels, isAccessToken } from '../access-token.ts';
import type { Answer } from '../answer/answer.ts';
import { type Header, readAuthorship } from '../answer/authorship.ts';
import { negotiate, parsePrefer } from '../answer/negotiation.ts';
import { hasBody, type RawBody, readBody } from '../body.ts';
import {
  type Authentication,
  type Authenticator,
  credentialFor,
  readAs,
  requireScope,
} from '../credentials.ts';
import { fhirError } from '../errors.ts';
import { readForm } from '../form-body.ts';
import { requireFresh } from '../freshness.ts';
import { requireTypes } from '../grant/opening.ts';
import { GrantPass, type GrantService } from '../grant/pass.ts';
import type { AnswerMemory } from '../held-memory.ts';
import { type Attempted, holderOf, keyScopeOf, once } from '../idempotency.ts';
import { type KeyReadService, KeyReads, readOf } from '../key-reads.ts';
import type { LargeBodies } from '../large-bodies.ts';
import { segmentsOf } from '../path.ts';
import type { IdempotencyKeys } from '../ports/idempotency.ts';
import type { FhirRequest, FhirService, Interaction } from './request.ts';
import { chooseLimits, type FhirBody, type FhirBodySettings, parseBody } from './resource-body.ts';
import { allowOf, interactionOf, routeOf } from './route.ts';

/** Dependencies of the interface, besides those of interactions. */
export interface FhirInterface extends FhirService, FhirBodySettings {
  readonly authenticator: Authenticator;
  readonly grants: GrantService;
  readonly keyReads: KeyReadService;
  readonly idempotency: IdempotencyKeys;
  readonly answers: AnswerMemory;
  readonly largeBodies: LargeBodies;
  /** Counts further requests of a caller and its address against the rate limits. @throws Refusal throttled (429) */
  readonly spend: (ctx: Context, caller: Caller, requests: number) => Promise<void>;
}

/** Base path of the interface. */
export const FHIR_PATH = '/fhir/R4';

/** Shared, because a request's query is never changed. */
const NO_QUERY = new URLSearchParams();

function headerOf(headers: IncomingHttpHeaders): Header {
  return (name) => {
    const value = headers[name];
    return Array.isArray(value) ? value.join(', ') : value;
  };
}

/**
 * Answers a request below `FHIR_PATH`. Its pattern goes to `ctx.state.route`.
 * @throws Refusal
 */
export async function answerFhir(fhir: FhirInterface, ctx: Context): Promise<Answer> {
  const segments = segmentsOf(ctx.path.slice(FHIR_PATH.length));
  const route = routeOf(segments);
  ctx.state.route = `${FHIR_PATH}${route.pattern}`;
  if (ctx.method === 'OPTIONS') return { status: 204, headers: { Allow: allowOf(route) } };
  const interaction = interactionOf(route, ctx.method);
  const query = ctx.querystring === '' ? NO_QUERY : new URLSearchParams(ctx.querystring);
  const { headers } = ctx.req;
  negotiate(headers.accept, query.get('_format'));
  if (interaction.kind === 'open') return interaction.run(fhir);
  const credential = credentialFor(ctx);
  requireFresh(fhir.stale, credentialModels(credential));
  const header = headerOf(headers);
  const asked = { service: fhir, query, header, prefer: parsePrefer(header('prefer')) };
  if (!isAccessToken(credential))
    return answerFor(
      fhir,
      ctx,
      fhir.authenticator.begin(credential, ctx),
      asked,
      credential,
      interaction,
      segments,
    );
  const caller = await fhir.authenticator.ofToken(credential, ctx);
  const pass = GrantPass.of(fhir.grants, caller, ctx.state.requestId);
  if (pass !== undefined) return answerGrant(fhir, ctx, pass, asked, credential, segments);
  requireTypes(caller, interaction.grantToken, interaction.kind === 'write' ? interaction.needs : undefined);
  const known = { caller: Promise.resolve(caller), expected: undefined };
  return answerFor(fhir, ctx, known, asked, credential, interaction, segments);
}

/** A request without its caller. */
type Asking = Omit<FhirRequest, 'caller' | 'budget' | 'pass' | 'reads' | 'confirm'>;

/** Answers a request of a caller that acts in its own project. */
async function answerFor(
  fhir: FhirInterface,
  ctx: Context,
  authentication: Authentication,
  asked: Asking,
  credential: string,
  interaction: Exclude<Interaction, { kind: 'open' }>,
  segments: readonly string[],
): Promise<Answer> {
  if (interaction.kind === 'read') {
    const { reads, answer } = await readAs(authentication, async (caller) => {
      const log = KeyReads.of(fhir.keyReads, caller, ctx.state.requestId);
      const run = (): Promise<Answer> =>
        interaction.run({ ...asked, caller, budget: fhir.answers.budget(turnKey(caller.calls), ctx.res) });
      const read = log === undefined ? run() : log.runFhir(readOf(interaction.grantToken, segments), run);
      return { reads: log, answer: await read };
    });
    return reads === undefined ? answer : reads.out(answer);
  }
  if (
    interaction.kind === 'write' &&
    interaction.takes === 'resource' &&
    asked.header('idempotency-key') === undefined
  )
    return answerResource(fhir, ctx, authentication, asked, credential, interaction);
  const caller = await authentication.caller;
  const reads = KeyReads.of(fhir.keyReads, caller, ctx.state.requestId);
  const budget = fhir.answers.budget(turnKey(caller.calls), ctx.res);
  const request = { ...asked, caller, budget, ...(reads === undefined ? {} : { reads }) };
  if (interaction.kind === 'write' && interaction.takes !== 'bundle') requireScope(caller, 'write');
  const run = (): Promise<Answer> => answerOther(fhir, ctx, request, credential, interaction);
  if (reads === undefined) return run();
  // The reads of a Bundle are remembered one by one.
  return reads.out(
    await (interaction.kind === 'write'
      ? run()
      : reads.runFhir(readOf(interaction.grantToken, segments), run)),
  );
}

/**
 * Answers a request under a grant. Everything inside has the record's real ids.
 * @throws Refusal as of the interaction, with the ids that the application knows
 */
async function answerGrant(
  fhir: FhirInterface,
  ctx: Context,
  pass: GrantPass,
  asked: Asking,
  credential: string,
  segments: readonly string[],
): Promise<Answer> {
  const { caller, edge } = pass;
  try {
    const interaction = interactionOf(routeOf(segments.map(edge.inward)), ctx.method);
    if (interaction.kind === 'open') return interaction.run(fhir);
    const budget = fhir.answers.budget(turnKey(caller.calls), ctx.res);
    const inward = { query: edge.query(asked.query), header: edge.header(asked.header) };
    const confirm = (): Promise<void> => fhir.authenticator.confirm(credential);
    const request = { ...asked, ...inward, caller, budget, pass, confirm };
    const answer = await pass.run(interaction.grantToken, () =>
      interaction.kind === 'read'
        ? interaction.run(request)
        : answerOther(fhir, ctx, request, credential, interaction),
    );
    return await pass.out(answer);
  } catch (error) {
    throw pass.refusal(error);
  }
}

/** Answers what isn't read by GET. */
function answerOther(
  fhir: FhirInterface,
  ctx: Context,
  request: FhirRequest,
  credential: string,
  interaction: Exclude<Interaction, { kind: 'open' | 'read' }>,
): Promise<Answer> {
  if (interaction.kind === 'form') return answerForm(fhir, ctx, request, credential, interaction);
  return interaction.kind === 'operation'
    ? answerOperation(fhir, ctx, request, credential, interaction)
    : answerWrite(fhir, ctx, request, credential, interaction);
}

/**
 * Answers a create or update: it is read, checked and planned for the caller of the credential's last use while the
 * database confirms the credential, and written only after that.
 */
async function answerResource(
  fhir: FhirInterface,
  ctx: Context,
  { expected, caller }: Authentication,
  asked: Asking,
  credential: string,
  interaction: Extract<Interaction, { kind: 'write' }>,
): Promise<Answer> {
  const permitted = caller.then((actual) => requireScope(actual, 'write'));
  permitted.catch(() => undefined);
  if (expected === undefined) await permitted;
  const known = expected ?? (await caller);
  const request = { ...asked, caller: known, budget: fhir.answers.budget(turnKey(known.calls), ctx.res) };
  const [answered] = await Promise.allSettled([
    answerWrite(fhir, ctx, request, credential, interaction, permitted),
  ]);
  await permitted;
  if (answered.status === 'rejected') throw answered.reason;
  return answered.value;
}

/** Answers `_search` by POST, with the parameters of form and URL. */
async function answerForm(
  fhir: FhirInterface,
  ctx: Context,
  request: FhirRequest,
  credential: string,
  interaction: Extract<Interaction, { kind: 'form' }>,
): Promise<Answer> {
  requireScope(request.caller, 'read');
  const form = await readForm(ctx);
  negotiate(undefined, form.get('_format'));
  if (form.get('_pretty') === 'true') ctx.state.pretty = true;
  const query = new URLSearchParams([...request.query, ...(request.pass?.edge.query(form) ?? form)]);
  return keyed(fhir, ctx, request, credential, Buffer.from(form.toString()), async () => {
    // The form may have taken long to come.
    await request.confirm?.();
    return { ...(await interaction.run({ ...request, query })), reads: true };
  });
}

/** Answers an operation by POST: without a body, with Parameters, or with its resource. */
async function answerOperation(
  fhir: FhirInterface,
  ctx: Context,
  request: FhirRequest,
  credential: string,
  interaction: Extract<Interaction, { kind: 'operation' }>,
): Promise<Answer> {
  requireScope(request.caller, 'read');
  const hold = fhir.largeBodies.hold(ctx, turnKey(request.caller.calls));
  const body = hasBody(ctx.req) ? await readBody(ctx.req, chooseLimits(fhir, 'resource'), hold) : undefined;
  return keyed(fhir, ctx, request, credential, body?.bytes ?? Buffer.alloc(0), async () => {
    if (body !== undefined) await request.confirm?.();
    const parsed = body === undefined ? undefined : parseBody(atEdge(body, request));
    return { ...(await interaction.run(request, parsed)), reads: true, refused: 1 };
  });
}

/** Returns a body whose ids are exchanged when it is parsed, if the request is under a grant. */
function atEdge(body: RawBody, { pass }: FhirRequest): RawBody {
  return pass === undefined ? body : { ...body, edge: pass.edge };
}

async function answerWrite(
  fhir: FhirInterface,
  ctx: Context,
  request: FhirRequest,
  credential: string,
  interaction: Extract<Interaction, { kind: 'write' }>,
  permitted?: Promise<void>,
): Promise<Answer> {
  const authorship = readAuthorship(request.header, request.caller);
  const sent = await bodyOf(fhir, ctx, request.caller, interaction.takes);
  const body = sent === undefined ? undefined : atEdge(sent, request);
  const run = (attempted?: Attempted) => {
    const command: CommandContext = {
      caller: request.caller,
      authorship,
      requestId: ctx.state.requestId,
      ids: new IdSource(attempted?.commandId ?? newUuid(), attempted?.millis ?? Date.now()),
      now: nowMicros,
      ...(attempted === undefined ? {} : { retry: attempted.retry }),
      ...(permitted === undefined ? {} : { permitted }),
      ...(request.pass === undefined
        ? {}
        : { searched: request.pass.searched, asKnown: request.pass.edge.outward }),
    };
    const spend = (requests: number): Promise<void> => fhir.spend(ctx, request.caller, requests);
    return interaction.run({ ...request, command, body, spend });
  };
  return keyed(fhir, ctx, request, credential, body?.bytes ?? Buffer.alloc(0), run);
}

/** Carries a request out when it is its turn, a POST with an `Idempotency-Key` once. A retry that waits for the first takes no turn. */
function keyed(
  fhir: FhirInterface,
  ctx: Context,
  { caller, header }: { caller: Caller; header: Header },
  credential: string,
  body: Buffer,
  run: (attempted?: Attempted) => Promise<Answer>,
): Promise<Answer> {
  const inTurn = (attempted?: Attempted): Promise<Answer> =>
    fhir.largeBodies.run(ctx, turnKey(caller.calls), () => run(attempted));
  const key = header('idempotency-key');
  if (ctx.method !== 'POST' || key === undefined) return inTurn();
  const { method, url } = ctx;
  const asked = { method, url, header, body, response: ctx.res };
  const request = { key, scope: keyScopeOf(caller), credential, holder: holderOf(caller), ...asked };
  return once(fhir.idempotency, request, inTurn, fhirError);
}

function bodyOf(
  fhir: FhirInterface,
  ctx: Context,
  { calls }: Caller,
  takes: 'nothing' | FhirBody,
): Promise<RawBody> | undefined {
  if (takes === 'nothing') return undefined;
  return readBody(ctx.req, chooseLimits(fhir, takes), fhir.largeBodies.hold(ctx, turnKey(calls)));
}
