/** Take-backs over HTTP, from plan to undo (docs/take-back.md). */
import { expect } from 'chai';
import { Kernel } from '#commands/kernel/kernel.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { RESOURCES, SnapshotLoader } from '#commands/resource/state.ts';
import { type ReadyStep, writeSteps } from '#commands/takeback/write-steps.ts';
import { openEventStore } from '#src/events/open.ts';
import { recordStream } from '#src/events/streams.ts';
import { Jobs } from '#src/operations/jobs/jobs.ts';
import { PostgresSnapshots } from '#src/operations/snapshots.ts';
import { Takebacks } from '#src/operations/takebacks/takebacks.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { readBodies } from '#src/takeback/history.ts';
import { carryOut } from '#src/takeback/run.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { linkOf } from '#test/support/me.ts';
import { patientVisitor } from '#test/support/patient-pages.ts';
import { eventually } from '#test/support/process.ts';
import { caughtUp, EVENTSTORE_URL } from '#test/support/project.ts';
import { startReceiver } from '#test/support/receiver.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { endpointAt } from '#test/support/webhooks.ts';

interface Takeback {
  readonly id: string;
  readonly status: string;
  readonly plan: Readonly<Record<string, unknown>> | null;
  readonly result: object | null;
  readonly undo_result: object | null;
}

const LAB = { 'X-Service-Source-System': 'Ward 3 analyser' };
const OTHER = { 'X-Service-Source-System': 'Clinic' };

