/** Every search parameter of every type, with hand-written expectations: https://hl7.org/fhir/R4/search.html */
import { expect } from 'chai';
import { searchParameterCodes } from '#src/fhir/definitions/search-parameters.ts';
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { everyNth } from '#test/support/scale.ts';
import { type Ids, loadTables, resolveSymbols } from '#test/support/search/load.ts';
import { queryText } from '#test/support/search/query-text.ts';
import { TABLES } from './cases/all.ts';

interface Searchset {
  readonly total?: number;
  readonly entry?: readonly {
    readonly resource: { readonly resourceType: string; readonly id: string };
    readonly search: { readonly mode: string };
  }[];
  readonly link: readonly { readonly relation: string; readonly url: string }[];
}

describe('search, case by case', () => {
  let service: InProcess;
  let ids: Ids;
  const letters = new Map<string, string>();
  before(async () => {
    service = await startInProcess();
    ids = await loadTables(service, TABLES);
    for (const [name, id] of ids) letters.set(`${name.split('/')[0]}/${id}`, name.split('/')[1] ?? '');
  });
  after(() => service.stop());

  /** Returns a search's matches from all pages, in order, as `Type/id`. Each page's total must equal their number. */
  const walk = async (type: string, query: string, count?: number): Promise<string[]> => {
    const matches: string[] = [];
    const totals: (number | undefined)[] = [];
    const paging = count === undefined ? '' : `&_count=${count}`;
    let url: string | undefined = `/${type}?${queryText(resolveSymbols(query, ids))}${paging}`;
    while (url !== undefined) {
      const answer = await service.fhir(url, { headers: { Prefer: 'handling=strict' } });
      expect(answer.status, `${url}: ${answer.text}`).to.equal(200);
      const { entry = [], link, total } = JSON.parse(answer.text) as Searchset;
      const found = entry.filter(({ search }) => search.mode === 'match');
      matches.push(...found.map(({ resource }) => `${resource.resourceType}/${resource.id}`));
      totals.push(total);
      url = link.find(({ relation }) => relation === 'next')?.url;
      if (count === undefined) continue;
      expect(found.length, `matches of a page of ${query}`).to.be.at.most(count);
      if (url !== undefined) expect(found, `a page of ${query}`).to.have.length(count);
    }
    expect(new Set(matches).size, `${query}: different matches`).to.equal(matches.length);
    expect(totals, `${query}: total`).to.deep.equal(totals.map(() => matches.length));
    return matches;
  };

  /** Returns the letters of matches, ignoring the Provenances that the writes created. */
  const lettersOf = (type: string, matches: readonly string[]): string[] =>
    matches.flatMap((match) => {
      const name = letters.get(match);
      if (name === undefined && type !== 'Provenance') throw new Error(`nobody knows ${match}`);
      return name ?? [];
    });

  for (const { topic, type, resources, cases } of TABLES) {
    describe(`${type}: ${topic}`, () => {
      for (const [query, expected] of cases) {
        it(query, async () => {
          const matches = await walk(type, query);
          const own = lettersOf(type, matches).filter((letter) => Object.hasOwn(resources, letter));
          // Ids from the same millisecond are in random order, so the order of ids can't be checked by letters.
          const byId = query.includes('_sort=-_id');
          if (byId) expect(matches).to.deep.equal(matches.toSorted().reverse());
          if (byId || !query.includes('_sort')) own.sort();
          expect(own.join('')).to.equal(expected);
        });
      }
    });
  }

  it('gives each match once and in the same order in pages of two', async () => {
    for (const { type, cases } of TABLES) {
      for (const [query, expected] of everyNth(cases, 16)) {
        if (expected.length < 3 || query.includes('_count')) continue;
        expect(await walk(type, query, 2), `${type}?${query}`).to.deep.equal(await walk(type, query));
      }
    }
  });

  it('finds nothing of another project', async () => {
    const key = await service.newProject();
    for (const { type, cases } of TABLES) {
      // The terminology is shared by everyone.
      if (typeEntry(type).home === 'terminology') continue;
      for (const [query] of everyNth(cases, 20)) {
        const url = `/${type}?${queryText(resolveSymbols(query, ids))}&_count=1`;
        const { status, text } = await service.fhir(url, { key });
        expect(status, `${url}: ${text}`).to.equal(200);
        expect((JSON.parse(text) as Searchset).entry ?? [], url).to.deep.equal([]);
      }
    }
  });

  it('has at least 600 cases, one that finds something for every parameter of every type', () => {
    const named = TABLES.flatMap(({ type, cases }) =>
      cases
        .filter(([, expected]) => expected !== '')
        .flatMap(([query]) => query.split('&').map((part) => `${type}.${/^[\w-]+/.exec(part)?.[0]}`)),
    );
    const missing = TYPE_NAMES.flatMap((type) =>
      searchParameterCodes(type).map((code) => `${type}.${code}`),
    ).filter((name) => !named.includes(name));
    expect(missing).to.deep.equal([]);
    expect(TABLES.flatMap(({ cases }) => cases).length).to.be.at.least(600);
  });

  it('has a letter once in a type', () => {
    const all = TABLES.flatMap(({ type, resources }) =>
      Object.keys(resources).map((letter) => `${type}/${letter}`),
    );
    expect(all.length).to.equal(new Set(all).size);
  });
});
