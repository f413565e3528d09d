/**
 * POSTs to the admin interface that were killed between append and response and are then sent again: each writes once,
 * including POSTs that return secrets.
 */
import { rm } from 'node:fs/promises';
import { expect } from 'chai';
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { describeAtFullSize, scaled } from '#test/support/scale.ts';
import { type Answer, newDataDir, type Service, startService } from '#test/support/service.ts';
import { tell } from '#test/support/tell.ts';
import { type DyingRequest, post, retry, sendToDying } from './dying-requests.ts';

/** Number of rounds over every kind at full size, 48 kills in all; otherwise, some kinds run once. */
const ROUNDS = scaled(3, 0);

/** Sends a request as a person. */
type Ask = (method: string, path: string, body?: object) => Promise<Answer>;

/** A request that dies, and what must be true after its retry. */
interface Kill {
  readonly diesAfter: string;
  readonly path: string;
  readonly body: object;
  readonly status: 200 | 201;
  /** The list that contains one entry afterwards. */
  readonly list: string;
}

const organization = async (ask: Ask) => String((await ask('POST', '/admin/organizations', NAMED)).json.id);
const project = async (ask: Ask) =>
  String((await ask('POST', `/admin/organizations/${await organization(ask)}/projects`, NAMED)).json.id);
const NAMED = { name: 'Once' };

/** The kinds of requests; each first creates what it needs. */
const KINDS: Readonly<Record<string, (ask: Ask) => Promise<Kill>>> = {
  organization: async () => {
    const path = '/admin/organizations';
    return { diesAfter: 'organization- 1', path, body: NAMED, status: 201, list: path };
  },
  project: async (ask) => {
    const path = `/admin/organizations/${await organization(ask)}/projects`;
    return { diesAfter: 'project- 1', path, body: NAMED, status: 201, list: path };
  },
  key: async (ask) => {
    const path = `/admin/projects/${await project(ask)}/keys`;
    const body = { ...NAMED, environment: 'sandbox', scopes: ['read', 'write'] };
    return { diesAfter: 'project- 1', path, body, status: 201, list: path };
  },
  application: async (ask) => {
    const path = `/admin/projects/${await project(ask)}/applications`;
    const redirects = { redirect_uris: ['https://app.example.org/callback'], scopes: ['patient/*.rs'] };
    const body = { ...NAMED, kind: 'confidential', ...redirects };
    return { diesAfter: 'application- 1', path, body, status: 201, list: path };
  },
  'quickstart, after its organization': async () => quickstart('organization- 1'),
  'quickstart, after its project': async () => quickstart('project- 1'),
};

const NAMES = Object.keys(KINDS).filter(
  (name) => ROUNDS > 0 || name === 'key' || name.endsWith('its project'),
);

function quickstart(diesAfter: string): Kill {
  const path = '/admin/sandbox/quickstart';
  return { diesAfter, path, body: {}, status: 201, list: '/admin/organizations' };
}

describeAtFullSize('an admin request killed between append and answer', () => {
  let database: TestDatabase;
  let service: Service;
  let dyingDir: string;
  const killed = new Map<
    string,
    { readonly kill: Kill; readonly ask: Ask; readonly request: DyingRequest }[]
  >();

  before(async function () {
    this.timeout(60_000 + ROUNDS * 120_000);
    database = await createMigratedDatabase();
    dyingDir = await newDataDir();
    service = await startService({ databaseUrl: database.url });
    const place = { databaseUrl: database.url, dataDir: dyingDir, key: service.key, baseUrl: service.url };
    // If this instance creates a quickstart project, it does so at its first start.
    await (await startService({ databaseUrl: database.url, dataDir: dyingDir, key: service.key })).stop();
    for (let round = 0; round < Math.max(1, ROUNDS); round += 1) {
      for (const name of NAMES) {
        const ask = await personWhoAsks(`${name.replaceAll(/\W+/g, '-')}-${round}@example.org`);
        const kill = await KINDS[name]?.(ask.ask);
        if (kill === undefined) throw new RangeError(name);
        const headers = { ...ask.headers, 'Content-Type': 'application/json' };
        const request = post(kill.diesAfter, kill.path, kill.body, headers);
        await sendToDying(place, request);
        killed.set(name, [...(killed.get(name) ?? []), { kill, ask: ask.ask, request }]);
      }
    }
    // Leases of killed attempts last 10 s; another test waits for them.
    await database.pool.query(
      "update operations.idempotency set lease_until = now() - interval '1 second' where answer is null",
    );
  });

  after(async () => {
    await service.stop();
    await database.drop();
    await rm(dyingDir, { recursive: true, force: true });
  });

  async function personWhoAsks(email: string): Promise<{ ask: Ask; headers: Record<string, string> }> {
    const issuer = new DevIssuer(database.pool, devIssuerUrl(service.url));
    const headers = { Authorization: `Bearer ${await issuer.idToken(findPerson(email))}` };
    const ask: Ask = async (method, path, body) => {
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const json = { ...headers, 'Content-Type': 'application/json' };
      const answer = await service.fhir(service.url + path, { method, headers: json, ...sent });
      expect(answer.status, `${method} ${path}: ${answer}`).to.be.lessThan(300);
      return answer;
    };
    return { ask, headers };
  }

  for (const name of NAMES) {
    it(`${name}: one of it, and what it holds works`, async () => {
      for (const { kill, ask, request } of killed.get(name) ?? []) {
        const answer = await retry(service, request);
        expect(answer.status, answer.text).to.equal(kill.status);
        const listed = await ask('GET', kill.list);
        expect(listed.json.total, listed.text).to.equal(1);
        const key = /"key":"(sk_test_[\w-]+)"/.exec(answer.text)?.[1];
        expect(key === undefined, answer.text).to.equal(!/^key|^quickstart/.test(name));
        if (key !== undefined) {
          const headers = { Authorization: `Bearer ${key}` };
          expect((await service.fhir('/Patient', { headers })).status).to.equal(200);
        }
        if (name === 'application') expect(answer.json.client_secret).to.be.a('string').of.length.above(40);
      }
      tell(`${name}: ${killed.get(name)?.length} kills`);
    });
  }
});
