/** Codes are found as by a naive search of all of them, regardless of how and when they were loaded. */
import { expect } from 'chai';
import fc from 'fast-check';
import { plainWords } from '#src/shared/plain-words.ts';
import { openFindCodes } from '#src/terminology/find/find.ts';
import { makeCodeIndex } from '#src/terminology/find/make.ts';
import { writingTerminology } from '#src/terminology/install.ts';
import { copyConcepts, newSystems, removeSystems } from '#src/terminology/rows.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';

const SYSTEM = 'http://example.org/codes';

/** Words that begin alike, are alike, come often or seldom, and have letters of several bytes. */
const WORDS = [
  ...['glucose', 'Glucosidase', 'glucagon', 'serum', 'sera', 'plasma', 'urine', 'mass', 'mas', 'antibody'],
  ...['glucosamine', 'gluconate', 'glucuronide', 'glycose', 'plasmin', 'serums', 'masses'],
  ...[
    'antibiotic',
    'é',
    'naïve',
    'β-lactam',
    '日本',
    '😀',
    'x',
    '24',
    '24h',
    'IgE',
    'blood',
    'blood',
    'blood',
  ],
];

const word = fc.constantFrom(...WORDS);
const code = fc.stringMatching(/^[A-C]?[0-9]{1,3}(?:-[0-9])?$/);
const concepts = fc.uniqueArray(
  fc.record({
    code,
    display: fc.option(
      fc
        .array(fc.tuple(word, fc.constantFrom(' ', ' [', '/', ' in ', ', ')), { maxLength: 5 })
        .map((parts) => parts.flat().join('')),
      { nil: undefined, freq: 20 },
    ),
    active: fc.integer({ max: 9 }).map((drawn) => drawn !== 0),
  }),
  { selector: (each) => each.code, maxLength: 150, size: 'max' },
);
type Concept = { readonly code: string; readonly display: string | undefined; readonly active: boolean };

/**
 * Changes a word: cut, with a letter too many, too few, or different. In some locales pg_trgm skips non-ASCII letters,
 * so it can't serve as a reference.
 */
const damaged = fc
  .tuple(
    fc.constantFrom(...WORDS.filter((each) => /^\w+$/.test(each))),
    fc.nat(8),
    fc.constantFrom('cut', 'q', '', 'e'),
  )
  .map(([whole, at, what]) => {
    const letters = [...whole];
    if (what === 'cut') return letters.slice(0, at + 1).join('');
    return [...letters.slice(0, at), what, ...letters.slice(at + 1)].join('');
  });
const typed = fc.oneof(
  code,
  code.map((text) => text.slice(0, 2).toLowerCase()),
  fc.array(fc.oneof(word, damaged), { minLength: 1, maxLength: 4 }).map((words) => words.join(' ')),
  fc.array(word, { minLength: 1, maxLength: 3 }).map((words) => words.join('/')),
  fc.string({ unit: 'grapheme-ascii', maxLength: 4 }),
);

