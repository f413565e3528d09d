/** Every rule in docs/oauth-rules.md has a test that names the rule, in the file given on that page. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const read = (path: string): string => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');

/** Maps a rule's id to the file of its test. */
const rules = [...read('docs/oauth-rules.md').matchAll(/^\| ([A-Z]+-\d+) \|.*\| `(test\/[^`]+)` \|$/gm)].map(
  ([, id = '', file = '']) => ({ id, file }),
);

/** Returns the ids that the test titles in a file begin with. */
function named(file: string): Set<string> {
  const titles = read(file).matchAll(/\bit\(\s*['"`]([A-Z]+-\d+): /g);
  return new Set([...titles].map(([, id = '']) => id));
}

describe('rules of the authorization server', () => {
  it('are more than fifty, with ids of their own', () => {
    expect(rules.length).to.be.greaterThan(50);
    expect(new Set(rules.map(({ id }) => id)).size).to.equal(rules.length);
  });

  for (const file of new Set(rules.map((rule) => rule.file))) {
    it(`are the ids that ${file} names`, () => {
      const ids = rules.filter((rule) => rule.file === file).map(({ id }) => id);
      expect([...named(file)].sort()).to.deep.equal(ids.sort());
    });
  }
});
