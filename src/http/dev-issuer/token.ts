/** `POST /dev/token`: exchanges a code for an ID token. */
import type { Context } from 'koa';
import type { DevIssuer } from '#src/dev-issuer/dev-issuer.ts';
import { tokenAnswer } from '#src/dev-issuer/token.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { readForm } from '../form-body.ts';

/** Responds to the request; errors have the form of RFC 6749, section 5.2. */
export async function answerToken(issuer: DevIssuer, ctx: Context): Promise<void> {
  ctx.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
  const { status, body } = await tokenAnswer(issuer, await readFormOr(ctx));
  ctx.status = status;
  ctx.body = body;
}

async function readFormOr(ctx: Context): Promise<URLSearchParams | undefined> {
  try {
    return await readForm(ctx);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
