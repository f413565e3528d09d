/** The rows of the comparison, the data that every server receives first, and the correct answers. */
import type { Requests } from '../load/plan.ts';
import { type Sample, transaction } from '../sample.ts';
import { idIn, type Json, type Peer } from './server.ts';

/** Number of entries in a transaction. */
export const ENTRIES = 300;
const CODE = 'http://loinc.org|8302-2';
const FROM = '2015-01-03';

/** The ids that a server has given to the data. */
export interface Data {
  readonly patients: readonly string[];
  /** One Observation for each patient, in the same order. */
  readonly observations: readonly string[];
}

/** A row: a load's requests, and a check of the answer before the load is measured. */
export interface Row {
  readonly name: string;
  readonly what: string;
  readonly clients: number;
  readonly expect: number;
  /** The number of resources that one request counts as. */
  readonly resources: number;
  requests(peer: Peer, data: Data): Requests;
  /** @throws Error if the server's answer doesn't match the data */
  check?(peer: Peer, data: Data): Promise<void>;
}

/** Fills a server with transactions, each of which is a patient's record. */
export async function fill(peer: Peer, records: number): Promise<Data> {
  const patients: string[] = [];
  const observations: string[] = [];
  for (let n = 0; n < records; n += 1) {
    const { entry } = (await peer.ask('POST', '', 200, transaction(n, ENTRIES))) as {
      readonly entry: readonly { readonly response: { readonly location: string } }[];
    };
    let ownCount = 0;
    for (const { response } of entry) {
      const id = idIn(response.location);
      if (/(?:^|\/)Patient\//.test(response.location)) patients.push(id);
      if (!/(?:^|\/)Observation\//.test(response.location)) continue;
      observations[ownCount * records + n] = id;
      ownCount += 1;
    }
  }
  return { patients, observations: observations.filter((id) => id !== undefined) };
}

/** Returns the number of matching Observations in one record as it was sent. A search must find the same number. */
function countSent(holds: (observation: Sample) => boolean): number {
  const { entry } = transaction(0, ENTRIES) as { readonly entry: readonly { readonly resource: Sample }[] };
  return entry.filter(({ resource }) => resource.resourceType === 'Observation' && holds(resource)).length;
}

const hasCode = (observation: Sample): boolean => JSON.stringify(observation.code).includes('"8302-2"');

const gets = (peer: Peer, paths: readonly string[]): Requests => ({
  kind: 'reads',
  paths: paths.map((path) => encodeURI(peer.base + path)),
});

const search = (patient: string): string =>
  `/Observation?patient=${patient}&code=${CODE}&date=ge${FROM}&_sort=-date&_count=50`;
const count = (patient: string): string => `/Observation?patient=${patient}&code=${CODE}&_summary=count`;

function requireEqual(what: string, found: unknown, expected: number): void {
  if (found !== expected) throw new Error(`${what}: ${String(found)} instead of ${expected}`);
}

/** The rows, named as in `npm run bench`. Rows that read come first, while all servers still contain the same data. */
export const ROWS: readonly Row[] = [
  {
    ...{ name: 'read', what: 'read by id, 16 clients', clients: 16, expect: 200, resources: 1 },
    requests: (peer, { observations }) =>
      gets(
        peer,
        observations.map((id) => `/Observation/${id}`),
      ),
  },
  {
    ...{ name: 'search', clients: 4, expect: 200, resources: 1 },
    what: 'a patient’s values of a code since a day, newest first, 4 clients',
    requests: (peer, { patients }) => gets(peer, patients.map(search)),
    async check(peer, { patients: [patient = ''] }) {
      const { entry } = (await peer.ask('GET', search(patient), 200)) as { readonly entry?: readonly Json[] };
      const expected = countSent((each) => hasCode(each) && String(each.effectiveDateTime) >= FROM);
      requireEqual('Observations found', entry?.length ?? 0, Math.min(50, expected));
    },
  },
  {
    ...{ name: 'count', what: 'how many values of a code a patient has, 4 clients', clients: 4, expect: 200 },
    resources: 1,
    requests: (peer, { patients }) => gets(peer, patients.map(count)),
    async check(peer, { patients: [patient = ''] }) {
      requireEqual('total', (await peer.ask('GET', count(patient), 200)).total, countSent(hasCode));
    },
  },
  {
    ...{
      name: 'update',
      what: 'update of an Observation, 16 clients',
      clients: 16,
      expect: 200,
      resources: 1,
    },
    requests: (peer, { patients, observations }) => ({
      kind: 'updates',
      corrected: 'value',
      patients,
      paths: observations.slice(0, 1_000).map((id) => `${peer.base}/Observation/${id}`),
    }),
  },
  {
    ...{
      name: 'create',
      what: 'create of an Observation, 16 clients',
      clients: 16,
      expect: 201,
      resources: 1,
    },
    requests: (peer, { patients }) => ({ kind: 'observations', path: `${peer.base}/Observation`, patients }),
  },
  {
    ...{ name: 'transaction', clients: 4, expect: 200, resources: ENTRIES },
    what: `transactions of ${ENTRIES} linked entries, 4 clients, in resources`,
    requests: (peer) => ({ kind: 'transactions', path: peer.base, entries: ENTRIES, kinds: 8 }),
  },
];
