/**
 * Takes every request for a declared route through the same steps: match, credential, the caller's rate limit, freshness,
 * grant, access log, body, idempotency, run. A route declares its requirements (`Declared`). A dialect implements what differs
 * between FHIR, the JSON interfaces (REST v1, `/admin`, `/me`, webhooks) and open routes (OAuth, shared links, documentation,
 * health).
 */
import type { Context } from 'koa';
import { type Caller, turnKey } from '#src/shared/access/caller.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import { methodNotAllowed, notSupportedHere } from '#src/shared/method-not-allowed.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from './answer/answer.ts';
import type { Header } from './answer/authorship.ts';
import type { RawBody } from './body.ts';
import { credentialModels, findVisitor, isAccessToken, refusesGrants } from './credential-kinds.ts';
import {
  type Authentication,
  type Authenticator,
  credentialFor,
  readAs,
  readBearer,
  requireScope,
} from './credentials.ts';
import type { Edge } from './edge/edge.ts';
import { giveReceipt } from './edge/receipt.ts';
import { type GrantToken, type Need, type Opening, requireTypes } from './grant/opening.ts';
import { GrantPass, type GrantService } from './grant/pass.ts';
import { type Attempted, isRepeated, keyScope, keyScopeOfPerson, once, tokenHolder } from './idempotency.ts';
import { type KeyReadService, KeyReads } from './key-reads.ts';
import { LARGE_BODY, type LargeBodies } from './large-bodies.ts';
import type { Freshness } from './ports/freshness.ts';
import type { IdempotencyKeys } from './ports/idempotency.ts';
import type { InnerCaller } from './ports/inner-requests.ts';

/** The routes' HTTP methods. Every GET route also serves HEAD. */
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** A route's declaration. */
export interface Declared {
  readonly credential: 'api_key' | 'identity' | 'none';
  /** The scopes required of an API key. */
  readonly scopes: readonly ('read' | 'write')[];
  /**
   * `refused` if the route refuses access tokens of grants; `ignored` if no credential is checked; otherwise what the grant
   * must allow.
   */
  readonly grantToken: 'refused' | 'ignored' | Pick<Opening, 'action' | 'needs'>;
  /**
   * On a route that refuses access tokens of grants: the access required of a client whose scopes name types. Default: all
   * types.
   */
  readonly needs?: readonly Need[];
  /** The read models that must not lag. */
  readonly models: readonly string[];
  /** Which part of the request is recorded as a read in the access log. With `parts`, the route itself records each read. */
  readonly logged: 'whole' | 'parts' | 'nothing';
  /**
   * The work that may begin while the database is still confirming the credential, on behalf of the caller who last used that
   * credential: a whole read, or a write up to its append. Nothing is sent or written before the confirmation.
   */
  readonly ahead: 'read' | 'write' | 'nothing';
  /** True if an `Idempotency-Key` is ignored because the response isn't stored. */
  readonly unkeyed?: true;
}

/** The routes for a path, by method. */
export interface Found<Route> {
  /** The path without ids, for metrics and logs. */
  readonly pattern: string;
  readonly methods: Readonly<Partial<Record<Method, Route>>>;
}

/** A request without its caller. */
export interface Asked<Route> {
  readonly route: Route;
  /** Values by lower-case name. */
  readonly header: Header;
}

/** Facts about the caller of a request, after the credential was checked. */
export interface Admitted {
  /** Empty if the route takes no credential. */
  readonly credential: string;
  /** The caller identified by a project's credential. */
  readonly caller?: Caller;
  /** The person identified by an ID token or a session. */
  readonly identity?: Identity;
  /** Under a grant: the pass used for the parts of the request. */
  readonly pass?: GrantPass;
  /** Records the reads of a caller who isn't under a grant, if such reads are logged. */
  readonly reads?: KeyReads | undefined;
  /** The credential check, if it is still running. Nothing is written until it completes. Rejects with Refusal. */
  readonly permitted?: Promise<void>;
}

/** The steps that differ between the interfaces. */
export interface Dialect<
  Route extends Declared,
  Place extends Found<Route> = Found<Route>,
  Ask extends Asked<Route> = Asked<Route>,
