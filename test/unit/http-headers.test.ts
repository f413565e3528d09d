import { expect } from 'chai';
import { toRefusal } from '#src/app/refusal-of.ts';
import { Conflict, StreamDeleted, TooLarge, Unavailable } from '#src/events/store.ts';
import { parseAuthorship } from '#src/http/answer/authorship.ts';
import { negotiate, parsePrefer } from '#src/http/answer/negotiation.ts';
import { readCredential } from '#src/http/credentials.ts';
import { apiError, fhirError, internalError, jsonError } from '#src/http/errors.ts';
import { notModified } from '#src/http/fhir/read.ts';
import { splitPath } from '#src/http/path.ts';
import { ownCaller } from '#src/shared/access/caller.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { toMicros } from '#src/shared/time/time.ts';

const key = ownCaller({ project: 'proj_1', environment: 'sandbox' }, { kind: 'api_key', keyId: 'key_1' }, [
  'write',
]);

const of = (headers: Record<string, string>) => (name: string) => headers[name];

describe('author headers', () => {
  it('default to an import without a source', () => {
    expect(parseAuthorship(of({ 'x-service-source-system': '' }), key)).to.deep.equal({
      authorType: 'import',
    });
  });

  it('are read, names in UTF-8 or Latin-1', () => {
    const headers = {
      'x-service-author-type': 'ai',
      'x-service-author-ref': 'Practitioner/1',
      'x-service-acting-as': 'PractitionerRole/2',
      'x-service-on-behalf-of': 'Organization/3',
      'x-service-source-system': Buffer.from('Klinik Süd').toString('latin1'),
      'x-service-origin-id': 'Süd-1',
    };
    expect(parseAuthorship(of(headers), key)).to.deep.equal({
      authorType: 'ai',
      authorRef: 'Practitioner/1',
      actingAs: 'PractitionerRole/2',
      onBehalfOf: { reference: 'Organization/3' },
      sourceSystem: 'Klinik Süd',
      originId: 'Süd-1',
    });
  });

  it('are refused together, each by its name', () => {
    const wrong = {
      'x-service-author-type': 'robot',
      'x-service-author-ref': 'PractitionerRole/1',
      'x-service-acting-as': 'Organization/1',
      'x-service-on-behalf-of': 'Practitioner/1',
      'x-service-source-system': 'x'.repeat(1_001),
      'x-service-origin-id': 'a\tb',
    };
    try {
      parseAuthorship(of(wrong), key);
      expect.fail('must be refused');
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      expect(error.status).to.equal(422);
      expect(error.issues.map(({ expression }) => expression)).to.have.members(
        Object.keys(wrong).map((name) => `http.${name}`),
      );
    }
  });
});

describe('Prefer', () => {
  it('is read in any order and ignored where unknown', () => {
    expect(parsePrefer(undefined)).to.deep.equal({});
    expect(parsePrefer('respond-async, return=minimal;handling=strict')).to.deep.equal({
      return: 'minimal',
      handling: 'strict',
    });
    expect(parsePrefer('Return=minimal, HANDLING=strict')).to.deep.equal({
      return: 'minimal',
      handling: 'strict',
    });
    expect(parsePrefer('return="representation"')).to.deep.equal({ return: 'representation' });
    expect(parsePrefer('return=everything, noreturn=minimal')).to.deep.equal({});
  });
});

describe('Accept', () => {
  it('lets _format decide', () => {
    expect(() => negotiate('text/html', 'json')).not.to.throw();
    expect(() => negotiate('*/*', 'ttl')).to.throw(Refusal);
    expect(() => negotiate('text/html, application/fhir+json;q=0.1', null)).not.to.throw();
    expect(() => negotiate('application/fhir+json;q=0.0, text/html', null)).to.throw(Refusal);
  });
});

describe('conditional reads', () => {
  const at = toMicros('2024-05-01T10:00:00.900000Z');
  it('go by the tag where there is one, else by the second', () => {
    expect(notModified(of({ 'if-none-match': '*' }), 3, at)?.status).to.equal(304);
    expect(notModified(of({ 'if-none-match': 'W/"33"' }), 3, at)).to.equal(undefined);
    const since = (text: string) => notModified(of({ 'if-modified-since': text }), 3, at)?.status;
    expect(since('Wed, 01 May 2024 10:00:00 GMT')).to.equal(304);
    expect(since('Wed, 01 May 2024 09:59:59 GMT')).to.equal(undefined);
    expect(since('some time ago')).to.equal(undefined);
  });
});

