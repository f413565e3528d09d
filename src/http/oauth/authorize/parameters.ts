/** Reads the parameters of a request to the authorization endpoint (RFC 6749, section 3.1). */
import type { Context } from 'koa';
import type { Parameters } from '#src/oauth/authorization/request.ts';
import { readForm } from '../../form-body.ts';

/**
 * Returns the parameters of the query, and those of the form of a POST: a parameter in both was sent twice.
 * @throws Refusal as `readForm` does
 */
export async function parametersOf(ctx: Context): Promise<Parameters> {
  const query = [...new URLSearchParams(ctx.querystring)];
  return ctx.method === 'POST' ? [...query, ...(await readForm(ctx))] : query;
}

/** Returns the first value of `lang`. */
export function langOf(parameters: Parameters): string | undefined {
  return parameters.find(([name]) => name === 'lang')?.[1];
}
