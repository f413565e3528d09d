/** Generated pages are as their schemas say. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { generatedPages } from '../../tools/docs/generate.ts';

describe('generated pages', () => {
  for (const [name, text] of generatedPages()) {
    it(`docs/${name} is up to date (npm run generate)`, async () => {
      expect(await readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8')).to.equal(text);
    });
  }
});
