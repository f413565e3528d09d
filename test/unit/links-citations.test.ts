/**
 * Everything that the code and the documentation cite exists in the repository: files, decisions, and sections of the
 * specification, which are cited as docs/spec/README.md prescribes.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '#test/support/process.ts';

const FOLDERS = ['src', 'commands', 'projections', 'queries', 'test', 'bench', 'tools', 'bin', 'docs', '.ci'];
/** The changelog isn't included, because it uses the names that files had at the time. */
const FILES = ['CONTRIBUTING.md', 'README.md', 'SECURITY.md', 'Dockerfile', 'docker-compose.yml'];
const SPECIFICATION = 'docs/spec/';

/** Matches the path of a file in the repository, and the position after it, where a section may be named. */
const PATH =
  /(?<![\w./#-])((?:src|commands|projections|queries|test|bench|tools|bin|docs|\.ci)\/[\w./-]*\.[a-z]{2,4})\b(?!\/)/g;
const SECTIONS =
  /^, sections? (\d+(?:\.\d+)?(?:(?:, | and |, and )\d+(?:\.\d+)?)*)(?::? ("[^"]+"(?:(?:, | and )"[^"]+")*))?/;
/** In a comment, matches a page's name without its folder. */
const BARE_PAGE = /(?<![\w./-])([\w-]+\.md)\b/g;
const DECISION = /\bdecision (\d{4})\b/g;

/** Returns the sections of a specification page, by number. */
function sectionsOf(page: string): ReadonlyMap<string, string> {
  const parts = readFileSync(join(ROOT, page), 'utf8').split(/^(?=#{2,3} \d)/m);
  const sections = new Map<string, string>();
  for (const part of parts) {
    const number = /^#{2,3} (\d+(?:\.\d+)?)/.exec(part)?.[1];
    if (number !== undefined) sections.set(number, part);
  }
  return sections;
}

const specification = new Map(
  readdirSync(join(ROOT, SPECIFICATION)).map((name) => [
    SPECIFICATION + name,
    sectionsOf(SPECIFICATION + name),
  ]),
);

/** Returns whether a section has a paragraph or an item that begins with the given name. */
function hasParagraph(section: string, name: string): boolean {
  return [`**${name}.**`, `**${name}**`, `- ${name}:`].some((start) => section.includes(start));
}

/**
 * Returns what is wrong with a citation of the specification.
 * @param rest the text after the page's name
 */
function specificationFaults(page: string, rest: string): string[] {
  const sections = specification.get(page);
  const [, numbers, names] = SECTIONS.exec(rest) ?? [];
  if (sections === undefined || page.endsWith('README.md')) return [];
  if (numbers === undefined) return [`${page}: name a section, for example "${page}, section 5"`];
  const cited = numbers.split(/, and | and |, /);
  const missing = cited.filter((number) => !sections.has(number));
  if (missing.length > 0) return missing.map((number) => `${page} has no section ${number}`);
  const text = sections.get(cited.at(-1) ?? '') ?? '';
  return [...(names ?? '').matchAll(/"([^"]+)"/g)]
    .map(([, name = '']) => name)
    .filter((name) => !hasParagraph(text, name))
    .map((name) => `${page}, section ${cited.at(-1)} has no paragraph "${name}"`);
}

/** Returns only the comments of a source file; for a page, the whole text. */
function commentsOf(text: string): string {
  return [...text.matchAll(/\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/ .*/g)].map(([comment]) => comment).join('\n');
}

/**
 * Returns every citation in a file that points to nothing.
 * @param isPage true for pages, whose links are checked by `links.test.ts`
 */
function faultsOf(text: string, isPage: boolean): string[] {
  const joined = text.replace(/\s*\n\s*(?:\*(?!\/)|\/\/)?\s*/g, ' ');
  const paths = [...joined.matchAll(PATH)].flatMap((found) => {
    const [, path = ''] = found;
    if (!existsSync(join(ROOT, path))) return [`${path} does not exist`];
    const rest = joined.slice(found.index + found[0].length);
    return isPage ? [] : specificationFaults(path, rest);
  });
  const bare = isPage ? [] : [...commentsOf(text).matchAll(BARE_PAGE)].map(([, name = '']) => name);
  const decisions = [...joined.matchAll(DECISION)].map(([, number = '']) => number);
  return [
    ...paths,
    ...bare.filter((name) => !existsSync(join(ROOT, name))).map((name) => `${name}: write its whole path`),
    ...decisions
      .filter((number) => !readdirSync(join(ROOT, 'docs/decisions')).some((name) => name.startsWith(number)))
      .map((number) => `there is no decision ${number}`),
  ];
}

const own = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
)
  .filter((name) => /\.(?:ts|js|mjs|md)$/.test(name) && !name.includes('/generated/'))
  .filter((name) => name !== relative(ROOT, import.meta.filename));

describe('citations', () => {
  it('lead somewhere', () => {
    const all = [...own, ...FILES];
    expect(all.length).to.be.greaterThan(500);
    const faults = all.flatMap((name) =>
      faultsOf(readFileSync(join(ROOT, name), 'utf8'), name.endsWith('.md')).map(
        (fault) => `${name}: ${fault}`,
      ),
    );
    expect(faults).to.deep.equal([]);
  });

  it('would be noticed if they led nowhere', () => {
    const cited = (text: string): string[] => faultsOf(`/** ${text} */`, false);
    expect(cited('(docs/spec/interface.md, sections 2.3 and 4.3; docs/spec/decisions.md, section 4)')).to.be
      .empty;
    expect(cited('docs/spec/decisions.md,\n * section 5 "Writes", docs/audit.md, decision 0002')).to.be.empty;
    expect(cited('docs/spec/decisions.md, section 4: the "timeline"')).to.be.empty;
    expect(cited('docs/spec/decisions.md')).to.have.length(1);
    expect(cited('docs/spec/interface.md, section 4.9')).to.have.length(1);
    expect(cited('docs/spec/interface.md, sections 4.3 and 12')).to.have.length(1);
    expect(cited('docs/spec/decisions.md, section 5 "Writing"')).to.have.length(1);
    expect(cited('docs/spec/decisions.md, section 5: "Writes", "Writing"')).to.have.length(1);
    expect(cited('(decisions.md, section 4)')).to.have.length(1);
    expect(cited('docs/nowhere.md')).to.have.length(1);
    expect(cited('see src/nowhere.ts')).to.have.length(1);
    expect(cited('decision 9999')).to.have.length(1);
  });
});
