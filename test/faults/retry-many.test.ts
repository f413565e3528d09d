/** Fifty kills between append and response, each followed by a retry: one write each (docs/spec/decisions.md, section 3). */
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { describeAtFullSize, scaled } from '#test/support/scale.ts';
import { newDataDir, type Service, startService } from '#test/support/service.ts';
import { tell } from '#test/support/tell.ts';
import {
  batchOf,
  type DyingRequest,
  patient,
  post,
  retry,
  SYSTEM,
  sendToDying,
  statuses,
  withOrganization,
} from './dying-requests.ts';

const KILLS = scaled(50, 2);

/** A request that dies, and what it must have written afterwards. */
interface Kill {
  readonly request: DyingRequest;
  readonly status: 200 | 201;
  /** For each identifier, one resource with one version is expected. */
  readonly written: Readonly<Partial<Record<'Patient' | 'Organization', readonly string[]>>>;
}

/** All kinds of requests, used in rotation. `name` is the identifier of what the request writes. */
const KINDS: readonly ((name: string) => Kill)[] = [
  (name) => ({
    request: post(
      'record- 1',
      '/v1/patients',
      { family: 'Once', identifiers: [{ system: SYSTEM, value: name }] },
      { 'Content-Type': 'application/json' },
    ),
    status: 201,
    written: { Patient: [name] },
  }),
  (name) => ({
    request: post('directory- 1', '/Organization', { ...patient(name), resourceType: 'Organization' }),
    status: 201,
    written: { Organization: [name] },
  }),
  (name) => ({
    request: post('record- 1', '', withOrganization(name), {
      'X-Service-Author-Type': 'device',
      'X-Service-Origin-Id': name,
    }),
    status: 200,
    written: { Patient: [name], Organization: [name] },
  }),
  (name) => ({
    request: post('record- 1', '/Patient', patient(name)),
    status: 201,
    written: { Patient: [name] },
  }),
  (name) => ({
    request: post('record- 1', '/Patient', patient(name), {
      'If-None-Exist': `identifier=${SYSTEM}|${name}`,
    }),
    status: 201,
    written: { Patient: [name] },
  }),
  (name) => ({
    request: post('directory- 1', '', withOrganization(name)),
    status: 200,
    written: { Patient: [name], Organization: [name] },
  }),
  (name) => {
    const names = [1, 2, 3, 4].map((number) => `${name}-${number}`);
    const appends = 1 + (name.length % names.length);
    return {
      request: post(`record- ${appends}`, '', batchOf(names)),
      status: 200,
      written: { Patient: names },
    };
  },
];

describeAtFullSize(`${KILLS} kills between append and answer`, () => {
  let database: TestDatabase;
  let service: Service;
  let dyingDir: string;
  const kills: Kill[] = [];

  before(async function () {
    this.timeout(60_000 + KILLS * 20_000);
    database = await createMigratedDatabase();
    dyingDir = await newDataDir();
    service = await startService({ databaseUrl: database.url });
    const place = { databaseUrl: database.url, dataDir: dyingDir, key: service.key };
    for (let index = 0; index < KILLS; index += 1) {
      const kind = KINDS[index % KINDS.length];
      if (kind === undefined) continue;
      const kill = kind(`kill-${index}`);
      await sendToDying(place, kill.request);
      kills.push(kill);
    }
    // Leases of killed attempts last 10 s; `retry.test.ts` waits for them.
    await database.pool.query(
      "update operations.idempotency set lease_until = now() - interval '1 second' where answer is null",
    );
  });

  after(async () => {
    await service.stop();
    await database.drop();
    await rm(dyingDir, { recursive: true, force: true });
  });

  const total = async (search: string) => (await service.fhir(search)).json.total;

  it('leave one write each, answered as if nothing had happened', async function () {
    this.timeout(60_000 + KILLS * 2_000);
    let resources = 0;
    for (const { request, status, written } of kills) {
      const answer = await retry(service, request);
      expect(answer.status, answer.text).to.equal(status);
      const made = Object.values(written).flat();
      if (status === 200) expect(statuses(answer)).to.deep.equal(made.map(() => '201 Created'));
      for (const [type, names] of Object.entries(written)) {
        for (const name of names) {
          const found = await service.fhir(`/${type}?identifier=${SYSTEM}|${name}`);
          expect(found.json.total, `${type} ${name}`).to.equal(1);
          const id = /"fullUrl":"[^"]*\/([^/"]+)"/.exec(found.text)?.[1];
          expect(await total(`/${type}/${id}/_history`), `versions of ${type} ${name}`).to.equal(1);
          expect(await total(`/Provenance?target=${type}/${id}`), `Provenances of ${type} ${name}`).to.equal(
            1,
          );
          resources += 1;
        }
      }
    }
    tell(`${kills.length} kills of FHIR requests and v1, ${resources} resources, one version of each`);
  });
});
