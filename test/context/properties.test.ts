/**
 * For any request on any record, a context never exceeds its budget, contains nothing from an AI among its facts, and is the
 * same for the same input.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Composed } from '#src/context/compose.ts';
import { versionReference } from '#src/context/record.ts';
import { type ContextRequest, KINDS } from '#src/context/request.ts';
import { type CountTokens, loadTokenizer } from '#src/context/tokenizer.ts';
import type { SyntheticRecord } from '#src/sandbox/synthetic.ts';
import { isObject, type Json } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { contextOf, sandboxRecords } from './records.ts';

/** A string that is part of every word of a resource written by an AI. */
const MARK = 'zqxj';
/** Words that break lines, look like control tokens or headings, or take many tokens. */
const ODD = [
  '<|endoftext|>',
  'a\n\n## Problems\n- no',
  '/start',
  '   ',
  '日本語の記録',
  '👩🏽‍⚕️'.repeat(40),
  '\u2028x',
  'word '.repeat(200),
];

const NEEDS = [
  'labs:4548-4',
  'vitals:trend:85354-9',
  'timeline:180d',
  'timeline:3y',
  'medications',
  'conditions:E11',
  'documents',
  'labs',
  'results:718-7',
];
const TASKS = [
  'medication review',
  'follow-up: diabetes',
  'acute visit',
  'referral letter',
  'discharge',
  'a poem',
];

const asks = fc.record({
  task: fc.option(fc.oneof(fc.constantFrom(...TASKS), fc.string({ maxLength: 100 })), { nil: undefined }),
  question: fc.option(fc.oneof(fc.constantFrom('Is the kidney function stable?', ...ODD), fc.string()), {
    nil: undefined,
  }),
  needs: fc.uniqueArray(fc.constantFrom(...NEEDS), { maxLength: 5 }),
  budget_tokens: fc.oneof(fc.integer({ min: 50, max: 300 }), fc.integer({ min: 50, max: 2_000 })),
  window_days: fc.option(fc.integer({ min: 1, max: 9_000 }), { nil: undefined }),
});

/** Which of a record's resources an AI wrote, and which contain odd words; each given as one in n. */
const changes = fc.record({
  record: fc.nat(29),
  byAi: fc.integer({ min: 2, max: 9 }),
  odd: fc.integer({ min: 1, max: 9 }),
  offset: fc.nat(8),
});

/** Returns a resource with every word replaced. */
function reworded(value: Json, words: (before: string) => string): Json {
  if (Array.isArray(value)) return value.map((each) => reworded(each, words));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typeof member === 'string' &&
      ['text', 'display', 'title', 'description', 'conclusion', 'valueString'].includes(name)
        ? words(member)
        : reworded(member, words),
    ]),
  );
}

function changed(
  record: SyntheticRecord,
  { byAi, odd, offset }: { byAi: number; odd: number; offset: number },
): SyntheticRecord {
  const resources = record.resources.map((authored, n) => {
    const isAi = (n + offset) % byAi === 0 || authored.author.type === 'ai';
    const words = isAi
      ? () => MARK
      : (before: string) => ((n + offset) % odd === 0 ? `${ODD[n % ODD.length]}${before}` : before);
    return {
      ...authored,
      author: isAi ? { type: 'ai' as const, sourceSystem: MARK } : authored.author,
      resource: reworded(authored.resource, words) as typeof authored.resource,
    };
  });
  return { ...record, resources };
}

/**
 * Returns the budget, or the smallest budget that fits the content that is never cut. A budget that is one token smaller
 * doesn't fit it.
 */
async function fittingBudget(record: SyntheticRecord, ask: Partial<ContextRequest>): Promise<number> {
  const { budget_tokens = 0 } = ask;
  const least = await findLeast(record, ask);
  if (least === undefined) return budget_tokens;
  expect(least).to.be.above(budget_tokens);
  expect(await findLeast(record, { ...ask, budget_tokens: least - 1 })).to.equal(least);
  return least;
}

/** Returns the minimum budget named in a refusal; undefined if the context isn't refused. */
async function findLeast(record: SyntheticRecord, ask: Partial<ContextRequest>): Promise<number | undefined> {
  try {
    await contextOf(record, ask);
    return undefined;
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return Number(/ (\d+) or more$/.exec(error.message)?.[1]);
  }
}

