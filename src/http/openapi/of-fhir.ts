/**
 * Describes the FHIR interface's paths. Their methods come from the interface's routes, and their operations and types from
 * the respective tables.
 */
import { TYPE_NAMES } from '#src/fhir/types.ts';
import type { Tag } from '../api/tags.ts';
import type { Operation } from '../fhir/operation.ts';
import { OPERATIONS } from '../fhir/operations.ts';
import { matchRoute } from '../fhir/route.ts';
import { FHIR_PATH } from '../path.ts';
import type { Method } from '../pipeline.ts';
import { bodyExamples, criteriaExample, formExample, inputExample } from './fhir-examples.ts';
import { AS_OF_QUERY, OF_QUERY, PRETTY } from './fhir-query.ts';
import { FHIR_SHAPES, FHIR_TEXTS, type FhirText } from './fhir-texts.ts';
import type { Part } from './schemas.ts';
import { BY_GRANT, describeSecurity, errorResponses, headers } from './shared.ts';

const TYPE = '{resource_type}';
const READ_ERRORS = [400, 401, 403, 404, 406, 410, 412, 413, 422, 429, 500, 503];
const WRITE_ERRORS = [...READ_ERRORS, 405, 409, 415];
/** R4's pattern for ids and versions. */
const ID = '^[A-Za-z0-9.-]{1,64}$';
const JSON_TYPE = 'application/fhir+json';

/** Returns the paths with their operations, by path from the root. */
export function fhirPaths(): Readonly<Record<string, Part>> {
  const paths: Record<string, Record<string, Part>> = {};
  const add = (path: string, method: Method, operation: Part) => {
    paths[FHIR_PATH + path] = { ...paths[FHIR_PATH + path], [method.toLowerCase()]: operation };
  };
  for (const shape of FHIR_SHAPES) {
    for (const { path, types, methods } of listPlaces(shape)) {
      for (const method of methods) {
        const text = FHIR_TEXTS[`${method} ${shape}`];
        if (text === undefined) throw new Error(`${method} ${FHIR_PATH}${shape} is not described`);
        add(path, method, operation(text, path, method, types));
      }
    }
  }
  for (const each of OPERATIONS) {
    for (const { path, types } of placesOfOperation(each)) {
      for (const method of each.methods)
        add(path, method, operation(describeOperation(each, path, method), path, method, types, each));
    }
  }
  return paths;
}

/** A path with the types that can be inserted in it. `types` is empty if the path names its type or has none. */
interface Place {
  readonly path: string;
  readonly types: readonly string[];
}

/**
 * Returns the places for a path shape. The largest group of types with the same methods shares one path. All other types, such
 * as terminology, have their own paths.
 */
function listPlaces(shape: string): (Place & { readonly methods: readonly Method[] })[] {
  if (!shape.includes(TYPE)) return [{ path: shape, types: [], methods: methodsAt(shape) }];
  const groups = new Map<string, string[]>();
  for (const type of TYPE_NAMES) {
    const methods = methodsAt(shape.replace(TYPE, type)).join(' ');
    groups.set(methods, [...(groups.get(methods) ?? []), type]);
  }
  const [most, ...others] = [...groups].sort(([, one], [, other]) => other.length - one.length);
  const methods = (joined: string) => joined.split(' ').filter(Boolean) as Method[];
  return [
    ...(most === undefined ? [] : [{ path: shape, types: most[1], methods: methods(most[0]) }]),
    ...others.flatMap(([joined, types]) =>
      types.map((type) => ({ path: shape.replace(TYPE, type), types: [], methods: methods(joined) })),
    ),
  ];
}

function methodsAt(path: string): Method[] {
  const segments = path.split('/').slice(1);
  return Object.keys(matchRoute(segments).methods) as Method[];
}

function placesOfOperation({ name, system, types = [], instances = [], otherTypes }: Operation): Place[] {
  const at = (names: readonly string[], suffix: string): Place[] => {
    if (names.length < TYPE_NAMES.length)
      return names.map((type) => ({ path: `/${type}${suffix}`, types: [] }));
    return [{ path: `/${TYPE}${suffix}`, types: otherTypes === true ? ['*'] : names }];
  };
  return [
    ...(system === true ? [{ path: `/$${name}`, types: [] }] : []),
    ...at(types, `/$${name}`),
    ...at(instances, `/{rid}/$${name}`),
  ];
}

