/** Sandboxes over HTTP: filled in the background, visible only to their project, and reset without affecting anyone else. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { parseMetadata } from '#src/events/metadata.ts';
import { openEventStore } from '#src/events/open.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import { isObject } from '#src/shared/json/json.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { itAtFullSize, scaled } from '#test/support/scale.ts';
import { tell } from '#test/support/tell.ts';
import { wholeLog } from '#test/support/whole-log.ts';

interface Project {
  readonly id: string;
  readonly sandbox: string;
  readonly production: string;
}

/** Number of patients: all thirty at full size. */
const PATIENTS = scaled(30, 4);
const OBSERVATION = { status: 'final', code: { text: 'Pulse' } };

describe('sandbox over HTTP', () => {
  let service: InProcess;
  let user: AdminUser;
  let project: Project;

  async function newProject(name: string): Promise<Project> {
    const { id: organization } = await user.done('POST', '/organizations', { name });
    const { id } = await user.done('POST', `/organizations/${organization}/projects`, { name });
    const key = async (environment: string): Promise<string> =>
      (
        await user.done('POST', `/projects/${id}/keys`, {
          name: environment,
          environment,
          scopes: ['read', 'write'],
        })
      ).key;
    return { id, sandbox: await key('sandbox'), production: await key('production') };
  }

  const status = (id: string) => user.done('GET', `/projects/${id}/sandbox`);
  const filled = (id: string) => eventually(async () => isFilled(id));

  async function isFilled(id: string): Promise<boolean> {
    const { rowCount } = await service.pool.query(
      'select from projects.project where id = $1 and filling is null',
      [id],
    );
    return rowCount !== 0;
  }

  /** Returns all events of a project: the events in its own streams, and the events in its environments. */
  async function eventsOf(id: string, databaseUrl = service.databaseUrl): Promise<RecordedEvent[]> {
    const store = await openEventStore({ url: databaseUrl, eventStoreUrl: EVENTSTORE_URL });
    const events = await wholeLog(store).finally(() => store.close());
    return events.filter(
      ({ stream, metadata }) => stream === `project-${id}` || parseMetadata(metadata).owner?.project === id,
    );
  }

  /** Returns the ids of everything that a search finds. */
  async function found(key: string, query: string): Promise<string[]> {
    const answer = await service.fhir(`/${query}`, { key });
    const { entry } = answer.json;
    return (Array.isArray(entry) ? entry.filter(isObject) : []).map(({ resource }) =>
      isObject(resource) ? String(resource.id) : '',
    );
  }

  async function create(key: string, type: string, body: object): Promise<string> {
    const answer = await service.fhir(`/${type}`, {
      method: 'POST',
      key,
      body: JSON.stringify({ resourceType: type, ...body }),
    });
    if (answer.status !== 201) throw new Error(String(answer));
    return String(answer.json.id);
  }

  before(async () => {
    service = await startInProcess({}, { SANDBOX_PATIENTS: String(PATIENTS) });
    user = await signIn(service, 'dev@clinic.example');
    project = await newProject('Clinic');
    await filled(project.id);
  });
  after(() => service.stop());

  itAtFullSize(
    'answers 503 to lists, searches and $everything until it is complete, and to nothing else',
    async () => {
      const { id, sandbox: key, production } = await newProject('Waiting');
      await filled(id);
      const [patient] = await found(key, 'Patient?_count=1');
      const own = await create(key, 'Patient', {});
      const filling = (at: string | null, since = 0) =>
        service.pool.query('update projects.project set filling = $2, filling_at = $3 where id = $1', [
          id,
          at,
          Date.now() * 1000 - since,
        ]);
      const v1 = (path: string) => `${service.url}/v1${path}`;
      const lists = [
        ...['/Patient', '/Observation?_summary=count', '?_type=Patient', '/_history', '/Patient/_history'],
        ...[
          `/Patient/${patient}/Observation`,
          `/Patient/${patient}/$everything`,
          `/Patient/${patient}/$summary`,
        ],
        ...[
          '/patients',
          '/patients?q=a',
          `/patients/${patient}/observations`,
          `/patients/${patient}/timeline`,
        ].map(v1),
        ...[`/patients/${patient}/series?code=8867-4`, `/patients/${patient}/patterns`].map(v1),
      ];
      const others = [
        `/Patient/${own}`,
        `/Patient/${own}/_history`,
        '/CodeSystem?_count=1',
        v1(`/patients/${own}`),
      ];
      const ask = async (paths: readonly string[], of = key) =>
        Promise.all(paths.map(async (path) => (await service.fhir(path, { key: of })).status));
      const answered = (paths: readonly string[], status: number) => paths.map(() => status);
      // The states are set directly in the read model, because the time that filling takes depends on the machine.
      await filling('a-filling');
      expect(await ask(lists)).to.deep.equal(answered(lists, 503));
      const refused = await service.fhir('/Patient', { key });
      expect(refused.headers.get('retry-after')).to.equal('1');
      expect(refused.text).to.include('sandbox is being filled');
      const admin = (environment: string) =>
        user.ask('GET', `/projects/${id}/patients?environment=${environment}`);
      expect((await admin('sandbox')).status).to.equal(503);
      expect((await admin('production')).status).to.equal(200);
      expect(await ask(others)).to.deep.equal(answered(others, 200));
      expect(await ask(['/Patient', v1('/patients')], production), 'production').to.deep.equal([200, 200]);
      expect(await ask(['/Patient'], project.sandbox), 'another project').to.deep.equal([200]);
      await create(key, 'Patient', {});
      await filling('a-filling', 3_601_000_000);
      expect(await ask(['/Patient']), 'that has failed for an hour').to.deep.equal([200]);
      await filling(null);
      expect(await ask(lists)).to.deep.equal(answered(lists, 200));
    },
  );

  it('is never seen in parts: the first list that answers has all', async () => {
    const { sandbox: key } = await newProject('Whole');
    for (;;) {
      const answer = await service.fhir('/Patient?_summary=count', { key });
      expect(answer.status).to.be.oneOf([200, 503]);
      if (answer.status === 200) {
        expect(answer.json.total).to.equal(PATIENTS);
        break;
      }
    }
    expect(await found(key, 'Practitioner?_count=100')).to.have.length(6);
  });

  it('has documents that can be read, and no event holds their text', async () => {
    const key = project.sandbox;
    const patients = await found(key, 'Patient?_count=200');
    const lists = await Promise.all(
      patients.map((id) => service.fhir(`${service.url}/v1/patients/${id}/documents`, { key })),
    );
    const documents = lists.flatMap(({ json }) =>
      Array.isArray(json.data) ? json.data.filter(isObject) : [],
    );
    expect(documents).not.to.have.length(0);
    for (const { id, size, status } of documents.slice(0, 10)) {
      const content = await service.fhir(`${service.url}/v1/documents/${String(id)}/content`, { key });
      expect([content.status, Buffer.byteLength(content.text), status]).to.deep.equal([200, size, 'final']);
    }
    const events = await eventsOf(project.id);
    expect(events.filter(({ data }) => /"attachment":\{.*"data":"/s.test(data))).to.deep.equal([]);
  });

  it('holds synthetic patients soon after the project was opened, and nothing in production', async () => {
    expect(await status(project.id)).to.deep.equal({
      synthetic_patients: PATIENTS,
      own_patients: 0,
      writes_today: 0,
      resets: 0,
    });
    expect(await found(project.sandbox, 'Patient?_count=100')).to.have.length(PATIENTS);
    expect(await found(project.sandbox, 'Practitioner?_count=100')).to.have.length(6);
    expect(await found(project.production, 'Patient?_count=100')).to.deep.equal([]);
  });

  it('tells in Provenances who wrote what', async () => {
    const [patient] = await found(project.sandbox, 'Patient?_count=1&_has:Observation:patient:code=9279-1');
    const answer = await service.fhir(`/Patient/${patient}/Provenance?_count=1000`, { key: project.sandbox });
    for (const type of ['patient', 'practitioner', 'device', 'import', 'ai'])
      expect(answer.text).to.contain(`"${type}"`);
  });

  it('is valid for $validate, and of every clinical type at full size', async () => {
    for (const type of TYPE_NAMES) {
      if (typeEntry(type).home === 'terminology') continue;
      const { json } = await service.fhir(`/${type}?_count=3`, { key: project.sandbox });
      const resources = (Array.isArray(json.entry) ? json.entry.filter(isObject) : []).map(
        ({ resource }) => resource,
      );
      if (PATIENTS === 30) expect(resources, type).not.to.deep.equal([]);
      for (const resource of resources) {
        const body = JSON.stringify(resource);
        const call = { method: 'POST', key: project.sandbox, body };
        const checked = await service.fhir(`/${type}/$validate`, call);
        expect(checked.text, body).not.to.match(/"severity":"(error|fatal)"/);
      }
    }
  });

  it('is there for the quickstart project, too, and only once', async function () {
    if (EVENTSTORE_URL !== '') this.skip(); // an earlier test founded the one of a log that tests share
    await eventually(
      async () => (await found(service.key, 'Patient?_count=100')).length === PATIENTS,
      60_000,
    );
    const { rows } = await service.pool.query<{ project: string }>(
      'select project from projects.api_key where sha256 = $1',
      [createHash('sha256').update(service.key).digest('hex')],
    );
    const events = await eventsOf(rows[0]?.project ?? '');
    expect(events.map(({ type }) => type).filter((type) => type.startsWith('Sandbox'))).to.deep.equal([
      'SandboxProvisioningRequested',
      'SandboxProvisioned',
    ]);
  });

  it('bears metadata by which later parts know that no webhook tells of it', async () => {
    const events = (await eventsOf(project.id)).filter(
      ({ metadata }) => parseMetadata(metadata).owner !== undefined,
    );
    expect(events.length).to.be.greaterThan(PATIENTS * 40);
    for (const { metadata, type } of events) {
      const { credential, append } = parseMetadata(metadata);
      expect(credential, type).to.deep.equal({ kind: 'system', project: project.id, environment: 'sandbox' });
      expect(append[1], 'events of one append').to.be.at.most(120);
    }
  });

  it('is as new after a reset: own patients gone, synthetic ones with other ids; others lose nothing', async () => {
    const other = await newProject('Neighbour');
    await filled(other.id);
    const before = await found(project.sandbox, 'Patient?_count=100');
    const own = await create(project.sandbox, 'Patient', { name: [{ family: 'Own' }] });
    await create(project.sandbox, 'Organization', { name: 'Own' });
    expect(await status(project.id)).to.include({ synthetic_patients: PATIENTS, own_patients: 1 });
    const kept: [key: string, patient: string, observations: string[]][] = [];
    for (const key of [other.sandbox, other.production, project.production])
      kept.push([key, await create(key, 'Patient', { name: [{ family: 'Kept' }] }), []]);
    let writing = true;
    const writers = kept.map(async ([key, patient, observations]) => {
      while (writing)
        observations.push(
          await create(key, 'Observation', { ...OBSERVATION, subject: { reference: `Patient/${patient}` } }),
        );
    });
    const answers = await Promise.all(
      [1, 2].map(() => user.ask('POST', `/projects/${project.id}/sandbox/reset`)),
    );
    await eventually(
      async () => (await status(project.id)).synthetic_patients === PATIENTS && (await isFilled(project.id)),
      90_000,
    ).finally(() => {
      writing = false;
    });
    await Promise.all(writers);
    for (const answer of answers) expect(answer.status).to.be.oneOf([200, 202]);
    expect(await status(project.id)).to.include({ synthetic_patients: PATIENTS, own_patients: 0, resets: 1 });
    const after = await found(project.sandbox, 'Patient?_count=100');
    expect(after).to.have.length(PATIENTS);
    expect(after.filter((id) => before.includes(id))).to.deep.equal([]);
    expect((await service.fhir(`/Patient/${own}`, { key: project.sandbox })).status).to.equal(404);
    expect((await service.fhir(`/Patient/${before[0]}`, { key: project.sandbox })).status).to.equal(404);
    expect(await found(project.sandbox, 'Organization?_count=100')).to.have.length(2);
    for (const [key, patient, observations] of kept) {
      expect(observations.length).to.be.greaterThan(0);
      const there = await service.fhir(`/Observation?patient=${patient}&_summary=count`, { key });
      expect(there.json.total).to.equal(observations.length);
    }
    const wrote = kept.reduce((all, [, , observations]) => all + observations.length, 0);
    tell(`${wrote} creates of others beside a reset of ${PATIENTS} patients, none lost`);
    expect(await status(other.id)).to.include({ synthetic_patients: PATIENTS, own_patients: 1, resets: 0 });
  });

  it('has only the new patients after a reset that was requested while it was being filled', async () => {
    const { id: organization } = await user.done('POST', '/organizations', { name: 'Early' });
    const lock = await service.pool.connect();
    // Filling waits for the read models, so it stops between two patients.
    await lock.query('begin; lock table search.entry in exclusive mode');
    let asked: ReturnType<AdminUser['ask']> | undefined;
    let id = '';
    try {
      ({ id } = await user.done('POST', `/organizations/${organization}/projects`, { name: 'Early' }));
      const filling = async (): Promise<string | undefined> =>
        (await service.pool.query('select filling from projects.project where id = $1', [id])).rows[0]
          ?.filling;
      const first = await filling();
      asked = user.ask('POST', `/projects/${id}/sandbox/reset`);
      await eventually(async () => ![undefined, null, first].includes(await filling()));
    } finally {
      await lock.query('rollback');
      lock.release();
    }
    expect((await asked)?.status).to.be.oneOf([200, 202]);
    await filled(id);
    const types = (await eventsOf(id)).map(({ type }) => type).filter((type) => type.startsWith('Sandbox'));
    expect(types).to.deep.equal([
      'SandboxProvisioningRequested',
      'SandboxResetRequested',
      'SandboxProvisioned',
    ]);
    expect(await status(id)).to.include({ synthetic_patients: PATIENTS, own_patients: 0, resets: 1 });
  });

  it('shows nothing to who is no member', async () => {
    const stranger = await signIn(service, 'sam@elsewhere.example');
    const unknown = await stranger.ask('GET', '/projects/proj_nothing/sandbox');
    const foreign = await stranger.ask('GET', `/projects/${project.id}/sandbox`);
    expect(foreign.status).to.equal(404);
    expect(foreign.text.replace(/"request_id":"[^"]*"/, '').replace(project.id, 'proj_nothing')).to.equal(
      unknown.text.replace(/"request_id":"[^"]*"/, ''),
    );
    expect((await stranger.ask('POST', `/projects/${project.id}/sandbox/reset`)).status).to.equal(404);
  });

  itAtFullSize(
    'waits for a few others of one person or organization only; more are refused until then',
    async function () {
      if (EVENTSTORE_URL !== '') this.skip(); // a log that tests share would keep later ones filling these
      const busy = await startInProcess({}, { SANDBOX_PATIENTS: '30' });
      try {
        const [greedy, colleague, other] = await Promise.all(
          ['greedy', 'colleague', 'other'].map((name) => signIn(busy, `${name}@clinic.example`)),
        );
        if (greedy === undefined || colleague === undefined || other === undefined) throw new Error('nobody');
        const { id: organization } = await greedy.done('POST', '/organizations', { name: 'Clinic' });
        await greedy.done('POST', `/organizations/${organization}/members`, {
          issuer: colleague.issuer,
          subject: colleague.subject,
          role: 'owner',
        });
        const projects = `/organizations/${organization}/projects`;
        const answers = await Promise.all(
          Array.from({ length: 16 }, (_, n) =>
            n % 2 === 0
              ? greedy.ask('POST', '/sandbox/quickstart', {})
              : greedy.ask('POST', projects, { name: 'Many' }),
          ),
        );
        const opened = answers.filter(({ status }) => status === 201);
        const refused = answers.filter(({ status }) => status === 429);
        expect(opened.length + refused.length).to.equal(answers.length);
        // One or two fillings may have finished by then.
        expect(opened.length).to.be.within(5, 8);
        for (const answer of refused) {
          expect(answer.headers.get('retry-after')).to.match(/^\d+$/);
          expect(answer.text).to.contain('"throttled"');
        }
        const wrote = await busy.pool.query(
          `select from projects.project where name in ('Many', 'Quickstart') and filling_by is not null`,
        );
        expect(wrote.rowCount).to.equal(opened.length);
        // Nobody else's requests are refused.
        expect((await other.ask('POST', '/sandbox/quickstart', {})).status).to.equal(201);
        // These fillings can't finish before the test ends. Resets also count, and so do a colleague's requests in the
        // organization.
        const waiting = await busy.pool.query<{ id: string }>(
          `update projects.project set filling = 'x' where id in
          (select id from projects.project where filling_by = $1 limit 5) returning id`,
          [`${greedy.issuer} ${greedy.subject}`],
        );
        const reset = await greedy.ask('POST', `/projects/${waiting.rows[0]?.id}/sandbox/reset`);
        expect([waiting.rowCount, reset.status]).to.deep.equal([5, 429]);
        await busy.pool.query('update projects.project set organization = $1 where filling is not null', [
          organization,
        ]);
        expect((await colleague.ask('POST', projects, { name: 'More' })).status).to.equal(429);
        await busy.pool.query(`update projects.project set filling_at = 1 where filling = 'x'`);
        expect((await colleague.ask('POST', projects, { name: 'More' })).status).to.equal(201);
      } finally {
        await busy.stop();
      }
    },
  );

  it('holds nothing where no patients are wanted, also after a reset', async () => {
    const empty = await startInProcess();
    try {
      const someone = await signIn(empty, 'dev@clinic.example');
      const { id: organization } = await someone.done('POST', '/organizations', { name: 'Clinic' });
      const { id } = await someone.done('POST', `/organizations/${organization}/projects`, { name: 'Pilot' });
      const nothing = { synthetic_patients: 0, own_patients: 0, writes_today: 0 };
      expect(await someone.done('GET', `/projects/${id}/sandbox`)).to.deep.equal({ ...nothing, resets: 0 });
      const answer = await someone.ask('POST', `/projects/${id}/sandbox/reset`);
      expect(answer.status).to.equal(200);
      expect(JSON.parse(answer.text)).to.deep.equal({ ...nothing, resets: 1 });
      const events = await eventsOf(id, empty.databaseUrl);
      expect(events.filter(({ stream }) => stream.startsWith('directory-'))).to.deep.equal([]);
    } finally {
      await empty.stop();
    }
  });
});
