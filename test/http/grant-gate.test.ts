/**
 * The gate: a grant's access token gives access to operations that declare it, and to nothing else (docs/spec/decisions.md,
 * section 9).
 */
import { expect } from 'chai';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { openApiDocument } from '#src/http/openapi/document.ts';
import { ALL_ROUTES } from '#src/http/routes.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { inParallel } from '#test/support/audit.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { everyNth, scaled } from '#test/support/scale.ts';

const FORM = 'application/x-www-form-urlencoded';

interface Operation {
  readonly security?: readonly object[];
  readonly parameters?: readonly { name?: string; schema?: { enum?: string[] } }[];
}
type Paths = Readonly<Record<string, Readonly<Record<string, Operation>>>>;

describe('the gate of grants', () => {
  let service: InProcess;
  let granting: Granting;
  let owner: AdminUser;
  let application: Application;
  let record: string;
  let allowed: Allowed;

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id: project } = await owner.done('POST', `/organizations/${organization}/projects`, {
      name: 'App',
    });
    application = await granting.register(owner, project);
    record = await newPatient();
    allowed = await granting.allow(application, record);
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  async function newPatient(rest: object = {}): Promise<string> {
    const made = await service.post('/Patient', {
      resourceType: 'Patient',
      name: [{ family: 'Sand', given: ['Mira'] }],
      birthDate: '1957-03-14',
      ...rest,
    });
    return String(made.json.id);
  }
  const read = (id: string, token = allowed.token, headers: Record<string, string> = {}) =>
    service.fhir(`/Patient/${id}`, { key: token, headers });
  const count = async (sql: string): Promise<number> =>
    Number((await service.pool.query<{ n: string }>(`select count(*) as n from ${sql}`)).rows[0]?.n);
  const written = async () => ({
    events: await count('log.events'),
    keys: await count('operations.idempotency'),
    deliveries: await count('operations.webhook_delivery'),
  });

  /** Returns every URL in the OpenAPI document, with values for its parameters. */
  function everyRequest(): { method: string; url: string; open: boolean; taken: boolean }[] {
    const { paths } = JSON.parse(JSON.stringify(openApiDocument(ALL_ROUTES, service.url))) as {
      paths: Paths;
    };
    return Object.entries(paths).flatMap(([path, operations]) => {
      const [first] = Object.values(operations);
      const listed = first?.parameters?.find(({ name }) => name === 'resource_type')?.schema?.enum;
      const types = path.includes('{resource_type}') ? (listed ?? TYPE_NAMES) : [''];
      return types.flatMap((type) =>
        Object.entries(operations).map(([method, { security = [] }]) => ({
          method: method.toUpperCase(),
          url: path
            .replace('{resource_type}', type)
            .replace('{vid}', '1')
            .replace('{name}', 'start.js')
            .replace(/\{\w+\}/g, allowed.patient),
          open: security.length === 0,
          taken: security.some((scheme) => 'patientGrant' in scheme),
        })),
      );
    });
  }

  it('takes the token where the description says so, refuses everything else with 403, and writes nothing', async () => {
    const requests = everyRequest();
    const isWrite = ({ method, url }: { method: string; url: string }) =>
      (url.startsWith('/fhir/R4/') ||
        (url.startsWith('/v1/') && url !== '/v1/context' && !/\/(?:compare$|proposals)/.test(url))) &&
      method !== 'GET' &&
      !url.endsWith('/_search') &&
      !url.includes('$');
    expect(requests.length).to.be.greaterThan(450);
    const before = await written();
    const opened: string[] = [];
    const send = ({ method, url, taken }: { method: string; url: string; taken: boolean }, token: string) => {
      const isForm = url.endsWith('/_search');
      return fetch(service.url + url, {
        method,
        redirect: 'manual',
        headers: {
          Authorization: `Bearer ${token}`,
          ...(method === 'GET' ? {} : { 'Content-Type': isForm ? FORM : 'application/json' }),
          ...(method === 'POST' && !taken ? { 'Idempotency-Key': `gate ${url}`.replace(/\W/g, '-') } : {}),
        },
        // Nothing reads this body, because the request is refused first.
        ...(method === 'GET' ? {} : { body: isForm ? '_count=1' : '{"resourceType":' }),
      });
    };
    await inParallel(
      everyNth(
        requests.filter(({ open }) => !open),
        3,
      ),
      // An application's searches wait in a queue.
      4,
      async (request) => {
        const response = await send(request, allowed.token);
        const text = await response.text();
        const what = `${request.method} ${request.url}: ${text}`;
        if (response.status === 200) opened.push(request.url);
        else if (isWrite(request)) expect(response.status, what).to.equal(403);
        // A Bundle is read before its entries are checked, and an MCP message is read before its tool is checked.
        else if (['/fhir/R4', '/mcp'].includes(request.url) && request.method === 'POST')
          expect(response.status, what).to.equal(400);
        // Inputs are checked first: a query without `q`, the parameters of operations, and bodies. The token lacks the scope
        // `openid`.
        else if (request.url === '/oauth/userinfo') expect(text, what).to.contain('insufficient_scope');
        else if (request.taken)
          expect(response.status, what).to.be.oneOf(
            request.url.startsWith('/v1/') ? [400, 404, 422] : request.url.includes('$') ? [400, 404] : [404],
          );
        else expect(response.status, what).to.equal(403);
        expect(request.taken || response.status !== 200, what).to.equal(true);
        expect(text).not.to.contain(record);
      },
    );
    expect(opened.length).to.be.greaterThan(scaled(110, 30));
    expect(await written()).to.deep.equal(before);
  });

  it('is described: operations name the scheme of grants', () => {
    const { paths } = JSON.parse(JSON.stringify(openApiDocument(ALL_ROUTES, service.url))) as {
      paths: Paths;
    };
    const taking = Object.entries(paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { security = [] }]) =>
        security.some((scheme) => 'patientGrant' in scheme) ? [`${method} ${path}`] : [],
      ),
    );
    expect(taking).to.have.members([
      'get /v1/patients',
      'get /v1/patients/{patient_id}',
      'post /v1/patients/{patient_id}/proposals',
      'get /v1/patients/{patient_id}/proposals',
      'get /v1/patients/{patient_id}/proposals/{proposal_id}',
      'post /v1/patients/{patient_id}/proposals/{proposal_id}/withdraw',
      'get /v1/patients/{patient_id}/observations',
      'get /v1/observations/{item_id}',
      'get /v1/patients/{patient_id}/conditions',
      'get /v1/conditions/{item_id}',
      'get /v1/patients/{patient_id}/medications',
      'get /v1/medications/{item_id}',
      'get /v1/patients/{patient_id}/prescriptions',
      'get /v1/patients/{patient_id}/prescriptions/{prescription_id}',
      'get /v1/patients/{patient_id}/documents',
      'get /v1/documents/{doc_id}',
      'get /v1/documents/{doc_id}/content',
      'get /v1/patients/{patient_id}/timeline',
      'get /v1/patients/{patient_id}/series',
      'get /v1/series',
      'get /v1/patients/{patient_id}/patterns',
      'get /v1/patients/{patient_id}/patterns/{finding_id}',
      'get /v1/patients/{patient_id}/patterns/{finding_id}/evidence',
      'get /v1/patterns/{finding_id}',
      'get /v1/patterns/{finding_id}/evidence',
      'post /v1/patients/{patient_id}/patterns/compare',
      'get /v1/patients/{patient_id}/provenance/{resource_type}/{resource_id}',
      'get /v1/patients/{patient_id}/grants',
      'get /v1/terminology/{system}',
      'get /v1/terminology/{system}/{code}',
      'get /v1/terminology/symptoms',
      'get /v1/terminology/symptoms/{concept_id}',
      'get /v1/terminology/conditions',
      'get /v1/terminology/conditions/{concept_id}',
      'get /v1/terminology/treatments',
      'get /v1/terminology/treatments/{concept_id}',
      'get /v1/terminology/search',
      'get /v1/terminology/search/{concept_id}',
      'get /v1/search',
      'get /v1/search/{concept_id}',
      'post /v1/context',
      'put /v1/patients/{patient_id}',
      'post /v1/patients/{patient_id}/observations',
      'delete /v1/observations/{item_id}',
      'post /v1/patients/{patient_id}/conditions',
      'delete /v1/conditions/{item_id}',
      'post /v1/patients/{patient_id}/medications',
      'delete /v1/medications/{item_id}',
      'post /v1/patients/{patient_id}/documents',
      'put /v1/documents/{doc_id}/content',
      'post /v1/documents/{doc_id}/finalize',
      'post /v1/patients/{patient_id}/labs/import',
      'get /fhir/R4',
      'post /fhir/R4',
      'post /fhir/R4/{resource_type}',
      'put /fhir/R4/{resource_type}',
      'patch /fhir/R4/{resource_type}',
      'delete /fhir/R4/{resource_type}',
      'put /fhir/R4/{resource_type}/{rid}',
      'patch /fhir/R4/{resource_type}/{rid}',
      'delete /fhir/R4/{resource_type}/{rid}',
      'get /fhir/R4/_history',
      'post /fhir/R4/_search',
      'get /fhir/R4/{resource_type}',
      'get /fhir/R4/CodeSystem',
      'get /fhir/R4/ValueSet',
      'get /fhir/R4/ConceptMap',
      'post /fhir/R4/{resource_type}/_search',
      'get /fhir/R4/{resource_type}/_history',
      'get /fhir/R4/{resource_type}/{rid}',
      'get /fhir/R4/CodeSystem/{rid}',
      'get /fhir/R4/ValueSet/{rid}',
      'get /fhir/R4/ConceptMap/{rid}',
      'get /fhir/R4/{resource_type}/{rid}/_history',
      'get /fhir/R4/{resource_type}/{rid}/_history/{vid}',
      'get /fhir/R4/Patient/{rid}/*',
      'post /fhir/R4/Patient/{rid}/*/_search',
      'get /fhir/R4/Encounter/{rid}/*',
      'post /fhir/R4/Encounter/{rid}/*/_search',
      'get /fhir/R4/RelatedPerson/{rid}/*',
      'post /fhir/R4/RelatedPerson/{rid}/*/_search',
      'get /fhir/R4/Practitioner/{rid}/*',
      'post /fhir/R4/Practitioner/{rid}/*/_search',
      'get /fhir/R4/Device/{rid}/*',
      'post /fhir/R4/Device/{rid}/*/_search',
      'post /fhir/R4/Patient/{rid}/_search',
      'get /fhir/R4/Patient/{rid}/{resource_type}',
      'post /fhir/R4/Patient/{rid}/{resource_type}/_search',
      'post /fhir/R4/Encounter/{rid}/_search',
      'get /fhir/R4/Encounter/{rid}/{resource_type}',
      'post /fhir/R4/Encounter/{rid}/{resource_type}/_search',
      'post /fhir/R4/RelatedPerson/{rid}/_search',
      'get /fhir/R4/RelatedPerson/{rid}/{resource_type}',
      'post /fhir/R4/RelatedPerson/{rid}/{resource_type}/_search',
      'post /fhir/R4/Practitioner/{rid}/_search',
      'get /fhir/R4/Practitioner/{rid}/{resource_type}',
      'post /fhir/R4/Practitioner/{rid}/{resource_type}/_search',
      'post /fhir/R4/Device/{rid}/_search',
      'get /fhir/R4/Device/{rid}/{resource_type}',
      'post /fhir/R4/Device/{rid}/{resource_type}/_search',
      'get /fhir/R4/Patient/{rid}/$everything',
      'post /fhir/R4/Patient/{rid}/$everything',
      'get /fhir/R4/Patient/$summary',
      'post /fhir/R4/Patient/$summary',
      'get /fhir/R4/Patient/{rid}/$summary',
      'post /fhir/R4/Patient/{rid}/$summary',
      'get /fhir/R4/{resource_type}/$validate',
      'post /fhir/R4/{resource_type}/$validate',
      'get /fhir/R4/{resource_type}/{rid}/$validate',
      'post /fhir/R4/{resource_type}/{rid}/$validate',
      'get /fhir/R4/CodeSystem/$lookup',
      'post /fhir/R4/CodeSystem/$lookup',
      'get /fhir/R4/CodeSystem/$subsumes',
      'post /fhir/R4/CodeSystem/$subsumes',
      'get /fhir/R4/CodeSystem/{rid}/$subsumes',
      'post /fhir/R4/CodeSystem/{rid}/$subsumes',
      'get /fhir/R4/CodeSystem/$validate-code',
      'post /fhir/R4/CodeSystem/$validate-code',
      'get /fhir/R4/CodeSystem/{rid}/$validate-code',
      'post /fhir/R4/CodeSystem/{rid}/$validate-code',
      'get /fhir/R4/ValueSet/$expand',
      'post /fhir/R4/ValueSet/$expand',
      'get /fhir/R4/ValueSet/{rid}/$expand',
      'post /fhir/R4/ValueSet/{rid}/$expand',
      'get /fhir/R4/ValueSet/$validate-code',
      'post /fhir/R4/ValueSet/$validate-code',
      'get /fhir/R4/ValueSet/{rid}/$validate-code',
      'post /fhir/R4/ValueSet/{rid}/$validate-code',
      'get /fhir/R4/ConceptMap/$translate',
      'post /fhir/R4/ConceptMap/$translate',
      'get /fhir/R4/ConceptMap/{rid}/$translate',
      'post /fhir/R4/ConceptMap/{rid}/$translate',
      'post /mcp',
      'get /oauth/userinfo',
      'post /oauth/userinfo',
    ]);
  });

  it('leaves what is open to everybody as it is', async () => {
    const compared: string[] = [];
    const known = ['/fhir/R4/metadata', '/health/ready'];
    const others = everyRequest().filter(
      ({ method, open, url }) => open && method === 'GET' && !known.includes(url),
    );
    for (const url of [...known, ...everyNth(others, 4).map((each) => each.url)]) {
      const [plain, credited] = await Promise.all([
        fetch(service.url + url, { redirect: 'manual' }),
        fetch(service.url + url, {
          redirect: 'manual',
          headers: { Authorization: `Bearer ${allowed.token}` },
        }),
      ]);
      expect(credited.status, url).to.equal(plain.status);
      compared.push(url);
    }
    expect(compared).to.include('/fhir/R4/metadata').and.to.include('/health/ready');
  });

  it('refuses an upload that comes with such a token, though its URL is signed', async () => {
    const made = await fetch(`${service.url}/v1/patients/${record}/documents`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ title: 'Letter', content_type: 'text/plain' }),
    });
    const { upload } = (await made.json()) as { upload: { url: string } };
    const put = async (headers: Record<string, string>) =>
      (
        await fetch(upload.url, {
          method: 'PUT',
          headers: { 'Content-Type': 'text/plain', ...headers },
          body: 'Dear all',
        })
      ).status;
    const before = await written();
    expect(await put({ Authorization: `Bearer ${allowed.token}` })).to.equal(403);
    expect(await written()).to.deep.equal(before);
    expect(await put({ Authorization: 'Bearer of nothing' })).to.be.lessThan(300);
  });

  it('refuses paths with the real id and other records alike, in Bundles too', async () => {
    const other = await newPatient();
    const answers = async (id: string) => {
      const paths = [`/Patient?_id=${id}`, `/Observation?patient=${id}`, `/Patient/${id}/Observation`];
      const all = await Promise.all(paths.map((path) => service.fhir(path, { key: allowed.token })));
      return all.map(({ status, text }) => [status, text.replaceAll(id, 'ID')]);
    };
    const unknown = await answers('01890000-0000-7000-8000-000000000000');
    expect(unknown.map(([status]) => status)).to.deep.equal([200, 200, 404]);
    for (const id of [record, other]) expect(await answers(id)).to.deep.equal(unknown);
    expect(await answers(allowed.patient)).not.to.deep.equal(unknown);
    const before = await written();
    const bundled = async (type: string, id: string) => {
      const entry = [{ request: { method: 'GET', url: `Patient/${id}` } }];
      const body = JSON.stringify({ resourceType: 'Bundle', type, entry });
      const answer = await service.fhir('/', { key: allowed.token, method: 'POST', body });
      return [answer.status, answer.text.replaceAll(id, 'ID'), answer.text.includes('Sand')];
    };
    for (const type of ['batch', 'transaction']) {
      expect((await bundled(type, allowed.patient))[2]).to.equal(true);
      const absent = await bundled(type, '01890000-0000-7000-8000-000000000000');
      expect(absent[2]).to.equal(false);
      for (const id of [record, other]) expect(await bundled(type, id)).to.deep.equal(absent);
    }
    expect(await written()).to.deep.equal(before);
  });

  it('opens production to applications of production, and to no others', async () => {
    const production = { ...application, environment: 'production' as const };
    const { key } = await owner.done('POST', `/projects/${application.project}/keys`, {
      name: 'live',
      environment: 'production',
    });
    const body = JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Live' }] });
    const made = await service.fhir('/Patient', { method: 'POST', body, key });
    const one = await granting.allow(production, String(made.json.id));
    expect((await read(one.patient, one.token)).text).to.contain('Live');
    expect((await read(one.record, one.token)).status).to.equal(404);
    const sandbox = await granting.allow(production, record);
    expect((await read(sandbox.patient, sandbox.token)).status).to.equal(404);
    const live = await granting.allow(application, String(made.json.id));
    expect((await read(live.patient, live.token)).status).to.equal(404);
  });

  it('knows a token that is unknown, ended or sent elsewhere: 401 with invalid_token', async () => {
    const at = `at_${'x'.repeat(43)}`;
    for (const path of ['/fhir/R4/Patient/x', '/fhir/R4/Observation', '/v1/patients', '/v1/webhooks']) {
      const answer = await fetch(service.url + path, { headers: { Authorization: `Bearer ${at}` } });
      expect(answer.status, path).to.equal(401);
      expect(answer.headers.get('www-authenticate'), path).to.contain('error="invalid_token"');
    }
    const header = await fetch(`${service.base}/Patient/${allowed.patient}`, {
      headers: { 'X-Api-Key': allowed.token },
    });
    expect(header.status).to.equal(401);
    for (const query of [`access_token=${allowed.token}`, `_id=${allowed.token}`]) {
      const url = `${service.base}/Patient/${allowed.patient}?${query}`;
      expect((await fetch(url)).status).to.equal(400);
    }
    const cookie = await fetch(`${service.base}/Patient/${allowed.patient}`, {
      headers: { Cookie: `access_token=${allowed.token}; session=${allowed.token}` },
    });
    expect(cookie.status).to.equal(401);
  });

  it('takes a token below its resources only (RFC 8707)', async () => {
    const fhir = await granting.tokenOf(allowed, ['patient/*.rs'], [`${service.url}/fhir/R4`]);
    const rest = await granting.tokenOf(allowed, ['patient/*.rs'], [`${service.url}/v1`]);
    const both = await granting.tokenOf(allowed, ['patient/*.rs'], [`${service.url}/v1`, service.url]);
    expect((await read(allowed.patient, fhir)).status).to.equal(200);
    expect((await read(allowed.patient, both)).status).to.equal(200);
    const refused = await read(allowed.patient, rest);
    expect([refused.status, refused.headers.get('www-authenticate')]).to.deep.equal([
      401,
      (await read(allowed.patient, `at_${'x'.repeat(43)}`)).headers.get('www-authenticate'),
    ]);
    const near = await granting.tokenOf(allowed, ['patient/*.rs'], [`${service.url}/fhir/R`]);
    expect((await read(allowed.patient, near)).status).to.equal(401);
  });
});
