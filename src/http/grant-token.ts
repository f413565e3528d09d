/**
 * What an endpoint does with an access token of a grant (docs/spec/decisions.md, section 9): each states it, and there is
 * no default, so that nothing opens to applications by omission.
 * - `accepted`: answers within the grant.
 * - `refused`: answers 403 and does nothing else, if the token is valid.
 * - `ignored`: is public and reads no credential.
 */
export type GrantToken = 'accepted' | 'refused' | 'ignored';
