import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Bundle {
  readonly total?: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly {
    readonly resource: { readonly resourceType: string; readonly id: string };
    readonly search: { readonly mode: string };
  }[];
}

/** https://hl7.org/fhir/R4/http.html#search */
describe('search of several types', () => {
  let service: InProcess;
  /** Maps an id to the name of its resource, in the order in which the resources were written. */
  const names = new Map<string, string>();
  const id = (name: string) => [...names].find(([, each]) => each === name)?.[0] ?? '';
  const create = async (name: string, resource: { resourceType: string; [key: string]: unknown }) => {
    const { json } = await service.post(`/${resource.resourceType}`, resource);
    names.set(json.id as string, name);
  };
  const tagged = { meta: { tag: [{ system: 'urn:t', code: 'x' }] } };
  before(async () => {
    service = await startInProcess();
    await create('doc', { resourceType: 'Practitioner', ...tagged });
    for (const patient of ['p', 'q']) {
      await create(patient, { resourceType: 'Patient', ...(patient === 'p' ? tagged : {}) });
      const subject = { reference: `Patient/${id(patient)}` };
      for (const n of [1, 2, 3]) {
        const code = { text: 'x' };
        await create(`${patient}-obs-${n}`, { resourceType: 'Observation', status: 'final', code, subject });
        await create(`${patient}-con-${n}`, {
          resourceType: 'Condition',
          code,
          subject,
          ...(n === 1 ? tagged : {}),
        });
      }
    }
    await create('own', {
      resourceType: 'Provenance',
      target: [{ reference: `Patient/${id('q')}` }],
      recorded: '2020-05-01T10:00:00Z',
      agent: [{ who: { reference: `Practitioner/${id('doc')}` } }],
    });
  });
  after(() => service.stop());

  const search = async (path: string): Promise<Bundle> => {
    const answer = await service.fhir(path);
    expect(answer.status, `${path}: ${answer.text}`).to.equal(200);
    return JSON.parse(answer.text) as Bundle;
  };
  const shown = ({ entry = [] }: Bundle) =>
    entry
      .filter(({ search: { mode } }) => mode === 'match')
      .map(({ resource }) => names.get(resource.id) ?? '?');
  /** All pages. */
  const walk = async (
    path: string,
    during: () => Promise<unknown> = async () => undefined,
  ): Promise<string[]> => {
    const all: string[] = [];
    for (let url: string | undefined = path; url !== undefined; ) {
      const bundle = await search(url);
      all.push(...shown(bundle));
      await during();
      url = bundle.link.find(({ relation }) => relation === 'next')?.url;
    }
    return all;
  };
  const inOrder = [...'pq'].flatMap((patient) => [
    ...[1, 2, 3].map((n) => `${patient}-obs-${n}`),
    ...[1, 2, 3].map((n) => `${patient}-con-${n}`),
  ]);

  it('finds in the types that _type names', async () => {
    const bundle = await search('?_type=Observation,Condition');
    expect(shown(bundle)).to.have.members(inOrder);
    expect(bundle.total).to.equal(12);
    expect(bundle.link).to.deep.equal([
      { relation: 'self', url: `${service.base}/?_type=Observation%2CCondition` },
    ]);
    expect(shown(await search('?_type=Patient,Practitioner&_tag=urn:t|x'))).to.deep.equal(['p', 'doc']);
    expect(shown(await search(`?_type=Observation,Condition&patient=${id('p')}&_count=200`))).to.have.length(
      6,
    );
    expect(shown(await search(`?_id=${id('q')}`))).to.deep.equal(['q']);
    expect((await search('?_type=ValueSet,Patient&_count=1')).total).to.be.greaterThan(10);
    expect(shown(await search('?_tag=x'))).to.have.members(['p', 'doc', 'p-con-1', 'q-con-1']);
    const total = await search('?_type=Observation,Condition&_summary=count');
    expect([total.total, total.entry]).to.deep.equal([12, undefined]);
    expect((await search('?_type=Observation,Condition&_total=none')).total).to.equal(undefined);
    expect((await search('?_type=Observation,Condition&_count=0')).entry).to.equal(undefined);
  });

  it('pages, each once, also while others write', async () => {
    for (const count of [1, 2, 3, 5, 6, 12]) {
      const all = await walk(`?_type=Observation,Condition&_count=${count}`);
      expect(all, `${count}`).to.have.length(12).and.to.have.members(inOrder);
      expect(all.slice(0, 6).every((name) => name.includes('obs'))).to.equal(true);
    }
    const written = [...names.values()].filter((name) => inOrder.includes(name));
    expect(await walk('?_type=Condition,Observation&_count=5&_sort=_id')).to.deep.equal(written);
    expect(await walk('?_type=Condition,Observation&_count=5&_sort=-_lastUpdated')).to.deep.equal(
      [...written].reverse(),
    );
    const first = await search('?_type=Condition,Observation&_count=5&_sort=_lastUpdated');
    expect(shown(first)).to.deep.equal(written.slice(0, 5));
    const others = () =>
      service.post('/Observation', {
        resourceType: 'Observation',
        status: 'final',
        code: { text: 'y' },
        subject: { reference: `Patient/${id('p')}` },
      });
    for (const sort of ['', '&_sort=_id', '&_sort=-_lastUpdated']) {
      const all = (await walk(`?_type=Condition,Observation&_count=4${sort}`, others)).filter(
        (name) => name !== '?',
      );
      expect(all, sort).to.have.length(12).and.to.have.members(inOrder);
    }
  });

  it('has all that a search of one type has', async () => {
    const bundle = await search(
      `?_type=Condition,Observation&_id=${id('p-obs-1')}&_include=Observation:subject&_elements=status`,
    );
    expect(bundle.entry?.map(({ resource }) => names.get(resource.id))).to.deep.equal(['p-obs-1', 'p']);
    expect(bundle.entry?.[0]?.resource).not.to.have.property('subject');
    const form = await service.fhir('/_search', {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: '_type=Condition,Observation&_count=2',
    });
    const page = JSON.parse(form.text) as Bundle;
    expect(shown(page)).to.have.length(2);
    expect(shown(await search(page.link[1]?.url ?? ''))).to.have.length(2);
    const unknown = await search('?_type=Patient,Condition&family=x&_count=200');
    expect(unknown.entry?.[0]?.search.mode).to.equal('outcome');
    expect(unknown.link[0]?.url).not.to.contain('family');
    expect(shown(unknown)).to.include('p');
    const strict = { headers: { Prefer: 'handling=strict' } };
    expect((await service.fhir('?_type=Patient,Condition&family=x', strict)).text).to.contain('http.family');
    for (const query of [
      '_type=Nothing',
      '_type=ServiceRequest',
      '_type=Patient,Condition&_sort=code',
      '_type=Patient,Condition&_cursor=x',
    ])
      expect((await service.fhir(`?${query}`)).status, query).to.equal(400);
    expect((await search('?_type=Observation,Condition')).total).to.be.greaterThan(11);
    expect(
      await service.fhir('?_type=Observation,Condition', { key: await service.newProject() }),
    ).to.have.nested.property('json.total', 0);
  });

  it('names a chain or _has whose end one of the types lacks, instead of searching without it', async () => {
    const strict = { headers: { Prefer: 'handling=strict' } };
    for (const [types, key] of [
      ['Observation,Condition', 'patient.nosuch'],
      ['Observation,Condition', 'subject:Patient.nosuch'],
      ['Observation,Condition', 'encounter.patient.nosuch'],
      ['Observation,Condition', 'performer.name'],
      ['Patient', '_has:Observation:nosuch:code'],
      ['Patient', '_has:Observation:patient:nosuch'],
      ['Patient,Practitioner', '_has:Nothing:subject:code'],
      ['Patient,Practitioner', 'activity'],
    ] as const) {
      const query = `?_type=${types}&${key}=x`;
      const refused = await service.fhir(query, strict);
      expect([refused.status, refused.text], query).to.satisfy(
        ([code, text]: [number, string]) => code === 400 && text.includes(key),
      );
      const bundle = await search(query);
      expect(bundle.entry?.[0]?.search.mode, query).to.equal('outcome');
      expect(bundle.link[0]?.url, query).not.to.contain('nosuch').and.not.to.contain('=x');
    }
    const q = id('q');
    for (const [query, found] of [
      [`?_type=Observation,Condition&patient._id=${q}`, 6],
      [`?_type=Observation,Condition&subject:Patient._id=${q}`, 6],
      ['?_type=Patient&_has:Condition:patient:_tag=x', 2],
      ['?_type=Patient&_has:Observation:subject:patient.birthdate:missing=true', 2],
      [`?_type=Provenance&activity=CREATE&patient=${q}`, 1],
    ] as const)
      expect((await service.fhir(query, strict)).json, query).to.have.property('total', found);
    const chain = `?_type=Observation,Condition&encounter.${'part-of.'.repeat(7)}status=x`;
    expect((await service.fhir(chain)).status).to.equal(400);
    expect((await service.fhir('?_type=Observation,Condition&code.x=1')).status).to.equal(400);
  });

  it('finds in a record, all of it or some types', async () => {
    const record = `/Patient/${id('q')}`;
    const own = inOrder.filter((name) => name.startsWith('q'));
    expect(shown(await search(`${record}/*`))).to.have.members(['q', ...own, 'own']);
    expect(await walk(`${record}/*?_count=3`)).to.have.members(['q', ...own, 'own']);
    expect(shown(await search(`${record}/*?_type=Condition`))).to.have.members([
      'q-con-1',
      'q-con-2',
      'q-con-3',
    ]);
    expect((await walk(`${record}/*?_sort=-_lastUpdated&_count=3`)).at(0)).to.equal('own');
    const provenances = await search(`${record}/*?_type=Provenance&_count=200`);
    expect(provenances.total).to.be.greaterThan(7);
    const form = await service.fhir(`${record}/_search`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: '_type=Observation',
    });
    expect(shown(JSON.parse(form.text) as Bundle)).to.have.length(3);
    expect((await service.fhir('/Patient/nobody/*')).status).to.equal(404);
    expect((await service.fhir(`${record}/*`, { key: await service.newProject() })).status).to.equal(404);
    expect((await service.fhir(`${record}/*?_type=Practitioner`)).status).to.equal(400);
    expect((await service.fhir(`${record}/Practitioner`)).status).to.equal(404);
    const one = await search(
      `${record}/Observation?_sort=-_lastUpdated&_summary=true&_include=Observation:patient`,
    );
    expect(one.entry).to.have.length(4);
  });

  it('does not wait for what it does not need', async () => {
    const held = await service.pool.connect();
    try {
      await held.query('begin');
      await held.query('lock table search.entry in exclusive mode');
      await create('late', { resourceType: 'Patient' });
      const asked = { timeoutMs: 3_000 };
      const found = await service.fhir(`/Patient?_id=${id('late')}&_sort=-_lastUpdated`, asked);
      expect(found.json.total).to.equal(1);
      expect((await service.fhir(`/Observation?patient=${id('late')}`, asked)).json.total).to.equal(0);
      const waits = service.fhir(`/Patient?_id=${id('late')}&_revinclude=Observation:subject`);
      expect(await Promise.race([waits, service.fhir('/metadata').then(() => 'earlier')])).to.equal(
        'earlier',
      );
      await held.query('rollback');
      expect((await waits).json.total).to.equal(1);
    } finally {
      held.release(true);
    }
  });
});
