/** The OpenAPI document is valid and complete, and responses are checked against it. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { Validator } from '@seriousme/openapi-schema-validator';
import { expect } from 'chai';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { OPERATIONS } from '#src/http/fhir/operations.ts';
import { matchRoute } from '#src/http/fhir/route.ts';
import { FHIR_SHAPES } from '#src/http/openapi/fhir-texts.ts';
import { OPEN_ROUTES, ROUTES } from '#src/http/routes.ts';
import { inParallel } from '#test/support/audit.ts';
import { describedPath, faultOf, NotDescribed } from '#test/support/described.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;
const ID = '01890000-0000-7000-8000-000000000000';

interface Media {
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly security: readonly unknown[];
  readonly parameters?: readonly { $ref?: string; name?: string; schema?: { enum?: string[] } }[];
}
interface Document {
  readonly openapi: string;
  readonly info: { readonly version: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly tags: readonly { readonly description?: string }[];
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
}

/** Returns a path with values for its parameters, once for each type in the list of types. */
function urlsOf(path: string, operations: Readonly<Record<string, Operation>>): string[] {
  const [first] = Object.values(operations);
  const type = first?.parameters?.find(({ name }) => name === 'resource_type');
  const types = path.includes('{resource_type}') ? (type?.schema?.enum ?? TYPE_NAMES) : [''];
  return types.map((each) =>
    path
      .replace('{resource_type}', each)
      .replace('{vid}', '1')
      .replace('{name}', 'reference.js')
      .replace('{operation_id}', 'fhirCreate')
      .replace('{folder}/{guide}', 'spec/interface')
      .replace('{guide}', 'quickstart')
      .replace(/\{\w+\}/g, ID),
  );
}

