/** Lists a person's sessions on the service's pages: `/me/sessions` (docs/sign-in.md). */
import { z } from 'zod';
import type { OwnSession } from '#src/shared/access/session.ts';
import { notFound } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { route } from '../api/route.ts';
import { instant } from '../api/schemas.ts';
import { requirePerson } from './access.ts';

const session = z
  .object({
    id: z.string().describe('Only names the session; it gives no access.'),
    started_at: instant.describe('The sign-in.'),
    used_at: instant.describe('Time of the last request, to the minute.'),
    current: z
      .boolean()
      .describe('True for the session that makes this request; false for all if you use an ID token.'),
  })
  .meta({ id: 'Session' });

const TAG = 'Patients and consent';

/** Routes of sessions. */
export const MY_SESSION_ROUTES = [
  route({
    method: 'GET',
    path: '/me/sessions',
    operationId: 'listMySessions',
    summary: 'Where you are signed in',
    description:
      'Your active sessions on the pages of this service: the one that makes this request, then the others, the newest first, at most 100.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    models: [],
    answers: { 200: { description: 'The sessions', schema: z.object({ data: z.array(session) }) } },
    async run(request) {
      requirePerson(request);
      const { services, identity, visitor } = request;
      const data = await services.sessions.list(identity, visitor?.session);
      return { status: 200, body: { data: data.map(sessionView) } };
    },
  }),
  route({
    method: 'DELETE',
    path: '/me/sessions',
    operationId: 'endMyOtherSessions',
    summary: 'Sign out everywhere else',
    description:
      'Ends all your sessions except the one that makes this request, on every instance at once. With an ID token, it ends all of them.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    models: [],
    answers: { 204: { description: 'They have ended' } },
    async run(request) {
      requirePerson(request);
      const { services, identity, visitor } = request;
      await services.sessions.endOthers(identity, visitor?.session);
      return { status: 204 };
    },
  }),
  route({
    method: 'DELETE',
    path: '/me/sessions/{session_id}',
    operationId: 'endMySession',
    summary: 'End a session',
    description: 'Ends it on every instance at once.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    models: [],
    answers: { 204: { description: 'It has ended' } },
    async run(request) {
      requirePerson(request);
      const { services, identity, params } = request;
      if (!(await services.sessions.endOne(identity, params.session_id)))
        throw notFound('session', params.session_id.slice(0, 64));
      return { status: 204 };
    },
  }),
];

function sessionView({ id, startedAt, usedAt, current }: OwnSession) {
  return { id, started_at: atSecond(startedAt), used_at: atSecond(usedAt), current };
}

function atSecond(seconds: number): string {
  return toInstant(Math.round(seconds * 1_000_000));
}
