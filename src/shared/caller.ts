/** The caller that a credential identifies, and the author in whose name they write. */
import type { AuthorType } from './author.ts';
import type { Issue } from './issue.ts';
import type { Tenant } from './tenant.ts';

/** What a credential allows. Later kinds (access tokens, ID tokens) join this union. */
export interface Caller {
  readonly kind: 'api_key';
  readonly tenant: Tenant;
  /** `tenantId(tenant)`: the value that rows are matched with. */
  readonly tenantId: string;
  readonly keyId: string;
  readonly scopes: readonly ('read' | 'write')[];
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