describe('take-backs', () => {
  let service: InProcess;
  let owner: AdminUser;
  let project: string;
  let key: string;
  let path: string;

  const send = async (
    method: string,
    where: string,
    body: string | undefined,
    headers: Record<string, string>,
  ) => {
    const answer = await service.fhir(where, {
      key,
      method,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    expect(answer.status, `${method} ${where}: ${answer.text}`).to.be.below(300);
    return answer;
  };
  const create = async (resource: object, headers: Record<string, string>): Promise<string> => {
    const { resourceType } = resource as { resourceType: string };
    return String((await send('POST', `/${resourceType}`, JSON.stringify(resource), headers)).json.id);
  };
  const newPatient = (headers: Record<string, string> = OTHER) =>
    create({ resourceType: 'Patient', name: [{ family: 'Sand' }] }, headers);
  const observed = (patient: string, value: string) =>
    `{"resourceType":"Observation","status":"final","code":{"coding":[{"system":"http://loinc.org","code":"2160-0"}]},"subject":{"reference":"Patient/${patient}"},"effectiveDateTime":"2026-03-01","valueQuantity":{"value":${value},"unit":"mg/dL"}}`;
  const observe = async (patient: string, value: string, headers: Record<string, string>): Promise<string> =>
    String((await send('POST', '/Observation', observed(patient, value), headers)).json.id);
  const update = (patient: string, id: string, value: string, headers: Record<string, string>) =>
    send(
      'PUT',
      `/Observation/${id}`,
      observed(patient, value).replace('"status"', `"id":"${id}","status"`),
      headers,
    );
  const read = (where: string) => service.fhir(where, { key });
  /** Returns a resource's text without its version and time. */
  const content = async (where: string): Promise<string> => {
    const { status, text } = await read(where);
    return status === 200 ? text.replace(/"versionId":"\d+","lastUpdated":"[^"]+"/, '') : String(status);
  };
  const planned = async (body: object): Promise<Takeback> => {
    const { id } = await owner.done('POST', path, { environment: 'sandbox', ...body });
    return until(id, 'planned');
  };
  const until = async (id: string, status: string): Promise<Takeback> => {
    let found: Takeback | undefined;
    await eventually(async () => {
      found = (await owner.done('GET', `${path}/${id}`)) as unknown as Takeback;
      expect(found.status, JSON.stringify(found)).to.not.equal('failed');
      return found.status === status;
    });
    if (found === undefined) throw new Error('it was not found');
    return found;
  };
  const started = async (id: string): Promise<Takeback> => {
    await owner.done('POST', `${path}/${id}/start`);
    return until(id, 'done');
  };
  const undone = async (id: string): Promise<Takeback> => {
    await owner.done('POST', `${path}/${id}/undo`);
    return until(id, 'undone');
  };

  before(async () => {
    service = await startInProcess();
    owner = await signIn(service, 'owner@clinic.example');
    const { id: organization } = await owner.done('POST', '/organizations', { name: 'Clinic' });
    project = (await owner.done('POST', `/organizations/${organization}/projects`, { name: 'Pilot' })).id;
    path = `/projects/${project}/takebacks`;
    key = (await owner.done('POST', `/projects/${project}/keys`, { name: 'k', environment: 'sandbox' })).key;
  });
  after(() => service.stop());

  it('restore what was before, delete what was new, leave what others changed, and undo it byte for byte', async () => {
    const patient = await newPatient();
    const [changed, added, theirs, later] = [
      await observe(patient, '1.50', OTHER),
      await observe(patient, '2.0', LAB),
      await observe(patient, '3', OTHER),
      await observe(patient, '4', LAB),
    ];
    await update(patient, changed, '9.90', LAB);
    await update(patient, later, '5', OTHER);
    const places = [changed, added, theirs, later].map((id) => `/Observation/${id}`);
    const before = await Promise.all(places.map(content));
    const untouched = (await read(`/Observation/${theirs}`)).text;
    const takeback = await planned({
      select: { source_system: 'Ward 3 analyser' },
      reason: 'A wrong calibration',
    });
    expect(takeback.status).to.equal('planned');
    expect(takeback.plan).to.deep.include({
      versions: 3,
      records: 1,
      resources: 3,
      restored: 1,
      removed: 1,
      stays: 1,
    });
    expect(takeback.plan?.staying).to.deep.equal([
      { resource: `Observation/${later}`, version: 2, because: 'changed_since' },
    ]);
    expect(await Promise.all(places.map(content))).to.deep.equal(before);
    const done = await started(takeback.id);
    expect(done.result).to.deep.equal({ records: 1, versions: 2, stays: 1 });
    const first = (await read(`/Observation/${changed}/_history/1`)).text;
    expect(await Promise.all(places.map(content))).to.deep.equal([
      first.replace(/"versionId":"\d+","lastUpdated":"[^"]+"/, ''),
      '410',
      before[2],
      before[3],
    ]);
    expect(first).to.contain('"value":1.50');
    const { entry } = (await read(`/Provenance?target=Observation/${changed}/_history/3`))
      .json as unknown as {
      entry: readonly { resource: JsonObject }[];
    };
    const said = JSON.stringify(entry[0]?.resource);
    expect(said)
      .to.contain(`"display":"takeback/${takeback.id}"`)
      .and.contain(`Observation/${changed}/_history/1`);
    expect(said).to.contain('"code":"enterer"').and.contain(owner.subject).and.contain('"value":"import"');
    // Starting the take-back again writes nothing; an undo restores everything.
    expect((await owner.ask('POST', `${path}/${takeback.id}/start`)).status).to.equal(409);
    expect((await undone(takeback.id)).undo_result).to.deep.equal({ records: 1, versions: 2, stays: 0 });
    expect(await Promise.all(places.map(content))).to.deep.equal(before);
    expect((await read(`/Observation/${theirs}`)).text).to.equal(untouched);
    expect((await owner.ask('POST', `${path}/${takeback.id}/undo`)).status).to.equal(409);
    // After an undo, the same events can be taken back again.
    const again = await planned({ select: { source_system: 'Ward 3 analyser' } });
    expect(again.plan).to.deep.include({ restored: 1, removed: 1 });
  });

  it('count only receipts of answers that name a selected version', async () => {
    const source = { 'X-Service-Source-System': 'Mislabelled' };
    const patient = await newPatient();
    const id = await observe(patient, '1', source);
    const read = () =>
      service.fhir(`${service.url}/v1/context`, {
        key,
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ patient, budget_tokens: 900, format: 'text' }),
      });
    expect((await read()).status).to.equal(200);
    await update(patient, id, '2', OTHER);
    expect((await read()).status).to.equal(200);
    await eventually(async () => {
      const { rows } = await service.pool.query('select 1 from operations.receipt where record = $1', [
        patient,
      ]);
      return rows.length === 2;
    });
    const { plan } = await planned({ select: { source_system: 'Mislabelled' } });
    expect(plan?.told).to.deep.include({ contexts: 1, receipts: 1 });
  });

  it('count all webhook deliveries, and name only the project’s own endpoints', async () => {
    const patient = await newPatient();
    const id = await observe(patient, '1', { 'X-Service-Source-System': 'Delivered' });
    const deliver = async (endpoint: string, owner: string): Promise<void> => {
      await service.pool.query(
        `insert into webhooks.endpoint (id, project, environment, url, events, active, settings_at, secret, secret_at, created_at)
         values ($1, $2, 'sandbox', 'https://receiver.example', '{*}', true, 1, '', 1, 1)`,
        [endpoint, owner],
      );
      await service.pool.query(
        `insert into operations.webhook_delivery (id, endpoint_id, event_id, event_type, record, payload, status, delivered_at)
         values ('whd_' || $1, $1, 'evt_1', 'resource.created', $2, $3, 'delivered', now())`,
        [endpoint, patient, JSON.stringify({ data: { id } })],
      );
    };
    await deliver('whe_own', project);
    await deliver('whe_other', 'proj_other');
    const { plan } = await planned({ select: { source_system: 'Delivered' } });
    expect(plan?.told).to.deep.include({ webhooks: { deliveries: 2, endpoints: ['whe_own'] } });
  });

  it('keep the author type of the content that they restore', async () => {
    const patient = await newPatient();
    const id = await observe(patient, '1', { 'X-Service-Author-Type': 'patient' });
    await update(patient, id, '2', {
      'X-Service-Author-Type': 'practitioner',
      'X-Service-Source-System': 'Typed wrongly',
    });
    const author = async (): Promise<unknown> => {
      const { text } = await service.fhir(`${service.url}/v1/patients/${patient}/observations`, { key });
      const [item] = (JSON.parse(text) as { data: { version: number; author_type: string }[] }).data;
      const said = (await read(`/Provenance?target=Observation/${id}/_history/${item?.version}`)).text;
      expect(said).to.contain(`"value":"${item?.author_type}"`);
      return item?.author_type;
    };
    expect(await author()).to.equal('practitioner');
    const { id: takeback } = await planned({ select: { source_system: 'Typed wrongly' } });
    await started(takeback);
    expect(await author()).to.equal('patient');
    await undone(takeback);
    expect(await author()).to.equal('practitioner');
  });

  itAtFullSize('keep what an AI wrote marked as such, and find it by its model', async () => {
    const patient = await newPatient();
    const byAi = (model: string) => ({ 'X-Service-Author-Type': 'ai', 'X-Service-Author-Model': model });
    const id = await observe(patient, '1', byAi('m1'));
    await update(patient, id, '2', byAi('m2'));
    const before = await content(`/Observation/${id}`);
    expect(before).to.contain('AIAST');
    const takeback = await planned({ select: { author_type: 'ai', model: 'm2' } });
    expect(takeback.plan).to.deep.include({ versions: 1, restored: 1 });
    await started(takeback.id);
    const restored = await content(`/Observation/${id}`);
    expect(restored).to.contain('"value":1,').and.contain('AIAST');
    const listed = await service.fhir(`${service.url}/v1/patients/${patient}/observations`, { key });
    expect(listed.text).to.contain('"author_type":"ai"');
    await undone(takeback.id);
    expect(await content(`/Observation/${id}`)).to.equal(before);
    const refused = await service.fhir('/Observation', {
      key,
      method: 'POST',
      body: observed(patient, '1'),
      headers: { 'X-Service-Author-Model': 'm1' },
    });
    expect([refused.status, refused.text]).to.satisfy(
      ([status, text]: [number, string]) => status === 422 && text.includes('X-Service-Author-Model'),
    );
  });

  itAtFullSize(
    'delete a Patient with all that the source wrote, but not one whose record others use',
    async () => {
      const source = { 'X-Service-Source-System': 'Wrong import' };
      const [own, shared] = [await newPatient(source), await newPatient(source)];
      const observation = await observe(own, '1', source);
      await observe(shared, '1', OTHER);
      const practitioner = await create({ resourceType: 'Practitioner', name: [{ family: 'Doc' }] }, source);
      const takeback = await planned({ select: { source_system: 'Wrong import' } });
      expect(takeback.plan).to.deep.include({ records: 3, removed: 3, stays: 1 });
      expect(takeback.plan?.staying).to.deep.equal([
        { resource: `Patient/${shared}`, version: 1, because: 'record_in_use' },
      ]);
      await started(takeback.id);
      const places = [
        `/Patient/${own}`,
        `/Observation/${observation}`,
        `/Practitioner/${practitioner}`,
        `/Patient/${shared}`,
      ];
      expect((await Promise.all(places.map(read))).map(({ status }) => status)).to.deep.equal([
        410, 410, 410, 200,
      ]);
      await undone(takeback.id);
      expect((await Promise.all(places.map(read))).map(({ status }) => status)).to.deep.equal([
        200, 200, 200, 200,
      ]);
    },
  );

  it('restore a Patient whom the source had deleted, and delete it again when that is undone', async () => {
    const source = { 'X-Service-Source-System': 'Wrong clean-up' };
    const patients = [await newPatient(), await newPatient()];
    const kept = await Promise.all(patients.map((patient) => observe(patient, '1', OTHER)));
    const changed = await Promise.all(patients.map((patient) => observe(patient, '2', OTHER)));
    for (const [n, patient] of patients.entries()) {
      await update(patient, String(changed[n]), '3', source);
      await send('DELETE', `/Patient/${patient}`, undefined, source);
    }
    const places = [
      ...patients.map((id) => `/Patient/${id}`),
      ...[...kept, ...changed].map((id) => `/Observation/${id}`),
    ];
    const before = await Promise.all(places.map(content));
    const takeback = await planned({ select: { source_system: 'Wrong clean-up' } });
    expect(takeback.plan).to.deep.include({ versions: 4, restored: 4, removed: 0, stays: 0 });
    await started(takeback.id);
    expect(
      (await Promise.all(patients.map((id) => read(`/Patient/${id}`)))).map(({ status }) => status),
    ).to.deep.equal([200, 200]);
    await observe(String(patients[1]), '4', OTHER);
    expect((await undone(takeback.id)).undo_result).to.deep.equal({ records: 2, versions: 3, stays: 1 });
    const after = await Promise.all(places.map(content));
    expect(after.filter((_, n) => n !== 1)).to.deep.equal(before.filter((_, n) => n !== 1));
    // Other authors have written to this record in the meantime.
    expect(after[1]).to.not.equal('410');
  });

  it('write nothing if others have changed the record since it was decided', async () => {
    const store = await openEventStore({ url: service.databaseUrl, eventStoreUrl: EVENTSTORE_URL });
    try {
      const loader = new SnapshotLoader(store, new PostgresSnapshots(service.pool));
      const resources = new Streams(new Kernel(store), RESOURCES, loader);
      const write = (patient: string, step: Omit<ReadyStep, 'current'>) =>
        writeSteps(
          resources,
          {
            id: 'tb_late',
            kind: 'start',
            owner: { project, environment: 'sandbox' },
            credential: { kind: 'system' },
            at: nowMicros(),
          },
          recordStream(patient),
          [{ ...step, current: 1 }],
        ).then(String, (error: Error) => error.name);
      const removal = (type: string, id: string) =>
        ({ type, id, restores: 0, removes: true, body: undefined }) as const;
      const patient = await newPatient(LAB);
      const theirs = await observe(patient, '1', OTHER);
      expect(await write(patient, removal('Patient', patient))).to.equal('Stale');
      await update(patient, theirs, '2', OTHER);
      expect(await write(patient, removal('Observation', theirs))).to.equal('Stale');
      const added = await observe(patient, '3', LAB);
      await send('DELETE', `/Patient/${patient}`, undefined, OTHER);
      expect(await write(patient, removal('Observation', added))).to.equal('Stale');
      const empty = await newPatient(LAB);
      expect(await write(empty, removal('Patient', empty))).to.equal('1');
      await eventually(async () => (await read(`/Patient/${empty}`)).status === 410);
    } finally {
      await store.close();
    }
  });

  /** Runs a job again, and expects it to change nothing. */
  const again = async (kind: string, id: string): Promise<void> => {
    const before = await owner.done('GET', `${path}/${id}`);
    const jobs = new Jobs(service.pool);
    const by = { issuer: 'https://id.example', subject: 'ada' };
    const { job } = await jobs.start({ kind, subject: id, options: {}, started_by: by });
    await eventually(async () => (await jobs.find(kind, job.id))?.finished_at != null);
    expect(await jobs.find(kind, job.id)).to.include({ status: 'done', error: null });
    const { progress: _, ...after } = await owner.done('GET', `${path}/${id}`);
    expect({ ...before, ...after }).to.deep.equal(before);
  };

  it('are planned, carried out and undone only once', async () => {
    const patient = await newPatient();
    const id = await observe(patient, '1', { 'X-Service-Source-System': 'Planned once' });
    const takeback = await planned({ select: { source_system: 'Planned once' } });
    await started(takeback.id);
    // An instance that takes over jobs from a dead instance runs them again.
    await runCommand(['takeback', 'plan', takeback.id], {
      DATABASE_URL: service.databaseUrl,
      EVENTSTORE_URL,
    });
    await again('takeback', takeback.id);
    expect((await undone(takeback.id)).undo_result).to.deep.equal({ records: 1, versions: 1, stays: 0 });
    await again('takeback-undo', takeback.id);
    expect((await read(`/Observation/${id}`)).status).to.equal(200);
  });

  it('can be undone if they failed while they were running', async () => {
    const patients = [await newPatient(), await newPatient()];
    const source = { 'X-Service-Source-System': 'Failed halfway' };
    const ids = [
      await observe(patients[0] ?? '', '1', source),
      await observe(patients[1] ?? '', '2', source),
    ];
    const { id } = await planned({ select: { source_system: 'Failed halfway' } });
    const undo = () => owner.ask('POST', `${path}/${id}/undo`);
    expect((await undo()).status).to.equal(409);
    await started(id);
    // The state after a failure in the middle: one of the two records is done, but not the take-back.
    const set = async (status: string) => {
      await service.pool.query(
        "update operations.takeback set state = 'running', result = null, finished_at = null where id = $1",
        [id],
      );
      await service.pool.query(
        "update operations.job set status = $2, error = 'stopped' where subject = $1 and kind = 'takeback'",
        [id, status],
      );
    };
    await set('done');
    expect((await undo()).status).to.equal(409);
    await set('failed');
    const failed = (await owner.done('GET', `${path}/${id}`)) as unknown as Record<string, unknown>;
    expect([failed.status, failed.failed_while]).to.deep.equal(['failed', 'running']);
    const ended = await undone(id);
    expect(ended.undo_result).to.deep.equal({ records: 2, versions: 2, stays: 0 });
    for (const each of ids) expect((await read(`/Observation/${each}`)).status).to.equal(200);
  });

  it('can be undone one after the other, the newest first', async () => {
    const patient = await newPatient();
    const id = await observe(patient, '1', OTHER);
    for (const [n, name] of ['Earlier fault', 'Later fault'].entries())
      await update(patient, id, String(n + 2), { 'X-Service-Source-System': name });
    const before = await content(`/Observation/${id}`);
    const later = await planned({ select: { source_system: 'Later fault' } });
    await started(later.id);
    const earlier = await planned({ select: { source_system: 'Earlier fault' } });
    await started(earlier.id);
    expect(await content(`/Observation/${id}`)).to.contain('"value":1,');
    await undone(earlier.id);
    expect((await undone(later.id)).undo_result).to.deep.equal({ records: 1, versions: 1, stays: 0 });
    expect(await content(`/Observation/${id}`)).to.equal(before);
  });

  it('continue an undo in the middle of a record whose Patient is deleted again', async () => {
    const source = { 'X-Service-Source-System': 'Two appends' };
    const patient = await newPatient();
    const ids = [await observe(patient, '1', OTHER), await observe(patient, '2', OTHER)];
    for (const id of ids) await update(patient, id, '3', source);
    await send('DELETE', `/Patient/${patient}`, undefined, source);
    const { id } = await planned({ select: { source_system: 'Two appends' } });
    await started(id);
    // Of an undo that needs several appends, only the first was carried out.
    const store = await openEventStore({ url: service.databaseUrl, eventStoreUrl: EVENTSTORE_URL });
    try {
      const loader = new SnapshotLoader(store, new PostgresSnapshots(service.pool));
      const takeback = await new Takebacks(service.pool).find(id);
      const [first] = ids.map(String);
      const versions = [{ id: String(first), version: 2 }];
      const body = (await readBodies(service.pool, versions)).get(`${first}/2`);
      await writeSteps(
        new Streams(new Kernel(store), RESOURCES, loader),
        {
          id,
          kind: 'undo',
          owner: { project, environment: 'sandbox' },
          credential: { kind: 'system' },
          at: takeback?.created_at ?? 0,
        },
        recordStream(patient),
        [{ type: 'Observation', id: String(first), current: 3, restores: 2, removes: false, body }],
      );
    } finally {
      await store.close();
    }
    expect((await undone(id)).undo_result).to.deep.equal({ records: 1, versions: 3, stays: 0 });
    expect((await read(`/Patient/${patient}`)).status).to.equal(410);
    expect((await read(`/Observation/${ids[0]}/_history/4`)).text).to.contain('"value":3');
  });

  it('pass over a record that is purged just then', async () => {
    const source = { 'X-Service-Source-System': 'Purged' };
    const [purged, other] = [await newPatient(), await newPatient()];
    const ids = [await observe(purged, '1', OTHER), await observe(other, '2', OTHER)];
    await update(purged, String(ids[0]), '3', source);
    await update(other, String(ids[1]), '4', source);
    const { id } = await planned({ select: { source_system: 'Purged' } });
    const takebacks = new Takebacks(service.pool);
    const begun = await takebacks.begin(id, 'start', ['planned'], null);
    if (begun === undefined) throw new Error('it was not begun');
    // The record is purged after its versions were read and before their texts are read.
    let isPurged = false;
    const query = async (text: string, values: unknown[]) => {
      const wants = JSON.stringify(values ?? []);
      if (!isPurged && text.includes('x(id, version)') && wants.includes(String(ids[0]))) {
        isPurged = true;
        await send('DELETE', `/Patient/${purged}?_purge=true`, undefined, {});
        await caughtUp(service.url, true);
      }
      return service.pool.query(text, values);
    };
    const store = await openEventStore({ url: service.databaseUrl, eventStoreUrl: EVENTSTORE_URL });
    try {
      const loader = new SnapshotLoader(store, new PostgresSnapshots(service.pool));
      const work = {
        pool: Object.assign(Object.create(service.pool), { query }),
        resources: new Streams(new Kernel(store), RESOURCES, loader),
        takebacks,
        onProgress: () => undefined,
      };
      expect(await carryOut(work, begun, 'start')).to.deep.equal({ records: 1, versions: 1, stays: 0 });
    } finally {
      await store.close();
    }
    expect(isPurged).to.equal(true);
    expect((await read(`/Observation/${ids[1]}`)).text).to.contain('"value":2');
  });

  it('take each version back once if two that overlap run at the same time, and are undone in reverse order', async () => {
    const patient = await newPatient();
    const both = { 'X-Service-Author-Type': 'device', 'X-Service-Source-System': 'Overlap' };
    const ids: string[] = [];
    for (let n = 0; n < 4; n += 1) {
      const id = await observe(patient, '1.0', OTHER);
      await update(patient, id, '2.0', both);
      ids.push(id);
    }
    const contents = () => Promise.all(ids.map((id) => content(`/Observation/${id}`)));
    const before = await contents();
    const first = await planned({ select: { source_system: 'Overlap' } });
    const second = await planned({ select: { author_type: 'device' } });
    const ended = await Promise.all([first, second].map(({ id }) => started(id)));
    const versions = ended.map(({ result }) => (result as { versions: number }).versions);
    expect((versions[0] ?? 0) + (versions[1] ?? 0)).to.equal(4);
    for (const text of await contents()) expect(text).to.contain('"value":1.0');
    await undone(second.id);
    await undone(first.id);
    expect(await contents()).to.deep.equal(before);
  });

  it('leave reads as of earlier times as they were, and tell webhooks the cause of an undo', async () => {
    const receiver = await startReceiver();
    try {
      await endpointAt(service, `${receiver.url}/hooks`, ['resource.deleted', 'resource.updated'], { key });
      const patient = await newPatient();
      const id = await observe(patient, '1.50', { 'X-Service-Source-System': 'Past' });
      const past = async (at: string) =>
        (await service.fhir(`${service.url}/v1/patients/${patient}/observations?as_of=${at}`, { key })).json
          .total;
      const moments = [new Date().toISOString()];
      const takeback = await planned({ select: { source_system: 'Past' } });
      await started(takeback.id);
      moments.push(new Date().toISOString());
      await undone(takeback.id);
      moments.push(new Date().toISOString());
      expect(await Promise.all(moments.map(past))).to.deep.equal([1, 0, 1]);
      const received = await receiver.of('/hooks', 2);
      const told = received.map(({ body }) => (JSON.parse(String(body)) as { data: JsonObject }).data);
      expect(told.map(({ id: of, version, cause }) => [of, version, cause])).to.have.deep.members([
        [id, 2, `takeback/${takeback.id}`],
        [id, 3, `takeback/${takeback.id}/undo`],
      ]);
    } finally {
      await receiver.stop();
    }
  });

  it('are shown to the patient with why and what', async () => {
    const patient = await newPatient();
    const id = await observe(patient, '1', { 'X-Service-Source-System': 'Ward <9>' });
    const email = 'mira@example.org';
    const events = await RecordEvents.open(service.databaseUrl);
    await events.append(patient, linkOf(service, email)).finally(() => events.close());
    await caughtUp(service.url, true);
    const visitor = await patientVisitor(service, email);
    const page = async () => (await visitor.open(`/connections/records/${patient}/log`)).text;
    expect(await page()).to.not.contain('Taken back');
    const takeback = await planned({ select: { source_system: 'Ward <9>' }, reason: 'Wrong <units>' });
    await started(takeback.id);
    const shown = await page();
    expect(shown).to.contain('Taken back').and.contain('Wrong &lt;units&gt;').and.contain('Ward &lt;9&gt;');
    expect(shown).to.contain(`/entries/Observation/${id}`);
    await undone(takeback.id);
    expect(await page()).to.contain('Undone on');
    // What people wrote isn't said to be a program's.
    await observe(patient, '2', { 'X-Service-Author-Type': 'practitioner' });
    await started((await planned({ select: { author_type: 'practitioner' } })).id);
    expect(await page())
      .to.contain('Written by: a health professional')
      .and.not.contain('a program');
  });

  it('tell webhooks the cause', async () => {
    const receiver = await startReceiver();
    try {
      await endpointAt(service, `${receiver.url}/hooks`, ['resource.deleted'], { key });
      const patient = await newPatient();
      const id = await observe(patient, '1', { 'X-Service-Source-System': 'Told' });
      const takeback = await planned({ select: { source_system: 'Told' } });
      await started(takeback.id);
      const [received] = await receiver.of('/hooks', 1);
      const { data } = JSON.parse(String(received?.body)) as { data: JsonObject };
      expect(data).to.include({ id, version: 2, cause: `takeback/${takeback.id}` });
      expect(data).to.not.have.property('external');
    } finally {
      await receiver.stop();
    }
  });

  it('stay within the project, its environment, and the time', async () => {
    const source = { 'X-Service-Source-System': 'Elsewhere' };
    const patient = await newPatient();
    await observe(patient, '1', source);
    await service.post('/Patient', { resourceType: 'Patient' }, source);
    const future = new Date(Date.now() + 3_600_000).toISOString();
    expect((await planned({ select: { source_system: 'Elsewhere' } })).plan).to.include({ versions: 1 });
    expect(
      (await planned({ select: { source_system: 'Elsewhere' }, environment: 'production' })).plan,
    ).to.include({ versions: 0 });
    const early = { since: '2020-01-01T00:00:00Z', until: '2020-01-02T00:00:00Z' };
    expect((await planned({ select: { source_system: 'Elsewhere' }, ...early })).plan).to.include({
      versions: 0,
    });
    expect((await planned({ select: { source_system: 'Elsewhere', author_type: 'ai' } })).plan).to.include({
      versions: 0,
    });
    for (const [body, field] of [
      [{ select: {} }, 'select'],
      [{ select: { model: 'm' } }, 'select'],
      [{ select: { author_type: 'import', model: 'm' } }, 'select.model'],
      [{ select: { source_system: 'x' }, since: '2026-01-01' }, 'since'],
      [{ select: { source_system: 'x' }, since: future }, 'since'],
      [{ select: { source_system: 'x' }, since: early.until, until: early.since }, 'since'],
      [{ select: { source_system: 'x' }, since: early.until, until: early.since }, 'until'],
    ] as const) {
      const answer = await owner.ask('POST', path, { environment: 'sandbox', ...body });
      expect(answer.status, answer.text).to.equal(422);
      expect(answer.text).to.contain(`"${field}`);
    }
    const stranger = await signIn(service, 'stranger@elsewhere.example');
    expect((await stranger.ask('GET', path)).status).to.equal(404);
  });
});
