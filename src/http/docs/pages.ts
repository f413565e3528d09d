/** The pages of the documentation. They work without a network: all they refer to is ours. */
import { ERRORS } from '../error-texts.ts';
import type { PageNeeds } from '../security-headers.ts';

/**
 * Returns the pages' security needs.
 * @param origin of the service for clients: "Try it out" sends requests there
 */
export function documentationNeeds(origin: string): PageNeeds {
  return {
    scripts: ["'self'"],
    styles: ["'self'"],
    images: ["'self'", 'data:'],
    connections: ["'self'", origin],
  };
}

/**
 * Returns the page of the OpenAPI document.
 * @param root path of the service below its host, without a trailing slash
 */
export function documentationPage(root: string): string {
  return page(
    'Annal: interfaces',
    `<meta name="openapi" content="${escaped(root)}/openapi.json">
<link rel="stylesheet" href="${escaped(root)}/docs/assets/swagger-ui.css">
<script src="${escaped(root)}/docs/assets/swagger-ui-bundle.js" defer></script>
<script src="${escaped(root)}/docs/assets/start.js" defer></script>`,
    root,
    `<div class="reference">
<nav id="groups" aria-label="Groups"></nav>
<main id="documentation"><p>The description itself is at <a href="${escaped(root)}/openapi.json">openapi.json</a>;
this page shows it with JavaScript. <a href="${escaped(root)}/docs/errors">Errors</a> have a page of their own.</p></main>
</div>`,
  );
}

/** Returns the page of error types, the target of `doc_url`. */
export function errorsPage(root: string): string {
  const entries = ERRORS.map(
    ({ status, type, meaning, advice }) =>
      `<dt id="${type}">${status} <code>${type}</code></dt>\n<dd>${marked(meaning)}<br>${marked(advice)}</dd>`,
  );
  return page(
    'Annal: errors',
    '',
    root,
    `<main><h1>Errors</h1>
<p>On the FHIR interface an error is an OperationOutcome with the same status; elsewhere
<code>{"error": {"type", "message", "field", "errors", "request_id", "doc_url"}}</code>.</p>
<dl>\n${entries.join('\n')}\n</dl>
<p><a href="${escaped(root)}/docs">All interfaces</a></p></main>`,
  );
}

function page(title: string, head: string, root: string, body: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${escaped(root)}/docs/assets/annal.css">
${head}
</head>
<body>
${body}
</body>
</html>
`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Marks code between backticks. */
function marked(text: string): string {
  return escaped(text).replace(/`([^`]*)`/g, '<code>$1</code>');
}