describe('codes by what somebody types', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createMigratedDatabase();
  });
  after(() => database.drop());

  const ready = async (): Promise<void> => undefined;
  const load = (loaded: readonly Concept[], made = true): Promise<void> =>
    writingTerminology(database.pool, async (tx) => {
      await removeSystems(tx, 'url = $1', [SYSTEM]);
      const numbers = await newSystems(tx, [{ url: SYSTEM, name: 'Made', content: 'complete' }], true);
      const system = numbers.get(SYSTEM) ?? 0;
      await copyConcepts(
        tx,
        loaded.map((each) => ({ ...each, system })),
      );
      if (made) await makeCodeIndex(tx, system);
    });

  /** The words that one stands for, pg_trgm's own reading of what is like it. */
  const meant = async (typedWord: string, words: readonly string[]): Promise<ReadonlySet<string>> => {
    const begun = words.filter((each) => each.startsWith(typedWord));
    if (begun.length > 0) return new Set(begun);
    const { rows } = await database.pool.query<{ word: string }>(
      `select w.word from unnest($1::text[]) w(word) where w.word % $2 group by w.word
       order by similarity(w.word, $2) desc, count(*) desc, w.word collate "C" limit 3`,
      [words, typedWord],
    );
    return new Set(rows.map((row) => row.word));
  };

  const naive = async (all: readonly Concept[], text: string): Promise<string[]> => {
    const asCode = text.trim().toUpperCase();
    const name = plainWords(text);
    const active = all.flatMap(({ active: counts, ...each }, place) => {
      const folded = plainWords(each.display ?? '');
      return counts ? [{ ...each, place, folded, words: new Set(folded.split(' ')) }] : [];
    });
    const words = active.flatMap((each) => [...each.words]).filter((each) => each !== '');
    const wanted = await Promise.all(
      [...new Set(name.split(' '))].slice(0, 10).map((each) => meant(each, words)),
    );
    const rankOf = ({ code: own, folded, words: has }: (typeof active)[number]): number => {
      if (own === asCode) return 0;
      if (own.startsWith(asCode)) return 1;
      if (name === '') return 4;
      if (folded.startsWith(name)) return 2;
      return wanted.every((some) => [...has].some((each) => some.has(each))) ? 3 : 4;
    };
    const length = (text: string) => [...text].length;
    return active
      .map((each) => ({ ...each, rank: rankOf(each) }))
      .filter(({ rank }) => rank < 4)
      .sort(
        (one, other) =>
          one.rank - other.rank ||
          (one.rank > 1 ? length(one.folded) - length(other.folded) : 0) ||
          one.place - other.place,
      )
      .map((each) => each.code);
  };

  it('are those that a naive reading finds, in its order', async () => {
    const find = openFindCodes(database.pool, ready);
    let answers = 0;
    await fc.assert(
      fc.asyncProperty(
        concepts,
        fc.array(fc.tuple(typed, fc.integer({ min: 1, max: 50 })), { minLength: 40, maxLength: 40 }),
        fc.boolean(),
        async (all, questions, made) => {
          await load(all, made);
          for (const [text, limit] of questions) {
            const found = await find(SYSTEM, text, limit);
            expect(
              found.map((each) => each.code),
              text,
            ).to.deep.equal((await naive(all, text)).slice(0, limit));
            answers += found.length;
          }
        },
      ),
      { seed: steadySeed(), numRuns: scaled(100, 5), endOnFailure: true },
    );
    expect(answers).to.be.above(0);
  });

  it('are those of the newest load, on every instance', async () => {
    const [one, other] = [openFindCodes(database.pool, ready), openFindCodes(database.pool, ready)];
    const displays = async () =>
      (await Promise.all([one, other].map((find) => find(SYSTEM, 'serum', 5)))).map((found) =>
        found.map(({ display }) => display),
      );
    for (const made of [true, false]) {
      await load([{ code: '1', display: `Serum ${String(made)}`, active: true }], made);
      expect(await displays()).to.deep.equal([[`Serum ${String(made)}`], [`Serum ${String(made)}`]]);
    }
    await writingTerminology(database.pool, (tx) => removeSystems(tx, 'url = $1', [SYSTEM]));
    expect(await displays()).to.deep.equal([[], []]);
    const { rows } = await database.pool.query('select 1 from terminology.code_index');
    expect(rows).to.deep.equal([]);
  });

  it('are found while others load', async () => {
    const find = openFindCodes(database.pool, ready);
    let loading = true;
    const asking = (async () => {
      const seen = new Set<string>();
      while (loading) {
        const found = await find(SYSTEM, 'serum', 50);
        expect(new Set(found.map(({ display }) => display)).size, 'one load').to.be.at.most(1);
        for (const { display } of found) seen.add(String(display));
      }
      return seen;
    })();
    for (let nth = 0; nth < 8; nth += 1)
      await load(
        Array.from({ length: 40 }, (_, n) => ({ code: `${n}`, display: `serum ${nth}`, active: true })),
        nth % 2 === 0,
      );
    loading = false;
    expect([...(await asking)].every((display) => /^serum \d$/.test(display))).to.equal(true);
    expect(await find(SYSTEM, 'serum', 50)).to.have.length(40);
  });
});
