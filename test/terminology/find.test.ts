/**
 * Searches find the same codes as a naive search through all of them, however and whenever the codes were loaded, and find
 * bundled codes by the names that people use.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import type { FindCodes } from '#src/fhir/terminology.ts';
import { distance } from '#src/shared/nearest.ts';
import { ATC, LOINC } from '#src/terminology/bundled/bundled.ts';
import { openFindCodes } from '#src/terminology/find/find.ts';
import { makeCodeIndex } from '#src/terminology/find/make.ts';
import { listSpellings, tellingWords } from '#src/terminology/find/spellings.ts';
import { installBundled, writingTerminology } from '#src/terminology/install.ts';
import { plainWords } from '#src/terminology/plain-words.ts';
import { copyConcepts, newSystems, removeSystems } from '#src/terminology/rows.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';

const SYSTEM = 'http://example.org/codes';

/** Words with the same beginning, similar words, common and rare words, and words with multi-byte letters. */
const WORDS = [
  ...['glucose', 'Glucosidase', 'glucagon', 'serum', 'sera', 'plasma', 'urine', 'mass', 'mas', 'antibody'],
  ...['glucosamine', 'gluconate', 'glucuronide', 'glycose', 'plasmin', 'serums', 'masses'],
  ...[
    'antibiotic',
    'test',
    'haem',
    'hem',
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
    properties: fc.option(
      fc.record(
        {
          'annal-rank': fc.integer({ min: 1, max: 20 }).map(String),
          'annal-synonym': fc.array(
            fc.array(word, { minLength: 1, maxLength: 2 }).map((parts) => parts.join('-')),
            { maxLength: 3 },
          ),
        },
        { requiredKeys: [] },
      ),
      { nil: undefined },
    ),
  }),
  { selector: (each) => each.code, maxLength: 150, size: 'max' },
);
interface Concept {
  readonly code: string;
  readonly display: string | undefined;
  readonly active: boolean;
  readonly properties?:
    | { readonly 'annal-rank'?: string; readonly 'annal-synonym'?: readonly string[] }
    | undefined;
}

