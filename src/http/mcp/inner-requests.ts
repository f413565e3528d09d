/**
 * Runs requests that other requests make through the pipeline, so that they show the same data as the interfaces show to the
 * same caller.
 */
import { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { notFound } from '#src/shared/refusal.ts';
import type { Answer } from '../answer/answer.ts';
import { type ApiInterface, JsonDialect } from '../api/interface.ts';
import { apiError, fhirError } from '../errors.ts';
import { FhirDialect, type FhirInterface } from '../fhir/interface.ts';
import { isFhir } from '../path.ts';
import { Pipeline } from '../pipeline.ts';
import type { InnerRequest, InnerRequests } from '../ports/inner-requests.ts';

/** Creates the inner requests for a service. */
export function openInnerRequests(fhir: FhirInterface, api: ApiInterface): InnerRequests {
  const ofFhir = new Pipeline(fhir, new FhirDialect(fhir));
  const ofJson = new Pipeline(api, new JsonDialect(api));
  const { authenticator, freshness, refusalOf } = fhir;
  return {
    admit(ctx, credential, resource) {
      freshness.require(['projects', 'consents']);
      return authenticator.ofToken(credential, ctx, resource);
    },
    async answer(outer, credential, request, by): Promise<Answer> {
      const ctx = innerContext(outer, request);
      const pipeline = isFhir(ctx.path) ? ofFhir : ofJson;
      try {
        const answer = await pipeline.answerFor(ctx, credential, by);
        if (answer === undefined) throw notFound('path', ctx.path);
        return answer;
      } catch (error) {
        const refusal = refusalOf(error);
        if (refusal === undefined || refusal.kind === 'internal') throw error;
        return isFhir(ctx.path)
          ? fhirError(refusal)
          : apiError(refusal, ctx.state.requestId, api.services.config.baseUrl);
      }
    },
  };
}

/**
 * Returns the context for a request whose body has already arrived. Such a request is refused if it has unknown search
 * parameters.
 */
function innerContext(outer: Context, { method, url, body }: InnerRequest): Context {
  const incoming = new IncomingMessage(outer.req.socket);
  incoming.method = method;
  incoming.url = url;
  incoming.headers = { accept: '*/*', prefer: 'handling=strict' };
  if (body !== undefined) {
    const bytes = Buffer.from(body);
    incoming.headers['content-type'] = 'application/json';
    incoming.headers['content-length'] = String(bytes.length);
    incoming.push(bytes);
  }
  incoming.push(null);
  incoming.complete = true;
  const { requestId, caller } = outer.state;
  const ctx = outer.app.createContext(incoming, outer.res);
  ctx.state = { requestId, caller };
  return ctx;
}