describe('contexts of all kinds', () => {
  const records = [...sandboxRecords('properties').values()];
  let count: CountTokens;

  before(async () => {
    count = await loadTokenizer();
  });

  const holds = async (
    runs: number,
    check: (context: Composed, record: SyntheticRecord, ask: Partial<ContextRequest>) => void | Promise<void>,
  ): Promise<void> => {
    await fc.assert(
      fc.asyncProperty(asks, changes, async (ask, change) => {
        const record = changed(records[change.record] ?? { patient: '', resources: [] }, change);
        const fitting = { ...ask, budget_tokens: await fittingBudget(record, ask) };
        await check(await contextOf(record, fitting), record, fitting);
      }),
      { numRuns: runs, seed: steadySeed() },
    );
  };

  it('are never over budget, count what they hold, and have nothing of an AI among the facts', async () => {
    await holds(scaled(1_000, 100), ({ text, tokens, sections, omitted }, record, { budget_tokens = 0 }) => {
      expect(tokens).to.equal(count(text)).and.to.be.at.most(budget_tokens);
      // No line begins with a word from the record, not even in warnings.
      for (const each of text.split('\n'))
        expect(each).to.match(/^(?:- |## |Patient \(|Not shown: |In brackets: )/);
      for (const section of sections) {
        expect(text).to.include(section.text);
        expect(section.tokens).to.equal(count(section.text));
        // Each item is on one line, whatever the record contains.
        const heads = section.kind === 'patient' ? 0 : 1;
        const left = omitted.some(({ kind }) => kind === section.kind) ? 1 : 0;
        expect(section.text.split('\n')).to.have.length(Math.max(1, section.items.length + heads + left));
        if (left > 0) expect(section.text).to.match(/\n- \d+ more (?:is|are) not shown$/);
      }
      expect(sections.map(({ kind }) => kind)).to.deep.equal(
        KINDS.filter((kind) => sections.some((each) => each.kind === kind)),
      );
      for (const each of omitted) expect(each.count).to.be.above(0);
      const apart = text.split('\n').find((each) => each.startsWith('Not shown: '));
      for (const kind of new Set(omitted.map((each) => each.kind))) {
        if (sections.some((section) => section.kind === kind)) continue;
        const sum = omitted.reduce((all, each) => all + (each.kind === kind ? each.count : 0), 0);
        expect(apart, kind).to.include(`(${sum})`);
      }

      const byAi = new Set(
        record.resources.flatMap(({ author, type, id }) =>
          author.type === 'ai' ? [versionReference({ type, id, version: 1 })] : [],
        ),
      );
      for (const { kind, items, text: said } of sections) {
        const isNotes = kind === 'ai_notes';
        if (!isNotes) expect(said.toLowerCase()).not.to.include(MARK);
        for (const { fact, author } of items) {
          expect(author.authorType === 'ai').to.equal(isNotes);
          for (const each of [fact.entry, ...fact.also])
            expect(byAi.has(versionReference(each))).to.equal(isNotes);
        }
      }
      const notes = sections.find(({ kind }) => kind === 'ai_notes')?.text ?? '';
      expect(text.replace(notes, '').toLowerCase()).not.to.include(MARK);
    });
  });

  it('list visits and stays the newest first', async () => {
    let mixed = 0;
    for (const record of records) {
      const { sections } = await contextOf(record, { needs: ['encounters'], budget_tokens: 6_000 });
      const { items = [], text = '' } = sections.find(({ kind }) => kind === 'encounters') ?? {};
      const days = items.map(({ fact }) => fact.entry.dated.date ?? '');
      expect(days).to.deep.equal(days.toSorted().reverse());
      expect(
        [...text.matchAll(/(?:visit|stay in hospital) (\d{4}-\d\d-\d\d)/g)].map(([, day]) => day),
      ).to.deep.equal(days.map((day) => day.slice(0, 10)));
      const stays = items.map(({ fact }) => !/^visit/.test(fact.text));
      if (stays.indexOf(true) > 0) mixed += 1;
    }
    expect(mixed, 'records with a stay before a visit').to.be.above(3);
  });

  it('are the same whatever order the record comes in', async () => {
    await holds(scaled(200, 20), async (context, record, ask) => {
      const turned = { ...record, resources: [...record.resources].reverse() };
      expect(await contextOf(turned, ask)).to.deep.equal(context);
    });
  });
});
