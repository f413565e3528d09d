/** The checks of an authorization request that need no session, and the responses. */
import { expect } from 'chai';
import fc from 'fast-check';
import { PageFault, RedirectFault } from '#src/oauth/authorization/faults.ts';
import {
  type AuthorizationRequest,
  type Parameters,
  type RequestingClient,
  readAuthorizationRequest,
  readClientId,
} from '#src/oauth/authorization/request.ts';
import { formTarget, redirection } from '#src/oauth/authorization/response.ts';
import { normalise } from '#src/oauth/scopes.ts';
import { randomSeed } from '#test/support/scale.ts';

const BASE = 'https://records.example.org/health';
const REDIRECT = 'https://app.example.org/callback?tenant=a%20b';
const CHALLENGE = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

const CLIENT: RequestingClient = {
  environment: 'sandbox',
  organization: { domain: undefined },
  redirectUris: [REDIRECT, 'org.example.app:/back'],
  scopes: ['openid', 'fhirUser', 'launch/patient', 'offline_access', 'patient/*.rs', 'system/*.rs'],
  grantTypes: ['authorization_code', 'refresh_token'],
};

const GOOD: Readonly<Record<string, string>> = {
  response_type: 'code',
  client_id: 'client_test_1',
  redirect_uri: REDIRECT,
  scope: 'launch/patient patient/Observation.rs',
  state: 'st&te=ü',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
  aud: `${BASE}/fhir/R4`,
};

/** Returns the valid request with some parameters replaced; undefined omits a parameter. */
function asked(changes: Readonly<Record<string, string | undefined>> = {}): Parameters {
  return Object.entries({ ...GOOD, ...changes }).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  );
}

function read(parameters: Parameters, client: RequestingClient | undefined = CLIENT): AuthorizationRequest {
  return readAuthorizationRequest(parameters, client, BASE);
}

function pageFault(run: () => unknown): PageFault {
  try {
    run();
  } catch (error) {
    if (error instanceof PageFault) return error;
    throw error;
  }
  throw new Error('the request was accepted');
}

function redirectFault(parameters: Parameters, client: RequestingClient = CLIENT): RedirectFault {
  try {
    read(parameters, client);
  } catch (error) {
    if (error instanceof RedirectFault) return error;
    throw error;
  }
  throw new Error('the request was accepted');
}

