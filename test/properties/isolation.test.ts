/** Content of other projects and environments looks the same as unknown content (docs/spec/interface.md, sections 1 and 7). */
import { expect } from 'chai';
import fc from 'fast-check';
import { newUuid } from '#src/shared/ids.ts';
import { nowMicros, toInstant } from '#src/shared/time/time.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { asksOf, type Own, refusals } from '#test/support/isolation/asks.ts';
import { shown } from '#test/support/isolation/shown.ts';
import {
  type Named,
  neverLike,
  SECRET,
  type Theirs,
  token,
  writeTheirs,
} from '#test/support/isolation/theirs.ts';
import { productionKey } from '#test/support/project.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { counted, tell } from '#test/support/tell.ts';

interface Intruder {
  readonly name: string;
  readonly key: string;
  readonly own: Own;
  /**
   * An id that never existed for each of the owner's resources. It is the same in every comparison, because writes leave
   * traces of both ids.
   */
  readonly nevers: Map<Named, Named>;
}

describe('isolation of projects and environments', () => {
  let service: InProcess;
  let theirs: Theirs;
  let intruders: readonly Intruder[];
  /** Number of responses about the other owner's resources, by status. */
  const answered = new Map<string, number>();

  before(async () => {
    service = await startInProcess();
    theirs = await writeTheirs(service, service.key);
    const intruder = async (name: string, key: string): Promise<Intruder> => {
      const create = async (type: string) => {
        const body = JSON.stringify({ resourceType: type });
        return `${type}/${String((await service.fhir(`/${type}`, { method: 'POST', body, key })).json.id)}`;
      };
      const own = {
        patient: await create('Patient'),
        practitioner: await create('Practitioner'),
        moment: toInstant(nowMicros()),
      };
      return { name, key, own, nevers: new Map() };
    };
    intruders = [
      await intruder('another project', await service.newProject()),
      await intruder(
        'the other environment',
        await productionKey(service.databaseUrl, service.pool, service.key),
      ),
    ];
  });
  after(() => service.stop());

  /** Requests another owner's resource and a resource that never existed: the responses must not differ. */
  async function compare({ key, own, nevers }: Intruder, named: Named, pick: number): Promise<void> {
    const never = nevers.get(named) ?? neverLike(named);
    nevers.set(named, never);
    const [asks, others] = [asksOf(named, own), asksOf(never, own)];
    const [ask, other] = [asks[pick % asks.length], others[pick % others.length]];
    if (ask === undefined || other === undefined) throw new RangeError('no such request');
    const found = await service.fhir(ask.path, { ...ask.call, key });
    const unknown = await service.fhir(other.path, { ...other.call, key });
    answered.set(`${found.status}`, (answered.get(`${found.status}`) ?? 0) + 1);
    expect(shown(found, named)).to.equal(shown(unknown, never));
    expect(leaks(found.text, theirs, named.id), found.text).to.deep.equal([]);
    if (ask.direct) expect(refusals(ask), found.text).to.include(found.status);
  }

  it('every request about an id of theirs is answered as for an id that never was', async function () {
    const runs = scaled(5_000, 10);
    this.timeout(60_000 + runs * 100);
    const one = fc.tuple(
      fc.constantFrom(...intruders),
      fc.constantFrom(...theirs.named),
      fc.integer({ min: 0, max: 1_000_000 }),
    );
    await fc.assert(
      fc.asyncProperty(one, async ([intruder, named, pick]) => {
        await compare(intruder, named, pick);
      }),
      { numRuns: runs, seed: steadySeed(), endOnFailure: true },
    );
    tell(`pairs of requests by the status of both: ${counted(answered)}`);
  });

  it('every way of asking, once for each kind of id', async () => {
    for (const [index, type] of ['Patient', 'Practitioner', 'Organization', 'Provenance'].entries()) {
      const named = theirs.named.findLast((each) => each.type === type);
      const intruder = intruders[index % intruders.length];
      if (named === undefined || intruder === undefined) throw new Error(`there should be a ${type}`);
      const { length } = asksOf(named, intruder.own);
      for (let pick = 0; pick < length; pick += 1) await compare(intruder, named, pick);
    }
  });

  it('no listing, count or history shows anything of theirs', async () => {
    const stranger = await service.newProject();
    const paths = [
      '/Patient',
      '/Observation',
      '/Practitioner',
      '/Provenance',
      '/?_type=Patient,Observation',
      '/_history',
    ];
    for (const path of [
      ...paths,
      '/Patient/_history',
      '/Observation?_include=*&_revinclude=*',
      '/Patient?_sort=-_lastUpdated',
    ]) {
      const empty = await service.fhir(path, { key: stranger });
      expect([empty.status, empty.json.total], path).to.deep.equal([200, 0]);
      for (const { key } of intruders) {
        const answer = await service.fhir(path, { key });
        expect(answer.status, path).to.equal(200);
        expect(leaks(answer.text, theirs), path).to.deep.equal([]);
      }
    }
  });

  it('a page of their listing shows nothing to others', async () => {
    expect((await service.fhir(theirs.next)).text).to.contain(SECRET);
    for (const { key } of intruders)
      expect(leaks((await service.fhir(theirs.next, { key })).text, theirs)).to.deep.equal([]);
  });

  it('an Idempotency-Key of theirs is a new one to others', async () => {
    const write = (idempotency: string, key: string, family: string) =>
      service.fhir('/Patient', {
        method: 'POST',
        key,
        headers: { 'Idempotency-Key': idempotency },
        body: JSON.stringify({ resourceType: 'Patient', name: [{ family }] }),
      });
    for (const { key } of intruders) {
      for (const family of [SECRET, 'Other']) {
        const taken = newUuid();
        expect((await write(taken, service.key, SECRET)).status).to.equal(201);
        const [known, fresh] = [await write(taken, key, family), await write(newUuid(), key, family)];
        expect(shown(known)).to.equal(shown(fresh));
        expect(known.headers.get('idempotent-replayed')).to.equal(null);
      }
    }
  });

  it('metrics and log lines hold no id, identifier or text of anybody', async () => {
    const { named } = theirs;
    const [{ id, marker } = { id: '', marker: '' }] = named;
    await service.fhir(`/Patient/${id}?name=${SECRET}`);
    await service.fhir(`/Patient?identifier=${token(marker)}&name=${SECRET}`);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    for (const text of [metrics, service.log.join('\n')]) {
      expect(text.length).to.be.greaterThan(100);
      expect(text).not.to.contain(SECRET);
      expect(named.filter((each) => text.includes(each.id) || text.includes(each.marker))).to.deep.equal([]);
      for (const { key } of intruders) expect(text).not.to.contain(key);
    }
  });

  it('takes as long for an id of theirs as for one that never was', async function () {
    const rounds = scaled(400, 6);
    this.timeout(60_000 + rounds * 1_000);
    const named = theirs.named.filter(({ type }) => type === 'Patient')[0];
    const [intruder] = intruders;
    if (named === undefined || intruder === undefined) throw new Error('somebody is missing');
    const ways: readonly ((id: string) => [string, string?, string?])[] = [
      (id) => [`/Patient/${id}`],
      (id) => [`/Patient/${id}/_history`],
      (id) => [`/Patient?_id=${id}`],
      (id) => [`/Patient/${id}`, 'PUT', JSON.stringify({ resourceType: 'Patient', id })],
      (id) => [`/Patient/${id}`, 'DELETE'],
    ];
    const never = newUuid();
    for (const way of ways) {
      const ask = async (id: string): Promise<number> => {
        const [path, method = 'GET', body] = way(id);
        const started = performance.now();
        await service.fhir(path, { method, key: intruder.key, ...(body === undefined ? {} : { body }) });
        return performance.now() - started;
      };
      for (let round = 0; round < 10; round += 1) await ask(never);
      // Times vary by chance, but a request that is slower for a known id is slower every time.
      let found = '';
      for (let attempt = 0; attempt < 5; attempt += 1) {
        found = await differenceOf(ask, { theirs: named.id, never }, rounds * 2 ** attempt);
        if (found === '') break;
      }
      expect(found, way('ID').join(' ')).to.equal('');
    }
  });

  it('nothing of theirs was changed by all that', async () => {
    const deleted = await service.fhir('/Observation/_history');
    expect(deleted.status).to.equal(200);
    for (const { type, id } of theirs.named) {
      const answer = await service.fhir(`/${type}/${id}/_history`);
      const versions = /"method":"DELETE"/.test(answer.text) ? 2 : 1;
      expect([answer.status, answer.json.total], `${type}/${id}`).to.deep.equal([200, versions]);
    }
  });
});

