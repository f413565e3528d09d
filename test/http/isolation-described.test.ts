/**
 * Every route of the OpenAPI document that has an id in its path, asked by strangers for what is somebody's and for what
 * never was: the same 401, 403, 404 or 405 (docs/spec/interface.md, section 7). Which other ways there are, a property test asks.
 */
import { expect } from 'chai';
import { DevIssuer, devIssuerOf } from '#src/dev-issuer/dev-issuer.ts';
import { personOf } from '#src/dev-issuer/people.ts';
import { newUuid } from '#src/shared/ids.ts';
import { isObject, type Json, type JsonObject, parseJson } from '#src/shared/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { shown } from '#test/support/isolation/shown.ts';
import { type Named, neverLike, writeTheirs } from '#test/support/isolation/theirs.ts';
import { productionKey } from '#test/support/project.ts';

/** A path and method of the document. */
interface Described {
  readonly method: string;
  readonly path: string;
  readonly operation: JsonObject;
}

describe('every described route with an id in its path', () => {
  let service: InProcess;
  let described: readonly Described[];
  /** Values of path parameters: theirs, by the parameter's name. */
  let theirs: ReadonlyMap<string, Named>;
  let strangers: readonly { readonly key: string; readonly token: string }[];

  before(async () => {
    service = await startInProcess();
    const { named } = await writeTheirs(service, service.key);
    const patient = named.find(({ type }) => type === 'Patient');
    const observation = named.find(({ type }) => type === 'Observation');
    const document = named.find(({ type }) => type === 'DocumentReference');
    const { rows } = await service.pool.query<{ organization: string; project: string; key: string }>(
      `select p.organization, p.id as project, k.key_id as key
       from projects.api_key k join projects.project p on p.id = k.project`,
    );
    const [row] = rows;
    if (row === undefined || patient === undefined || observation === undefined || document === undefined)
      throw new Error('nobody is there');
    const plain = (id: string): Named => ({ type: '', id, marker: `t${newUuid()}` });
    theirs = new Map([
      ['rid', patient],
      ['patient_id', patient],
      ['resource_id', patient],
      ['item_id', observation],
      ['doc_id', document],
      ['org_id', plain(row.organization)],
      ['project_id', plain(row.project)],
      ['key_id', plain(row.key)],
    ]);
    const issuer = new DevIssuer(service.pool, devIssuerOf(service.url));
    const token = await issuer.idToken(personOf('stranger@example.org'));
    strangers = [
      { key: await service.newProject(), token },
      { key: await productionKey(service.databaseUrl, service.pool, service.key), token },
    ];
    const answer = await fetch(`${service.url}/openapi.json`);
    described = operationsIn(parseJson(await answer.text()).value).filter(({ path }) =>
      namesIn(path).some((name) => theirs.has(name)),
    );
  });
  after(() => service.stop());

  it('is answered as for an id that never was', async () => {
    expect(described.length).to.be.greaterThan(10);
    const unsaid: string[] = [];
    for (const { method, path, operation } of described) {
      for (const { key, token } of strangers) {
        const names = namesIn(path);
        const nevers = new Map(names.map((name) => [name, neverOf(theirs.get(name))]));
        const ask = async (values: ReadonlyMap<string, Named | undefined>): Promise<[number, string]> => {
          const url = names.reduce((text, name) => text.replace(`{${name}}`, segmentFor(name, values)), path);
          const id = values.get('rid')?.id ?? '';
          const sent = VALID[path]?.[method] ?? {};
          const answer = await service.fhir(`${service.url}${url}${sent.query ?? ''}`, {
            method,
            key: takesToken(operation) ? token : key,
            ...bodyOf(operation, id, sent.body),
          });
          const asked = [...values.values()].filter((value) => value !== undefined);
          return [answer.status, shown(answer, ...asked)];
        };
        const [status, found] = await ask(theirs);
        const [, unknown] = await ask(nevers);
        expect(found, `${method} ${path}`).to.equal(unknown);
        if (![401, 403, 404, 405].includes(status) && !OTHERWISE.test(path))
          unsaid.push(`${method} ${path}: ${status}`);
      }
    }
    const otherwise = unsaid.filter((answer) => answer !== DELETE_OF_NOTHING);
    expect(otherwise, 'answered otherwise than by 401, 403, 404 or 405').to.deep.equal([]);
  });
});

const namesIn = (path: string): string[] => [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);

function operationsIn(document: Json): Described[] {
  const paths = isObject(document) && isObject(document.paths) ? document.paths : {};
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(isObject(methods) ? methods : {}).flatMap(([method, operation]) =>
      isObject(operation) && 'responses' in operation
        ? [{ method: method.toUpperCase(), path, operation }]
        : [],
    ),
  );
}

function neverOf(named: Named | undefined): Named | undefined {
  if (named === undefined || named.type !== '') return named && neverLike(named);
  const { id } = named;
  const end = [...id.slice(-8)].map((letter) => (letter === 'x' ? 'y' : 'x')).join('');
  return { ...named, id: id.slice(0, -8) + end };
}

/** Parameters that hold no id of ours are the same on both sides. */
function segmentFor(name: string, values: ReadonlyMap<string, Named | undefined>): string {
  const others: Readonly<Record<string, string>> = { resource_type: 'Patient', vid: '1' };
  return values.get(name)?.id ?? others[name] ?? 'x';
}

const takesToken = ({ security }: JsonObject): boolean =>
  Array.isArray(security) && security.some((scheme) => isObject(scheme) && 'idToken' in scheme);

const OBSERVED = { code: 'x', category: 'exam', effective_at: '2026-01-01T00:00:00Z', value_boolean: true };

/** Where the least that a schema takes is not valid. */
const VALID: Readonly<Record<string, Readonly<Record<string, { body?: Json; query?: string }>>>> = {
  '/admin/organizations/{org_id}/members': {
    DELETE: { query: '?issuer=https://issuer.example.org&subject=x' },
  },
  '/admin/organizations/{org_id}/sso': {
    PUT: { body: { issuer: 'https://issuer.example.org', client_id: 'x', domains: ['example.org'] } },
  },
  '/v1/patients/{patient_id}': { PUT: { body: { family: 'x' } } },
  '/v1/patients/{patient_id}/observations': { POST: { body: OBSERVED } },
  '/v1/patients/{patient_id}/medications': { POST: { body: { code: 'x' } } },
  '/v1/patients/{patient_id}/documents': { POST: { body: { title: 'x', content_type: 'text/plain' } } },
  '/v1/patients/{patient_id}/labs/import': {
    POST: { body: { items: [{ code: '718-7', value: 1, effective_at: '2026-01-01' }] } },
  },
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

/** Answered the same, but by another status: what needs no access, a signature instead, or is nobody's. */
const OTHERWISE = /\/upload$|\/\$validate$|\/(?:ValueSet|CodeSystem|ConceptMap)\//;
/** Removing what is not there answers as if it had been removed (R4, http.html#delete). */
const DELETE_OF_NOTHING = 'DELETE /fhir/R4/{resource_type}/{rid}: 204';

/** A body that the route takes, and its media type. */
function bodyOf(
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

/** The least that a schema takes. */
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
