/**
 * Under a grant, an application sees exactly what an owner would see of a record that contains only what the grant covers.
 * Tested with random records, grants and requests on every route in the OpenAPI document (docs/spec/decisions.md, sections 1
 * and 9).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { newUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { BEGAN } from '#test/projections/made.ts';
import { signIn } from '#test/support/admin.ts';
import { inParallel } from '#test/support/audit.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { comparable, differenceOf, formsIn, nextOf, withoutAutomatic } from '#test/support/grants/compare.ts';
import { type Seen, seenOf } from '#test/support/grants/model.ts';
import {
  type Asked,
  Picks,
  type Place,
  placesOf,
  reachesFurther,
  reads,
  requestAt,
} from '#test/support/grants/requests.ts';
import {
  type Covered,
  coveredBy,
  mixedScopes,
  readingScopes,
  scopeTexts,
  type TypeScope,
} from '#test/support/grants/scopes.ts';
import { plans, type Version, type World, worldOf } from '#test/support/grants/world.ts';
import {
  untilShown,
  versionsOf,
  writeDirectory,
  writeRecord,
  writeWorld,
} from '#test/support/grants/write.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { foundProject } from '#test/support/project.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { Answer } from '#test/support/service.ts';
import { counted, tell } from '#test/support/tell.ts';

/** Maximum number of search pages to follow. */
const PAGES = 4;
/** How long a read model may lag, in ms. Until it has caught up, 503 is allowed. */
const LAG_MS = 20_000;
/** Maximum number of differences to report. */
const MOST = 12;

/**
 * Kinds of worlds. `any`: each type has both `r` and `s`, or neither, and requests go to every route. In the other kinds,
 * letters are mixed, the model contains what the named letters cover, and requests need only these letters.
 */
const KINDS = ['any', 'r', 'any', 's', 'any', 'rs'] as const;
type Kind = (typeof KINDS)[number];

