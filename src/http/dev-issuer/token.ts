/**
 * `POST /dev/token`: exchanges a code for an ID token (RFC 6749, sections 4.1.3 and 5; OpenID Connect Core 1.0, section
 * 3.1.3).
 */
import { randomBytes } from 'node:crypto';
import type { Context } from 'koa';
import { redeemCode } from '#src/dev-issuer/codes.ts';
import { DEV_CLIENT, DEV_TOKEN_S, type DevIssuer } from '#src/dev-issuer/dev-issuer.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { readForm } from '../form-body.ts';

/** Answers it; errors are those of RFC 6749, section 5.2. */
export async function answerToken(issuer: DevIssuer, ctx: Context): Promise<void> {
  ctx.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  const form = await formOf(ctx);
  if (form === undefined)
    return refuse(ctx, 'invalid_request', 'the form is not valid application/x-www-form-urlencoded');
  const twice = [...new Set(form.keys())].some((name) => form.getAll(name).length > 1);
  if (twice) return refuse(ctx, 'invalid_request', 'a parameter occurs twice');
  const { grant_type, client_id, code, redirect_uri, code_verifier } = Object.fromEntries(form);
  if (grant_type !== 'authorization_code') {
    return refuse(ctx, 'unsupported_grant_type', 'grant_type must be authorization_code');
  }
  if (client_id !== DEV_CLIENT) return refuse(ctx, 'invalid_client', `client_id must be ${DEV_CLIENT}`);
  if (code === undefined || redirect_uri === undefined || code_verifier === undefined) {
    return refuse(ctx, 'invalid_request', 'code, redirect_uri and code_verifier are required');
  }
  const token = await redeemCode(issuer, { code, redirectUri: redirect_uri, verifier: code_verifier });
  if (token === undefined) {
    return refuse(
      ctx,
      'invalid_grant',
      'the code is unknown, used or expired, or was issued to another client',
    );
  }
  ctx.body = {
    // The standard wants one. It opens nothing: the interfaces take the ID token.
    access_token: randomBytes(32).toString('base64url'),
    token_type: 'Bearer',
    expires_in: DEV_TOKEN_S,
    scope: 'openid email profile',
    id_token: token,
  };
}

async function formOf(ctx: Context): Promise<URLSearchParams | undefined> {
  try {
    return await readForm(ctx);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}

function refuse(ctx: Context, error: string, description: string): void {
  ctx.status = 400;
  ctx.body = { error, error_description: description };
}
