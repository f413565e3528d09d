import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Bundle {
  readonly total?: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly {
    readonly fullUrl?: string;
    readonly resource: { readonly id: string; readonly issue?: readonly { readonly diagnostics: string }[] };
    readonly search: { readonly mode: string };
  }[];
}

/** https://hl7.org/fhir/R4/search.html#conformance, behind an address other than the service's own. */
describe('links of searches', () => {
  const base = 'https://health.example.org/annal/fhir/R4';
  let service: InProcess;
  let patient: string;
  before(async () => {
    service = await startInProcess({}, { BASE_URL: 'https://health.example.org/annal' });
    patient = (await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'A' }] })).json
      .id as string;
    for (let n = 0; n < 3; n += 1)
      await service.post('/Observation', {
        resourceType: 'Observation',
        status: 'final',
        code: { coding: [{ system: 'urn:c', code: 'a,b|c' }] },
        subject: { reference: `${base}/Patient/${patient}` },
        ...(n === 0 ? {} : { effectiveDateTime: `2020-01-0${n}` }),
      });
  });
  after(() => service.stop());

  /** Returns the response that a client behind the address receives. */
  const get = async (url: string, headers: Record<string, string> = {}): Promise<Bundle> => {
    const answer = await service.fhir(url.startsWith(base) ? url.slice(base.length) : url, { headers });
    expect(answer.status, `${url}: ${answer.text}`).to.equal(200);
    return JSON.parse(answer.text) as Bundle;
  };
  const link = (bundle: Bundle, relation: string) =>
    bundle.link.find((each) => each.relation === relation)?.url;

  it('stand under BASE_URL, and lead on', async () => {
    let seen = 0;
    let pages = 0;
    for (
      let url: string | undefined =
        `/Observation?subject=${base}/Patient/${patient}&_count=1&_include=Observation:subject`;
      url !== undefined;
      pages += 1
    ) {
      const bundle: Bundle = await get(url);
      expect(bundle.total).to.equal(3);
      expect(bundle.entry?.map(({ search: { mode } }) => mode)).to.deep.equal(['match', 'include']);
      for (const entry of bundle.entry ?? [])
        expect(entry.fullUrl).to.match(new RegExp(`^${base}/[A-Z]\\w+/[0-9a-f-]{36}$`));
      seen += 1;
      url = link(bundle, 'next');
      if (url !== undefined) expect(url.startsWith(`${base}/Observation?`)).to.equal(true);
    }
    expect([seen, pages]).to.deep.equal([3, 3]);
    for (const path of [
      '?_type=Patient,Observation&_count=2',
      `/Patient/${patient}/*?_count=2`,
      `/Patient/${patient}/Observation?_count=2`,
    ]) {
      const next = link(await get(path), 'next') ?? '';
      expect(next.startsWith(base), next).to.equal(true);
      expect((await get(next)).entry?.length).to.be.greaterThan(0);
    }
  });

  it('lead back to the same pages, and to the first and the last one', async () => {
    const idsOf = ({ entry = [] }: Bundle): string[] => entry.map(({ resource }) => resource.id);
    const relations = (bundle: Bundle) => bundle.link.map(({ relation }) => relation);
    for (const [path, back, end] of [
      ['/Observation?_count=1', [1, 2], true],
      ['/Observation?_count=2', [1], true],
      ['/Observation?_count=1&_total=none', [1, 2], false],
      ['/Observation?_count=1&_sort=-_lastUpdated', [1, 2], true],
      // The Observation without a date comes last. There is no previous page for it.
      ['/Observation?_count=1&_sort=-date', [1], false],
      ['/Observation?_count=1&_sort=date,_id&subject:Patient.name=a', [1], false],
      ['/Observation?_count=1&_sort=status,date', [], false],
      [`/Patient/${patient}/Observation?_count=1&_include=Observation:subject`, [1, 2], true],
      ['/?_type=Observation,Patient&_count=2', [], false],
      ['/Provenance?_count=2', [1, 2], true],
    ] as const) {
      const pages: Bundle[] = [];
      for (let url: string | undefined = path; url !== undefined; ) {
        const page: Bundle = await get(url);
        pages.push(page);
        url = link(page, 'next');
      }
      const [first, ...others] = pages;
      expect(relations(first ?? { link: [] }), path).to.deep.equal([
        'self',
        'next',
        ...(end ? ['last'] : []),
      ]);
      for (const [n, page] of pages.entries()) {
        const previous = link(page, 'previous');
        expect(previous !== undefined, `${path}: previous of ${n}`).to.equal(back.some((each) => each === n));
        if (previous !== undefined) {
          const before = await get(previous);
          expect(before.entry, `${path}: before ${n}`).to.deep.equal(pages[n - 1]?.entry);
          expect(link(before, 'next'), path).to.equal(link(pages[n - 1] ?? { link: [] }, 'next'));
          expect(link(before, 'previous') !== undefined, path).to.equal(n > 1);
        }
        const last = link(page, 'last');
        expect(last !== undefined, `${path}: last of ${n}`).to.equal(end || n === pages.length - 1);
        if (last !== undefined)
          expect(idsOf(await get(last)), path).to.deep.equal(idsOf(pages.at(-1) ?? page));
      }
      for (const page of others)
        expect((await get(link(page, 'first') ?? '')).entry, path).to.deep.equal(first?.entry);
    }
    for (const path of [
      '/Observation',
      '/Observation?_count=3',
      '/Observation?status=amended',
      '/?_type=Patient',
    ])
      expect(relations(await get(path)), path).to.deep.equal(['self']);
  });

  it('say exactly what was used', async () => {
    const escaped = encodeURIComponent('urn:c|a\\,b\\|c');
    const sent = `/Observation?nothing=1&code=${escaped}&_count=2&status=final,amended&subject:Patient=${patient}&subject:Patient.nothing=2&code=&_total=accurate`;
    const bundle = await get(sent);
    const self = new URL(link(bundle, 'self') ?? '');
    expect([...self.searchParams]).to.deep.equal([
      ['code', 'urn:c|a\\,b\\|c'],
      ['_count', '2'],
      ['status', 'final,amended'],
      ['subject:Patient', patient],
      ['_total', 'accurate'],
    ]);
    expect(bundle.total).to.equal(3);
    expect((await get(self.href)).entry).to.deep.equal(bundle.entry?.slice(1));
    const told = bundle.entry?.at(0)?.resource.issue?.map(({ diagnostics }) => diagnostics) ?? [];
    expect(told).to.have.length(2);
    expect(told[0]).to.contain('nothing');
  });

  it('go with handling as it was asked for', async () => {
    const strict = (path: string) => service.fhir(path, { headers: { Prefer: 'handling=strict' } });
    const refused = await strict('/Observation?nothing=1&code=x&other:exact=2');
    expect(refused.status).to.equal(400);
    expect(refused.text).to.contain('http.nothing').and.to.contain('http.other:exact');
    const lenient = await get('/Observation?nothing=1', { Prefer: 'handling=lenient' });
    expect(lenient.entry).to.have.length(4);
    for (const prefer of ['handling=lenient', 'handling=strict'])
      for (const query of [
        'code:nothing=x',
        'birthdate:missing=maybe',
        'date=yesterday',
        '_count=x',
        '_sort=nothing',
      ]) {
        const path = query.startsWith('birthdate') ? `/Patient?${query}` : `/Observation?${query}`;
        const answer = await service.fhir(path, { headers: { Prefer: prefer } });
        expect(answer.status, `${prefer} ${path}`).to.equal(400);
        expect(answer.text).to.contain(`http.${query.split('=')[0]}`);
      }
  });

  it('name no control that did not count: of one with several values there is no answer', async () => {
    for (const path of ['/Observation?', '/Provenance?', '/?_type=Observation,Patient&'])
      for (const [query, named] of [
        ['_sort=_id&_sort=-_id', '_sort'],
        ['_sort=-_lastUpdated&_count=2&_sort=_lastUpdated', '_sort'],
        ['_count=2&_count=0', '_count'],
        ['_total=accurate&_total=none', '_total'],
        ['_summary=count&_summary=true', '_summary'],
      ] as const) {
        const answer = await service.fhir(path + query);
        expect(answer.status, path + query).to.equal(400);
        expect(answer.text, path + query).to.contain(`http.${named}`);
      }
    const self = link(await get('/Observation?_count=2&_sort=_id&_count=&_count=2'), 'self');
    expect(self).to.match(/_count=2&_sort=_id&_count=2$/);
  });

  it('of a page whose resources are gone say nothing that is not so', async () => {
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1)
      ids.push(
        (await service.post('/Organization', { resourceType: 'Organization', name: `Gone ${n}` })).json
          .id as string,
      );
    const url = '/Organization?name=gone&_count=2';
    const one = await get(url);
    const two = await get(link(one, 'next') ?? '');
    const remove = async (id: string | undefined) =>
      expect((await service.fhir(`/Organization/${id}`, { method: 'DELETE' })).status).to.equal(204);
    const relations = (bundle: Bundle) => bundle.link.map(({ relation }) => relation);
    for (const id of ids.slice(0, 2)) await remove(id);
    // The resources on the previous page have been removed, so the matches now form the first page.
    const back = await get(link(two, 'previous') ?? '');
    expect([back.entry ?? [], relations(back)]).to.deep.equal([[], ['self', 'next', 'first', 'last']]);
    const first = await get(link(back, 'next') ?? '');
    expect(first.entry?.map(({ resource: { id } }) => id)).to.deep.equal(ids.slice(2));
    for (const id of ids.slice(2)) await remove(id);
    const left = await get(link(one, 'next') ?? '');
    expect([left.total, left.entry ?? [], relations(left)]).to.deep.equal([0, [], ['self', 'first']]);
  });
});
