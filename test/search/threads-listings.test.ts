/** Problems that users of other FHIR servers have reported publicly, one test per thread: none of them occurs here. */
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { Asking, type Bundle, idsIn, nextOf, observation, post } from '#test/support/search/asking.ts';
import { storeResources } from '#test/support/search/store.ts';
import { concept, to } from '#test/support/search/table.ts';

describe('published threads about long listings', () => {
  let service: InProcess;
  let asking: Asking;
  before(async () => {
    service = await startInProcess();
    asking = new Asking(service);
  });
  after(() => service.stop());

  it('count on a large set', async () => {
    const key = await service.newProject();
    const record = newUuid();
    const size = 1_200;
    await storeResources(service, key, [
      { type: 'Patient', id: record, record, body: {} },
      ...Array.from({ length: size }, () => ({
        type: 'Observation',
        id: newUuid(),
        record,
        body: { status: 'final', code: concept('urn:many', 'm'), subject: to(`Patient/${record}`) },
      })),
    ]);
    const counted = async (query: string, by = key) => (await asking.search('Observation', query, by)).total;
    expect(await counted('code=m&_summary=count')).to.equal(size);
    expect(await counted('code=m&_count=0')).to.equal(size);
    const first = await asking.search('Observation', 'code=m&_count=200', key);
    expect([first.total, first.entry?.length]).to.deep.equal([size, 200]);
    const second = await asking.get(nextOf(first) ?? '', key);
    expect([second.total, second.entry?.length]).to.deep.equal([size, 200]);
    expect(await counted('code=m&_total=none&_count=1')).to.equal(undefined);
    await service.fhir(`/Observation/${idsIn(first)[0]}`, { method: 'DELETE', key });
    expect(await counted('code=m&_summary=count')).to.equal(size - 1);
    expect(await counted('code=m&_summary=count', service.key)).to.equal(0);
  });

  // hapi-fhir issues 2114, 2725, 3086, 4109 and 7711
  it('history paging', async () => {
    const patient = await asking.create({ resourceType: 'Patient' });
    // All are in one transaction, so that they have nearly the same time.
    const entry = Array.from({ length: 60 }, (_, n) =>
      post(observation(patient, { code: { text: `${n}` } })),
    );
    const made = await asking.send({ type: 'transaction', entry });
    expect(made.status, made.text).to.equal(200);
    const ids = await asking.found('Observation', `patient=${patient}&_count=200&_total=none`);
    expect(ids.length).to.equal(60);
    for (const scope of ['/Observation/_history', '/_history']) {
      const seen: string[] = [];
      let page: Bundle | undefined = await asking.get(`${scope}?_count=7`);
      while (page !== undefined) {
        expect(page.entry ?? [], 'no page is empty').to.not.deep.equal([]);
        seen.push(...(page.entry ?? []).map(({ fullUrl, response }) => `${fullUrl} ${response?.etag}`));
        // Resources written after a listing has begun don't appear in it.
        await asking.observe(patient, { valueString: 'meanwhile' });
        const next = nextOf(page);
        page = next === undefined ? undefined : await asking.get(next);
      }
      expect(new Set(seen).size, scope).to.equal(seen.length);
      for (const id of ids) {
        expect(
          seen.filter((each) => each.includes(`/Observation/${id} `)),
          scope,
        ).to.have.length(1);
      }
    }
  });

  it('history paging of one resource, and of none', async () => {
    const patient = await asking.create({ resourceType: 'Patient' });
    const id = await asking.observe(patient);
    for (let n = 2; n <= 6; n += 1) {
      const body = observation(patient, { id, code: { text: `v${n}` } });
      await service.fhir(`/Observation/${id}`, { method: 'PUT', body: JSON.stringify(body) });
    }
    const first = await asking.get(`/Observation/${id}/_history?_count=4`);
    const second = await asking.get(nextOf(first) ?? '');
    const versions = [first, second].flatMap(({ entry = [] }) => entry.map(({ response }) => response?.etag));
    expect(versions).to.deep.equal([6, 5, 4, 3, 2, 1].map((n) => `W/"${n}"`));
    expect(nextOf(second)).to.equal(undefined);
    const future = await asking.get('/Observation/_history?_since=2999-01-01T00:00:00Z');
    expect([future.entry ?? [], nextOf(future)]).to.deep.equal([[], undefined]);
  });
});
