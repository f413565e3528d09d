/**
 * Reads client ID metadata documents: client metadata (RFC 7591, section 2) that the client itself publishes
 * (draft-ietf-oauth-client-id-metadata-document, section 4). Everything in a document is only the client's own claim. Pure.
 */
import { z } from 'zod';
import { isSourceHost } from '#src/shared/source-host.ts';
import { knownScopes, MAX_SCOPES, normalise, PLAIN_SCOPES } from '../scopes.ts';

/** The facts that a guest's document states about the guest. */
export interface GuestDocument {
  /** Begins with the host, which is the only verified part. */
  readonly name: string;
  readonly redirectUris: readonly string[];
  /** The scopes that the guest can ask for, sorted. */
  readonly scopes: readonly string[];
  readonly grantTypes: readonly string[];
  readonly privacyUrl: string | undefined;
}

/** Thrown for a document that can't be used. The message explains why, for the client's developers. */
export class DocumentFault extends Error {
  override readonly name = 'DocumentFault';
}

const MOST_URIS = 50;
const MOST_URI = 2_000;
const MOST_NAME = 60;
const LOOPBACK: ReadonlySet<string> = new Set(['localhost', '127.0.0.1', '[::1]']);
/** The grant types that a guest can use, provided that its document lists them. */
const GRANT_TYPES = ['authorization_code', 'refresh_token'] as const;
/** If the document has no `scope`, a guest can ask a person for everything. */
const ALL = [...PLAIN_SCOPES, 'patient/*.cruds'];

const document = z.looseObject({
  client_id: z.string('client_id is missing'),
  client_name: z.string('client_name must be a text').optional(),
  redirect_uris: z
    .array(z.string(), 'redirect_uris must be a list of URLs')
    .min(1, 'redirect_uris is empty')
    .max(MOST_URIS, `redirect_uris must have at most ${MOST_URIS} URLs`),
  token_endpoint_auth_method: z
    .literal('none', 'token_endpoint_auth_method must be none: only public clients can be guests')
    .optional(),
  client_secret: z.undefined('client_secret must not be in the document').optional(),
  client_secret_expires_at: z.undefined('client_secret_expires_at must not be in the document').optional(),
  // The default in RFC 7591, section 2.
  grant_types: z
    .array(z.string(), 'grant_types must be a list of texts')
    .default(() => ['authorization_code']),
  response_types: z.array(z.string(), 'response_types must be a list of texts').default(() => ['code']),
  scope: z.string('scope must be a text').optional(),
  policy_uri: z.string('policy_uri must be a URL').optional(),
});

/**
 * Reads a document.
 * @param value parsed JSON
 * @param clientId the URL that it was fetched from
 * @throws DocumentFault
 */
export function readClientDocument(value: unknown, clientId: string): GuestDocument {
  const parsed = document.safeParse(value);
  if (!parsed.success) throw new DocumentFault(parsed.error.issues[0]?.message ?? 'it is not a JSON object');
  const { client_name, redirect_uris, grant_types, response_types, scope, policy_uri, client_id } =
    parsed.data;
  if (client_id !== clientId)
    throw new DocumentFault('client_id differs from the URL of the document; it must be the same');
  const { host } = new URL(clientId);
  for (const uri of redirect_uris) requireRedirect(uri, host);
  if (!grant_types.includes('authorization_code'))
    throw new DocumentFault('grant_types must contain authorization_code');
  if (!response_types.includes('code')) throw new DocumentFault('response_types must contain code');
  return {
    name: makeName(host, client_name),
    redirectUris: [...new Set(redirect_uris)],
    scopes: normalise(knownScopes(scope?.split(' ').slice(0, MAX_SCOPES) ?? ALL).filter(isOfPatients)),
    grantTypes: GRANT_TYPES.filter((type) => grant_types.includes(type)),
    privacyUrl: policy_uri !== undefined && isWebPage(policy_uri) ? policy_uri : undefined,
  };
}

/**
 * Returns whether a redirect URI is one of a guest's URIs. It must be identical to one of them; for a loopback URI, only the
 * port may differ (RFC 8252, section 7.3).
 */
export function isGuestRedirect(uri: string, registered: readonly string[]): boolean {
  if (registered.includes(uri)) return true;
  const asked = withoutPort(uri);
  return asked !== undefined && registered.some((own) => withoutPort(own) === asked);
}

/** Returns a loopback URL without its port; undefined for any other text. */
function withoutPort(uri: string): string | undefined {
  if (uri.length > MOST_URI || !isPlainUrl(uri)) return undefined;
  const [, host = '', rest = ''] = /^http:\/\/([^/:?]+|\[::1\])(?::\d{1,5})?((?:[/?].*)?)$/.exec(uri) ?? [];
  return LOOPBACK.has(host) ? `http://${host}${rest}` : undefined;
}

/**
 * Checks that a redirect URI leads to the client's own host or to the person's own machine.
 * @throws DocumentFault
 */
function requireRedirect(uri: string, host: string): void {
  const isOwn = isPlainUrl(uri) && /^https:/.test(uri) && new URL(uri).host === host;
  if (uri.length > MOST_URI || !(isOwn || withoutPort(uri) !== undefined))
    throw new DocumentFault(
      'every redirect_uri must be https on the host of the document, or http on localhost, 127.0.0.1 or [::1]',
    );
}

/** Returns whether a text is an absolute URL in visible ASCII that every parser reads in the same way. */
function isPlainUrl(text: string): boolean {
  if (!/^[\x21-\x7e]+$/.test(text) || /[#*\\@]/.test(text) || !/^https?:\/\/[^/?]/.test(text)) return false;
  if (!URL.canParse(text)) return false;
  const { hostname } = new URL(text);
  return isSourceHost(hostname) || hostname === '[::1]';
}

function isWebPage(text: string): boolean {
  return text.length <= MOST_URI && isPlainUrl(text) && /^https:/.test(text);
}

/** Returns the guest's name as people see it. The name that the guest claims may say anything, so it never comes first. */
function makeName(host: string, claimed: string | undefined): string {
  const name = [...(claimed ?? '').replace(/[\p{C}\p{Z}\s]+/gu, ' ').trim()].slice(0, MOST_NAME).join('');
  return name === '' ? host : `${host} (${name})`;
}

const isOfPatients = (scope: ReturnType<typeof knownScopes>[number]): boolean =>
  typeof scope === 'string' || scope.context === 'patient';
