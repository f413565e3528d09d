/** Splitting a record that is too large for one transaction. */
import { expect } from 'chai';
import fc from 'fast-check';
import { type Entry, makeEntry } from '#src/cli/import/entry.ts';
import { cutIntoParts, inReferenceOrder } from '#src/cli/import/parts.ts';

const entry = (key: string, text = ''): Entry =>
  makeEntry(key, 'Observation', { resourceType: 'Observation', note: [{ text }] }, key);

const linked = (links: Record<string, readonly string[]>) => ({
  entries: Object.keys(links).map((key) => entry(key)),
  links: ({ key }: Entry) => links[key] ?? [],
});

describe('parts of a record', () => {
  it('are one, in the order of the source, when it fits', () => {
    const { entries, links } = linked({ b: ['a'], a: [] });
    const parts = cutIntoParts(entries, links, { entries: 2, bytes: 1_000_000 });
    expect(parts.map((part) => part.map(({ key }) => key))).to.deep.equal([['b', 'a']]);
  });

  it('go in the order of their references', () => {
    const { entries, links } = linked({ c: ['b'], b: ['a', 'elsewhere'], a: [], d: ['c'] });
    const parts = cutIntoParts(entries, links, { entries: 2, bytes: 1_000_000 });
    expect(parts.map((part) => part.map(({ key }) => key))).to.deep.equal([
      ['a', 'b'],
      ['c', 'd'],
    ]);
  });

  it('keep together what refers to each other', () => {
    const { entries, links } = linked({ p: [], x: ['p'], e: ['p', 'c'], c: ['p', 'e'] });
    const parts = cutIntoParts(entries, links, { entries: 3, bytes: 1_000_000 });
    const together = parts.find((part) => part.some(({ key }) => key === 'e'));
    expect(together?.map(({ key }) => key)).to.include('c');
  });

  it('obey the limit in bytes', () => {
    const entries = ['a', 'b', 'c'].map((key) => entry(key, 'x'.repeat(10_000)));
    expect(cutIntoParts(entries, () => [], { entries: 100, bytes: 25_000 })).to.have.length(2);
  });

  it('hold every entry once, within the limit, and point backwards where there is no circle', () => {
    const graph = fc
      .array(fc.array(fc.nat(60), { maxLength: 4 }), { minLength: 1, maxLength: 60 })
      .map((targets) => {
        // Each node links only to nodes with lower numbers, so there are no cycles. The nodes are then shuffled.
        const links = Object.fromEntries(
          targets.map((to, i) => [`n${i}`, to.filter((n) => n < i).map((n) => `n${n}`)]),
        );
        return linked(links);
      });
    fc.assert(
      fc.property(
        graph,
        fc.integer({ min: 1, max: 20 }),
        fc.infiniteStream(fc.nat()),
        (made, most, random) => {
          const shuffled = made.entries
            .map((one) => ({ one, at: random.next().value as number }))
            .sort((a, b) => a.at - b.at)
            .map(({ one }) => one);
          const parts = cutIntoParts(shuffled, made.links, { entries: most, bytes: 1e9 });
          expect(parts.flat().map(({ key }) => key)).to.have.members(shuffled.map(({ key }) => key));
          const seen = new Set<string>();
          for (const part of parts) {
            expect(part.length).to.be.at.most(most);
            for (const { key } of part) seen.add(key);
            if (parts.length > 1)
              for (const one of part) for (const to of made.links(one)) expect(seen.has(to)).to.equal(true);
          }
        },
      ),
    );
  });

  it('come the same way twice, also from deep chains', () => {
    const links: Record<string, string[]> = {};
    for (let i = 0; i < 20_000; i += 1) links[`n${i}`] = i + 1 < 20_000 ? [`n${i + 1}`] : [];
    const { entries, links: of } = linked(links);
    const groups = inReferenceOrder(entries, of);
    expect(groups).to.have.length(20_000);
    expect(groups[0]?.[0]?.key).to.equal('n19999');
  });
});
