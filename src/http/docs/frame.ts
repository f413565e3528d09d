/** Renders the frame of the documentation's pages: navigation to guides, interfaces and errors, and the search box. */
import { type Html, html } from '#src/shared/html.ts';
import type { PageNeeds } from '../answer/security-headers.ts';
import { shellNeeds, shellPage } from '../pages/shell.ts';

/** The content of a page. */
export interface DocumentationPage {
  readonly title: string;
  readonly body: Html;
  /** Shown next to the main part, or above it on a phone. */
  readonly beside?: Html;
  /** The part of the documentation that the page belongs to. */
  readonly part?: 'guides' | 'interfaces' | 'errors';
  /** The search text. */
  readonly asked?: string;
}

/**
 * Returns what the pages need from the security headers.
 * @param origin the service's origin as clients see it, to which requests are sent
 */
export function documentationNeeds(origin: string): PageNeeds {
  const needs = shellNeeds(["'self'"]);
  return {
    ...needs,
    styles: [...(needs.styles ?? []), "'self'"],
    scripts: ["'self'"],
    images: [...(needs.images ?? []), "'self'"],
    connections: ["'self'", origin],
    referrer: 'no-referrer',
  };
}

/**
 * Returns a page.
 * @param root the service's path on its host, without a trailing slash
 */
export function documentationPage(
  root: string,
  { title, body, beside, part, asked }: DocumentationPage,
): string {
  const parts = [
    ['guides', '/docs/guides', 'Guides'],
    ['interfaces', '/docs', 'Interfaces'],
    ['errors', '/docs/errors', 'Errors'],
  ] as const;
  const links = parts.map(
    ([name, path, text]) =>
      html`<a href="${root}${path}"${name === part ? html` aria-current="true"` : html``}>${text}</a>
`,
  );
  return shellPage({
    lang: 'en',
    title,
    heading: null,
    head: html`<link rel="stylesheet" href="${root}/docs/assets/annal.css">
${part === 'interfaces' ? referenceFiles(root) : html``}`,
    body,
    here: undefined,
    around: {
      home: `${root}/`,
      account: html`<nav class="parts" aria-label="Documentation">${links}</nav>
<form role="search" action="${root}/docs/search"><label class="visually-hidden" for="search">Search the documentation</label>
<input id="search" type="search" name="q" value="${asked ?? ''}" placeholder="Search the documentation" maxlength="200"></form>`,
      navigation: beside ?? html``,
    },
  });
}

/** Returns the elements that load the additional files for operations' pages. */
function referenceFiles(root: string): Html {
  return html`<link rel="stylesheet" href="${root}/docs/assets/reference.css">
<script src="${root}/docs/assets/reference.js" type="module"></script>`;
}
