/** The callers that access tokens identify (docs/spec/interface.md, section 5). */
import type { Environment } from './tenant.ts';

/** An application with a `client_credentials` token: it may do what an API key of its project may. */
export interface ClientTokenCaller {
  readonly kind: 'client';
  readonly applicationId: string;
  readonly project: string;
  readonly environment: Environment;
  readonly keyScopes: readonly ('read' | 'write')[];
  /** RFC 8707; empty: the whole service. */
  readonly resources: readonly string[];
}

/** An application that acts for one patient under a grant. */
export interface GrantTokenCaller {
  readonly kind: 'grant';
  readonly applicationId: string;
  /** The application's project. */
  readonly project: string;
  readonly environment: Environment;
  readonly grantId: string;
  /** The record's Patient id, which the application must never see. */
  readonly record: string;
  /** The pairwise Patient id. */
  readonly patient: string;
  /** Of the token: what was granted, or less. */
  readonly scopes: readonly string[];
  /** RFC 8707; empty: the whole service. */
  readonly resources: readonly string[];
  /** When the token expires, at the latest with its grant. */
  readonly expiresAt: Date;
}

/** The caller of an access token. */
export type TokenCaller = ClientTokenCaller | GrantTokenCaller;
