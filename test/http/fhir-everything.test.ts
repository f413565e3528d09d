import { expect } from 'chai';
import { CARE_DATES, LASTING } from '#queries/everything/care-dates.ts';
import { compiledParameters } from '#src/fhir/search/paths.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Resource {
  readonly resourceType: string;
  readonly id: string;
  readonly meta: { readonly lastUpdated: string };
}

interface Bundle {
  readonly type: string;
  readonly total?: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly {
    readonly fullUrl: string;
    readonly resource: Resource;
    readonly search: { readonly mode: string };
  }[];
}

const status = (system: string, code: string) => ({
  coding: [{ system: `http://terminology.hl7.org/CodeSystem/${system}`, code }],
});

/** https://hl7.org/fhir/R4/patient-operation-everything.html; docs/spec/decisions.md, section 5 */
describe('$everything', () => {
  let service: InProcess;
  let patient: string;
  let path: string;
  const refs: Record<string, string> = {};
  const create = async (name: string, body: object): Promise<string> => {
    const { resourceType } = body as Resource;
    const { id } = JSON.parse((await service.post(`/${resourceType}`, body)).text) as Resource;
    refs[name] = `${resourceType}/${id}`;
    return refs[name];
  };
  const reference = (name: string) => ({ reference: refs[name] ?? name });
  const observation = (name: string, effectiveDateTime: string, more: object = {}) =>
    create(name, {
      resourceType: 'Observation',
      status: 'final',
      code: { text: name },
      subject: { reference: patient },
      effectiveDateTime,
      ...more,
    });

  before(async () => {
    service = await startInProcess();
    await create('parent', { resourceType: 'Organization', name: 'Group' });
    await create('clinic', { resourceType: 'Organization', name: 'Clinic', partOf: reference('parent') });
    await create('doctor', { resourceType: 'Practitioner', name: [{ family: 'Ruiz' }] });
    await create('role', {
      resourceType: 'PractitionerRole',
      practitioner: reference('doctor'),
      organization: reference('clinic'),
    });
    await create('far', { resourceType: 'Practitioner', name: [{ family: 'Far' }] });
    await create('nobody', { resourceType: 'Practitioner', name: [{ family: 'Unnamed' }] });
    patient = await create('patient', { resourceType: 'Patient', name: [{ family: 'Ek' }] });
    path = `/${patient}/$everything`;
    await create('stranger', { resourceType: 'Patient', name: [{ family: 'Other' }] });
    await create('allergy', {
      resourceType: 'AllergyIntolerance',
      patient: { reference: patient },
      clinicalStatus: status('allergyintolerance-clinical', 'active'),
      code: { text: 'nuts' },
      recordedDate: '2010-01-01',
      recorder: { reference: `${service.base}/${refs.far}/_history/1` },
    });
    await create('cured', {
      resourceType: 'Condition',
      subject: { reference: patient },
      clinicalStatus: status('condition-clinical', 'resolved'),
      code: { text: 'cold' },
      onsetDateTime: '2012-01-01',
      abatementDateTime: '2012-02-01',
    });
    await observation('old', '2011-05-01', { valueQuantity: { value: 1, unit: 'kg' } });
    await observation('recent', '2020-05-01', { performer: [reference('role')] });
    await observation('gone', '2020-05-01');
    await service.fhir(`/${refs.gone}`, { method: 'DELETE' });
    await create('foreign', {
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'x' },
      subject: reference('stranger'),
      performer: [reference('nobody')],
    });
    await create('mine', {
      resourceType: 'Provenance',
      target: [reference('old')],
      recorded: '2011-06-01T00:00:00Z',
      agent: [{ who: { display: 'me' } }],
    });
  });
  after(() => service.stop());

  const get = async (query: string): Promise<Bundle> => {
    const answer = await service.fhir(query.startsWith('http') ? query : path + query);
    expect(answer.status, `${query}: ${answer.text}`).to.equal(200);
    return JSON.parse(answer.text) as Bundle;
  };
  const next = (bundle: Bundle) => bundle.link.find(({ relation }) => relation === 'next')?.url;
  const nameOf = ({ resourceType, id }: Resource) =>
    Object.keys(refs).find((name) => refs[name] === `${resourceType}/${id}`) ?? resourceType;
  const names = (bundle: Bundle) => (bundle.entry ?? []).map(({ resource }) => nameOf(resource));
  /** Returns all pages of a query. */
  const walk = async (query: string): Promise<string[]> => {
    const found: string[] = [];
    let page = await get(query);
    for (;;) {
      found.push(...names(page));
      const url = next(page);
      if (url === undefined) return found;
      expect(page.entry, url).to.not.be.empty;
      page = await get(url);
    }
  };
  const RECORD = ['patient', 'allergy', 'cured', 'old', 'recent', 'mine'];
  const DIRECTORY = ['clinic', 'parent', 'doctor', 'far', 'role'];

  it('gives the record, the Patient first, and the directory entries that it refers to', async () => {
    const bundle = await get('');
    expect(names(bundle)[0]).to.equal('patient');
    expect(names(bundle)).to.have.members([...RECORD, ...DIRECTORY]);
    expect(bundle).to.include({ type: 'searchset', total: RECORD.length });
    for (const { fullUrl, resource, search } of bundle.entry ?? []) {
      expect(fullUrl).to.equal(`${service.base}/${resource.resourceType}/${resource.id}`);
      expect(search.mode).to.equal(DIRECTORY.includes(nameOf(resource)) ? 'include' : 'match');
    }
  });

  it('is also asked by POST, and pages on by GET', async () => {
    const parameter = [
      { name: '_count', valueInteger: 2 },
      { name: '_type', valueCode: 'Observation' },
      { name: '_type', valueCode: 'Condition' },
    ];
    const answer = await service.post(path, { resourceType: 'Parameters', parameter });
    const first = JSON.parse(answer.text) as Bundle;
    expect(names(first)).to.have.length(2);
    expect(names(await get(next(first) ?? ''))).to.have.length(1);
    const bare = await service.fhir(path, { method: 'POST' });
    expect(names(JSON.parse(bare.text) as Bundle)).to.have.length(11);
  });

  it('gives each exactly once whatever the size of a page', async () => {
    const whole = await walk('');
    const withAll = '?_type=Patient,Observation,Provenance,Organization&_count=';
    const named = await walk(`${withAll}5000`);
    for (const count of [1, 2, 3, 6, 7, 10]) {
      expect(await walk(`?_count=${count}`), `pages of ${count}`).to.deep.equal(whole);
      expect(await walk(withAll + count), `pages of ${count}`).to.deep.equal(named);
    }
    expect(await walk('?_type=Observation')).to.have.members(['old', 'recent']);
    expect(await walk('?_type=Organization,Device')).to.have.members(['clinic', 'parent']);
    expect(await walk('?_type=CodeSystem')).to.deep.equal([]);
  });

  it('pages by _offset to the same end', async () => {
    for (const query of [
      '',
      '&_type=Patient,Observation,Provenance,Organization',
      '&_type=Organization,Device',
    ]) {
      const whole = await walk(`?_count=5000${query}`);
      for (const count of [1, 2, 3, 5000]) {
        const found: string[] = [];
        for (let offset = 0; ; offset += count) {
          const page = await get(`?_offset=${offset}&_count=${count}${query}`);
          if (names(page).length === 0) break;
          found.push(...names(page));
          expect(page.link[0]?.url).to.contain(`_offset=${offset}`);
          expect(next(page) ?? '').not.to.contain('_offset');
        }
        expect(found, `pages of ${count}${query}`).to.deep.equal(whole);
      }
      expect(await walk(`?_offset=2&_count=2${query}`)).to.deep.equal(whole.slice(2));
    }
    for (const offset of ['-1', 'x', '1.5'])
      expect((await service.fhir(`${path}?_offset=${offset}`)).status).to.equal(400);
  });

  it('gives automatic Provenances only when they are named', async () => {
    const found = await get('?_type=Provenance');
    const targets = (found.entry ?? []).map(({ resource }) => nameOf(resource));
    // Seven creates, including the client's own Provenance, and a delete.
    expect(targets.filter((name) => name === 'mine')).to.have.length(1);
    expect(targets.filter((name) => name === 'Provenance')).to.have.length(8);
  });

  it('keeps to the time of care, and of recording', async () => {
    expect(await walk('?start=2019&_type=Patient,Observation,Condition,AllergyIntolerance')).to.have.members([
      'patient',
      'allergy',
      'recent',
    ]);
    expect(await walk('?end=2011-12-31')).to.have.members(['patient', 'allergy', 'old', 'mine', 'far']);
    expect(await walk('?start=2012-01-15&end=2012-01-15')).to.have.members([
      'patient',
      'allergy',
      'cured',
      'far',
    ]);
    const { lastUpdated } = (JSON.parse((await service.fhir(`/${refs.recent}`)).text) as Resource).meta;
    expect(await walk(`?_since=${encodeURIComponent(lastUpdated)}`)).to.have.members(['recent', 'mine']);
    for (const [type, codes] of Object.entries(CARE_DATES)) {
      expect(compiledParameters(type as ResourceType).map(({ code }) => code)).to.include.members([...codes]);
    }
    for (const [type, { begin, end }] of Object.entries(LASTING)) {
      const all = compiledParameters(type as ResourceType).map(({ code }) => code);
      expect(all).to.include.members([...begin, ...end]);
    }
  });

  it('does not drift while others write', async () => {
    const id = refs.stranger;
    const stranger = `/${id}/$everything?_count=2&_type=Observation`;
    for (let n = 0; n < 5; n += 1) {
      await create(`s${n}`, {
        resourceType: 'Observation',
        status: 'final',
        code: { text: `s${n}` },
        subject: reference('stranger'),
      });
    }
    const first = await get(service.base + stranger);
    const before = names(first);
    for (const name of ['s0', 's4', 'foreign']) {
      const resource = JSON.parse((await service.fhir(`/${refs[name]}`)).text) as object;
      const body = JSON.stringify({ ...resource, status: 'amended' });
      expect((await service.fhir(`/${refs[name]}`, { method: 'PUT', body })).status).to.equal(200);
    }
    const url = next(first) ?? '';
    const found = [...before, ...(await walk(url))];
    expect(found).to.have.members(['foreign', 's0', 's1', 's2', 's3', 's4']);
  });

  it('names what it does not have in an entry', async () => {
    for (const [query, found] of [
      ['?nonsense=1&_type=Patient', ['patient']],
      ['?nonsense=1&_type=Device', []],
    ] as const) {
      const { entry = [], link, total } = await get(query);
      const [told] = entry;
      expect(told?.search.mode, query).to.equal('outcome');
      expect(JSON.stringify(told?.resource)).to.contain('http.nonsense').and.contain('warning');
      expect(entry.slice(1).map(({ resource }) => nameOf(resource))).to.deep.equal(found);
      expect(total).to.equal(found.length);
      expect(link[0]?.url).to.contain('_type=').and.not.contain('nonsense');
    }
    const indented = await get('?_count=1&_format=json&_pretty=true');
    expect(indented.entry).to.have.length(1);
    expect(indented.link.map(({ relation }) => relation)).to.deep.equal(['self', 'next']);
    for (const { url } of indented.link) expect(url).to.contain('_format=json').and.contain('_pretty=true');
  });

  it('shows parts of resources, on every page', async () => {
    let url: string | undefined = '?_elements=status&_count=2';
    const shown: Record<string, string[]> = {};
    while (url !== undefined) {
      const page: Bundle = await get(url);
      for (const { resource } of page.entry ?? []) shown[nameOf(resource)] = Object.keys(resource);
      url = next(page);
    }
    expect(shown.old).to.have.members(['resourceType', 'id', 'meta', 'status', 'code']);
    expect(shown.clinic).to.include('partOf');
    const { entry = [], link } = await get('?_summary=true&_type=Observation,Organization');
    expect(link[0]?.url).to.contain('_summary=true');
    for (const { resource } of entry) {
      expect(JSON.stringify(resource.meta), resource.resourceType).to.contain('SUBSETTED');
    }
    for (const query of ['_summary=count', '_summary=some', '_elements=nothing', '_elements:not=status']) {
      const answer = await service.fhir(`${path}?${query}`);
      expect([answer.status, answer.text], query).to.satisfy(
        ([code, text]: [number, string]) => code === 400 && text.includes(query.split(/[=:]/)[0] ?? ''),
      );
    }
  });

  it('refuses what it cannot answer', async () => {
    const statusOf = async (query: string) => (await service.fhir(query)).status;
    const unknown = refs.stranger?.replace(/.$/, (last) => (last === '0' ? '1' : '0'));
    expect(await statusOf(`/${unknown}/$everything`)).to.equal(404);
    expect(await statusOf('/Observation/1/$everything')).to.equal(404);
    const other = await service.newProject();
    expect((await service.fhir(path, { key: other })).status).to.equal(404);
    for (const [query, named] of [
      ['_since=yesterday', '_since'],
      ['start=2020-13', 'start'],
      ['start=2021&end=2020', 'start'],
      ['_type=Nothing', 'Nothing'],
      ['_count=0', '_count'],
      ['_count=-1', '_count'],
      ['_cursor=x', '_cursor'],
      ['_count=1&_count=2', '_count'],
    ] as const) {
      const answer = await service.fhir(`${path}?${query}`);
      expect([answer.status, answer.text], query).to.satisfy(
        ([code, text]: [number, string]) => code === 400 && text.includes(named),
      );
    }
    const strict = { headers: { Prefer: 'handling=strict' } };
    expect((await service.fhir(`${path}?nonsense=1`, strict)).status).to.equal(400);
    const deleted = await create('deleted', { resourceType: 'Patient' });
    await service.fhir(`/${deleted}`, { method: 'DELETE' });
    expect(await statusOf(`/${deleted}/$everything`)).to.equal(410);
  });
});
