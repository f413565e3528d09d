import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type InProcess, type KeyedCall, startInProcess } from '#test/support/in-process.ts';

/** What a bad request is answered with. */
interface Expected {
  readonly status: number;
  /** Of the first issue. */
  readonly code: string;
  /** Of the first issue. */
  readonly expression?: string;
  /** In some issue's diagnostics. */
  readonly says?: RegExp;
  readonly headers?: Readonly<Record<string, RegExp>>;
}

interface Outcome {
  readonly resourceType: string;
  readonly issue: readonly {
    readonly severity: string;
    readonly code: string;
    readonly diagnostics: string;
    readonly expression?: readonly string[];
  }[];
}

/**
 * Bad input, each with its documented status and body (decisions.md, section 2). The service runs in this process: the
 * table is long, and nothing in it depends on a process of its own.
 */
describe('bad input', () => {
  let service: InProcess;
  let mine: string;
  let other: string;
  before(async () => {
    service = await startInProcess({ bodyBytes: 20_000, bundleBytes: 60_000, bundleEntries: 20 });
    mine = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
    other = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
  });
  after(() => service.stop());

  const observation = (more: object = {}, patient = mine) => ({
    resourceType: 'Observation',
    status: 'final',
    code: { text: 'x' },
    subject: { reference: `Patient/${patient}` },
    ...more,
  });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): [string, KeyedCall] => [
    path,
    { method: 'POST', headers, body: typeof body === 'string' ? body : JSON.stringify(body) },
  ];
  const transaction = (...entry: unknown[]) => ({ resourceType: 'Bundle', type: 'transaction', entry });
  const creates = (resource: object, fullUrl?: string) => ({
    ...(fullUrl === undefined ? {} : { fullUrl }),
    resource,
    request: { method: 'POST', url: (resource as { resourceType: string }).resourceType },
  });

  /** Sends the request, holds the answer against what is documented, and checks that nothing was written. */
  const refuses = (title: string, request: () => [string, KeyedCall?], expected: Expected) => {
    it(`${title}: ${expected.status} ${expected.code}`, async () => {
      const [path, call] = request();
      const versions = async () => (await service.fhir('/_history?_count=0')).json.total;
      const before = await versions();
      const answer = await service.fhir(path, call);
      expect(answer.status, answer.text).to.equal(expected.status);
      expect(answer.headers.get('content-type')).to.equal('application/fhir+json; charset=utf-8');
      expect(answer.headers.get('service-request-id')).to.match(/^req_[\w-]{22}$/);
      const outcome = JSON.parse(answer.text) as Outcome;
      expect(outcome.resourceType).to.equal('OperationOutcome');
      const [first] = outcome.issue;
      expect([first?.severity, first?.code], answer.text).to.deep.equal(['error', expected.code]);
      if (expected.expression !== undefined) expect(first?.expression).to.deep.equal([expected.expression]);
      if (expected.says !== undefined) {
        expect(outcome.issue.map(({ diagnostics }) => diagnostics).join('\n')).to.match(expected.says);
      }
      for (const [name, value] of Object.entries(expected.headers ?? {})) {
        expect(answer.headers.get(name)).to.match(value);
      }
      expect(await versions()).to.equal(before);
    });
  };

  describe('JSON', () => {
    const malformed = { status: 400, code: 'structure' };
    refuses('malformed JSON', () => post('/Patient', '{"resourceType":"Patient",'), {
      ...malformed,
      says: /JSON/,
    });
    refuses('an array', () => post('/Patient', '[]'), { ...malformed, says: /object/ });
    refuses('a string', () => post('/Patient', '"Patient"'), { ...malformed, says: /object/ });
    refuses('null', () => post('/Patient', 'null'), { ...malformed, says: /object/ });
    refuses('a Bundle that is an array', () => post('/', '[]'), { ...malformed, says: /object/ });
    refuses(
      'a duplicate key',
      () => post('/Patient', '{"resourceType":"Patient","gender":"male","gender":"female"}'),
      {
        ...malformed,
        says: /"gender"/,
      },
    );
    refuses(
      'nesting over 100',
      () => post('/Patient', `{"resourceType":"Patient","x":${'['.repeat(120)}${']'.repeat(120)}}`),
      { ...malformed, says: /100/ },
    );
    refuses(
      'a NUL character',
      () => post('/Patient', '{"resourceType":"Patient","name":[{"family":"a\\u0000b"}]}'),
      {
        status: 422,
        code: 'value',
        expression: 'Patient.name[0].family',
      },
    );
    refuses(
      'a raw control character',
      () => post('/Patient', '{"resourceType":"Patient","name":[{"family":"a\u0001b"}]}'),
      {
        ...malformed,
      },
    );
    refuses(
      'no body',
      () => ['/Patient', { method: 'POST', headers: { 'Content-Type': 'application/fhir+json' } }],
      {
        status: 400,
        code: 'required',
      },
    );
  });

  describe('types', () => {
    refuses('an unknown type in the URL', () => ['/Spaceship'], {
      status: 404,
      code: 'not-supported',
      says: /Spaceship/,
    });
    refuses('an unknown type to create', () => post('/Spaceship', { resourceType: 'Spaceship' }), {
      status: 404,
      code: 'not-supported',
    });
    refuses('an R4 type that is not supported', () => ['/ServiceRequest/1'], {
      status: 404,
      code: 'not-supported',
    });
    refuses('another type than the URL says', () => post('/Patient', observation()), {
      status: 400,
      code: 'value',
      says: /Observation.*Patient/,
    });
    refuses('a body without a type', () => post('/Patient', {}), { status: 400, code: 'required' });
    refuses('a write to terminology', () => post('/CodeSystem', { resourceType: 'CodeSystem' }), {
      status: 405,
      code: 'not-supported',
      headers: { allow: /GET, HEAD/ },
    });
    refuses(
      'an update with another id',
      () => [
        `/Patient/${mine}`,
        { method: 'PUT', body: JSON.stringify({ resourceType: 'Patient', id: other }) },
      ],
      { status: 400, code: 'value' },
    );
    refuses(
      'an update without an id',
      () => [`/Patient/${mine}`, { method: 'PUT', body: JSON.stringify({ resourceType: 'Patient' }) }],
      { status: 400, code: 'value', says: /id/ },
    );
    refuses(
      'an update of what never was',
      () => [
        '/Patient/01890000-0000-7000-8000-000000000000',
        { method: 'PUT', body: '{"resourceType":"Patient","id":"01890000-0000-7000-8000-000000000000"}' },
      ],
      { status: 405, code: 'not-supported', headers: { allow: /GET/ } },
    );
  });

  describe('content', () => {
    refuses('an unknown element', () => post('/Patient', { resourceType: 'Patient', colour: 'red' }), {
      status: 422,
      code: 'structure',
      expression: 'Patient.colour',
    });
    refuses('a bad date', () => post('/Patient', { resourceType: 'Patient', birthDate: '2023-02-30' }), {
      status: 422,
      code: 'value',
      expression: 'Patient.birthDate',
    });
    refuses('a missing required element', () => post('/Observation', observation({ status: undefined })), {
      status: 422,
      code: 'required',
      expression: 'Observation.status',
    });
    refuses(
      'an unknown code in a required binding',
      () => post('/Patient', { resourceType: 'Patient', gender: 'man' }),
      {
        status: 422,
        code: 'code-invalid',
        expression: 'Patient.gender',
      },
    );
    refuses(
      'a type of a record without its patient',
      () => post('/Observation', observation({ subject: undefined })),
      {
        status: 422,
        code: 'required',
        expression: 'Observation.subject',
      },
    );
    refuses(
      'a dangling reference',
      () =>
        post(
          '/Observation',
          observation({ encounter: { reference: 'Encounter/01890000-0000-7000-8000-000000000000' } }),
        ),
      {
        status: 422,
        code: 'value',
        expression: 'Observation.encounter.reference',
      },
    );
    refuses(
      'a patient that never was',
      () => post('/Observation', observation({}, '01890000-0000-7000-8000-000000000000')),
      {
        status: 422,
        code: 'value',
      },
    );
    it('names every fault', async () => {
      const [path, call] = post('/Patient', {
        resourceType: 'Patient',
        gender: 'man',
        birthDate: 'x',
        colour: 1,
      });
      const outcome = JSON.parse((await service.fhir(path, call)).text) as Outcome;
      expect(outcome.issue.map(({ expression }) => expression?.[0])).to.have.members([
        'Patient.gender',
        'Patient.birthDate',
        'Patient.colour',
      ]);
    });
  });

  describe('Bundles', () => {
    const urn = 'urn:uuid:00000000-0000-4000-8000-000000000001';
    refuses(
      'two patients in one transaction',
      () => post('/', transaction(creates(observation()), creates(observation({}, other)))),
      {
        status: 422,
        code: 'business-rule',
      },
    );
    refuses(
      'a dangling urn',
      () => post('/', transaction(creates(observation({ encounter: { reference: urn } })))),
      {
        status: 422,
        code: 'value',
        says: /Bundle\.entry\[0\]|urn:uuid/,
      },
    );
    refuses(
      'a dangling reference inside',
      () => post('/', transaction(creates(observation({ encounter: { reference: 'Encounter/nobody' } })))),
      {
        status: 422,
        code: 'value',
      },
    );
    refuses(
      'one resource twice',
      () => {
        const request = { method: 'PUT', url: `Patient/${mine}` };
        const entry = { resource: { resourceType: 'Patient', id: mine }, request };
        return post('/', transaction(entry, entry));
      },
      { status: 400, code: 'duplicate' },
    );
    refuses(
      'unsupported types, all of them named',
      () =>
        post(
          '/',
          transaction(
            creates({ resourceType: 'Claim' }),
            creates(observation()),
            creates({ resourceType: 'Coverage' }),
          ),
        ),
      {
        status: 422,
        code: 'not-supported',
        says: /entry\[0\].*Claim[\s\S]*entry\[2\].*Coverage/,
      },
    );
    refuses('another type of Bundle', () => post('/', { resourceType: 'Bundle', type: 'document' }), {
      status: 422,
      code: 'value',
      expression: 'Bundle.type',
    });
    refuses('no Bundle at the base', () => post('/', { resourceType: 'Patient' }), {
      status: 400,
      code: 'invalid',
    });
    refuses('too many entries', () => post('/', transaction(...Array(21).fill(creates(observation())))), {
      status: 413,
      code: 'too-long',
    });
    refuses('an entry that is none', () => post('/', transaction(creates(observation()), 7)), {
      status: 422,
      code: 'structure',
      expression: 'Bundle.entry[1]',
    });
    refuses(
      'a malformed ifMatch',
      () => {
        const request = { method: 'DELETE', url: `Patient/${mine}`, ifMatch: 'three' };
        return post('/', transaction({ request }));
      },
      { status: 400, code: 'value', expression: 'Bundle.entry[0].request.ifMatch' },
    );
  });

  describe('size, media types, encodings', () => {
    const big = (size: number) => JSON.stringify({ resourceType: 'Patient', x: 'x'.repeat(size) });
    refuses('an oversize body', () => post('/Patient', big(20_000)), { status: 413, code: 'too-long' });
    refuses('an oversize Bundle', () => post('/', big(60_000)), { status: 413, code: 'too-long' });
    refuses(
      'another content type',
      () => post('/Patient', '<Patient/>', { 'Content-Type': 'application/fhir+xml' }),
      {
        status: 415,
        code: 'not-supported',
        headers: { accept: /application\/fhir\+json/ },
      },
    );
    refuses(
      'another charset',
      () => post('/Patient', '{}', { 'Content-Type': 'application/json; charset=latin1' }),
      {
        status: 415,
        code: 'not-supported',
      },
    );
    refuses('an unknown encoding', () => post('/Patient', '{}', { 'Content-Encoding': 'br' }), {
      status: 415,
      code: 'not-supported',
    });
    refuses(
      'a PATCH of no patch type',
      () => [`/Patient/${mine}`, { method: 'PATCH', headers: { 'Content-Type': 'text/plain' }, body: 'x' }],
      { status: 415, code: 'not-supported' },
    );
    refuses(
      'an Accept that nobody serves',
      () => ['/Patient', { headers: { Accept: 'application/fhir+xml' } }],
      {
        status: 406,
        code: 'not-supported',
      },
    );
    refuses('an _format that nobody serves', () => ['/Patient?_format=xml'], {
      status: 406,
      code: 'not-supported',
    });

    const raw = async (body: Buffer, headers: Record<string, string>) => {
      const sent = {
        Authorization: `Bearer ${service.key}`,
        'Content-Type': 'application/fhir+json',
        ...headers,
      };
      return fetch(`${service.base}/Patient`, { method: 'POST', body: new Uint8Array(body), headers: sent });
    };
    it('invalid UTF-8: 400', async () => {
      const body = Buffer.from('{"resourceType":"Patient","name":[{"family":"\xff"}]}', 'latin1');
      expect((await raw(body, {})).status).to.equal(400);
    });
    it('gzip is taken; what is none or too large inflated is not', async () => {
      const gzip = { 'Content-Encoding': 'gzip' };
      expect((await raw(gzipSync('{"resourceType":"Patient"}'), gzip)).status).to.equal(201);
      expect((await raw(Buffer.from('{}'), gzip)).status).to.equal(400);
      expect((await raw(gzipSync(big(10_000_000)), gzip)).status).to.equal(413);
    });
    it('an oversize body without Content-Length: 413', async () => {
      const chunks = new ReadableStream({
        start(controller) {
          for (let i = 0; i < 10; i += 1) controller.enqueue(new TextEncoder().encode(big(10_000)));
          controller.close();
        },
      });
      const init = {
        method: 'POST',
        body: chunks,
        duplex: 'half',
        headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/fhir+json' },
      } as const;
      expect((await fetch(`${service.base}/Patient`, init)).status).to.equal(413);
    });
  });

  describe('credentials', () => {
    const login = { status: 401, code: 'login', headers: { 'www-authenticate': /^Bearer/ } };
    refuses('none', () => ['/Patient', { key: null }], login);
    refuses('an unknown one', () => ['/Patient', { key: `sk_test_${'x'.repeat(43)}` }], login);
    refuses('one of another kind', () => ['/Patient', { key: 'at_something' }], login);
    refuses('Basic', () => ['/Patient', { key: null, headers: { Authorization: 'Basic YTpi' } }], login);
    refuses('an empty one', () => ['/Patient', { key: null, headers: { 'X-Api-Key': '' } }], login);
    refuses('two different ones', () => ['/Patient', { headers: { 'X-Api-Key': 'sk_test_other' } }], {
      status: 400,
      code: 'login',
    });
    refuses('one in the query string', () => [`/Patient?access_token=${service.key}`, { key: null }], {
      status: 400,
      code: 'login',
    });
    refuses('one in the query string beside a header', () => [`/Patient?_key=${service.key}`], {
      status: 400,
      code: 'login',
    });
    it('takes X-Api-Key, and the same key twice', async () => {
      const headers = { 'X-Api-Key': service.key };
      expect((await service.fhir('/Patient', { key: null, headers })).status).to.equal(200);
      expect((await service.fhir('/Patient', { headers })).status).to.equal(200);
    });
  });

  describe('headers', () => {
    const put = (headers: Record<string, string>): [string, KeyedCall] => [
      `/Patient/${mine}`,
      { method: 'PUT', headers, body: JSON.stringify({ resourceType: 'Patient', id: mine }) },
    ];
    refuses('a stale If-Match', () => put({ 'If-Match': 'W/"9"' }), { status: 412, code: 'conflict' });
    refuses('a malformed If-Match', () => put({ 'If-Match': 'nine' }), {
      status: 400,
      code: 'value',
      says: /If-Match/,
    });
    refuses('an unknown author type', () => put({ 'X-Service-Author-Type': 'robot' }), {
      status: 422,
      code: 'invalid',
      says: /X-Service-Author-Type/,
    });
    refuses('an author reference that is none', () => put({ 'X-Service-Author-Ref': 'Doctor Who' }), {
      status: 422,
      code: 'invalid',
      says: /X-Service-Author-Ref/,
    });
    for (const [header, value] of [
      ['X-Service-Acting-As', 'PractitionerRole/01890000-0000-7000-8000-000000000000'],
      ['X-Service-Author-Ref', 'Practitioner/01890000-0000-7000-8000-000000000000'],
      ['X-Service-On-Behalf-Of', 'Organization/nobody'],
    ] as const) {
      refuses(`an unknown ${header}`, () => put({ [header]: value }), {
        status: 422,
        code: 'invalid',
        says: new RegExp(`${header} is unknown or inactive`),
      });
    }
    refuses(
      'a bad Idempotency-Key',
      () => post('/Patient', { resourceType: 'Patient' }, { 'Idempotency-Key': 'a b' }),
      {
        status: 400,
        code: 'value',
        says: /Idempotency-Key/,
      },
    );
    refuses(
      'If-None-Exist with an unknown parameter',
      () => post('/Patient', { resourceType: 'Patient' }, { 'If-None-Exist': 'colour=red' }),
      {
        status: 400,
        code: 'not-supported',
      },
    );
  });

  describe('searches', () => {
    for (const [query, named] of [
      ['_lastUpdated=yesterday', '_lastUpdated'],
      ['_lastUpdated=2024-02-30', '_lastUpdated'],
      ['_lastUpdated:exact=2024', '_lastUpdated'],
      ['_id=a/b', '_id'],
      ['_id:not=a', '_id'],
      ['identifier=a|b|c', 'identifier'],
      ['identifier=|', 'identifier'],
      ['identifier:of-type=a|b', 'identifier'],
      ['identifier=%00', 'identifier'],
      ['_count=-1', '_count'],
      ['_count=ten', '_count'],
      ['_total=some', '_total'],
      ['_summary=much', '_summary'],
      ['_sort=colour', '_sort'],
      ['_cursor=zzz', '_cursor'],
      ['_cursor=WzFd&_sort=_lastUpdated', '_cursor'],
    ] as const) {
      refuses(`Patient?${query}`, () => [`/Patient?${query}`], {
        status: 400,
        code: 'value',
        says: new RegExp(named),
      });
    }
    refuses('Observation?patient=no reference', () => ['/Observation?patient=a b'], {
      status: 400,
      code: 'value',
      says: /patient/,
    });
    refuses('Observation?subject:Group', () => ['/Observation?subject:Group=1'], {
      status: 400,
      code: 'value',
      says: /:Group/,
    });
    refuses('Provenance?target=no reference', () => ['/Provenance?target=a b'], {
      status: 400,
      code: 'value',
      says: /target/,
    });
  });

  describe('deletes', () => {
    refuses('_purge of another type', () => ['/Observation/1?_purge=true', { method: 'DELETE' }], {
      status: 400,
      code: 'value',
      says: /_purge/,
    });
    refuses('_purge=perhaps', () => [`/Patient/${mine}?_purge=perhaps`, { method: 'DELETE' }], {
      status: 400,
      code: 'value',
    });
    refuses('a whole type', () => ['/Patient', { method: 'DELETE' }], {
      status: 405,
      code: 'not-supported',
      headers: { allow: /GET/ },
    });
    refuses('what never was', () => ['/Patient/nobody', { method: 'DELETE' }], {
      status: 404,
      code: 'not-found',
    });
  });
});