function describeOperation({ name, searchset }: Operation, path: string, method: Method): FhirText {
  return {
    name: `operation-${name}`,
    summary: `Operation $${name}${path.includes('{rid}') ? ' of a resource' : ''}`,
    ...(method === 'POST' ? { body: 'Resource' as const } : {}),
    ...(searchset === true ? { headers: ['PreferHandling'] } : {}),
    answer: searchset === true ? 'Bundle' : 'Resource',
    statuses: [200],
  };
}

function operation(
  text: FhirText,
  path: string,
  method: Method,
  types: readonly string[],
  called?: Operation,
): Part {
  const open = path === '/metadata';
  const accepts = takesGrants(path, method, types);
  const writes = method !== 'GET' && called === undefined && text.body !== 'Form' && text.body !== 'Bundle';
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const component = (name: string) => ({ $ref: `#/components/parameters/${name}` });
  return {
    operationId: makeOperationId(text, path, method),
    summary: text.summary,
    ...described(text.description, accepts ? GRANTED : undefined),
    tags: [chooseTag(path)],
    security: open
      ? []
      : [...describeSecurity('api_key', writes ? 'write' : 'read'), ...(accepts ? [BY_GRANT] : [])],
    parameters: [
      ...names.map((name) => inPath(name, types, path)),
      ...(called?.parameters ?? []).map((name) => ({
        name,
        in: 'query',
        schema: { type: 'string' },
        ...examplePart(inputExample(called?.name ?? '', path, method, name)),
      })),
      ...(text.parameters === undefined ? [] : OF_QUERY[text.parameters]).map((parameter) =>
        parameter.name === 'criteria' ? { ...parameter, example: criteriaExample(path, method) } : parameter,
      ),
      ...(takesMoment(path, method, types, called) ? [AS_OF_QUERY] : []),
      ...(method === 'GET' || method === 'POST' ? [PRETTY] : []),
      ...(method === 'POST' ? [component('IdempotencyKey')] : []),
      ...(text.headers ?? []).map(component),
    ],
    ...(text.body === undefined ? {} : { requestBody: describeBody(text.body, path, method, called?.name) }),
    responses: {
      ...errorResponses('Fhir', open ? [406, 429, 500, 503] : method === 'GET' ? READ_ERRORS : WRITE_ERRORS),
      ...Object.fromEntries(text.statuses.map((status) => [status, describeAnswer(text, status)])),
      ...(text.headers?.includes('IfNoneMatch')
        ? { 304: { description: 'Unchanged', headers: headers('ETag', 'Last-Modified') } }
        : {}),
    },
  };
}

/** Returns a description that joins whichever parts are present. */
function described(...parts: readonly (string | undefined)[]): Part {
  const description = parts.filter((part) => part !== undefined).join(' ');
  return description === '' ? {} : { description };
}

/** The description for routes that accept a grant's token. */
const GRANTED =
  'With an access token of a grant: what the grant covers of its record, under the pairwise id of the Patient. A type outside the grant answers 403 naming the missing scope. A resource outside a category, and every other record, answers like an unknown id.';

/** Returns whether a path accepts grants' access tokens for any of its types. */
function takesGrants(path: string, method: Method, types: readonly string[]): boolean {
  return listRoutes(path, method, types).some((route) => route?.grantToken !== 'refused');
}

/** Returns whether a path supports reading as of an earlier time for any of its types. */
function takesMoment(path: string, method: Method, types: readonly string[], called?: Operation): boolean {
  if (method !== 'GET' || path === '/metadata') return false;
  if (called !== undefined) return called.takesAsOf === true;
  return listRoutes(path, method, types).some(
    (route) => route !== undefined && 'takesAsOf' in route && route.takesAsOf === true,
  );
}

function listRoutes(path: string, method: Method, types: readonly string[]) {
  const named = types.includes('*') ? TYPE_NAMES : types;
  const paths = path.includes(TYPE) ? named.map((type) => path.replace(TYPE, type)) : [path];
  return paths.map((each) => matchRoute(each.split('/').slice(1).filter(Boolean)).methods[method]);
}

