/** Pages of a patient's list of 100,000 observations, at any depth and with any filter, compared with a read by id. */
import { readQuickstart } from '#src/data-dir.ts';
import { againstReads, openReading } from '../against-reads.ts';
import { type LongRecord, RARE } from '../long-record.ts';
import type { Finding, Measure } from '../measure.ts';
import { createPatients, FHIR } from '../records.ts';
import type { Service } from '../service.ts';
import { median } from '../statistics.ts';

const CLIENTS = 4;
const OBSERVATIONS = 100_000;
const BOUND = 3;

/** Row: lists of REST v1. */
export const lists: Measure = {
  row: 'lists',
  subject: `a page with 50 of a patient’s ${OBSERVATIONS.toLocaleString('en-US')} observations; ${CLIENTS} clients`,
  baseline: 'reads of the same observations by id, on REST v1',
  async run(bench): Promise<Finding> {
    const { service, databaseUrl, dataDir } = await bench.service();
    const quickstart = await readQuickstart(dataDir);
    if (quickstart === undefined) throw new Error('the service wrote no quickstart.json');
    const tenant = { project: quickstart.project_id, environment: 'sandbox' } as const;
    const [patient = ''] = await createPatients(service, 1);
    const count = bench.size(OBSERVATIONS, 300);
    const filling = bench.worker('subjects/long-record.ts');
    await filling.call<LongRecord & { databaseUrl: string }, number>({ databaseUrl, tenant, patient, count });
    await filling.stop();
    await bench.settle(databaseUrl);
    const ids = await bench.query<{ id: string }>(
      databaseUrl,
      `select id from resources.resource where type = 'Observation' order by md5(id::text) limit 5000`,
    );
    const load = openReading(bench, service, CLIENTS, 1);
    const reads = ids.map(({ id }) => `/v1/observations/${id}`);
    await load([...reads.slice(0, 10), `/v1/patients/${patient}/observations`], bench.warmUp(3_000));
    const fhir = ids.map(({ id }) => `${FHIR}/Observation/${id}`);
    await load(fhir, bench.warmUp(1_000));
    const { asked: fhirRead } = await againstReads(bench, load, reads, fhir);
    const found: { name: string; asked: number; read: number }[] = [];
    for (const [name, path] of await listPages(service, patient, count)) {
      found.push({ name, ...(await againstReads(bench, load, reads, [path])) });
      bench.say(`  ${name}`);
    }
    return {
      bounds: found.map(({ name, asked, read }) => ({
        ratio: `${name}: p50 / read by id`,
        value: asked / read,
        sense: 'at most',
        bound: BOUND,
      })),
      figures: [
        { name: 'read by id p50', value: median(found.map(({ read }) => read)), unit: 'ms' },
        { name: 'read by id on the FHIR interface p50', value: fhirRead, unit: 'ms' },
        ...found.map(({ name, asked }) => ({ name: `${name} p50`, value: asked, unit: 'ms' })),
      ],
    };
  },
};

/** Reads pages at the beginning, in the middle and at the end of each list. */
async function listPages(service: Service, patient: string, count: number): Promise<[string, string][]> {
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
