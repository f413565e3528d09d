/** Files that the container image leaves out. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect } from 'chai';
import { ROOT } from '#test/support/process.ts';
import { prune } from '../../tools/image/prune.ts';

describe('the packages of the container image', () => {
  let modules: string;
  before(() => {
    modules = join(mkdtempSync(join(tmpdir(), 'annal-image-')), 'node_modules');
    mkdirSync(join(modules, 'some'), { recursive: true });
    for (const name of ['index.js', 'index.js.map', 'index.d.ts', 'index.d.mts', 'LICENSE', 'data.json'])
      writeFileSync(join(modules, 'some', name), 'x');
    cpSync(join(ROOT, 'node_modules/gpt-tokenizer'), join(modules, 'gpt-tokenizer'), { recursive: true });
  });
  after(() => rmSync(join(modules, '..'), { recursive: true }));

  it('have neither source maps nor types, and one vocabulary, which still counts tokens', async () => {
    const { files, bytes } = prune(modules);
    expect(files).to.be.greaterThan(100);
    expect(bytes).to.be.greaterThan(20_000_000);
    const there = ['index.js', 'index.js.map', 'index.d.ts', 'index.d.mts', 'LICENSE', 'data.json'];
    expect(there.filter((name) => existsSync(join(modules, 'some', name)))).to.deep.equal([
      'index.js',
      'LICENSE',
      'data.json',
    ]);
    const tokenizer = join(modules, 'gpt-tokenizer/esm/encoding');
    expect(existsSync(join(tokenizer, 'cl100k_base.js'))).to.equal(false);
    const { countTokens } = await import(pathToFileURL(join(tokenizer, 'o200k_base.js')).href);
    expect(countTokens('Penicillin allergy, severe')).to.be.within(3, 8);
  });
});
