/** Renders the page at `/`: text and links, without scripts or content from other servers (WCAG 2.2 AA). */
import { Html, html } from '#src/shared/html.ts';
import { inlineSource, type PageNeeds } from '../answer/security-headers.ts';
import { VERSION } from '../version.ts';

const STYLE = `
:root { color-scheme: light dark; --line: color-mix(in srgb, CanvasText 18%, Canvas); --quiet: color-mix(in srgb, CanvasText 72%, Canvas); }
* { box-sizing: border-box; }
body { font: 1rem/1.55 system-ui, sans-serif; margin: 0; background: Canvas; color: CanvasText; }
main { max-width: 44rem; margin: 0 auto; padding: clamp(1.5rem, 6vw, 4rem) 1.25rem 3rem; }
h1 { font-size: 2rem; line-height: 1.15; letter-spacing: -0.02em; margin: 0; }
h2 { font-size: 1rem; margin: 2.5rem 0 0.75rem; }
p { margin: 0.5rem 0; }
.quiet { color: var(--quiet); }
ul { list-style: none; margin: 0; padding: 0; border-bottom: 1px solid var(--line); }
li { border-top: 1px solid var(--line); }
li a { display: grid; gap: 0 1.5rem; grid-template-columns: 13rem 1fr; padding: 0.75rem 0; text-decoration: none; color: inherit; }
li strong { font-weight: 600; text-decoration: underline; text-underline-offset: 0.2em; text-decoration-thickness: 1px; }
li a:hover strong { text-decoration-thickness: 2px; }
dl { display: grid; grid-template-columns: 13rem 1fr; gap: 0.35rem 1.5rem; margin: 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
code { font: 0.9375em ui-monospace, monospace; }
pre { margin: 0.75rem 0; padding: 0.875rem 1rem; border: 1px solid var(--line); border-radius: 0.375rem; overflow-x: auto; }
:focus-visible { outline: 3px solid Highlight; outline-offset: 3px; }
@media (max-width: 34rem) { li a, dl { grid-template-columns: 1fr; } dd { margin-bottom: 0.5rem; } }
`;

/** The content of the page and the index. */
export interface Start {
  /** The service's URL as seen by clients, without a trailing slash. */
  readonly baseUrl: string;
  /** True if people sign in at this service's development issuer. */
  readonly devIssuer: boolean;
  /** Folder that contains `quickstart.json`; set only if the page is visible only on this machine. */
  readonly dataDir: string | undefined;
}

/** Returns the styles and images that the page needs. */
export function startNeeds(): PageNeeds {
  return { styles: [inlineSource(STYLE)], images: ['data:'] };
}

/** Returns the start page's HTML. */
export function startPage({ baseUrl, devIssuer, dataDir }: Start): string {
  const root = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const link = (path: string, title: string, says: string): Html =>
    html`<li><a href="${root + path}"><strong>${title}</strong> <span class="quiet">${says}</span></a></li>
`;
  const links = [
    link('/app', 'Dashboard', 'For developers: projects, keys, requests'),
    link('/connections', 'Health records', 'For patients: your records, and who reads them'),
    link('/docs', 'Documentation', 'Every request, with examples to try'),
    link('/docs/guides', 'Guides', 'How to start, and how everything works'),
    ...(devIssuer ? [link('/dev', 'Development sign-in', 'A token for /admin, without a password')] : []),
    link('/docs/errors', 'Errors', 'What each error means, and what to do'),
    link('/health/ready', 'Health', 'Check that the service can answer requests'),
    link('/openapi.json', 'OpenAPI', 'The OpenAPI description, for tools and generators'),
    link('/fhir/R4/metadata', 'CapabilityStatement', 'What the FHIR interface supports'),
  ];
  const bases = [
    ['FHIR R4', '/fhir/R4'],
    ['REST v1', '/v1'],
    ['Administration', '/admin'],
  ].map(
    ([name = '', path = '']) => html`<dt>${name}</dt><dd><code>${baseUrl + path}</code></dd>
`,
  );
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Annal</title>
<link rel="icon" href="data:,">
<style>${new Html(STYLE)}</style>
</head>
<body>
<main>
<h1>Annal</h1>
<p>One FHIR R4 health record per patient, with every version. <span class="quiet">Version ${VERSION}</span></p>
<h2>Go to</h2>
<ul>
${links}</ul>
<h2>Interfaces</h2>
<dl>
${bases}</dl>
<h2>First request</h2>
${firstKey(dataDir)}
curl -H "Authorization: Bearer $KEY" '${baseUrl}/fhir/R4/Patient?_count=5'</code></pre>
</main>
</body>
</html>
`.text;
}

/** Returns where to find the first key, and the beginning of the example, which reads that key. */
function firstKey(dataDir: string | undefined): Html {
  // Any other character might have a meaning in a shell.
  const isPlain = dataDir !== undefined && /^[\w/.@+-]+$/.test(dataDir);
  const file = `${isPlain ? dataDir : './.annal'}/quickstart.json`;
  const where = isPlain
    ? html`The file <code>${file}</code> holds a key of a sandbox with synthetic patients:`
    : html`The file <code>quickstart.json</code> in the service’s data folder (<code>.annal</code> unless <code>DATA_DIR</code> is set) holds a key of a sandbox with synthetic patients. In the folder where the service was started:`;
  return html`<p>${where}</p>
<pre tabindex="0" role="region" aria-label="Example"><code>KEY=$(node -p "require('${file}').sandbox_key")`;
}
