/** Requests that are bad outside their bodies, each with its documented status and body (docs/spec/decisions.md, section 2). */
import { gzipSync } from 'node:zlib';
import { expect } from 'chai';
import type { KeyedCall } from '#test/support/in-process.ts';
import { post, refusals } from '#test/support/refusals.ts';

describe('bad requests', () => {
  const bad = refusals();
  const { refuses } = bad;

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
      () => [
        `/Patient/${bad.mine()}`,
        { method: 'PATCH', headers: { 'Content-Type': 'text/plain' }, body: 'x' },
      ],
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
        Authorization: `Bearer ${bad.service().key}`,
        'Content-Type': 'application/fhir+json',
        ...headers,
      };
      return fetch(`${bad.service().base}/Patient`, {
        method: 'POST',
        body: new Uint8Array(body),
        headers: sent,
      });
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
        headers: { Authorization: `Bearer ${bad.service().key}`, 'Content-Type': 'application/fhir+json' },
      } as const;
      expect((await fetch(`${bad.service().base}/Patient`, init)).status).to.equal(413);
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
    refuses('one in the query string', () => [`/Patient?access_token=${bad.service().key}`, { key: null }], {
      status: 400,
      code: 'login',
    });
    refuses('one in the query string beside a header', () => [`/Patient?_key=${bad.service().key}`], {
      status: 400,
      code: 'login',
    });
    it('takes X-Api-Key, and the same key twice', async () => {
      const headers = { 'X-Api-Key': bad.service().key };
      expect((await bad.service().fhir('/Patient', { key: null, headers })).status).to.equal(200);
      expect((await bad.service().fhir('/Patient', { headers })).status).to.equal(200);
    });
  });

  describe('headers', () => {
    const put = (headers: Record<string, string>): [string, KeyedCall] => [
      `/Patient/${bad.mine()}`,
      { method: 'PUT', headers, body: JSON.stringify({ resourceType: 'Patient', id: bad.mine() }) },
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
        says: new RegExp(`${header} names an unknown or inactive`),
      });
    }
    refuses(
      'a bad Idempotency-Key',
      () => post('/Patient', { resourceType: 'Patient' }, { 'Idempotency-Key': 'a b' }),
      {
        status: 422,
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
      ['_id:exact=a', '_id'],
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
    refuses('_purge=perhaps', () => [`/Patient/${bad.mine()}?_purge=perhaps`, { method: 'DELETE' }], {
      status: 400,
      code: 'value',
    });
    refuses('a whole type', () => ['/Patient', { method: 'DELETE' }], {
      status: 405,
      code: 'not-supported',
      says: /must have an id or search criteria; the methods of this URL are GET, HEAD, POST, OPTIONS/,
      headers: { allow: /GET/ },
    });
    refuses(
      'a version of what never was',
      () => ['/Patient/nobody', { method: 'DELETE', headers: { 'If-Match': 'W/"1"' } }],
      { status: 412, code: 'conflict' },
    );
  });
});
