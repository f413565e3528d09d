/**
 * `/shl/*`: the endpoints for recipients of SMART Health Links, and the page that shows a link's content
 * (https://docs.smarthealthit.org/smart-health-links/spec/). No credential: the link is one.
 */
import { Readable } from 'node:stream';
import Router from '@koa/router';
import type { Context } from 'koa';
import { z } from 'zod';
import type { Caller } from '#src/shared/access/caller.ts';
import { Faults } from '#src/shared/faults.ts';
import { MAX_VALUES, parseJson } from '#src/shared/json/json.ts';
import type { AnswerMemory } from '#src/shared/load/answer-budget.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { endWhenStalled } from '../answer/send.ts';
import { addIssues, sentence } from '../api/issues.ts';
import { type BodyLimits, decodeBody, JSON_TYPES, readBody } from '../body.ts';
import { JsonCount } from '../body-count.ts';
import type { LargeBodies } from '../large-bodies.ts';
import type { Opened, OpeningAsked, SharedLinkOpening } from '../ports/shared-links.ts';

/** Dependencies. */
export interface SharedLinkRouterDeps {
  readonly links: SharedLinkOpening;
  readonly baseUrl: string;
  readonly answers: AnswerMemory;
  readonly largeBodies: LargeBodies;
  /** Counts a request for a link. @throws Refusal throttled (429) */
  readonly count: (ctx: Context, caller: Caller) => void | Promise<void>;
}

/** Limits of a request for a manifest. */
const BODY: BodyLimits = {
  accepted: JSON_TYPES,
  bytes: 100_000,
  count: () => new JsonCount({ values: MAX_VALUES }),
};

/** The body of a request for a manifest. Members that a client adds are ignored. */
const manifestRequest = z.object({
  recipient: z.string().trim().min(1).max(1_000),
  passcode: z.string().max(1_000).optional(),
  embeddedLengthMax: z.int().nonnegative().optional(),
});

/** Returns the routes. */
export function sharedLinkRouter(deps: SharedLinkRouterDeps): Router {
  const router = new Router();
  const manifest = async (ctx: Context, id: string, secret: string | undefined): Promise<void> => {
    const body = await readManifestRequest(deps, ctx);
    const opened = await deps.links.open({
      id,
      secret,
      recipient: body.recipient,
      passcode: body.passcode,
      embeddedLengthMax: body.embeddedLengthMax,
      ...openingContext(deps, ctx),
    });
    answerOpened(ctx, id, opened);
  };
  router.post('/shl/:link', (ctx) => manifest(ctx, ctx.params.link ?? '', undefined));
  router.post('/shl/:link/:secret', (ctx) => manifest(ctx, ctx.params.link ?? '', ctx.params.secret));
  router.get('/shl/:link/files/:ticket', async (ctx) => {
    const { link: id = '', ticket = '' } = ctx.params;
    const asked = { id, ticket, ...openingContext(deps, ctx) };
    // A HEAD does not use it up.
    if (ctx.method === 'HEAD') {
      if (!(await deps.links.isThere(asked))) throw unknown();
      ctx.status = 200;
      ctx.type = 'application/jose';
      return;
    }
    const file = await deps.links.fetch(asked);
    if (file === undefined) throw unknown();
    ctx.type = 'application/jose';
    endWhenStalled(ctx.res);
    ctx.body = Readable.from(file, { objectMode: false });
  });
  return router;
}

function openingContext(
  { answers, count }: SharedLinkRouterDeps,
  ctx: Context,
): Pick<OpeningAsked, 'requestId' | 'budget' | 'count'> {
  return {
    requestId: ctx.state.requestId,
    budget: (owner) => answers.budget(owner, ctx.res),
    count: (caller) => count(ctx, caller),
  };
}

/** @throws Refusal malformed (400), unsupported_media_type (415), too_large (413), invalid (422) */
async function readManifestRequest(
  { largeBodies }: SharedLinkRouterDeps,
  ctx: Context,
): Promise<z.output<typeof manifestRequest>> {
  const raw = await readBody(ctx.req, BODY, largeBodies.hold(ctx, 'everybody'));
  const { value } = parseJson(decodeBody(raw));
  const result = manifestRequest.safeParse(value, { error: sentence });
  if (result.success) return result.data;
  const faults = new Faults();
  addIssues(faults, result.error.issues, value, '');
  throw new Refusal('invalid', faults.list());
}

function answerOpened(ctx: Context, id: string, opened: Opened): void {
  if ('files' in opened) {
    ctx.body = opened;
    return;
  }
  switch (opened.fault) {
    case 'not_found':
      throw unknown();
    case 'busy':
      throw new Refusal(
        'throttled',
        {
          code: 'throttled',
          diagnostics: 'other passcodes for this link are being checked; retry in a second',
        },
        { 'Retry-After': '1' },
      );
    case 'passcode': {
      const { remainingAttempts } = opened;
      const message =
        remainingAttempts === 0
          ? 'the passcode is wrong; the link is closed for good'
          : `the link needs its passcode; ${remainingAttempts} attempts are left before it is closed for good`;
      ctx.status = 401;
      // Not a scheme that browsers ask for by themselves.
      ctx.set('WWW-Authenticate', `Passcode realm="${id.replace(/[^\w-]/g, '')}"`);
      ctx.body = {
        remainingAttempts,
        error: { type: 'unauthenticated', field: 'passcode', message, request_id: ctx.state.requestId },
      };
    }
  }
}

/** Returns the same for links that never existed, have ended or no longer show anything. */
function unknown(): Refusal {
  return new Refusal('not_found', {
    code: 'not-found',
    diagnostics:
      'the link is unknown, was revoked, or has expired; ask the person who shared it for a new one',
  });
}
