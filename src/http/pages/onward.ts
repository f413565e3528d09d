/** Renders links to what a person can do next, on pages where they can't continue. */
import type { Context } from 'koa';
import { type Html, html } from '#src/shared/html.ts';
import type { Texts } from './texts.ts';

/** A link that only one page has, or a place that many pages link to. */
export type Way = { readonly url: string; readonly text: string } | 'records' | 'start' | 'docs' | 'signin';

/** Paths of these places below BASE_URL, with the keys of their names. */
const PLACES = {
  records: { path: '/connections', text: 'home.title' },
  start: { path: '/', text: 'way.start' },
  docs: { path: '/docs', text: 'way.docs' },
  signin: { path: '/signin', text: 'signin.title' },
} as const;

/**
 * Returns the links, starting with the most likely one; empty if there are none.
 * @param root the service's path on its host, without a trailing slash
 */
export function onwardPart(say: Texts, root: string, ways: readonly Way[]): Html {
  if (ways.length === 0) return html``;
  const links = ways.map((way, index) => {
    const { url, text } = typeof way === 'string' ? placeNamed(say, root, way) : way;
    return html`<a class="${index === 0 ? 'button' : 'button second'}" href="${url}">${text}</a>
`;
  });
  return html`<p class="actions onward">${links}</p>`;
}

function placeNamed(
  say: Texts,
  root: string,
  name: keyof typeof PLACES,
): { readonly url: string; readonly text: string } {
  const { path, text } = PLACES[name];
  return { url: `${root}${path}?lang=${say.lang}`, text: say(text) };
}

/**
 * Returns a request's path and query as the browser requests them, because most forms are sent to the URL of their own page.
 * The result begins with exactly one slash: if there were two, a browser would take the text after them for another host.
 */
export function urlAgain(ctx: Context, root: string): string {
  const path = `${root}${ctx.path}`.replace(/^[/\\]+/, '/');
  return `${path}${ctx.querystring === '' ? '' : `?${ctx.querystring}`}`;
}