describe('an authorization request', () => {
  it('is read with its defaults', () => {
    const request = read(asked());
    expect(request).to.include({
      redirectUri: REDIRECT,
      state: 'st&te=ü',
      challenge: CHALLENGE,
      purpose: undefined,
    });
    expect(normalise(request.scopes)).to.deep.equal(['launch/patient', 'patient/Observation.rs']);
    expect(request.resources).to.deep.equal([]);
    expect([...request.prompt]).to.deep.equal([]);
  });

  it('takes the optional parameters, and leaves out those without a value', () => {
    const request = read([
      ...asked({
        code_challenge_method: undefined,
        purpose: 'treatment',
        patient: '',
        lang: 'ar',
        prompt: 'login consent',
        max_age: '0',
        login_hint: 'ada@example.org',
        nonce: 'ignored',
        aud: `${BASE}/`,
      }),
      ['resource', `${BASE}/v1`],
      ['resource', `${BASE}/fhir/R4/`],
      ['resource', `${BASE}/v1/`],
    ]);
    expect(request).to.include({ purpose: 'treatment', patient: undefined, lang: 'ar', maxAge: 0 });
    expect([...request.prompt]).to.deep.equal(['login', 'consent']);
    expect(request.resources).to.deep.equal([`${BASE}/v1`, `${BASE}/fhir/R4`]);
  });

  it('has offline_access only for an application with the grant type refresh_token', () => {
    const once: RequestingClient = { ...CLIENT, grantTypes: ['authorization_code'] };
    const { error } = redirectFault(asked({ scope: 'patient/*.rs offline_access' }), once);
    expect(error.error).to.equal('invalid_scope');
    expect(error.description).to.include('refresh_token');
    expect(read(asked({ scope: undefined }), once).scopes).not.to.include('offline_access');
  });

  it('without scope asks for what the application is registered for, except system scopes', () => {
    expect(normalise(read(asked({ scope: undefined })).scopes)).to.deep.equal([
      'fhirUser',
      'launch/patient',
      'offline_access',
      'openid',
      'patient/*.rs',
    ]);
  });

  it('ends on a page without a known application', () => {
    expect(pageFault(() => readClientId(asked({ client_id: undefined })))).to.include({
      kind: 'client',
      status: 400,
    });
    expect(pageFault(() => readClientId([...asked(), ['client_id', 'client_test_1']])).kind).to.equal(
      'client',
    );
    expect(pageFault(() => readClientId(asked({ client_id: 'a\u0000' }))).kind).to.equal('client');
    expect(pageFault(() => readAuthorizationRequest(asked(), undefined, BASE)).kind).to.equal('client');
  });

  it('ends on a page unless redirect_uri is a registered one, character by character', () => {
    const near = [
      undefined,
      '',
      'https://app.example.org/callback',
      `${REDIRECT}&more=1`,
      `${REDIRECT}#`,
      REDIRECT.replace('%20', '+'),
      REDIRECT.toUpperCase(),
      'https://app.example.org:443/callback?tenant=a%20b',
      'https://app.example.org/x/../callback?tenant=a%20b',
      'https://app.example.org@evil.example/callback?tenant=a%20b',
      'https://evil.example/callback?tenant=a%20b',
      'org.example.app:/back/',
      'javascript:alert(1)',
    ];
    for (const uri of near) {
      const fault = pageFault(() => read(asked({ redirect_uri: uri })));
      expect(fault, String(uri)).to.include({ kind: 'redirect', status: 400, parameter: 'redirect_uri' });
    }
    expect(pageFault(() => read([...asked(), ['redirect_uri', REDIRECT]])).kind).to.equal('redirect');
  });

  it('ends on a page for a production application whose organization has no confirmed domain', () => {
    const production = { ...CLIENT, environment: 'production' } as const;
    expect(pageFault(() => read(asked(), production))).to.include({ kind: 'organization', status: 403 });
    const confirmed = { ...production, organization: { domain: 'clinic.example' } };
    expect(read(asked(), confirmed).state).to.equal('st&te=ü');
  });

  it('names state on a page with 422 unless it has 1 to 512 characters', () => {
    for (const state of [undefined, '', 'x'.repeat(513), 'not UTF-8: \ufffd']) {
      const fault = pageFault(() => read(asked({ state })));
      expect(fault).to.include({ kind: 'parameter', status: 422, parameter: 'state' });
    }
    expect(pageFault(() => read([...asked(), ['state', 'other']]))).to.include({
      status: 422,
      parameter: 'state',
    });
    for (const state of ['x', 'x'.repeat(512), '𝒳'.repeat(512)])
      expect(read(asked({ state })).state).to.equal(state);
  });

  it('names code_challenge on a page with 422 unless it has 43 to 128 characters', () => {
    for (const length of [1, 42, 129, 500]) {
      const fault = pageFault(() => read(asked({ code_challenge: 'x'.repeat(length) })));
      expect(fault, String(length)).to.include({ status: 422, parameter: 'code_challenge' });
    }
    expect(read(asked({ code_challenge: 'x'.repeat(128) })).challenge).to.have.length(128);
  });

  const REDIRECTED: readonly (readonly [
    string,
    Readonly<Record<string, string | undefined>>,
    string,
    RegExp,
  ])[] = [
    ['no code_challenge', { code_challenge: undefined }, 'invalid_request', /code_challenge is missing/],
    ['an empty code_challenge', { code_challenge: '' }, 'invalid_request', /code_challenge is missing/],
    ['other characters', { code_challenge: `${'x'.repeat(43)}=` }, 'invalid_request', /code_challenge/],
    ['plain', { code_challenge_method: 'plain' }, 'invalid_request', /code_challenge_method must be S256/],
    ['no response_type', { response_type: undefined }, 'invalid_request', /response_type/],
    ['token', { response_type: 'token' }, 'unsupported_response_type', /response_type/],
    ['code id_token', { response_type: 'code id_token' }, 'unsupported_response_type', /response_type/],
    ['an empty nonce', { nonce: '' }, 'invalid_request', /nonce must have 1 to 512/],
    ['a nonce too long', { nonce: 'x'.repeat(513) }, 'invalid_request', /nonce must have at most 512/],
    ['fragment', { response_mode: 'fragment' }, 'invalid_request', /response_mode/],
    ['a request object', { request: 'eyJ' }, 'request_not_supported', /request objects/],
    ['request_uri', { request_uri: 'https://a.example/r' }, 'request_uri_not_supported', /request_uri/],
    [
      'a pushed request',
      { request_uri: 'urn:ietf:params:oauth:request_uri:x' },
      'request_uri_not_supported',
      /pushed/,
    ],
    ['an unknown scope', { scope: 'patient/Observation.rs magic' }, 'invalid_scope', /^magic /],
    ['launch', { scope: 'launch patient/*.rs' }, 'invalid_scope', /^launch /],
    ['another filter', { scope: 'patient/Observation.rs?code=1' }, 'invalid_scope', /filter/],
    [
      'an unregistered scope',
      { scope: 'patient/Observation.cruds' },
      'invalid_scope',
      /not registered for patient/,
    ],
    ['a system scope', { scope: 'system/*.rs' }, 'invalid_scope', /client_credentials/],
    ['spaces for scope', { scope: '  ' }, 'invalid_scope', /scope/],
    ['another aud', { aud: 'https://other.example.org/fhir/R4' }, 'invalid_request', /^aud/],
    ['our host as aud', { aud: 'https://records.example.org/' }, 'invalid_request', /^aud/],
    ['another resource', { resource: 'https://other.example.org' }, 'invalid_target', /^resource/],
    ['a longer resource', { resource: `${BASE}/fhir/R4/Patient` }, 'invalid_target', /^resource/],
    ['a negative max_age', { max_age: '-1' }, 'invalid_request', /max_age/],
    ['a fraction as max_age', { max_age: '1.5' }, 'invalid_request', /max_age/],
    ['none with login', { prompt: 'none login' }, 'invalid_request', /prompt/],
    ['an unknown prompt', { prompt: 'create' }, 'invalid_request', /prompt/],
    ['a long purpose', { purpose: 'x'.repeat(101) }, 'invalid_request', /purpose/],
    ['control characters', { purpose: 'a\u0000b' }, 'invalid_request', /purpose/],
    ['a long patient', { patient: 'x'.repeat(101) }, 'invalid_request', /patient/],
    ['much of anything', { unknown: 'x'.repeat(16_000) }, 'invalid_request', /16000 characters/],
  ];
  for (const [what, changes, error, description] of REDIRECTED) {
    it(`is answered with ${error} for ${what}`, () => {
      const fault = redirectFault(asked(changes));
      expect(fault.error.error).to.equal(error);
      expect(fault.error.description).to.match(description);
      expect(fault.answerTo).to.deep.equal({ redirectUri: REDIRECT, state: 'st&te=ü', mode: 'query' });
    });
  }

  it('is answered with invalid_request if any parameter but resource occurs twice', () => {
    const names = ['response_type', 'scope', 'code_challenge', 'aud', 'prompt', 'lang', 'purpose', 'unknown'];
    for (const name of names) {
      const { error } = redirectFault([...asked({ [name]: GOOD[name] ?? '' }), [name, GOOD[name] ?? '']]);
      expect(error.error, name).to.equal('invalid_request');
      expect(error.description).to.include(
        name === 'unknown' ? 'a parameter was sent twice' : `${name} was sent twice`,
      );
    }
  });

  it('is answered with unauthorized_client if the application has another grant type only', () => {
    const { error } = redirectFault(asked(), { ...CLIENT, grantTypes: ['client_credentials'] });
    expect(error.error).to.equal('unauthorized_client');
  });

  it('is answered with invalid_target for more than ten resources', () => {
    const many = Array.from({ length: 11 }, () => ['resource', `${BASE}/v1`] as const);
    expect(redirectFault([...asked(), ...many]).error.error).to.equal('invalid_target');
  });

  it('gets a page, a redirect or an answer, whatever its parameters are', () => {
    const name = fc.oneof(
      fc.constantFrom(...Object.keys(GOOD), 'resource', 'prompt', 'max_age', 'lang'),
      fc.string(),
    );
    const value = fc.oneof(
      fc.constantFrom(...Object.values(GOOD)),
      fc.string(),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value), { maxLength: 4 }), (more) => {
        const parameters = [...asked(Object.fromEntries(more.slice(0, 2))), ...more.slice(2)];
        try {
          readClientId(parameters);
          read(parameters);
        } catch (error) {
          if (error instanceof PageFault) expect([400, 422]).to.include(error.status);
          else if (error instanceof RedirectFault) expect(error.answerTo.redirectUri).to.equal(REDIRECT);
          else throw error;
        }
      }),
      { seed: randomSeed(), numRuns: 1_000 },
    );
  });
});

