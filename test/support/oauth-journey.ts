/** An application's steps through the pages to tokens, over HTTP, for testing the authorization server. */
import type { JSONWebKeySet } from 'jose';
import { z } from 'zod';
import {
  answerOf,
  authorizePath,
  CALLBACK,
  controlsOf,
  formOf,
  newChallenge,
  signInTo,
} from './authorization.ts';
import { PageVisitor } from './page-visitor.ts';
import { Answer } from './service.ts';

/** The parts of a registration that a client needs. */
export interface JourneyClient {
  readonly client_id: string;
  /** A confidential application's secret. */
  readonly client_secret?: string | undefined;
}

/** An authorization code, and what is needed to exchange it. */
export interface CodeInHand {
  readonly code: string;
  readonly verifier: string;
}

/** The members of token responses that tests read. */
export interface TokenAnswer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly error: string | undefined;
  readonly access_token: string;
  readonly refresh_token: string;
  readonly id_token: string;
  readonly token_type: string;
  readonly expires_in: number;
  readonly scope: string;
  readonly patient: string;
  readonly grant_id: string;
  readonly active: boolean;
  readonly [name: string]: unknown;
}

/** Everything that a person can allow. */
export const EVERYTHING = 'openid fhirUser launch/patient offline_access patient/*.rs';

/** A synthetic patient without dependents. */
export const PERSON = 's-001@patients.example.org';

type Fields = Readonly<Record<string, string | undefined>>;

/** How access is requested: the request's parameters, and which person decides for which of their records. */
interface Asked {
  readonly scope?: string;
  readonly resource?: string;
  readonly nonce?: string;
  readonly code_challenge?: string;
  readonly email?: string;
  readonly visitor?: PageVisitor;
  readonly record?: number;
}

/** Sends applications' requests to one service. */
export class Journey {
  constructor(readonly url: string) {}

  /**
   * Requests access, signs a person in and allows the request.
   * @param choose changes the fields of the consent form
   */
  async code(
    client: JourneyClient,
    {
      scope = EVERYTHING,
      email = PERSON,
      visitor = new PageVisitor(this.url),
      record = 0,
      ...changes
    }: Asked = {},
  ): Promise<CodeInHand> {
    const { verifier, challenge } = newChallenge();
    const path = authorizePath(client.client_id, { scope, code_challenge: challenge, ...changes });
    const first = await visitor.open(path);
    const page = first.url.includes('/oauth/consent') ? first : await signInTo(visitor, path, email);
    if (page.status !== 200) throw new Error(`no consent page: ${page.status} ${page.text.slice(0, 500)}`);
    const fields = formOf(page).filter(([name]) => name !== 'record');
    const chosen = controlsOf(page, 'record')[record]?.value ?? '';
    const sent = await visitor.submit([...fields, ['record', chosen], ['decision', 'allow']]);
    const code = answerOf(sent).get('code');
    if (code === null)
      throw new Error(`no code: ${sent.status} ${sent.headers.get('location')} ${sent.text.slice(0, 500)}`);
    return { code, verifier };
  }

  /** Sends a form. A client with a secret authenticates with Basic, any other client with `client_id`. */
  async post(
    path: string,
    client: JourneyClient | undefined,
    fields: Fields | URLSearchParams,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<TokenAnswer> {
    const body =
      fields instanceof URLSearchParams
        ? fields
        : new URLSearchParams(
            Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
          );
    const { client_id = '', client_secret } = client ?? {};
    if (client !== undefined && client_secret === undefined) body.set('client_id', client_id);
    const basic = `Basic ${Buffer.from(`${client_id}:${client_secret}`).toString('base64')}`;
    const response = await fetch(this.url + path, {
      method: 'POST',
      body,
      headers: { ...(client_secret === undefined ? {} : { Authorization: basic }), ...headers },
    });
    const text = await response.text();
    const json: object = text.startsWith('{') ? JSON.parse(text) : {};
    return {
      error: undefined,
      ...json,
      status: response.status,
      headers: response.headers,
      text,
    } as TokenAnswer;
  }

  /**
   * Exchanges a code.
   * @param changes replacements for fields; undefined omits a field
   */
  exchange(
    client: JourneyClient,
    { code, verifier }: CodeInHand,
    changes: Fields = {},
  ): Promise<TokenAnswer> {
    return this.post('/oauth/token', client, {
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: CALLBACK,
      ...changes,
    });
  }

  /** Exchanges a refresh token. */
  refresh(client: JourneyClient, refresh_token: string, changes: Fields = {}): Promise<TokenAnswer> {
    return this.post('/oauth/token', client, { grant_type: 'refresh_token', refresh_token, ...changes });
  }

  /**
   * Gets tokens.
   * @throws Error if no tokens are issued
   */
  async tokens(client: JourneyClient, options: Parameters<Journey['code']>[1] = {}): Promise<TokenAnswer> {
    const answer = await this.exchange(client, await this.code(client, options));
    if (answer.status !== 200) throw new Error(`no tokens: ${answer.status} ${answer.text}`);
    return answer;
  }

  /**
   * Reads with an access token.
   * @param path relative to the base, or a whole URL
   */
  async read(token: string, path: string, method = 'GET'): Promise<Answer> {
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: { Authorization: `Bearer ${token}` },
    });
    return new Answer(response.status, response.headers, await response.text());
  }

  /** Reads the Patient of a token response with the response's access token; returns the status. */
  async opens({ access_token, patient }: TokenAnswer): Promise<number> {
    return (await this.read(access_token, `/fhir/R4/Patient/${patient}`)).status;
  }
}

/**
 * Returns a response from `/oauth/jwks` as a key set.
 * @throws an error from zod for anything else
 */
export const keySetOf = (json: unknown): JSONWebKeySet =>
  z.object({ keys: z.array(z.looseObject({ kty: z.string() })) }).parse(json);
