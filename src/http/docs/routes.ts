/**
 * Serves `/openapi.json` and `/docs`, the documentation for every interface, without requiring a credential
 * (docs/spec/decisions.md, section 2). Everything is built at the first request that needs it.
 */
import { z } from 'zod';
import type { Answer } from '../answer/answer.ts';
import { makePage } from '../answer/security-headers.ts';
import { makeStaticFile } from '../answer/static-file.ts';
import {
  HTML_PAGE,
  nothingThere,
  type OpenRequest,
  type OpenRoute,
  type OpenService,
  openRoute,
  UNCHANGED,
} from '../api/open-route.ts';
import { assetNamed } from './assets.ts';
import { documentationNeeds } from './frame.ts';
import { attachmentNamed, guideNamed } from './guides.ts';
import { DocumentationPages } from './pages.ts';
import { Reference } from './reference.ts';
import { openSearch } from './search.ts';

const text = z.string();
const PAGE = { 200: HTML_PAGE };
const GUIDE = {
  200: {
    description: 'The page, the text or the picture',
    content: { 'text/html': text, 'text/plain': text, 'image/png': text },
  },
  ...UNCHANGED,
};
const OF_GUIDES =
  'Shows the files in `docs/` of this version: Markdown as a page, pictures, and others as text.';

/**
 * Creates a GET route.
 * @param more responses in addition to a page
 */
function get<const Path extends string>(
  path: Path,
  operationId: string,
  summary: string,
  description: string,
  run: (request: OpenRequest<Path>, made: Documentation) => Promise<Answer> | Answer,
  more: Partial<Pick<OpenRoute, 'answers' | 'errors' | 'query'>> = {},
): OpenRoute {
  return openRoute({
    ...{ method: 'GET', path, operationId, summary, description, tag: 'Service', answers: PAGE, ...more },
    run: (request) => run(request, findDocumentation(request.service)),
  });
}

/** The routes. */
export const DOCUMENTATION_ROUTES = [
  get(
    '/openapi.json',
    'getOpenApi',
    'This document',
    'It is generated from the routes. `ETag` changes when the document does.',
    ({ ctx }, made) => makeStaticFile(ctx, 'application/json; charset=utf-8', made.text()),
    {
      answers: {
        200: { description: 'OpenAPI 3.1', schema: z.looseObject({ openapi: text }) },
        ...UNCHANGED,
      },
    },
  ),
  get(
    '/docs',
    'getDocs',
    'This document as a page',
    'Groups of operations; each operation opens in place, with a form that sends the request. The page loads nothing from other hosts.',
    (request, made) => show(request, made.list()),
  ),
  get(
    '/docs/operations/{operation_id}',
    'getDocsOfOperation',
    'An operation of this document as a page',
    'With a form that sends the request.',
    (request, { reference, pages }) => {
      const operation = reference().operation(request.params.operation_id);
      if (operation === undefined) throw nothingThere("this operation doesn't exist; /docs lists all");
      return show(request, pages.operation(operation, reference()));
    },
    { errors: [404] },
  ),
  get(
    '/docs/errors',
    'getDocsOfErrors',
    'Every error type, explained',
    '`doc_url` of an error leads here.',
    (request, { pages }) => show(request, pages.errors()),
  ),
  get(
    '/docs/search',
    'searchDocs',
    'Search guides and operations',
    'A page with the guides and operations that contain all words.',
    async (request, { search, pages }) => {
      const asked = (request.query.get('q') ?? '').trim();
      return show(request, pages.results(asked, (await search()).find(asked)));
    },
    { query: z.object({ q: text.optional().describe('Only the first eight words count.') }) },
  ),
  get('/docs/guides', 'getGuides', 'The index of the guides', 'The index of all pages below it.', (request) =>
    showGuide(request, ''),
  ),
  get(
    '/docs/guides/{guide}',
    'getGuide',
    'A guide as a page',
    OF_GUIDES,
    (request) => showGuide(request, request.params.guide),
    { answers: GUIDE, errors: [404] },
  ),
  get(
    '/docs/guides/{folder}/{guide}',
    'getGuideInFolder',
    'A decision, a part of the specification, an example or a picture',
    OF_GUIDES,
    (request) => showGuide(request, `${request.params.folder}/${request.params.guide}`),
    { answers: GUIDE, errors: [404] },
  ),
  get(
    '/docs/assets/{name}',
    'getDocsAsset',
    'A file that the pages load',
    'Styles and scripts of `/docs`.',
    ({ ctx, params }) => {
      const asset = assetNamed(params.name);
      if (asset === undefined) throw nothingThere('the pages load no such file');
      return makeStaticFile(ctx, asset.type, asset.body);
    },
    {
      answers: {
        200: { description: 'The file', content: { 'text/css': text, 'text/javascript': text } },
        ...UNCHANGED,
      },
      errors: [404],
    },
  ),
];

type Documentation = ReturnType<typeof openDocumentation>;

const opened = new WeakMap<OpenService, Documentation>();

/** Returns a service's documentation. Its parts are built when they are first needed. */
function findDocumentation(service: OpenService): Documentation {
  const known = opened.get(service) ?? openDocumentation(service);
  opened.set(service, known);
  return known;
}

function openDocumentation({ describe, baseUrl }: OpenService) {
  const pages = new DocumentationPages(baseUrl);
  const reference = once(() => new Reference(describe()));
  return {
    pages,
    reference,
    text: once(() => JSON.stringify(describe())),
    list: once(() => pages.list(reference())),
    search: once(() => openSearch(reference().operations)),
  };
}

function show({ ctx, service }: OpenRequest, page: string): Answer {
  return makePage(ctx, page, documentationNeeds(new URL(service.baseUrl).origin));
}

/**
 * Responds with a page or another file.
 * @param name the guide's name, such as `fhir`; empty for the index
 */
async function showGuide(request: OpenRequest, name: string): Promise<Answer> {
  const found = guideNamed(name);
  if (found !== undefined) return show(request, findDocumentation(request.service).pages.guide(found));
  const file = attachmentNamed(name);
  if (file === undefined) throw nothingThere("this guide doesn't exist; /docs/guides lists all");
  return makeStaticFile(request.ctx, file.type, file.body);
}

/** Returns a function that computes a value on its first call and returns the same value on later calls. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
