/** Builds the operation object for a route: https://spec.openapis.org/oas/v3.1.1.html#operation-object */
import type { z } from 'zod';
import type { OpenRoute } from '../api/open-route.ts';
import type { DescribedAnswer, Route } from '../api/route.ts';
import { namesIn } from '../api/table.ts';
import type { Part, Schemas } from './schemas.ts';
import { BY_GRANT, describeSecurity, errorResponses, headers, PARAMETERS, REQUEST_ID } from './shared.ts';

/** Errors that every route of the JSON interfaces can return; an unknown query parameter always gets 422. */
const ALWAYS = [400, 404, 406, 413, 422, 429, 500, 503];
const CREDENTIAL = [401, 403];
const WITH_BODY = [409, 412, 415];
const AUTHORED = { 422: { $ref: '#/components/responses/Authored422' } };

const BYTES = { type: 'string', format: 'binary', description: 'The bytes, unchanged.' };

/** Returns the operation for a route, and adds the route's schemas to the components. */
export function describeRoute(route: Route | OpenRoute, schemas: Schemas): Part {
  const { operationId, summary, description, tag, answers } = route;
  const own = Object.entries(answers).map(([status, answer]) => {
    const located = status === '201' ? ['Location'] : [];
    return [status, describeResponse(route, answer, schemas, located)];
  });
  const parameters = [...inPath(route, schemas), ...inQuery(route, schemas), ...inHeaders(route)];
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    ...describeAccess(route),
    parameters,
    ...describeInput(route, schemas),
    responses: { ...describeErrors(route), ...Object.fromEntries(own) },
  };
}

function isOpen(route: Route | OpenRoute): route is OpenRoute {
  return 'unkeyed' in route;
}

function describeAccess(route: Route | OpenRoute): Part {
  if (isOpen(route)) return { security: route.takesGrantToken === true ? [BY_GRANT] : [] };
  const { credential, method, grantToken, scope = method === 'GET' ? 'read' : 'write' } = route;
  const byGrant = grantToken === 'refused' ? [] : [BY_GRANT];
  return { security: [...describeSecurity(credential, scope), ...byGrant] };
}

function describeErrors(route: Route | OpenRoute): Part {
  if (isOpen(route)) {
    const throttled = route.unlimited === true || 429 in route.answers ? [] : [429];
    return errorResponses('Json', [...(route.errors ?? []), ...throttled]);
  }
  const { method, credential } = route;
  const statuses = [
    ...ALWAYS,
    ...(credential === 'none' ? [] : CREDENTIAL),
    ...(method === 'GET' || method === 'DELETE' ? [] : WITH_BODY),
    ...(method === 'DELETE' ? [409, 412] : []),
  ];
  return {
    ...errorResponses('Json', statuses),
    ...(method !== 'GET' && credential === 'api_key' ? AUTHORED : {}),
  };
}

function describeResponse(
  route: Route | OpenRoute,
  { description, schema, bytes, content: others = {} }: DescribedAnswer,
  schemas: Schemas,
  located: readonly string[],
): Part {
  const replayed = isKeyed(route) ? ['Idempotent-Replayed'] : [];
  const all = { ...(schema === undefined ? {} : { 'application/json': schema }), ...others };
  const content = {
    ...Object.fromEntries(
      Object.entries(all).map(([type, form]) => [type, { schema: schemas.of(form, 'output') }]),
    ),
    ...(bytes === undefined ? {} : { '*/*': { schema: BYTES } }),
  };
  return {
    description,
    headers: route.unlimited === true ? REQUEST_ID : headers(...replayed, ...located),
    ...(Object.keys(content).length === 0 ? {} : { content }),
  };
}

function isKeyed(route: Route | OpenRoute): boolean {
  return route.method === 'POST' && !isOpen(route);
}

function describeInput(route: Route | OpenRoute, schemas: Schemas): Part {
  const { form, body, takes } = route;
  if (form !== undefined) {
    const content = { 'application/x-www-form-urlencoded': { schema: schemas.of(form, 'input') } };
    return { requestBody: { required: !form.safeParse({}).success, content } };
  }
  if (body !== undefined) return { requestBody: describeBody(route, body, schemas) };
  if (takes === undefined) return {};
  return { requestBody: { required: true, content: { '*/*': { schema: BYTES } } } };
}

function describeBody({ operationId, raw = {} }: Route | OpenRoute, body: z.ZodType, schemas: Schemas): Part {
  const schema = schemas.of(body, 'input');
  // Code generators name a body's type after its title.
  const title = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}Body`;
  return {
    required: !body.safeParse({}).success,
    content: {
      'application/json': { schema: schema.type === 'object' ? { title, ...schema } : schema },
      ...Object.fromEntries(
        Object.entries(raw).map(([type, { description, example }]) => [
          type,
          { schema: { type: 'string', description }, example },
        ]),
      ),
    },
  };
}

function inPath({ path, params }: Route | OpenRoute, schemas: Schemas): Part[] {
  return namesIn(path).map((name) => {
    const form: z.core.$ZodType | undefined = params?.shape[name];
    const { description, ...schema } =
      form === undefined ? { type: 'string' } : schemas.of(form as z.ZodType, 'input');
    return {
      name,
      in: 'path',
      ...(description === undefined ? {} : { description }),
      required: true,
      schema,
    };
  });
}

function inQuery({ query }: Route | OpenRoute, schemas: Schemas): Part[] {
  return Object.entries(query?.shape ?? {}).map(([name, form]) => {
    const type = form as z.ZodType;
    const { description, default: fallback, ...sent } = schemas.of(type, 'input');
    const { description: _, default: __, ...parsed } = schemas.of(type, 'output');
    // A number is sent as text. If there is a schema for the parsed value, it is more precise.
    const schema = Object.keys(parsed).length === 0 ? sent : parsed;
    return {
      name,
      in: 'query',
      ...(description === undefined ? {} : { description }),
      required: !type.safeParse(undefined).success,
      schema: { ...schema, ...(fallback === undefined ? {} : { default: typed(fallback, schema) }) },
    };
  });
}

function typed(fallback: unknown, schema: Part): unknown {
  return schema.type === 'integer' || schema.type === 'number' ? Number(fallback) : fallback;
}

function inHeaders(route: Route | OpenRoute): Part[] {
  const { headers: own = {} } = route;
  const keyed = isKeyed(route) ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [];
  const named = Object.entries(own).map(([name, description]) => {
    const shared = Object.entries(PARAMETERS).find(([, parameter]) => parameter.name === name);
    if (shared !== undefined) return { $ref: `#/components/parameters/${shared[0]}` };
    return { name, in: 'header', description, schema: { type: 'string' } };
  });
  return [...keyed, ...named];
}
