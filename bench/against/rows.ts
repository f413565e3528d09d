/** The loads by which two checkouts are compared, on services with the same data. */
import type { Bench, MeasuredService } from '../bench.ts';
import type { Length, Requests } from '../load/plan.ts';
import { createRecord } from '../measures/record.ts';
import { createPatients, FHIR } from '../records.ts';

/** One of the checkouts: a service with its own database server. */
export interface Side {
  readonly root: string;
  readonly bench: Bench;
  readonly running: MeasuredService;
  readonly patients: readonly string[];
  /** Patients that have many Observations. */
  readonly known: readonly string[];
  /** `Type/id` of Observations. */
  readonly observations: readonly string[];
  /** A Patient whose record has 2,000 resources. */
  readonly large: string;
}

/** A row of the comparison: requests that are sent to both services alternately. */
export interface Row {
  readonly name: string;
  readonly what: string;
  readonly clients: number;
  readonly status: number;
  /** Number of requests that warm up each service. */
  readonly warmUp: number;
  requests(side: Side): Requests;
}

const KNOWN = 40;
const TRANSACTION = 300;

/** Fills a service. */
export async function prepare(root: string, bench: Bench): Promise<Side> {
  const running = await bench.service();
  const { service, databaseUrl } = running;
  const patients = await createPatients(service, 64);
  const known: string[] = [];
  const requests = { kind: 'transactions', path: FHIR, entries: TRANSACTION, kinds: 8 } as const;
  await bench.load({ target: service.target, clients: 2, requests, expect: 200, count: KNOWN });
  const ids = async (type: string, limit: number): Promise<string[]> =>
    (
      await bench.query<{ id: string }>(
        databaseUrl,
        `select id from resources.resource where type = '${type}' order by id desc limit ${limit}`,
      )
    ).map(({ id }) => id);
  known.push(...(await ids('Patient', KNOWN)));
  const observations = (await ids('Observation', 5_000)).map((id) => `Observation/${id}`);
  const large = await createRecord(service, 2_000);
  await bench.settle(databaseUrl);
  return { root, bench, running, patients, known, observations, large };
}

const reads = (paths: readonly string[]): Requests => ({ kind: 'reads', paths: paths.map(encodeURI) });

/** The rows whose requests are sent by the load generator. */
export const ROWS: readonly Row[] = [
  {
    name: 'create',
    what: 'create of an Observation, 16 clients, 64 patients',
    clients: 16,
    status: 201,
    warmUp: 6_000,
    requests: ({ patients }) => ({ kind: 'observations', path: `${FHIR}/Observation`, patients }),
  },
  {
    name: 'read',
    what: 'read by id, 16 clients',
    clients: 16,
    status: 200,
    warmUp: 10_000,
    requests: ({ observations }) => reads(observations.map((path) => `${FHIR}/${path}`)),
  },
  {
    name: 'search',
    what: 'a patient’s values of a code in some years, newest first, 4 clients',
    clients: 4,
    status: 200,
    warmUp: 2_000,
    requests: ({ known }) =>
      reads(
        known.map(
          (id) =>
            `${FHIR}/Observation?patient=${id}&code=http://loinc.org|8302-2&date=ge2015-01-01&date=lt2020-01-01&_sort=-date&_count=50&_total=none`,
        ),
      ),
  },
  {
    name: 'searches',
    what: 'pages by category, by name, by chain, with _include and _revinclude, 4 clients',
    clients: 4,
    status: 200,
    warmUp: 2_000,
    requests: ({ known }) =>
      reads(
        known.flatMap((id) => [
          `${FHIR}/Observation?patient=${id}&category=vital-signs&_count=20`,
          `${FHIR}/Patient?name=bench&_count=10`,
          `${FHIR}/Observation?subject:Patient._id=${id}&code=8302-2&_count=20`,
          `${FHIR}/Observation?patient=${id}&_include=Observation:encounter&_count=20`,
          `${FHIR}/Patient?_id=${id}&_revinclude=Condition:patient`,
        ]),
      ),
  },
  {
    name: 'transaction',
    what: `transaction of ${TRANSACTION} linked entries, 4 clients`,
    clients: 4,
    status: 200,
    warmUp: 30,
    requests: () => ({ kind: 'transactions', path: FHIR, entries: TRANSACTION, kinds: 8 }),
  },
  {
    name: 'everything',
    what: '$everything of 2,000 resources, 4 clients',
    clients: 4,
    status: 200,
    warmUp: 150,
    requests: ({ large }) => reads([`${FHIR}/Patient/${large}/$everything`]),
  },
  {
    name: 'summary',
    what: '$summary of a record of 2,000 resources, 4 clients',
    clients: 4,
    status: 200,
    warmUp: 60,
    requests: ({ large }) => reads([`${FHIR}/Patient/${large}/$summary`]),
  },
  {
    name: 'context',
    what: 'POST /v1/context of a record of 2,000 resources, 4 clients',
    clients: 4,
    status: 200,
    warmUp: 100,
    requests: ({ large }) => ({
      kind: 'posts',
      path: '/v1/context',
      bodies: [{ patient: large, task: 'follow-up: diabetes' }],
    }),
  },
  {
    name: 'lists',
    what: 'pages of 50 of REST v1: observations, those of a code, the timeline; 4 clients',
    clients: 4,
    status: 200,
    warmUp: 1_500,
    requests: ({ large }) =>
      reads(
        ['observations?limit=50', 'observations?code=4548-4&limit=50', 'timeline?limit=50'].map(
          (path) => `/v1/patients/${large}/${path}`,
        ),
      ),
  },
];

/**
 * Sends a row's requests.
 * @returns the number of requests that were answered, in total and per second
 */
export function load(row: Row, side: Side, length: Length): Promise<{ requests: number; rate: number }> {
  return side.bench.load({
    target: side.running.service.target,
    clients: row.clients,
    requests: row.requests(side),
    expect: row.status,
    ...length,
  });
}