const examplePart = (example: unknown): Part => (example === undefined ? {} : { example });

/**
 * Returns the tag for a path. Terminology has its own tag; the tags of other paths depend on whether they are about single
 * resources, a search, versions or an operation.
 */
function chooseTag(path: string): Tag {
  if (/^\/(?:CodeSystem|ValueSet|ConceptMap)\b/.test(path)) return 'Terminology';
  if (path.includes('$')) return 'FHIR: operations';
  if (path.includes('/_history')) return 'FHIR: history';
  return path.endsWith('/_search') || /^\/[A-Z]\w+\/\{rid\}\//.test(path)
    ? 'FHIR: search'
    : 'FHIR: resources';
}

/** Returns a request body with its example. */
function describeBody(
  kind: NonNullable<FhirText['body']>,
  path: string,
  method: Method,
  called?: string,
): Part {
  const { content: contents, ...body } = BODIES[kind];
  const examples = kind === 'Form' ? {} : bodyExamples(path, method, called);
  const fields = Object.entries(formExample(path)).map(([name, example]) => [
    name,
    { type: 'string', example },
  ]);
  const form = {
    type: 'object',
    properties: Object.fromEntries(fields),
    // Not `string`, because in TypeScript an optional member isn't compatible with an index signature of strings.
    additionalProperties: true,
  };
  return {
    ...body,
    content: Object.fromEntries(
      Object.entries(contents).map(([type, media]) => [
        type,
        kind === 'Form' ? { schema: form } : { ...media, ...examplePart(examples[type]) },
      ]),
    ),
  };
}

/**
 * Returns an id that is unique in the document, such as `read`, `readCodeSystem`, `operationValidate` or
 * `operationEverythingOfPatientByPost`.
 */
function makeOperationId({ name }: FhirText, path: string, method: Method): string {
  const camel = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
  const fixed = /^\/([A-Z]\w+)/.exec(path)?.[1] ?? '';
  const implied = fixed === 'Patient' && !name.startsWith('operation');
  const operation = name.startsWith('operation');
  const instance = operation && path.includes('{rid}') ? 'Instance' : '';
  const system = operation && path.lastIndexOf('/') === 0 ? 'System' : '';
  return `fhir${camel[0]?.toUpperCase()}${camel.slice(1)}${implied ? '' : fixed}${instance}${system}${operation && method === 'POST' ? 'ByPost' : ''}`;
}

function inPath(name: string, types: readonly string[], path: string): Part {
  // Every compartment can contain Observations.
  const usual = path.includes('{rid}/{resource_type}') ? 'Observation' : 'Patient';
  const fallback = types.includes(usual) ? usual : types[0];
  const schema =
    name === 'resource_type'
      ? { ...(types[0] === '*' ? { default: 'Patient' } : { enum: types, default: fallback }) }
      : { pattern: ID };
  return { name, in: 'path', required: true, schema: { type: 'string', ...schema } };
}

const content = (type: string, schema: string) => ({
  [type]: { schema: { $ref: `#/components/schemas/${schema}` } },
});

const BODIES: Readonly<
  Record<
    NonNullable<FhirText['body']>,
    { readonly required?: true; readonly content: Readonly<Record<string, Part>> }
  >
> = {
  Resource: { required: true, content: content(JSON_TYPE, 'Resource') },
  Bundle: { required: true, content: content(JSON_TYPE, 'Bundle') },
  Patch: {
    required: true,
    content: {
      'application/json-patch+json': { schema: { type: 'array', items: { type: 'object' } } },
      ...content(JSON_TYPE, 'Resource'),
    },
  },
  Form: {
    content: {
      'application/x-www-form-urlencoded': {
        schema: { type: 'object', additionalProperties: { type: 'string' } },
      },
    },
  },
};

function describeAnswer({ answer, body }: FhirText, status: number): Part {
  const written = body === 'Resource' || body === 'Patch' ? ['ETag', 'Last-Modified', 'Location'] : [];
  return {
    description: status === 201 ? 'Created, or restored' : answer === 'nothing' ? 'Done' : answer,
    headers: headers(...(answer === 'Resource' ? ['ETag', 'Last-Modified'] : []), ...written),
    ...(answer === 'nothing' ? {} : { content: content(JSON_TYPE, answer) }),
  };
}
