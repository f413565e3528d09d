/** Errors of the authorization server (RFC 6749, sections 4.1.2.1 and 5.2). */

/** Error codes, each with the HTTP status for an answer that isn't a redirect. */
const STATUS = {
  invalid_request: 400, // RFC 6749
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  access_denied: 400,
  server_error: 500,
  temporarily_unavailable: 503,
  invalid_target: 400, // RFC 8707
  unsupported_token_type: 400, // RFC 7009
  login_required: 400, // OpenID Connect Core, section 3.1.2.6
  consent_required: 400,
  interaction_required: 400,
  account_selection_required: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  registration_not_supported: 400,
  invalid_binding_message: 400, // OpenID CIBA Core, section 13
  authorization_pending: 400, // OpenID CIBA Core, section 11
  slow_down: 400,
  expired_token: 400,
  invalid_token: 401, // RFC 6750, section 3.1
  insufficient_scope: 403,
} as const;

/** The value of `error`. */
export type OAuthErrorCode = keyof typeof STATUS;

/** An error that is sent to the client as `{error, error_description}`, or by a redirect. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError';
  readonly error: OAuthErrorCode;
  /** A sentence in visible ASCII without `"` and `\`, as RFC 6749 requires for `error_description`. */
  readonly description: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;

  /**
   * @param description characters that RFC 6749 excludes are replaced by `?`
   * @param about headers, and a status if it differs from the code's status; for `invalid_client`, the challenge `Basic` is
   *   added automatically
   */
  constructor(
    error: OAuthErrorCode,
    description: string,
    about: { readonly status?: number; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    const shown = description.slice(0, 1_000).replace(/[^\x20\x21\x23-\x5b\x5d-\x7e]/g, '?');
    super(`${error}: ${shown}`);
    this.error = error;
    this.description = shown;
    this.status = about.status ?? STATUS[error];
    this.headers = {
      ...(this.status === 401 ? { 'WWW-Authenticate': 'Basic realm="oauth", charset="UTF-8"' } : {}),
      ...about.headers,
    };
  }

  /** Returns the JSON body for an answer that isn't a redirect (RFC 6749, section 5.2). */
  get body(): { readonly error: OAuthErrorCode; readonly error_description: string } {
    return { error: this.error, error_description: this.description };
  }
}
