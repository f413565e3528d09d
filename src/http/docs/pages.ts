/** Renders the documentation's pages. They work offline, because everything they refer to is on this service. */
import { Html, html } from '#src/shared/html.ts';
import { ERRORS } from '../error-texts.ts';
import { type DocumentationPage, documentationPage } from './frame.ts';
import { allGuides, type Guide, targetIn } from './guides.ts';
import { readIndex, renderInline, renderMarkdown, splitSections } from './markdown.ts';
import { operationPart } from './operation-view.ts';
import type { Group, Operation, Reference } from './reference.ts';
import { SchemaView } from './schema-view.ts';
import { type Found, makeExcerpt } from './search.ts';

/** Renders the pages for one service. */
export class DocumentationPages {
  readonly #root: string;

  /** @param baseUrl the service's URL, without a trailing slash */
  constructor(private readonly baseUrl: string) {
    this.#root = new URL(baseUrl).pathname.replace(/\/+$/, '');
  }

  /** Returns the page that lists all operations. */
  list({ groups }: Reference): string {
    return this.#page({
      title: 'Interfaces',
      part: 'interfaces',
      beside: html`<nav id="groups" aria-label="Groups">
${groups.map(
  ({ name }) => html`<a href="#${groupAnchor(name)}">${name}</a>
`,
)}</nav>
`,
      body: html`<h1>Interfaces</h1>
<p class="lead">Every request of every interface, with a form that sends it. Rules for all of them: <a href="${this.#root}/docs/guides/api">credentials, retries and limits</a>. The machine-readable description is <a href="${this.#root}/openapi.json">openapi.json</a>.</p>
<div class="groups">
${groups.map((group) => this.#group(group))}</div>`,
    });
  }

  #group({ name, description, operations }: Group): Html {
    const rows = operations.map(
      ({
        operationId,
        method,
        path,
        summary,
      }) => html`<li><a class="row" href="${this.#root}/docs/operations/${operationId}" data-operation="${operationId}">${methodMark(method)} <code>${path}</code> <span>${renderInline(summary)}</span></a></li>
`,
    );
    return html`<details class="group" id="${groupAnchor(name)}">
<summary><h2 data-tag="${name}">${name}</h2> <span class="count">${operations.length}</span></summary>
<p class="lead small">${renderInline(description)}</p>
<ul class="operations">
${rows}</ul></details>
`;
  }

  /** Returns the page for one operation. */
  operation(operation: Operation, reference: Reference): string {
    const { tag, method, path, summary, operationId } = operation;
    const group = reference.groups.find(({ name }) => name === tag);
    const others = (group?.operations ?? []).map(
      (
        each,
      ) => html`<a href="${this.#root}/docs/operations/${each.operationId}"${each.operationId === operationId ? html` aria-current="true"` : html``}>${renderInline(each.summary)}</a>
`,
    );
    return this.#page({
      title: summary,
      part: 'interfaces',
      beside: sideMenu(`All of “${tag}”`, html`<nav aria-label="${tag}">${others}</nav>`),
      body: html`<p><a href="${this.#root}/docs#${groupAnchor(tag)}">${tag}</a></p>
<h1>${renderInline(summary)}</h1>
<h2 class="request-line">${methodMark(method)} <code>${path}</code></h2>
${operationPart(operation, new SchemaView(reference), this.baseUrl, this.#root)}`,
    });
  }

  /** Returns the page about error types, the target of `doc_url`. */
  errors(): string {
    const entries = ERRORS.map(
      ({ status, type, meaning, advice }) => html`<dt id="${type}">${status} <code>${type}</code></dt>
<dd>${renderInline(meaning)}<br>${renderInline(advice)}</dd>
`,
    );
    return this.#page({
      title: 'Errors',
      part: 'errors',
      body: html`<div class="prose"><h1>Errors</h1>
<p>On the FHIR interface an error is an OperationOutcome with the same status; elsewhere
<code>{"error": {"type", "message", "field", "errors", "request_id", "doc_url"}}</code>.</p>
<dl class="errors">
${entries}</dl>
<p><a href="${this.#root}/docs">All interfaces</a></p></div>`,
    });
  }

  /** Returns a guide's page. */
  guide(guide: Guide): string {
    const { name, file, title, markdown } = guide;
    const headings = splitSections(markdown).flatMap(({ heading }) =>
      heading?.depth === 2 ? [heading] : [],
    );
    const contents =
      headings.length < 3
        ? html``
        : html`<details class="contents"><summary>On this page</summary>
<ul>
${headings.map(
  ({ anchor, text }) => html`<li><a href="#${anchor}">${text}</a></li>
`,
)}</ul></details>`;
    const rendered = renderMarkdown(markdown, (href) => this.#target(file, href));
    const end = rendered.text.indexOf('</h1>') + '</h1>'.length;
    const [heading, rest] =
      end < '</h1>'.length ? ['', rendered.text] : [rendered.text.slice(0, end), rendered.text.slice(end)];
    return this.#page({
      title,
      part: 'guides',
      beside: this.#guides(name),
      body: html`<article class="guide">${new Html(heading)}
${contents}
${new Html(rest)}</article>`,
    });
  }

  /** Returns the page of search results. */
  results(asked: string, found: readonly Found[]): string {
    const results = found.map(
      ({
        path,
        title,
        within,
        text,
      }) => html`<li class="result"><h2><a href="${this.#root}/docs${path}">${title}</a></h2>
<p class="quiet small">${within === title ? 'Guide' : within}</p>
<p>${makeExcerpt(text, asked)}</p></li>
`,
    );
    const none = html`<p>${asked === '' ? 'Enter what you are looking for.' : 'Nothing was found. Try fewer or other words.'}</p>
<p><a href="${this.#root}/docs/guides">All guides</a></p>`;
    return this.#page({
      title: asked === '' ? 'Search' : `Search: ${asked}`,
      beside: this.#guides(undefined),
      asked,
      body: html`<h1>${asked === '' ? 'Search' : html`Results for “${asked}”`}</h1>
${
  found.length === 0
    ? none
    : html`<ol class="results">
${results}</ol>`
}`,
    });
  }

  /** Returns the URL that a link in a guide leads to: a page here, or another site. */
  #target(file: string, href: string): string | undefined {
    if (/^[a-z][a-z+.-]*:/i.test(href) || href.startsWith('#')) return href;
    if (href.startsWith('/')) return this.#root + href;
    const [path = '', ...fragment] = href.split('#');
    const target = targetIn(file, path);
    if (target === undefined) return undefined;
    return `${this.#root}/docs/guides${target}${fragment.length === 0 ? '' : `#${fragment.join('#')}`}`;
  }

  /** Returns the list of guides, in the same order as the index. */
  #guides(current: string | undefined): Html {
    const index = allGuides().get('');
    const sections = index === undefined ? [] : readIndex(index.markdown);
    return sideMenu(
      'All guides',
      html`<nav aria-label="Guides">
${sections.map(({ title, links }) => {
  const shown = links.flatMap(({ href, text }) => {
    const url = this.#target('README.md', href);
    const isCurrent = current !== undefined && url === `${this.#root}/docs/guides/${current}`;
    return url === undefined
      ? []
      : [
          html`<a href="${url}"${isCurrent ? html` aria-current="page"` : html``}>${text}</a>
`,
        ];
  });
  return html`<p>${title}</p>
${shown}`;
})}</nav>`,
    );
  }

  #page(page: DocumentationPage): string {
    return documentationPage(this.#root, page);
  }
}

/** Returns a list of links, shown next to the main part or, on a phone, collapsed above it. */
function sideMenu(title: string, links: Html): Html {
  return html`<div class="side">
<details class="narrow"><summary>${title}</summary>
${links}</details>
<div class="wide">${links}</div>
</div>
`;
}

function methodMark(method: string): Html {
  return html`<span class="method ${method.toLowerCase()}">${method}</span>`;
}

/** Returns a group's anchor. */
function groupAnchor(group: string): string {
  return `group-${group.toLowerCase().replace(/[^a-z0-9]+/g, '-')}`;
}
