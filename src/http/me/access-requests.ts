/**
 * Shows a person the access requests that applications have made: `/me/access-requests` (docs/spec/decisions.md, section 7).
 */
import { z } from 'zod';
import { GRANT_DAYS } from '#commands/consent/consents.ts';
import { type AccessRequestRow, REQUEST_STATUSES } from '#queries/consents/access-requests.ts';
import { knownScopes, narrows, normalise, parseScopes, type Scope, uncovered } from '#src/oauth/scopes.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { route } from '../api/route.ts';
import { listSchema } from '../api/schemas.ts';
import { DAY_MS } from '../oauth/authorize/sentences.ts';
import { chooseLanguage, texts } from '../pages/texts.ts';
import { type MeRequest, requirePerson } from './access.ts';
import { accessRequestSchema, accessRequestView, requestSentences } from './request-view.ts';
import { ME_QUERY } from './schemas.ts';

const { lang } = ME_QUERY;

const approval = z
  .strictObject({
    patient_id: z.string().min(1).max(100).describe('One of your records.'),
    duration_days: z
      .int()
      .refine((days) => GRANT_DAYS.some((each) => each === days), {
        error: `must be one of ${GRANT_DAYS.join(', ')}`,
      })
      .describe(`One of ${GRANT_DAYS.join(', ')}.`),
    scopes: z
      .array(z.string().max(300))
      .max(200)
      .optional()
      .describe(
        'A part of the requested scopes; default: all of them. Scopes without a resource type are always kept, except `offline_access`.',
      ),
  })
  .meta({ examples: [{ patient_id: '01890000-0000-7000-8000-000000000000', duration_days: 90 }] });

const denial = z
  .strictObject({
    mute: z.boolean().default(false).describe('Later requests from the application are not shown to you.'),
  })
  .meta({ examples: [{ mute: true }] });

/**
 * Waits until reads include everything acknowledged so far. A person's sandbox records are determined by e-mail address, which
 * requires a search.
 */
function caughtUp({ services }: MeRequest, environment: Environment | undefined): Promise<void> {
  const models = ['consents', 'resources', 'projects'];
  return services.freshness.catchUp(environment === 'production' ? models : [...models, 'history', 'search']);
}

/**
 * Returns a request that the person may see.
 * @throws Refusal forbidden (403), not_found (404)
 */
async function requestFor(request: MeRequest, id: string): Promise<AccessRequestRow> {
  requirePerson(request);
  await caughtUp(request, undefined);
  const found = await request.services.accessRequests.find(request.identity, id);
  if (found === undefined) throw notFound('access request', id.slice(0, 64));
  return found;
}

/**
 * Checks that the request is pending.
 * @throws Refusal conflict (409) otherwise
 */
function requirePending({ status }: AccessRequestRow): void {
  if (status === 'pending') return;
  throw new Refusal('conflict', { code: 'conflict', diagnostics: `the request is ${status}` });
}

/**
 * Returns the requested scopes that a person allows.
 * @param names undefined for all of them
 * @throws Refusal invalid (422) for a scope that wasn't requested, or if no scope for clinical data is left
 */
function allowed(asked: readonly Scope[], names: readonly string[] | undefined): readonly Scope[] {
  if (names === undefined) return asked;
  const fault = (diagnostics: string): Refusal =>
    new Refusal('invalid', { code: 'value', diagnostics, expression: 'scopes' });
  const parsed = parseScopes(names.join(' '));
  if ('fault' in parsed) throw fault(parsed.fault);
  const { scopes } = parsed;
  if (!narrows(asked, scopes)) {
    const [first] = normalise(uncovered(asked, scopes));
    throw fault(`the application did not ask for ${first}`);
  }
  const clinical = scopes.filter((scope) => typeof scope !== 'string');
  if (clinical.length === 0 && asked.some((scope) => typeof scope !== 'string'))
    throw fault('name at least one scope with a resource type, or deny the request');
  const plain = asked.filter(
    (scope) => typeof scope === 'string' && (scope !== 'offline_access' || scopes.includes(scope)),
  );
  return [...plain, ...clinical];
}

