/** Shows refusals as pages, because JSON is of no use to a person in a browser. */
import type { Context, Next } from 'koa';
import { html } from '#src/shared/html.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import { urlAgain } from '../pages/onward.ts';
import { formFaultPage } from './pages.ts';
import { answerPeople, pageLanguage } from './people-page.ts';

/** Returns the refusal for an error; undefined if the error is the service's fault. */
export type RefusalOf = (error: unknown) => Refusal | undefined;

/** Shows routes' refusals as pages. Errors that are the service's fault are rethrown, so that they are logged. */
export function pageErrors(baseUrl: string, refusalOf: RefusalOf) {
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal === undefined || refusal.kind === 'internal') throw error;
      const { status, headers } = refusal;
      ctx.set({ ...headers });
      const again = urlAgain(ctx, new URL(baseUrl).pathname.replace(/\/+$/, ''));
      answerPeople(ctx, { status, lang: pageLanguage(ctx), baseUrl }, (say) =>
        status < 500
          ? formFaultPage(say, again)
          : {
              title: say('shell.error'),
              body: html`<p role="alert">${say('error.service')}</p>`,
              onward: [{ url: again, text: say('signin.again') }, 'records'],
            },
      );
    }
  };
}
