import { EventEmitter, once } from 'node:events';
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { scaled } from '#test/support/scale.ts';
import { storeResources } from '#test/support/search/store.ts';
import { tell } from '#test/support/tell.ts';

/** Number of results to page through, and the page size. */
const COUNT = scaled(5_000, 250);
const PAGE = scaled(50, 25);
const WRITERS = 8;
const PATIENTS = 10;
const SORTS = ['_id', '-_id', '_lastUpdated', '-_lastUpdated', 'date', '-date'];

interface Page {
  readonly entry?: readonly { readonly resource: { readonly id: string } }[];
  readonly link: readonly { readonly relation: string; readonly url: string }[];
}

/**
 * Pages don't skip or repeat results: https://hl7.org/fhir/R4/http.html#paging, and docs/spec/decisions.md, section 5
 * "Search".
 */
describe('paging through results while 8 writers add, change and delete', function () {
  this.timeout(scaled(900_000, 120_000));
  let service: InProcess;
  const patients = Array.from({ length: PATIENTS }, () => newUuid());
  const ids = Array.from({ length: COUNT }, () => newUuid());
  /**
   * Returns what happens to a resource during the walks: a tenth are deleted, a tenth move to a different date, and three
   * tenths change in another way.
   */
  const fate = (n: number) =>
    (['deleted', 'moved', 'changed', 'changed', 'changed'] as const)[n % 10] ?? 'kept';
  const ownerOf = (n: number) => patients[n % PATIENTS] ?? '';
  const observation = (n: number, day: number, rest: object = {}) => ({
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'urn:paged', code: 'walk' }] },
    subject: { reference: `Patient/${ownerOf(n)}` },
    // Forty resources share a day, so that pages begin and end among resources that sort as equal.
    effectiveDateTime: new Date(Date.UTC(2020, 0, 1 + day)).toISOString().slice(0, 10),
    ...rest,
  });

  /** Deletions that were acknowledged. */
  const deleted = new Set<string>();
  let writes = 0;
  const written = new EventEmitter().setMaxListeners(SORTS.length + 1);
  let walking = true;

  before(async () => {
    service = await startInProcess();
    const made = ids.map((id, n) => ({
      type: 'Observation',
      id,
      record: ownerOf(n),
      body: observation(n, Math.floor((n * 7) % COUNT) / 40),
    }));
    await storeResources(service, service.key, [
      ...patients.map((id) => ({ type: 'Patient', id, record: id, body: {} })),
      ...made,
    ]);
  });
  after(() => service.stop());

  async function write(method: string, path: string, body?: object): Promise<void> {
    const answer = await service.fhir(path, {
      method,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    expect(answer.status, `${method} ${path}: ${answer}`).to.be.lessThan(300);
    writes += 1;
    written.emit('one');
  }

  /** Runs one of the writers, which changes its share of the resources one after another until the walks have ended. */
  async function writer(own: number): Promise<void> {
    for (let n = own; walking; n += WRITERS) {
      const at = n % COUNT;
      const id = ids[at] ?? '';
      const what = fate(at);
      if (what === 'deleted' && n < COUNT) {
        await write('DELETE', `/Observation/${id}`);
        deleted.add(id);
      } else if (what === 'moved') {
        await write('PUT', `/Observation/${id}`, { ...observation(at, (n * 13) % 400), id });
      } else if (what === 'changed') {
        const day = Math.floor((at * 7) % COUNT) / 40;
        await write('PUT', `/Observation/${id}`, { ...observation(at, day, { valueInteger: n }), id });
      } else {
        await write('POST', '/Observation', observation(at, (n * 11) % 400));
      }
    }
  }

  /** Returns the ids on all pages, in order. More is written before each page. */
  async function walk(sort: string): Promise<string[]> {
    const seen: string[] = [];
    let url: string | undefined = `/Observation?code=walk&_sort=${sort}&_count=${PAGE}&_total=none`;
    while (url !== undefined) {
      const gone = new Set(deleted);
      const answer = await service.fhir(url);
      expect(answer.status, `${url}: ${answer}`).to.equal(200);
      const { entry = [], link } = JSON.parse(answer.text) as Page;
      for (const { resource } of entry) {
        expect(gone.has(resource.id), `${sort}: ${resource.id} was deleted before`).to.equal(false);
        seen.push(resource.id);
      }
      url = link.find(({ relation }) => relation === 'next')?.url;
      const enough = writes + WRITERS;
      while (writes < enough && walking) await once(written, 'one');
    }
    return seen;
  }

  it('each resource that was there throughout comes exactly once, whatever the order', async () => {
    const writers = Array.from({ length: WRITERS }, (_, n) => writer(n));
    const failed = Promise.all(writers).then(() => []);
    let walks: string[][];
    try {
      walks = await Promise.race([Promise.all(SORTS.map(walk)), failed]);
    } finally {
      walking = false;
    }
    await failed;
    for (const [at, sort] of SORTS.entries()) {
      const seen = walks[at] ?? [];
      const times = new Map<string, number>();
      for (const id of seen) times.set(id, (times.get(id) ?? 0) + 1);
      for (const [n, id] of ids.entries()) {
        const what = fate(n);
        const count = times.get(id) ?? 0;
        // A resource that moves in the order may appear once, twice or not at all.
        if (what === 'moved' && sort.endsWith('date')) continue;
        if (what === 'deleted') expect(count, `${sort}: deleted ${n}`).to.be.at.most(1);
        else expect(count, `${sort}: ${what} ${n} of ${seen.length}`).to.equal(1);
      }
      if (sort === '_id') expect(seen).to.deep.equal([...seen].sort());
    }
    expect(writes).to.be.at.least((COUNT / PAGE) * WRITERS);
    const walked = SORTS.map((sort, at) => `${sort} ${walks[at]?.length}`).join(', ');
    tell(`${writes} writes meanwhile, ${deleted.size} of them deletions; results walked by order: ${walked}`);
  });
});
