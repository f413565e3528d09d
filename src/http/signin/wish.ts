/** Reads the parameters in a link to the sign-in. */
import { z } from 'zod';
import { emailDomain } from '#src/shared/access/member.ts';
import { isOwnPath, type SignInWish } from '#src/shared/access/session.ts';

/** The page shown after a sign-in that doesn't name a page to return to. */
export const HOME = '/signin/out';

const optional = <T extends z.ZodType>(schema: T) => schema.optional().catch(undefined);

const schema = z.object({
  return_to: z.string().refine(isOwnPath).catch(HOME),
  issuer: optional(z.string().regex(/^[0-9a-f]{16}$/)),
  sso: optional(z.string().min(1).max(320)),
  prompt: optional(z.enum(['login', 'select_account'])),
  max_age: optional(
    z
      .string()
      .regex(/^\d{1,9}$/)
      .transform(Number),
  ),
  login_hint: optional(z.string().min(1).max(254)),
  lang: optional(z.string().max(35)),
});

/**
 * Parses the query of `/signin`. Invalid parameters are treated as absent, because the pages that link here check the session
 * themselves when the person returns.
 * @returns the sign-in request, the issuer's key if the link names an issuer, and the domain of an organization's single
 *   sign-on
 */
export function parseWish(query: string): {
  readonly wish: SignInWish;
  readonly issuer: string | undefined;
  readonly sso: string | undefined;
} {
  const parsed = schema.parse(Object.fromEntries(new URLSearchParams(query)));
  const { return_to: returnTo, issuer, prompt, max_age: maxAge, login_hint: loginHint, lang } = parsed;
  const sso = parsed.sso?.toLowerCase();
  const isAddress = sso?.includes('@') === true;
  return {
    wish: { returnTo, prompt, maxAge, loginHint: loginHint ?? (isAddress ? parsed.sso : undefined), lang },
    issuer,
    sso: isAddress ? emailDomain(sso ?? '') : sso,
  };
}
