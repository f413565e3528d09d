/**
 * Two projects, each of which owns records with a grant to the other's application (docs/spec/interface.md, section 1;
 * docs/spec/decisions.md, sections 1 and 9). With its token, an application learns nothing outside its grant. With its key, a
 * project sees only its own records. Both hold whatever ids and cursors are used. Anything that they may not know is answered
 * like something that never existed.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { newUuid } from '#src/shared/ids.ts';
import { signIn } from '#test/support/admin.ts';
import { inParallel } from '#test/support/audit.ts';
import { Granting } from '#test/support/granted.ts';
import { comparable, differenceOf, nextOf } from '#test/support/grants/compare.ts';
import { type WorldWithGrant, worldWithGrant } from '#test/support/grants/granted-world.ts';
import { type Seen, seenOf } from '#test/support/grants/model.ts';
import {
  type Asked,
  type Names,
  Picks,
  type Place,
  placesOf,
  reads,
  requestAt,
} from '#test/support/grants/requests.ts';
import { coveredBy, mixedScopes, scopeTexts, type TypeScope } from '#test/support/grants/scopes.ts';
import { plans } from '#test/support/grants/world.ts';
import { versionsOf } from '#test/support/grants/write.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { Answer } from '#test/support/service.ts';
import { counted, tell } from '#test/support/tell.ts';

/** Maximum number of differences to report. */
const MOST = 8;
/** How long a read model may lag, in ms. Until it has caught up, 503 is allowed. */
const LAG_MS = 20_000;
const ANY_UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi;
/** Numbers that choose a request. */
const choices = fc.array(fc.nat(1_000_000), { minLength: 28, maxLength: 28 });

/** One project's records, and a grant for the other project's application on one of them. */
interface Side extends WorldWithGrant {
  readonly scopes: readonly TypeScope[];
  /** Everything that any letter of the grant makes visible. */
  readonly seen: Seen;
}

/** Who asks. */
interface Actor {
  readonly name: string;
  readonly token: string;
  /** True for an application, whose requests must be accepted. */
  readonly isGranted: boolean;
  /** Ids in either project that the actor must not learn. */
  readonly hidden: ReadonlySet<string>;
  /** The names that the actor's requests use. */
  readonly names: readonly Names[];
}

