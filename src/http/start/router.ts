/** `GET /`: where everything is. A small page for browsers, an index for programs; no credential. */
import Router from '@koa/router';
import { answerPage } from '../answer/security-headers.ts';
import { VERSION } from '../version.ts';
import { type Start, startNeeds, startPage } from './page.ts';

/** Returns the route. A client that prefers `text/html` gets the page. */
export function startRouter(start: Start): Router {
  const router = new Router();
  const page = startPage(start);
  const index = makeIndex(start);
  router.get('/', (ctx) => {
    if (ctx.accepts('application/json', 'text/html') === 'text/html')
      answerPage(ctx, 200, page, startNeeds());
    else ctx.body = index;
    ctx.vary('Accept');
  });
  return router;
}

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