describe('the OpenAPI document', () => {
  let service: InProcess;
  let document: Document;
  before(async () => {
    service = await startInProcess();
    document = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
  });
  after(() => service.stop());

  it('is OpenAPI 3.1 of version 0.3.0, and every reference in it resolves', async () => {
    expect(document.openapi).to.match(/^3\.1\./);
    expect(document.info.version).to.equal('0.3.0');
    expect(document.servers).to.deep.equal([{ url: service.url }]);
    const validator = new Validator();
    const { valid, errors } = await validator.validate({ ...structuredClone(document) });
    expect(valid, JSON.stringify(errors)).to.equal(true);
    validator.resolveRefs();
    const broken = structuredClone(document) as { info?: unknown };
    delete broken.info;
    expect((await new Validator().validate(broken)).valid).to.equal(false);
  });

  it('describes _pretty at all GET and POST of the FHIR interface, and Prefer where unknown parameters are ignored', () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      if (!path.startsWith('/fhir/') || path.includes('/.well-known/')) continue;
      for (const [method, { parameters = [] }] of Object.entries(operations)) {
        const has = parameters.some(({ name }) => name === '_pretty');
        expect(has, `${method} ${path}`).to.equal(method === 'get' || method === 'post');
        if (path.endsWith('/$everything'))
          expect(parameters.map(({ $ref }) => $ref)).to.include('#/components/parameters/PreferHandling');
      }
    }
  });

  it('gives each operation an id of its own', () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map(({ operationId }) => operationId),
    );
    expect(new Set(ids).size).to.equal(ids.length);
  });

  it('says of every parameter and member what it is', () => {
    const empty: string[] = [];
    const walk = (part: unknown, at: string): void => {
      if (typeof part !== 'object' || part === null) return;
      for (const [key, value] of Object.entries(part)) {
        const isSchema = key === 'schema' || at.endsWith('/properties');
        if (isSchema && Object.keys(value).every((name) => name === 'description'))
          empty.push(`${at}/${key}`);
        walk(value, `${at}/${key}`);
      }
    };
    walk(document, '');
    expect(empty).to.deep.equal([]);
  });

  it('is what code generators take: null is a type, a constant has one, names have no blanks', () => {
    const odd: string[] = [];
    const walk = (part: unknown, at: string): void => {
      if (typeof part !== 'object' || part === null) return;
      const schema = part as Readonly<Record<string, unknown>>;
      if (Array.isArray(schema.anyOf) && schema.anyOf.some(({ type }) => type === 'null')) odd.push(at);
      if ('const' in schema && !('type' in schema)) odd.push(at);
      for (const [key, value] of Object.entries(part)) {
        if (at.endsWith('/properties') && /\s/.test(key)) odd.push(`${at}/${key}`);
        if (!/^examples?$/.test(key)) walk(value, `${at}/${key}`);
      }
    };
    walk(document, '');
    expect(odd).to.deep.equal([]);
  });

  it('describes each group and each operation', () => {
    expect(document.tags.filter(({ description }) => description === undefined)).to.deep.equal([]);
    const bare = Object.values(document.paths).flatMap((path) =>
      Object.values(path).filter(({ description }) => description === undefined),
    );
    expect(bare.map(({ operationId }) => operationId)).to.deep.equal([]);
  });

  it('has every route that is not left out', () => {
    const listed = [...ROUTES, ...OPEN_ROUTES.filter(({ unlisted }) => unlisted !== true)];
    for (const { method, path, operationId } of listed)
      expect(document.paths[path]?.[method.toLowerCase()]?.operationId, `${method} ${path}`).to.equal(
        operationId,
      );
  });

  it('has an example that is taken of every body of REST v1, for those who try it out', () => {
    const examplesOf = (media: Media | undefined): unknown[] => [
      ...(media?.example === undefined ? [] : [media.example]),
      ...Object.values(media?.examples ?? {}).map(({ value }) => value),
    ];
    const bodies = ROUTES.filter(({ path, body }) => path.startsWith('/v1/') && body !== undefined);
    expect(bodies.length).to.be.greaterThan(8);
    for (const { method, path, body } of bodies) {
      const content = document.paths[path]?.[method.toLowerCase()]?.requestBody?.content;
      const examples = examplesOf(content?.['application/json']);
      expect(examples, `${method} ${path}`).not.to.deep.equal([]);
      for (const example of examples)
        expect(body?.safeParse(example).error?.issues, `${method} ${path}`).to.equal(undefined);
    }
  });

  it('has every interaction of the FHIR interface, for each type', () => {
    const places = [
      ...FHIR_SHAPES,
      ...OPERATIONS.flatMap(({ name }) => [
        `/$${name}`,
        `/{resource_type}/$${name}`,
        `/{resource_type}/{rid}/$${name}`,
      ]),
    ];
    let compared = 0;
    for (const type of TYPE_NAMES) {
      for (const place of places) {
        const path = place.replace('{resource_type}', type).replace('{rid}', ID).replace('{vid}', '1');
        const url = `/fhir/R4${path}`;
        const has = METHODS.filter((method) => method in methodsAt(path));
        const described = METHODS.filter((method) => {
          const found = describedPath(url);
          return found !== undefined && document.paths[found]?.[method.toLowerCase()] !== undefined;
        });
        expect(described, url).to.deep.equal(has);
        compared += has.length;
      }
    }
    expect(compared).to.be.greaterThan(500);
  });

  it('describes what the service answers: no path of it is unknown, no method of it refused', async () => {
    const asked = Object.entries(document.paths).flatMap(([path, operations]) =>
      urlsOf(path, operations).flatMap((url) =>
        Object.entries(operations).map(([method, { security }]) => ({ url, method, security })),
      ),
    );
    expect(asked.length).to.be.greaterThan(400);
    await inParallel(asked, 16, async ({ url, method, security }) => {
      const response = await fetch(service.url + url, { method: method.toUpperCase() });
      const { status } = response;
      const text = await response.text();
      // A shared link is itself a credential.
      if (url.startsWith('/shl/') && status === 404) {
        expect(text).to.include('the link is unknown');
        return;
      }
      // Endpoints that authenticate clients themselves refuse a request without client credentials.
      const authenticates = /^\/oauth\/(?:token|revoke|introspect|bc-authorize)$/.test(url);
      const expected = security.length > 0 || authenticates ? [401] : [200, 400, 422];
      expect(expected, `${method} ${url}: ${status}`).to.include(status);
    });
  });

  it('describes all that the service answers: every other method is refused, with those that there are', async () => {
    for (const [path, operations] of Object.entries(document.paths)) {
      const [url = ''] = urlsOf(path, operations);
      const known = Object.keys(operations).map((method) => method.toUpperCase());
      for (const method of METHODS.filter((each) => !known.includes(each))) {
        const response = await fetch(service.url + url, { method });
        await response.arrayBuffer();
        expect(response.status, `${method} ${url}`).to.equal(405);
        const allowed = (response.headers.get('allow') ?? '').split(/, */);
        expect(allowed.filter((each) => each !== 'HEAD' && each !== 'OPTIONS').sort(), url).to.deep.equal(
          known.sort(),
        );
      }
    }
  });

  it('comes again only when it changed', async () => {
    const first = await fetch(`${service.url}/openapi.json`);
    const etag = first.headers.get('etag') ?? '';
    const again = await fetch(`${service.url}/openapi.json`, { headers: { 'If-None-Match': etag } });
    expect([again.status, await again.text()]).to.deep.equal([304, '']);
  });
});

