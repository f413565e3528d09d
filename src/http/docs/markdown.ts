/** Renders Markdown as HTML, with the same heading anchors as on code hosts (https://github.github.com/gfm/). */
import GithubSlugger from 'github-slugger';
import { Marked, type Token, type Tokens } from 'marked';
import { Html, html } from '#src/shared/html.ts';

const marked = new Marked({ gfm: true });

/** A heading on a page. */
export interface Heading {
  readonly depth: number;
  readonly anchor: string;
  readonly text: string;
}

/** A part of a page, from one heading to the next. */
export interface Section {
  /** Null for the part before the first heading. */
  readonly heading: Heading | null;
  /** Without markup. */
  readonly text: string;
}

/** Returns the URL that a link leads to; undefined if the service has nothing there. */
export type Resolve = (href: string) => string | undefined;

/** Returns the first heading of a page; undefined if there isn't one. */
export function firstHeading(markdown: string): string | undefined {
  const [, text] = /^# (.+)$/m.exec(markdown) ?? [];
  return text;
}

/** Returns a page's sections, for its list of headings and the search. */
export function splitSections(markdown: string): readonly Section[] {
  const slugger = new GithubSlugger();
  const sections: { heading: Heading | null; text: string }[] = [{ heading: null, text: '' }];
  for (const token of marked.lexer(markdown)) {
    if (isHeading(token)) {
      const text = plainText(token.tokens);
      sections.push({ heading: { depth: token.depth, anchor: slugger.slug(text), text }, text: '' });
    } else {
      const last = sections.at(-1);
      if (last !== undefined) last.text += `${plainText([token])}\n`;
    }
  }
  return sections;
}

/** Returns a page as HTML. HTML markup in the page is shown as text, because guides contain none. */
export function renderMarkdown(markdown: string, resolve: Resolve): Html {
  const slugger = new GithubSlugger();
  const renderer = new Marked({
    gfm: true,
    renderer: {
      heading({ tokens, depth }) {
        const text = this.parser.parseInline(tokens);
        const id = slugger.slug(plainText(tokens));
        return depth === 1
          ? `<h1 id="${id}">${text}</h1>\n`
          : `<h${depth} id="${id}"><a class="anchor" href="#${id}">${text}</a></h${depth}>\n`;
      },
      link({ href, tokens }) {
        const text = this.parser.parseInline(tokens);
        const url = resolve(href);
        return url === undefined ? text : html`<a href="${url}">${new Html(text)}</a>`.text;
      },
      image({ href, text }) {
        const url = resolve(href);
        return url === undefined
          ? html`${text}`.text
          : html`<img src="${url}" alt="${text}" loading="lazy">`.text;
      },
      code: ({ text, lang }) => codeBlock(text, lang).text,
      table(token) {
        const cells = (row: readonly Tokens.TableCell[], tag: 'th' | 'td'): string =>
          row
            .map(
              (cell) =>
                `<${tag}${tag === 'th' ? ' scope="col"' : ''}>${this.parser.parseInline(cell.tokens)}</${tag}>`,
            )
            .join('');
        const rows = token.rows.map((row) => `<tr>${cells(row, 'td')}</tr>`).join('\n');
        const head = `<thead><tr>${cells(token.header, 'th')}</tr></thead>`;
        return `<div class="wide" tabindex="0" role="group" aria-label="Table"><table>${head}<tbody>\n${rows}\n</tbody></table></div>\n`;
      },
      html: ({ text }) => (text.startsWith('<!--') ? '' : html`${text}`.text),
    },
  });
  return new Html(renderer.parse(markdown, { async: false }));
}

/** Returns one line of Markdown, such as a description, as HTML without a paragraph around it. */
export function renderInline(markdown: string): Html {
  const renderer = new Marked({
    gfm: true,
    renderer: { html: ({ text }) => html`${text}`.text, link: ({ text }) => html`${text}`.text },
  });
  return new Html(renderer.parseInline(markdown, { async: false }));
}

/** Returns a code block that can be scrolled with the keyboard. */
export function codeBlock(text: string, lang?: string): Html {
  return html`<pre tabindex="0" role="group" aria-label="${lang === 'text' ? 'Output' : 'Example'}"><code>${text}</code></pre>
`;
}

/** Returns the text in tokens, without markup. */
export function plainText(tokens: readonly Token[]): string {
  return tokens.map(tokenText).join('');
}

function tokenText(token: Token): string {
  if (isTable(token)) return [token.header, ...token.rows].map(rowText).join('\n');
  if (isList(token)) return token.items.map((item) => `${plainText(item.tokens)}\n`).join('');
  if ('tokens' in token && token.tokens !== undefined) return plainText(token.tokens);
  return 'text' in token ? String(token.text) : token.type === 'space' || token.type === 'br' ? ' ' : '';
}

function rowText(row: readonly Tokens.TableCell[]): string {
  return row.map(({ tokens }) => plainText(tokens)).join(' – ');
}

const isHeading = (token: Token): token is Tokens.Heading => token.type === 'heading';
const isTable = (token: Token): token is Tokens.Table => token.type === 'table';
const isList = (token: Token): token is Tokens.List => token.type === 'list';

/** A section of an index: a heading, and the links in the first column of its table. */
export interface IndexSection {
  readonly title: string;
  readonly links: readonly { readonly href: string; readonly text: string }[];
}

/** Returns the tables of links on an index page, each with its heading. */
export function readIndex(markdown: string): readonly IndexSection[] {
  let title = '';
  const sections: IndexSection[] = [];
  for (const token of marked.lexer(markdown)) {
    if (isHeading(token)) title = plainText(token.tokens);
    if (!isTable(token)) continue;
    const links = token.rows.flatMap(([cell]) =>
      (cell?.tokens ?? []).flatMap((each) =>
        each.type === 'link' ? [{ href: String(each.href), text: plainText([each]) }] : [],
      ),
    );
    sections.push({ title, links });
  }
  return sections;
}
