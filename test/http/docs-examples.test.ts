/**
 * The requests that `/docs` prefills: every request of the FHIR and the admin interface succeeds without changes, once its ids
 * are filled in.
 */
import { expect } from 'chai';
import { TAGS } from '#src/http/api/tags.ts';
import { ID_OF_URL } from '#src/http/openapi/fhir-examples.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { itAtFullSize } from '#test/support/scale.ts';

interface Schema {
  readonly $ref?: string;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, { readonly example?: string }>>;
}
interface Parameter {
  readonly $ref?: string;
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly example?: unknown;
  readonly schema: Schema;
}
interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema; readonly example?: unknown }>>;
  };
}
interface Document {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

/** A request with everything that the page prefills, and with ids filled in. */
interface Prefilled {
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

const FORM = 'application/x-www-form-urlencoded';

describe('the documentation’s examples', () => {
  let service: InProcess;
  let described: Document;
  let owner: AdminUser;

  before(async () => {
    // If production were open to all, there would be nothing to request.
    service = await startInProcess({}, { PRODUCTION_ACCESS: 'request' });
    described = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
    owner = await signIn(service, 'owner@clinic.example');
  });
  after(() => service.stop());

  function prefilled(
    template: string,
    operation: Operation,
    ids: Readonly<Record<string, string>>,
  ): Prefilled[] {
    const parameters = (operation.parameters ?? []).map((given) =>
      given.$ref === undefined
        ? given
        : (described.components.parameters[given.$ref.split('/').at(-1) ?? ''] ?? given),
    );
    const sentFor = ({ example, schema }: Parameter): unknown => example ?? schema.default;
    const query = new URLSearchParams();
    const headers: Record<string, string> = {};
    let path = template;
    for (const parameter of parameters) {
      const { name } = parameter;
      const value = sentFor(parameter);
      if (parameter.in === 'path') path = path.replace(`{${name}}`, ids[name] ?? String(value));
      else if (typeof value === 'object')
        for (const [key, each] of Object.entries(value ?? {})) query.set(key, each);
      else if (value !== undefined && parameter.in === 'query') query.set(name, String(value));
      else if (value !== undefined) headers[name] = String(value);
    }
    const target = query.size === 0 ? path : `${path}?${query}`;
    const contents = Object.entries(operation.requestBody?.content ?? {});
    if (contents.length === 0) return [{ path: target, headers, body: undefined }];
    return contents.map(([type, { example, schema }]) => {
      const fields = Object.entries(schema.properties ?? {}).map(([name, field]) => [
        name,
        field.example ?? '',
      ]);
      const json = JSON.stringify(example)?.replace(ID_OF_URL, ids.rid ?? '');
      const body = type === FORM ? new URLSearchParams(Object.fromEntries(fields)).toString() : json;
      return { path: target, headers: { ...headers, 'Content-Type': type }, body };
    });
  }

  const operations = (from: string) =>
    Object.entries(described.paths)
      .filter(([path]) => path.startsWith(from))
      .flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, operation]) => ({
          path,
          method: method.toUpperCase(),
          operation,
        })),
      );

  itAtFullSize('of the FHIR interface work', async () => {
    const ask = (path: string, method: string, { headers, body }: Omit<Prefilled, 'path'>) =>
      service.fhir(service.url + path, { method, headers, ...(body === undefined ? {} : { body }) });
    /** Returns the id of the terminology resource that the examples refer to. */
    const idOf = async (type: string, operationId: string): Promise<string> => {
      const system = operationId.includes('Subsumes') ? 'http://www.whocc.no/atc' : 'http://loinc.org';
      const url = { CodeSystem: system, ValueSet: 'http://hl7.org/fhir/ValueSet/administrative-gender' }[
        type
      ];
      const { json } = await service.fhir(`/${type}?_count=200${url === undefined ? '' : `&url=${url}`}`);
      const found = (json.entry ?? []) as unknown as { resource: { id: string; url: string } }[];
      return (
        found.find(({ resource }) => url !== undefined || resource.url.includes('gender'))?.resource.id ?? ''
      );
    };
    const [created, updated] = operations('/fhir/R4/{resource_type}').filter(({ operation }) =>
      ['fhirCreate', 'fhirUpdateConditional'].includes(operation.operationId),
    );
    const run = async (one: typeof created, ids = {}) => {
      const [request] = prefilled(one?.path ?? '', one?.operation ?? { operationId: '', tags: [] }, ids);
      return ask(request?.path ?? '', one?.method ?? '', request ?? { headers: {}, body: undefined });
    };
    const failures: string[] = [];
    for (const { path, method, operation } of operations('/fhir/R4')) {
      // A URL can't contain the resource to validate.
      if (method === 'GET' && path === '/fhir/R4/{resource_type}/$validate') continue;
      // Conditional requests match one Patient; each request with an id gets its own resource.
      await run(updated);
      const fixed = /^\/fhir\/R4\/([A-Z]\w+)\//.exec(path)?.[1] ?? 'Patient';
      const patient = String((await run(created)).json.id);
      const others: Record<string, object> = {
        Encounter: {
          status: 'finished',
          class: { code: 'AMB' },
          subject: { reference: `Patient/${patient}` },
        },
        Device: { patient: { reference: `Patient/${patient}` } },
        RelatedPerson: { patient: { reference: `Patient/${patient}` } },
        Practitioner: {},
      };
      const other = others[fixed];
      const rid =
        fixed === 'Patient'
          ? patient
          : other === undefined
            ? await idOf(fixed, operation.operationId)
            : String((await service.post(`/${fixed}`, { resourceType: fixed, ...other })).json.id);
      for (const request of prefilled(path, operation, { rid, vid: '1' })) {
        const answer = await ask(request.path, method, request);
        if (answer.status >= 300) failures.push(`${method} ${request.path} ${request.body ?? ''}: ${answer}`);
      }
    }
    expect(failures).to.deep.equal([]);
  });

  it('of the admin interface work', async () => {
    const failures: string[] = [];
    const id = async (path: string, body: object): Promise<string> =>
      (await owner.done('POST', path, body)).id;
    const found = async (): Promise<Record<string, string>> => {
      const organization = await id('/organizations', { name: 'Examples' });
      const project = await id(`/organizations/${organization}/projects`, { name: 'Examples' });
      await owner.done('POST', `/organizations/${organization}/verify`);
      const application = {
        name: 'a',
        kind: 'confidential',
        redirect_uris: ['http://localhost/'],
        scopes: ['openid'],
      };
      const hook = { url: 'https://hooks.example.org/', events: ['ping'], environment: 'sandbox' };
      return {
        org_id: organization,
        project_id: project,
        key_id: await id(`/projects/${project}/keys`, { name: 'k', environment: 'sandbox' }),
        application_id: await id(`/projects/${project}/applications`, application),
        endpoint_id: await id(`/projects/${project}/webhooks`, hook),
      };
    };
    const shared = await found();
    const operator = await signIn(service, 'developer@example.org');
    for (const { path, method, operation } of operations('/admin')) {
      const ends = method === 'DELETE' || operation.operationId === 'putSso';
      const ids = ends ? await found() : shared;
      // These requests need something that only the reader knows, or are for the operator.
      if (
        /\{(?:delivery_id|patient_id|service_request_id|parked_id|job_id|request_id|event_id|invitation_id|checkpoint_id|takeback_id|receipt_id)\}/.test(
          path,
        ) ||
        [
          ...['removeMember', 'discoverSso', 'trustApplication', 'exportSigned', 'startVerification'],
          'withdrawProduction',
        ].includes(operation.operationId)
      )
        continue;
      for (const request of prefilled(path, operation, ids)) {
        const body = request.body === undefined ? undefined : (JSON.parse(request.body) as unknown);
        const person = path.startsWith('/admin/operations') ? operator : owner;
        const answer = await person.ask(method, request.path.replace(/^\/admin/, ''), body);
        if (answer.status >= 300) failures.push(`${method} ${request.path} ${request.body ?? ''}: ${answer}`);
      }
    }
    expect(failures).to.deep.equal([]);
  });

  it('stand in one group for each subject: patients and FHIR first, single sign-on last', () => {
    expect(described.tags.map(({ name }) => name)).to.deep.equal([...TAGS]);
    expect(TAGS.slice(0, 2)).to.deep.equal(['Patients', 'FHIR: resources']);
    expect(TAGS.at(-1)).to.equal('Single sign-on');
    const used = operations('/').flatMap(({ operation }) => operation.tags);
    expect(new Set(used)).to.deep.equal(new Set(TAGS));
    expect(new Set(TAGS.map((name) => name.toLowerCase())).size).to.equal(TAGS.length);
  });
});