describe('two projects with grants to each other', () => {
  let service: InProcess;
  let granting: Granting;
  let register: (name: string) => ReturnType<Granting['register']>;
  let places: readonly Place[];
  const statuses = new Map<string, number>();

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Both' });
    register = async (name) => {
      const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name });
      return granting.register(owner, id);
    };
    places = placesOf(service.url).filter(reads);
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  async function sendOnce(token: string, { method, url, headers, body }: Asked): Promise<Answer> {
    const response = await fetch(service.url + url, {
      method,
      redirect: 'manual',
      headers: { ...headers, Authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body }),
    });
    return new Answer(response.status, response.headers, await response.text());
  }

  async function send(token: string, asked: Asked): Promise<Answer> {
    let answer = await sendOnce(token, asked);
    const isCurrent = async () => {
      if (answer.status === 503) answer = await sendOnce(token, asked);
      return answer.status !== 503;
    };
    await eventually(isCurrent, LAG_MS).catch(() => undefined);
    return answer;
  }

  /** Builds both projects, and returns the actors that send requests. */
  async function built(seed: number): Promise<Actor[]> {
    const sides: Side[] = [];
    for (const n of [0, 1]) {
      const [[plan, scopes] = [undefined, undefined]] = fc.sample(fc.tuple(plans, mixedScopes), {
        seed: 2 * seed + n,
        numRuns: 1,
      });
      if (plan === undefined || scopes === undefined) throw new RangeError('no world');
      const made = await worldWithGrant(service, granting, await register(`App ${seed} ${n}`), plan, scopes);
      sides.push({ ...made, scopes, seen: seenByAny(made, scopes) });
    }
    const [one, other] = sides;
    if (one === undefined || other === undefined) throw new RangeError('no sides');
    return [one, other].flatMap((own) => {
      const theirs = own === one ? other : one;
      return [
        actorOf(`application with ${scopeTexts(own.scopes).join(' ')}`, own, theirs, true),
        actorOf('key', own, theirs, false),
      ];
    });
  }

  /** Returns the application that has the grant on a side's record, or the key of that side. */
  function actorOf(name: string, own: Side, theirs: Side, isGranted: boolean): Actor {
    const all = [own, theirs].flatMap(({ world, allowed }) => [
      ...versionsOf(world).map(({ id }) => id),
      allowed.patient,
    ]);
    // A visible resource may refer to a hidden one in the same record.
    const named = JSON.stringify([own.seen.record, own.seen.directory]).match(ANY_UUID) ?? [];
    const shown = isGranted ? named : versionsOf(own.world).map(({ id }) => id);
    const namesOf = ({ world, seen, allowed }: Side): Names => ({ world, seen, patient: allowed.patient });
    const [ownNames, theirNames] = [namesOf(own), namesOf(theirs)];
    const patient = isGranted ? own.allowed.patient : own.world.mine;
    return {
      ...{ name, isGranted, token: isGranted ? own.allowed.token : own.key },
      hidden: new Set(all.filter((id) => !shown.includes(id))),
      names: [
        theirNames,
        theirNames,
        { ...theirNames, patient },
        { ...ownNames, patient },
        { ...ownNames, seen: theirs.seen, patient },
      ],
    };
  }

  /** Sends a request, and sends it again with hidden ids replaced by ids that never existed. Returns what is wrong. */
  async function ask(
    { token, hidden, isGranted }: Actor,
    place: Place,
    asked: Asked,
  ): Promise<string | undefined> {
    const what = `${asked.method} ${asked.url} ${JSON.stringify(asked.headers)} ${asked.body ?? ''}`;
    const answer = await send(token, asked);
    const tally = `${isGranted ? 'application' : 'key'} ${answer.status}`;
    statuses.set(tally, (statuses.get(tally) ?? 0) + 1);
    if (isGranted && !place.taken && answer.status !== 403) return `${what}: ${answer.status}, not 403`;
    const told = leaks(answer, hidden, `${asked.url} ${asked.body ?? ''}`);
    if (told.length > 0) return `${what}: shows ${told.join()}: ${answer.text}`;
    const nevers = new Map<string, string>();
    const never = (text: string) =>
      text.replaceAll(ANY_UUID, (found) => {
        const id = found.toLowerCase();
        if (!hidden.has(id)) return found;
        const instead = nevers.get(id) ?? newUuid();
        nevers.set(id, instead);
        return found === id ? instead : instead.toUpperCase();
      });
    const other = {
      ...asked,
      url: never(asked.url),
      ...(asked.body === undefined ? {} : { body: never(asked.body) }),
    };
    if (nevers.size === 0) return undefined;
    let unknown = comparable(await send(token, other));
    for (const [id, instead] of nevers)
      unknown = unknown.replaceAll(instead, id).replaceAll(instead.toUpperCase(), id.toUpperCase());
    const difference = differenceOf(comparable(answer), unknown);
    return difference === undefined
      ? undefined
      : `${what}: unlike ids that never were ("model"): ${difference}`;
  }

  /** Tries to continue other actors' lists; returns what is wrong. */
  async function continued(actors: readonly Actor[]): Promise<string[]> {
    const wrong: string[] = [];
    const lists = [
      '/fhir/R4/Patient?_count=1',
      '/fhir/R4?_count=1',
      '/fhir/R4/_history?_count=1',
      '/v1/patients?limit=1',
    ];
    for (const list of lists) {
      const of = (url: string): Asked => ({ method: 'GET', url, headers: {}, type: undefined });
      for (const from of actors) {
        const next = nextOf((await send(from.token, of(list))).text, list);
        if (next === undefined) continue;
        for (const { name, token, hidden, isGranted } of actors) {
          if (token === from.token) continue;
          const answer = await send(token, of(next));
          const told = leaks(answer, hidden, next);
          if (told.length > 0) wrong.push(`${name} continues ${next}: shows ${told.join()}`);
          if (isGranted && ![400, 422].includes(answer.status))
            wrong.push(`${name} continues ${next}: ${answer}`);
        }
      }
    }
    return wrong;
  }

  it('tell each other nothing but what the grants cover', async function () {
    const worlds = scaled(15, 1);
    const each = scaled(200, 60);
    this.timeout(180_000 + worlds * each * 200);
    const seed = steadySeed();
    const wrong: string[] = [];
    for (let n = 0; n < worlds && wrong.length < MOST; n += 1) {
      const actors = await built(seed + n);
      const all = fc.sample(choices, { seed: seed + n, numRuns: each });
      await inParallel([...all.entries()], 4, async ([at, numbers]) => {
        const picks = new Picks(numbers);
        const actor = picks.of(actors);
        // Every eighth request is sent to any route.
        const place = picks.of(at % 8 === 0 ? places : places.filter(({ taken }) => taken));
        if (!actor.isGranted && !place.taken) return;
        const found = await ask(actor, place, requestAt(place, picks.of(actor.names), picks));
        if (found !== undefined) wrong.push(`seed ${seed + n}, ${actor.name}: ${found}`);
      });
      wrong.push(...(await continued(actors)));
    }
    tell(`requests of two projects with grants to each other, by status: ${counted(statuses)}`);
    expect(wrong.slice(0, MOST).join('\n\n')).to.equal('');
  });
});

/** Returns everything that any letter of a grant makes visible. */
function seenByAny({ world, allowed }: WorldWithGrant, scopes: readonly TypeScope[]): Seen {
  const all = [...'rs'].map((letter) => seenOf(world, coveredBy(scopes, letter), allowed.patient));
  const record = all.flatMap((each) => each.record);
  return { record, directory: world.directory, gaps: new Set() };
}

/** Returns the hidden ids that a response shows, in plain text or in base64, ignoring ids from the request. */
function leaks({ text, headers }: Answer, hidden: ReadonlySet<string>, request: string): string[] {
  const sent = request.toLowerCase();
  const all = [text, ...[...headers].map(([, value]) => value)].join('\n');
  const decoded = (all.match(/[\w+/=-]{48,}/g) ?? []).map((word) =>
    Buffer.from(word, 'base64').toString('latin1'),
  );
  const found = [all, ...decoded].join('\n').match(ANY_UUID) ?? [];
  return [...new Set(found.map((id) => id.toLowerCase()))].filter(
    (id) => hidden.has(id) && !sent.includes(id),
  );
}