/**
 * Changes a word: truncates it, or adds, removes or replaces a letter. In some locales, pg_trgm ignores non-ASCII letters, so
 * it can't serve as a reference.
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

  /** Returns the words closest to a word: by letters if few letters differ, otherwise as pg_trgm itself finds them. */
  const nearest = async (typedWord: string, all: readonly string[]): Promise<readonly string[]> => {
    if (typedWord.length < 4) return [];
    const least = typedWord.length === 4 ? 5 : 4;
    const words = all.filter((other) => other.length >= least && other[0] === typedWord[0]);
    const { rows } = await database.pool.query<{ word: string; similarity: number }>(
      `select w.word, similarity(w.word, $2) from unnest($1::text[]) w(word) where similarity(w.word, $2) >= 0.1
       group by w.word order by similarity(w.word, $2) desc, count(*) desc, w.word collate "C"`,
      [words, typedWord],
    );
    for (const least of [0.3, 0.1]) {
      const compared = rows.filter(({ similarity }) => similarity >= least).slice(0, 20);
      const fewest = Math.min(...compared.map(({ word: other }) => distance(typedWord, other)));
      if (fewest <= Math.floor(typedWord.length / 3))
        return compared
          .map((row) => row.word)
          .filter((other) => distance(typedWord, other) === fewest)
          .slice(0, 3);
    }
    if (typedWord.length === 4) return [];
    return rows
      .filter(({ similarity }) => similarity >= 0.3)
      .slice(0, 3)
      .map((row) => row.word);
  };

  const naive = async (all: readonly Concept[], text: string): Promise<string[]> => {
    const asCode = text.trim().toUpperCase();
    const name = plainWords(text.replaceAll('%', ' percent '));
    const active = all.flatMap(({ active: counts, properties, ...each }, place) => {
      const own = (properties?.['annal-synonym'] ?? []).map((other) =>
        plainWords(other.replaceAll('%', ' percent ')),
      );
      const names = [
        plainWords(each.display ?? ''),
        ...own,
        ...own.map((other) => other.replaceAll(' ', '')),
      ];
      const known = [...new Set(names)].filter((other) => other !== '');
      const commonness = Number(properties?.['annal-rank'] ?? Number.POSITIVE_INFINITY);
      return counts
        ? [
            {
              ...each,
              place,
              commonness,
              names: known,
              words: new Set(known.flatMap((other) => other.split(' '))),
            },
          ]
        : [];
    });
    // A word counts once for each name that contains it.
    const words = active.flatMap(({ names }) => names.flatMap((other) => [...new Set(other.split(' '))]));
    const typedWords = [...new Set(name.split(' '))].slice(0, 10);
    const whole = new Map<string, readonly string[]>();
    const begun = new Map<string, readonly string[]>();
    const corrected = new Map<string, readonly string[]>();
    const either = new Map<string, readonly string[]>();
    for (const each of typedWords) {
      const own = listSpellings(each).filter((other) => words.includes(other));
      const beginning = words.filter((other) => other.startsWith(each));
      const near = await nearest(each, words);
      whole.set(each, own);
      begun.set(each, beginning.length > 0 ? beginning : own.length > 0 ? own : near);
      corrected.set(each, beginning.length > 0 || own.length > 0 ? own : near);
      either.set(each, [...own, ...near]);
    }
    const named = (texts: readonly string[]) => {
      const both = texts.flatMap((each) => [each, each.replaceAll(' ', '')]);
      return ({ names }: (typeof active)[number]) => names.some((other) => both.includes(other));
    };
    const combined = (parts: readonly string[], meanings: ReadonlyMap<string, readonly string[]>) =>
      parts.reduce<readonly string[]>(
        (texts, each, nth) =>
          texts
            .flatMap((before) =>
              (meanings.get(each) ?? []).map((other) => (nth === 0 ? other : `${before} ${other}`)),
            )
            .slice(0, 32),
        [''],
      );
    const having =
      (parts: readonly string[], meanings: ReadonlyMap<string, readonly string[]>) =>
      ({ words: has }: (typeof active)[number]) =>
        parts.every((each) => (meanings.get(each) ?? []).some((other) => has.has(other)));
    const telling = tellingWords(typedWords);
    const texts = telling.length === typedWords.length ? [typedWords] : [typedWords, telling];
    const inOrder = [...active].sort(
      (one, other) =>
        Math.sign(one.commonness - other.commonness || 0) ||
        [...plainWords(one.display ?? '')].length - [...plainWords(other.display ?? '')].length ||
        one.place - other.place,
    );
    const found = new Set([
      ...active.filter(({ code: own }) => own === asCode),
      ...active.filter(({ code: own }) => own.startsWith(asCode)),
    ]);
    if (plainWords(text) === '') return [...found].map((each) => each.code);
    const add = (matches: (each: (typeof active)[number]) => boolean): number => {
      const matching = inOrder.filter(matches);
      for (const each of matching) found.add(each);
      return matching.length;
    };
    add(named([name]));
    for (const parts of texts) add(named(combined(parts, whole)));
    for (const parts of texts) add(having(parts, whole));
    add(({ names }) => names.some((other) => other.startsWith(name)));
    for (const parts of texts) add(named(combined(parts, corrected)));
    const any = texts.map((parts) => add(having(parts, begun)));
    if (any.every((count) => count === 0)) for (const parts of texts) add(having(parts, either));
    return [...found].map((each) => each.code);
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
            const expected = await naive(all, text);
            expect(
              found.codes.map((each) => each.code),
              text,
            ).to.deep.equal(expected.slice(0, limit));
            expect(found.total, text).to.equal(expected.length);
            answers += found.total;
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
      (await Promise.all([one, other].map((find) => find(SYSTEM, 'serum', 5)))).map(({ codes: found }) =>
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
        const { codes: found } = await find(SYSTEM, 'serum', 50);
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
    expect((await find(SYSTEM, 'serum', 50)).codes).to.have.length(40);
  });
});