/** Routes that need only certain letters, whatever they show. */
const NEEDING: Readonly<Record<Exclude<Kind, 'any'>, RegExp>> = {
  r: /^\/fhir\/R4\/(?:[A-Z]\w+|\{resource_type\})\/\{rid\}(?:\/_history(?:\/\{vid\})?)?$|^\/v1\/(?:patients|observations|conditions|medications|documents)\/\{\w+\}(?:\/content)?$/,
  s: /^\/fhir\/R4\/(?:Patient\/\{rid\}\/)?(?:[A-Z]\w+|\{resource_type\})(?:\/_search|\/_history)?$|^\/v1\/patients(?:\/\{\w+\}\/(?:observations|conditions|medications|documents))?$/,
  rs: /^\/fhir\/R4(?:\/_search|\/_history|\/Patient\/\{rid\}\/(?:\*(?:\/_search)?|_search|\$everything|\$summary))?$|\/timeline$|^\/v1\/context$/,
};

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
    // test/properties/grant-writes.test.ts covers the writes that grants allow.
    places = placesOf(real.url).filter((place) => !place.taken || reads(place));
  });
  after(async () => {
    await granting?.close();
    await modelEvents?.close();
    await real?.stop();
    await model?.stop();
  });

  /** A world in both services: complete in one, and reduced to what the grant covers in the other. */
  interface Both {
    readonly world: World;
    readonly seen: Seen;
    readonly allowed: Allowed;
    /** A key of the project that contains only what is covered. */
    readonly key: string;
  }

  async function build(
    plan: Parameters<typeof worldOf>[0],
    scopes: readonly TypeScope[],
    of: Covered,
  ): Promise<Both> {
    const world = worldOf(plan);
    const [owner, holder] = [await foundProject(real.databaseUrl), await foundProject(model.databaseUrl)];
    const all = versionsOf(world);
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
    await writeWorld(granting.events.store, tenant, world, stamps());
    await untilShown(real.pool, all);
    const allowed = await granting.allow(application, world.mine, { scopes: scopeTexts(scopes) });
    const { patient } = allowed;
    const seen = seenOf(world, of, patient);
    const held = { project: holder.project, environment: 'sandbox' } as const;
    await writeDirectory(modelEvents.store, held, seen.directory, stamps());
    await writeRecord(modelEvents.store, held, patient, seen.record, stamps(patient));
    await untilShown(model.pool, [...seen.directory, ...seen.record]);
    return { world, seen, allowed, key: holder.key };
  }

  async function sendOnce(at: string, token: string, { method, url, headers, body }: Asked): Promise<Answer> {
    const response = await fetch(at + url, {
      method,
      redirect: 'manual',
      headers: { ...headers, Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body }),
    });
    return new Answer(response.status, response.headers, await response.text());
  }

  /** Sends a request, and repeats it while a read model lags. */
  async function send(at: string, token: string, asked: Asked): Promise<Answer> {
    let answer = await sendOnce(at, token, asked);
    const isCurrent = async () => {
      if (answer.status === 503) answer = await sendOnce(at, token, asked);
      return answer.status !== 503;
    };
    await eventually(isCurrent, LAG_MS).catch(() => undefined);
    return answer;
  }

  /**
   * Sends the request to the model; undefined if the model can't tell. The model has automatic Provenances for everything that
   * it contains, which wildcards don't return without the type. Its histories may lack a first version, which never happens in
   * the service.
   */
  async function modelled({ key, seen }: Both, asked: Asked, of: Covered): Promise<Answer | undefined> {
    const first = seen.gaps.size === 0 ? undefined : await sendOnce(model.url, key, asked);
    if (first?.status === 503 && /history lags behind the record|catching up/.test(first.text))
      return undefined;
    const answer = await send(model.url, key, asked);
    const isWild = /_revinclude(?::iterate)?=\*/.test(
      `${asked.url} ${asked.body ?? ''}`.replaceAll('%3A', ':'),
    );
    return isWild && !of.has('Provenance') ? withoutAutomatic(answer) : answer;
  }

  /** Sends the request to both services. Returns how their responses differ, or what is wrong with one of them. */
  async function compare(both: Both, of: Covered, place: Place, asked: Asked): Promise<string | undefined> {
    const { world, allowed } = both;
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
        // A person's identity needs a scope of its own, which these grants don't have.
        if (place.path === '/oauth/userinfo' && answer.text.includes('insufficient_scope')) return undefined;
        const [, outside = ''] = /(\w+) is outside the grant/.exec(answer.text) ?? [];
        return outside === '' || of.has(outside) ? `${what}: ${answer.text}` : undefined;
      }
      const owned = await modelled(both, theirs, of);
      if (owned === undefined) return undefined;
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
    const worlds = scaled(30, 1);
    const each = scaled(400, 60);
    this.timeout(180_000 + worlds * each * 200);
    const seed = steadySeed();
    const different: string[] = [];
    let asked = 0;
    for (let n = 0; n < worlds && different.length < MOST; n += 1) {
      const sampled = { seed: seed + n, numRuns: 1 };
      const kind = KINDS[(seed + n) % KINDS.length] ?? 'any';
      const random = fc.tuple(plans, kind === 'any' ? readingScopes : mixedScopes);
      const [[plan, scopes] = [undefined, undefined]] = fc.sample(random, sampled);
      if (plan === undefined || scopes === undefined) throw new RangeError('no world');
      const of = coveredBy(scopes, kind === 'any' ? 'rs' : kind);
      const both = await build(plan, scopes, of);
      const taking = places.filter(
        ({ taken, path }) => taken && (kind === 'any' || NEEDING[kind].test(path)),
      );
      const names = { ...both, patient: both.allowed.patient };
      const all = fc.sample(choices, { seed: seed + n, numRuns: each });
      await inParallel([...all.entries()], 4, async ([at, numbers]) => {
        // Every fifth request is sent to any route, and the others to routes that accept the token.
        const among = at % 5 === 0 && kind === 'any' ? places : taking;
        const place = new Picks([(numbers[0] ?? 0) + at]).of(among);
        const request = requestAt(place, names, new Picks(numbers.slice(1)));
        asked += 1;
        // The model contains nothing for which the grant has only `s`.
        if (kind === 'rs' && reachesFurther(request)) return;
        const found = await compare(both, of, place, request);
        if (found !== undefined)
          different.push(`seed ${seed + n}, ${scopeTexts(scopes).join(' ')}: ${found}`);
      });
    }
    tell(`requests under random grants, by status: ${counted(statuses)}`);
    expect(different.slice(0, MOST).join('\n\n')).to.equal('');
    expect(asked).to.equal(worlds * each);
  });
});

/** Returns whether a path is about the application's own data: its grants and proposals. */
function isOwn(path: string): boolean {
  return /\/(?:grants|proposals)\b/.test(path);
}
