/** Lists a person's records: `/me/patients`. */
import { z } from 'zod';
import { decodeListCursor, encodeCursor } from '#queries/cursor.ts';
import { route } from '../api/route.ts';
import { listSchema } from '../api/schemas.ts';
import { requirePerson } from './access.ts';
import { ME_QUERY, myPatientSchema, myPatientView } from './schemas.ts';

const cursorKey = z.tuple([z.string().max(64)]);

/** Routes of records. */
export const MY_PATIENT_ROUTES = [
  route({
    method: 'GET',
    path: '/me/patients',
    operationId: 'listMyPatients',
    summary: 'Your own record and those of people you look after',
    description:
      'Your own records come first. Records of deleted patients are listed without a name, because grants on them can still be ended.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents', 'resources'],
    query: z.strictObject(ME_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(myPatientSchema) } },
    async run(request) {
      requirePerson(request);
      const { services, identity, query } = request;
      // A person's sandbox records are determined by e-mail address, which requires a search.
      await services.freshness.catchUp(
        query.environment === 'sandbox'
          ? ['consents', 'resources', 'history', 'search']
          : ['consents', 'resources'],
      );
      const all = await services.consentQueries.listRecords(identity, query.environment, { deleted: true });
      const [last] = query.cursor === undefined ? [] : decodeListCursor(query.cursor, cursorKey);
      const rest = all.slice(all.findIndex(({ id }) => id === last) + 1);
      const page = rest.slice(0, query.limit);
      const end = page.at(-1);
      const next = rest.length > page.length && end !== undefined ? encodeCursor([end.id]) : null;
      return { status: 200, body: { data: page.map(myPatientView), total: all.length, next_cursor: next } };
    },
  }),
];
