/** A whole record, complete and as a summary, compared with reading the same rows. */
import type { Bench } from '../bench.ts';
import type { Length, Outcome } from '../load/plan.ts';
import { alternate, type Finding, type Measure } from '../measure.ts';
import { FHIR } from '../records.ts';
import { type Sample, transaction } from '../sample.ts';
import type { Service } from '../service.ts';
import { median } from '../statistics.ts';

const CLIENTS = 4;
const RESOURCES = 2_000;
/** The bound for `$everything` and `$summary`, compared with reading the rows. */
const BOUND = 3;

/** Row: the complete record. */
export const everything: Measure = {
  row: 'everything',
  subject: `all pages of $everything for a record of ${RESOURCES} resources; ${CLIENTS} clients`,
  baseline: 'a bare Koa route that reads the same rows with one statement and sends them',
  run: (bench) => measure(bench, listPages),
};

/** Row: the summary of a record. */
export const summary: Measure = {
  row: 'summary',
  subject: `$summary for a record of ${RESOURCES} resources; ${CLIENTS} clients`,
  baseline: 'a bare Koa route that reads the same rows with one statement and sends them',
  run: (bench) => measure(bench, async (_service, patient) => [`${FHIR}/Patient/${patient}/$summary`]),
};

/**
 * Measures a whole record.
 * @param listPaths returns the paths that together give the answer for a patient.
 */
async function measure(
  bench: Bench,
  listPaths: (service: Service, patient: string) => Promise<readonly string[]>,
): Promise<Finding> {
  const { service, databaseUrl } = await bench.service();
  const patient = await createRecord(service, bench.size(RESOURCES, 50));
  await bench.settle(databaseUrl);
  const route = bench.worker('baselines/record-route.ts');
  const port = await route.call<object, number>({ url: databaseUrl, connections: CLIENTS });
  const paths = await listPaths(service, patient);
  const load = (
    target: Service['target'] | { host: string; port: number },
    of: readonly string[],
    length: Length,
  ) =>
    bench.load({ target, clients: CLIENTS, requests: { kind: 'reads', paths: of }, expect: 200, ...length });
  const rows = (length: Length): Promise<Outcome> =>
    load({ host: '127.0.0.1', port }, [`/${patient}`], length);
  const subject = (length: Length): Promise<Outcome> => load(service.target, paths, length);

  await rows(bench.warmUp(300));
  await subject(bench.warmUp(300));
  const runs = await alternate(
    bench.options.runs,
    () => rows({ seconds: bench.seconds(5) }),
    () => subject({ seconds: bench.seconds(5) }),
  );
  const baseline = median(runs.baseline.map(({ rate }) => rate));
  const rate = median(runs.subject.map((run) => run.rate)) / paths.length;
  const bytes = median(runs.subject.map((run) => run.bytes / run.requests)) * paths.length;
  return {
    bounds: [{ ratio: 'time / baseline', value: baseline / rate, sense: 'at most', bound: BOUND }],
    figures: [
      { name: 'answers', value: rate, unit: '/s' },
      { name: 'p50 of a page', value: median(runs.subject.map(({ p50 }) => p50)), unit: 'ms' },
      { name: 'body', value: bytes / 1000, unit: 'kB' },
      { name: 'pages', value: paths.length, unit: '' },
      { name: 'baseline', value: baseline, unit: '/s' },
    ],
  };
}

/**
 * Creates a patient's record whose Observations refer to a practitioner in the directory.
 * @returns the Patient's id
 */
export async function createRecord(service: Service, resources: number): Promise<string> {
  const doctor = { resourceType: 'Practitioner', name: [{ family: 'Bench' }] };
  const { location } = await service.request('POST', `${FHIR}/Practitioner`, 201, doctor);
  const reference = /Practitioner\/[0-9a-f-]{36}/.exec(location ?? '')?.[0] ?? '';
  const bundle = transaction(0, resources);
  const entry = (bundle.entry as { resource: Sample }[]).map(({ resource, ...rest }) => ({
    ...rest,
    resource:
      resource.resourceType === 'Observation' ? { ...resource, performer: [{ reference }] } : resource,
  }));
  const { text } = await service.request('POST', FHIR, 200, { ...bundle, entry });
  const id = /Patient\/([0-9a-f-]{36})/.exec(text)?.[1];
  if (id === undefined) throw new Error('no Patient was created');
  return id;
}

/** Returns the paths of `$everything`'s pages. */
async function listPages(service: Service, patient: string): Promise<readonly string[]> {
  const paths: string[] = [];
  for (let path: string | undefined = `${FHIR}/Patient/${patient}/$everything`; path !== undefined; ) {
    paths.push(path);
    const { text } = await service.request('GET', path, 200);
    const { link } = JSON.parse(text) as { link: { relation: string; url: string }[] };
    const next = link.find(({ relation }) => relation === 'next');
    path = next === undefined ? undefined : next.url.slice(new URL(next.url).origin.length);
  }
  return paths;
}