> {
  /**
   * Returns the routes for a request's path; undefined if this dialect has none for it.
   * @throws Refusal
   */
  find(ctx: Context): Place | undefined;
  /**
   * Reads the head of a request.
   * @throws Refusal not_acceptable (406)
   */
  ask(ctx: Context, route: Route, found: Place): Ask;
  /**
   * Returns the same request with real ids.
   * @throws Refusal not_found (404)
   */
  inward(ctx: Context, asked: Ask, edge: Edge): Ask;
  /** Returns what a request requires of a grant. */
  findOpening(asked: Ask): GrantToken;
  /** Runs a read and records what it shows. */
  log(reads: KeyReads, asked: Ask, run: () => Promise<Answer>): Promise<Answer>;
  /**
   * Reads the body; undefined if the route takes none.
   * @param owner the owner whose memory limit the body counts against
   */
  readBody(ctx: Context, asked: Ask, owner: string): Promise<RawBody | undefined> | undefined;
  /**
   * Runs the route.
   * @param attempted set if the request has an Idempotency-Key
   * @throws Refusal
   */
  run(ctx: Context, asked: Ask, admitted: Admitted, body?: RawBody, attempted?: Attempted): Promise<Answer>;
  /** Returns the response that is stored under an Idempotency-Key for a refusal. */
  printRefusal(ctx: Context, refusal: Refusal): Answer;
}

/** The services that the steps need. */
export interface Steps {
  readonly authenticator: Authenticator;
  readonly freshness: Freshness;
  readonly grants: GrantService;
  readonly keyReads: KeyReadService;
  readonly largeBodies: LargeBodies;
  readonly idempotency: IdempotencyKeys;
}

const NOBODY: Admitted = { credential: '' };
const ID_TOKEN = 'an ID token as Authorization: Bearer <ID token>';

/** The routes of one dialect. */
export class Pipeline<
  Route extends Declared,
  Place extends Found<Route> = Found<Route>,
  Ask extends Asked<Route> = Asked<Route>,
