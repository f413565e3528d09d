/**
 * An OpenID Connect issuer that a test can make lie. It signs anyone in without a page, and a test changes what it sends. Use
 * `oidc-provider.ts` for honest responses.
 */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { portOf } from './process.ts';

/** How responses differ from honest responses. */
export interface Script {
  /** Replacements for the redirect's parameters; undefined omits a parameter. */
  readonly redirect?: Readonly<Record<string, string | undefined>>;
  /** Replacements for the ID token's claims; undefined omits a claim. */
  readonly claims?: Readonly<Record<string, unknown>>;
  /** True to sign with a key that the issuer doesn't publish. */
  readonly foreignKey?: boolean;
  /** Replaces the token endpoint's response. */
  readonly token?: (response: ServerResponse) => void;
  /** True to publish no keys for now. */
  readonly withoutKeys?: boolean;
  /** Replacements for members of the discovery document. */
  readonly discovery?: Readonly<Record<string, unknown>>;
}

/** A running issuer. */
export interface ScriptedIssuer {
  readonly url: string;
  /** The issuer's behaviour from now on. */
  script: Script;
  /** The forms sent to its token endpoint. */
  readonly exchanges: readonly URLSearchParams[];
  stop(): Promise<void>;
}

/** Starts an issuer that always signs in a person whose `sub` is `scripted`. */
export async function startScriptedIssuer(): Promise<ScriptedIssuer> {
  const [own, foreign] = await Promise.all([generateKeyPair('RS256'), generateKeyPair('RS256')]);
  const jwk = { ...(await exportJWK(own.publicKey)), kid: 'k', alg: 'RS256', use: 'sig' };
  const exchanges: URLSearchParams[] = [];
  /** Nonces and clients, by code. */
  const codes = new Map<string, { readonly nonce: string | null; readonly client: string | null }>();
  const answers: Readonly<
    Record<string, (query: URLSearchParams, form: URLSearchParams, to: ServerResponse) => unknown>
  > = {
    '/.well-known/openid-configuration': (_, __, to) =>
      json(to, {
        issuer: issuer.url,
        authorization_endpoint: `${issuer.url}/authorize`,
        token_endpoint: `${issuer.url}/token`,
        jwks_uri: `${issuer.url}/jwks`,
        response_types_supported: ['code'],
        subject_types_supported: ['public'],
        id_token_signing_alg_values_supported: ['RS256'],
        authorization_response_iss_parameter_supported: true,
        ...issuer.script.discovery,
      }),
    '/jwks': (_, __, to) =>
      issuer.script.withoutKeys === true ? to.writeHead(503).end() : json(to, { keys: [jwk] }),
    '/authorize': (query, _, to) => {
      const code = `code-${codes.size}`;
      codes.set(code, { nonce: query.get('nonce'), client: query.get('client_id') });
      const target = new URL(query.get('redirect_uri') ?? '');
      const sent = { code, state: query.get('state') ?? '', iss: issuer.url, ...issuer.script.redirect };
      for (const [name, value] of Object.entries(sent))
        if (value !== undefined) target.searchParams.set(name, value);
      to.writeHead(303, { Location: target.href }).end();
    },
    '/token': async (_, form, to) => {
      exchanges.push(form);
      if (issuer.script.token !== undefined) return issuer.script.token(to);
      const known = codes.get(form.get('code') ?? '');
      const now = Math.floor(Date.now() / 1000);
      const claims = {
        iss: issuer.url,
        sub: 'scripted',
        aud: known?.client,
        nonce: known?.nonce,
        iat: now,
        exp: now + 300,
        email: 'scripted@example.org',
        email_verified: true,
        name: 'Scripted Person',
        ...issuer.script.claims,
      };
      const payload = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined));
      const id_token = await new SignJWT(payload)
        .setProtectedHeader({ alg: 'RS256', kid: 'k' })
        .sign((issuer.script.foreignKey === true ? foreign : own).privateKey);
      json(to, { access_token: 'opaque', token_type: 'Bearer', expires_in: 60, id_token });
    },
  };
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://issuer');
    void bodyOf(request).then(async (body) => {
      const answer = answers[pathname];
      if (answer === undefined) response.writeHead(404).end();
      else await answer(searchParams, new URLSearchParams(body), response);
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer: ScriptedIssuer = {
    url: `http://127.0.0.1:${portOf(server)}`,
    script: {},
    exchanges,
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return issuer;
}

function json(to: ServerResponse, body: object): void {
  to.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += String(part);
  return text;
}
