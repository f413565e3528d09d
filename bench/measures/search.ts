/**
 * Searches among a million Observations (100,000 without --full), compared with a read by id, with hand-written SQL and with
 * each other.
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { openSearch, type Search } from '#queries/search/search.ts';
import { openTallies } from '#queries/search/tallies.ts';
import { readQuickstart } from '#src/data-dir.ts';
import { inRecordKey, searchKey, systemKey, tokenForm, valueKey } from '#src/fhir/search/keys.ts';
import { ownCaller, type Tenant } from '#src/shared/access/caller.ts';
import type { Bench, MeasuredService } from '../bench.ts';
import type { Outcome } from '../load/plan.ts';
import { alternate, type Bound, type Finding, type Measure } from '../measure.ts';
import { ASKED } from '../population.ts';
import { FHIR } from '../records.ts';
import { COUNTED, first, LOINC, SEARCHES, WALKED } from '../search-queries.ts';
import { median } from '../statistics.ts';

const CLIENTS = 4;
/** Number of patients to cycle through when requesting pages. */
const ASKED_PATIENTS = 100;
const PAGES = 1_000;

/**
 * Number of rounds. In each round, every compared request runs for one second. Ratios are computed within a round, so that
 * changes in the machine's load affect both sides. One extra round at the beginning is a warm-up.
 */
const ROUNDS = 5;
/**
 * Number of pairs: a read and a first search, or a last page and a first page, one second each. These need more rounds because
 * their ratios are closer to their bounds.
 */
const PAIRS = 15;

/** A service with a population. */
interface Populated {
  readonly service: MeasuredService;
  readonly tenant: Tenant;
  readonly patients: readonly string[];
  readonly observations: readonly string[];
}

export const search: Measure = {
  row: 'search',
  subject: `searches among 1,000,000 Observations (100,000 without --full) with their records; ${CLIENTS} clients`,
  baseline:
    'read by id; hand-written SQL; the first search; the same search among a tenth of the Observations',
  async run(bench): Promise<Finding> {
    const patients = bench.size(bench.options.full ? 1_000 : 100, 3);
    const small = await populated(bench, Math.max(2, Math.round(patients / 10)));
    const large = await populated(bench, patients);
    const { tenth, whole } = await rounds(bench, small, large);
    const { baseline: reads, subject: rates } = await pairs(bench, large);
    const walk = await pages(bench, large);
    const database = await inDatabase(large);
    const base = whole.get('first') ?? [];
    const atMost = (ratio: string, value: number, bound: number): Bound => ({
      ratio,
      value,
      sense: 'at most',
      bound,
    });
    return {
      rounds: `the medians of the ratios within ${ROUNDS} rounds; for reads, first searches and pages, within ${PAIRS} rounds`,
      bounds: [
        {
          ratio: 'patient, code and dates, sorted: rate / read by id',
          value: ratio(rates, reads),
          sense: 'at least',
          bound: 0.15,
        },
        atMost('the same in the database / hand-written SQL', ratio(database.first, database.written), 2.5),
        ...SEARCHES.map(({ name, bound }) =>
          atMost(`${name}: p50 / first`, ratio(whole.get(name), base), bound),
        ),
        atMost('with its total, counted / a bare count(*)', ratio(database.counted, database.count), 1.2),
        atMost('with its total / counted', ratio(database.total, database.counted), 0.5),
        atMost(`page ${walk.pages} / page 1`, ratio(walk.last, walk.first), 1.3),
        ...[...whole].map(([name, p50s]) =>
          atMost(`${name}: p50 / among a tenth`, ratio(p50s, tenth.get(name)), 1.6),
        ),
      ],
      figures: [
        { name: 'patients', value: patients, unit: '' },
        { name: 'first search', value: median(rates), unit: '/s' },
        { name: 'read by id', value: median(reads), unit: '/s' },
        ...[...whole].map(([name, p50s]) => ({ name: `${name} p50`, value: median(p50s), unit: 'ms' })),
        { name: 'first in the database', value: median(database.first), unit: 'ms' },
        { name: 'with its total', value: median(database.total), unit: 'ms' },
        { name: 'counted', value: median(database.counted), unit: 'ms' },
      ],
    };
  },
};

