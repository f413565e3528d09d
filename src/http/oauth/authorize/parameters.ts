/** Reads the parameters of a request to the authorization endpoint (RFC 6749, section 3.1). */
import type { Context } from 'koa';
import type { Parameters } from '#src/oauth/authorization/request.ts';
import { readForm } from '../../form-body.ts';
import { firstLanguage } from '../../pages/texts.ts';

/**
 * Returns the parameters in the query and, for a POST, in the form. A parameter that is in both is returned twice.
 * @throws the same errors as `readForm`
 */
export async function readParameters(ctx: Context): Promise<Parameters> {
  const query = [...new URLSearchParams(ctx.querystring)];
  return ctx.method === 'POST' ? [...query, ...(await readForm(ctx))] : query;
}

/**
 * Returns `lang` or, without it, the first of `ui_locales` in which the pages are available (OpenID Connect Core 1.0, section
 * 3.1.2.1).
 */
export function readLang(parameters: Parameters): string | undefined {
  const findValue = (own: string) => parameters.find(([name, value]) => name === own && value !== '')?.[1];
  return findValue('lang') ?? firstLanguage((findValue('ui_locales') ?? '').slice(0, 200).split(' '));
}
