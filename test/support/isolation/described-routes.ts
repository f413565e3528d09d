/** The operations in the OpenAPI document, and the minimum valid request for each, for tests that call all of them. */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { type Named, neverLike } from './theirs.ts';

/** A path and method in the document. */
export interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
  /** The query that the request needs, including its question mark. */
  readonly query: string;
}

/** Returns the names in braces in a path. */
export const namesIn = (path: string): string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

/** Returns every path and method in an OpenAPI document. */
export function operationsIn(document: Json): Described[] {
  const paths = isObject(document) && isObject(document.paths) ? document.paths : {};
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(isObject(methods) ? methods : {}).flatMap(([method, operation]) =>
      isObject(operation) && 'responses' in operation
        ? [describe(method.toUpperCase(), path, operation)]
        : [],
    ),
  );
}

function describe(method: string, path: string, operation: JsonObject): Described {
  return { method, path, operation, query: VALID[path]?.[method]?.query ?? '' };
}

/** Returns the given operations, and adds those that support a point in time a second time, with such a time. */
export function askAlsoAt(described: readonly Described[], moment: string): Described[] {
  const again = described.flatMap((one) => {
    const { parameters } = one.operation;
    const takes = (Array.isArray(parameters) ? parameters : []).filter(isObject).map(({ name }) => name);
    const name = ['as_of', '_asOf'].find((each) => takes.includes(each));
    return name === undefined
      ? []
      : [
          {
            ...one,
            query: `${one.query}${one.query === '' ? '?' : '&'}${name}=${encodeURIComponent(moment)}`,
          },
        ];
  });
  if (again.length < 5) throw new Error('few operations answer as of a moment');
  return [...described, ...again];
}

/** Returns an id in the same form that never existed. */
export function neverOf(named: Named): Named;
export function neverOf(named: Named | undefined): Named | undefined;
export function neverOf(named: Named | undefined): Named | undefined {
  if (named === undefined || named.type !== '') return named && neverLike(named);
  const { id } = named;
  const end = [...id.slice(-8)].map((letter) => (letter === 'x' ? 'y' : 'x')).join('');
  return { ...named, id: id.slice(0, -8) + end };
}

/** Returns a path parameter's value. Parameters that aren't ids of ours are the same on both sides. */
export function segmentFor(name: string, values: ReadonlyMap<string, Named | undefined>): string {
  const others: Readonly<Record<string, string>> = { resource_type: 'Patient', vid: '1' };
  return values.get(name)?.id ?? others[name] ?? 'x';
}

/** Returns whether an operation accepts an ID token. */
export const takesToken = ({ security }: JsonObject): boolean =>
  Array.isArray(security) && security.some((scheme) => isObject(scheme) && 'idToken' in scheme);

const OBSERVED = { code: 'x', category: 'exam', effective_at: '2026-01-01T00:00:00Z', value_boolean: true };

