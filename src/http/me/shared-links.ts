/** Manages SMART Health Links for a person's record: `/me/patients/{patient_id}/shl` (docs/spec/decisions.md, section 7). */
import { Readable } from 'node:stream';
import { z } from 'zod';
import { SHARED_LINK_STATUSES } from '#queries/consents/shared-links.ts';
import { isUuid } from '#src/shared/ids.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { toInstant, toMicros } from '#src/shared/time/time.ts';
import { toAuthor } from '../admin/access.ts';
import { route } from '../api/route.ts';
import { instant, listSchema } from '../api/schemas.ts';
import type { SharedLink } from '../ports/shared-links.ts';
import { linkFor, type MeRequest } from './access.ts';
import { RECORD_QUERY } from './schemas.ts';

const sharedLinkSchema = z
  .object({
    id: z.string(),
    status: z
      .enum(SHARED_LINK_STATUSES)
      .describe('`closed`: after five wrong passcodes, or because its key was lost with the database.'),
    label: z.string().nullable(),
    content: z.string().describe('`summary`, `everything` or `document/<id>`.'),
    flag: z
      .string()
      .describe('`L`: each opening shows the current record; `P`: it has a passcode; `LP`: both; or empty.'),
    shlink: z.string().nullable().describe('`shlink:/…`, for applications. Null if the link has ended.'),
    viewer_url: z
      .string()
      .nullable()
      .describe('A page that opens the link in any browser. Null if the link has ended.'),
    created_at: instant,
    expires_at: instant,
    access_count: z.int().describe('How often it was opened.'),
    last_access_at: instant.nullable(),
  })
  .meta({ id: 'SharedLink' });

function view(link: SharedLink): z.input<typeof sharedLinkSchema> {
  const { record: _record, created_at, expires_at, last_access_at, ...rest } = link;
  return {
    ...rest,
    created_at: toInstant(created_at),
    expires_at: toInstant(expires_at),
    last_access_at: last_access_at === null ? null : toInstant(last_access_at),
  };
}

/** Maximum lifetime of a link, in days. */
const MOST_DAYS = 3_650;

const isContent = (content: string): boolean =>
  content === 'summary' ||
  content === 'everything' ||
  (content.startsWith('document/') && isUuid(content.slice('document/'.length)));

const creation = z
  .strictObject({
    content: z
      .string()
      .refine(isContent, { error: 'must be summary, everything, or document/ and the id of a document' })
      .describe('`summary` (International Patient Summary), `everything`, or `document/<id>`.'),
    label: z
      .string()
      .trim()
      .min(1)
      .max(80)
      .optional()
      .describe('Shown to everyone who has the link, before they open it.'),
    passcode: z
      .string()
      .min(4)
      .max(64)
      .optional()
      .describe(
        'Send it to the recipient by a different channel than the link. After five wrong passcodes the link is closed for good.',
      ),
    expires_at: z.iso
      .datetime({ offset: true })
      .optional()
      .describe(`At most ${MOST_DAYS} days from now. Default: 30 days, or 365 days with \`long_term\`.`),
    long_term: z
      .boolean()
      .default(false)
      .describe(
        'True: each opening shows the record at that time. False: the link always shows the record as it is now.',
      ),
  })
  .meta({ examples: [{ content: 'summary', label: 'For Dr Lind', passcode: '402617' }] });

/**
 * Returns a shared link to the person's record.
 * @throws Refusal forbidden (403), not_found (404)
 */
async function sharedLinkFor(request: MeRequest, patient: string, id: string): Promise<SharedLink> {
  const { record } = await linkFor(request, patient);
  const found = await request.services.sharedLinks.find(record, id);
  if (found === undefined) throw notFound('shared link', id.slice(0, 64));
  return found;
}

/**
 * Returns the time at which a link will expire.
 * @throws Refusal invalid (422)
 */
function parseEnd(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const at = toMicros(text);
  if (at > now && at <= now + MOST_DAYS * 86_400_000_000) return at;
  throw new Refusal('invalid', {
    code: 'value',
    diagnostics: `expires_at must be in the future, and at most ${MOST_DAYS} days from now`,
    expression: 'expires_at',
  });
}

