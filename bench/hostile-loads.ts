/** The loads for the row `hostile`. The default limits allow some of these loads and refuse the others. */
import type { Bench } from './bench.ts';
import type { Requests, Target } from './load/plan.ts';
import { FHIR } from './records.ts';
import { additions, observation, type Sample, transaction } from './sample.ts';
import { requestTo } from './service.ts';

/** A project's target. */
export type OwnTarget = Target & { readonly key: string };

/** A load from one project while other projects are working. */
export interface HostileLoad {
  readonly name: string;
  readonly clients: number;
  readonly expect: number;
  /** Writes the load's data and returns the load's requests. */
  prepare(bench: Bench, target: OwnTarget, patient: string): Promise<Made>;
}

type Made = { readonly requests: Requests } | { readonly emptyEntries: number };

/** Number of Observations in the record that searches and contexts read. */
const OBSERVATIONS = 20_000;
/** Number of Observations in each transaction that fills the record. */
const AT_A_TIME = 500;
/** Number of records to cycle through when building contexts; more than the cache holds. */
const RECORDS = 3;

const subject = (patient: string): string => `Patient/${patient}`;

/** All loads, in the order of the report. */
export const HOSTILE: readonly HostileLoad[] = [
  {
    name: 'gzip of a batch of 8,000,000 empty entries',
    clients: 4,
    expect: 413,
    prepare: async (bench) => ({ emptyEntries: bench.size(8_000_000, 10_000) }),
  },
  {
    name: 'Observations of 9.4 MB',
    clients: 16,
    expect: 201,
    prepare: async (bench, _target, patient) => {
      const notes = Array.from({ length: 9 }, () => ({ text: 'n'.repeat(bench.size(1_044_000, 100)) }));
      const body = { ...observation(subject(patient), 0), note: notes };
      return { requests: { kind: 'posts', path: `${FHIR}/Observation`, bodies: [body] } };
    },
  },
  {
    name: 'Observations with 6,000 components',
    clients: 16,
    expect: 201,
    prepare: async (bench, _target, patient) => {
      const { valueQuantity, code } = observation(subject(patient), 1);
      const component = Array.from({ length: bench.size(6_000, 2) }, () => ({ code, valueQuantity }));
      const { valueQuantity: _, ...others } = observation(subject(patient), 0);
      const bodies = [{ ...others, component }];
      return { requests: { kind: 'posts', path: `${FHIR}/Observation`, bodies } };
    },
  },
  {
    name: 'transactions of 5,000 entries',
    clients: 4,
    expect: 200,
    prepare: async (bench) => ({
      requests: { kind: 'transactions', path: FHIR, entries: bench.size(5_000, 5), kinds: 1 },
    }),
  },
  {
    name: 'contexts over 20,000 Observations',
    clients: 8,
    expect: 200,
    prepare: async (bench, target) => {
      const patients: string[] = [];
      for (let n = 0; n < RECORDS; n += 1) patients.push(await record(bench, target, additions));
      const bodies = patients.map((patient) => ({
        ...{ patient, task: 'follow-up: diabetes', question: 'Is the blood glucose stable?' },
        needs: ['labs:2339-0'],
      }));
      return { requests: { kind: 'posts', path: '/v1/context', bodies } };
    },
  },
  {
    name: 'chains over 20,000 Observations',
    clients: 8,
    expect: 200,
    prepare: async (bench, target) => {
      await record(bench, target, derived);
      const step = 'derived-from:Observation.';
      const paths = [2, 3].map(
        (deep) => `${FHIR}/Observation?${step.repeat(deep)}code=http://loinc.org|8302-2&_count=50`,
      );
      return { requests: { kind: 'reads', paths } };
    },
  },
];

type Additions = (patient: string, n: number, entries: number) => Sample;

/**
 * Creates a Patient with many Observations.
 * @returns its id
 */
async function record(bench: Bench, target: OwnTarget, made: Additions): Promise<string> {
  const request = requestTo(target);
  const { text } = await request('POST', FHIR, 200, transaction(0, 1));
  const [, patient = ''] = /Patient\/([0-9a-f-]{36})/.exec(text) ?? [];
  const count = bench.size(OBSERVATIONS, 10);
  for (let n = 0; n * AT_A_TIME < count; n += 1)
    await request('POST', FHIR, 200, made(patient, n, Math.min(AT_A_TIME, count - n * AT_A_TIME)));
  return patient;
}

/** Returns a transaction with Observations, each derived from the previous one. */
function derived(patient: string, n: number, entries: number): Sample {
  const bundle = additions(patient, n, entries);
  const entry = (bundle.entry as { fullUrl: string; resource: Sample }[]).map((each, i, all) => ({
    ...each,
    resource: {
      ...each.resource,
      ...(i === 0 ? {} : { derivedFrom: [{ reference: all[i - 1]?.fullUrl }] }),
    },
  }));
  return { ...bundle, entry };
}
