import { expect } from 'chai';
import { PROJECTIONS } from '#projections/all.ts';
import { resources } from '#projections/resources/project.ts';
import { search as searchModel } from '#projections/search/project.ts';
import { prepareReadModels } from '#projections/tables.ts';
import { LIMITS, type Limits } from '#queries/search/plan.ts';
import { openSearch } from '#queries/search/search.ts';
import { recordStream } from '#src/events/streams.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { ownCaller } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { everyNth } from '#test/support/scale.ts';
import { created, stored, TENANT } from '../projections/made.ts';

const caller = ownCaller(TENANT, { kind: 'api_key', keyId: 'key_1' }, ['read']);
const COUNT = 90;

/** The sort keys of an Observation; a key is undefined if the Observation has no value for it. */
interface Made {
  readonly id: string;
  readonly n: number;
  readonly date?: string;
  readonly value?: number;
  readonly code: string;
  /** The record that contains the Observation. */
  readonly record: string;
  /** The people who performed the Observation; if there are several, the first and the last in sort order count. */
  readonly performers: readonly string[];
}

/** Dates, sorted by when they begin. */
const DATES = [
  '2019',
  '2019-03',
  '2019-03-01',
  '2020-01-01T10:00:00Z',
  '2020-01-01T12:00:00+01:00',
  '2021-06-30',
];
const BEGINNINGS = [0, 1, 1, 3, 4, 5];

