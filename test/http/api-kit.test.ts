/**
 * The checks that every request to the JSON interfaces goes through (URL, credential, body, Idempotency-Key), each with its
 * refusal.
 */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import type { Answer } from '#test/support/service.ts';

const PATH = '/organizations';

describe('a request of the JSON interfaces', () => {
  let service: InProcess;
  let user: AdminUser;
  before(async () => {
    service = await startInProcess({ bodyBytes: 5_000 });
    user = await signIn(service, 'kit@example.org');
  });
  after(() => service.stop());

  /** Sends a body as it is. */
  const send = (body: BodyInit | undefined, headers: Record<string, string> = {}) =>
    fetch(`${service.url}/admin${PATH}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${user.token}`, 'Content-Type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body }),
    });

  interface ErrorBody {
    readonly type: string;
    readonly message: string;
    readonly field?: string;
    readonly errors?: readonly { field: string; code: string; message: string }[];
    readonly request_id: string;
    readonly doc_url: string;
  }
  const errorIn = async (response: Response | Answer): Promise<ErrorBody> => {
    const text = response instanceof Response ? await response.text() : response.text;
    return (JSON.parse(text) as { error: ErrorBody }).error;
  };

  it('is refused by a body like that of every error: its type, a sentence, its request id, where it is explained', async () => {
    const answer = await user.ask('GET', '/organizations/org_nobody');
    expect(answer.status).to.equal(404);
    const error = await errorIn(answer);
    expect(error.type).to.equal('not_found');
    expect(error.request_id).to.equal(answer.headers.get('service-request-id'));
    expect(error.doc_url).to.equal(`${service.url}/docs/errors#not_found`);
    expect(answer.headers.get('content-type')).to.equal('application/json; charset=utf-8');
  });

  const bodies: readonly (readonly [
    string,
    () => [BodyInit | undefined, Record<string, string>?],
    number,
    string,
  ])[] = [
    ['malformed JSON', () => ['{"name": '], 400, 'malformed'],
    ['an array', () => ['[]'], 400, 'malformed'],
    ['a text', () => ['"a"'], 400, 'malformed'],
    ['null', () => ['null'], 400, 'malformed'],
    ['a key twice', () => ['{"name": "a", "name": "b"}'], 400, 'malformed'],
    ['nesting over 100', () => [`{"name": ${'['.repeat(101)}${']'.repeat(101)}}`], 400, 'malformed'],
    ['no body', () => [undefined], 400, 'malformed'],
    ['what is no UTF-8', () => [new Uint8Array([0x7b, 0xff, 0x7d])], 400, 'malformed'],
    [
      'another type',
      () => ['name=a', { 'Content-Type': 'application/x-www-form-urlencoded' }],
      415,
      'unsupported_media_type',
    ],
    ['another encoding', () => ['{}', { 'Content-Encoding': 'br' }], 415, 'unsupported_media_type'],
    ['too much', () => [JSON.stringify({ name: 'a'.repeat(6_000) })], 413, 'too_large'],
    [
      'too much, compressed',
      () => [
        new Uint8Array(gzipSync(JSON.stringify({ name: 'a'.repeat(60_000) }))),
        { 'Content-Encoding': 'gzip' },
      ],
      413,
      'too_large',
    ],
    ['an unknown member', () => ['{"name": "a", "nme": 1}'], 422, 'invalid'],
    ['a control character', () => ['{"name": "a\\u0007"}'], 422, 'invalid'],
    ['a bad Idempotency-Key', () => ['{"name": "a"}', { 'Idempotency-Key': 'a b' }], 422, 'invalid'],
    ['two credentials', () => ['{"name": "a"}', { 'X-Api-Key': 'sk_test_other' }], 400, 'malformed'],
    ['an Accept that nobody serves', () => ['{"name": "a"}', { Accept: 'text/csv' }], 406, 'not_acceptable'],
  ];
  for (const [name, request, status, type] of bodies) {
    it(`with ${name}: ${status} ${type}, and nothing is written`, async () => {
      const before = await user.done('GET', PATH);
      const response = await send(...request());
      expect(response.status).to.equal(status);
      expect((await errorIn(response)).type).to.equal(type);
      expect((await user.done('GET', PATH)).total).to.equal(before.total);
    });
  }

  it('hears of every input that is wrong', async () => {
    const response = await fetch(`${service.url}/admin${PATH}?limit=0&x=1`, {
      headers: { Authorization: `Bearer ${user.token}` },
    });
    expect(response.status).to.equal(422);
    const error = await errorIn(response);
    expect(error.field).to.equal('query.limit');
    expect(error.errors?.map(({ field }) => field)).to.deep.equal(['query.limit', 'query.x']);
  });

  it('is refused without a credential before anything of it is read', async () => {
    const response = await fetch(`${service.url}/admin${PATH}`, { method: 'POST', body: '{' });
    expect(response.status).to.equal(401);
    expect(response.headers.get('www-authenticate')).to.match(/^Bearer/);
    const inQuery = await fetch(`${service.url}/admin${PATH}?access_token=${user.token}`);
    expect(inQuery.status).to.equal(400);
  });

  it('may be gzip, may say FHIR JSON, may end with a slash', async () => {
    const gzip = new Uint8Array(gzipSync('{"name": "zipped"}'));
    expect((await send(gzip, { 'Content-Encoding': 'gzip' })).status).to.equal(201);
    expect((await send('{"name": "a"}', { 'Content-Type': 'application/fhir+json' })).status).to.equal(201);
    expect((await user.ask('GET', `${PATH}/`)).status).to.equal(200);
  });

  it('is answered alike by HEAD, without a body; OPTIONS lists the methods', async () => {
    const head = await user.ask('HEAD', PATH);
    expect([head.status, head.text]).to.deep.equal([200, '']);
    expect(Number(head.headers.get('content-length'))).to.be.greaterThan(0);
    const options = await user.ask('OPTIONS', PATH);
    expect([options.status, options.headers.get('allow')]).to.deep.equal([204, 'POST, GET, HEAD, OPTIONS']);
  });

  describe('with an Idempotency-Key', () => {
    const create = (key: string, name: string, who = user) =>
      who.ask('POST', PATH, { name }, { 'Idempotency-Key': key });

    it('is done once and answered alike, byte for byte', async () => {
      const first = await create('kit-1', 'once');
      const again = await create('kit-1', 'once');
      expect([again.status, again.text]).to.deep.equal([201, first.text]);
      expect(first.headers.get('idempotent-replayed')).to.equal(null);
      expect(again.headers.get('idempotent-replayed')).to.equal('true');
      const { data } = await user.done('GET', `${PATH}?limit=200`);
      expect(data.filter((each: { name: string }) => each.name === 'once')).to.have.length(1);
    });

    it('is refused with another body: 422 naming the header', async () => {
      await create('kit-2', 'one');
      const other = await create('kit-2', 'two');
      expect(other.status).to.equal(422);
      expect((await errorIn(other)).field).to.equal('header.idempotency-key');
    });

    it('belongs to the person: somebody else’s is another', async () => {
      const other = await signIn(service, 'else@example.org');
      const answers = [await create('kit-3', 'mine'), await create('kit-3', 'mine', other)];
      expect(answers.map(({ status }) => status)).to.deep.equal([201, 201]);
      const [mine, theirs] = answers.map(({ json }) => json.id);
      expect(theirs).not.to.equal(mine);
    });

    it('of which many come at once is done once', async () => {
      const answers = await Promise.all(Array.from({ length: 8 }, () => create('kit-4', 'many')));
      for (const { status } of answers) expect([201, 409]).to.include(status);
      for (const answer of answers.filter(({ status }) => status === 409))
        expect(answer.headers.get('retry-after')).to.equal('1');
      const { data } = await user.done('GET', `${PATH}?limit=200`);
      expect(data.filter((each: { name: string }) => each.name === 'many')).to.have.length(1);
    });

    it('keeps no refusal of validation', async () => {
      expect((await create('kit-5', '')).status).to.equal(422);
      expect((await create('kit-5', 'now right')).status).to.equal(201);
    });
  });

  it('shows what it wrote as soon as it is answered', async () => {
    for (let i = 0; i < 10; i += 1) {
      const { id } = await user.done('POST', PATH, { name: `shown ${i}` });
      expect((await user.ask('GET', `${PATH}/${id}`)).status).to.equal(200);
    }
  });
});
