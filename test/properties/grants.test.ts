/**
 * What an application learns under a grant equals what the owner of a record learns that has nothing but what the grant
 * covers: random records, grants and requests at every route of the OpenAPI document (docs/spec/decisions.md, sections 1
 * and 9).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { Pool } from 'pg';
import { newUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time.ts';
import { BEGAN } from '#test/projections/made.ts';
import { signIn } from '#test/support/admin.ts';
import { inParallel } from '#test/support/audit.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { comparable, differenceOf, formsIn, nextOf } from '#test/support/grants/compare.ts';
import { type Covered, type Seen, scopesOf, seenOf } from '#test/support/grants/model.ts';
import { type Asked, Picks, type Place, placesOf, requestAt } from '#test/support/grants/requests.ts';
import {
  CATEGORIES,
  plans,
  type Version,
  WITH_CATEGORY,
  WORLD_TYPES,
  type World,
  worldOf,
} from '#test/support/grants/world.ts';
import { writeDirectory, writeRecord } from '#test/support/grants/write.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { foundProject } from '#test/support/project.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { Answer } from '#test/support/service.ts';
import { counted, tell } from '#test/support/tell.ts';

/** Pages of a search that are followed. */
const PAGES = 4;
/** Differences that are reported. */
const MOST = 12;

/** What is covered of each type: nothing, all, or categories. */
const covered: fc.Arbitrary<Covered> = fc
  .tuple(
    ...[...WORLD_TYPES, 'Provenance'].map((type) => {
      const limits: fc.Arbitrary<'all' | readonly string[] | undefined>[] = [
        fc.constant(undefined),
        fc.constant('all' as const),
      ];
      if (WITH_CATEGORY.some((each) => each === type))
        limits.push(fc.subarray([...CATEGORIES], { minLength: 1, maxLength: 2 }));
      return fc.oneof(...limits).map((limit) => [type, limit] as const);
    }),
  )
  .map(
    (all) => new Map(all.flatMap(([type, limit]) => (limit === undefined ? [] : [[type, limit] as const]))),
  );

/** Numbers that choose a request. */
const choices = fc.array(fc.nat(1_000_000), { minLength: 24, maxLength: 24 });

