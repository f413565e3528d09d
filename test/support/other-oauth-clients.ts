/** Applications that use oidc-client-ts and Auth.js, for `test/browser/oauth-clients.test.ts`. */
import { Auth, type AuthConfig } from '@auth/core';
import { InMemoryWebStorage, OidcClient, type RefreshState, WebStorageStateStore } from 'oidc-client-ts';

/** An application's settings. */
export interface ApplicationSettings {
  /** The service's BASE_URL. */
  readonly issuer: string;
  /** The application's own address. */
  readonly home: string;
  readonly clientId: string;
  readonly scope: string;
}

/** A person whom a library signed in. */
export interface SignedIn {
  readonly accessToken: string;
  readonly subject: string;
  readonly fhirUser: string;
  /** A later access token, if the library refreshed. */
  readonly later?: string;
  /** The URL to which the library sends the person to sign out, if it does. */
  readonly signOut?: string;
}

/**
 * An application that uses a library. `begin` returns the URL that the browser opens first; `finish` takes the URL with the
 * answer.
 */
export interface LibraryApplication {
  begin(): Promise<{ readonly url: string }>;
  finish(url: URL): Promise<SignedIn>;
}

/** Returns an application that uses oidc-client-ts, without its `UserManager`, which needs a window. */
export function byOidcClientTs({ issuer, home, clientId, scope }: ApplicationSettings): LibraryApplication {
  const client = new OidcClient({
    authority: issuer,
    client_id: clientId,
    redirect_uri: `${home}/callback`,
    post_logout_redirect_uri: `${home}/`,
    scope,
    loadUserInfo: true,
    stateStore: new WebStorageStateStore({ store: new InMemoryWebStorage() }),
  });
  return {
    begin: () => client.createSigninRequest({ nonce: 'n-once' }),
    async finish(url) {
      const { access_token, refresh_token, id_token, scope, profile } = await client.processSigninResponse(
        url.href,
      );
      if (refresh_token === undefined || id_token === undefined) throw new Error('tokens are missing');
      const state: RefreshState = {
        refresh_token,
        id_token,
        session_state: null,
        profile,
        ...(scope ? { scope } : {}),
      };
      const refreshed = await client.useRefreshToken({ state });
      const signOut = await client.createSignoutRequest({ id_token_hint: id_token });
      return {
        accessToken: access_token,
        subject: profile.sub,
        fhirUser: String(profile.fhirUser),
        later: refreshed.access_token,
        signOut: signOut.url,
      };
    },
  };
}

/** The path of Auth.js; Auth.js receives its responses below this path. */
export const AUTH_JS_PATH = '/auth';

/** Returns an application that uses Auth.js, which keeps its state in cookies. */
export function byAuthJs(
  { issuer, home, clientId, scope }: ApplicationSettings,
  clientSecret: string,
): LibraryApplication {
  const cookies = new Map<string, string>();
  let found: { token: string; subject: string; fhirUser: string } | undefined;
  const config: AuthConfig = {
    basePath: AUTH_JS_PATH,
    trustHost: true,
    secret: 'a secret of the application, for its cookies',
    providers: [
      {
        id: 'annal',
        name: 'Annal',
        type: 'oidc',
        issuer,
        clientId,
        clientSecret,
        checks: ['pkce', 'state'],
        authorization: { params: { scope } },
        idToken: false,
        profile: (profile, tokens) => {
          found = {
            token: String(tokens.access_token),
            subject: String(profile.sub),
            fhirUser: String(profile.fhirUser),
          };
          return { id: String(profile.sub) };
        },
      },
    ],
  };
  const ask = async (path: string, form?: URLSearchParams): Promise<Response> => {
    const answer = await Auth(
      new Request(`${home}${path}`, {
        headers: { Cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
        ...(form === undefined ? {} : { method: 'POST', body: form }),
      }),
      config,
    );
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      cookies.set(name, value);
    }
    return answer;
  };
  return {
    async begin() {
      const { csrfToken } = (await (await ask(`${AUTH_JS_PATH}/csrf`)).json()) as { csrfToken: string };
      const answer = await ask(`${AUTH_JS_PATH}/signin/annal`, new URLSearchParams({ csrfToken }));
      return { url: answer.headers.get('location') ?? '' };
    },
    async finish(url) {
      const answer = await ask(url.pathname + url.search);
      if (found === undefined) throw new Error(`nobody is signed in: ${answer.headers.get('location')}`);
      const { token, ...person } = found;
      return { accessToken: token, ...person };
    },
  };
}
