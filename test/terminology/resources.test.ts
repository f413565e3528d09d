/** CodeSystem, ValueSet and ConceptMap: shared by all projects, readable and searchable by all, and writable by none. */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Entry {
  readonly resource: { readonly resourceType: string; readonly id: string; readonly url: string };
}
interface Bundle {
  readonly total: number;
  readonly entry?: readonly Entry[];
}

describe('terminology resources', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const found = async (query: string, key?: string): Promise<Bundle> => {
    const answer = await service.fhir(query, key === undefined ? {} : { key });
    expect(answer.status, `${query}: ${answer}`).to.equal(200);
    return JSON.parse(answer.text);
  };
  const urls = (bundle: Bundle) => (bundle.entry ?? []).map(({ resource }) => resource.url);

  it('finds a code system by its url and reads it by its id', async () => {
    const url = 'http://terminology.hl7.org/CodeSystem/observation-category';
    const bundle = await found(`/CodeSystem?url=${encodeURIComponent(url)}`);
    expect(urls(bundle)).to.deep.equal([url]);
    const read = await service.fhir(`/CodeSystem/${bundle.entry?.[0]?.resource.id}`);
    expect(read.status).to.equal(200);
    expect(read.headers.get('etag')).to.equal('W/"1"');
    expect(read.json).to.deep.include({ resourceType: 'CodeSystem', url });
  });

  it('reads version 1 as it reads the resource, and has no other and no history', async () => {
    for (const type of ['CodeSystem', 'ValueSet', 'ConceptMap']) {
      const id = (await found(`/${type}?_count=1`)).entry?.[0]?.resource.id;
      const read = await service.fhir(`/${type}/${id}`);
      const version = await service.fhir(`/${type}/${id}/_history/1`);
      expect([version.status, version.text]).to.deep.equal([200, read.text]);
      for (const name of ['etag', 'last-modified']) {
        expect(version.headers.get(name), name).to.be.a('string').that.equals(read.headers.get(name));
      }
      const headers = { 'If-None-Match': 'W/"1"' };
      expect((await service.fhir(`/${type}/${id}/_history/1`, { headers })).status).to.equal(304);
      for (const [url, status] of [
        [`/${type}/${id}/_history/2`, 404],
        [`/${type}/018f0000-0000-7000-8000-000000000000/_history/1`, 404],
        [`/${type}/${id}/_history`, 405],
        [`/${type}/_history`, 405],
      ] as const) {
        expect((await service.fhir(url)).status, url).to.equal(status);
      }
    }
  });

  it('shows every project the same', async () => {
    const query = '/ValueSet?url=http://hl7.org/fhir/ValueSet/administrative-gender';
    const other = await found(query, await service.newProject());
    expect(other).to.have.property('total', 1);
    expect(other.entry?.[0]?.resource.id).to.equal((await found(query)).entry?.[0]?.resource.id);
  });

  for (const [query, url] of [
    ['/CodeSystem?code=vital-signs', 'http://terminology.hl7.org/CodeSystem/observation-category'],
    ['/CodeSystem?title=Anatomical', 'http://www.whocc.no/atc'],
    ['/CodeSystem?system=http://loinc.org', 'http://loinc.org'],
    ['/CodeSystem?content-mode=fragment&name=ucum', 'http://unitsofmeasure.org'],
    ['/CodeSystem?url:below=http://loinc.org', 'http://loinc.org'],
    [
      '/ValueSet?reference=http://terminology.hl7.org/CodeSystem/observation-category',
      'http://hl7.org/fhir/ValueSet/observation-category',
    ],
    [
      '/ConceptMap?source-system=http://hl7.org/fhir/administrative-gender&target-code=UNK',
      'http://hl7.org/fhir/ConceptMap/cm-administrative-gender-v3',
    ],
  ] as const) {
    it(`answers ${query}`, async () => {
      expect(urls(await found(query))).to.include(url);
    });
  }

  it('pages through all of a type, each once', async () => {
    const ids: string[] = [];
    let next: string | undefined = '/ValueSet?_count=60&_sort=-_lastUpdated';
    while (next !== undefined) {
      const page: Bundle & { link: { relation: string; url: string }[] } = await service
        .fhir(next)
        .then((answer) => JSON.parse(answer.text));
      ids.push(...(page.entry ?? []).map(({ resource }) => resource.id));
      next = page.link.find(({ relation }) => relation === 'next')?.url;
    }
    expect(new Set(ids).size).to.equal(ids.length);
    expect(ids.length).to.equal((await found('/ValueSet?_count=0')).total);
  });

  it('is in a search of the whole system only when `_type` names it', async () => {
    expect(await found('?_count=0')).to.have.property('total', 0);
    expect((await found('?_type=CodeSystem,Patient&_count=0')).total).to.be.greaterThan(100);
  });

  it('is written by nobody, and unknown ids are 404', async () => {
    const body = JSON.stringify({ resourceType: 'CodeSystem', status: 'active', content: 'complete' });
    expect((await service.fhir('/CodeSystem', { method: 'POST', body })).status).to.equal(405);
    expect((await service.fhir('/CodeSystem/018f0000-0000-7000-8000-000000000000')).status).to.equal(404);
    expect((await service.fhir('/CodeSystem/nothing')).status).to.equal(404);
  });

  it('needs a credential', async () => {
    expect((await service.fhir('/CodeSystem', { key: null })).status).to.equal(401);
  });
});