function methodsAt(path: string): object {
  try {
    return matchRoute(path.split('/').slice(1)).methods;
  } catch {
    return {};
  }
}

describe('answers held to the OpenAPI document', () => {
  const url = 'http://localhost/admin/config';
  const error = { type: 'unauthenticated', message: 'x', request_id: 'req_1', doc_url: 'http://x' };
  const answered = (status: number, body: unknown, type = 'application/json; charset=utf-8') =>
    faultOf({ method: 'GET', url, status, type, text: JSON.stringify(body) });

  it('may be what is described', () => {
    expect(answered(401, { error })).to.equal(undefined);
  });

  it('may have no other status, media type, member, missing member or type of member', () => {
    expect(answered(418, { error })).to.equal('there is no such status');
    expect(answered(201, {})).to.equal('there is no such status');
    expect(answered(401, { error }, 'text/html')).to.equal('there is no text/html');
    expect(answered(401, { error: { ...error, extra: 1 } })).to.contain(
      'must NOT have additional properties',
    );
    expect(answered(401, { error: { type: 'unauthenticated' } })).to.contain('message');
    expect(answered(401, { error: { ...error, type: 'unheard_of' } })).to.contain('allowed values');
    expect(answered(200, { version: 3 })).to.contain('version must be string');
  });

  it('may come from no path or method that is not described', () => {
    const elsewhere = (method: string, path: string, status: number) =>
      faultOf({ method, url: `http://localhost${path}`, status, type: null });
    expect(elsewhere('GET', '/admin/secret', 200)).to.contain('no such path');
    expect(elsewhere('DELETE', '/admin/config', 204)).to.contain('no such path');
    expect(elsewhere('DELETE', '/admin/config', 405)).to.equal(undefined);
    expect(elsewhere('PUT', '/fhir/R4/CodeSystem/x', 200)).to.contain('no such path');
    expect(elsewhere('PUT', '/fhir/R4/Patient/x', 200)).to.equal(undefined);
    expect(elsewhere('PUT', '/fhir/R4/Patient/x', 202)).to.equal('there is no such status');
  });

  it('fail the test that fetches them', async () => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'Service-Request-Id': 'req_1', 'Content-Type': 'application/json' });
      response.end('{}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    try {
      const failed = await fetch(`http://127.0.0.1:${port}/admin/config`).catch((reason: unknown) => reason);
      expect(failed).to.be.instanceOf(NotDescribed);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  });
});
