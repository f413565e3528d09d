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

/** https://hl7.org/fhir/R4/search.html#conformance, behind another address than the service's own. */
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
      });
  });
  after(() => service.stop());

  /** What a client behind the address gets. */
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
});
