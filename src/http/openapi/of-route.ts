/** The operation object of a route: https://spec.openapis.org/oas/v3.1.1.html#operation-object */
import type { z } from 'zod';
import type { DescribedAnswer, Route } from '../api/route.ts';
import { namesIn } from '../api/table.ts';
import type { Part, Schemas } from './schemas.ts';
import { BY_GRANT, describeSecurity, errorResponses, headers, PARAMETERS } from './shared.ts';

/** Errors that every route can answer with; an unknown query parameter is 422 everywhere. */
const ALWAYS = [400, 404, 406, 413, 422, 429, 500, 503];
const CREDENTIAL = [401, 403];
const WITH_BODY = [409, 412, 415];
const AUTHORED = { 422: { $ref: '#/components/responses/Authored422' } };

const BYTES = { type: 'string', format: 'binary', description: 'The bytes as they are.' };

/** Returns the operation of a route; its schemas go among the components. */
export function describeRoute(route: Route, schemas: Schemas): Part {
  const { method, operationId, summary, description, tag, credential, answers } = route;
  const mayHaveBody = method !== 'GET' && method !== 'DELETE';
  const bytes = { required: true, content: { '*/*': { schema: BYTES } } };
  const errors = [
    ...ALWAYS,
    ...(credential === 'none' ? [] : CREDENTIAL),
    ...(mayHaveBody ? WITH_BODY : []),
    ...(method === 'DELETE' ? [409, 412] : []),
  ];
  const own = Object.entries(answers).map(([status, answer]) => {
    const located = status === '201' ? ['Location'] : [];
    return [status, describeResponse(route, answer, schemas, located)];
  });
  return {
    operationId,
    summary,
    ...(description === undefined ? {} : { description }),
    tags: [tag],
    security: [
      ...describeSecurity(credential, route.scope ?? (method === 'GET' ? 'read' : 'write')),
      ...(route.grantToken === 'refused' ? [] : [BY_GRANT]),
    ],
    parameters: [...inPath(route, schemas), ...inQuery(route, schemas), ...inHeaders(route)],
    ...(route.body === undefined ? {} : { requestBody: describeBody(route, route.body, schemas) }),
    ...(route.takes === undefined ? {} : { requestBody: bytes }),
    responses: {
      ...errorResponses('Json', errors),
      ...(method !== 'GET' && credential === 'api_key' ? AUTHORED : {}),
      ...Object.fromEntries(own),
    },
  };
}

function describeResponse(
  { method }: Route,
  { description, schema, bytes }: DescribedAnswer,
  schemas: Schemas,
  located: readonly string[],
): Part {
  const replayed = method === 'POST' ? ['Idempotent-Replayed'] : [];
  return {
    description,
    headers: headers(...replayed, ...located),
    ...(schema === undefined
      ? {}
      : { content: { 'application/json': { schema: schemas.of(schema, 'output') } } }),
    ...(bytes === undefined ? {} : { content: { '*/*': { schema: BYTES } } }),
  };
}

function describeBody({ operationId, raw = {} }: Route, body: z.ZodType, schemas: Schemas): Part {
  const schema = schemas.of(body, 'input');
  // Generators name the type of a body by its title.
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

function inPath({ path, params }: Route, schemas: Schemas): Part[] {
  return namesIn(path).map((name) => {
    const form: z.core.$ZodType | undefined = params?.shape[name];
    const schema = form === undefined ? { type: 'string' } : schemas.of(form as z.ZodType, 'input');
    return { name, in: 'path', required: true, schema };
  });
}

function inQuery({ query }: Route, schemas: Schemas): Part[] {
  return Object.entries(query?.shape ?? {}).map(([name, form]) => {
    const type = form as z.ZodType;
    const { description, default: fallback, ...sent } = schemas.of(type, 'input');
    const { description: _, default: __, ...parsed } = schemas.of(type, 'output');
    // A number is sent as a text; the schema of the parsed value says more, if there is one.
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

function inHeaders({ method, headers: own = {} }: Route): Part[] {
  const keyed = method === 'POST' ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [];
  const named = Object.entries(own).map(([name, description]) => {
    const shared = Object.entries(PARAMETERS).find(([, parameter]) => parameter.name === name);
    if (shared !== undefined) return { $ref: `#/components/parameters/${shared[0]}` };
    return { name, in: 'header', description, schema: { type: 'string' } };
  });
  return [...keyed, ...named];
}
