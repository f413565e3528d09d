/**
 * Sets the headers of HTML pages. They restrict a page to the scripts, sources, frames and caches that it lists
 * (https://www.w3.org/TR/CSP3/, https://owasp.org/www-project-secure-headers/).
 */
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import type { Answer } from './answer.ts';
import { requireHead } from './send.ts';

/** The sources that a page needs, for its Content Security Policy. `'unsafe-inline'` is refused. */
export interface PageNeeds {
  /** For example `'self'`, or `inlineSource(text)` for a `style` element. */
  readonly styles?: readonly string[];
  readonly scripts?: readonly string[];
  readonly images?: readonly string[];
  readonly fonts?: readonly string[];
  readonly frames?: readonly string[];
  /** The origins to which the page's scripts may connect. */
  readonly connections?: readonly string[];
  /** The targets of the page's forms, including the targets of redirects. */
  readonly forms?: readonly string[];
  /**
   * Which requests include the page's URL. `same-origin`: only requests to this service, so that the page's forms send their
   * `Origin` (https://fetch.spec.whatwg.org/#append-a-request-origin-header) but other servers don't see the URL. Default:
   * none.
   */
  readonly referrer?: 'no-referrer' | 'same-origin';
}

/** Returns the source that allows an inline `style` or `script` with exactly this text. */
export function inlineSource(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/**
 * Returns a page's headers.
 * @throws TypeError for a source that would end its directive or allow all inline code.
 */
export function pageHeaders(needs: PageNeeds = {}): Readonly<Record<string, string>> {
  const directives = [
    ["default-src 'none'", []],
    ['style-src', needs.styles],
    ['script-src', needs.scripts],
    ['img-src', needs.images],
    ['font-src', needs.fonts],
    ['frame-src', needs.frames],
    ['connect-src', needs.connections],
    ['form-action', needs.forms ?? ["'none'"]],
    ["base-uri 'none'", []],
    ["frame-ancestors 'none'", []],
  ] as const;
  const policy = directives.flatMap(([name, sources]) => {
    if (sources === undefined) return [];
    for (const source of sources) {
      if (/[\s;,]|^'unsafe-inline'$/.test(source)) throw new TypeError(`${name} cannot have ${source}`);
    }
    return [[name, ...sources].join(' ')];
  });
  return {
    'Content-Security-Policy': policy.join('; '),
    'X-Frame-Options': 'DENY',
    'X-Content-Type-Options': 'nosniff',
    'Referrer-Policy': needs.referrer ?? 'no-referrer',
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': NO_FEATURES,
    'Cache-Control': 'no-store',
  };
}

/** Our pages use none of these features. */
const NO_FEATURES = 'camera=(), geolocation=(), microphone=(), payment=(), usb=()';

/** Other origins can't read a page, because pages are meant for people, not for other sites' scripts. */
const OF_SCRIPTS = ['Access-Control-Allow-Origin', 'Access-Control-Expose-Headers'] as const;

/** Returns a page as a response. */
export function makePage(ctx: Context, text: string, needs?: PageNeeds): Answer {
  requireHead(ctx).remove(...OF_SCRIPTS);
  const headers = { ...pageHeaders(needs), 'Content-Type': 'text/html; charset=utf-8' };
  return { status: 200, headers, body: text };
}

/** Responds with a page. */
export function answerPage(ctx: Context, status: number, text: string, needs: PageNeeds = {}): void {
  for (const name of OF_SCRIPTS) ctx.remove(name);
  ctx.status = status;
  ctx.set(pageHeaders(needs) as Record<string, string>);
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = text;
}
