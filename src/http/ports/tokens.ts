import type { Access } from '#src/shared/access/access.ts';
import type { Environment } from '#src/shared/access/caller.ts';

/**
 * The current rights of an access token (`at_…`). A token has none if it has expired, has been revoked, or has lost its grant.
 */
export type TokenCaller =
  | {
      /** A token from `client_credentials`. */
      readonly kind: 'client';
      readonly applicationId: string;
      readonly project: string;
      readonly environment: Environment;
      readonly keyScopes: readonly ('read' | 'write')[];
      /** Letters for each type, if the token's scopes name types. */
      readonly types?: Access;
      readonly resources: readonly string[];
      /** Set while the sandbox that the token gives access to is being filled. */
      readonly isBeingFilled?: true;
    }
  | {
      /** A token of a member of the project's organization, if the member's current role is sufficient. */
      readonly kind: 'member';
      readonly issuer: string;
      readonly subject: string;
      readonly project: string;
      readonly environment: Environment;
      readonly keyScopes: readonly ('read' | 'write')[];
      readonly resources: readonly string[];
      /** Set while the sandbox that the token gives access to is being filled. */
      readonly isBeingFilled?: true;
    }
  | {
      readonly kind: 'grant';
      readonly applicationId: string;
      readonly project: string;
      readonly environment: Environment;
      readonly grantId: string;
      /** The project that the record belongs to, in the same environment. */
      readonly ownerProject: string;
      /** The real id of the record's Patient. */
      readonly record: string;
      /** The pairwise id of the record's Patient. */
      readonly patient: string;
      /** SMART scopes, normalised. */
      readonly scopes: readonly string[];
      /** The access that the scopes give. */
      readonly access: Access;
      /** The grant's stated purpose. */
      readonly purpose: string | null;
      /** URLs below which the token can be used (RFC 8707); if empty, it can be used everywhere. */
      readonly resources: readonly string[];
      /** Set while the sandbox that the token gives access to is being filled. */
      readonly isBeingFilled?: true;
    };

/** Finds an access token's rights by the token's SHA-256 in hex. Each call queries the database. */
export type FindToken = (sha256: string) => Promise<TokenCaller | undefined>;
