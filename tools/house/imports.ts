/** Lists imports and checks the rule in docs/architecture.md that parts import each other in only one direction. */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-6';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/**
 * A part may import itself and the parts listed here. Parts are folders, or files by their path. `type ` means that only types
 * may be imported.
 */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  commands: ['src/events', 'src/fhir', 'src/shared', 'src/sandbox', 'type src/documents'],
  projections: ['src/clinical/reading', 'src/events', 'src/fhir', 'src/v1', 'src/shared', 'src/database'],
  queries: [
    'src/clinical',
    'src/context',
    'src/fhir',
    'src/insight',
    'src/v1',
    'src/shared',
    'src/database',
    'src/events/streams.ts',
    'type src/events',
  ],
  // Tools describe requests to the interfaces and shorten the responses for models.
  'src/mcp': ['src/clinical/reading', 'src/context', 'src/fhir', 'src/insight', 'src/v1', 'src/shared'],
  'src/reactions': ['src/events', 'src/fhir', 'src/shared', 'src/database'],
  'src/processes': ['src/events', 'src/shared', 'src/database'],
  // HTTP parses requests and formats responses. `src/app.ts` provides the log, the database, settings, metrics and the tables
  // of operations through the interfaces in `src/http/ports/`.
  'src/http': [
    'commands', // what a request asks to be written
    'queries', // what a request asks to be read
    'src/clinical', // what a record says, which pages and the summary show
    'src/context', // needs of `POST /v1/context` are parsed, and its answer is printed
    'src/dev-issuer', // the pages of the development issuer show its people, codes and tokens
    'src/documents', // bytes of documents stream between sockets and their store
    'src/fhir', // types, references, patches and outcomes that FHIR requests and answers are made of
    'src/insight', // kinds of findings, buckets and codes of series are parsed, and findings are put into words
    'src/labs', // uploads of laboratory results are read into observations
    'src/mcp', // the tools of `/mcp`
    'src/oauth', // scopes, clients and errors of the authorization server
    'src/shared', // JSON, time, ids, callers and refusals
    'src/terminology', // code operations of FHIR answer with its results
    'src/v1', // shapes of REST v1
    'type clients/typescript/src/generated', // answers, as programs see them: pages call the same routes
  ],
  'src/audit': ['src/events', 'src/shared'],
  'src/clinical': ['src/fhir', 'src/insight/units.ts', 'src/shared'],
  'src/context': ['src/clinical', 'src/fhir', 'src/insight', 'src/v1', 'src/shared', 'type src/events'],
  'src/dev-issuer': ['src/shared', 'src/sandbox'],
  'src/documents': ['src/shared', 'src/events', 'src/database'],
  'src/events': ['src/shared', 'src/database'],
  'src/fhir': ['src/shared'],
  'src/insight': ['src/fhir', 'src/shared'],
  'src/labs': ['src/fhir', 'src/v1', 'src/shared'],
  'src/v1': ['src/clinical/reading', 'src/fhir', 'src/shared'],
  'src/freshness': [
    'projections',
    'src/events',
    'src/metrics',
    'src/operations',
    'src/processes',
    'src/shared',
  ],
  'src/identity': ['src/shared', 'src/operations'],
  'src/oauth': [
    'src/fhir',
    'src/shared',
    'src/database',
    'src/operations',
    'src/identity',
    'type queries/database/gather.ts',
    'queries/admin/membership.ts', // a member's token works while the membership does
  ],
  'src/shl': [
    'type commands',
    'commands/secret.ts', // the secrets of links
    'type queries',
    'src/clinical',
    'src/fhir',
    'src/operations',
    'src/shared',
    'type src/documents',
    'type src/freshness',
    'type src/terminology',
  ],
  'src/sharing': [],
  'src/takeback': [],
  // Only pure parts, because this part is archived with everything that it imports.
  'src/receipts': ['src/clinical', 'src/context', 'src/fhir', 'src/mcp', 'src/shared', 'src/shl/content.ts'],
  'src/signin': ['src/shared', 'src/identity'],
  'src/machine': ['type projections', 'type src/metrics', 'src/events', 'src/shared'],
  'src/migrate-log': ['src/events', 'projections/erasure.ts'],
  'src/operations': ['src/events', 'src/metrics', 'src/shared', 'src/database'],
  'src/metrics': ['type src/events', 'src/events/wrapped-store.ts', 'src/shared'],
  'src/tracing': ['type src/events', 'src/events/wrapped-store.ts', 'src/shared'],
  'src/terminology': ['src/fhir', 'src/shared', 'src/database'],
  'src/database': ['src/shared'],
  // Tables that other parts define.
  'src/migrations': [
    'src/database',
    'src/dev-issuer',
    'src/events',
    'src/oauth',
    'src/operations',
    'src/processes',
    'src/reactions',
    'src/signin',
    'src/terminology',
  ],
  'src/sandbox': ['type src/events/metadata.ts', 'type src/fhir/types.ts', 'src/shared'],
  'src/shared': ['type src/events/metadata.ts'],
};

/**
 * The parts and files that assemble other parts and may import all of them. Only `app.ts` may import HTTP itself; the others
 * may import only its ports. Only composers may import composers.
 */
export const COMPOSERS = [
  'src/cli',
  'src/app',
  'src/app.ts',
  'src/main.ts',
  // Features that assemble themselves.
  'src/identity/open.ts',
  'src/member.ts', // a process of a machine starts the app with its part
  'src/reactions/webhooks/webhooks.ts',
  'src/sharing',
  'src/signin/open.ts',
  'src/takeback',
  'src/terminology/read-models.ts',
];
/** Features that implement interfaces in `src/http/ports/` and import their types. */
const IMPLEMENTERS = [
  'src/freshness/states.ts',
  'src/reactions/webhooks/webhooks.ts',
  'src/sharing',
  'src/shl',
];