/** Returns which of the other owner's ids a text shows, ignoring the requested id. */
function leaks(text: string, { ids }: Theirs, asked?: string): string[] {
  const told = [...text.matchAll(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g)]
    .map(([id]) => id)
    .filter((id) => id !== asked && ids.has(id));
  return text.includes(SECRET) ? [...told, SECRET] : told;
}

/**
 * Measures two ids alternately.
 * @returns how far their medians differ, if that is more than the times for a single id vary; otherwise ''
 */
async function differenceOf(
  ask: (id: string) => Promise<number>,
  ids: { readonly theirs: string; readonly never: string },
  rounds: number,
): Promise<string> {
  const times = { theirs: [] as number[], never: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    // Each id goes first equally often, so that a slow machine affects both.
    const order = round % 2 === 0 ? (['theirs', 'never'] as const) : (['never', 'theirs'] as const);
    for (const which of order) times[which].push(await ask(ids[which]));
  }
  const [known, unknown] = [quartiles(times.theirs), quartiles(times.never)];
  const spread = Math.max(known.upper - known.lower, unknown.upper - unknown.lower);
  const difference = Math.abs(known.median - unknown.median);
  return difference < spread ? '' : `medians ${difference} ms apart, quartiles ${spread} ms`;
}

function quartiles(times: readonly number[]): { lower: number; median: number; upper: number } {
  const sorted = [...times].sort((a, b) => a - b);
  const at = (part: number) => sorted[Math.floor(sorted.length * part)] ?? 0;
  return { lower: at(0.25), median: at(0.5), upper: at(0.75) };
}
