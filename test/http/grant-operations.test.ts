/** FHIR operations under a grant (docs/spec/decisions.md, sections 1 and 9). */
import { expect } from 'chai';
import { signIn } from '#test/support/admin.ts';
import { type Allowed, type Application, Granting } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const LAB = 'laboratory';
const VITAL = 'vital-signs';
const UNKNOWN = '01890000-0000-7000-8000-000000000000';
const LOINC = 'http://loinc.org';

interface Resource {
  readonly resourceType: string;
  readonly id: string;
}

describe('operations under a grant', () => {
  let service: InProcess;
  let granting: Granting;
  let application: Application;
  let record: string;
  let other: string;
  let clinic: string;
  let doctor: string;
  let labs: string[];
  let vital: string;
  let condition: string;
  let whole: Allowed;
  let narrow: Allowed;

  before(async () => {
    service = await startInProcess();
    granting = await Granting.open(service);
    const owner = await signIn(service, 'owner@example.org');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Hearty' });
    const { id } = await owner.done('POST', `/organizations/${organization}/projects`, { name: 'App' });
    application = await granting.register(owner, id);
    clinic = await created({ resourceType: 'Organization', name: 'Clinic of conditions' });
    doctor = await created({ resourceType: 'Practitioner', name: [{ family: 'Ruiz' }] });
    const identifier = [{ system: 'urn:mrn', value: 'M-1' }];
    record = await created({ resourceType: 'Patient', identifier, name: [{ family: 'Sand' }] });
    other = await created({ resourceType: 'Patient', name: [{ family: 'Other' }] });
    labs = [];
    for (let n = 0; n < 3; n += 1)
      labs.push(
        await observed(record, LAB, `2026-01-0${n + 1}`, { performer: [to('Practitioner', doctor)] }),
      );
    vital = await observed(record, VITAL, '2026-01-05', { performer: [to('Organization', clinic)] });
    condition = await created({
      resourceType: 'Condition',
      subject: to('Patient', record),
      asserter: to('Practitioner', doctor),
      clinicalStatus: {
        coding: [{ system: 'http://terminology.hl7.org/CodeSystem/condition-clinical', code: 'active' }],
      },
      code: { text: 'Gout' },
    });
    await observed(other, LAB, '2026-01-01');
    whole = await granting.allow(application, record);
    narrow = await granting.allow(application, record, {
      scopes: [`patient/Observation.rs?category=${LAB}`, 'patient/Provenance.rs', 'patient/Condition.r'],
    });
  });
  after(async () => {
    await granting?.close();
    await service?.stop();
  });

  const to = (type: string, id: string) => ({ reference: `${type}/${id}` });
  async function created(body: object): Promise<string> {
    const { resourceType } = body as Resource;
    return String((await service.post(`/${resourceType}`, body)).json.id);
  }
  const observed = (patient: string, category: string, effectiveDateTime: string, more: object = {}) =>
    created({
      resourceType: 'Observation',
      status: 'final',
      code: { coding: [{ system: LOINC, code: '4548-4' }] },
      category: [
        {
          coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: category }],
        },
      ],
      subject: to('Patient', patient),
      effectiveDateTime,
      valueQuantity: { value: 7, unit: '%' },
      ...more,
    });
  const ask = (allowed: Allowed, path: string) => service.fhir(path, { key: allowed.token });
  const post = (allowed: Allowed, path: string, body: object) =>
    service.fhir(path, { method: 'POST', key: allowed.token, body: JSON.stringify(body) });
  const resourcesIn = (json: object) =>
    ((json as { entry?: { resource: Resource }[] }).entry ?? []).map(({ resource }) => resource);
  async function everything(allowed: Allowed, query = ''): Promise<{ ids: string[]; total: unknown }> {
    const { json, text, status } = await ask(allowed, `/Patient/${allowed.patient}/$everything${query}`);
    expect(status, text).to.equal(200);
    expect(text).not.to.contain(record);
    expect(text).not.to.contain('Other');
    return { ids: resourcesIn(json).map(({ id }) => id), total: json.total };
  }
  async function logged(requestId: string | null): Promise<unknown[]> {
    const sql =
      'select action, resource_type, resource_id, status, count from operations.access_entry where request_id = $1';
    return (await service.pool.query(sql, [requestId])).rows;
  }

  it('$everything answers with what the grant covers, and the directory entries that this names', async () => {
    const all = await everything(whole);
    expect(all.ids.sort()).to.deep.equal([whole.patient, ...labs, vital, condition, clinic, doctor].sort());
    expect(all.total).to.equal(6);
    // The grant for Condition lacks `s`, so Condition is left out. Only resources outside the category refer to the clinic.
    const some = await everything(narrow);
    expect(some.ids.sort()).to.deep.equal([narrow.patient, ...labs, doctor].sort());
    expect(some.total).to.equal(4);
    const byPost = await post(narrow, `/Patient/${narrow.patient}/$everything`, {
      resourceType: 'Parameters',
      parameter: [{ name: '_count', valueInteger: 5000 }],
    });
    expect(resourcesIn(byPost.json).map(({ id }) => id)).to.deep.equal((await everything(narrow)).ids);
  });

  it('$everything limits by all its parameters to what the grant covers', async () => {
    expect((await everything(narrow, '?_type=Observation')).ids.sort()).to.deep.equal([...labs].sort());
    expect((await everything(narrow, '?_type=Organization,Practitioner')).ids).to.deep.equal([doctor]);
    expect((await everything(narrow, '?start=2026-01-02&end=2026-01-05')).ids).to.have.members([
      narrow.patient,
      ...labs.slice(1),
      doctor,
    ]);
    expect((await everything(narrow, '?_since=2100-01-01')).ids).to.deep.equal([]);
    expect((await everything(narrow, '?_offset=3&_count=50')).ids).to.have.length(2);
    // Provenances of the Patient and three Observations, and of nothing else.
    expect((await everything(narrow, '?_type=Provenance')).total).to.equal(4);
    expect((await everything(narrow, '?_type=Provenance&_offset=3')).ids).to.have.length(1);
    for (const type of ['Condition', 'Encounter']) {
      const refused = await ask(narrow, `/Patient/${narrow.patient}/$everything?_type=Patient,${type}`);
      expect([refused.status, refused.text.includes(`patient/${type}.rs`)]).to.deep.equal([403, true]);
    }
    const paged: string[] = [];
    for (let path = `/Patient/${narrow.patient}/$everything?_count=1`; path !== ''; ) {
      const { json, text, status } = await ask(narrow, path);
      expect(status, text).to.equal(200);
      expect(text).not.to.contain(record);
      paged.push(...resourcesIn(json).map(({ id }) => id));
      const links = json.link as unknown as { relation: string; url: string }[];
      path = links.find(({ relation }) => relation === 'next')?.url ?? '';
      for (const id of [record, ...labs]) {
        const cursor = path === '' ? '' : (new URL(path).searchParams.get('_cursor') ?? '');
        expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.to.contain(id);
      }
    }
    expect(paged).to.deep.equal((await everything(narrow)).ids);
  });

  it('$everything of a resource that changed its category between two reads of the page shows it to nobody', async () => {
    const large = await observed(record, LAB, '2026-02-01', { note: [{ text: 'x'.repeat(60_000) }] });
    expect((await everything(narrow)).ids).to.include(large);
    const { json } = await service.fhir(`/Observation/${large}`);
    const category = [
      { coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: VITAL }] },
    ];
    const body = JSON.stringify({ ...json, category });
    await service.fhir(`/Observation/${large}`, { method: 'PUT', body });
    expect((await everything(narrow)).ids).not.to.include(large);
    await service.fhir(`/Observation/${large}`, { method: 'DELETE' });
  });

  it('$summary has sections of what the grant covers alone', async () => {
    const sections = async (allowed: Allowed, path: string) => {
      const { json, text, status, headers } = await ask(allowed, path);
      expect(status, text).to.equal(200);
      expect(text).not.to.contain(record);
      const [entry] = await logged(headers.get('service-request-id'));
      expect(entry).to.include({ action: '$summary', resource_type: 'Patient', status: 'ok', count: 1 });
      return resourcesIn(json)
        .map(({ resourceType, id }) => `${resourceType}/${id}`)
        .filter((name) => !name.startsWith('Composition/'));
    };
    const own = `/Patient/${whole.patient}/$summary`;
    expect(await sections(whole, own)).to.include.members([
      `Patient/${whole.patient}`,
      `Condition/${condition}`,
      `Observation/${vital}`,
    ]);
    const some = await sections(narrow, `/Patient/${narrow.patient}/$summary`);
    const { text: ofPart } = await ask(narrow, `/Patient/${narrow.patient}/$summary`);
    expect(ofPart).to.contain("The grant of this application doesn't cover problems.");
    expect(ofPart)
      .to.contain('Made of the part of the record')
      .and.not.contain('holds no information about problems');
    expect((await ask(whole, own)).text).not.to.contain('Made of the part of the record');
    expect(some).to.include(`Patient/${narrow.patient}`).and.to.include(`Observation/${labs[2]}`);
    // The service and its vendor are authors of every summary.
    const stated = await sections(whole, own);
    const found = some.filter((name) => !/^(?:Patient|Observation|Practitioner)\//.test(name));
    expect(found.filter((name) => !/^(?:Device|Organization)\//.test(name))).to.deep.equal([]);
    expect(stated).to.include.members(found);
    expect(found).not.to.include(`Organization/${clinic}`);
    expect(some).not.to.include(`Observation/${vital}`);
    expect(await sections(whole, '/Patient/$summary?identifier=urn:mrn|M-1')).to.deep.equal(
      await sections(whole, own),
    );
  });

  it('neither shows nor confirms references into other records', async () => {
    const about = await observed(record, LAB, '2026-03-01', {
      focus: [to('Patient', other), { ...to('Patient', other), display: 'A relative' }],
    });
    const asks = [
      `focus=Patient/${other}`,
      `focus=${other}`,
      `focus:Patient=${other}`,
      `focus=${service.base}/Patient/${other}`,
    ];
    for (const query of asks) {
      const path = `/Observation?${query}&_total=accurate`;
      expect((await service.fhir(path)).json.total, query).to.equal(1);
      expect((await ask(whole, path)).json.total, query).to.equal(0);
    }
    expect((await ask(whole, `/Observation?patient=${whole.patient}&_total=accurate`)).json.total).to.equal(
      5,
    );
    for (const path of [
      `/Observation/${about}`,
      `/Patient/${whole.patient}/$everything`,
      `/Patient/${whole.patient}/$summary`,
    ]) {
      const { status, text } = await ask(whole, path);
      expect(status, path).to.equal(200);
      expect(text, path).to.contain('A relative');
      expect(text, path).not.to.contain(other);
    }
    await service.fhir(`/Observation/${about}`, { method: 'DELETE' });
  });

  it('neither knows other records, nor the real id', async () => {
    for (const operation of ['$everything', '$summary']) {
      const answers = async (id: string) => {
        const { status, text } = await ask(whole, `/Patient/${id}/${operation}`);
        return [status, text.replaceAll(id, 'ID')];
      };
      const unknown = await answers(UNKNOWN);
      expect(unknown[0]).to.equal(404);
      for (const id of [record, other]) expect(await answers(id)).to.deep.equal(unknown);
    }
    const { headers } = await ask(narrow, `/Patient/${narrow.patient}/$everything`);
    expect(await logged(headers.get('service-request-id'))).to.deep.equal([
      { action: '$everything', resource_type: 'Patient', resource_id: record, status: 'ok', count: 5 },
    ]);
  });

  it('$validate tells about what was sent, and about stored resources within the grant', async () => {
    const about = (reference: string) => ({
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'x' },
      subject: { reference },
    });
    const answers = async (body: object, path = '/Observation/$validate') => {
      const { status, text } = await post(narrow, path, body);
      return { status, text };
    };
    const valid = await answers(about(`Patient/${narrow.patient}`));
    expect([valid.status, valid.text.includes('"error"')]).to.deep.equal([200, false]);
    for (const id of [record, other, UNKNOWN])
      expect(await answers(about(`Patient/${id}`))).to.deep.equal(valid);
    const invalid = await answers({ ...about(`Patient/${record}`), [record]: 1 });
    expect(invalid.text).to.contain('"error"').and.to.contain(record);
    const wrong = await answers({ ...about(`Patient/${narrow.patient}`), [narrow.patient]: 1 });
    expect(wrong.text).to.equal(invalid.text.replaceAll(record, narrow.patient));
    // Without an id, nothing of that type is read.
    expect((await answers({ resourceType: 'Encounter' }, '/Encounter/$validate')).status).to.equal(200);
    expect((await ask(narrow, `/Observation/${labs[0]}/$validate?mode=profile`)).status).to.equal(200);
    for (const id of [vital, UNKNOWN])
      expect((await ask(narrow, `/Observation/${id}/$validate?mode=profile`)).status, id).to.equal(404);
    const refused = await ask(narrow, `/Encounter/${UNKNOWN}/$validate?mode=profile`);
    expect([refused.status, refused.text.includes('patient/Encounter.r')]).to.deep.equal([403, true]);
    for (const mode of ['create', 'update', 'delete']) {
      const path = `/Observation${mode === 'create' ? '' : `/${labs[0]}`}/$validate?mode=${mode}`;
      expect((await answers(about(`Patient/${narrow.patient}`), path)).status, mode).to.equal(403);
    }
  });

  it('$validate rehearses the writes that the grant covers, says what they would, and writes nothing', async () => {
    const writes = await granting.allow(application, record, {
      scopes: [`patient/Observation.cruds?category=${LAB}`],
    });
    const { patient } = writes;
    const body = (category: string, more: object = {}) => ({
      resourceType: 'Observation',
      status: 'final',
      category: [
        {
          coding: [{ system: 'http://terminology.hl7.org/CodeSystem/observation-category', code: category }],
        },
      ],
      code: { text: 'x' },
      subject: { reference: `Patient/${patient}` },
      ...more,
    });
    const tried = async (path: string, resource?: object) => {
      const options = resource === undefined ? {} : { body: JSON.stringify(resource) };
      const { status, json, text } = await service.fhir(path, {
        method: 'POST',
        key: writes.token,
        ...options,
      });
      expect(text).not.to.contain(record);
      const issues = (json as { issue: { severity: string; code: string }[] }).issue;
      return [status, ...issues.filter(({ severity }) => severity === 'error').map(({ code }) => code)];
    };
    const lab = labs[0] ?? '';
    const at = (id: string, mode: string) => `/Observation/${id}/$validate?mode=${mode}`;
    expect(await tried('/Observation/$validate?mode=create', body(LAB))).to.deep.equal([200]);
    expect(await tried('/Observation/$validate?mode=create', body(VITAL))).to.deep.equal([200, 'forbidden']);
    expect(await tried(at(lab, 'update'), body(LAB, { id: lab }))).to.deep.equal([200]);
    expect(await tried(at(lab, 'update'), body(VITAL, { id: lab }))).to.deep.equal([200, 'forbidden']);
    expect(await tried(at(lab, 'delete'))).to.deep.equal([200]);
    const unknown = {
      update: await tried(at(UNKNOWN, 'update'), body(LAB, { id: UNKNOWN })),
      delete: await tried(at(UNKNOWN, 'delete')),
    };
    expect(unknown.delete[0]).to.equal(404);
    expect(await tried(at(vital, 'update'), body(LAB, { id: vital }))).to.deep.equal(unknown.update);
    expect(await tried(at(vital, 'delete'))).to.deep.equal(unknown.delete);
    expect(await tried('/Patient/$validate?mode=create', { resourceType: 'Patient' })).to.deep.equal([
      403,
      'forbidden',
    ]);
    expect((await ask(writes, `/Observation/${lab}`)).json.meta).to.include({ versionId: '1' });
  });

  it('the terminology needs no scope, read, searched or asked for codes', async () => {
    const status = 'http://hl7.org/fhir/observation-status';
    const set = 'http://hl7.org/fhir/ValueSet/observation-status';
    for (const path of [
      `/CodeSystem/$lookup?system=${status}&code=final`,
      `/CodeSystem/$validate-code?url=${status}&code=final`,
      `/CodeSystem/$subsumes?system=${status}&codeA=final&codeB=final`,
      `/ValueSet/$expand?url=${set}`,
      `/ValueSet/$validate-code?url=${set}&system=${status}&code=final`,
      `/ConceptMap/$translate?system=${status}&code=final&target=${set}`,
    ]) {
      const [own, seen] = [await service.fhir(path), await ask(narrow, path)];
      expect(seen.status, path).to.equal(own.status);
      const steady = (text: string) => text.replace(/"(?:timestamp|identifier)":"[^"]*"/g, '');
      expect(steady(seen.text), path).to.equal(steady(own.text));
      expect(await logged(seen.headers.get('service-request-id'))).to.have.length(1);
    }
    const { json } = await service.fhir(`/ValueSet?url=${set}`);
    const [{ id } = { id: '' }] = resourcesIn(json);
    expect((await ask(narrow, `/ValueSet/${id}/$expand`)).status).to.equal(200);
    for (const path of ['/ValueSet', `/ValueSet/${id}`, '/CodeSystem', '/ConceptMap', '/?_type=ValueSet'])
      expect((await ask(narrow, path)).status, path).to.equal(200);
    expect((await ask(whole, `/ValueSet?url=${set}`)).json.total).to.equal(1);
  });
});
