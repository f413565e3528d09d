/** `GET /admin/projects/{id}/access-log`: auditors see who read what, and the proof that nothing is missing. */
import { expect } from 'chai';
import { openAccessSearch } from '#queries/audit/access-search.ts';
import { keepCheckpoint } from '#src/operations/checkpoints.ts';
import {
  type Auditing,
  openAuditing,
  PATIENT,
  REASON,
  refusalsOf,
  type Written,
  weightOf,
} from '#test/support/auditing.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

interface Page {
  readonly data: readonly Record<string, unknown>[];
  readonly next_cursor: string | null;
  readonly proof: Record<string, unknown> | null;
  readonly logs_key_reads: boolean;
}

describe('the access log for auditors', () => {
  let service: InProcess;
  let auditing: Auditing;
  let patient: Written;
  let weight: Written;
  let live: Written;
  let path: string;

  before(async () => {
    service = await startInProcess({}, { ACCESS_LOG: 'all' });
    auditing = await openAuditing(service);
    const { project, production, sandbox, owner, write } = auditing;
    path = `/projects/${project}/access-log`;
    patient = await write(PATIENT);
    live = await write(PATIENT, production.key);
    const { key } = sandbox;
    const sent = await service.fhir('/Observation', {
      key,
      method: 'POST',
      headers: { 'X-Service-Source-System': 'https://lab.example' },
      body: JSON.stringify(weightOf(patient.id, 61)),
    });
    weight = JSON.parse(sent.text) as Written;
    await service.fhir(`/Observation/${weight.id}`, { key });
    await service.fhir(`/Observation?patient=${patient.id}`, { key });
    await service.fhir(`/Patient/${live.id}`, { key: production.key });
    await owner.done('GET', `/projects/${project}/patients`);
  });
  after(() => service?.stop());

  const ask = async (query: string): Promise<Page> =>
    (await auditing.auditor.done('GET', `${path}?${query}`)) as unknown as Page;

  it('says who read what, for whom, of what kind and from where', async () => {
    const { data, proof, logs_key_reads } = await ask('');
    expect([proof, logs_key_reads]).to.deep.equal([null, true]);
    expect(data.map(({ action, resource_type }) => `${action} ${resource_type}`)).to.deep.equal([
      'search-type Patient',
      'search-type Observation',
      'read Observation',
    ]);
    expect(data[2]).to.deep.include({
      patient: patient.id,
      entry: 1,
      actor: 'sandbox key',
      actor_ref: `key/${auditing.sandbox.id}`,
      organization: 'Clinic',
      category: 'results',
      source_system: 'https://lab.example',
      person: null,
      status: 'ok',
    });
    const { issuer, subject, email } = auditing.owner;
    expect(data[0]).to.deep.include({
      actor: email,
      organization: 'Clinic',
      category: 'demographics',
      source_system: null,
      person: { issuer, subject },
    });
  });

  it('is searched by each condition, in pages', async () => {
    const all = (await ask('')).data;
    const counts: readonly (readonly [string, number])[] = [
      [`patient=${patient.id}`, 3],
      [`key=${auditing.sandbox.id}`, 2],
      [`patient=${patient.id}&key=${auditing.sandbox.id}`, 2],
      [`key=${auditing.production.id}`, 0],
      ['application=app_x', 0],
      [`person=${auditing.owner.email}`, 1],
      ['person=OWNER@', 1],
      ['person=@clinic', 1],
      [`person=${auditing.owner.subject}`, 1],
      ['person=nobody', 0],
      ['action=read', 1],
      ['action=read,search-type', 3],
      ['status=denied', 0],
      [`from=${all[1]?.ts}`, 2],
      [`to=${all[1]?.ts}`, 1],
      [`patient=${patient.id}&from=${all[1]?.ts}`, 2],
      [`patient=${patient.id}&to=${all[1]?.ts}`, 1],
      [`key=${auditing.sandbox.id}&to=${all[1]?.ts}`, 1],
      ['environment=production', 1],
    ];
    for (const [query, count] of counts) expect((await ask(query)).data, query).to.have.length(count);
    const reversed = await auditing.auditor.ask('GET', `${path}?from=2026-03-02&to=2026-03-01`);
    expect(reversed.status).to.equal(422);
    expect(reversed.text).to.contain('"query.from"').and.contain('"query.to"');
    for (const condition of ['', `patient=${patient.id}`, `key=${auditing.sandbox.id}`]) {
      const whole = (await ask(condition)).data;
      const first = await ask(`${condition}&limit=1`);
      const rest = await ask(`${condition}&limit=${whole.length - 1}&cursor=${first.next_cursor}`);
      expect([...first.data, ...rest.data], condition).to.deep.equal(whole);
      expect(rest.next_cursor).to.equal(null);
    }
    expect((await auditing.auditor.ask('GET', `${path}?patient=${live.id}`)).status).to.equal(404);
    for (const wrong of ['patient=Ida Sand', 'key=server', 'application=App', 'action=a reading']) {
      const { status, text } = await auditing.auditor.ask('GET', `${path}?${wrong}`);
      expect([status, JSON.parse(text).error.field]).to.deep.equal([422, `query.${wrong.split('=')[0]}`]);
    }
  });

  it('looks through a bounded number of entries, and says how far', async () => {
    const { accesses } = openAccessSearch(service.pool, 1);
    const tenant = { project: auditing.project, environment: 'sandbox' as const };
    for (const condition of [{}, { patient: patient.id }, { key: auditing.sandbox.id }]) {
      let found = 0;
      let pages = 0;
      for (let cursor: string | undefined; ; pages += 1) {
        const page = await accesses(tenant, { limit: 10, cursor, actions: ['read'], ...condition });
        found += page.rows.length;
        if (page.next === undefined) break;
        cursor = page.next;
      }
      expect([found, pages > 0], JSON.stringify(condition)).to.deep.equal([1, true]);
    }
  });

  it('has what proves that nothing is missing', async () => {
    const unread = await auditing.write(PATIENT);
    expect((await ask(`patient=${unread.id}`)).proof).to.deep.equal({
      entries: 0,
      hash: null,
      checkpoint: null,
    });
    const { proof, data } = await ask(`patient=${patient.id}`);
    expect(proof).to.deep.include({ entries: 3, hash: data[0]?.hash, checkpoint: null });
    const client = await service.pool.connect();
    const stream = `access-${patient.id}`;
    const lines = async function* () {
      yield `{"stream":"access-0","revision":1,"hash":"a"}\n`;
      yield `{"stream":"${stream}","revision":2,"hash":"${data[1]?.hash}"}\n`;
      yield '{"statement":{}}\n';
    };
    const facts = {
      time: '2026-11-29T14:00:00.000000Z',
      position: '',
      events: 1,
      streams: 0,
      access_logs: 2,
      root: 'r',
    };
    const id = await keepCheckpoint(client, lines(), 'key', () => facts).finally(() => client.release());
    expect((await ask(`patient=${patient.id}`)).proof).to.deep.include({
      checkpoint: { id, time: facts.time, revision: 2, hash: data[1]?.hash, root: 'r' },
    });
  });

  it('names patients when it is asked to, which is a read of each', async () => {
    const [before] = (await ask('limit=1')).data;
    expect(before?.patient_name).to.equal(null);
    const [named] = (await ask(`limit=1&patient=${patient.id}&names=true`)).data;
    expect(named?.patient_name).to.be.a('string').and.contain(PATIENT.name[0]?.family);
    expect((await ask(`limit=1&patient=${patient.id}`)).data[0]).to.deep.include({
      action: 'search-type',
      resource_type: 'Patient',
      actor: auditing.auditor.email,
    });
    // Without a reason, production shows no content.
    const [unnamed] = (await ask('limit=1&environment=production&names=true')).data;
    expect(unnamed?.patient_name).to.equal(null);
  });

  it('is for auditors of the project, and needs a reason in production', async () => {
    for (const each of [path, `${path}?patient=${patient.id}`])
      expect(await refusalsOf(auditing, 'GET', each), each).to.deep.equal([403, 404, 404]);
    const production = `/admin${path}?environment=production`;
    expect((await auditing.session.ask(production)).status).to.equal(400);
    expect((await auditing.session.ask(production, { headers: REASON })).status).to.equal(200);
  });
});