describe('the answer to an authorization request', () => {
  it('keeps the redirect URI as it is and brings state back unchanged, with iss', () => {
    const url = redirection({ redirectUri: REDIRECT, state: 'a b+c&d=é' }, BASE, { code: 'x' });
    expect(url).to.equal(`${REDIRECT}&code=x&state=a%20b%2Bc%26d%3D%C3%A9&iss=${encodeURIComponent(BASE)}`);
    expect(
      redirection({ redirectUri: 'org.example.app:/back', state: 's' }, BASE, { error: 'access_denied' }),
    ).to.match(/^org\.example\.app:\/back\?error=access_denied&state=s&iss=/);
    for (const redirectUri of ['https://a.example/?', 'https://a.example/?x=1&'])
      expect(redirection({ redirectUri, state: 's' }, BASE, { code: 'x' })).to.include(
        `${redirectUri}code=x`,
      );
  });

  it('brings any state back, and nothing else into the URL', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (state) => {
        const url = new URL(redirection({ redirectUri: REDIRECT, state }, BASE, { code: 'x' }));
        expect(url.searchParams.getAll('state')).to.deep.equal([state]);
        expect([...url.searchParams.keys()]).to.deep.equal(['tenant', 'code', 'state', 'iss']);
      }),
      { seed: randomSeed() },
    );
  });

  it('is a target of forms by its origin, or by its scheme', () => {
    expect(formTarget(REDIRECT)).to.equal('https://app.example.org');
    expect(formTarget('http://localhost:5173/callback')).to.equal('http://localhost:5173');
    expect(formTarget('http://[::1]:5173/callback')).to.equal('http:');
    expect(formTarget('https://a.example;x/back')).to.equal('https:');
    expect(formTarget('org.example.app:/back')).to.equal('org.example.app:');
  });
});
