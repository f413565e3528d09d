/**
 * The caller that a credential identifies, the author in whose name the caller writes, and the unit of isolation: a project in
 * one of its two environments (docs/spec/interface.md, section 1). While a sandbox is being filled or reset, its lists would
 * be incomplete, so requests for them get 503 until it is complete (docs/sandbox.md).
 */

import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { Issue } from '../issue.ts';
import { unavailable } from '../refusal.ts';
import type { Micros } from '../time/time.ts';
import { type Access, readsWhatItWrites } from './access.ts';
import type { AuthorType } from './author.ts';

/** Sandbox and production are strictly separate. */
export type Environment = 'sandbox' | 'production';

/** The owner of a record or a directory. */
export interface Tenant {
  readonly project: string;
  readonly environment: Environment;
}

const ids = new Map<string, string>();

/**
 * Returns the tenant as a UUID for the rows of read models, which takes 16 bytes instead of 40. The UUID is derived, never
 * looked up.
 */
export function tenantId(tenant: Tenant): string {
  const key = `${tenant.project}/${tenant.environment}`;
  const known = ids.get(key);
  if (known !== undefined) return known;
  const hex = createHash('sha256').update(key).digest('hex').slice(0, 32);
  const id = `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
  if (ids.size < 10_000) ids.set(key, id);
  return id;
}

/** A request's credential. */
export type CallerCredential =
  | { readonly kind: 'api_key'; readonly keyId: string }
  /** An application of the project with its own token (`client_credentials`), which acts like an API key. */
  | { readonly kind: 'client'; readonly applicationId: string }
  /** An application with an access token for a grant. */
  | { readonly kind: 'grant'; readonly applicationId: string; readonly grantId: string }
  /** A recipient of a shared link to a record of the project. */
  | { readonly kind: 'shared_link'; readonly linkId: string }
  /** A member of the project's organization, with a token from the dashboard. */
  | { readonly kind: 'member'; readonly issuer: string; readonly subject: string }
  /** A person who reads one of their records on the pages; `calls.project` is the record's project. */
  | { readonly kind: 'person'; readonly issuer: string; readonly subject: string };

/**
 * The half of a caller that identifies who is calling, for rate limits, turns in queues, idempotency, usage, the request log,
 * event metadata, and webhooks.
 */
export interface Calls {
  /** The project that the credential belongs to, in its environment. A grant's record may belong to another project. */
  readonly project: Tenant;
  /** `tenantId(project)`. */
  readonly projectId: string;
  readonly credential: CallerCredential;
  readonly scopes: readonly ('read' | 'write')[];
  /** Why a member reads production records on a page. */
  readonly reason?: string;
}

/**
 * The half of a caller that determines which data the caller sees, for queries and look-ups, and who owns the data that the
 * caller writes.
 */
export interface Sees {
  /** The project, in its environment, that owns the records. */
  readonly owner: Tenant;
  /** `tenantId(owner)`: the value with which rows are compared. */
  readonly ownerId: string;
  /** If absent, the caller sees everything that the owner has. */
  readonly within?: Granted;
  /** Set if the caller sees a sandbox that is being filled. */
  readonly isFilling?: true;
  /**
   * A client's rights for each type, if its scopes name types; if absent, the rights from `Calls.scopes` apply to all types.
   */
  readonly types?: Access;
  /**
   * The point in time as of which data is read; absent for now. Even for an earlier time, what the caller may see also depends
   * on the present.
   */
  readonly asOf?: Micros;
}

/**
 * Returns a caller's access to each type, from a grant or from the caller's scopes; undefined if the access is the same for
 * all types.
 */
export function accessIn({
  within,
  types,
}: Pick<Sees, 'types'> & { readonly within?: Pick<Granted, 'access'> }): Access | undefined {
  return within?.access ?? types;
}

/** One record under a grant. */
export interface Granted {
  /** The real id of the record's Patient. */
  readonly record: string;
  /** The id by which the application knows the record's Patient (docs/spec/decisions.md, section 1). */
  readonly patient: string;
  readonly access: Access;
  /** The purpose that the grant states. */
  readonly purpose: string | null;
}

/** The rights of a project's credential. Except under a grant, both halves refer to the same project. */
export interface Caller {
  readonly calls: Calls;
  readonly sees: Sees;
}

/**
 * Returns a caller that acts in its own project and sees everything there.
 * @param isFilling true while the project's sandbox is being filled
 * @param types the access that its scopes give to each type; by default, the same access to all types
 */
export function ownCaller(
  project: Tenant,
  credential: CallerCredential,
  scopes: Calls['scopes'],
  isFilling = false,
  types?: Access,
): Caller {
  const id = tenantId(project);
  return {
    calls: { project, projectId: id, credential, scopes },
    sees: {
      owner: project,
      ownerId: id,
      ...filling(project, isFilling),
      ...(types === undefined ? {} : { types }),
    },
  };
}

/** Returns the members of `Sees` for a sandbox that is being filled; an empty object otherwise, and always for production. */
export function filling({ environment }: Tenant, isFilling: boolean): Pick<Sees, 'isFilling'> {
  return isFilling && environment === 'sandbox' ? { isFilling } : {};
}

/** Returns whether two callers are the same in both halves. If so, an answer prepared for one may be sent to the other. */
export function isSameCaller(one: Caller, other: Caller): boolean {
  // A grant's coverage may change between two requests, so two callers with grants never count as the same.
  if (accessIn(one.sees) !== undefined || accessIn(other.sees) !== undefined) return false;
  return (
    one.sees.ownerId === other.sees.ownerId &&
    one.sees.isFilling === other.sees.isFilling &&
    one.calls.projectId === other.calls.projectId &&
    isDeepStrictEqual(one.calls.credential, other.calls.credential) &&
    isDeepStrictEqual(one.calls.scopes, other.calls.scopes)
  );
}

/**
 * Returns the key that determines a request's turn in queues and its share of memory. The project has one key; so do all
 * grants to its applications together, all its shared links together, and all people who read its records together. So none of
 * these slows down the project's own requests, and applications don't slow down the requests of the record's owner.
 */
export function turnKey({ projectId, credential }: Calls): string {
  if (credential.kind === 'shared_link') return `${projectId}/shared-links`;
  if (credential.kind === 'person') return `${projectId}/people`;
  return credential.kind === 'grant' ? `${projectId}/grants` : projectId;
}

/**
 * Returns whether a caller may see stored data. If not, an answer shows only what its own request sent.
 * @param type of a resource that is written. Under a grant, and for a client whose scopes name types, the letters for this
 *   type decide; such a client never sees data if the type is unknown
 */
export function mayRead({ calls, sees }: Caller, type?: string): boolean {
  const access = accessIn(sees);
  if (access === undefined) return calls.scopes.includes('read');
  if (type === undefined) return sees.types === undefined && calls.scopes.includes('read');
  return readsWhatItWrites(access, type);
}

/** Returns the author type of a write that doesn't name one (docs/spec/decisions.md, section 9; contract, section 5). */
export function defaultAuthorType({ sees }: Caller): AuthorType {
  return sees.within === undefined ? 'import' : 'patient';
}

/** Returns whether an event's metadata names an AI as the author. */
export function isByAi({ author }: { readonly author?: { readonly type: AuthorType } | undefined }): boolean {
  return author?.type === 'ai';
}

/** A business identifier of a person or an organization in another project's directory. */
export interface OutsideIdentifier {
  readonly system?: string | undefined;
  readonly value: string;
}

/** A write's author and source, from its headers (docs/spec/interface.md, section 5). */
export interface Authorship {
  readonly authorType: AuthorType;
  /** `X-Service-Author-Model`: for an AI, the model that wrote the content. */
  readonly model?: string;
  /** `X-Service-Author-Ref`: `Practitioner/<id>`. */
  readonly authorRef?: string;
  /** `X-Service-Acting-As`: `Practitioner/<id>` or `PractitionerRole/<id>`. */
  readonly actingAs?: string;
  /** The author's name or, without an author, the name of the person acting; commands add it from the directory. */
  readonly authorName?: string;
  /** The name of the person acting, if different from the author; commands add it from the directory. */
  readonly actingName?: string;
  /** `X-Service-On-Behalf-Of`: `Organization/<id>`; commands add the organization's name from the directory. */
  readonly onBehalfOf?: { readonly reference: string; readonly display?: string };
  /**
   * Used under a grant, instead of references to the author, the person acting and the organization. Those references are to
   * the directory of the application's project; commands add identifiers from that directory.
   */
  readonly authorIdentifier?: OutsideIdentifier;
  readonly actingIdentifier?: OutsideIdentifier;
  readonly organization?: {
    readonly display?: string | undefined;
    readonly identifier?: OutsideIdentifier | undefined;
  };
  readonly sourceSystem?: string;
  readonly originId?: string;
  /**
   * True if the authorship was taken from an earlier event about the resource. The author was active then, and isn't looked up
   * again.
   */
  readonly inherited?: boolean;
  /** Faults in malformed headers; commands report them together with unknown references. */
  readonly faults?: readonly Issue[];
}

/** If filling hasn't finished after an hour, it has failed; the existing data is shown from then on. */
const LONGEST = '3600000000';

/**
 * Returns the SQL condition that a project's sandbox is incomplete.
 * @param p the alias of `projects.project`
 */
export function isFilling(p: string): string {
  return `(${p}.filling is not null and ${p}.filling_at > (extract(epoch from now()) * 1000000)::int8 - ${LONGEST})`;
}

/**
 * Checks that the caller's data is complete.
 * @throws Refusal unavailable (503, Retry-After) while the caller's sandbox is being filled
 */
export function requireFilled({ isFilling: filling }: Pick<Sees, 'isFilling'>): void {
  if (filling === true)
    throw unavailable('the sandbox is being filled with its synthetic patients; retry in a second');
}
