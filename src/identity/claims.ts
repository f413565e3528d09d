/** Reads the person from the claims of a verified ID token (OpenID Connect Core 1.0, sections 2 and 5.1). */
import type { JWTPayload } from 'jose';
import { z } from 'zod';
import type { Identity } from '#src/shared/access/identity.ts';
import { refusedToken } from './token-refusal.ts';

const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Rejects lone surrogates: the database stores each of them as U+FFFD, so two different subjects could become equal. */
const plain = (most: number) =>
  z
    .string()
    .min(1)
    .max(most)
    .refine((text) => !CONTROL.test(text) && text.isWellFormed());

/** The standard allows 255 ASCII characters. */
const subject = plain(255);
const email = plain(320).refine((text) => text.includes('@'));
const name = plain(200);

/**
 * Returns the person. Invalid optional claims are treated as absent.
 * @throws Refusal unauthenticated (401) if `sub` is invalid
 */
export function readIdentity(issuer: string, payload: JWTPayload): Identity {
  const sub = subject.safeParse(payload.sub);
  if (!sub.success)
    throw refusedToken('sub must be a text of 1 to 255 characters without control characters');
  const address = email.safeParse(payload.email).data;
  const called = name.safeParse(payload.name).data;
  // Some issuers send the boolean as a string.
  const verified = payload.email_verified === true || payload.email_verified === 'true';
  return {
    issuer,
    subject: sub.data,
    ...(address === undefined ? {} : { email: address }),
    emailVerified: address !== undefined && verified,
    ...(called === undefined ? {} : { name: called }),
  };
}
