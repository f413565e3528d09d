import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import { MEASURES } from '../../bench/measures/all.ts';
import { pageWith } from '../../bench/page.ts';

const report = {
  date: '',
  command: '',
  machine: { cores: 1, node: '', postgresql: '' },
  scale: 1,
  runs: 1,
  rows: [],
};

describe('the page of the bench', () => {
  it('keeps every section that a run does not measure, those of no row after the others', async () => {
    const before = await readFile(new URL('../../docs/performance.md', import.meta.url), 'utf8');
    const order = MEASURES.map(({ row }) => row);
    expect(pageWith(report, before, order)).to.equal(before);
    const [, ...parts] = pageWith(report, `## by hand\n\nText.\n\n${before}`, order).split(/^## /m);
    expect(parts.map((part) => part.slice(0, part.indexOf('\n')))).to.include('by hand');
  });
});
