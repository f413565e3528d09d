/** Files of the documentation page: Swagger UI's, from its package, and our own few lines that start it. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** A file as it is sent. */
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

/** Nothing is loaded from elsewhere: no validator, no fonts. */
const START = `window.addEventListener('DOMContentLoaded', () => {
  SwaggerUIBundle({
    url: document.querySelector('meta[name="openapi"]').content,
    dom_id: '#documentation',
    deepLinking: true,
    docExpansion: 'none',
    defaultModelsExpandDepth: 0,
    validatorUrl: null,
  });
});
`;

const STYLE = `body { margin: 0 auto; max-width: 80rem; padding: 0 1rem; font-family: sans-serif; line-height: 1.5; }
dt { margin-top: 1.5rem; font-weight: bold; }
dd { margin-left: 1.5rem; }
`;

const OWN: Readonly<Record<string, Asset>> = {
  'start.js': { type: JAVASCRIPT, body: Buffer.from(START) },
  'annal.css': { type: CSS, body: Buffer.from(STYLE) },
};

const read = new Map<string, Asset>();

/** A file by its name; undefined when there is none. Files of the package are read once, when first asked for. */
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
