import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript-6';

const PRODUCT = ['src', 'commands', 'projections', 'queries'];
const ALL = [...PRODUCT, 'test', 'bench', 'tools', 'bin'];

/** Phrases that hide who does what; `there is no` is allowed, because it is plain English. */
const BANNED = [
  /(?<!\bthere )\bis no (?!longer\b)/i,
  /\banew\b/i,
  /\bwhoever\b/i,
  /\bsomebody else's\b/i,
  /\bstands in\b/i,
  /\bis another than\b/i,
  /\bis not known\b/i,
  /\bof its own accord\b/i,
  /\bas of old\b/i,
];

const OWN = 'test/unit/docblocks.test.ts';

function sourcesIn(folders: readonly string[]): string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((path) => /(?<!\.d)\.(ts|js|mjs)$/.test(path) && !path.includes('generated') && path !== OWN);
}

/**
 * Returns the names of a file's exported functions and classes without a docblock; one docblock is enough for all overloads.
 */
function undocumented(path: string): string[] {
  const text = readFileSync(path, 'utf8');
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, false);
  const documented = new Set<string>();
  const names: string[] = [];
  for (const statement of statements) {
    const name = exportedFunction(statement);
    if (name === undefined) continue;
    names.push(name);
    const comments = ts.getLeadingCommentRanges(text, statement.getFullStart()) ?? [];
    if (comments.some(({ pos }) => text.startsWith('/**', pos))) documented.add(name);
  }
  return [...new Set(names)].filter((name) => !documented.has(name));
}

/** Returns the name of an exported function, class, or constant whose value is a function. */
function exportedFunction(statement: ts.Statement): string | undefined {
  const isExported =
    ts.canHaveModifiers(statement) &&
    ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true;
  if (!isExported) return undefined;
  if (ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement)) return statement.name?.text;
  if (!ts.isVariableStatement(statement)) return undefined;
  const [first] = statement.declarationList.declarations;
  const isFunction = first?.initializer !== undefined && ts.isArrowFunction(first.initializer);
  return isFunction && ts.isIdentifier(first.name) ? first.name.text : undefined;
}

/** Returns a file's comments, with line breaks removed. */
function commentsIn(text: string): string[] {
  const blocks = text.match(/\/\*\*[\s\S]*?\*\//g) ?? [];
  const lines = text.match(/^[ \t]*\/\/ .*(?:\n[ \t]*\/\/ .*)*/gm) ?? [];
  return [...blocks, ...lines].map((comment) => comment.replace(/\n\s*(?:\*|\/\/)?\s*/g, ' '));
}

describe('comments', () => {
  it('document every exported function and class', () => {
    const missing = sourcesIn(PRODUCT).flatMap((path) =>
      undocumented(path).map((name) => `${path}: ${name}`),
    );
    expect(missing).to.deep.equal([]);
  });

  it('are free of phrases that readers stumble over', () => {
    const found = sourcesIn(ALL).flatMap((path) =>
      commentsIn(readFileSync(path, 'utf8'))
        .filter((comment) => BANNED.some((phrase) => phrase.test(comment)))
        .map((comment) => `${path}: ${comment}`),
    );
    expect(found).to.deep.equal([]);
  });

  it('are found, and so are their faults', () => {
    const text = '/** Whoever\n * reads. */\nconst a = 1;\n// one\n// is no two\nconst b = 2;\n';
    const comments = commentsIn(text);
    expect(comments).to.deep.equal(['/** Whoever reads. */', '// one is no two']);
    for (const comment of comments) expect(BANNED.some((phrase) => phrase.test(comment))).to.equal(true);
    expect(BANNED.some((phrase) => phrase.test('// there is no way; it is no longer so'))).to.equal(false);
  });
});
