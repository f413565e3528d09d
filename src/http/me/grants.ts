/** Lists the grants on a person's record: `/me/patients/{patient_id}/grants`. */
import { z } from 'zod';
import type { GrantRow } from '#queries/consents/grants.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { grantView } from '../api/grant-view.ts';
import { route } from '../api/route.ts';
import { listSchema } from '../api/schemas.ts';
import type { Services } from '../ports/services.ts';
import { linkFor } from './access.ts';
import { myGrantSchema, RECORD_QUERY } from './schemas.ts';
import { grantSentences } from './sentences.ts';

/**
 * Formats grants for `/me`.
 * @param lang the language of `scopes_text`; default: the language of each consent
 */
export async function myGrantsView(
  { grantUseOf }: Pick<Services, 'grantUseOf'>,
  rows: readonly GrantRow[],
  lang?: string,
): Promise<z.input<typeof myGrantSchema>[]> {
  const uses = await grantUseOf(rows);
  return rows.map((row) => {
    const { count = 0, lastAt = null } = uses.get(row.id) ?? {};
    return {
      ...grantView(row),
      scopes_text: [...grantSentences(row, lang)],
      patient: row.record,
      access_count: count,
      last_access_at: lastAt === null ? null : toInstant(lastAt),
    };
  });
}

/** Routes of grants. */
export const MY_GRANT_ROUTES = [
  route({
    method: 'GET',
    path: '/me/patients/{patient_id}/grants',
    operationId: 'listMyGrants',
    summary: 'Applications that may use a record',
    description:
      'All grants on the record, the newest first, including ended ones and those that another person with a link to the record gave.',
    tag: 'Patients and consent',
    credential: 'identity',
    grantToken: 'refused',
    models: ['consents', 'resources'],
    query: z.strictObject({
      ...RECORD_QUERY,
      lang: RECORD_QUERY.lang.describe(
        'Language of `scopes_text`, a BCP 47 tag; unknown languages become English. Default: the language of the consent.',
      ),
    }),
    answers: { 200: { description: 'A page', schema: listSchema(myGrantSchema) } },
    async run(request) {
      const { services, params, query } = request;
      const { record } = await linkFor(request, params.patient_id, query.environment);
      const { rows, total, next } = await services.consentQueries.listGrants({
        record,
        limit: query.limit,
        cursor: query.cursor,
      });
      const data = await myGrantsView(services, rows, query.lang);
      return { status: 200, body: { data, total, next_cursor: next ?? null } };
    },
  }),
];
