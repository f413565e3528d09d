/** The caller that a credential identifies, and the author in whose name they write. */
import type { AuthorType } from './author.ts';
import type { Issue } from './issue.ts';
import type { Tenant } from './tenant.ts';

/** A project in one environment, and what its credential allows. */
interface ProjectCaller {
  readonly tenant: Tenant;
  /** `tenantId(tenant)`: the value that rows are matched with. */
  readonly tenantId: string;
  readonly scopes: readonly ('read' | 'write')[];
}

/** An API key. */
export interface KeyCaller extends ProjectCaller {
  readonly kind: 'api_key';
  readonly keyId: string;
}

/** An application of the project, with a token of its own (`client_credentials`); it acts like an API key. */
export interface ClientCaller extends ProjectCaller {
  readonly kind: 'client';
  readonly applicationId: string;
}

/** What a credential of a project allows. */
export type Caller = KeyCaller | ClientCaller;

/**
 * An application with an access token of a grant: it sees one record, under the pairwise id. It isn't a `Caller`, so that
 * nothing takes it that doesn't say so.
 */
export interface GrantCaller {
  readonly kind: 'grant';
  readonly applicationId: string;
  /** The application's project, in its environment. The record may belong to another project. */
  readonly tenant: Tenant;
  readonly grantId: string;
  /** The granted record: the real id of its Patient. */
  readonly record: string;
  /** The id of the record's Patient for the application (docs/spec/decisions.md, section 1). */
  readonly patient: string;
  /** SMART scopes, normalised. */
  readonly scopes: readonly string[];
}

/** Tells whether a caller may see stored data. If not, an answer shows only what its own request sent. */
export function mayRead({ scopes }: Pick<Caller, 'scopes'>): boolean {
  return scopes.includes('read');
}

/** The author and source headers of a write (docs/spec/interface.md, section 5). */
export interface Authorship {
  readonly authorType: AuthorType;
  /** `X-Service-Author-Ref`: `Practitioner/<id>`. */
  readonly authorRef?: string;
  /** `X-Service-Acting-As`: `Practitioner/<id>` or `PractitionerRole/<id>`. */
  readonly actingAs?: string;
  /** The name of the author, else of the person acting; commands add it from the directory. */
  readonly authorName?: string;
  /** The name of the person acting, if the author is another; commands add it from the directory. */
  readonly actingName?: string;
  /** `X-Service-On-Behalf-Of`: `Organization/<id>`; commands add the organization's name from the directory. */
  readonly onBehalfOf?: { readonly reference: string; readonly display?: string };
  readonly sourceSystem?: string;
  readonly originId?: string;
  /**
   * The authorship was taken from an earlier event of the resource: the author was active then and isn't looked up
   * again.
   */
  readonly inherited?: boolean;
  /** Faults of malformed headers; commands report them together with unknown references. */
  readonly faults?: readonly Issue[];
}
