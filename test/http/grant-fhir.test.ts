/** Reads and searches of the FHIR interface under a grant (docs/spec/decisions.md, sections 1 and 9). */
import { expect } from 'chai';
import { signIn } from '#test/support/admin.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';

const LAB = 'laboratory';
const VITAL = 'vital-signs';
const UNKNOWN = '01890000-0000-7000-8000-000000000000';

interface Entry {
  readonly action: string;
  readonly resource_type: string | null;
  readonly resource_id: string | null;
  readonly status: string;
  readonly count: number | null;
  readonly actor_id: string;
  readonly grant_id: string;
}

describe('the FHIR interface under a grant', () => {
  let service: InProcess;
  let granting: Granting;
  let application: Application;
  let record: string;
  let other: string;
  let encounter: string;
  let condition: string;
  let labs: string[];
  let vital: string;
  let plain: string;
  let foreign: string;
  let whole: Allowed;
  let narrow: Allowed;

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    application = await granting.register(owner, id);
    record = await created({ resourceType: 'Patient', name: [{ family: 'Sand' }] });
    other = await created({ resourceType: 'Patient', name: [{ family: 'Sand' }] });
    encounter = await created({
      resourceType: 'Encounter',
      status: 'finished',
      class: { code: 'AMB' },
      subject: { reference: `Patient/${record}` },
    });
    condition = await created({
      resourceType: 'Condition',
      subject: { reference: `Patient/${record}` },
      code: { text: 'Gout' },
    });
    labs = [];
    for (let n = 0; n < 3; n += 1) labs.push(await observed(record, LAB, n));
    vital = await observed(record, VITAL, 7);
    plain = await observed(record, undefined, 8);
    foreign = await observed(other, LAB, 9);
    whole = await granting.allow(application, record);
    narrow = await granting.allow(application, record, {
      scopes: [`patient/Observation.rs?category=${LAB}`],
    });
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  async function created(body: object): Promise<string> {
    return String((await service.post(`/${(body as { resourceType: string }).resourceType}`, body)).json.id);
  }
  const system = 'http://terminology.hl7.org/CodeSystem/observation-category';
  const observation = (patient: string, category: string | undefined, value: number) => ({
    resourceType: 'Observation',
    status: 'final',
    code: { coding: [{ system: 'http://loinc.org', code: '4548-4' }] },
    subject: { reference: `Patient/${patient}` },
    ...(patient === record ? { encounter: { reference: `Encounter/${encounter}` } } : {}),
    ...(category === undefined ? {} : { category: [{ coding: [{ system, code: category }] }] }),
    valueQuantity: { value, unit: '%' },
  });
  const observed = (patient: string, category: string | undefined, value: number) =>
    created(observation(patient, category, value));
  const ask = (allowed: Allowed, path: string, headers: Record<string, string> = {}) =>
    service.fhir(path, { key: allowed.token, headers });
  const idsIn = (json: object) =>
    ((json as { entry?: { resource: { id: string } }[] }).entry ?? []).map(({ resource }) => resource.id);
  /** Returns a response's status, and its text without the requested id, so that refusals can be compared. */
  async function refusal(allowed: Allowed, path: string, id: string): Promise<unknown[]> {
    const { status, text } = await ask(allowed, path.replace('ID', id));
    return [status, text.replaceAll(id, 'ID')];
  }
  async function entries(of: string): Promise<Entry[]> {
    return (
      await service.pool.query<Entry>(
        'select action, resource_type, resource_id, status, count, actor_id, grant_id from operations.access_entry where request_id = $1 order by seq',
        [of],
      )
    ).rows;
  }

  it('reads, reads versions and histories as the owner does, under the pairwise id', async () => {
    for (const path of [
      `/Observation/${labs[0]}`,
      `/Observation/${labs[0]}/_history/1`,
      `/Observation/${labs[0]}/_history`,
      `/Observation?_sort=_id&_count=2&_total=accurate`,
      `/Condition?code:text=gout`,
      '/Observation/_history',
    ]) {
      const [own, seen] = [await service.fhir(path), await ask(whole, path)];
      expect([own.status, seen.status], path).to.deep.equal([200, 200]);
      expect(seen.text, path).not.to.contain(record);
      if (!path.includes('?') && !path.endsWith('/_history'))
        expect(seen.text).to.equal(own.text.replaceAll(record, whole.patient));
      expect(seen.headers.get('etag')).to.equal(own.headers.get('etag'));
    }
    const history = (await ask(whole, `/Patient/${whole.patient}/_history`)).json;
    expect([history.total, idsIn(history)]).to.deep.equal([1, [whole.patient]]);
  });

  it('answers for what a category leaves out, and for other records, as for unknown ids', async () => {
    for (const path of ['/Observation/ID', '/Observation/ID/_history', '/Observation/ID/_history/1']) {
      const unknown = await refusal(narrow, path, UNKNOWN);
      expect(unknown[0], path).to.equal(404);
      for (const id of [vital, plain, foreign])
        expect(await refusal(narrow, path, id), path).to.deep.equal(unknown);
      expect((await ask(narrow, path.replace('ID', labs[1] ?? ''))).status, path).to.equal(200);
      expect(await refusal(whole, path, foreign), path).to.deep.equal(await refusal(whole, path, UNKNOWN));
    }
  });

  it('refuses a type outside the grant, naming it and the scope', async () => {
    for (const [path, scope] of [
      [`/Condition/${condition}`, 'patient/Condition.r'],
      [`/Condition/${UNKNOWN}`, 'patient/Condition.r'],
      [`/Condition/${condition}/_history`, 'patient/Condition.r'],
      [`/Condition/${condition}/_history/1`, 'patient/Condition.r'],
      ['/Condition', 'patient/Condition.s'],
      ['/Condition/_history', 'patient/Condition.s'],
      [`/Patient/${narrow.patient}/Condition`, 'patient/Condition.s'],
      [`/Encounter/${encounter}/Observation`, 'patient/Encounter.r'],
      ['/Observation?encounter.status=finished', 'patient/Encounter.s'],
      ['/Observation?encounter:Encounter.status=finished', 'patient/Encounter.s'],
      ['/Patient?_has:Condition:patient:code=x', 'patient/Condition.s'],
      ['/?_type=Observation,Condition', 'patient/Condition.rs'],
      ['/Observation?_include=Observation:encounter', 'patient/Encounter.s'],
      ['/Patient?_revinclude=Condition:subject', 'patient/Condition.s'],
    ] as const) {
      const refused = await ask(narrow, path);
      expect(refused.status, `${path} ${refused}`).to.equal(403);
      expect(refused.text, path).to.contain(scope);
      expect(refused.headers.get('www-authenticate')).to.equal(
        `Bearer realm="annal", error="insufficient_scope", scope="${scope}"`,
      );
    }
    const open = await ask(whole, '/Observation?encounter.status=finished&_total=accurate');
    expect(open.json.total).to.equal(5);
    expect((await ask(narrow, '/Observation?subject:Patient.name=sand&_total=accurate')).json.total).to.equal(
      3,
    );
  });

  it('searches what the grant covers, page by page, with cursors that hold no id', async () => {
    const found: string[] = [];
    let path = '/Observation?_count=1&_sort=_id&_total=accurate';
    for (let page = 0; path !== '' && page < 9; page += 1) {
      const { json, text, status } = await ask(narrow, path);
      expect([status, page > 0 ? 3 : json.total]).to.deep.equal([200, 3]);
      found.push(...idsIn(json));
      const links = json.link as unknown as { relation: string; url: string }[];
      const next = links.find(({ relation }) => relation === 'next')?.url ?? '';
      for (const { url } of links)
        for (const id of [record, ...labs]) {
          const cursor = new URL(url).searchParams.get('_cursor');
          expect(Buffer.from(cursor ?? '', 'base64url').toString('latin1')).not.to.contain(id);
        }
      const previous = links.find(({ relation }) => relation === 'previous')?.url;
      if (page > 0) expect(idsIn((await ask(narrow, previous ?? '')).json)).to.deep.equal([found[page - 1]]);
      expect(text).not.to.contain(record);
      path = next;
    }
    expect(found).to.deep.equal([...labs].sort());
    const own = await service.fhir('/Observation?_count=1&_sort=_id');
    const plainCursor = /_cursor=([\w-]+)/.exec(own.text)?.[1] ?? '';
    expect((await ask(narrow, `/Observation?_count=1&_sort=_id&_cursor=${plainCursor}`)).status).to.equal(
      400,
    );
  });

  it('includes what the grant covers, under the ids that the application knows', async () => {
    const shown = async (allowed: Allowed, path: string) => {
      const { json, text, headers, status } = await ask(allowed, path);
      expect(status, text).to.equal(200);
      expect(text, path).not.to.contain(record);
      const [entry] = await entries(headers.get('service-request-id') ?? '');
      const all = (json.entry ?? []) as unknown as {
        resource: { resourceType: string; id: string };
        search: { mode: string };
      }[];
      expect(entry?.count, path).to.equal(all.length);
      const included = all.filter(({ search }) => search.mode === 'include');
      return included.map(({ resource }) => `${resource.resourceType}/${resource.id}`).sort();
    };
    const patient = (allowed: Allowed) => `Patient/${allowed.patient}`;
    const [first = ''] = labs;
    const one = `/Observation?_id=${first}`;
    expect(await shown(narrow, `${one}&_include=Observation:patient`)).to.deep.equal([patient(narrow)]);
    expect(await shown(narrow, `${one}&_include=*`)).to.deep.equal([patient(narrow)]);
    expect(await shown(whole, `${one}&_include=*`)).to.deep.equal([`Encounter/${encounter}`, patient(whole)]);
    const observations = (ids: readonly string[]) => ids.map((id) => `Observation/${id}`).sort();
    expect(await shown(narrow, '/Patient?_revinclude=Observation:subject')).to.deep.equal(observations(labs));
    expect(await shown(narrow, '/Patient?_revinclude=*')).to.deep.equal(observations(labs));
    expect(await shown(whole, '/Patient?_revinclude=Observation:patient')).to.deep.equal(
      observations([...labs, vital, plain]),
    );
    const recorded = await shown(whole, `${one}&_revinclude=Provenance:target`);
    expect(recorded).to.have.length(1);
    expect((await ask(whole, `/${recorded[0]}`)).status).to.equal(200);
    const iterated = await shown(
      whole,
      `${one}&_include=Observation:encounter&_include:iterate=Encounter:patient`,
    );
    expect(iterated).to.deep.equal([`Encounter/${encounter}`, patient(whole)]);
    const refused = await ask(narrow, `${one}&_revinclude=Provenance:target`);
    expect([refused.status, refused.text.includes('patient/Provenance.s')]).to.deep.equal([403, true]);
  });

  it('takes both ids in parameters and forms: one leads to the record, the other nowhere', async () => {
    const totals = async (id: string) => {
      const form = await service.fhir('/Observation/_search', {
        method: 'POST',
        key: whole.token,
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: `subject=Patient/${id}&_total=accurate`,
      });
      const query = await ask(whole, `/Observation?patient=${id}&_total=accurate`);
      return [form.json.total, query.json.total];
    };
    expect(await totals(whole.patient)).to.deep.equal([5, 5]);
    for (const id of [record, other, UNKNOWN]) expect(await totals(id)).to.deep.equal([0, 0]);
  });

  it('lists all types that it covers: by system, and by compartment', async () => {
    const typesAt = async (allowed: Allowed, path: string) => {
      const { json, status } = await ask(allowed, path);
      expect(status, `${path} ${JSON.stringify(json)}`).to.equal(200);
      const all = (json.entry ?? []) as unknown as { resource: { resourceType: string; id: string } }[];
      expect(all.map(({ resource }) => resource.id)).not.to.include(foreign);
      const types = [...new Set(all.map(({ resource }) => resource.resourceType))].sort();
      return [types.join(), json.total ?? all.length];
    };
    for (const path of ['/', '/_history', `/Patient/PID/*`]) {
      const of = (allowed: Allowed) => typesAt(allowed, path.replace('PID', allowed.patient));
      expect(await of(narrow), path).to.deep.equal(['Observation,Patient', 4]);
      expect(await of(whole), path).to.deep.equal(['Condition,Encounter,Observation,Patient', 8]);
    }
    expect((await ask(whole, `/Encounter/${encounter}/Observation?_total=accurate`)).json.total).to.equal(5);
    expect((await ask(whole, `/Patient/${record}/*`)).status).to.equal(404);
  });

  it('means the same by a search of several types as a key does, whatever it covers', async () => {
    const several = async (token: string | undefined, patient: string, path: string) => {
      const { status, text } = await service.fhir(path.replace('PID', patient), {
        ...(token === undefined ? {} : { key: token }),
      });
      return { status, warnings: [...text.matchAll(/has no search parameter [\w.-]+/g)].map(String) };
    };
    // All types that `narrow` covers support these parameters, but not all types of the search do.
    for (const path of ['/?patient.name=Other', '/?identifier=x', '/Patient/PID/*?code=x&identifier=x']) {
      const owned = await several(undefined, record, path);
      expect([owned.status, owned.warnings.length > 0], path).to.deep.equal([200, true]);
      expect(await several(narrow.token, narrow.patient, path), path).to.deep.equal(owned);
    }
    // Refused because of the first type that can't be a performer, whether the grant covers that type or not.
    const wrong = '/Patient/PID/*?_has:Observation:performer:code=1';
    const [owned, own] = await Promise.all([
      service.fhir(wrong.replace('PID', record)),
      ask(narrow, wrong.replace('PID', narrow.patient)),
    ]);
    expect([owned.status, own.text]).to.deep.equal([400, owned.text]);
  });

  it('sorts several types by the ids that the application knows', async () => {
    // The real id is older than all other ids in the record; the pairwise id is newer.
    for (const [path, place] of [
      ['/?_sort=_id', -1],
      ['/?_sort=-_id', 0],
      [`/Patient/${narrow.patient}/*?_sort=_id`, -1],
    ] as const) {
      const ids = idsIn((await ask(narrow, path)).json);
      expect([ids.length, ids.at(place)], path).to.deep.equal([4, narrow.patient]);
      const sorted = [...ids].sort();
      expect(ids, path).to.deep.equal(place === 0 ? sorted.reverse() : sorted);
    }
  });

  it("searches Provenances, automatic ones and clients' own, whose targets it covers", async () => {
    const [first = '', second = ''] = labs;
    const wrote = async (target: readonly string[]) =>
      created({
        resourceType: 'Provenance',
        target: target.map((reference) => ({ reference })),
        recorded: '2026-01-01T00:00:00Z',
        agent: [{ who: { display: 'A clinic' } }],
      });
    const [claim, mixed] = [
      await wrote([`Observation/${first}`, `Patient/${record}`]),
      await wrote([`Observation/${first}`, `Observation/${vital}`]),
    ];
    const recorded = await granting.allow(application, record, {
      scopes: [`patient/Observation.rs?category=${LAB}`, 'patient/Provenance.rs'],
    });
    const found = async (path: string) => {
      const { json, text, status } = await ask(recorded, path);
      expect(status, text).to.equal(200);
      expect(text, path).not.to.contain(record);
      for (const id of [mixed, vital, plain, foreign]) expect(text, path).not.to.contain(id);
      return { ids: idsIn(json), total: json.total };
    };
    const about = await found(`/Provenance?target=Observation/${first}`);
    expect([about.total, about.ids.includes(claim)]).to.deep.equal([2, true]);
    // Provenances of three Observations, the Patient and the claim, followed by the claim itself.
    for (const path of [
      '/Provenance?_sort=_id',
      `/Patient/${recorded.patient}/Provenance`,
      '/?_type=Provenance',
      `/Patient/${recorded.patient}/*?_type=Provenance`,
    ])
      expect((await found(path)).total, path).to.equal(6);
    const paged: string[] = [];
    for (let path = '/Provenance?_count=2'; path !== ''; ) {
      const { json, text } = await ask(recorded, path);
      expect(text).not.to.contain(record);
      paged.push(...idsIn(json));
      const links = json.link as unknown as { relation: string; url: string }[];
      path = links.find(({ relation }) => relation === 'next')?.url ?? '';
    }
    expect(paged.sort()).to.deep.equal((await found('/Provenance')).ids.sort());
    expect((await found(`/Provenance?patient=Patient/${recorded.patient}`)).total).to.equal(2);
    for (const id of [record, other]) {
      expect((await ask(recorded, `/Provenance?patient=Patient/${id}`)).json.total).to.equal(0);
      expect((await ask(recorded, `/Patient/${id}/Provenance`)).status).to.equal(404);
    }
    expect((await found(`/Observation?_id=${first}&_revinclude=Provenance:target`)).ids.sort()).to.deep.equal(
      [first, ...about.ids].sort(),
    );
    expect((await found(`/Provenance?_id=${claim}&_include=Provenance:target`)).ids.sort()).to.deep.equal(
      [claim, first, recorded.patient].sort(),
    );
    expect((await found(`/Provenance?target=Observation/${second}&activity=CREATE`)).total).to.equal(1);
    const key = (await service.fhir(`/Provenance?target=Observation/${second}`)).text;
    const [, keyId = ''] = /"value":"(key_[^"]+)"/.exec(key) ?? [];
    expect(keyId).to.match(/^key_/);
    expect((await found(`/Provenance?agent:identifier=${keyId}`)).total).to.equal(0);
    for (const path of ['/Provenance', `/Patient/${narrow.patient}/Provenance`, '/?_type=Provenance'])
      expect((await ask(narrow, path)).status, path).to.equal(403);
  });

  it('has every read in the access log before it answers: also 304, HEAD and refusals', async () => {
    const [first = ''] = labs;
    const logged = async (allowed: Allowed, path: string, init: object = {}) => {
      const answer = await service.fhir(path, { key: allowed.token, ...init });
      return { answer, request: answer.headers.get('service-request-id') ?? '' };
    };
    const of = { actor_id: application.applicationId, grant_id: narrow.data.grant_id };
    const observations = { ...of, resource_type: 'Observation', status: 'ok' };
    for (const [path, init, entry] of [
      [`/Observation/${first}`, {}, { action: 'read', resource_id: first, count: 1 }],
      [`/Observation/${first}`, { method: 'HEAD' }, { action: 'read', resource_id: first, count: 1 }],
      [
        `/Observation/${first}`,
        { headers: { 'If-None-Match': 'W/"1"' } },
        { action: 'read', resource_id: first, count: 0 },
      ],
      [`/Observation/${first}/_history/1`, {}, { action: 'vread', resource_id: first, count: 1 }],
      [`/Observation/${first}/_history`, {}, { action: 'history-instance', resource_id: first, count: 1 }],
      ['/Observation', {}, { action: 'search-type', resource_id: null, count: 3 }],
    ] as const) {
      const { request } = await logged(narrow, path, init);
      // No waiting is needed: the entry was durable before the response was sent.
      expect(await entries(request), path).to.deep.equal([{ ...observations, ...entry }]);
    }
    const patient = await logged(narrow, `/Patient/${narrow.patient}`);
    expect((await entries(patient.request))[0]).to.include({ resource_type: 'Patient', resource_id: record });
    for (const [path, status, entry] of [
      [`/Condition/${condition}`, 403, { resource_type: 'Condition', status: 'denied' }],
      [`/Observation/${vital}`, 404, { resource_type: 'Observation', status: 'not_found' }],
      ['/Observation?_count=x', 400, { resource_type: 'Observation', status: 'error' }],
    ] as const) {
      const { answer, request } = await logged(narrow, path);
      expect(answer.status).to.equal(status);
      await eventually(async () => (await entries(request)).length === 1);
      expect((await entries(request))[0]).to.include({ ...of, ...entry });
    }
  });

  it('reads the patient by REST v1, too: with the same letters, ids and entries', async () => {
    const get = (id: string, token: string) =>
      fetch(`${service.url}/v1/patients/${id}`, { headers: { Authorization: `Bearer ${token}` } });
    const own = await (await get(record, service.key)).text();
    const seen = await get(narrow.patient, narrow.token);
    expect([seen.status, await seen.text()]).to.deep.equal([200, own.replaceAll(record, narrow.patient)]);
    expect(await entries(seen.headers.get('service-request-id') ?? '')).to.deep.equal([
      {
        action: 'read',
        resource_type: 'Patient',
        resource_id: record,
        status: 'ok',
        count: 1,
        actor_id: application.applicationId,
        grant_id: narrow.data.grant_id,
      },
    ]);
    const unknown = async (id: string) => {
      const answer = await get(id, narrow.token);
      const body = (await answer.text()).replaceAll(id, 'ID').replace(/req_[\w-]+/, 'REQUEST');
      return [answer.status, body];
    };
    expect((await unknown(UNKNOWN))[0]).to.equal(404);
    for (const id of [record, other]) expect(await unknown(id)).to.deep.equal(await unknown(UNKNOWN));
    const client = await granting.clientToken(application);
    expect((await get(record, client)).status).to.equal(404);
    expect((await get(record, `at_${'x'.repeat(43)}`)).status).to.equal(401);
  });

  it('sends nothing while the access log can’t be written', async () => {
    await service.pool.query('alter table operations.access_entry rename to access_entry_away');
    try {
      for (const path of [`/Observation/${labs[0]}`, '/Observation', '/_history']) {
        const { status, text } = await ask(whole, path);
        expect(status).to.equal(503);
        expect(text).not.to.contain('4548-4');
      }
    } finally {
      await service.pool.query('alter table operations.access_entry_away rename to access_entry');
    }
    await eventually(async () => (await ask(whole, '/Observation')).status === 200);
  });
});
