/** Links on a page that stops a person, to what they can do next. */
import type { Context } from 'koa';
import { type Html, html } from '#src/shared/html.ts';
import type { Texts } from './texts.ts';

/** A link of one page, or a place to which many pages lead. */
export type Way = { readonly url: string; readonly text: string } | 'records' | 'start' | 'docs' | 'signin';

/** Paths of the places below BASE_URL, with the keys of their names. */
const PLACES = {
  records: { path: '/connections', text: 'home.title' },
  start: { path: '/', text: 'way.start' },
  docs: { path: '/docs', text: 'way.docs' },
  signin: { path: '/signin', text: 'signin.title' },
} as const;

/**
 * Returns the links, the most likely one first; nothing without any.
 * @param root path of the service below its host, without a slash at its end
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
 * Returns path and query of a request as the browser asks for it: the page of most forms has the URL that they are sent to.
 * It begins with one slash: a browser would take what follows two for another host.
 */
export function urlAgain(ctx: Context, root: string): string {
  const path = `${root}${ctx.path}`.replace(/^[/\\]+/, '/');
  return `${path}${ctx.querystring === '' ? '' : `?${ctx.querystring}`}`;
}
