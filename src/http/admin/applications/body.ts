/** Validates application registrations and changes to them (docs/spec/decisions.md, section 7; RFC 7591, section 2). */
import { z } from 'zod';
import { keySetSchema } from '#src/oauth/key-set.ts';
import { parseScope } from '#src/oauth/scopes.ts';
import { environment } from '../../api/schemas.ts';
import { name } from '../schemas.ts';
import { redirectFault } from './redirect-uri.ts';

/** Grants that an application may use (docs/spec/interface.md, section 5; docs/spec/decisions.md, section 7). */
const GRANT_TYPES = [
  'authorization_code',
  'refresh_token',
  'client_credentials',
  'urn:openid:params:grant-type:ciba',
  'urn:annal:params:oauth:grant-type:identity',
] as const;

/** Grant types for which the application proves its identity with a secret. */
const CONFIDENTIAL: ReadonlySet<string> = new Set([
  'client_credentials',
  'urn:openid:params:grant-type:ciba',
]);

/** Returns what is wrong with a scope, phrased to end a sentence; undefined if the scope can be granted. */
export function scopeFault(scope: string): string | undefined {
  const parsed = parseScope(scope);
  return 'fault' in parsed ? parsed.fault : undefined;
}

/** An `https` URL, or an `http` URL on this machine. */
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

/** URIs to which people may be redirected. */
const uris = z.array(z.string()).max(20).refine(unique, { error: 'must not repeat a URI' });

/** The members that can be changed later. They have no defaults. */
const members = {
  redirect_uris: uris.describe(
    'Absolute and exact: compared character by character. Empty for an application without authorization_code.',
  ),
  post_logout_redirect_uris: uris.describe(
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
};

/** The members that never change. They determine which values the other members may have. */
export interface Fixed {
  readonly kind: 'public' | 'confidential';
  readonly grant_types: readonly string[];
}

/** Returns the faults of members that depend on other members, each with its path. */
export function findFaults(
  { kind, grant_types }: Fixed,
  asked: {
    readonly redirect_uris?: readonly string[] | undefined;
    readonly post_logout_redirect_uris?: readonly string[] | undefined;
    readonly jwks?: unknown;
    readonly jwks_uri?: string | undefined;
  },
): { readonly path: (string | number)[]; readonly message: string }[] {
  const { redirect_uris, post_logout_redirect_uris, jwks, jwks_uri } = asked;
  const wrong = Object.entries({ redirect_uris, post_logout_redirect_uris }).flatMap(([member, all = []]) =>
    all.flatMap((uri, index) => {
      const message = redirectFault(uri, kind);
      return message === undefined ? [] : [{ path: [member, index], message }];
    }),
  );
  const noKey = 'must not be set for a public application, because it cannot keep a private key';
  return [
    ...wrong,
    ...(grant_types.includes('authorization_code') && redirect_uris?.length === 0
      ? [
          {
            path: ['redirect_uris'],
            message: 'must have at least 1 item for the grant type authorization_code',
          },
        ]
      : []),
    ...(jwks !== undefined && jwks_uri !== undefined
      ? [{ path: ['jwks_uri'], message: 'must not be together with jwks: name one of them' }]
      : []),
    ...(kind === 'public' && jwks !== undefined ? [{ path: ['jwks'], message: noKey }] : []),
    ...(kind === 'public' && jwks_uri !== undefined ? [{ path: ['jwks_uri'], message: noKey }] : []),
  ];
}

/** The body of a registration. */
export const newApplication = z
  .strictObject({
    name,
    environment: environment
      .default('sandbox')
      .describe('Which records it can reach: sandbox or production records. It cannot be changed.'),
    kind: z.enum(['public', 'confidential']).describe('Whether it can keep a secret.'),
    redirect_uris: members.redirect_uris,
    post_logout_redirect_uris: members.post_logout_redirect_uris.default([]),
    scopes: members.scopes,
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
        'Public keys with which a confidential application signs (private_key_jwt). It then has no secret. They can be replaced later.',
      ),
    jwks_uri: webUrl.optional().describe('Where such keys are fetched; not together with `jwks`.'),
    sector: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[\x21-\x7e]+$/, 'must consist of visible ASCII characters')
      .optional()
      .describe(
        'Applications in this project and environment with the same sector get the same pairwise ids. It cannot be changed. Default: the application has its own sector.',
      ),
  })
  .superRefine((asked, context) => {
    const { kind, grant_types } = asked;
    const fault = (path: (string | number)[], message: string): void => {
      context.addIssue({ code: 'custom', path, message });
    };
    for (const { path, message } of findFaults(asked, asked)) fault(path, message);
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

/** The body of a change: absent members stay as they are. */
export const applicationChange = z
  .strictObject({
    redirect_uris: members.redirect_uris.optional(),
    post_logout_redirect_uris: members.post_logout_redirect_uris.optional(),
    scopes: members.scopes.optional(),
    privacy_url: webUrl.nullable().optional().describe('null removes it.'),
    jwks: keySetSchema
      .optional()
      .describe('Public keys that replace the earlier ones, `jwks_uri`, or the client secret.'),
    jwks_uri: webUrl
      .optional()
      .describe('Like `jwks`, for keys that the service fetches; not together with `jwks`.'),
  })
  .meta({ examples: [{ redirect_uris: ['https://diary.example.org/callback'] }] });
