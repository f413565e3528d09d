import { expect } from 'chai';
import { MAX_INCLUDED } from '#queries/include/include.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Entry {
  readonly fullUrl?: string;
  readonly resource: {
    readonly resourceType: string;
    readonly id: string;
    readonly meta?: { readonly versionId: string };
    readonly issue?: readonly { readonly diagnostics: string }[];
  };
  readonly search: { readonly mode: 'match' | 'include' | 'outcome' };
}
interface Bundle {
  readonly total?: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly Entry[];
}

/** https://hl7.org/fhir/R4/search.html#include */
describe('_include and _revinclude', () => {
  let service: InProcess;
  /** Ids by the names used below. */
  const ids = new Map<string, string>();
  const id = (name: string) => ids.get(name) ?? '';
  const create = async (name: string, resource: { resourceType: string; [key: string]: unknown }) => {
    ids.set(name, (await service.post(`/${resource.resourceType}`, resource)).json.id as string);
  };
  const ref = (type: string, name: string) => ({ reference: `${type}/${id(name)}` });
  const observation = (name: string, more: object = {}) =>
    create(name, {
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: 'urn:c', code: name }] },
      subject: ref('Patient', 'p'),
      ...more,
    });
  before(async () => {
    service = await startInProcess();
    await create('top', { resourceType: 'Organization', name: 'top' });
    await create('middle', {
      resourceType: 'Organization',
      name: 'middle',
      partOf: ref('Organization', 'top'),
    });
    await create('bottom', {
      resourceType: 'Organization',
      name: 'bottom',
      partOf: ref('Organization', 'middle'),
    });
    await create('doc', { resourceType: 'Practitioner', name: [{ family: 'Doc' }] });
    await create('p', {
      resourceType: 'Patient',
      managingOrganization: { reference: `${service.base}/Organization/${id('bottom')}` },
      generalPractitioner: [ref('Practitioner', 'doc'), ref('Organization', 'bottom')],
    });
    await create('q', { resourceType: 'Patient', managingOrganization: ref('Organization', 'bottom') });
    await observation('a', { performer: [ref('Practitioner', 'doc'), ref('Patient', 'p')] });
    await observation('b', { hasMember: [ref('Observation', 'a')], performer: [ref('Practitioner', 'doc')] });
    await observation('c', { derivedFrom: [ref('Observation', 'b')] });
  });
  after(() => service.stop());

  const search = async (path: string): Promise<Bundle> => {
    const answer = await service.fhir(path);
    expect(answer.status, `${path}: ${answer.text}`).to.equal(200);
    return JSON.parse(answer.text) as Bundle;
  };
  const nameOf = (entry: Entry) => [...ids].find(([, value]) => value === entry.resource.id)?.[0] ?? '?';
  const shown = (bundle: Bundle, mode: string) =>
    (bundle.entry ?? [])
      .filter((entry) => entry.search.mode === mode)
      .map(nameOf)
      .sort()
      .join(' ');
  /** Returns matches, then `|`, then the resources included with them, by name. */
  const found = async (path: string) => {
    const bundle = await search(path);
    return `${shown(bundle, 'match')} | ${shown(bundle, 'include')}`.trim();
  };

  it('brings what the matches refer to, each once', async () => {
    expect(await found(`/Patient?_id=${id('p')}&_include=Patient:organization`)).to.equal('p | bottom');
    expect(await found('/Patient?_include=Patient:organization')).to.equal('p q | bottom');
    expect(await found('/Patient?_include=Patient:general-practitioner')).to.equal('p q | bottom doc');
    expect(await found('/Patient?_include=Patient:general-practitioner:Practitioner')).to.equal('p q | doc');
    expect(await found('/Observation?code=a,b&_include=Observation:performer')).to.equal('a b | doc p');
    expect(
      await found('/Observation?code=b&_include=Observation:performer&_include=Observation:has-member'),
    ).to.equal('b | a doc');
    expect(await found('/Observation?_include=Observation:has-member')).to.equal('a b c |');
    expect(await found('/Observation?code=a&_include=*')).to.equal('a | doc p');
    expect(await found('/Observation?code=a&_include=Observation:*')).to.equal('a | doc p');
    expect(await found('/Observation?code=a&_include=Patient:organization')).to.equal('a |');
    expect(await found(`/Patient/${id('p')}/Observation?code=a&_include=Observation:subject`)).to.equal(
      'a | p',
    );
    const bundle = await search('/Observation?code=a&_include=Observation:performer');
    expect(bundle.total).to.equal(1);
    expect(bundle.entry?.[1]?.fullUrl).to.equal(
      `${service.base}/${bundle.entry?.[1]?.resource.resourceType}/${bundle.entry?.[1]?.resource.id}`,
    );
  });

  it('brings what refers to the matches', async () => {
    const p = `/Patient?_id=${id('p')}`;
    expect(await found(`${p}&_revinclude=Observation:subject`)).to.equal('p | a b c');
    expect(await found(`${p}&_revinclude=Observation:patient`)).to.equal('p | a b c');
    expect(await found(`${p}&_revinclude=Observation:performer:Patient`)).to.equal('p | a');
    expect(await found(`${p}&_revinclude=Observation:performer:Practitioner`)).to.equal('p |');
    expect(await found(`/Organization?name=bottom&_revinclude=Patient:organization`)).to.equal(
      'bottom | p q',
    );
    expect(await found(`/Organization?name=top&_revinclude=*`)).to.match(/^top \| \? middle$/);
    expect(await found(`/Practitioner?_revinclude=Observation:*`)).to.equal('doc | a b');
    expect(await found('/Observation?code=a&_revinclude=Observation:has-member')).to.equal('a | b');
  });

  it('goes on with :iterate from what it brought', async () => {
    expect(await found('/Patient?_include=Patient:organization&_include=Organization:partof')).to.equal(
      'p q | bottom',
    );
    expect(
      await found('/Patient?_include=Patient:organization&_include:iterate=Organization:partof'),
    ).to.equal('p q | bottom middle top');
    expect(await found('/Organization?name=top&_revinclude:iterate=Organization:partof')).to.equal(
      'top | bottom middle',
    );
    expect(
      await found(
        '/Organization?name=top&_revinclude:iterate=Organization:partof&_revinclude:iterate=Patient:organization&_include:iterate=Patient:general-practitioner',
      ),
    ).to.equal('top | bottom doc middle p q');
    expect(
      await found(
        '/Observation?code=c&_include=Observation:derived-from&_include:iterate=Observation:has-member',
      ),
    ).to.equal('c | a b');
    // Round and round.
    const { id: x } = (await service.post('/Organization', { resourceType: 'Organization', name: 'x' })).json;
    ids.set('x', x as string);
    await create('y', { resourceType: 'Organization', name: 'y', partOf: ref('Organization', 'x') });
    const body = JSON.stringify({
      resourceType: 'Organization',
      id: x,
      name: 'x',
      partOf: ref('Organization', 'y'),
    });
    await service.fhir(`/Organization/${x}`, { method: 'PUT', body });
    expect(await found('/Organization?name=x&_include:iterate=Organization:partof')).to.equal('x | y');
  });

  it('brings the version that a reference names, and no version of what is deleted', async () => {
    await create('r', { resourceType: 'Patient', active: true });
    const update = { resourceType: 'Patient', id: id('r'), active: false };
    await service.fhir(`/Patient/${id('r')}`, { method: 'PUT', body: JSON.stringify(update) });
    await create('old', {
      resourceType: 'Provenance',
      target: [
        { reference: `Patient/${id('r')}/_history/1` },
        { reference: `Patient/${id('r')}/_history/2` },
        ref('Patient', 'r'),
      ],
      recorded: '2020-05-01T10:00:00Z',
      agent: [{ who: ref('Practitioner', 'doc') }],
    });
    const versions = async () =>
      ((await search(`/Provenance?_id=${id('old')}&_include=Provenance:target`)).entry ?? [])
        .filter(({ search: { mode } }) => mode === 'include')
        .map(({ resource }) => resource.meta?.versionId)
        .sort();
    expect(await versions()).to.deep.equal(['1', '2']);
    await service.fhir(`/Patient/${id('r')}`, { method: 'DELETE' });
    expect(await versions()).to.deep.equal([]);
    expect(await found(`/Patient?_id=${id('r')}&_revinclude=Provenance:target`)).to.equal('|');
  });

  it('brings the Provenances of every version, automatic and own', async () => {
    await create('s', { resourceType: 'Patient', active: true });
    const update = { resourceType: 'Patient', id: id('s'), active: false };
    await service.fhir(`/Patient/${id('s')}`, { method: 'PUT', body: JSON.stringify(update) });
    await create('own', {
      resourceType: 'Provenance',
      target: [{ reference: `Patient/${id('s')}/_history/1` }],
      recorded: '2020-05-01T10:00:00Z',
      agent: [{ who: ref('Practitioner', 'doc') }],
    });
    for (const code of ['target', 'patient', '*']) {
      const bundle = await search(`/Patient?_id=${id('s')}&_revinclude=Provenance:${code}`);
      const beside = (bundle.entry ?? []).filter(({ search: { mode } }) => mode === 'include');
      expect(beside.map(nameOf).sort(), code).to.deep.equal(['?', '?', 'own']);
      expect(new Set(beside.map(({ resource }) => resource.id)).size).to.equal(3);
    }
    const headers = { 'X-Service-Acting-As': `Practitioner/${id('doc')}` };
    const { id: written } = (
      await service.post(
        '/Observation',
        { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject: ref('Patient', 's') },
        headers,
      )
    ).json;
    const byAgent = await search(
      '/Practitioner?family=Doc&_revinclude=Provenance:agent&_include:iterate=Provenance:target',
    );
    expect((byAgent.entry ?? []).map(({ resource }) => resource.id)).to.include.members([id('own'), written]);
    const about = await search(
      `/Provenance?target=Observation/${written}&_include=Provenance:agent&_include=Provenance:target`,
    );
    expect((about.entry ?? []).slice(1).map(({ resource }) => resource.id)).to.have.members([
      id('doc'),
      written,
    ]);
  });

  it('never brings what is deleted or of another project', async () => {
    await create('gone', { resourceType: 'Organization', name: 'gone' });
    await create('t', { resourceType: 'Patient', managingOrganization: ref('Organization', 'gone') });
    await service.fhir(`/Organization/${id('gone')}`, { method: 'DELETE' });
    expect(await found(`/Patient?_id=${id('t')}&_include=Patient:organization`)).to.equal('t |');
    await observation('u', { subject: ref('Patient', 't') });
    await service.fhir(`/Observation/${id('u')}`, { method: 'DELETE' });
    expect(await found(`/Patient?_id=${id('t')}&_revinclude=Observation:subject`)).to.equal('t |');

    const key = await service.newProject();
    const mine = async (path: string, body: object) =>
      (await service.fhir(path, { method: 'POST', body: JSON.stringify(body), key })).json.id as string;
    // On another server, the same relative URL may refer to something else, so such a reference must be written as a full URL.
    const other = await mine('/Organization', { resourceType: 'Organization', name: 'theirs' });
    const patient = await mine('/Patient', {
      resourceType: 'Patient',
      managingOrganization: { reference: `Organization/${other}` },
    });
    // Simulates a reference that wrongly got into the read model, because reads must not rely on the read model here.
    const body = JSON.stringify({
      resourceType: 'Patient',
      id: id('t'),
      managingOrganization: { reference: `Organization/${other}` },
    });
    await service.pool.query('update resources.resource set body = $2 where id = $1', [id('t'), body]);
    expect(await found(`/Patient?_id=${id('t')}&_include=Patient:organization`)).to.equal('t |');
    expect(await found(`/Organization?name=theirs&_revinclude=Patient:organization`)).to.equal('|');
    const theirs = await service.fhir(`/Organization?_id=${other}&_revinclude=Patient:organization`, { key });
    expect(theirs.text).to.contain(patient).and.not.to.contain(id('t'));
  });

  it('names what it does not know', async () => {
    for (const query of [
      '_include=Nothing:subject',
      '_include=ServiceRequest:subject',
      '_include=Observation:nothing',
      '_include=Observation:code',
      '_include=Observation',
      '_include=Observation:subject:Nothing',
      '_include:recurse=Observation:subject',
      '_revinclude=Patient:name',
      '_revinclude:iterate:iterate=Observation:subject',
      '_summary=text&_include=Observation:subject',
    ]) {
      const answer = await service.fhir(`/Observation?${query}`);
      expect(answer.status, query).to.equal(400);
      expect(answer.text).to.match(/_(rev)?include|_summary/);
    }
    const lenient = await search(
      '/Patient?_include=&_include=Patient:organization&_include:iterate=Organization:partof',
    );
    expect(lenient.link[0]?.url).to.equal(
      `${service.base}/Patient?_include=Patient%3Aorganization&_include%3Aiterate=Organization%3Apartof`,
    );
  });

  it('says so when there is more than a page holds', async () => {
    await create('many', { resourceType: 'Organization', name: 'many' });
    const entry = Array.from({ length: MAX_INCLUDED + 1 }, () => ({
      resource: { resourceType: 'Organization', partOf: ref('Organization', 'many'), name: 'one' },
      request: { method: 'POST', url: 'Organization' },
    }));
    await service.post('/', { resourceType: 'Bundle', type: 'transaction', entry });
    const bundle = await search('/Organization?name=many&_revinclude=Organization:partof');
    const modes = (bundle.entry ?? []).map(({ search: { mode } }) => mode);
    expect(modes.filter((mode) => mode === 'include')).to.have.length(MAX_INCLUDED);
    expect(bundle.entry?.[0]?.search.mode).to.equal('outcome');
    expect(bundle.entry?.[0]?.resource.issue?.[0]?.diagnostics).to.contain(`${MAX_INCLUDED}`);
    const whole = await search('/Organization?name=top&_revinclude=Organization:partof');
    expect((whole.entry ?? []).map(({ search: { mode } }) => mode)).to.not.include('outcome');
  });
});