/** https://hl7.org/fhir/R4/search.html#sort */
describe('sorted searches', () => {
  let database: TestDatabase;
  const [patient, other] = [newUuid(), newUuid()];
  const made: Made[] = [];
  before(async () => {
    database = await createDatabase();
    await prepareReadModels(database.pool, PROJECTIONS);
    const events = Array.from({ length: COUNT }, (_, n) => {
      const id = newUuid();
      const date = n % 7 === 6 ? undefined : DATES[(n * 5) % DATES.length];
      const value = n % 5 === 4 ? undefined : ((n * 11) % 4) - 0.5;
      const code = ['one', 'two', 'three'][n % 3] ?? '';
      const record = n % 4 === 3 ? other : patient;
      const performers = [n % 4, n % 3].slice(0, n % 3).map((each) => `Practitioner/${each}`);
      const known = { ...(date && { date }), ...(value !== undefined && { value }) };
      made.push({ id, n, code, record, performers, ...known });
      return created('Observation', id, {
        status: n % 5 === 0 ? 'amended' : 'final',
        subject: { reference: `Patient/${record}` },
        // An element that is present without a reference or a code sorts as if it were missing.
        performer:
          performers.length === 0 && n % 2 === 0
            ? [{ display: 'Nobody known' }]
            : performers.map((reference) => ({ reference })),
        ...(n % 4 === 1 && { method: { text: 'by hand' } }),
        ...(n % 4 === 2 && { method: { coding: [{ system: 'urn:methods', code: `by-${n % 6}` }] } }),
        code: {
          coding: [
            { system: 'urn:codes', code },
            { system: 'urn:others', code: `${code}-too` },
            ...(n % 2 === 0 ? [{ system: 'urn:third', code }] : []),
          ],
        },
        ...(date && { effectiveDateTime: date }),
        ...(value !== undefined && { valueQuantity: { value } }),
      });
    });
    const people = [['Zoe', 'Anna'], ['Örn'], [], ['anton'], ['Yan', 'Bea']].map((given) =>
      created('Patient', newUuid(), given.length === 0 ? {} : { name: [{ given }] }),
    );
    const client = await database.pool.connect();
    try {
      const all = [patient, other].flatMap((record) =>
        stored(recordStream(record), [
          ...events.filter((_, n) => made[n]?.record === record),
          ...(record === patient ? people : []),
        ]),
      );
      for (const model of [resources, searchModel]) await model.load(client, model.name, all);
    } finally {
      client.release();
    }
  });
  after(() => database.drop());

  /** Returns the ids on all pages, in order. */
  async function walk(type: ResourceType, query: string, limits: Limits, count = 13): Promise<string[]> {
    const search = openSearch(database.pool, undefined, limits);
    const found: string[] = [];
    const totals = new Set<number | undefined>();
    let cursor: string | undefined;
    do {
      const asked = new URLSearchParams(`${query}&_count=${count}`);
      if (cursor !== undefined) asked.set('_cursor', cursor);
      const page = await search(caller, { type, query: asked, base: 'http://localhost/' });
      found.push(...page.matches.map(({ id }) => id));
      totals.add(page.total);
      cursor = page.next;
      expect(found.length).to.be.at.most(COUNT);
    } while (cursor !== undefined);
    const total = query.includes('_total=none') ? undefined : found.length;
    expect([...totals], `totals of the pages of ${query}`).to.deep.equal([total]);
    return found;
  }

  type Rank = (each: Made, down: boolean) => number | string | undefined;
  const rank = {
    code: ({ code }: Made) => code,
    status: ({ n }: Made) => (n % 5 === 0 ? 'amended' : 'final'),
    patient: ({ record }: Made) => record,
    performer: ({ performers }: Made, down: boolean) =>
      down ? performers.toSorted().at(-1) : performers.toSorted()[0],
    method: ({ n }: Made) => (n % 4 === 2 ? n % 6 : undefined),
    date: ({ date }: Made) => (date === undefined ? undefined : BEGINNINGS[DATES.indexOf(date)]),
    'value-quantity': ({ value }: Made) => value,
    _lastUpdated: ({ n }: Made) => n,
    _id: ({ id }: Made) => id,
  } satisfies Record<string, Rank>;
  type By = keyof typeof rank;

  /**
   * Returns the order defined by R4: sorted by one key after another, with missing values last, and finally by id in the
   * direction of the first key.
   */
  function expected(sort: string, wanted: (each: Made) => boolean): string[] {
    const keys = sort.split(',').map((key) => ({
      down: key.startsWith('-'),
      of: rank[key.replace(/^-/, '') as By] as Rank,
    }));
    const compare = (a: Made, b: Made): number => {
      for (const { down, of } of keys) {
        const [x, y] = [of(a, down), of(b, down)];
        if (x === y) continue;
        if (x === undefined) return 1;
        if (y === undefined) return -1;
        return x < y === down ? 1 : -1;
      }
      return a.id < b.id === (keys[0]?.down ?? false) ? 1 : -1;
    };
    return made
      .filter(wanted)
      .sort(compare)
      .map(({ id }) => id);
  }

  const SORTS = [
    'date',
    '-date',
    'value-quantity',
    '-value-quantity',
    '_id',
    '-_id',
    '_lastUpdated',
    '-_lastUpdated',
    'date,value-quantity',
    '-date,value-quantity,_lastUpdated',
    '-value-quantity,-date',
    '_lastUpdated,date',
    'code',
    '-code',
    'status,-_lastUpdated',
    '-patient',
    'performer',
    '-performer',
    '-performer,date',
    'method,-date',
    'date,-code,performer',
  ];
  const FILTERS: [query: string, wanted: (each: Made) => boolean][] = [
    ['', () => true],
    ['code=two', ({ code }) => code === 'two'],
    ['code=urn:codes|TWO', ({ code }) => code === 'two'],
    ['code=urn:others|', () => true],
    ['code=one,three-too', ({ code }) => code !== 'two'],
    ['code:not=one', ({ code }) => code !== 'one'],
    ['date=ge2020', ({ date }) => date !== undefined && date >= '2020'],
    [
      'date=ge2019-03&date=lt2020-01-01T10:30:00Z',
      ({ date }) => date !== undefined && (date.startsWith('2019') || date.endsWith('T10:00:00Z')),
    ],
    [
      'date=gt2019-03-01&date=le2020',
      ({ date }) => date !== undefined && date !== '2019-03-01' && date < '2021',
    ],
    ['date=sa2019&date=eb2021', ({ date }) => date?.startsWith('2020') === true],
    ['code=one&date=ge2019-02&date=lt2019-03', ({ code, date }) => code === 'one' && date === '2019'],
    ['value-quantity=gt0&value-quantity=lt2', ({ value }) => value !== undefined && value > 0 && value < 2],
    ['code=three&date=lt2020', ({ code, date }) => code === 'three' && date !== undefined && date < '2020'],
    [
      'value-quantity=gt0.4&code=two',
      ({ code, value }) => code === 'two' && value !== undefined && value > 0.4,
    ],
    ['date:missing=true', ({ date }) => date === undefined],
    ['_lastUpdated=gt2000&code=two', ({ code }) => code === 'two'],
  ];
  for (const [name, limits] of [
    ['from what an index gives', LIMITS],
    ['along the order', { few: 0, far: 1_000 }],
    ['along the order, but not far', { few: 0, far: 3 }],
  ] as const) {
    it(`${name}: every page of some records, without a total`, async () => {
      const filters: typeof FILTERS = [
        [`patient=${patient},${other}`, () => true],
        [`patient=${patient},${other}&code=two`, ({ code }: Made) => code === 'two'],
        [
          `patient=${other},${newUuid()}&date=ge2020`,
          ({ record, date }: Made) => record === other && (date ?? '') >= '2020',
        ],
      ];
      for (const [at, [filter, wanted]] of filters.entries()) {
        for (const sort of everyNth(SORTS, 20, at)) {
          const query = `${filter}&_sort=${sort}&_total=none`;
          expect(await walk('Observation', query, limits), query).to.deep.equal(expected(sort, wanted));
        }
      }
    });

    it(`${name}: every page of every order`, async () => {
      for (const [at, [filter, wanted]] of FILTERS.entries()) {
        for (const sort of everyNth(SORTS, 20, at)) {
          const query = `${filter}&_sort=${sort}`;
          expect(await walk('Observation', query, limits), query).to.deep.equal(expected(sort, wanted));
        }
        const { total } = await openSearch(
          database.pool,
          undefined,
          limits,
        )(caller, {
          type: 'Observation',
          query: new URLSearchParams(filter),
          base: 'http://localhost/',
        });
        expect(total, filter).to.equal(made.filter(wanted).length);
      }
    }).timeout(120_000);
  }

  it('every page among resources that have the element of a key without its code or reference', async () => {
    for (const sort of [
      'method',
      '-method',
      'method,-date',
      '-method,_lastUpdated',
      'performer',
      '-performer,date',
    ]) {
      for (const filter of [
        '_total=none',
        '_lastUpdated=gt2000',
        'code:not=nothing',
        'method:missing=false',
      ]) {
        const query = `${filter}&_sort=${sort}`;
        const wanted = ({ n }: Made) => !filter.startsWith('method') || n % 4 === 1 || n % 4 === 2;
        for (const count of [1, 4])
          expect(await walk('Observation', query, LIMITS, count), query).to.deep.equal(
            expected(sort, wanted),
          );
      }
    }
  }).timeout(120_000);

  it('a walk that ends among rows of one date or value shows none of them before its time', async () => {
    for (const sort of ['-date,_id', 'date,-_lastUpdated', '-value-quantity,-date', 'date,-code,performer']) {
      for (const filter of [`patient=${patient},${other}`, 'code:not=nothing']) {
        const query = `${filter}&_sort=${sort}&_total=none`;
        for (const far of [9, 16]) {
          const found = await walk('Observation', query, { few: 0, far }, 3);
          expect(found, query).to.deep.equal(expected(sort, () => true));
        }
      }
    }
  }).timeout(60_000);

  /** Returns a page's cursors, and the ids that it shows. */
  const pageAt = async (type: ResourceType, query: string, cursor: string | undefined, limits = LIMITS) => {
    const asked = new URLSearchParams(query);
    if (cursor !== undefined) asked.set('_cursor', cursor);
    const page = await openSearch(
      database.pool,
      undefined,
      limits,
    )(caller, {
      type,
      query: asked,
      base: 'http://localhost/',
    });
    const { next, previous, last, matches } = page;
    return { next, previous, last, ids: matches.map(({ id }) => id) };
  };
  type Paged = Awaited<ReturnType<typeof pageAt>>;

  it('read backward, every page has the rows and the next page that it had before', async () => {
    for (const [name, limits] of [
      ['index', LIMITS],
      ['walk', { few: 0, far: 1_000 }],
      ['short walk', { few: 0, far: 3 }],
    ] as const)
      for (const [at, filter] of [
        '',
        'code=two',
        `patient=${patient}`,
        'date=ge2019-03&code:not=one',
      ].entries())
        for (const sort of everyNth(SORTS, 20, at)) {
          const count = 13;
          const query = `${filter}&_sort=${sort}&_count=${count}`;
          const forward: Paged[] = [];
          let cursor: string | undefined;
          do {
            const page: Paged = await pageAt('Observation', query, cursor, limits);
            forward.push(page);
            cursor = page.next;
          } while (cursor !== undefined);
          const title = `${name}: ${query}`;
          const [by = '', ...others] = sort.split(',').map((key) => key.replace(/^-/, ''));
          // All resources must have values for the other keys, and the row needs a value for the first key, because rows
          // without a value come last.
          const isReversible = others.every((key) => key === '_lastUpdated' || key === '_id');
          const hasValue = ([id]: readonly string[]): boolean => {
            const row = made.find((each) => each.id === id);
            const key = rank[by as By] as Rank;
            return row !== undefined && key(row, false) !== undefined;
          };
          for (const [n, page] of forward.entries())
            expect(page.previous !== undefined, `${title}: page ${n}`).to.equal(
              n > 0 && isReversible && hasValue(page.ids),
            );
          const from = forward.findLastIndex(({ previous }) => previous !== undefined);
          for (let n = from, { previous } = forward[from] ?? {}; previous !== undefined; ) {
            n -= 1;
            const page: Paged = await pageAt('Observation', query, previous, limits);
            expect(page.ids, `${title}: back to page ${n}`).to.deep.equal(forward[n]?.ids);
            expect(page.next, `${title}: from page ${n}`).to.equal(forward[n]?.next);
            previous = page.previous;
            if (previous === undefined) expect(n, title).to.equal(0);
          }
          const { last } = forward[0] ?? {};
          expect(last !== undefined, `${title}: last`).to.equal(
            forward.length > 1 && isReversible && by.startsWith('_'),
          );
          if (last === undefined) continue;
          const end = await pageAt('Observation', query, last, limits);
          expect(end.ids, `${title}: last page`).to.deep.equal(forward.at(-1)?.ids);
          expect([end.next, end.last]).to.deep.equal([undefined, undefined]);
          const back = await pageAt('Observation', query, end.previous, limits);
          expect(back.ids, `${title}: before the last page`).to.deep.equal(forward.at(-2)?.ids);
        }
    const names = await pageAt('Patient', '_sort=given&_count=2', undefined);
    // In the reverse order, a different name of a patient with several names would count.
    expect((await pageAt('Patient', '_sort=given&_count=2', names.next)).previous).to.equal(undefined);
  }).timeout(120_000);

  it('in one record: every page', async () => {
    for (const [filter, wanted] of [
      ...FILTERS,
      ['code=urn:third|two', ({ code, n }) => code === 'two' && n % 2 === 0],
      [
        'code=urn:codes|two&date=lt2020-06',
        ({ code, date }) => code === 'two' && date !== undefined && date < '2020-06',
      ],
      [
        'code=two&code=urn:third|two&date=ge2019-02',
        ({ code, n, date }) => code === 'two' && n % 2 === 0 && date !== undefined,
      ],
      [
        'code=two&status=final&date=ge2019-02',
        ({ code, date, n }) => code === 'two' && date !== undefined && n % 5 > 0,
      ],
      ['code=two&status=amended', ({ code, n }) => code === 'two' && n % 5 === 0],
    ] satisfies typeof FILTERS) {
      for (const sort of ['date', '-date', '-date,-_id', '-date,value-quantity', 'code', '-performer']) {
        for (const [record, count] of [
          [patient, 5],
          [other, 40],
        ] as const) {
          const query = `${filter}&patient=${record}&_sort=${sort}&_total=none`;
          const found = await walk('Observation', query, LIMITS, count);
          const inRecord = (each: Made) => each.record === record && wanted(each);
          expect(found, query).to.deep.equal(expected(sort, inRecord));
        }
      }
    }
  });

  it('of several values the one that comes first in the order counts, without case and accents', async () => {
    const search = openSearch(database.pool);
    const names = async (sort: string) => {
      const query = new URLSearchParams({ _sort: sort });
      const { matches } = await search(caller, { type: 'Patient', query, base: 'http://localhost/' });
      return matches.map(({ body }) => JSON.parse(body ?? '').name?.[0].given.join());
    };
    expect(await names('given')).to.deep.equal(['Zoe,Anna', 'anton', 'Yan,Bea', 'Örn', undefined]);
    expect(await names('-given')).to.deep.equal(['Zoe,Anna', 'Yan,Bea', 'Örn', 'anton', undefined]);
  });

  it('names what nothing can be sorted by', async () => {
    const refused = async (query: string): Promise<string> => {
      const asked = {
        type: 'Observation',
        query: new URLSearchParams(query),
        base: 'http://localhost/',
      } as const;
      const error = await openSearch(database.pool)(caller, asked).then(
        () => undefined,
        (reason: unknown) => reason,
      );
      return error instanceof Refusal
        ? (error.issues[0]?.diagnostics ?? '')
        : `${query} was not refused: ${error}`;
    };
    expect(await refused('_sort=code-value-quantity')).to.contain(
      'is a composite, which cannot be sorted by',
    );
    expect(await refused('_sort=colour')).to.contain('no search parameter colour');
    expect(await refused('_sort=date,-date')).to.contain('named only once');
    expect(await refused('_sort=_id,date,_lastUpdated,value-quantity,value-date,value-string')).to.contain(
      '5 sort keys',
    );
    const cursor = (key: unknown[]) => Buffer.from(JSON.stringify(key)).toString('base64url');
    for (const key of [
      [null, made[0]?.id],
      [null, made[0]?.id, 'soon'],
      [5, made[0]?.id, '7'],
      [null, 'x', '7'],
      ['before', null, made[0]?.id, null],
      ['before', null, made[0]?.id],
      ['end', 3],
      ['end', 0],
      7,
    ]) {
      expect(await refused(`_sort=date&_cursor=${cursor([key].flat())}`)).to.contain('not a cursor');
    }
  });
});
