/** Formats applications for responses. */
import { z } from 'zod';
import type { ApplicationRow } from '#queries/admin/projects.ts';
import { logoPath } from '#src/oauth/clients.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { environment, instant } from '../../api/schemas.ts';
import { toInstantOrNull } from '../answers.ts';

const storedKeys = z.object({ keys: z.array(z.looseObject({ kty: z.string() })) });

const branding = z.object({
  logo_uri: z.string().nullable(),
  client_uri: z.string().nullable(),
  tos_uri: z.string().nullable(),
  color: z.string().nullable(),
  logo: z
    .object({ url: z.string(), content_type: z.string(), size: z.int().describe('In bytes.') })
    .nullable()
    .describe('The uploaded logo, served by this service.'),
});

/** An application. */
export const applicationSchema = z
  .object({
    id: z.string(),
    project_id: z.string(),
    client_id: z.string(),
    name: z.string(),
    environment,
    kind: z.enum(['public', 'confidential']),
    redirect_uris: z.array(z.string()),
    post_logout_redirect_uris: z.array(z.string()),
    scopes: z.array(z.string()),
    grant_types: z.array(z.string()),
    privacy_url: z.string().nullable(),
    jwks: z.object({ keys: z.array(z.looseObject({ kty: z.string() })) }).nullable(),
    jwks_uri: z.string().nullable(),
    sector: z.string().nullable().describe('null: the application has its own sector.'),
    previous_secret_expires_at: instant
      .nullable()
      .describe(
        'After a rotation: the time until which the previous client secret works; null if only the current one works.',
      ),
    branding: branding.describe('Branding that the consent page shows beside the name.'),
    trusted: z.boolean().describe('Whether the operator lets it use the first-party identity grant.'),
    created_at: instant,
  })
  .meta({ id: 'Application' });

/** An application that was just registered. */
export const shownApplication = applicationSchema
  .extend({
    client_secret: z
      .string()
      .optional()
      .describe('For a confidential application. Shown only now; the service stores its SHA-256.'),
  })
  .meta({ id: 'NewApplication' });

type View = z.input<typeof applicationSchema>;

/**
 * Formats an application for a response.
 * @param now in microseconds: an expired secret is not shown.
 */
export function applicationView(row: ApplicationRow, baseUrl: string, now: Micros): View {
  const { logo_uri, client_uri, tos_uri, color, previous_until } = row;
  const works = previous_until !== null && previous_until > now;
  return {
    id: row.id,
    project_id: row.project,
    client_id: row.client_id,
    name: row.name,
    environment: row.environment,
    kind: row.kind,
    redirect_uris: [...row.redirect_uris],
    post_logout_redirect_uris: [...row.post_logout_redirect_uris],
    scopes: [...row.scopes],
    grant_types: [...row.grant_types],
    privacy_url: row.privacy_url,
    jwks: row.jwks === null ? null : storedKeys.parse(JSON.parse(row.jwks)),
    jwks_uri: row.jwks_uri,
    sector: row.sector,
    previous_secret_expires_at: works ? toInstantOrNull(previous_until) : null,
    branding: { logo_uri, client_uri, tos_uri, color, logo: renderLogo(row, baseUrl) },
    trusted: row.trusted,
    created_at: toInstantOrNull(row.created_at) ?? '',
  };
}

function renderLogo({ id, logo_sha256, logo_type, logo_size }: ApplicationRow, baseUrl: string) {
  if (logo_sha256 === null || logo_type === null || logo_size === null) return null;
  const url = baseUrl + logoPath(id, { sha256: logo_sha256 });
  return { url, content_type: logo_type, size: logo_size };
}