/** An import between two of our files, given as paths from the root. */
export interface Import {
  readonly from: string;
  readonly to: string;
  readonly typeOnly: boolean;
}

/** Returns all imports between our files, as paths from the root. */
export function listImports(): Import[] {
  return ['commands', 'projections', 'queries', 'src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) => readImports(join(folder, name))),
  );
}

function readImports(file: string): Import[] {
  const source = ts.createSourceFile(file, readFileSync(join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest);
  const found: Import[] = [];
  const visit = (node: ts.Node): void => {
    const target = importTarget(node);
    const to = target === undefined ? undefined : ownFile(file, target);
    if (to !== undefined) found.push({ from: file, to, typeOnly: isTypeOnly(node) });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Returns the module that a node names: `import … from`, `export … from`, `import()`, `import('…').Type`. */
function importTarget(node: ts.Node): string | undefined {
  let module: ts.Node | undefined;
  if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) module = node.moduleSpecifier;
  else if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) module = node.argument.literal;
  else if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword)
    module = node.arguments[0];
  return module !== undefined && ts.isStringLiteralLike(module) ? module.text : undefined;
}

function isTypeOnly(node: ts.Node): boolean {
  if (ts.isImportTypeNode(node)) return true;
  if (ts.isExportDeclaration(node)) return node.isTypeOnly;
  if (!ts.isImportDeclaration(node) || node.importClause === undefined) return false;
  const { isTypeOnly: whole, name, namedBindings } = node.importClause;
  if (whole) return true;
  if (name !== undefined || namedBindings === undefined || !ts.isNamedImports(namedBindings)) return false;
  return namedBindings.elements.every((element) => element.isTypeOnly);
}

function ownFile(from: string, target: string): string | undefined {
  if (target.startsWith('#')) return target.slice(1);
  if (target.startsWith('.'))
    return relative(ROOT, resolve(ROOT, dirname(from), target))
      .split(sep)
      .join('/');
  return undefined;
}

/** Returns whether a file is the given part or lies within it. */
export const within = (file: string, part: string): boolean => file === part || file.startsWith(`${part}/`);

/** Returns the part that a file belongs to; files directly in `src` are separate parts. */
export function findPart(file: string): string | undefined {
  return Object.keys(MAY_IMPORT).find((part) => within(file, part));
}

/** Returns whether a file may import another file. */
export function isAllowed({ from, to, typeOnly }: Import): boolean {
  if (within(to, 'src/http'))
    return (
      within(from, 'src/http') ||
      from === 'src/app.ts' ||
      // Parts that HTTP doesn't import may import the ports' types.
      ((within(from, 'src/app') || (typeOnly && IMPLEMENTERS.some((part) => within(from, part)))) &&
        within(to, 'src/http/ports'))
    );
  if (COMPOSERS.some((composer) => within(from, composer))) return true;
  if (COMPOSERS.some((composer) => within(to, composer))) return false;
  const part = findPart(from);
  // Files directly in `src`, such as settings and logging, don't import any parts.
  if (part === undefined) return /^src\/[^/]+\.ts$/.test(to) || within(to, 'src/shared');
  const reachable = (MAY_IMPORT[part] ?? []).map((name) =>
    name.startsWith('type ') ? { name: name.slice(5), typesOnly: true } : { name, typesOnly: false },
  );
  return (
    within(to, part) || reachable.some(({ name, typesOnly }) => within(to, name) && (typeOnly || !typesOnly))
  );
}

/** Returns the import cycles between the folders and files in a folder, or between the parts of the repository. */
export function cyclesIn(all: readonly Import[]): string[] {
  const files = [...new Set(all.flatMap(({ from, to }) => [from, to]))];
  const folders = new Set(
    files.flatMap((file) => {
      const parts = file.split('/');
      return parts.slice(1).map((_, n) => parts.slice(0, n + 1).join('/'));
    }),
  );
  const found = [
    findCircles(all, (file) => file),
    // The parts in `src` are on the same level as the other parts: `src` itself isn't a part.
    findCircles(all, (file) => file.split('/', file.startsWith('src/') ? 2 : 1).join('/')),
    ...[...folders].map((folder) =>
      findCircles(all, (file) =>
        file.startsWith(`${folder}/`) ? file.split('/', folder.split('/').length + 1).join('/') : undefined,
      ),
    ),
  ];
  return [...new Set(found.flat())].sort();
}

/**
 * Returns the nodes that can reach themselves. Each set of nodes that reach each other is formatted as one text (Tarjan's
 * algorithm).
 */
function findCircles(all: readonly Import[], nameNode: (file: string) => string | undefined): string[] {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of all) {
    const [a, b] = [nameNode(from), nameNode(to)];
    if (a === undefined || b === undefined || a === b) continue;
    next.set(a, (next.get(a) ?? new Set()).add(b));
  }
  const [index, low, stack, circles] = [
    new Map<string, number>(),
    new Map<string, number>(),
    [] as string[],
    [] as string[],
  ];
  const visit = (node: string): number => {
    const own = index.size;
    index.set(node, own);
    stack.push(node);
    let lowest = own;
    for (const to of next.get(node) ?? []) {
      if (!index.has(to)) lowest = Math.min(lowest, visit(to));
      else if (stack.includes(to)) lowest = Math.min(lowest, low.get(to) ?? index.get(to) ?? own);
    }
    low.set(node, lowest);
    if (lowest !== own) return lowest;
    const circle = stack.splice(stack.indexOf(node));
    if (circle.length > 1) circles.push(circle.sort().join(', '));
    return lowest;
  };
  for (const node of next.keys()) if (!index.has(node)) visit(node);
  return circles;
}