/** Routes for access requests. */
export const ACCESS_REQUEST_ROUTES = [
  route({
    method: 'GET',
    path: '/me/access-requests',
    operationId: 'listMyAccessRequests',
    summary: 'Applications that ask you for access',
    description:
      'Requests from the last day, the newest first. Listed are requests that name your verified e-mail address, one of your records, or you by an id that the application knows. A request is pending for at most ten minutes.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents', 'resources', 'projects'],
    query: z.strictObject({ ...ME_QUERY, status: z.enum(REQUEST_STATUSES).optional() }),
    answers: { 200: { description: 'A page', schema: listSchema(accessRequestSchema) } },
    async run(request) {
      requirePerson(request);
      const { services, identity, query } = request;
      const { environment, limit, cursor, status } = query;
      await caughtUp(request, environment);
      const { ids: records, own } = await services.accessRequests.recordsOf(identity, environment);
      const { rows, total, next } = await services.consentQueries.accessRequests(
        {
          person: identity,
          email: identity.emailVerified ? identity.email : undefined,
          records,
          environment,
        },
        { limit, cursor, status },
      );
      const say = texts(chooseLanguage(query.lang));
      const data = rows.map((row) => accessRequestView(row, say, own));
      return { status: 200, body: { data, total, next_cursor: next ?? null } };
    },
  }),
  route({
    method: 'POST',
    path: '/me/access-requests/{request_id}/approve',
    operationId: 'approveMyAccessRequest',
    summary: 'Let the application use a record',
    description:
      'Gives a grant, as the consent page does. It replaces the grant that you have given the application for this record, if there is one. The first answer counts; later answers return 409.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents', 'resources', 'projects'],
    query: z.strictObject({ lang }),
    body: approval,
    answers: { 200: { description: 'The request, with `grant_id`', schema: accessRequestSchema } },
    async run(request) {
      const { services, identity, params, query, body, requestId } = request;
      const found = await requestFor(request, params.request_id);
      const repeats = request.retry !== undefined;
      if (!repeats || found.status !== 'approved') requirePending(found);
      const offer = await services.accessRequests.offer(identity, found);
      if (offer === undefined) throw notFound('access request', found.id);
      const { client, records } = offer;
      const record = body.patient_id.toLowerCase();
      const chosen = records.find(({ id }) => id === record);
      if (chosen === undefined) throw notFound('Patient', body.patient_id.slice(0, 64));
      if (found.named !== null && found.named !== record)
        throw new Refusal('invalid', {
          code: 'value',
          diagnostics: 'the application asks for a different record: use patient_id of the request',
          expression: 'patient_id',
        });
      const asked = knownScopes(found.scope.split(' '));
      if (uncovered(knownScopes(client.scopes), asked).length > 0)
        throw new Refusal('conflict', {
          code: 'conflict',
          diagnostics: 'the application may no longer ask for this: it must make a new request',
        });
      const scopes = allowed(asked, body.scopes);
      const say = texts(chooseLanguage(query.lang));
      const { own } = await services.accessRequests.recordsOf(identity, found.environment);
      const until = Date.now() + body.duration_days * DAY_MS;
      await services.accessRequests.approve({
        id: found.id,
        person: { issuer: identity.issuer, subject: identity.subject },
        record,
        grantedBy: chosen.relationship === 'self' ? 'patient' : 'representative',
        days: body.duration_days,
        scopes: normalise(scopes),
        lang: say.lang,
        sentences: [
          ...requestSentences(say, scopes, client.name, own),
          say('sentence.until', { day: say.day(until) }),
        ],
        requestId,
        repeats,
      });
      const now = await services.accessRequests.find(identity, found.id);
      if (now === undefined) throw notFound('access request', found.id);
      return { status: 200, body: accessRequestView(now, say, own), reads: true };
    },
  }),
  route({
    method: 'POST',
    path: '/me/access-requests/{request_id}/deny',
    operationId: 'denyMyAccessRequest',
    summary: 'Refuse an application',
    description:
      'The application learns that its request was denied. With `mute`, its later requests expire without being shown to you; it isn’t told.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents', 'resources', 'projects'],
    query: z.strictObject({ lang }),
    body: denial,
    answers: { 200: { description: 'The request', schema: accessRequestSchema } },
    async run(request) {
      const { services, identity, params, query, body, requestId } = request;
      const found = await requestFor(request, params.request_id);
      requirePending(found);
      const person = { issuer: identity.issuer, subject: identity.subject };
      await services.accessRequests.deny(found.id, person, requestId);
      if (body.mute) await services.accessRequests.mute(person, found.application_id);
      const { own } = await services.accessRequests.recordsOf(identity, found.environment);
      const now = (await services.accessRequests.find(identity, found.id)) ?? found;
      return {
        status: 200,
        body: accessRequestView(now, texts(chooseLanguage(query.lang)), own),
        reads: true,
      };
    },
  }),
];