/** Inputs for routes that refuse the minimum that the schema accepts. */
export const VALID: Readonly<Record<string, Readonly<Record<string, { body?: Json; query?: string }>>>> = {
  '/admin/organizations/{org_id}/members': {
    DELETE: { query: '?issuer=https://issuer.example.org&subject=x' },
  },
  '/admin/organizations/{org_id}/sso': {
    PUT: { body: { issuer: 'https://issuer.example.org', client_id: 'x', domains: ['example.org'] } },
  },
  '/admin/projects/{project_id}/takebacks': {
    POST: { body: { select: { source_system: 'x' }, environment: 'sandbox' } },
  },
  '/me/access-requests/{request_id}/approve': { POST: { body: { patient_id: 'x', duration_days: 90 } } },
  '/v1/patients/{patient_id}/series': { GET: { query: '?code=718-7' } },
  '/v1/patients/{patient_id}/patterns/compare': {
    POST: {
      body: {
        code: '718-7',
        a: { from: '2025-01-01', to: '2025-06-30' },
        b: { from: '2025-07-01', to: '2025-12-31' },
      },
    },
  },
  '/v1/patients/{patient_id}/proposals': {
    POST: { body: { operation: 'create', resource: { resourceType: 'Observation' } } },
  },
  '/me/patients/{patient_id}/shl': { POST: { body: { content: 'summary' } } },
  '/v1/patients/{patient_id}': { PUT: { body: { family: 'x' } } },
  '/v1/patients/{patient_id}/observations': { POST: { body: OBSERVED } },
  '/v1/patients/{patient_id}/medications': { POST: { body: { code: 'x' } } },
  '/v1/patients/{patient_id}/documents': { POST: { body: { title: 'x', content_type: 'text/plain' } } },
  '/v1/patients/{patient_id}/labs/import': {
    POST: { body: { items: [{ code: '718-7', value: 1, effective_at: '2026-01-01' }] } },
  },
  '/admin/projects/{project_id}/exports': { POST: { body: { kind: 'search', query: 'Patient' } } },
  '/admin/projects/{project_id}/applications': {
    POST: {
      body: {
        name: 'x',
        kind: 'public',
        redirect_uris: ['https://app.example.org/callback'],
        scopes: ['patient/*.rs'],
      },
    },
  },
};

/**
 * Paths that give the same answer with a different status. They need no access, need a signature instead, or belong to nobody.
 */
export const OTHERWISE = /\/upload$|\/\$validate$|\/(?:ValueSet|CodeSystem|ConceptMap)\//;
/**
 * The operation that returns the same for something that doesn't exist as for something that it removed (R4,
 * http.html#delete).
 */
export const DELETE_OF_NOTHING = 'DELETE /fhir/R4/{resource_type}/{rid}: 204';

/**
 * Returns a body that the route accepts, and its media type.
 * @param id the id of the resource in the body
 */
export function bodyOf(
  { requestBody }: JsonObject,
  id: string,
  valid: Json | undefined,
): { body?: string; headers?: Record<string, string> } {
  const content = isObject(requestBody) && isObject(requestBody.content) ? requestBody.content : {};
  const type = TYPES.find((each) => each in content);
  if (type === undefined) return {};
  const headers = { 'Content-Type': type };
  if (type.endsWith('form-urlencoded')) return { headers, body: '_count=1' };
  const patient = { resourceType: 'Patient', id };
  const patch = [{ op: 'add', path: '/active', value: true }];
  const media = content[type];
  const least = isObject(media) && isObject(media.schema) ? exampleOf(media.schema) : {};
  const body = type.endsWith('patch+json') ? patch : type.startsWith('application/fhir') ? patient : least;
  return { headers, body: JSON.stringify(valid ?? body) };
}

const TYPES = [
  'application/x-www-form-urlencoded',
  'application/json-patch+json',
  'application/fhir+json',
  'application/json',
];

/** Returns the minimum value that a schema accepts. */
function exampleOf(schema: JsonObject): Json {
  const { type, properties, required, items, minItems, format } = schema;
  const [choice] = [schema.enum, schema.anyOf, schema.oneOf].find(Array.isArray) ?? [];
  if (choice !== undefined) return isObject(choice) ? exampleOf(choice) : choice;
  if (schema.const !== undefined) return schema.const;
  if (type === 'object' && isObject(properties)) {
    const names = Array.isArray(required) ? required.map(String) : [];
    return Object.fromEntries(
      names.flatMap((name) => {
        const inner = properties[name];
        return isObject(inner) ? [[name, exampleOf(inner)]] : [];
      }),
    );
  }
  if (type === 'array') return Number(minItems ?? 0) > 0 && isObject(items) ? [exampleOf(items)] : [];
  if (type === 'boolean') return true;
  if (type === 'number' || type === 'integer') return 1;
  if (format === 'uri') return 'https://example.org/x';
  if (format === 'email') return 'somebody@example.org';
  return format === 'date' ? '2024-01-01' : 'x';
}
