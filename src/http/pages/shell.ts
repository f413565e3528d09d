/** The frame of every page for people: head, language menu, main part. No script, nothing from elsewhere (WCAG 2.2 AA). */
import { Html, html } from '#src/shared/html.ts';
import { inlineSource, type PageNeeds } from '../security-headers.ts';
import { directionOf, type Here, languageMenu } from './language-menu.ts';
import { STYLE } from './style.ts';
import type { Language } from './texts.ts';

/** The content of a page. */
export interface Shell {
  readonly lang: Language;
  /** Title of the window, and heading of the page unless `heading` differs. */
  readonly title: string;
  /** Null: `body` has it. */
  readonly heading?: Html | null;
  readonly body: Html;
  /** For the language menu; a page that can't be shown again with GET has none. */
  readonly here: Here | undefined;
}

/**
 * Returns the security needs of a page.
 * @param forms targets of its forms, redirects included; `'none'` without
 * @param images sources of images besides `data:`
 */
export function shellNeeds(forms: readonly string[] = ["'none'"], images: readonly string[] = []): PageNeeds {
  return { styles: [inlineSource(STYLE)], images: ['data:', ...images], forms, referrer: 'same-origin' };
}

/** Returns a page. */
export function shellPage({ lang, title, heading, body, here }: Shell): string {
  return html`<!doctype html>
<html lang="${lang}" dir="${directionOf(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} – Annal</title>
<link rel="icon" href="data:,">
<style>${new Html(STYLE)}</style>
</head>
<body>
<header class="bar">
<span class="brand">Annal</span>
${here === undefined ? html`` : languageMenu(lang, here)}
</header>
<main>
${heading === null ? html`` : html`<h1>${heading ?? title}</h1>`}
${body}
</main>
</body>
</html>
`.text;
}
