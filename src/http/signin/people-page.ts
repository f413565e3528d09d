/**
 * Responds with pages for people: in their language, with a language menu, and with a policy that allows only our own forms.
 */
import type { Context } from 'koa';
import { type Html, html } from '#src/shared/html.ts';
import { answerPage } from '../answer/security-headers.ts';
import { onwardPart, type Way } from '../pages/onward.ts';
import { shellNeeds, shellPage } from '../pages/shell.ts';
import { chooseLanguage, type Language, languagesFor, type Texts, texts } from '../pages/texts.ts';

/** The content of a page. */
export interface PeoplePage {
  readonly title: string;
  /** Default: the title. */
  readonly heading?: Html;
  readonly body: Html;
  /** Targets of the page's forms. Default: none. */
  readonly forms?: readonly string[];
  /** Path and query below BASE_URL that show the page again with GET; if undefined, the page has no language menu. */
  readonly again?: string | undefined;
  /**
   * Where a person can go from here, shown after `body`. A page on which a person can't continue has at least one such link.
   */
  readonly onward?: readonly Way[];
}

/** Returns a page's language: the one in `lang`, or else the one that the browser prefers. */
export function pageLanguage(
  ctx: Context,
  lang = new URLSearchParams(ctx.querystring).get('lang'),
): Language {
  if (lang !== null) return chooseLanguage(lang);
  return languagesFor(ctx.get('Accept-Language'))[0] ?? 'en';
}

/**
 * Responds with a page.
 * @param make returns the page's content, given the texts in the page's language
 */
export function answerPeople(
  ctx: Context,
  { status, lang, baseUrl }: { readonly status: number; readonly lang: Language; readonly baseUrl: string },
  make: (say: Texts) => PeoplePage,
): void {
  const say = texts(lang);
  const { title, heading, body, forms, again, onward = [] } = make(say);
  const root = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const url = again === undefined ? undefined : `${root}${again}`;
  const here = url === undefined ? undefined : { url, acceptLanguage: ctx.get('Accept-Language') };
  answerPage(
    ctx,
    status,
    shellPage({
      lang,
      title,
      ...(heading === undefined ? {} : { heading }),
      body: html`${body}
${onwardPart(say, root, onward)}`,
      here,
    }),
    shellNeeds(forms),
  );
  if (new URLSearchParams(ctx.querystring).get('lang') === null) ctx.vary('Accept-Language');
}
