/**
 * Open projects with their keys and applications, as the members of their organization see them. Deleted projects, keys and
 * applications aren't included.
 */
import type { Pool } from 'pg';
import { type Environment, isFilling } from '#src/shared/access/caller.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import type { Role } from '#src/shared/access/member.ts';
import { MEMBERSHIP, membershipValues } from './membership.ts';
import { type Page, type PageAsked, readPage } from './page.ts';

/** A project; times are microseconds since 1970, as everywhere in this file. */
export interface ProjectRow {
  readonly id: string;
  readonly organization: string;
  readonly name: string;
  readonly created_at: number;
}

/** A project that a request names. */
export interface NamedProject extends ProjectRow {
  /** True while the project's sandbox is being filled. */
  readonly filling: boolean;
}

/** A key, without secrets. */
export interface KeyRow {
  readonly id: string;
  readonly project: string;
  readonly name: string;
  readonly environment: Environment;
  readonly scopes: readonly ('read' | 'write')[];
  readonly last4: string;
  readonly created_at: number;
  /** Null if the key doesn't expire. */
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
  readonly last_used_at: number | null;
}

/** An application, without the hash of its secret. */
export interface ApplicationRow {
  readonly id: string;
  readonly project: string;
  readonly client_id: string;
  readonly name: string;
  readonly environment: Environment;
  readonly kind: 'public' | 'confidential';
  readonly redirect_uris: readonly string[];
  readonly post_logout_redirect_uris: readonly string[];
  readonly scopes: readonly string[];
  readonly grant_types: readonly string[];
  readonly privacy_url: string | null;
  readonly logo_uri: string | null;
  readonly client_uri: string | null;
  readonly tos_uri: string | null;
  readonly color: string | null;
  readonly logo_sha256: string | null;
  readonly logo_type: string | null;
  readonly logo_size: number | null;
  /** The registered keys, as JSON. */
  readonly jwks: string | null;
  readonly jwks_uri: string | null;
  readonly sector: string | null;
  /** The time until which the previous secret works; it may have passed. */
  readonly previous_until: number | null;
  readonly trusted: boolean;
  readonly created_at: number;
}

/** An object that belongs to an organization, with the caller's role there. */
export type Held<T> = T & { readonly role: Role };

/**
 * Queries about projects. Queries for a single object return undefined if it doesn't exist or the person has no access to it.
 */
export interface Projects {
  readonly projects: (organization: string, asked: PageAsked) => Promise<Page<ProjectRow>>;
  readonly project: (identity: Identity, id: string) => Promise<Held<NamedProject> | undefined>;
  readonly keys: (project: string, asked: PageAsked) => Promise<Page<KeyRow>>;
  readonly key: (identity: Identity, id: string) => Promise<Held<KeyRow> | undefined>;
  readonly applications: (project: string, asked: PageAsked) => Promise<Page<ApplicationRow>>;
  readonly application: (identity: Identity, id: string) => Promise<Held<ApplicationRow> | undefined>;
  /** Returns an application of any organization, for operators. */
  readonly anyApplication: (id: string) => Promise<ApplicationRow | undefined>;
}

const PROJECT = 'p.id, p.organization, p.name, p.created_at';
const KEY = `k.key_id as id, k.project, k.name, k.environment, k.scopes, k.last4, k.created_at, k.expires_at,
  k.revoked_at,  u.used_at as last_used_at`;
const KEYS = 'projects.api_key k left join operations.key_use u on u.key_id = k.key_id';
const APPLICATION = `a.id, a.project, a.client_id, a.name, a.environment, a.kind, a.redirect_uris,
  a.post_logout_redirect_uris, a.scopes, a.grant_types,
  a.privacy_url, a.logo_uri, a.client_uri, a.tos_uri, a.color, a.logo_sha256, a.logo_type, a.logo_size,
  a.jwks, a.jwks_uri, a.sector, a.previous_until, a.trusted, a.created_at`;

/** Creates the queries. */
export function openProjects(pool: Pool): Projects {
  /** Reads one row by its primary key or a unique index, with the caller's membership. */
  const held = async <T extends { readonly role: Role }>(
    name: string,
    text: string,
    identity: Identity,
    id: string,
  ): Promise<T | undefined> => {
    const values = [...membershipValues(identity), id];
    const { rows } = await pool.query<T>({ name, text, values });
    return rows[0];
  };
  const ofMember = `join ${MEMBERSHIP} m on m.organization = p.organization`;
  const ofProject = (table: string): string =>
    `join projects.project p on p.id = ${table}.project and p.deleted_at is null ${ofMember}`;
  return {
    projects: (organization, asked) =>
      readPage(
        pool,
        {
          name: 'projects',
          rows: `select ${PROJECT} from projects.project p where p.organization = $1 and p.deleted_at is null`,
          values: [organization],
        },
        asked,
      ),
    project: (identity, id) =>
      held(
        'project',
        `select ${PROJECT}, ${isFilling('p')} as filling, m.role from projects.project p ${ofMember} where p.id = $5 and p.deleted_at is null`,
        identity,
        id,
      ),
    keys: (project, asked) =>
      readPage(
        pool,
        { name: 'keys', rows: `select ${KEY} from ${KEYS} where k.project = $1`, values: [project] },
        asked,
      ),
    key: (identity, id) =>
      held('key', `select ${KEY}, m.role from ${KEYS} ${ofProject('k')} where k.key_id = $5`, identity, id),
    applications: (project, asked) =>
      readPage(
        pool,
        {
          name: 'applications',
          rows: `select ${APPLICATION} from projects.application a where a.project = $1 and a.deleted_at is null`,
          values: [project],
        },
        asked,
      ),
    application: (identity, id) =>
      held(
        'application',
        `select ${APPLICATION}, m.role from projects.application a ${ofProject('a')}
         where a.id = $5 and a.deleted_at is null`,
        identity,
        id,
      ),
    async anyApplication(id) {
      const { rows } = await pool.query<ApplicationRow>({
        name: 'any-application',
        text: `select ${APPLICATION} from projects.application a
          join projects.project p on p.id = a.project and p.deleted_at is null
         where a.id = $1 and a.deleted_at is null`,
        values: [id],
      });
      return rows[0];
    },
  };
}