/** Read models that the routes read. */
const MODELS = ['consents', 'resources', 'history', 'projects'];

/** Routes for shared links. */
export const SHARED_LINK_ROUTES = [
  route({
    method: 'POST',
    path: '/me/patients/{patient_id}/shl',
    operationId: 'createSharedLink',
    summary: 'Share a part of a record with a link',
    description:
      'Makes a SMART Health Link: anyone who has it can open its contents, with any application that knows the standard or on the page behind `viewer_url`. The contents are encrypted; the key is only in the link and, encrypted, in the service until the link ends. Everyone who opens it says who they are, and is in the access log.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: MODELS,
    secret: true,
    body: creation,
    answers: { 201: { description: 'The link', schema: sharedLinkSchema } },
    async run(request) {
      const { services, params, body, identity, now } = request;
      const { record } = await linkFor(request, params.patient_id);
      const { result: id } = await services.sharedLinks.create(toAuthor(request), {
        record,
        person: { issuer: identity.issuer, subject: identity.subject },
        label: body.label ?? null,
        content: body.content,
        longTerm: body.long_term,
        passcode: body.passcode,
        expiresAt: parseEnd(body.expires_at, now()),
      });
      const made = await services.sharedLinks.find(record, id);
      if (made === undefined) throw notFound('shared link', id);
      return { status: 201, body: view(made), reads: true };
    },
  }),
  route({
    method: 'GET',
    path: '/me/patients/{patient_id}/shl',
    operationId: 'listSharedLinks',
    summary: 'Links to a record',
    description:
      'All links, the newest first, including ended ones and those that another person with a link to the record made.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: MODELS,
    secret: true,
    query: z.strictObject(RECORD_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(sharedLinkSchema) } },
    async run(request) {
      const { services, params, query } = request;
      const { record } = await linkFor(request, params.patient_id, query.environment);
      const { rows, total, next } = await services.sharedLinks.list(record, query);
      return { status: 200, body: { data: rows.map(view), total, next_cursor: next ?? null } };
    },
  }),
  route({
    method: 'GET',
    path: '/me/patients/{patient_id}/shl/{link_id}',
    operationId: 'getSharedLink',
    summary: 'A link to a record',
    description: 'Returns the link, its state and how often it was opened.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: MODELS,
    secret: true,
    answers: { 200: { description: 'The link', schema: sharedLinkSchema } },
    async run(request) {
      const { params } = request;
      return { status: 200, body: view(await sharedLinkFor(request, params.patient_id, params.link_id)) };
    },
  }),
  route({
    method: 'GET',
    path: '/me/patients/{patient_id}/shl/{link_id}/qr',
    operationId: 'getSharedLinkQrCode',
    summary: 'A link as a QR code',
    description:
      'An SVG image of `viewer_url`, which the camera of any phone opens. 404 if the link has ended.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: MODELS,
    secret: true,
    answers: { 200: { description: 'An image, `image/svg+xml`', bytes: true } },
    async run(request) {
      const { services, params } = request;
      const { viewer_url } = await sharedLinkFor(request, params.patient_id, params.link_id);
      if (viewer_url === null) throw notFound('shared link', params.link_id.slice(0, 64));
      const svg = Buffer.from(await services.sharedLinks.qrCode(viewer_url));
      return {
        status: 200,
        headers: { 'Content-Type': 'image/svg+xml' },
        content: { length: svg.length, open: async () => Readable.from([svg]) },
      };
    },
  }),
  route({
    method: 'POST',
    path: '/me/patients/{patient_id}/shl/{link_id}/revoke',
    operationId: 'revokeSharedLink',
    summary: 'End a link to a record',
    description:
      'Once the request returns, the link can’t be opened on any instance. Its key and its contents are deleted. A link that has ended stays as it is. Recipients keep the copies that they have made.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: MODELS,
    answers: { 200: { description: 'The link as it is now', schema: sharedLinkSchema } },
    async run(request) {
      const { services, params } = request;
      const { id, record } = await sharedLinkFor(request, params.patient_id, params.link_id);
      await services.sharedLinks.revoke(toAuthor(request), record, id);
      return { status: 200, body: view(await sharedLinkFor(request, params.patient_id, id)), reads: true };
    },
  }),
];
