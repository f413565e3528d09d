/** Validates the registration of an application (docs/spec/decisions.md, section 7; RFC 7591, section 2). */
import { z } from 'zod';
import { redirectFault } from '#src/http/admin/redirect-uri.ts';
import { keySetSchema } from '#src/oauth/key-set.ts';
import { parseScope } from '#src/oauth/scopes.ts';
import { environment } from '../api/schemas.ts';
import { name } from './schemas.ts';

/** Grants that an application may use (docs/spec/interface.md, section 5; docs/spec/decisions.md, section 7). */
const GRANT_TYPES = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:openid:params:grant-type:ciba',
  'urn:annal:params:oauth:grant-type:identity',
] as const;

/** Grant types for which the application proves its identity by a secret. */
const CONFIDENTIAL: ReadonlySet<string> = new Set([
  'client_credentials',
  'urn:openid:params:grant-type:ciba',
]);

/** Returns the error of a scope, as the rest of a sentence; undefined if it can be granted. */
export function scopeFault(scope: string): string | undefined {
  const parsed = parseScope(scope);
  return 'fault' in parsed ? parsed.fault : undefined;
}

/** An `https` URL, or `http` on this machine. */
export const webUrl = z
  .string()
  .max(2_000)
  .refine(
    (text) => {
      if (!URL.canParse(text) || !/^[\x21-\x7e]+$/.test(text)) return false;
      const { protocol, hostname, username, password } = new URL(text);
      if (username !== '' || password !== '') return false;
      return protocol === 'https:' || (protocol === 'http:' && /^(?:localhost|127\.0\.0\.1)$/.test(hostname));
    },
    { error: 'must be an https URL' },
  );

const unique = (all: readonly string[]): boolean => new Set(all).size === all.length;

/** The body of a registration. */
export const newApplication = z
  .strictObject({
    name,
    environment: environment
      .default('sandbox')
      .describe('Whose records it can reach: the sandbox’s or production’s. It cannot be changed.'),
    kind: z.enum(['public', 'confidential']).describe('Whether it can keep a secret.'),
    redirect_uris: z
      .array(z.string())
      .max(20)
      .refine(unique, { error: 'must not repeat a URI' })
      .describe(
        'Absolute and exact: compared character by character. Empty for an application without authorization_code.',
      ),
    post_logout_redirect_uris: z
      .array(z.string())
      .max(20)
      .refine(unique, { error: 'must not repeat a URI' })
      .default([])
      .describe(
        'Where a person may be sent after signing out at `/oauth/logout`. Compared like `redirect_uris`.',
      ),
    scopes: z
      .array(
        z
          .string()
          .max(300)
          .superRefine((scope, context) => {
            const message = scopeFault(scope);
            if (message !== undefined) context.addIssue({ code: 'custom', message });
          }),
      )
      .min(1)
      .max(100)
      .refine(unique, { error: 'must not repeat a scope' }),
    grant_types: z
      .array(z.enum(GRANT_TYPES))
      .min(1)
      .max(GRANT_TYPES.length)
      .refine(unique, { error: 'must not repeat a grant type' })
      .default(['authorization_code', 'refresh_token']),
    privacy_url: webUrl.optional(),
    jwks: keySetSchema
      .optional()
      .describe(
        'Public keys with which a confidential application signs (private_key_jwt). It then has no secret. Use `jwks_uri` to change keys later.',
      ),
    jwks_uri: webUrl.optional().describe('Where such keys are fetched; not together with `jwks`.'),
    sector: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[\x21-\x7e]+$/, 'must consist of visible ASCII characters')
      .optional()
      .describe(
        'Applications of this project and environment with the same sector get the same pairwise ids. It cannot be changed. Default: a sector of its own.',
      ),
  })
  .superRefine(({ kind, redirect_uris, post_logout_redirect_uris, grant_types, jwks, jwks_uri }, context) => {
    const fault = (path: (string | number)[], message: string): void => {
      context.addIssue({ code: 'custom', path, message });
    };
    for (const [member, uris] of Object.entries({ redirect_uris, post_logout_redirect_uris }))
      uris.forEach((uri, index) => {
        const wrong = redirectFault(uri, kind);
        if (wrong !== undefined) fault([member, index], wrong);
      });
    if (grant_types.includes('authorization_code') && redirect_uris.length === 0)
      fault(['redirect_uris'], 'must have at least 1 item for the grant type authorization_code');
    if (jwks !== undefined && jwks_uri !== undefined)
      fault(['jwks_uri'], 'must not be together with jwks: name one of them');
    if (kind === 'public' && jwks !== undefined)
      fault(['jwks'], 'must not be of a public application: it cannot keep a private key');
    if (kind === 'public' && jwks_uri !== undefined)
      fault(['jwks_uri'], 'must not be of a public application: it cannot keep a private key');
    grant_types.forEach((grant, index) => {
      if (kind === 'public' && CONFIDENTIAL.has(grant))
        fault(['grant_types', index], `must not be ${grant} for a public application: it has no secret`);
    });
  })
  .meta({
    examples: [
      {
        name: 'Health diary',
        environment: 'sandbox',
        kind: 'public',
        redirect_uris: ['http://localhost:5173/callback'],
        scopes: ['openid', 'fhirUser', 'launch/patient', 'patient/*.rs'],
      },
    ],
  });
