/**
 * Renders the frame of every page for people: head, language menu, main part. It has no scripts and loads nothing from other
 * servers (WCAG 2.2 AA).
 */
import { Html, html } from '#src/shared/html.ts';
import { inlineSource, type PageNeeds } from '../answer/security-headers.ts';
import { type Here, languageMenu, textDirection } from './language-menu.ts';
import { STYLE } from './style.ts';
import { type Language, texts } from './texts.ts';

/** The content of a page. */
export interface Shell {
  readonly lang: Language;
  /** The window's title. It is also the page's heading unless `heading` is set. */
  readonly title: string;
  /** Null if `body` contains the heading. */
  readonly heading?: Html | null;
  readonly body: Html;
  /** Used for the language menu; undefined for a page that can't be shown again with GET, which has no such menu. */
  readonly here: Here | undefined;
  /** Additional elements in the head, for files that the page loads. */
  readonly head?: Html;
  /** Parts that only some pages have. */
  readonly around?: Around;
}

/** The frame around the main part, for pages that belong together. */
export interface Around {
  /** Where the service's name links to. */
  readonly home: string;
  /** Shown between the name and the language menu. */
  readonly account: Html;
  /** Shown next to the main part, or above it on a phone. */
  readonly navigation: Html;
  /** Further styles. */
  readonly style?: string;
}

/**
 * Returns what a page needs from the security headers.
 * @param forms targets of its forms, including redirects; `'none'` if it has no forms
 * @param images sources of images in addition to `data:`
 * @param style further styles, exactly as in `Around`
 */
export function shellNeeds(
  forms: readonly string[] = ["'none'"],
  images: readonly string[] = [],
  style?: string,
): PageNeeds {
  const styles = [STYLE, style ?? []].flat().map(inlineSource);
  return { styles, images: ['data:', ...images], forms, referrer: 'same-origin' };
}

/** Returns a page. */
export function shellPage({ lang, title, heading, body, here, head, around }: Shell): string {
  const menu = here === undefined ? html`` : languageMenu(lang, here);
  return html`<!doctype html>
<html lang="${lang}" dir="${textDirection(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Annal</title>
<link rel="icon" href="data:,">
<style>${new Html(STYLE)}</style>
${around?.style === undefined ? html`` : html`<style>${new Html(around.style)}</style>`}${head ?? html``}</head>
<body>
${around === undefined ? html`` : html`<a class="skip" href="#content">${texts(lang)('shell.skip')}</a>`}<header class="bar">
${
  around === undefined
    ? html`<span class="brand">Annal</span>
${menu}`
    : html`<a class="brand" href="${around.home}">Annal</a>
<div class="tools">${around.account}${menu}</div>`
}
</header>
${around?.navigation ?? html``}<main${around === undefined ? html`` : html` id="content" tabindex="-1"`}>
${heading === null ? html`` : html`<h1>${heading ?? title}</h1>`}
${body}
</main>
</body>
</html>
`.text;
}
