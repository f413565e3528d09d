/** Schemas that several admin routes share. */
import { z } from 'zod';
import { ROLES } from '#src/shared/access/member.ts';
import { environment, instant } from '../api/schemas.ts';

/** A name chosen by a person. */
export const name = z.string().trim().min(1).max(200).describe('For people; need not be unique.');

/** Member roles: docs/admin.md. */
export const role = z.enum(ROLES);

/** The members that identify a person by their ID token. */
export const person = {
  issuer: z.string().min(1).max(500).describe('`iss` of their ID token.'),
  subject: z.string().min(1).max(255).describe('`sub` of their ID token.'),
};

/** Single sign-on settings (docs/spec/decisions.md, section 7). */
export const ssoSchema = z.object({
  issuer: z.string(),
  client_id: z.string(),
  domains: z.array(z.string()),
});

export const organizationSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    role: role.describe('The caller’s role.'),
    confirmed_domain: z.string().nullable().describe('The domain that an owner confirmed.'),
    sso: ssoSchema.nullable(),
    created_at: instant,
  })
  .meta({ id: 'Organization' });

export const projectSchema = z
  .object({
    id: z.string(),
    organization_id: z.string(),
    name: z.string(),
    created_at: instant,
  })
  .meta({ id: 'Project' });

/** A project, including its access to production. */
export const projectWithAccessSchema = projectSchema
  .extend({
    production: z.boolean().describe('Whether the project may create production keys and applications now.'),
  })
  .meta({ id: 'ProjectWithAccess' });

/** A key's scopes (docs/spec/interface.md, section 5). */
export const keyScope = z.enum(['read', 'write']);

/** Scopes, each once. */
export const keyScopes = z
  .array(keyScope)
  .min(1)
  .max(keyScope.options.length)
  .refine((all) => new Set(all).size === all.length, { error: 'must not repeat a scope' });

/** Describes a key, without the secret key itself. */
export const keySchema = z
  .object({
    id: z.string(),
    project_id: z.string(),
    name: z.string(),
    environment,
    scopes: z.array(keyScope),
    last4: z.string().describe('The last four characters of the key.'),
    created_at: instant,
    last_used_at: instant.nullable().describe('Updated at most once a minute.'),
    expires_at: instant.nullable().describe('When the key expires; null: never.'),
    revoked_at: instant.nullable(),
  })
  .meta({ id: 'Key' });
