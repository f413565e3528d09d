/** Pages of a patient's list of 100,000 observations, at any depth and by any filter, against a read by id. */
import type { Bench } from '../bench.ts';
import { alternate, type Finding, type Measure } from '../measure.ts';
import { createPatients, FHIR } from '../records.ts';
import { observation, type Sample } from '../sample.ts';
import type { Service } from '../service.ts';
import { median } from '../statistics.ts';

const CLIENTS = 4;
const OBSERVATIONS = 100_000;
/** Entries of a transaction. */
const ENTRIES = 500;
const BOUND = 3;
const LOINC = 'http://loinc.org';
/** One in a thousand has this code. */
const RARE = '2132-9';
const FIRST_DAY = Date.UTC(2006, 0, 1);
const YEARS_MS = 20 * 365.25 * 86_400_000;

/** Row: lists of REST v1. */
export const lists: Measure = {
  row: 'lists',
  subject: `a page of 50 of a patient’s ${OBSERVATIONS.toLocaleString('en-US')} observations; ${CLIENTS} clients`,
  baseline: 'read by id, of the same observations, on the FHIR interface',
  async run(bench): Promise<Finding> {
    const { service, databaseUrl } = await bench.service();
    const [patient = ''] = await createPatients(service, 1);
    const count = bench.size(OBSERVATIONS, 300);
    await fill(service, patient, count);
    await bench.settle(databaseUrl);
    const ids = await bench.query<{ id: string }>(
      databaseUrl,
      `select id from resources.resource where type = 'Observation' order by md5(id::text) limit 5000`,
    );
    const reads = ids.map(({ id }) => `${FHIR}/Observation/${id}`);
    const p50 = async (paths: readonly string[]) => {
      const load = () =>
        bench.load({
          target: service.target,
          clients: CLIENTS,
          requests: { kind: 'reads', paths },
          expect: 200,
          seconds: bench.seconds(2),
        });
      const runs = await alternate(bench.options.runs, () => readLoad(bench, service, reads), load);
      const [of, by] = [runs.subject, runs.baseline].map((all) => median(all.map((run) => run.p50)));
      return { page: of ?? Number.NaN, read: by ?? Number.NaN };
    };
    await bench.load({
      target: service.target,
      clients: CLIENTS,
      requests: { kind: 'reads', paths: [...reads.slice(0, 10), `/v1/patients/${patient}/observations`] },
      expect: 200,
      ...bench.warmUp(3_000),
    });
    const found: { name: string; page: number; read: number }[] = [];
    for (const [name, path] of await pagesOf(service, patient, count)) {
      found.push({ name, ...(await p50([path])) });
      bench.say(`  ${name}: ${JSON.stringify(found.at(-1))}`);
    }
    return {
      bounds: found.map(({ name, page, read }) => ({
        ratio: `${name}: p50 / read by id`,
        value: page / read,
        sense: 'at most',
        bound: BOUND,
      })),
      figures: [
        { name: 'read by id p50', value: median(found.map(({ read }) => read)), unit: 'ms' },
        ...found.map(({ name, page }) => ({ name: `${name} p50`, value: page, unit: 'ms' })),
      ],
    };
  },
};

function readLoad(bench: Bench, { target }: Service, paths: readonly string[]) {
  return bench.load({
    target,
    clients: CLIENTS,
    requests: { kind: 'reads', paths },
    expect: 200,
    seconds: bench.seconds(2),
  });
}

/** Observations over twenty years, in the order of time. */
async function fill(service: Service, patient: string, count: number): Promise<void> {
  for (let from = 0; from < count; from += ENTRIES) {
    const entry: Sample[] = [];
    for (let n = from; n < Math.min(count, from + ENTRIES); n += 1) {
      const effectiveDateTime = new Date(FIRST_DAY + (n / count) * YEARS_MS).toISOString();
      const rare = n % 1_000 === 7 ? { code: { coding: [{ system: LOINC, code: RARE }] } } : {};
      const resource = { ...observation(`Patient/${patient}`, n), effectiveDateTime, ...rare };
      entry.push({ resource, request: { method: 'POST', url: 'Observation' } });
    }
    await service.request('POST', FHIR, 200, { resourceType: 'Bundle', type: 'transaction', entry });
  }
}

/** Each list at its beginning, in its middle and at its end. */
async function pagesOf(service: Service, patient: string, count: number): Promise<[string, string][]> {
  const base = `/v1/patients/${patient}`;
  const listed: readonly (readonly [name: string, path: string, of: number])[] = [
    ['all', `${base}/observations?`, count],
    ['a category', `${base}/observations?category=vital-signs&`, count],
    ['a code that one in 8 has', `${base}/observations?code=4548-4&`, count / 8],
    ['a code that one in 1,000 has', `${base}/observations?code=${RARE}&`, count / 1_000],
    ['ten years', `${base}/observations?from=2009-02-03&to=2019-02-02&`, count / 2],
    ['a month', `${base}/observations?from=2012-05-01&to=2012-05-31&`, count / 240],
    ['a code in ten years', `${base}/observations?code=4548-4&from=2009-02-03&to=2019-02-02&`, count / 16],
    ['a code and a category', `${base}/observations?code=4548-4&category=vital-signs&`, count / 8],
    ['timeline', `${base}/timeline?`, count],
    ['timeline of ten years', `${base}/timeline?from=2009-02-03&to=2019-02-02&`, count / 2],
  ];
  const pages: [string, string][] = [];
  for (const [name, path, of] of listed) {
    pages.push([`${name}, first page`, path.slice(0, -1)]);
    const last = Math.floor((of - 50) / 200);
    let cursor: string | null = '';
    for (let page = 0; page < last && cursor !== null; page += 1) {
      const { text } = await service.request('GET', `${path}limit=200${cursor}`, 200);
      const { next_cursor: next } = JSON.parse(text) as { next_cursor: string | null };
      cursor = next === null ? null : `&cursor=${encodeURIComponent(next)}`;
      if (cursor === null) break;
      if (page === Math.floor(last / 2)) pages.push([`${name}, in the middle`, `${path}${cursor.slice(1)}`]);
      if (page === last - 1) pages.push([`${name}, at the end`, `${path}${cursor.slice(1)}`]);
    }
  }
  return pages;
}