describe('credentials', () => {
  const of = (headers: Record<string, string>, query = '', more: readonly string[] = []) =>
    readCredential({ headers, rawHeaders: [...Object.entries(headers).flat(), ...more] }, query);

  it('are one, in a header', () => {
    expect(of({ authorization: 'bearer abc' })).to.equal('abc');
    expect(of({ 'x-api-key': 'abc' }, 'identifier=sk_1')).to.equal('abc');
    expect(of({ authorization: 'Bearer abc', 'x-api-key': 'abc' })).to.equal('abc');
    const token = `at_${'x'.repeat(43)}`;
    for (const query of ['api_key=x', 'a=1&access_token=x', 'APIKEY=x', 'q=sk_live_x', `q=${token}`]) {
      expect(() => of({ authorization: 'Bearer abc' }, query), query).to.throw(Refusal, 'query string');
    }
    expect(() => of({ authorization: 'Bearer a b' })).to.throw(Refusal, 'Bearer');
    expect(() => of({ 'x-api-key': token })).to.throw(Refusal, 'Authorization: Bearer');
  });

  it('are not two in one header that came twice', () => {
    const headers = { authorization: 'Bearer abc' };
    expect(of(headers, '', ['Authorization', 'Bearer abc'])).to.equal('abc');
    expect(() => of(headers, '', ['AUTHORIZATION', 'Bearer def'])).to.throw(Refusal, 'twice');
  });
});

describe('paths', () => {
  it('are decoded segments, one slash at the end does not count', () => {
    expect(splitPath('')).to.deep.equal([]);
    expect(splitPath('/')).to.deep.equal([]);
    expect(splitPath('/Patient/a%20b/')).to.deep.equal(['Patient', 'a b']);
    expect(splitPath('Patient//x')).to.deep.equal(['Patient', '', 'x']);
    expect(() => splitPath('/%e0')).to.throw(Refusal);
  });
});

describe('errors', () => {
  const status = (error: unknown) => toRefusal(error)?.status;
  it('of the store and the database have their answers; anything else is a fault of ours', () => {
    expect(status(new Conflict('s', 1, 2))).to.equal(503);
    expect(status(new Unavailable('away'))).to.equal(503);
    expect(status(new StreamDeleted('s'))).to.equal(404);
    expect(status(new TooLarge(13_000_000))).to.equal(413);
    expect(status(Object.assign(new Error('x'), { code: '57P01' }))).to.equal(503);
    expect(status(Object.assign(new Error('x'), { code: 'ECONNREFUSED', syscall: 'connect' }))).to.equal(503);
    expect(status(new Error('Connection terminated unexpectedly'))).to.equal(503);
    expect(toRefusal(new Unavailable('away'))?.headers).to.deep.equal({ 'Retry-After': '1' });
    expect(status(Object.assign(new Error('x'), { code: '23505' }))).to.equal(undefined);
    expect(status(new TypeError('x is not a function'))).to.equal(undefined);
    expect(internalError().message).not.to.contain('TypeError');
  });

  it('are an object outside FHIR: type, message, fields', () => {
    const refusal = new Refusal('invalid', [
      { code: 'required', diagnostics: 'is missing', expression: 'name' },
      { code: 'value', diagnostics: 'is wrong', expression: 'query.limit' },
    ]);
    const answer = jsonError(refusal, 'req_1', 'https://annal.test');
    expect([answer.status, JSON.parse(String(answer.body))]).to.deep.equal([
      422,
      {
        error: {
          type: 'invalid',
          message: 'is missing',
          field: 'name',
          errors: [
            { field: 'name', code: 'required', message: 'is missing' },
            { field: 'query.limit', code: 'value', message: 'is wrong' },
          ],
          request_id: 'req_1',
          doc_url: 'https://annal.test/docs/errors#invalid',
        },
      },
    ]);
    const gone = jsonError(
      new Refusal('gone', { code: 'deleted', diagnostics: 'x' }),
      'req_1',
      'https://annal.test',
    );
    expect(gone.status).to.equal(404);
    expect(gone.body).to.contain('"type":"not_found"');
  });

  it('about whom author headers name are an OperationOutcome there, too', () => {
    const about = (header: string) =>
      new Refusal('invalid', { code: 'invalid', diagnostics: 'x', expression: `http.${header}` });
    for (const header of ['x-service-acting-as', 'x-service-author-ref', 'x-service-on-behalf-of'])
      expect(apiError(about(header), 'req_1', 'https://annal.test')).to.deep.equal(fhirError(about(header)));
    const form = apiError(about('x-service-author-type'), 'req_1', 'https://annal.test');
    expect(form.body).to.contain('"field":"header.x-service-author-type"');
  });
});
