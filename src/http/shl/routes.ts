/**
 * Serves `/shl/*`: the endpoints for recipients of SMART Health Links, and the page that shows a link's content
 * (https://docs.smarthealthit.org/smart-health-links/spec/). No credential is needed, because the link itself is one.
 */
import { z } from 'zod';
import { Refusal } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import { answerJson, nothingThere, type OpenRequest, openRoute } from '../api/open-route.ts';
import type { Opened, OpeningAsked } from '../ports/shared-links.ts';
import { VIEW_ROUTES } from './view-page.ts';

/** The body of a manifest request. Unknown members are ignored. */
const manifestRequest = z
  .object({
    recipient: z
      .string()
      .trim()
      .min(1)
      .max(1_000)
      .describe('Who opens the link: a name or an organization. The person who shared the link sees this.'),
    passcode: z.string().max(1_000).optional().describe('For links with the flag `P`.'),
    embeddedLengthMax: z
      .int()
      .nonnegative()
      .optional()
      .describe('Maximum length of an embedded file, in characters; longer files have a `location`.'),
  })
  .meta({ examples: [{ recipient: 'Dr Lind, Lakeside Clinic', passcode: '402617' }] });

const file = z.object({
  contentType: z.literal('application/fhir+json'),
  embedded: z.string().optional().describe('The file, a JWE in compact form.'),
  location: z.url().optional().describe('Where the file can be fetched with GET, once and within an hour.'),
});

const wrongPasscode = z.object({
  remainingAttempts: z.int().describe('Number of attempts that are left before the link is closed for good.'),
  error: z.looseObject({}),
});

const LINK = { link_id: z.string().describe('Of the link.') };
const TAG = 'Patients and consent';
const JOSE = 'application/jose';

const MANIFEST = {
  method: 'POST',
  description:
    'SMART Health Links 1.0. The answer is the same 404 whether the link never existed, has ended or no longer shows anything. Every attempt is in the access log of the record. `Idempotency-Key` is ignored.',
  tag: TAG,
  body: manifestRequest,
  answers: {
    200: { description: 'The manifest', schema: z.object({ files: z.array(file) }) },
    401: { description: 'The passcode is missing or wrong', schema: wrongPasscode },
  },
  errors: [400, 404, 405, 413, 415, 422, 500, 503],
} as const;

/** The routes. */
export const SHARED_LINK_ROUTES = [
  openRoute({
    ...MANIFEST,
    path: '/shl/{link_id}',
    operationId: 'openSharedLinkById',
    summary: 'Open a shared link by its id',
    params: z.object(LINK),
    run: (request) => openLink(request, request.params.link_id, undefined),
  }),
  openRoute({
    ...MANIFEST,
    path: '/shl/{link_id}/{secret}',
    operationId: 'openSharedLink',
    summary: 'Open a shared link: the `url` in it',
    params: z.object({ ...LINK, secret: z.string().describe('256 bits derived from the key.') }),
    run: (request) => openLink(request, request.params.link_id, request.params.secret),
  }),
  openRoute({
    method: 'GET',
    path: '/shl/{link_id}/files/{ticket}',
    operationId: 'getSharedLinkFile',
    summary: 'A file in a shared link, once',
    description: 'The `location` of a manifest. It works for one GET, within an hour.',
    tag: TAG,
    params: z.object(LINK),
    answers: { 200: { description: 'The file, a JWE in compact form', content: { [JOSE]: z.string() } } },
    errors: [404, 413, 500, 503],
    async run(request) {
      const { ctx, service, params } = request;
      const asked = { id: params.link_id, ticket: params.ticket, ...makeContext(request) };
      const headers = { 'Content-Type': JOSE };
      // A HEAD request does not use up the JWE.
      if (ctx.method === 'HEAD') {
        if (!(await service.links.isThere(asked))) throw nothingThere(UNKNOWN);
        return { status: 200, headers };
      }
      const stream = await service.links.fetch(asked);
      if (stream === undefined) throw nothingThere(UNKNOWN);
      return { status: 200, headers, stream };
    },
  }),
  ...VIEW_ROUTES,
];

function makeContext({
  ctx,
  requestId,
  service: { answers, limits },
}: OpenRequest): Pick<OpeningAsked, 'requestId' | 'budget' | 'count'> {
  return {
    requestId,
    budget: (owner) => answers.budget(owner, ctx.res),
    count: (caller) => limits.byCaller(ctx, caller),
  };
}

async function openLink(
  request: OpenRequest<string, z.output<typeof manifestRequest>>,
  id: string,
  secret: string | undefined,
): Promise<Answer> {
  const { recipient, passcode, embeddedLengthMax } = request.body;
  const asked = { id, secret, recipient, passcode, embeddedLengthMax, ...makeContext(request) };
  return answerOpened(id, await request.service.links.open(asked), request.requestId);
}

function answerOpened(id: string, opened: Opened, requestId: string): Answer {
  if ('files' in opened) return { ...answerJson(opened), plain: true };
  switch (opened.fault) {
    case 'not_found':
      throw nothingThere(UNKNOWN);
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
          : `the link needs its passcode; ${remainingAttempts} attempts are left before the link is closed for good`;
      const error = { type: 'unauthenticated', field: 'passcode', message, request_id: requestId };
      // Browsers don't show a prompt for this scheme.
      const challenge = `Passcode realm="${id.replace(/[^\w-]/g, '')}"`;
      return answerJson(
        { remainingAttempts, error },
        { status: 401, headers: { 'WWW-Authenticate': challenge } },
      );
    }
  }
}

/** The message is the same for links that never existed, have ended or no longer have any content. */
const UNKNOWN =
  'the link is unknown, was revoked, or has expired; ask the person who shared it for a new one';
