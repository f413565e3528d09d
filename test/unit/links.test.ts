/** Links between documentation pages can be resolved, and the files that pages mention exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '#test/support/process.ts';

const pages = [
  ...readdirSync(ROOT).map((name) => join(ROOT, name)),
  ...readdirSync(join(ROOT, 'docs'), { recursive: true }).map((name) => join(ROOT, 'docs', String(name))),
].filter((path) => path.endsWith('.md'));

/** Returns a page's links within the repository: [path, anchor or '']. */
function linksOf(path: string): [path: string, anchor: string][] {
  const text = readFileSync(path, 'utf8').replace(/^```[\s\S]*?^```/gm, '');
  return [...text.matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, url = '']): [string, string][] => {
    if (/^[a-z]+:/.test(url)) return [];
    const [file = '', anchor = ''] = url.split('#');
    return [[file === '' ? path : join(dirname(path), file), anchor]];
  });
}

/** Matches a file or folder in the repository, as pages refer to it. */
const FILE = /`((?:src|commands|projections|queries|test|tools|bench|docs|bin)\/[\w./-]*)`/g;

/** Returns the anchors of headings, as code hosting sites generate them. */
function anchorsOf(path: string): string[] {
  return [...readFileSync(path, 'utf8').matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('links of the documentation', () => {
  for (const page of pages) {
    it(`lead somewhere in ${relative(ROOT, page)}`, () => {
      for (const [target, anchor] of linksOf(page)) {
        const name = relative(ROOT, target);
        const folder = readdirSync(dirname(target));
        expect(folder, `link to ${name}`).to.include(target.slice(dirname(target).length + 1));
        if (anchor !== '') expect(anchorsOf(target), `headings of ${name}`).to.include(anchor);
      }
    });
  }

  for (const page of pages) {
    it(`files named in ${relative(ROOT, page)} exist`, () => {
      for (const [, path = ''] of readFileSync(page, 'utf8').matchAll(FILE)) {
        expect(existsSync(join(ROOT, path)), path).to.equal(true);
      }
    });
  }

  it('the architecture names every folder and every read model', () => {
    const text = readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8');
    const foldersIn = (folder: string): string[] =>
      readdirSync(join(ROOT, folder), { withFileTypes: true }).flatMap((entry) =>
        entry.isDirectory() ? [entry.name] : [],
      );
    const parts = ['commands', 'projections', 'queries', 'tools', 'bench', 'bin', 'test', 'docs'];
    for (const folder of [...parts, ...foldersIn('src').map((name) => `src/${name}`)])
      expect(text, folder).to.include(`| \`${folder}/\``);
    const models = foldersIn('projections').filter((name) =>
      existsSync(join(ROOT, `projections/${name}/schema.ts`)),
    );
    expect(models.length).to.be.greaterThan(5);
    for (const model of models) {
      expect(text, model).to.match(
        new RegExp(`^\\| \`${model}\` +\\| \`projections/${model}/schema\\.ts\``, 'm'),
      );
    }
  });

  it('reach every decision from the index', () => {
    const decisions = readdirSync(join(ROOT, 'docs/decisions')).map((name) => `docs/decisions/${name}`);
    const linked = linksOf(join(ROOT, 'docs/README.md')).map(([target]) => relative(ROOT, target));
    expect(linked).to.include.members(decisions);
  });
});