> {
  constructor(
    private readonly steps: Steps,
    private readonly dialect: Dialect<Route, Place, Ask>,
  ) {}

  /**
   * Answers a request; returns undefined if no route has its path. Sets `ctx.state.route` to the path's pattern.
   * @throws Refusal
   */
  async answer(ctx: Context): Promise<Answer | undefined> {
    const { authenticator, freshness, grants } = this.steps;
    const found = this.dialect.find(ctx);
    if (found === undefined) return undefined;
    ctx.state.route = found.pattern;
    if (ctx.method === 'OPTIONS') return { status: 204, headers: { Allow: allowHeader(found.methods) } };
    const route = routeFor(found.methods, ctx.method);
    const asked = this.dialect.ask(ctx, route, found);
    if (route.credential === 'none') {
      const bearer = route.grantToken === 'ignored' ? undefined : readBearer(ctx.req.headers);
      if (bearer !== undefined) await authenticator.refuseGrant(bearer);
      freshness.require(route.models);
      return this.#carryOut(ctx, asked, NOBODY);
    }
    const credential = credentialFor(ctx, route.credential === 'identity' ? ID_TOKEN : undefined);
    freshness.require(credentialModels(credential));
    if (route.credential === 'identity') {
      freshness.require(route.models);
      const identity = findVisitor(ctx)?.identity ?? (await authenticator.requireIdentity(credential));
      ctx.state.identity = identity;
      return this.#carryOut(ctx, asked, { credential, identity });
    }
    if (!isAccessToken(credential)) {
      freshness.require(route.models);
      return this.#answerFor(ctx, asked, credential, authenticator.begin(credential, ctx));
    }
    const caller = await authenticator.ofToken(credential, ctx);
    const pass = GrantPass.of(grants, caller, ctx.state.requestId);
    if (pass !== undefined) return this.#answerGrant(ctx, asked, credential, pass);
    freshness.require(route.models);
    return this.#answerFor(ctx, asked, credential, { caller: Promise.resolve(caller), expected: undefined });
  }

  /**
   * Answers a request that another request makes on behalf of its own caller; returns undefined if no route has its path.
   * @param by the caller, who has already been admitted, and the action for the access log
   * @throws Refusal
   */
  async answerFor(ctx: Context, credential: string, by: InnerCaller): Promise<Answer | undefined> {
    const found = this.dialect.find(ctx);
    if (found === undefined) return undefined;
    const route = routeFor(found.methods, ctx.method);
    if (route.credential !== 'api_key') throw refusesGrants('another credential');
    const asked = this.dialect.ask(ctx, route, found);
    const pass = GrantPass.of(this.steps.grants, by.caller, ctx.state.requestId, by);
    if (pass !== undefined) return this.#answerGrant(ctx, asked, credential, pass);
    this.steps.freshness.require(route.models);
    const checking = { caller: Promise.resolve(by.caller), expected: undefined };
    return this.#answerChecked(ctx, asked, credential, checking, by);
  }

  /** Answers the request of a caller that acts in its own project. */
  #answerFor(ctx: Context, asked: Ask, credential: string, checking: Authentication): Promise<Answer> {
    const { ahead } = asked.route;
    if (ahead === 'read') return this.#readAhead(ctx, asked, credential, checking);
    if (ahead === 'write' && asked.header('idempotency-key') === undefined)
      return this.#writeAhead(ctx, asked, credential, checking);
    return this.#answerChecked(ctx, asked, credential, checking);
  }

  /** Returns the log for a caller's reads; undefined if the caller is under a grant or the reads aren't logged here. */
  #openLog(caller: Caller, ctx: Context, by?: InnerCaller): KeyReads | undefined {
    const { keyReads } = this.steps;
    if (!keyReads.logged.has(caller.calls.credential.kind)) return undefined;
    return new KeyReads(keyReads, caller, ctx.state.requestId, by);
  }

  async #readAhead(ctx: Context, asked: Ask, credential: string, checking: Authentication): Promise<Answer> {
    const { reads, answer } = await readAs(checking, async (caller) => {
      if (caller.sees.types !== undefined) requireTypes(caller, asked.route.grantToken, asked.route.needs);
      const log = this.#openLog(caller, ctx);
      const admitted = { credential, caller, reads: log };
      const answer = await (log === undefined
        ? this.dialect.run(ctx, asked, admitted)
        : this.dialect.log(log, asked, () => this.dialect.run(ctx, asked, admitted)));
      return { reads: log, answer };
    });
    return reads === undefined ? this.#receipted(answer, await checking.caller) : reads.out(answer);
  }

  async #writeAhead(
    ctx: Context,
    asked: Ask,
    credential: string,
    { expected, caller }: Authentication,
  ): Promise<Answer> {
    const permitted = caller.then((actual) => permit(asked.route, actual));
    permitted.catch(() => undefined);
    if (expected === undefined) await permitted;
    const admitted = { credential, caller: expected ?? (await caller), permitted };
    const [answered] = await Promise.allSettled([this.#carryOut(ctx, asked, admitted)]);
    await permitted;
    if (answered.status === 'rejected') throw answered.reason;
    return answered.value;
  }

  async #answerChecked(
    ctx: Context,
    asked: Ask,
    credential: string,
    checking: Authentication,
    by?: InnerCaller,
  ): Promise<Answer> {
    const { route } = asked;
    const caller = await checking.caller;
    permit(route, caller);
    const reads = route.logged === 'nothing' ? undefined : this.#openLog(caller, ctx, by);
    const run = (): Promise<Answer> => this.#carryOut(ctx, asked, { credential, caller, reads });
    if (reads === undefined) {
      const answer = await run();
      if (by === undefined) return this.#receipted(answer, caller);
      by.gather({ entries: [], answer, foreign: undefined });
      return answer;
    }
    if (route.logged !== 'parts') return reads.out(await this.dialect.log(reads, asked, run));
    const answer = await run();
    if (isRepeated(answer)) reads.noteRepeated(answer);
    return reads.out(answer);
  }

  /** Returns a response that has no access-log entry. If it has a receipt, the receipt is written first. */
  async #receipted(answer: Answer, caller: Caller): Promise<Answer> {
    const { receipt } = answer;
    if (receipt !== undefined)
      await this.steps.keyReads.accessLog.written([], [giveReceipt(caller, receipt, answer)]);
    return answer;
  }

  /**
   * Answers a request under a grant. Inside the edge, everything has the record's real ids.
   * @throws Refusal as the route does, but with the ids that the application knows
   */
  async #answerGrant(ctx: Context, asked: Ask, credential: string, pass: GrantPass): Promise<Answer> {
    try {
      const inside = this.dialect.inward(ctx, asked, pass.edge);
      this.steps.freshness.require(inside.route.models);
      const answer = await pass.run(this.dialect.findOpening(inside), () =>
        this.#carryOut(ctx, inside, { credential, caller: pass.caller, pass }),
      );
      return await pass.out(answer);
    } catch (error) {
      throw pass.refusal(error);
    }
  }

  /**
   * Reads the body, and runs the route when it is the request's turn. A POST with an `Idempotency-Key` runs only once. A retry
   * that waits for the first request doesn't take a turn.
   */
  async #carryOut(ctx: Context, asked: Ask, admitted: Admitted): Promise<Answer> {
    const { largeBodies, idempotency } = this.steps;
    const { caller, identity, credential, pass } = admitted;
    const owner =
      caller === undefined
        ? identity === undefined
          ? 'everybody'
          : keyScopeOfPerson(identity)
        : turnKey(caller.calls);
    const reading = this.dialect.readBody(ctx, asked, owner);
    const sent = reading === undefined ? undefined : await reading;
    // The parser exchanges the ids, using the edge.
    const body = sent === undefined || pass === undefined ? sent : { ...sent, edge: pass.edge };
    const size = sent?.bytes.length ?? 0;
    const run = (attempted?: Attempted): Promise<Answer> =>
      this.dialect.run(ctx, asked, admitted, body, attempted);
    const inTurn = (attempted?: Attempted): Promise<Answer> =>
      size < LARGE_BODY ? run(attempted) : largeBodies.run(ctx, owner, size, () => run(attempted));
    const isKeyed = ctx.method === 'POST' && asked.route.unkeyed !== true;
    const key = isKeyed ? asked.header('idempotency-key') : undefined;
    if (key === undefined) return inTurn();
    const request = {
      key,
      scope: caller === undefined ? owner : keyScope(caller),
      credential,
      holder:
        caller === undefined
          ? identity && `identity ${identity.issuer}\n${identity.subject}`
          : tokenHolder(caller),
      method: ctx.method,
      url: ctx.url,
      header: asked.header,
      body: body?.bytes ?? Buffer.alloc(0),
      response: ctx.res,
    };
    return once(idempotency, request, inTurn, (refusal) => {
      ctx.state.refusal = refusal;
      return this.dialect.printRefusal(ctx, refusal);
    });
  }
}

/**
 * Checks what a route requires of a caller who isn't under a grant.
 * @throws Refusal forbidden (403)
 */
function permit({ scopes, grantToken, needs }: Declared, caller: Caller): void {
  for (const scope of scopes) requireScope(caller, scope);
  if (caller.sees.types !== undefined) requireTypes(caller, grantToken, needs);
}

/** Returns the value of the `Allow` header for a path's routes. */
export function allowHeader(methods: Found<unknown>['methods']): string {
  const all = Object.keys(methods).flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  return [...all, 'OPTIONS'].join(', ');
}

/**
 * Returns the route for a method.
 * @throws Refusal method_not_allowed (405) with `Allow`
 */
export function routeFor<Route>(methods: Found<Route>['methods'], method: string): Route {
  const name = method === 'HEAD' ? 'GET' : method;
  const found = Object.hasOwn(methods, name) ? methods[name as Method] : undefined;
  if (found !== undefined) return found;
  throw methodNotAllowed(notSupportedHere(method), allowHeader(methods));
}
