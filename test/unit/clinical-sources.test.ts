import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { CLASSES, DRUGS } from '#src/context/guidance/drugs.ts';
import { GUIDELINES, type GuidelineName } from '#src/context/guidance/guidelines.ts';
import { ILLNESSES } from '#src/context/guidance/illnesses.ts';
import { ALWAYS, CHILD_VACCINES, SECTIONS_SOURCE } from '#src/context/guidance/scores.ts';

const RULES: readonly (readonly [rule: string, source: readonly GuidelineName[]])[] = [
  ...ILLNESSES.map(({ name, source }) => [name, source] as const),
  ...DRUGS.map(({ codes, source }) => [codes.source, source] as const),
  ...CLASSES.map(({ codes, source }) => [codes.source, source] as const),
  ...Object.entries(ALWAYS).map(([work, { source }]) => [work, source] as const),
  ['sections', SECTIONS_SOURCE],
  ['vaccinations of children', CHILD_VACCINES.source],
];

const DUE = [...ILLNESSES, ...DRUGS].flatMap((rule) => rule.due ?? []);

/** The maximum number of days in three, six and twelve months. */
const MONTHS: Readonly<Record<number, number>> = { 3: 92, 6: 184, 12: 366 };

/** Returns the longest interval that a text allows, in days: `at least every 6 months`, `every 3 to 12 months`. */
function longestIn(asks: string): number {
  if (/once a year/.test(asks)) return 366;
  if (/twice a year/.test(asks)) return 184;
  return Math.max(
    ...[...asks.matchAll(/(\d+) (weeks|months)/g)].map(([, count, unit]) =>
      unit === 'weeks' ? Number(count) * 7 : (MONTHS[Number(count)] ?? Number(count) * 31),
    ),
  );
}

describe('clinical rules', () => {
  for (const [rule, source] of RULES) {
    it(`${rule} names its guideline`, () => {
      expect(source).not.to.be.empty;
      for (const name of source) expect(GUIDELINES).to.have.property(name);
    });
  }

  for (const { name, days, source, asks } of DUE) {
    it(`${name}, ${asks} (${source}), warns no sooner than that`, () => {
      expect(GUIDELINES).to.have.property(source);
      expect(longestIn(asks)).to.be.greaterThan(0).and.at.most(days);
      const rows = readFileSync('docs/context.md', 'utf8').split('\n');
      expect(
        rows.some((row) => row.includes(`| ${name} | ${asks} (`) && row.endsWith(`| ${days} days |`)),
        'docs/context.md has no such row',
      ).to.equal(true);
    });
  }

  it('use every guideline, each with publisher, version and date, and docs/context.md lists it', () => {
    const cited = new Set<string>([
      ...RULES.flatMap(([, source]) => source),
      ...DUE.map(({ source }) => source),
    ]);
    const page = readFileSync('docs/context.md', 'utf8');
    for (const [key, { title, publisher, version, date }] of Object.entries(GUIDELINES)) {
      expect(cited.has(key), key).to.equal(true);
      expect(date, key).to.match(/^\d{4}(-\d{2}){0,2}$/);
      expect(page, key).to.include(`| ${publisher} | ${title} | ${version} | ${date} |`);
    }
  });
});
