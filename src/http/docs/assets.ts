/** Files of the documentation page: Swagger UI's, from its package, and our own few lines that start it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ID_OF_URL } from '../openapi/fhir-examples.ts';

/** A file with its headers. */
export interface Asset {
  readonly type: string;
  readonly body: Buffer;
}

const JAVASCRIPT = 'text/javascript; charset=utf-8';
const CSS = 'text/css; charset=utf-8';

const FROM_PACKAGE: Readonly<Record<string, string>> = {
  'swagger-ui.css': CSS,
  'swagger-ui-bundle.js': JAVASCRIPT,
};

/**
 * Starts Swagger UI. Nothing is loaded from elsewhere: no validator, no fonts. The list of groups beside it stays in view
 * however much is open. Its dark theme follows the reader's setting. An example's placeholder becomes the id in the URL, as R4 wants it in the body of an update.
 */
const START = `const dark = matchMedia('(prefers-color-scheme: dark)');
const theme = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', theme);
theme();
window.addEventListener('DOMContentLoaded', () => {
  const groups = document.querySelector('#groups');
  const sections = () => [...document.querySelectorAll('.opblock-tag-section')];
  const nameOf = (section) => section.querySelector('.opblock-tag').dataset.tag;

  function list() {
    for (const section of sections()) {
      const name = nameOf(section);
      const link = document.createElement('a');
      link.href = '#/' + encodeURIComponent(name);
      link.textContent = name;
      link.addEventListener('click', (event) => {
        event.preventDefault();
        const there = sections().find((each) => nameOf(each) === name);
        if (!there.classList.contains('is-open')) there.querySelector('.opblock-tag').click();
        there.scrollIntoView();
      });
      groups.append(link);
    }
    addEventListener('scroll', mark, { passive: true });
    mark();
  }

  let marking = false;
  function mark() {
    if (marking) return;
    marking = true;
    requestAnimationFrame(() => {
      marking = false;
      const current = sections().findLast((section) => section.getBoundingClientRect().top <= 100);
      for (const link of groups.children) {
        const isCurrent = current !== undefined && link.textContent === nameOf(current);
        if (isCurrent === link.hasAttribute('aria-current')) continue;
        if (!isCurrent) link.removeAttribute('aria-current');
        else {
          link.setAttribute('aria-current', 'true');
          groups.scrollTo({ left: link.offsetLeft - groups.clientWidth / 3, top: link.offsetTop - groups.clientHeight / 2 });
        }
      }
    });
  }

  // Swagger UI shows a list of 150 headings and requests or more through a window that takes headings out of the page. So
  // each group is a list of its own.
  const eachGroupAlone = ({ React }) => ({
    wrapComponents: {
      operations: (Operations) => (props) => {
        const all = props.specSelectors.taggedOperations();
        const one = React.useMemo(
          () => all.keySeq().toArray().map((name) => [name, all.filter((_, key) => key === name)]),
          [all],
        );
        return one.map(([name, group]) => {
          const specSelectors = { ...props.specSelectors, taggedOperations: () => group };
          return React.createElement(Operations, { ...props, key: name, specSelectors });
        });
      },
    },
  });

  SwaggerUIBundle({
    plugins: [eachGroupAlone],
    url: document.querySelector('meta[name="openapi"]').content,
    dom_id: '#documentation',
    deepLinking: true,
    docExpansion: 'none',
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
    onComplete: list,
    requestInterceptor(request) {
      if (request.method === 'PUT' && typeof request.body === 'string')
        request.body = request.body.replace('${ID_OF_URL}', new URL(request.url).pathname.split('/').pop());
      return request;
    },
  });
});
`;

const STYLE = `:root { color-scheme: light dark; --page: #fff; --text: #3b4151; --line: #d8dde7; --focus: #1b6ac9; }
@media (prefers-color-scheme: dark) { :root { --page: #1c2022; --text: #e4e6e6; --line: #4a5054; --focus: #7db4f5; } }
body { background: var(--page); color: var(--text); margin: 0 auto; max-width: 80rem; padding: 0 1rem; font-family: sans-serif; line-height: 1.5; }
body > main { max-width: 44rem; margin: 0 auto; }
dt { margin-top: 1.5rem; font-weight: bold; }
dd { margin-left: 1.5rem; }
.reference { display: grid; grid-template-columns: 12rem minmax(0, 1fr); gap: 2rem; }
#groups { position: sticky; top: 0; align-self: start; max-height: 100vh; overflow: auto; box-sizing: border-box; padding: 2rem 0; }
#groups a { display: block; padding: 0.3rem 0.75rem; border-left: 3px solid transparent; color: var(--text); text-decoration: none; white-space: nowrap; }
#groups a:hover { text-decoration: underline; }
#groups a[aria-current] { border-color: var(--text); font-weight: bold; }
#groups a:focus-visible { outline: 3px solid var(--focus); outline-offset: -3px; }
.swagger-ui .opblock-tag { position: sticky; top: 0; z-index: 3; background: var(--page); }
.swagger-ui .opblock-tag-section { scroll-margin-top: 0; }
.swagger-ui .wrapper { padding: 0; }
.swagger-ui .responses-table .response-col_links { display: none; }
html.dark-mode .swagger-ui .header-col { color: var(--text); }
@media (max-width: 60rem) {
  .reference { display: block; }
  #groups { display: flex; z-index: 4; padding: 0; background: var(--page); border-bottom: 1px solid var(--line); }
  #groups a { padding: 0.75rem; border-left: 0; border-bottom: 3px solid transparent; }
  .swagger-ui .opblock-tag { top: 3.2rem; }
  .swagger-ui .opblock-tag-section { scroll-margin-top: 3.2rem; }
}
`;

const OWN: Readonly<Record<string, Asset>> = {
  'start.js': { type: JAVASCRIPT, body: Buffer.from(START) },
  'annal.css': { type: CSS, body: Buffer.from(STYLE) },
};

const read = new Map<string, Asset>();

/** Returns a file by its name; undefined if there is none. Files of the package are read once, on demand. */
export function assetNamed(name: string): Asset | undefined {
  if (Object.hasOwn(OWN, name)) return OWN[name];
  const type = Object.hasOwn(FROM_PACKAGE, name) ? FROM_PACKAGE[name] : undefined;
  if (type === undefined) return undefined;
  const known = read.get(name);
  if (known !== undefined) return known;
  const folder = dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));
  const asset = { type, body: readFileSync(join(folder, name)) };
  read.set(name, asset);
  return asset;
}
