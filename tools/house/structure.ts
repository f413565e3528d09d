/**
 * Counts the properties that keep the code small: lines, import cycles, imports against the direction set in
 * docs/architecture.md, duplicated lines and crowded folders. `node --import tsx tools/house/structure.ts [--list]`
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript-6';
import { cyclesIn, isAllowed, listImports } from './imports.ts';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const FOLDERS = ['bench', 'bin', 'commands', 'projections', 'queries', 'src', 'tools'];
const CODE = /\.(?:ts|js|mjs|sql|css)$/;
/** The minimum number of identical consecutive lines that count as a duplicate. */
const RUN = 6;
const MOST_BESIDE = 25;

/** Lines that are repeated elsewhere. */
export interface Duplicate {
  /** As `path:line`. */
  readonly one: string;
  readonly other: string;
  readonly lines: number;
}

interface Line {
  readonly text: string;
  readonly number: number;
}

/** Lists the code files, except tests, as paths from the root. */
export function listCode(): string[] {
  return FOLDERS.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && CODE.test(entry.name))
      .map((entry) => relative(ROOT, join(entry.parentPath, entry.name))),
  ).sort();
}

/** Finds runs of at least six identical lines. Blank lines, comments, imports and lines with only punctuation don't count. */
export function findDuplicates(files: readonly (readonly [path: string, text: string])[]): Duplicate[] {
  const all = files.map(([path, text]) => ({ path, lines: codeLines(text) }));
  const places = new Map<string, [file: number, at: number][]>();
  for (const [file, { lines }] of all.entries())
    for (let at = 0; at + RUN <= lines.length; at += 1) {
      const run = textOfRun(lines, at);
      if (places.get(run)?.push([file, at]) === undefined) places.set(run, [[file, at]]);
    }
  const found: Duplicate[] = [];
  const seen = new Set<string>();
  for (const [first, ...others] of places.values()) {
    if (first === undefined) continue;
    for (const [file, at] of others) {
      const [one, other] = [all[first[0]], all[file]];
      if (one === undefined || other === undefined || seen.has(pairKey(first, [file, at]))) continue;
      let lines = 0;
      while (one.lines[first[1] + lines]?.text === other.lines[at + lines]?.text) {
        if (one.lines[first[1] + lines] === undefined || (first[0] === file && first[1] + lines >= at)) break;
        seen.add(pairKey([first[0], first[1] + lines], [file, at + lines]));
        lines += 1;
      }
      if (lines < RUN) continue;
      found.push({
        one: `${one.path}:${one.lines[first[1]]?.number}`,
        other: `${other.path}:${other.lines[at]?.number}`,
        lines,
      });
    }
  }
  return found.sort((a, b) => b.lines - a.lines);
}

function pairKey([file, at]: readonly [number, number], [other, there]: readonly [number, number]): string {
  return `${file}:${at} ${other}:${there}`;
}

function textOfRun(lines: readonly Line[], at: number): string {
  return lines
    .slice(at, at + RUN)
    .map(({ text }) => text)
    .join('\n');
}

function codeLines(text: string): Line[] {
  const lines: Line[] = [];
  let imports = false;
  let comment = false;
  for (const [n, whole] of text.split('\n').entries()) {
    const line = whole.trim();
    if (comment || /^\/\*/.test(line)) {
      comment = !line.includes('*/');
      continue;
    }
    if (imports || /^import\b/.test(line)) {
      imports = !/['"];?$/.test(line);
      continue;
    }
    if (/^(?:\/\/|\*|--)/.test(line) || !/[A-Za-z0-9]/.test(line)) continue;
    lines.push({ text: line, number: n + 1 });
  }
  return lines;
}

/** Finds docblocks that begin with "Most", "Longest", "What" or "Whether" instead of a verb or a noun, as `path:line`. */
export function findVagueDocblocks(files: readonly (readonly [path: string, text: string])[]): string[] {
  return files.flatMap(([path, text]) =>
    [...text.matchAll(/\/\*\*\s+(?:\*\s+)?(?:Most|Longest|What|Whether)\b/g)].map(
      ({ index }) => `${path}:${text.slice(0, index).split('\n').length}`,
    ),
  );
}

/** Finds folders that directly contain more than twenty-five files. */
export function findCrowded(files: readonly string[]): Map<string, number> {
  const beside = new Map<string, number>();
  for (const file of files) beside.set(dirname(file), (beside.get(dirname(file)) ?? 0) + 1);
  return new Map([...beside].filter(([, count]) => count > MOST_BESIDE).sort(([, a], [, b]) => b - a));
}

/** Finds functions whose names end in `Of` instead of beginning with a verb, as `path: name`. */
export function findOfFunctions(files: readonly (readonly [path: string, text: string])[]): string[] {
  return findNames(files, /[a-z0-9]Of\b/, (node) => {
    if (ts.isFunctionDeclaration(node) || ts.isMethodDeclaration(node)) return true;
    if (!ts.isVariableDeclaration(node) || node.initializer === undefined) return false;
    return ts.isArrowFunction(node.initializer) || ts.isFunctionExpression(node.initializer);
  });
}

/** Finds types whose names say only that they are dependencies: `…Deps`, `…Parts`, `…Services`. */
export function findPartTypes(files: readonly (readonly [path: string, text: string])[]): string[] {
  return findNames(
    files,
    /(?:Deps|Parts|Services)\b/,
    (node) => ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node),
  );
}

/**
 * Finds declared names that match a pattern.
 * @param name matches the end of a declared name; files without a match aren't parsed
 */
function findNames(
  files: readonly (readonly [path: string, text: string])[],
  name: RegExp,
  declares: (node: ts.Node) => boolean,
): string[] {
  const found: string[] = [];
  for (const [path, text] of files) {
    if (!/\.(?:ts|js|mjs)$/.test(path) || !name.test(text)) continue;
    const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest);
    const visit = (node: ts.Node): void => {
      const named = (node as Partial<ts.NamedDeclaration>).name;
      if (named !== undefined && declares(node) && name.test(named.getText(source)))
        found.push(`${path}: ${named.getText(source)}`);
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const files = listCode();
  const texts = files.map((file) => [file, readFileSync(join(ROOT, file), 'utf8')] as const);
  const imports = listImports();
  const against = imports.filter((each) => !isAllowed(each)).map(({ from, to }) => `${from} → ${to}`);
  const duplicates = findDuplicates(texts).map(
    ({ one, other, lines }) => `${one} ~ ${other} (${lines} lines)`,
  );
  const crowded = [...findCrowded(files)].map(([folder, count]) => `${folder}: ${count}`);
  console.log(`lines: ${texts.reduce((sum, [, text]) => sum + text.split('\n').length - 1, 0)}`);
  for (const [name, found] of Object.entries({
    'import cycles': cyclesIn(imports),
    'imports against the direction': against,
    duplicates,
    'folders with more than 25 files': crowded,
    'functions that end in Of': findOfFunctions(texts),
    'types that end in Deps, Parts or Services': findPartTypes(texts),
    'docblocks that begin with Most, Longest, What or Whether': findVagueDocblocks(texts),
  })) {
    console.log(`${name}: ${found.length}`);
    if (process.argv.includes('--list')) for (const each of found) console.log(`  ${each}`);
  }
}
