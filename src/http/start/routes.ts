/**
 * Serves `GET /`, which lists where everything is: a small page for browsers and an index for programs. No credential is
 * needed.
 */
import { z } from 'zod';
import { makePage } from '../answer/security-headers.ts';
import { answerJson, openRoute } from '../api/open-route.ts';
import { VERSION } from '../version.ts';
import { type Start, startNeeds, startPage } from './page.ts';

const index = z
  .object({ name: z.literal('Annal'), version: z.string(), base_url: z.string() })
  .catchall(z.string().nullable())
  .describe('URLs; `sign_in` is null where the development issuer does not run.');

/** The routes. */
export const START_ROUTES = [
  openRoute({
    method: 'GET',
    path: '/',
    operationId: 'getStart',
    summary: 'Where everything is: an index, or a page for browsers',
    description: 'Names the URLs of the interfaces. Browsers get a page with links.',
    tag: 'Service',
    answers: {
      200: {
        description: 'The index; the page for `Accept: text/html`',
        schema: index,
        content: { 'text/html': z.string() },
      },
    },
    run({ ctx, service }) {
      const forPeople = ctx.accepts('application/json', 'text/html') === 'text/html';
      const answer = forPeople
        ? makePage(ctx, startPage(service), startNeeds())
        : answerJson(makeIndex(service));
      return { ...answer, headers: { ...answer.headers, Vary: 'Accept' } };
    },
  }),
];

function makeIndex({ baseUrl, devIssuer }: Start): object {
  return {
    name: 'Annal',
    version: VERSION,
    base_url: baseUrl,
    fhir: `${baseUrl}/fhir/R4`,
    rest: `${baseUrl}/v1`,
    admin: `${baseUrl}/admin`,
    capability_statement: `${baseUrl}/fhir/R4/metadata`,
    docs: `${baseUrl}/docs`,
    guides: `${baseUrl}/docs/guides`,
    openapi: `${baseUrl}/openapi.json`,
    errors: `${baseUrl}/docs/errors`,
    health: `${baseUrl}/health/ready`,
    sign_in: devIssuer ? `${baseUrl}/dev` : null,
  };
}
