import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Bundle {
  readonly type: string;
  readonly total?: number;
  readonly link: readonly { readonly relation: string; readonly url: string }[];
  readonly entry?: readonly {
    readonly fullUrl?: string;
    readonly resource: { readonly resourceType: string; readonly id: string };
    readonly search: { readonly mode: string };
  }[];
}

/** https://hl7.org/fhir/R4/http.html#search over `_id _lastUpdated identifier patient subject` */
describe('FHIR search', () => {
  let service: InProcess;
  /** Patients a to e, oldest first. */
  const ids: string[] = [];
  const times: string[] = [];
  before(async () => {
    service = await startInProcess();
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      const identifier = [
        { system: 'urn:letters', value: name },
        { system: 'urn:all', value: 'x,y|z' },
        { value: `bare-${name}` },
      ];
      const answer = await service.post('/Patient', { resourceType: 'Patient', identifier });
      const { id, meta } = answer.json as { id: string; meta: { lastUpdated: string } };
      ids.push(id);
      times.push(meta.lastUpdated);
    }
  });
  after(() => service.stop());

  const search = async (query: string): Promise<Bundle> => {
    const answer = await service.fhir(query);
    expect(answer.status, `${query}: ${answer.text}`).to.equal(200);
    return JSON.parse(answer.text) as Bundle;
  };
  const matches = (bundle: Bundle) =>
    (bundle.entry ?? [])
      .filter(({ search: { mode } }) => mode === 'match')
      .map(({ resource }) => resource.id);
  /** Returns the letters that a query finds. */
  const found = async (query: string): Promise<string> => {
    const bundle = await search(`/Patient?${query}`);
    const letters = matches(bundle).map((id) => 'abcde'[ids.indexOf(id)] ?? '?');
    expect(bundle.total, query).to.equal(letters.length);
    return letters.join('');
  };
  const next = (bundle: Bundle) => bundle.link.find(({ relation }) => relation === 'next')?.url;

  it('finds by identifier in every form of a token', async () => {
    expect(await found('identifier=b')).to.equal('b');
    expect(await found('identifier=urn:letters|c')).to.equal('c');
    expect(await found('identifier=urn:letters|')).to.equal('abcde');
    expect(await found('identifier=|bare-d')).to.equal('d');
    expect(await found('identifier=|d')).to.equal('');
    expect(await found('identifier=urn:other|d')).to.equal('');
    expect(await found('identifier=a,urn:letters|e,nobody')).to.equal('ae');
    expect(await found('identifier=a&identifier=bare-a')).to.equal('a');
    expect(await found('identifier=a&identifier=b')).to.equal('');
    expect(await found(`identifier=${encodeURIComponent('urn:all|x\\,y\\|z')}`)).to.equal('abcde');
    expect(await found(`identifier=${'x'.repeat(3000)}`)).to.equal('');
    expect(await found('identifier=')).to.equal('abcde');
  });

  it('finds by id and by time', async () => {
    expect(await found(`_id=${ids[1]}`)).to.equal('b');
    expect(await found(`_id=${ids[4]},${ids[0]},client-id`)).to.equal('ae');
    expect(await found(`_lastUpdated=${times[2]}`)).to.equal('c');
    expect(await found(`_lastUpdated=ne${times[2]}`)).to.equal('abde');
    expect(await found(`_lastUpdated=gt${times[2]}`)).to.equal('de');
    expect(await found(`_lastUpdated=ge${times[2]}&_lastUpdated=lt${times[4]}`)).to.equal('cd');
    expect(await found(`_lastUpdated=le${times[1]}`)).to.equal('ab');
    expect(await found(`_lastUpdated=${times[0]?.slice(0, 10)}`)).to.equal('abcde');
    expect(await found('_lastUpdated=eb2020-01')).to.equal('');
    expect(await found('_lastUpdated=sa2020-01-01T10:00:00+02:00')).to.equal('abcde');
  });

  it('finds what is in a record, by patient, subject and compartment', async () => {
    const observation = async (patient: string) =>
      service.post('/Observation', {
        resourceType: 'Observation',
        status: 'final',
        code: { text: 'x' },
        subject: { reference: `Patient/${patient}` },
      });
    const [first = '', second = ''] = ids;
    await observation(first);
    await observation(first);
    await observation(second);
    const total = async (path: string) => (await search(path)).total;
    expect(await total(`/Observation?patient=${first}`)).to.equal(2);
    expect(await total(`/Observation?patient=Patient/${first},${second}`)).to.equal(3);
    expect(await total(`/Observation?subject=${service.base}/Patient/${second}`)).to.equal(1);
    expect(await total(`/Observation?subject:Patient=${second}`)).to.equal(1);
    expect(await total('/Observation?subject=Group/1')).to.equal(0);
    expect(await total('/Observation?subject=https://elsewhere.example/Patient/1')).to.equal(0);
    expect(await total(`/Patient/${first}/Observation`)).to.equal(2);
    expect(await total(`/Patient/${first}/Condition`)).to.equal(0);
    expect((await service.fhir('/Patient/nobody/Observation')).status).to.equal(404);
    expect((await service.fhir(`/Patient/${first}/Organization`)).status).to.equal(404);
  });

  it('sorts, and pages in either order without drift while others write', async () => {
    const order = async (sort: string) =>
      matches(await search(`/Patient?identifier=urn:letters|&_sort=${sort}`));
    expect(await order('_id')).to.deep.equal(ids);
    expect(await order('-_id')).to.deep.equal([...ids].reverse());
    expect(await order('_lastUpdated')).to.deep.equal(ids);
    expect(await order('-_lastUpdated')).to.deep.equal([...ids].reverse());
    const touch = (id: string, value: string) =>
      service.fhir(`/Patient/${id}`, {
        method: 'PUT',
        body: JSON.stringify({ resourceType: 'Patient', id, identifier: [{ system: 'urn:paged', value }] }),
      });
    const paged: string[] = [];
    for (let i = 0; i < 9; i += 1) {
      const identifier = [{ system: 'urn:paged', value: `${i}` }];
      paged.push(String((await service.post('/Patient', { resourceType: 'Patient', identifier })).json.id));
    }
    for (const sort of ['_id', '-_id', '_lastUpdated', '-_lastUpdated']) {
      const path = `/Patient?identifier=urn:paged|&_sort=${sort}`;
      const expected = matches(await search(path));
      expect([...expected].sort()).to.deep.equal([...paged].sort());
      const seen: string[] = [];
      for (let url: string | undefined = `${path}&_count=2`; url !== undefined; ) {
        const bundle: Bundle = await search(url);
        seen.push(...matches(bundle));
        // The resources on both sides of the page boundary change: a patient that was already shown, and a patient that
        // wasn't.
        await touch(expected[0] ?? '', `first ${seen.length}`);
        await touch(expected.at(-1) ?? '', `last ${seen.length}`);
        url = next(bundle);
      }
      expect(seen, sort).to.deep.equal(expected);
    }
  });

  it('shapes the answer: _count, _total, _summary, self link', async () => {
    const page = await search(
      '/Patient?identifier=urn:letters|&_count=2&unknown=1&identifier:=&_format=json',
    );
    expect(matches(page)).to.have.length(2);
    expect(page.total).to.equal(5);
    const self = page.link.find(({ relation }) => relation === 'self')?.url;
    expect(self).to.equal(`${service.base}/Patient?identifier=urn%3Aletters%7C&_count=2&_format=json`);
    expect((await search('/Patient?_total=none')).total).to.equal(undefined);
    for (const query of ['_summary=count', '_count=0', '_summary=count&_total=none']) {
      const counted = await search(`/Patient?identifier=urn:letters|&${query}`);
      expect([counted.total, counted.entry]).to.deep.equal([5, undefined]);
    }
    const [first] = (await search(`/Patient?_id=${ids[0]}`)).entry ?? [];
    expect(first?.fullUrl).to.equal(`${service.base}/Patient/${ids[0]}`);
  });

  it('names unknown parameters, and refuses them when handling is strict', async () => {
    const lenient = await search('/Patient?identifier=urn:letters|a&colour=red');
    const [outcome] = lenient.entry ?? [];
    expect(outcome?.search.mode).to.equal('outcome');
    expect(JSON.stringify(outcome?.resource)).to.contain('colour').and.to.contain('warning');
    const strict = await service.fhir('/Patient?colour=red&shape=round', {
      headers: { Prefer: 'handling=strict' },
    });
    expect(strict.status).to.equal(400);
    expect(strict.text).to.contain('colour').and.to.contain('shape');
  });

  it('names the parameter that was probably meant', async () => {
    for (const [path, meant] of [
      ['/Patient?famliy=sand', 'family'],
      ['/Patient?birth-date=1980', 'birthdate'],
      ['/Patient?_counts=5', '_count'],
      ['/Observation?patinet=5', 'patient'],
      ['/Observation?patinet.name=x', 'patient.name'],
      ['/Observation?patient.famly=x', 'patient.family'],
      ['/Observation?subject:Patient.famly:exact=x', 'subject:Patient.family:exact'],
      ['/Provenance?activty=DELETE', 'activity'],
      ['/?_type=Condition,Observation&encountr=5', 'encounter'],
    ] as const) {
      const answer = await service.fhir(path);
      const [outcome] = (JSON.parse(answer.text) as Bundle).entry ?? [];
      const said = `it was ignored; did you mean \`${meant}\`?`;
      expect(JSON.stringify(outcome?.resource), path).to.contain(said);
      const strict = await service.fhir(path, { headers: { Prefer: 'handling=strict' } });
      expect([strict.status, strict.text.includes(`did you mean \`${meant}\`?`)], path).to.deep.equal([
        400,
        true,
      ]);
    }
    const far = await service.fhir('/Patient?nothinglikethat=1');
    expect(far.text).to.contain('nothinglikethat').and.not.to.contain('did you mean');
    const criteria = await service.fhir('/Patient?_count=1', { method: 'DELETE' });
    expect([criteria.status, criteria.text.includes('did you mean')]).to.deep.equal([400, false]);
  });

  it('says that the Patient of a record cannot be searched by its version, in every form', async () => {
    for (const base of ['', `${service.base}/`])
      for (const name of ['subject', 'patient', 'subject:Patient']) {
        const answer = await service.fhir(`/Observation?${name}=${base}Patient/${ids[0]}/_history/1`);
        expect(answer.status, answer.text).to.equal(400);
        expect(answer.text).to.contain('versions cannot be searched here');
      }
    const elsewhere = await search('/Observation?subject=https://other.example/Patient/1/_history/1');
    expect(elsewhere.total).to.equal(0);
  });

  it('takes 50 parameters and no more', async () => {
    const query = (length: number) => Array.from({ length }, (_, n) => `name:exact=x${n}`).join('&');
    expect((await service.fhir(`/Patient?${query(50)}`)).status).to.equal(200);
    const refused = await service.fhir(`/Patient?${query(51)}`);
    expect([refused.status, refused.text.includes('too-costly')]).to.deep.equal([400, true]);
  });

  it('takes the parameters of a form, and pages on by GET', async () => {
    const answer = await service.fhir('/Patient/_search?_count=2', {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'identifier=urn:letters|&identifier=urn:all|',
    });
    expect(answer.status).to.equal(200);
    const bundle = JSON.parse(answer.text) as Bundle;
    expect([bundle.total, matches(bundle).length]).to.deep.equal([5, 2]);
    expect(matches(await search(next(bundle) ?? ''))).to.deep.equal(ids.slice(2, 4));
    expect((await service.fhir('/Patient/_search', { method: 'POST' })).status).to.equal(200);
    expect((await service.fhir('/Patient/_search', { method: 'POST', body: '{}' })).status).to.equal(415);
  });

  it('no longer finds what was deleted', async () => {
    const identifier = [{ system: 'urn:deleted', value: '1' }];
    const { id } = (await service.post('/Patient', { resourceType: 'Patient', identifier })).json;
    expect((await search('/Patient?identifier=urn:deleted|1')).total).to.equal(1);
    await service.fhir(`/Patient/${id}`, { method: 'DELETE' });
    expect((await search('/Patient?identifier=urn:deleted|1')).total).to.equal(0);
    expect((await search(`/Patient?_id=${id}`)).total).to.equal(0);
  });
});
