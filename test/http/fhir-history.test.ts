import { expect } from 'chai';
import type { JsonObject } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Entry {
  readonly fullUrl: string;
  readonly resource?: JsonObject & { id: string; meta: { versionId: string; lastUpdated: string } };
  readonly request: { readonly method: string; readonly url: string };
  readonly response: { readonly status: string; readonly etag: string; readonly lastModified: string };
}
interface Bundle {
  readonly type: string;
  readonly total: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly Entry[];
}

/** https://hl7.org/fhir/R4/http.html#history */
describe('FHIR history', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const patient = (family: string, id?: string) => ({
    resourceType: 'Patient',
    ...(id === undefined ? {} : { id }),
    name: [{ family }],
  });
  const create = async (family: string): Promise<string> =>
    String((await service.post('/Patient', patient(family))).json.id);
  const update = (id: string, family: string) =>
    service.fhir(`/Patient/${id}`, { method: 'PUT', body: JSON.stringify(patient(family, id)) });
  const page = async (path: string): Promise<Bundle> => {
    const answer = await service.fhir(path);
    expect(answer.status, answer.text).to.equal(200);
    return JSON.parse(answer.text) as Bundle;
  };
  const next = (bundle: Bundle) => bundle.link.find(({ relation }) => relation === 'next')?.url;
  const key = ({ fullUrl, response }: Entry) => `${fullUrl} ${response.etag}`;
  /** Returns all pages from the given path on, running `meanwhile` between pages. */
  const walk = async (path: string, meanwhile: () => Promise<unknown> = async () => undefined) => {
    const entries: Entry[] = [];
    let pages = 0;
    for (let url: string | undefined = path; url !== undefined; pages += 1) {
      const bundle: Bundle = await page(url);
      entries.push(...(bundle.entry ?? []));
      await meanwhile();
      url = next(bundle);
    }
    return { entries, pages };
  };

  it('is not the one of before, nor another’s, for having been read before', async () => {
    const id = await create('v1');
    const path = `/Patient/${id}/_history`;
    const versions = async (url: string) => (await page(url)).entry?.map(({ response }) => response.etag);
    for (const times of [1, 2]) {
      expect(await versions(path), `read ${times}`).to.deep.equal(['W/"1"']);
      expect(await versions(`${path}?_count=1`), `read ${times}`).to.deep.equal(['W/"1"']);
    }
    await update(id, 'v2');
    expect(await versions(path)).to.deep.equal(['W/"2"', 'W/"1"']);
    expect(await versions(`${path}?_count=1`)).to.deep.equal(['W/"2"']);
    await service.fhir(`/Patient/${id}`, { method: 'DELETE' });
    for (const times of [1, 2]) expect((await versions(path))?.length, `read ${times}`).to.equal(3);
    const key = await service.newProject();
    expect((await service.fhir(path, { key })).status).to.equal(404);
    expect((await service.fhir(`/Observation/${id}/_history`)).status).to.equal(404);
    await service.fhir(`/Patient/${id}?_purge=true`, { method: 'DELETE' });
    expect((await service.fhir(path)).status).to.equal(404);
  });

  it('lists every version of an instance, newest first, each as it was', async () => {
    const id = await create('v1');
    for (const version of [2, 3, 4, 5]) await update(id, `v${version}`);
    const whole = await page(`/Patient/${id}/_history`);
    expect([whole.type, whole.total]).to.deep.equal(['history', 5]);
    expect(whole.entry?.map(({ response }) => response.etag)).to.deep.equal(
      [5, 4, 3, 2, 1].map((version) => `W/"${version}"`),
    );
    expect(whole.entry?.map(({ request }) => `${request.method} ${request.url}`)).to.deep.equal([
      ...Array(4).fill(`PUT Patient/${id}`),
      'POST Patient',
    ]);
    for (const { resource, response } of whole.entry ?? []) {
      expect(resource).to.nested.include({ 'name[0].family': `v${resource?.meta.versionId}` });
      expect(response.lastModified).to.equal(resource?.meta.lastUpdated);
    }
    const { entries, pages } = await walk(`/Patient/${id}/_history?_count=2`);
    expect(pages).to.equal(3);
    expect(entries.map(key)).to.deep.equal(whole.entry?.map(key));
  });

  it('pages a type and the system without gaps or repetitions while others write', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, (_, index) => create(`w${index}`)));
    for (const path of ['/Patient/_history', '/_history']) {
      const before = await walk(path);
      expect(before.entries.length).to.be.greaterThan(11);
      let turn = 0;
      const during = await walk(`${path}?_count=5`, async () => {
        turn += 1;
        await update(ids[turn % ids.length] ?? '', `turn ${turn}`);
        await create(`new ${turn}`);
      });
      expect(during.pages).to.be.greaterThan(2);
      expect(during.entries.map(key)).to.deep.equal(before.entries.map(key));
    }
  });

  it('says the same total on every page', async () => {
    const first = await page('/Patient/_history?_count=3');
    await create('later');
    const second = await page(next(first) ?? '');
    expect(second.total).to.equal(first.total);
  });

  it('limits by _since and by _at', async () => {
    const id = await create('s1');
    await update(id, 's2');
    await update(id, 's3');
    const at = `/Patient/${id}/_history`;
    const moments = ((await page(at)).entry ?? []).map(({ response }) => response.lastModified);
    const versions = async (query: string) =>
      ((await page(`${at}?${query}`)).entry ?? []).map(({ response }) => response.etag);
    expect(await versions(`_since=${moments[1]}`)).to.deep.equal(['W/"3"', 'W/"2"']);
    expect(await versions(`_at=${moments[1]}`)).to.deep.equal(['W/"2"']);
    expect(await versions('_since=2199')).to.deep.equal([]);
    expect(await versions('_at=2000')).to.deep.equal([]);
    expect(await versions(`_at=${new Date().getUTCFullYear()}`)).to.have.length(3);
    expect(await versions('_count=0')).to.deep.equal([]);
  });

  it('does not list automatic Provenances', async () => {
    await create('p');
    const { entries } = await walk('/_history?_count=200');
    expect(entries.some(({ fullUrl }) => fullUrl.includes('/Provenance/'))).to.equal(false);
    const provenances = await page('/Provenance/_history');
    expect(provenances.total).to.equal(0);
  });

  it('refuses what it does not understand', async () => {
    const id = await create('bad');
    for (const query of [
      '_since=yesterday',
      '_at=2024-13',
      '_count=-1',
      '_count=x',
      '_cursor=x',
      '_cursor=W10',
    ]) {
      const answer = await service.fhir(`/Patient/${id}/_history?${query}`);
      expect(answer.status, query).to.equal(400);
      expect(answer.text).to.contain(query.split('=')[0]);
    }
    for (const path of ['/_history', '/Patient/_history', `/Patient/${id}/_history`]) {
      const [strict, lenient, known] = await Promise.all([
        service.fhir(`${path}?_conut=1&foo=1`, { headers: { Prefer: 'handling=strict' } }),
        service.fhir(`${path}?_conut=1&foo=1`),
        service.fhir(path),
      ]);
      expect(strict.status).to.equal(400);
      expect(strict.text).to.contain('did you mean `_count`?').and.to.contain('foo');
      const [told, ...entries] = (lenient.json.entry ?? []) as { response?: { outcome?: object } }[];
      expect(JSON.stringify(told?.response?.outcome)).to.contain('_conut').and.to.contain('foo');
      expect(entries).to.deep.equal(known.json.entry);
      expect(lenient.json.total).to.equal(known.json.total);
      expect(JSON.stringify(lenient.json.link)).to.not.contain('foo');
      const validated = await service.fhir('/Bundle/$validate', { method: 'POST', body: lenient.text });
      expect(validated.text).to.contain('No issues were found');
    }
    expect((await service.fhir('/Patient/nobody/_history')).status).to.equal(404);
  });
});
