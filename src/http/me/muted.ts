/**
 * Lists applications whose requests a person doesn't want to see: `/me/muted-applications` (docs/spec/decisions.md, section
 * 7).
 */
import { z } from 'zod';
import { toInstant } from '#src/shared/time/time.ts';
import { route } from '../api/route.ts';
import { environment, instant, listSchema, PAGED } from '../api/schemas.ts';
import { requirePerson } from './access.ts';
import { ME_QUERY } from './schemas.ts';

const muted = z
  .object({ application_id: z.string(), name: z.string().nullable(), muted_at: instant })
  .meta({ id: 'MutedApplication' });

/** Routes for muted applications. */
export const MUTED_ROUTES = [
  route({
    method: 'GET',
    path: '/me/muted-applications',
    operationId: 'listMutedApplications',
    summary: 'Applications whose requests you don’t see',
    description: PAGED,
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['projects'],
    query: z.strictObject({
      ...ME_QUERY,
      environment: environment.optional().describe('The environment of the applications; default: both.'),
    }),
    answers: { 200: { description: 'A page, the most recently muted first', schema: listSchema(muted) } },
    async run(request) {
      requirePerson(request);
      const { services, identity, query } = request;
      const { rows, total, next } = await services.consentQueries.mutedBy(identity, query);
      const data = rows.map(({ id, name, created_at }) => ({
        application_id: id,
        name,
        muted_at: toInstant(created_at),
      }));
      return { status: 200, body: { data, total, next_cursor: next ?? null } };
    },
  }),
  route({
    method: 'PUT',
    path: '/me/muted-applications/{application_id}',
    operationId: 'muteApplication',
    summary: 'Don’t show later requests of an application',
    description:
      'They expire without being shown to you, and the application isn’t told. Requests that you have already seen stay.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['projects'],
    answers: { 204: { description: 'It is muted' } },
    async run(request) {
      requirePerson(request);
      const { services, identity, params } = request;
      await services.accessRequests.mute(identity, params.application_id);
      return { status: 204 };
    },
  }),
  route({
    method: 'DELETE',
    path: '/me/muted-applications/{application_id}',
    operationId: 'unmuteApplication',
    summary: 'Show later requests of an application again',
    description: 'Requests that it made while it was muted stay hidden.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['projects'],
    answers: { 204: { description: 'It isn’t muted' } },
    async run(request) {
      requirePerson(request);
      const { services, identity, params } = request;
      await services.accessRequests.unmute(identity, params.application_id);
      return { status: 204 };
    },
  }),
];
