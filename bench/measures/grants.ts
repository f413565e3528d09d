/**
 * Reads, searches and creates with an access token for a grant, including the access log, compared with the same requests with
 * an API key.
 */
import pg from 'pg';
import { issueGrantTokens } from '#src/oauth/tokens/issue-tokens.ts';
import type { Bench, MeasuredService } from '../bench.ts';
import { appendGrant } from '../grant.ts';
import type { Load, Outcome, Plan } from '../load/plan.ts';
import { alternate, type Finding, type Measure } from '../measure.ts';
import { createObservations, createPatients, FHIR, resourcePath } from '../records.ts';
import { median } from '../statistics.ts';

const READERS = 16;
const SEARCHERS = 4;
const WRITERS = 16;
/** Number of clients that the record's owner runs while an application searches. */
const OWNERS = 1;
const OBSERVATIONS = 5_000;
const RECORDS = 8;
/** Number of rounds of the owner's searches, both alone and during the application's searches. */
const ROUNDS = 8;

/** A patient, and the application's token for the record. */
interface Granted {
  readonly record: string;
  readonly patient: string;
  readonly token: string;
}

/** The row of grants. */
export const grants: Measure = {
  row: 'grants',
  subject: `reads by id (${READERS} clients) and searches (${SEARCHERS} clients) with a grant’s access token, including the access log; creates (${WRITERS} clients) with such a token; an owner’s searches (${OWNERS} client) while one application searches without pause (${SEARCHERS} clients)`,
  baseline: 'the same requests with an API key; the owner’s searches alone',
  async run(bench): Promise<Finding> {
    const started = await bench.service();
    const { service } = started;
    const patients = await createPatients(service, RECORDS);
    const count = bench.size(OBSERVATIONS, 100);
    const [patient = ''] = patients;
    const { locations } = await createObservations(bench, service, [patient], { count, locations: true });
    await createObservations(bench, service, patients.slice(1), { count });
    const granted = await allow(bench, started, patient);
    await bench.settle(started.databaseUrl);
    const withKey = service.target;
    const withToken = { ...withKey, key: granted.token };
    const reads = locations.map(resourcePath);
    const search = (of: string) => [`${FHIR}/Observation?patient=${of}&_sort=-date&_count=50&_total=none`];
    const load = (target: Load['target'], clients: number, paths: readonly string[]): Load => ({
      ...{ target, clients, expect: 200, requests: { kind: 'reads', paths } },
    });
    const seconds = bench.seconds(3);
    const compare = async (
      clients: number,
      own: readonly string[],
      seen: readonly string[],
      warm: number,
    ) => {
      await bench.load({ ...load(withKey, clients, own), ...bench.warmUp(warm) });
      await bench.load({ ...load(withToken, clients, seen), ...bench.warmUp(warm) });
      const runs = await alternate(
        Math.max(3, bench.options.runs),
        () => bench.load({ ...load(withKey, clients, own), seconds }),
        () => bench.load({ ...load(withToken, clients, seen), seconds }),
      );
      return { key: median(runs.baseline.map(readRate)), token: median(runs.subject.map(readRate)) };
    };
    const read = await compare(READERS, reads, reads, 8_000);
    const searched = await compare(SEARCHERS, search(patient), search(granted.patient), 1_000);
    const creates = (target: Load['target'], of: string): Load => ({
      ...{ target, clients: WRITERS, expect: 201 },
      requests: { kind: 'observations', path: `${FHIR}/Observation`, patients: [of] },
    });
    const byKey = creates(withKey, patient);
    const byToken = creates(withToken, granted.patient);
    await bench.load({ ...byKey, ...bench.warmUp(1_000) });
    await bench.load({ ...byToken, ...bench.warmUp(1_000) });
    const created = await alternate(
      Math.max(3, bench.options.runs),
      () => bench.load({ ...byKey, seconds }),
      () => bench.load({ ...byToken, seconds }),
    );
    const written = {
      key: median(created.baseline.map(readRate)),
      token: median(created.subject.map(readRate)),
    };
    const application = bench.worker('load/generator.ts');
    const owners = patients.slice(1).flatMap(search);
    const alone = () => bench.load({ ...load(withKey, OWNERS, owners), seconds: bench.seconds(2) });
    const beside = async (): Promise<Outcome> => {
      const plan = { ...load(withToken, SEARCHERS, search(granted.patient)), seconds: bench.seconds(2.5) };
      const [outcome] = await Promise.all([alone(), application.call<Plan, Outcome>(plan)]);
      return outcome;
    };
    await alone();
    const turns = await alternate(ROUNDS, alone, beside);
    const slower = turns.subject.map(({ p50 }, n) => p50 / (turns.baseline[n]?.p50 ?? Number.NaN));
    return {
      rounds: `medians of ${Math.max(3, bench.options.runs)} alternating runs; for the owner’s searches, the median ratio from ${ROUNDS} rounds`,
      bounds: [
        { ratio: 'reads: token / key', value: read.token / read.key, sense: 'at least', bound: 0.3 },
        {
          ratio: 'searches: token / key',
          value: searched.token / searched.key,
          sense: 'at least',
          bound: 0.6,
        },
        {
          ratio: 'the owner’s searches beside an application’s: p50 / alone',
          value: median(slower),
          sense: 'at most',
          bound: 1.5,
        },
      ],
      figures: [
        { name: 'reads with a token', value: read.token, unit: '/s' },
        { name: 'reads with a key', value: read.key, unit: '/s' },
        { name: 'searches with a token', value: searched.token, unit: '/s' },
        { name: 'searches with a key', value: searched.key, unit: '/s' },
        { name: 'creates with a token', value: written.token, unit: '/s' },
        { name: 'creates with a key', value: written.key, unit: '/s' },
        { name: 'creates, token / key', value: written.token / written.key, unit: '' },
        { name: 'the owner’s p50 alone', value: median(turns.baseline.map(({ p50 }) => p50)), unit: 'ms' },
        { name: 'beside an application', value: median(turns.subject.map(({ p50 }) => p50)), unit: 'ms' },
      ],
    };
  },
};

const readRate = ({ rate }: Outcome): number => rate;

/** Adds an application in another project, a grant on a record, and an access token. */
async function allow(bench: Bench, { databaseUrl }: MeasuredService, record: string): Promise<Granted> {
  const application = { applicationId: 'app_bench', project: 'proj_bench', environment: 'sandbox' } as const;
  await bench.query(
    databaseUrl,
    `insert into projects.project (id, organization, name, created_at)
     select '${application.project}', organization, 'Bench', created_at + 1 from projects.project limit 1`,
  );
  await bench.query(
    databaseUrl,
    `insert into projects.application
       (id, project, client_id, name, environment, kind, redirect_uris, scopes, grant_types, trusted, created_at)
     values ('${application.applicationId}', '${application.project}', 'client_test_bench', 'Bench', 'sandbox', 'public',
             array['https://bench.example/callback'], array['patient/*.cruds'], array['authorization_code'], false, 1)`,
  );
  const scopes = ['patient/*.cruds'];
  const patient = await appendGrant(databaseUrl, record, application, { id: 'grant_bench', scopes });
  await bench.settle(databaseUrl);
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  try {
    const issued = await issueGrantTokens(pool, {
      ...{ client: application, grantId: 'grant_bench', record, scope: scopes.join(' '), resources: [] },
    });
    if (issued === undefined) throw new Error('the grant is not active');
    return { record, patient, token: issued.accessToken };
  } finally {
    await pool.end();
  }
}
