/** Errors for sign-ins that failed. */
import type { SignInWish } from './session.ts';

/**
 * - `not_begun`: this browser hasn't begun such a sign-in, or the sign-in was used or has expired
 * - `denied`: the person or the issuer ended the sign-in
 * - `away`: the issuer can't be reached
 * - `not_fresh`: a new proof of identity was requested, and the issuer doesn't confirm that there was one
 * - `refused`: the issuer's answer failed a check
 */
export type SignInFaultKind = 'not_begun' | 'denied' | 'away' | 'not_fresh' | 'refused';

/** The data about a sign-in that another try needs. */
export type Begun = Pick<SignInWish, 'returnTo' | 'prompt' | 'maxAge'> & { readonly lang: string };

/** Thrown when a person could not be signed in. */
export class SignInFault extends Error {
  override readonly name = 'SignInFault';
  /**
   * @param message for the operator's log; quotes nothing that the issuer or a client sent
   * @param begun the request that another try repeats; undefined if unknown
   */
  constructor(
    readonly kind: SignInFaultKind,
    message: string,
    readonly begun?: Begun,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
