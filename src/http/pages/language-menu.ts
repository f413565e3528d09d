/** Renders the language menu on every page. It consists of links, so it works without scripts. */
import { type Html, html } from '#src/shared/html.ts';
import { LANGUAGES, type Language, languagesFor, texts } from './texts.ts';

/** The page's location, for its language menu. */
export interface Here {
  /** Path and query of a GET that shows the page again, as the browser requests them, including BASE_URL's path. */
  readonly url: string;
  /** The browser's `Accept-Language`. */
  readonly acceptLanguage: string;
}

/** Returns the menu; each link leads to the same page with a different `lang`. */
export function languageMenu(lang: Language, { url, acceptLanguage }: Here): Html {
  const entries = languagesFor(acceptLanguage).map((each) =>
    each === lang
      ? html`<li><span lang="${each}" aria-current="true">${LANGUAGES[each]}</span></li>
`
      : html`<li><a href="${withLanguage(url, each)}" lang="${each}" hreflang="${each}" dir="${textDirection(each)}">${LANGUAGES[each]}</a></li>
`,
  );
  return html`<nav aria-label="${texts(lang)('shell.language')}">
<details class="menu">
<summary><span class="visually-hidden">${texts(lang)('shell.language')}: </span>${LANGUAGES[lang]}</summary>
<ul>
${entries}</ul>
</details>
</nav>`;
}

/** Returns the direction in which a language is written. */
export function textDirection(lang: Language): 'ltr' | 'rtl' {
  return lang === 'ar' ? 'rtl' : 'ltr';
}

/** Returns a path and query with a different `lang`. */
function withLanguage(url: string, lang: Language): string {
  const [path = '', query = ''] = url.split('#', 1)[0]?.split(/\?(.*)/s) ?? [];
  const parameters = new URLSearchParams(query);
  parameters.set('lang', lang);
  return `${path}?${parameters}`;
}
