/** Finds the callers that access tokens belong to. Queries the database for every request, without a cache. */
import { LRUCache } from 'lru-cache';
import type { Queryable } from '#queries/database/gather.ts';
import type { Access } from '#src/shared/access/access.ts';
import { type Environment, isFilling } from '#src/shared/access/caller.ts';
import { knownScopes, systemAccess } from '../scopes.ts';
import { parseAccess } from './access.ts';
import { GRANT_END, LIVE_GRANT, OWNER_LIVE } from './live-grant.ts';
import { LIVE_MEMBER } from './member-token.ts';

/** An application to which an access token was issued. */
interface TokenApplication {
  readonly applicationId: string;
  /** The application's project. */
  readonly project: string;
  readonly environment: Environment;
  /** The resources from RFC 8707; empty for the whole service. */
  readonly resources: readonly string[];
  /** Set while the sandbox that the application sees is being filled. */
  readonly isBeingFilled?: true;
}

/**
 * An application with a `client_credentials` token. It has the same rights as an API key of its project, but possibly only for
 * some types.
 */
export interface ClientTokenCaller extends TokenApplication {
  readonly kind: 'client';
  readonly keyScopes: readonly ('read' | 'write')[];
  /** Letters for each type, if the token's scopes name types. */
  readonly types?: Access;
}

/** An application that acts for one patient under a grant. */
export interface GrantTokenCaller extends TokenApplication {
  readonly kind: 'grant';
  readonly grantId: string;
  /** The project that the record belongs to, in the same environment. */
  readonly ownerProject: string;
  /** The record's Patient id, which the application must never see. */
  readonly record: string;
  /** The pairwise Patient id. */
  readonly patient: string;
  /** The token's scopes: all the granted scopes, or fewer. */
  readonly scopes: readonly string[];
  /** The access that the scopes give. */
  readonly access: Access;
  /** The purpose that the grant states. */
  readonly purpose: string | null;
  /** When the token expires; never later than its grant. */
  readonly expiresAt: Date;
}

/** A member of the project's organization who uses the dashboard and has the same rights as an API key of the project. */
export interface MemberTokenCaller {
  readonly kind: 'member';
  readonly issuer: string;
  readonly subject: string;
  readonly project: string;
  readonly environment: Environment;
  readonly keyScopes: readonly ('read' | 'write')[];
  /** Always empty: the token works in the whole service. */
  readonly resources: readonly [];
  /** Set while the sandbox that the member sees is being filled. */
  readonly isBeingFilled?: true;
}

/** The caller that an access token belongs to. */
export type TokenCaller = ClientTokenCaller | GrantTokenCaller | MemberTokenCaller;

/**
 * Finds the caller by the hex SHA-256 of an access token. Returns undefined if the token is unknown, expired or revoked; if
 * the grant has ended; if the application, its project or the record's project was deleted; or if the member has lost the
 * role.
 */
export type FindTokenCaller = (sha256: string) => Promise<TokenCaller | undefined>;

/** A connection that combines look-ups from the same tick into one statement. */
export interface Gatherer {
  gather<K, V>(
    load: (database: Queryable, keys: readonly K[]) => Promise<readonly V[]>,
  ): (key: K) => Promise<V>;
}

interface Row {
  readonly sha256: string;
  /** Empty for a member's token. */
  readonly application_id: string;
  readonly project: string;
  readonly environment: Environment;
  readonly scope: string;
  readonly resource: string[];
  readonly expires_at: Date;
  /** Null except for members' tokens; the same applies to the next column. */
  readonly issuer: string | null;
  readonly subject: string | null;
  /** Null except for grants' tokens; the same applies to the next four columns. */
  readonly grant_id: string | null;
  readonly owner_project: string | null;
  readonly purpose: string | null;
  readonly record: string | null;
  readonly patient: string | null;
  readonly filling: boolean | null;
}

// Indexes: the primary keys of all tables.
const TOKEN_CALLERS = `
select encode(t.sha256, 'hex') as sha256, t.application_id, t.project, t.environment, t.scope, t.resource,
       least(t.expires_at, ${GRANT_END}) as expires_at, g.grant_id, g.owner_project, g.purpose, g.record, g.patient,
       null as issuer, null as subject, ${isFilling('o')} as filling
  from operations.oauth_token t
  join operations.oauth_chain c on c.id = t.chain and c.revoked_at is null
${LIVE_GRANT}
 where t.sha256 = any($1::bytea[]) and t.kind = 'access' and t.revoked_at is null and t.expires_at > now()
   and ${OWNER_LIVE}
union all
select encode(t.sha256, 'hex'), t.application_id, t.project, t.environment, t.scope, t.resource,
       t.expires_at, null, null, null, null, null, null, null, ${isFilling('p')}
  from operations.oauth_token t
  join projects.application a on a.id = t.application_id and a.deleted_at is null
  join projects.project p on p.id = a.project and p.deleted_at is null
 where t.sha256 = any($1::bytea[]) and t.kind = 'access' and t.chain is null and t.revoked_at is null
   and t.expires_at > now()
union all
select encode(t.sha256, 'hex'), '', t.project, t.environment, array_to_string(t.scopes, ' '), '{}'::text[],
       t.expires_at, null, null, null, null, null, t.issuer, t.subject, ${isFilling('p')}
  from operations.member_token t
${LIVE_MEMBER}
 where t.sha256 = any($1::bytea[]) and t.revoked_at is null and t.expires_at > now()`;

/** Creates the look-up for access tokens; look-ups that arrive together share one statement. */
export function openTokenCallers(line: Gatherer): FindTokenCaller {
  return line.gather<string, TokenCaller | undefined>(async (database, hashes) => {
    const { rows } = await database.query<Row>({
      name: 'oauth-token-callers',
      text: TOKEN_CALLERS,
      values: [[...new Set(hashes)].map((hex) => Buffer.from(hex, 'hex'))],
    });
    const callers = new Map(rows.map((row) => [row.sha256, makeTokenCaller(row)]));
    return hashes.map((hash) => callers.get(hash));
  });
}

const KEY_SCOPES = ['read', 'write'] as const;

function makeTokenCaller(row: Row): TokenCaller {
  const { grant_id: grantId, owner_project: ownerProject, record, patient, purpose } = row;
  const { project, environment, resource: resources, expires_at: expiresAt, issuer, subject } = row;
  const filling = row.filling === true ? ({ isBeingFilled: true } as const) : {};
  if (issuer !== null && subject !== null) {
    const keyScopes = KEY_SCOPES.filter((scope) => row.scope.split(' ').includes(scope));
    return { kind: 'member', issuer, subject, project, environment, keyScopes, resources: [], ...filling };
  }
  const application = { applicationId: row.application_id, project, environment, resources, ...filling };
  const scopes = row.scope.split(' ');
  if (grantId === null || ownerProject === null || record === null || patient === null) {
    return { kind: 'client', ...application, ...systemAccess(knownScopes(scopes)) };
  }
  const access = accessBy(row.scope, scopes);
  const within = { grantId, ownerProject, record, patient, scopes, access, purpose, expiresAt };
  return { kind: 'grant', ...application, ...within };
}

/** Access by the text of the scopes. There are few different texts, and each means the same for all grants. */
const accesses = new LRUCache<string, Access>({ max: 500 });

function accessBy(text: string, scopes: readonly string[]): Access {
  const known = accesses.get(text);
  if (known !== undefined) return known;
  const made = parseAccess(scopes);
  accesses.set(text, made);
  return made;
}
