/** The person whom the claims of a verified ID token name (OpenID Connect Core 1.0, sections 2 and 5.1). */
import type { JWTPayload } from 'jose';
import { z } from 'zod';
import type { Identity } from '#src/shared/identity.ts';
import { refusedToken } from './token-refusal.ts';

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Half of a surrogate pair would be another subject's in the database, where all of them are U+FFFD. */
const plain = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine((text) => !CONTROL.test(text) && text.isWellFormed());

/** At most 255 ASCII characters, says the standard. */
const subject = plain(255);
const email = plain(320).refine((text) => text.includes('@'));
const name = plain(200);

/** @throws Refusal unauthenticated (401) when `sub` is none. A member that is not as it should be counts as absent. */
export function identityOf(issuer: string, payload: JWTPayload): Identity {
  const sub = subject.safeParse(payload.sub);
  if (!sub.success)
    throw refusedToken('sub must be a text of 1 to 255 characters without control characters');
  const address = email.safeParse(payload.email).data;
  const called = name.safeParse(payload.name).data;
  // Some issuers write the boolean as a text.
  const verified = payload.email_verified === true || payload.email_verified === 'true';
  return {
    issuer,
    subject: sub.data,
    ...(address === undefined ? {} : { email: address }),
    emailVerified: address !== undefined && verified,
    ...(called === undefined ? {} : { name: called }),
  };
}
