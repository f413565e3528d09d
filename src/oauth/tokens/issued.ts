/** Tokens that were issued for a grant. */

/** Default lifetime of a refresh token, in days. */
export const REFRESH_TOKEN_DAYS = 30;

/** A grant's tokens, with the data for the answer and the ID token. */
export interface Issued {
  readonly accessToken: string;
  /** Undefined without `offline_access`. */
  readonly refreshToken: string | undefined;
  /** Seconds until the access token expires, which is never later than the grant ends. */
  readonly expiresIn: number;
  /** The scope of the access token. */
  readonly scope: string;
  readonly grantId: string;
  /** The pairwise Patient id. */
  readonly patient: string;
  /** The pairwise `sub`. */
  readonly subject: string;
  /** True if the record is the person's own, not a dependent's. */
  readonly own: boolean;
  /** When the person signed in, in seconds since 1970; undefined if unknown. */
  readonly authTime: number | undefined;
  /**
   * From the authorization request for which the code was issued; undefined if that request had no nonce, and after a refresh
   * (OpenID Connect Core 1.0, section 12.2).
   */
  readonly nonce?: string | undefined;
}

/** The columns that statements return for issued tokens; null if nothing was issued. */
export interface IssuedRow {
  readonly scope: string;
  readonly offline: boolean;
  readonly auth_time: number | null;
  readonly expires_in: number | null;
  /** Set only when a code is exchanged. */
  readonly nonce?: string | null;
  readonly grant_id: string | null;
  readonly patient: string | null;
  readonly pairwise_subject: string | null;
  readonly granted_by: string | null;
}

/** A chain that has ended because a used code or refresh token was presented again. */
export interface Reused {
  readonly record: string;
  readonly grantId: string;
}

/**
 * Returns the issued tokens; undefined if none were issued, because the grant isn't active or the row for the access token is
 * missing.
 */
export function readIssued(
  row: IssuedRow,
  { accessToken, refreshToken }: { readonly accessToken: string; readonly refreshToken: string },
): Issued | undefined {
  const { grant_id: grantId, patient, pairwise_subject: subject, expires_in: expiresIn } = row;
  if (grantId === null || patient === null || subject === null || expiresIn === null) return undefined;
  return {
    accessToken,
    refreshToken: row.offline ? refreshToken : undefined,
    expiresIn,
    scope: row.scope,
    grantId,
    patient,
    subject,
    own: row.granted_by !== 'representative',
    authTime: row.auth_time === null ? undefined : Math.floor(row.auth_time),
    nonce: row.nonce ?? undefined,
  };
}
