/** Limits on one response: pages end early; Bundle entries and operations are refused with `too-costly`. docs/limits.md */
import { expect } from 'chai';
import { isObject } from '#src/shared/json/json.ts';
import { signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import type { Answer } from '#test/support/service.ts';

/** Size limit of a response in bytes, and the size of each large resource: three of them fit. */
const LIMIT = 2_500_000;
const SIZE = 700_000;
const LARGE = 6;
const SMALL = 4;

interface Entry {
  readonly resource?: { readonly resourceType: string; readonly id: string };
  readonly response?: { readonly status: string; readonly outcome?: unknown };
  readonly search?: { readonly mode: string };
}

interface Bundle {
  readonly total?: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly Entry[];
}

const bundleIn = ({ text }: Answer): Bundle => JSON.parse(text) as Bundle;
const get = (url: string) => ({ request: { method: 'GET', url } });

describe('the limits of an answer', () => {
  let service: InProcess;
  let patient: string;
  const ids: string[] = [];

  const observation = (text: string, letter = 'x') => ({
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: '8302-2' }] },
    subject: { reference: patient },
    effectiveDateTime: '2026-01-01',
    note: [{ text: letter.repeat(SIZE) }, { text }],
  });
  const create = async (body: object): Promise<string> => {
    const { json } = await service.post(`/${(body as { resourceType: string }).resourceType}`, body);
    return String(json.id);
  };

  before(async () => {
    service = await startInProcess({ answerBytes: LIMIT, answerResources: 200 });
    patient = `Patient/${await create({ resourceType: 'Patient', name: [{ family: 'Long' }] })}`;
    for (let n = 0; n < LARGE; n += 1) ids.push(await create(observation(`${n} — not Latin-1: Ω`)));
    for (let n = 0; n < SMALL; n += 1)
      ids.push(await create({ ...observation('small'), note: [{ text: 'small' }] }));
  });
  after(() => service.stop());

  /** Returns all pages of a listing; each page is within the limit. */
  const pagesOf = async (path: string): Promise<Bundle[]> => {
    const pages: Bundle[] = [];
    for (let url: string | undefined = path; url !== undefined; ) {
      const answer = await service.fhir(url);
      expect(answer.status, answer.text.slice(0, 300)).to.equal(200);
      expect(Buffer.byteLength(answer.text)).to.be.below(LIMIT + 20_000);
      pages.push(bundleIn(answer));
      url = pages.at(-1)?.link.find(({ relation }) => relation === 'next')?.url;
    }
    return pages;
  };
  const shownIn = (pages: readonly Bundle[]): string[] =>
    pages.flatMap(({ entry = [] }) => entry.map(({ resource }) => resource?.id ?? ''));
  const issuesIn = (value: unknown): unknown[] =>
    isObject(value as never) && Array.isArray((value as { issue?: unknown }).issue)
      ? (value as { issue: { code: unknown }[] }).issue.map(({ code }) => code)
      : [];

  for (const query of ['', '&_sort=-date', '&_sort=-_lastUpdated', '&code=8302-2&_total=none']) {
    it(`end a search's page early: ${query}`, async () => {
      const pages = await pagesOf(`/Observation?subject=${patient}&_count=200${query}`);
      expect(pages.length).to.be.within(2, 4);
      expect(shownIn(pages)).to.have.members(ids);
      if (!query.includes('_total')) expect(pages[0]?.total).to.equal(ids.length);
    });
  }

  it('end a page of several types early, and refuse one that would have to be merged', async () => {
    const pages = await pagesOf(`/${patient}/*?_count=200`);
    expect(pages.length).to.be.within(2, 4);
    expect(shownIn(pages)).to.have.members([...ids, patient.slice(8)]);
    const merged = await service.fhir(`/${patient}/*?_count=200&_sort=_lastUpdated`);
    expect(merged.status).to.equal(413);
    expect(issuesIn(merged.json)).to.deep.equal(['too-costly']);
    expect((await service.fhir(`/${patient}/*?_count=2&_sort=_lastUpdated`)).status).to.equal(200);
  });

  it('end pages of history early', async () => {
    const [first = ''] = ids;
    for (let n = 0; n < 4; n += 1)
      await service.fhir(`/Observation/${first}`, {
        method: 'PUT',
        body: JSON.stringify({ ...observation(`again ${n}`), id: first }),
      });
    const ofOne = await pagesOf(`/Observation/${first}/_history?_count=200`);
    expect(ofOne.length).to.equal(2);
    expect(shownIn(ofOne)).to.deep.equal(Array.from({ length: 5 }, () => first));
    expect(ofOne.map(({ total }) => total)).to.deep.equal([5, 5]);
    for (const path of ['/Observation/_history?_count=200', '/_history?_count=200']) {
      const pages = await pagesOf(path);
      expect(pages.length, path).to.be.within(3, 5);
      const shown = shownIn(pages).filter((id) => ids.includes(id));
      expect(shown, path).to.have.members([...ids, first, first, first, first]);
    }
  });

  it('end pages of $everything early, but refuse one by _offset', async () => {
    const pages = await pagesOf(`/${patient}/$everything`);
    expect(pages.length).to.be.within(2, 4);
    expect(shownIn(pages)).to.deep.equal([...new Set(shownIn(pages))]);
    expect(shownIn(pages)).to.have.members([...ids, patient.slice(8)]);
    const byOffset = await service.fhir(`/${patient}/$everything?_offset=0&_count=20`);
    expect(byOffset.status, byOffset.text.slice(0, 200)).to.equal(413);
    expect(issuesIn(byOffset.json)).to.deep.equal(['too-costly']);
    expect((await service.fhir(`/${patient}/$everything?_offset=2&_count=2`)).status).to.equal(200);
  });

  it('say which resources beside the matches are not shown', async () => {
    const { text } = await service.fhir(`/Patient?_id=${patient.slice(8)}&_revinclude=Observation:subject`);
    const shown = bundleIn({ text } as Answer).entry ?? [];
    const included = shown.filter(({ search }) => search?.mode === 'include');
    expect(included.length).to.be.within(3, LARGE + SMALL - 1);
    expect(shown[0]?.search?.mode).to.equal('outcome');
    expect(Buffer.byteLength(text)).to.be.below(LIMIT + 20_000);
  });

  it('refuse a summary of what does not fit (413), and say so', async () => {
    const answer = await service.fhir(`/${patient}/$summary`);
    expect(answer.status, answer.text.slice(0, 300)).to.equal(413);
    expect(issuesIn(answer.json)).to.deep.equal(['too-costly']);
    expect(answer.text).to.contain('the answer would exceed 2,500,000 bytes');
    expect((await service.fhir(`/${patient}`)).status).to.equal(200);
  });

  it('refuse entries of a batch beyond them, each by itself', async () => {
    const [one = ''] = ids;
    const searches = Array.from({ length: 12 }, () => get(`Observation?subject=${patient}&_count=2`));
    const entry = [...searches, get(`Observation/${one}`), get(patient), get(`${patient}/$everything`)];
    const answer = await service.post('', { resourceType: 'Bundle', type: 'batch', entry });
    expect(Buffer.byteLength(answer.text)).to.be.below(LIMIT + 50_000);
    const { entry: entries = [] } = bundleIn(answer);
    const statuses = entries.map(({ response }) => response?.status.slice(0, 3));
    // One search with two large resources fits, and so does one more large resource.
    expect(statuses).to.deep.equal(['200', ...Array.from({ length: 11 }, () => '413'), '200', '200', '413']);
    for (const { response } of entries)
      if (response?.status.startsWith('413'))
        expect(issuesIn(response.outcome)).to.deep.equal(['too-costly']);
    const outcomes = entries.flatMap(({ response }) =>
      response?.status.startsWith('413') ? [JSON.stringify(response.outcome)] : [],
    );
    // The message names the whole limit, not the part of it that earlier entries left over.
    for (const outcome of outcomes)
      expect(outcome).to.contain(
        'the answers of this Bundle together would exceed 2,500,000 bytes; ask for less, for example with fewer entries,',
      );
  });

  it('name the limit of the whole where an entry of a batch has too many resources or bytes', async () => {
    const search = get('Patient?_count=150&_total=none');
    const costly = [
      get(`${patient}/$everything?_offset=0&_count=199`),
      get(`${patient}/$everything?_offset=0&_count=20`),
      get(`${patient}/$summary`),
    ];
    const entry = [search, get(patient), ...costly];
    const answer = await service.post('', { resourceType: 'Bundle', type: 'batch', entry });
    const { entry: entries = [] } = bundleIn(answer);
    const said = entries.map(({ response }) => [
      response?.status.slice(0, 3),
      /would exceed [\d,]+ \w+/.exec(JSON.stringify(response?.outcome ?? ''))?.[0],
    ]);
    const bytes = ['413', 'would exceed 2,500,000 bytes'];
    const resources = ['413', 'would exceed 200 resources'];
    expect(said).to.deep.equal([['200', undefined], ['200', undefined], resources, bytes, bytes]);
  });

  it('refuse a transaction before it writes', async () => {
    const before = (await service.fhir('/Patient?_summary=count')).json.total;
    const write = {
      resource: { resourceType: 'Patient', name: [{ family: 'Never' }] },
      request: { method: 'POST', url: 'Patient' },
    };
    const reads = Array.from({ length: 3 }, () => get(`Observation?subject=${patient}&_count=2`));
    const body = JSON.stringify({ resourceType: 'Bundle', type: 'transaction', entry: [write, ...reads] });
    const answer = await service.fhir('', { method: 'POST', body });
    expect(answer.status).to.equal(413);
    expect(issuesIn(answer.json)).to.include('too-costly');
    expect((await service.fhir('/Patient?_summary=count')).json.total).to.deep.equal(before);
  });

  it('refuse a Bundle with more than 200 GET entries', async () => {
    const bundle = (count: number) => ({
      method: 'POST',
      body: JSON.stringify({
        resourceType: 'Bundle',
        type: 'batch',
        entry: Array.from({ length: count }, () => get('Patient?_summary=count')),
      }),
    });
    const refused = await service.fhir('', bundle(201));
    expect(refused.status).to.equal(413);
    expect(issuesIn(refused.json)).to.deep.equal(['too-costly']);
    expect((await service.fhir('', bundle(200))).status).to.equal(200);
  });

  it('leave out resources that a batch wrote and has no room to show', async () => {
    const entry = ids.slice(0, LARGE).map((id) => ({
      resource: {
        resourceType: 'Parameters',
        parameter: [
          {
            name: 'operation',
            part: [
              { name: 'type', valueCode: 'replace' },
              { name: 'path', valueString: 'Observation.note[1].text' },
              { name: 'value', valueString: 'patched' },
            ],
          },
        ],
      },
      request: { method: 'PATCH', url: `Observation/${id}` },
    }));
    const bundle = { resourceType: 'Bundle', type: 'batch', entry };
    const { text } = await service.post('', bundle, { Prefer: 'return=representation' });
    expect(Buffer.byteLength(text)).to.be.below(LIMIT + 20_000);
    const entries = bundleIn({ text } as Answer).entry ?? [];
    expect(entries.map(({ response }) => response?.status)).to.deep.equal(entries.map(() => '200 OK'));
    const shown = entries.filter(({ resource }) => resource !== undefined);
    expect(shown.length).to.equal(3);
    for (const { resource, response } of entries)
      if (resource === undefined) expect(issuesIn(response?.outcome)).to.deep.equal(['too-costly']);
  });

  it('are those of a record as of a moment', async () => {
    const owner = await signIn(service, 'owner@answers.example');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Clinic' });
    const { id: project } = await owner.done('POST', `/organizations/${organization}/projects`, {
      name: 'P',
    });
    const { key } = await owner.done('POST', `/projects/${project}/keys`, {
      name: 'k',
      environment: 'sandbox',
    });
    const send = async (path: string, body: object): Promise<string> => {
      const answer = await service.fhir(path, { method: 'POST', key, body: JSON.stringify(body) });
      expect(answer.status, answer.text.slice(0, 300)).to.equal(201);
      return String(answer.json.id);
    };
    const own = await send('/Patient', { resourceType: 'Patient', name: [{ family: 'Own' }] });
    const statuses: number[] = [];
    for (let n = 0; n < 4; n += 1) {
      await send('/Observation', { ...observation('own'), subject: { reference: `Patient/${own}` } });
      statuses.push((await owner.ask('GET', `/projects/${project}/patients/${own}/record`)).status);
    }
    expect(statuses).to.deep.equal([200, 200, 200, 413]);
  });

  it('leave a context right whose record changed by something large', async () => {
    const context = () =>
      service.fhir(`${service.url}/v1/context`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ patient: patient.slice(8), budget_tokens: 500 }),
      });
    expect((await context()).status).to.equal(200);
    const id = ids.at(-1) ?? '';
    const changed = JSON.stringify({ ...observation('late', 'z'), id });
    expect((await service.fhir(`/Observation/${id}`, { method: 'PUT', body: changed })).status).to.equal(200);
    const again = await context();
    expect(again.status, again.text).to.equal(200);
  });

  it('keep no long answer of what was read for its Idempotency-Key', async () => {
    const send = async (key: string, count: number): Promise<string | null> => {
      const headers = { 'Idempotency-Key': key, 'Content-Type': 'application/x-www-form-urlencoded' };
      const body = `subject=${encodeURIComponent(patient)}&_count=${count}`;
      const answer = await service.fhir('/Observation/_search', { method: 'POST', headers, body });
      expect(answer.status, answer.text.slice(0, 300)).to.equal(200);
      return answer.headers.get('idempotent-replayed');
    };
    expect([await send('short', 1), await send('short', 1)]).to.deep.equal([null, 'true']);
    expect([await send('long', 3), await send('long', 3)]).to.deep.equal([null, null]);
    const { rows } = await service.pool.query<{ longest: number }>(
      'select max(octet_length(answer))::int8 as longest from operations.idempotency',
    );
    expect(Number(rows[0]?.longest)).to.be.below(1_100_000);
  });
});