async function populated(bench: Bench, patients: number): Promise<Populated> {
  const service = await bench.service();
  const { databaseUrl, dataDir } = service;
  const quickstart = await readQuickstart(dataDir);
  if (quickstart === undefined) throw new Error('the service wrote no quickstart.json');
  const tenant = { project: quickstart.project_id, environment: 'sandbox' } as const;
  const filling = bench.worker('subjects/population.ts');
  const count = await filling.call<object, number>({ databaseUrl, tenant, patients });
  await filling.stop();
  await bench.settle(databaseUrl);
  bench.say(`  ${count.toLocaleString('en-US')} resources of ${patients} patients`);
  const ids = async (type: string, limit: number) =>
    (
      await bench.query<{ id: string }>(
        databaseUrl,
        `select id from resources.resource where type = '${type}' order by md5(id::text) limit ${limit}`,
      )
    ).map(({ id }) => id);
  return {
    service,
    tenant,
    patients: await ids('Patient', ASKED_PATIENTS),
    observations: (await ids('Observation', 5_000)).map((id) => `Observation/${id}`),
  };
}

function load(bench: Bench, { service }: Populated, paths: readonly string[]): Promise<Outcome> {
  return bench.load({
    target: service.service.target,
    clients: CLIENTS,
    requests: { kind: 'reads', paths: paths.map((path) => encodeURI(`${FHIR}/${path}`)) },
    expect: 200,
    seconds: bench.seconds(1),
  });
}

/** The results of the rounds: each search's p50 in both populations, in ms. */
interface Rounds {
  readonly tenth: ReadonlyMap<string, number[]>;
  readonly whole: ReadonlyMap<string, number[]>;
}

async function rounds(bench: Bench, small: Populated, large: Populated): Promise<Rounds> {
  const all = [{ name: 'first', path: first }, ...SEARCHES];
  const none = () => new Map(all.map(({ name }): [string, number[]] => [name, []]));
  const found = { tenth: none(), whole: none() };
  for (let round = 0; round <= ROUNDS; round += 1) {
    for (const { name, path } of all) {
      const among = (within: Populated) => load(bench, within, within.patients.map(path));
      const sides = [
        { within: small, p50s: found.tenth },
        { within: large, p50s: found.whole },
      ];
      // The order alternates.
      for (const { within, p50s } of round % 2 === 0 ? sides : sides.reverse()) {
        const { p50 } = await among(within);
        if (round > 0) p50s.get(name)?.push(p50);
      }
    }
  }
  return found;
}

/** Measures reads by id and first searches alternately, and returns their rates per second. */
async function pairs(
  bench: Bench,
  within: Populated,
): Promise<{ readonly baseline: number[]; readonly subject: number[] }> {
  const { baseline, subject } = await alternate(
    PAIRS,
    () => load(bench, within, within.observations),
    () => load(bench, within, within.patients.map(first)),
  );
  const rates = (outcomes: readonly Outcome[]) => outcomes.map(({ rate }) => rate);
  return { baseline: rates(baseline), subject: rates(subject) };
}

/** Returns the median of the rounds' ratios; NaN without rounds. */
function ratio(subject: readonly number[] = [], baseline: readonly number[] = []): number {
  return median(subject.map((value, round) => value / (baseline[round] ?? Number.NaN)));
}