describe('the bundled codes by what somebody types', () => {
  let database: TestDatabase;
  let find: FindCodes;
  before(async () => {
    database = await createMigratedDatabase();
    await installBundled(database.pool, 0);
    find = openFindCodes(database.pool, async () => undefined);
  });
  after(() => database.drop());

  const codes = async (system: string, text: string): Promise<readonly string[]> =>
    (await find(system, text, 5)).codes.map(({ code: each }) => each);

  /** Everyday names, each with the code that should come first, chosen before the search was written. */
  const everyday: { query: string; expected: string; also_right: string }[] = parse(
    readFileSync(new URL('./everyday.csv', import.meta.url), 'utf8'),
    { columns: true },
  );
  const right = ({ expected, also_right }: (typeof everyday)[number], first: string | undefined): boolean =>
    first !== undefined && [expected, ...also_right.split('|')].includes(first);

  it('are the usual ones for 95 % of everyday names, each within 5 ms of this process', async () => {
    await find(LOINC, 'glucose', 1);
    const wrong: string[] = [];
    const before = process.cpuUsage();
    for (const each of everyday) {
      const [first] = await codes(LOINC, each.query);
      if (!right(each, first)) wrong.push(`${each.query}: ${first}`);
    }
    const { user, system } = process.cpuUsage(before);
    expect(wrong.length / everyday.length, wrong.join(', ')).to.be.at.most(0.05);
    expect((user + system) / 1_000 / everyday.length).to.be.below(5);
  });

  it('are none for short words that are only nearly a name, and never those of an abbreviation', async () => {
    for (const text of ['gold', 'mold', 'coma']) expect(await codes(LOINC, text), text).to.deep.equal([]);
  });

  it('are found by what people want to know', async () => {
    for (const [text, first] of [
      ['gout', '3084-1'],
      ['inflammation', '1988-5'],
      ['anemia', '718-7'],
      ['anaemia', '718-7'],
      ['jaundice', '1975-2'],
      ['iron stores', '2276-4'],
      ['upper blood pressure', '8480-6'],
      ['lower blood pressure', '8462-4'],
      ['heart attack', '10839-9'],
    ] as const)
      expect((await codes(LOINC, text))[0], text).to.equal(first);
  });

  it('are the usual ones despite a small mistake', async () => {
    const words = everyday.filter(({ query }) => /^[a-z]{7,}$/.test(query));
    let tried = 0;
    const wrong: string[] = [];
    for (const each of words) {
      const { query } = each;
      if (!right(each, (await codes(LOINC, query))[0])) continue;
      const at = 2 + (query.length % 4);
      for (const mistaken of [
        query.slice(0, at) + query.slice(at + 1),
        query.slice(0, at) + query[at + 1] + query[at] + query.slice(at + 2),
        `${query.slice(0, at)}${query[at]}${query.slice(at)}`,
      ]) {
        tried += 1;
        const [first] = await codes(LOINC, mistaken);
        if (!right(each, first)) wrong.push(`${mistaken}: ${first}`);
      }
    }
    expect(tried).to.be.above(100);
    expect(wrong.length / tried, wrong.join(', ')).to.be.at.most(0.05);
  });

  it('are found by British, American and common names of substances', async () => {
    for (const [text, first] of [
      ['aspirin', 'B01AC06'],
      ['acetaminophen', 'N02BE01'],
      ['paracetamol', 'N02BE01'],
      ['albuterol', 'R03AC02'],
      ['adrenaline', 'C01CA24'],
      ['frusemide', 'C03CA01'],
      ['hydrocortisone', 'H02AB09'],
      ['acetominophen', 'N02BE01'],
    ] as const)
      expect((await codes(ATC, text))[0], text).to.equal(first);
  });
});
