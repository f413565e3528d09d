/** Messages, `--help` and docs are in plain English: phrases that readers have stumbled over must not return. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript-6';

/** Phrases to avoid, and what to write instead. */
const PHRASES: readonly (readonly [RegExp, string])[] = [
  [/\bis no (?!longer\b|more than\b)/i, '"is not a" or "doesn\'t exist"'],
  [/\banew\b/i, '"again"'],
  [/\bwhoever\b/i, '"anyone who" or "if you"'],
  [/\bsomebody else['’]s\b/i, '"another person\'s" or "another project\'s"'],
  [/\bstands in\b/i, '"is in" or "replaces"'],
  [/\bis another than\b/i, '"differs from"'],
  [/\bis not known\b/i, '"is unknown"'],
  [/\bof its own accord\b/i, '"by itself"'],
  [/\bas of old\b/i, '"as before"'],
];

/** Matches texts that begin like SQL and are therefore not messages. */
const SQL = /^\s*(?:select|insert|update|delete|with|create|alter|drop|copy|set|begin|lock|analyze|from)\b/i;

/** Returns the phrases found in a text, with the line of each. */
function foundIn(text: string, firstLine = 1): string[] {
  return text
    .split('\n')
    .flatMap((line, n) =>
      PHRASES.flatMap(([phrase, instead]) =>
        phrase.test(line) ? [`${firstLine + n}: "${line.trim().slice(0, 120)}": write ${instead}`] : [],
      ),
    );
}

/** Returns the string and template literals in a source file that people may read, with their lines. Comments are ignored. */
function literalsOf(source: string): { text: string; line: number }[] {
  const file = ts.createSourceFile('source.ts', source, ts.ScriptTarget.Latest, true);
  const found: { text: string; line: number }[] = [];
  const visit = (node: ts.Node): void => {
    const text =
      ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)
        ? node.text
        : ts.isTemplateExpression(node)
          ? [node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('…')
          : '';
    if (!SQL.test(text))
      found.push({ text, line: file.getLineAndCharacterOfPosition(node.getStart()).line + 1 });
    if (!ts.isImportDeclaration(node)) ts.forEachChild(node, visit);
  };
  visit(file);
  return found;
}

/** Returns Markdown without code: fenced blocks become empty lines, and inline code is omitted. */
function proseOf(markdown: string): string {
  let fence: string | undefined;
  return markdown
    .split('\n')
    .map((line) => {
      const [, mark] = /^\s*(```+|~~~+)/.exec(line) ?? [];
      if (mark !== undefined && (fence === undefined || line.trim() === fence)) {
        fence = fence === undefined ? mark : undefined;
        return '';
      }
      return fence === undefined ? line.replaceAll(/`[^`]*`/g, '`…`') : '';
    })
    .join('\n');
}

async function filesBelow(folder: string, ends: RegExp): Promise<string[]> {
  const found = await readdir(folder, { recursive: true });
  return found
    .filter((path) => ends.test(path) && !path.includes('generated'))
    .map((path) => join(folder, path));
}

describe('phrases', () => {
  it('of messages and help are plain', async () => {
    const folders = ['src', 'commands', 'projections', 'queries', 'bin'];
    const paths = (await Promise.all(folders.map((folder) => filesBelow(folder, /\.(?:ts|js|mjs)$/)))).flat();
    expect(paths.length).to.be.greaterThan(500);
    const faults = await Promise.all(
      paths.map(async (path) => {
        const source = await readFile(path, 'utf8');
        if (foundIn(source).length === 0) return [];
        return literalsOf(source).flatMap(({ text, line }) =>
          foundIn(text, line).map((fault) => `${path}:${fault}`),
        );
      }),
    );
    expect(faults.flat()).to.deep.equal([]);
  });

  it('of docs are plain', async () => {
    const own = (await readdir('.')).filter((path) => path.endsWith('.md'));
    // The specification is published unchanged, as it was agreed on.
    const docs = (await filesBelow('docs', /\.md$/)).filter((path) => !path.startsWith(join('docs', 'spec')));
    expect(docs.length).to.be.greaterThan(40);
    const faults = await Promise.all(
      [...own, ...docs].map(async (path) =>
        foundIn(proseOf(await readFile(path, 'utf8'))).map((fault) => `${path}:${fault}`),
      ),
    );
    expect(faults.flat()).to.deep.equal([]);
    for (const path of docs) expect(await readFile(path, 'utf8'), path).not.to.include('***');
  });

  it('are found in text, and neither in comments nor in code', () => {
    const source = [
      '// whoever reads this',
      "const a = 'the key is no key';",
      'const b = `select anew from t`;',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a source file
      'const c = `${a} is not known`;',
      "const d = 'it is no longer open';",
    ].join('\n');
    const found = literalsOf(source).flatMap(({ text, line }) => foundIn(text, line));
    expect(found.map((fault) => fault.slice(0, 2))).to.deep.equal(['2:', '4:']);
    const page = [
      'Whoever reads',
      '```sh',
      'echo anew',
      '```',
      'Derive `anew`.',
      "Somebody else's data.",
    ].join('\n');
    expect(foundIn(proseOf(page)).map((fault) => fault.slice(0, 2))).to.deep.equal(['1:', '6:']);
  });
});