/** Follows `next` links and compares the last page with the first. Returns each round's p50, in ms. */
async function pages(
  bench: Bench,
  within: Populated,
): Promise<{ pages: number; first: number[]; last: number[] }> {
  const { service } = within.service;
  let path = WALKED;
  let count = 1;
  for (; count < bench.size(PAGES, 3); count += 1) {
    const { text } = await service.request('GET', encodeURI(`${FHIR}/${path}`), 200);
    const { link } = JSON.parse(text) as { link: { relation: string; url: string }[] };
    const next = link.find(({ relation }) => relation === 'next')?.url;
    if (next === undefined) break;
    path = decodeURI(next.slice(next.indexOf(FHIR) + FHIR.length + 1));
  }
  const runs = await alternate(
    PAIRS,
    () => load(bench, within, [WALKED]),
    () => load(bench, within, [path]),
  );
  const p50s = (outcomes: readonly Outcome[]) => outcomes.map(({ p50 }) => p50);
  return { pages: count, first: p50s(runs.baseline), last: p50s(runs.subject) };
}

/** Returns the time spent in the database, in ms by round, for the service's statements and for hand-written SQL. */
async function inDatabase({ service, tenant, patients }: Populated) {
  const pool = new pg.Pool({ connectionString: service.databaseUrl, max: 1 });
  pg.types.setTypeParser(pg.types.builtins.INT8, Number);
  try {
    const caller = ownCaller(tenant, { kind: 'api_key', keyId: 'key_1' }, ['read']);
    const asking = (search: Search) => (query: string) =>
      search(caller, { type: 'Observation', query: new URLSearchParams(query), base: 'http://localhost/' });
    const ask = asking(openSearch(pool));
    const askTallied = asking(openSearch(pool, undefined, undefined, openTallies(pool, 0)));
    const key = (code: string, form: string) =>
      searchKey(valueKey(caller.sees.ownerId, 'Observation', code, form));
    const about = key('date', tokenForm.code(ASKED.common));
    const written = (patient: string) => ({
      name: 'written',
      text: WRITTEN,
      values: [
        searchKey(inRecordKey(about, patient)),
        searchKey(systemKey(LOINC)),
        Date.UTC(2018, 0) * 1000,
        Date.UTC(2022, 5) * 1000,
      ],
    });
    const count = {
      name: 'count',
      text: COUNT,
      values: [[key('category', tokenForm.code(COUNTED.category))]],
    };
    const makeQuery = (patient: string) => first(patient).slice('Observation?'.length);
    const all = await alternate(
      ROUNDS,
      () => each(patients, (patient) => pool.query(written(patient))),
      () => each(patients, (patient) => ask(makeQuery(patient))),
    );
    const totals = await alternate(
      ROUNDS,
      () => each(patients.slice(0, 10), () => pool.query(count)),
      () => each(patients.slice(0, 10), () => ask(COUNTED.query)),
    );
    await askTallied(COUNTED.query);
    for (let tries = 0; tries < 100 && !(await isTallied(pool)); tries += 1) await delay(100);
    const total = [];
    for (let round = 0; round < ROUNDS; round += 1)
      total.push(await each(patients.slice(0, 10), () => askTallied(COUNTED.query)));
    return {
      first: all.subject,
      written: all.baseline,
      total,
      counted: totals.subject,
      count: totals.baseline,
    };
  } finally {
    await pool.end();
  }
}

async function isTallied(pool: pg.Pool): Promise<boolean> {
  const { rowCount } = await pool.query('select from search.tally where counted is not null');
  return rowCount !== 0;
}

/** Returns the median time of the given call over all patients, in ms. */
async function each(
  patients: readonly string[],
  call: (patient: string) => Promise<unknown>,
): Promise<number> {
  const spent: number[] = [];
  for (const patient of patients) {
    const began = performance.now();
    await call(patient);
    spent.push(performance.now() - began);
  }
  return median(spent);
}

/** Indexes: search.period_in_record, resources.resource_pkey. */
const WRITTEN = `
  with found as materialized (
    select p.id, p.low from search.period p
    where p.about_record = $1::int8 and p.about_system = $2::int8 and p.low >= $3::int8 and p.low < $4::int8
    order by p.low desc, p.id desc limit 51
  )
  select r.id, r.version, r.last_updated, r.body from found f join resources.resource r on r.id = f.id
  order by f.low desc, f.id desc`;

const COUNT = 'select count(*) from search.entry where keys @> $1::int8[]';