describe('what a grant covers', () => {
  let real: InProcess;
  let model: InProcess;
  let granting: Granting;
  let modelEvents: RecordEvents;
  let application: Application;
  let places: readonly Place[];
  const statuses = new Map<string, number>();

  before(async () => {
    real = await startInProcess();
    model = await startInProcess({}, { BASE_URL: real.url });
    granting = await Granting.open(real);
    modelEvents = await RecordEvents.open(model.databaseUrl);
    const owner = await signIn(real, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    application = await granting.register(owner, id);
    places = placesOf(real.url);
  });
  after(async () => {
    await granting?.close();
    await modelEvents?.close();
    await real?.stop();
    await model?.stop();
  });

  /** A world in both services: as it is, and what the grant covers of it. */
  interface Both {
    readonly world: World;
    readonly seen: Seen;
    readonly allowed: Allowed;
    /** A key of the project that has what is covered. */
    readonly key: string;
  }

  async function written(pool: Pool, versions: readonly Version[]): Promise<void> {
    const ids = [...new Set(versions.map(({ id }) => id))];
    const sql = `select (select count(*) from history.version v where v.id = any($1::uuid[]))::int as versions,
      (select count(*) from resources.resource r where r.id = any($1::uuid[]))::int as resources,
      (select count(*) from timeline.checkpoint)::int as timelines`;
    await eventually(async () => {
      const { rows } = await pool.query<{ versions: number; resources: number }>(sql, [ids]);
      return rows[0]?.versions === versions.length && rows[0].resources === ids.length;
    });
  }

  async function build(plan: Parameters<typeof worldOf>[0], of: Covered): Promise<Both> {
    const world = worldOf(plan);
    const [owner, holder] = [await foundProject(real.databaseUrl), await foundProject(model.databaseUrl)];
    const all = [...world.directory, ...Object.values(world.records).flat()];
    const names = new Map(
      all.map(({ id, version }, n) => [`${id}/${version}`, { at: (BEGAN + n) as Micros, id: newUuid() }]),
    );
    const stamps = (patient?: string) => (version: Version) => {
      const id = version.id === patient ? world.mine : version.id;
      const found = names.get(`${id}/${version.version}`);
      if (found === undefined) throw new RangeError(`${id} has no such version`);
      return found;
    };
    const tenant = { project: owner.project, environment: 'sandbox' } as const;
    await writeDirectory(granting.events.store, tenant, world.directory, stamps());
    for (const [record, versions] of Object.entries(world.records))
      await writeRecord(granting.events.store, tenant, record, versions, stamps());
    await written(real.pool, all);
    const allowed = await granting.allow(application, world.mine, { scopes: scopesOf(of) });
    const { patient } = allowed;
    const seen = seenOf(world, of, patient);
    const held = { project: holder.project, environment: 'sandbox' } as const;
    await writeDirectory(modelEvents.store, held, seen.directory, stamps());
    await writeRecord(modelEvents.store, held, patient, seen.record, stamps(patient));
    await written(model.pool, [...seen.directory, ...seen.record]);
    return { world, seen, allowed, key: holder.key };
  }

  async function send(at: string, token: string, { method, url, headers, body }: Asked): Promise<Answer> {
    const response = await fetch(at + url, {
      method,
      redirect: 'manual',
      headers: { ...headers, Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body }),
    });
    return new Answer(response.status, response.headers, await response.text());
  }

  /** Asks both services; returns how their answers differ, or what is wrong with one. */
  async function compare(
    { world, allowed, key }: Both,
    of: Covered,
    place: Place,
    asked: Asked,
  ): Promise<string | undefined> {
    const what = `${asked.method} ${asked.url} ${JSON.stringify(asked.headers)} ${asked.body ?? ''}`;
    const isEchoed = (asked.url + (asked.body ?? '')).toLowerCase().includes(world.mine);
    let [ours, theirs]: [Asked | undefined, Asked | undefined] = [asked, asked];
    for (let page = 0; ours !== undefined && theirs !== undefined && page < PAGES; page += 1) {
      const answer = await send(real.url, allowed.token, ours);
      const tally = `${place.path.startsWith('/fhir') ? 'FHIR' : 'others'} ${answer.status}`;
      statuses.set(tally, (statuses.get(tally) ?? 0) + 1);
      const forms = isEchoed ? [] : formsIn(world.mine, answer);
      if (forms.length > 0) return `${what}: shows the real id, ${forms.join()}: ${answer.text}`;
      if (!place.taken) return answer.status === 403 ? undefined : `${what}: ${answer.status}, not 403`;
      if (answer.status === 403) {
        const [, outside = ''] = /(\w+) is outside the grant/.exec(answer.text) ?? [];
        return outside === '' || of.has(outside) ? `${what}: ${answer.text}` : undefined;
      }
      const owned = await send(model.url, key, theirs);
      const difference = isOwn(place.path) ? undefined : differenceOf(comparable(answer), comparable(owned));
      if (difference !== undefined) return `${what}, page ${page + 1}: ${difference}`;
      const next: string | undefined = nextOf(answer.text, ours.url);
      const other: string | undefined = nextOf(owned.text, theirs.url);
      ours = next === undefined ? undefined : { method: 'GET', url: next, headers: {}, type: asked.type };
      theirs = other === undefined ? undefined : { method: 'GET', url: other, headers: {}, type: asked.type };
    }
    return undefined;
  }

  it('is all that an application learns, at every route', async function () {
    const worlds = scaled(300, 4);
    const each = scaled(400, 100);
    this.timeout(60_000 + worlds * each * 100);
    const seed = steadySeed();
    const different: string[] = [];
    let asked = 0;
    for (let n = 0; n < worlds && different.length < MOST; n += 1) {
      const sampled = { seed: seed + n, numRuns: 1 };
      const [[plan, of] = [undefined, undefined]] = fc.sample(fc.tuple(plans, covered), sampled);
      if (plan === undefined || of === undefined) throw new RangeError('no world');
      const both = await build(plan, of);
      const names = { ...both, patient: both.allowed.patient };
      const all = fc.sample(choices, { seed: seed + n, numRuns: each });
      await inParallel([...all.entries()], 4, async ([at, numbers]) => {
        // Every fifth at any route, the others where the token is taken.
        const among = at % 5 === 0 ? places : places.filter((place) => place.taken);
        const place = new Picks([(numbers[0] ?? 0) + at]).of(among);
        const request = requestAt(place, names, new Picks(numbers.slice(1)));
        if (request === undefined) return;
        asked += 1;
        const found = await compare(both, of, place, request);
        if (found !== undefined) different.push(`seed ${seed + n}, ${scopesOf(of).join(' ')}: ${found}`);
      });
    }
    tell(`requests under random grants, by status: ${counted(statuses)}`);
    expect(different.slice(0, MOST).join('\n\n')).to.equal('');
    expect(asked).to.be.greaterThan(worlds * each * 0.5);
  });
});

/** Tells whether an answer is about what the application itself has: its grants and proposals. */
function isOwn(path: string): boolean {
  return /\/(?:grants|proposals)\b/.test(path);
}
