/** The request log and usage: what a project's members see, and what nobody may see. */
import { expect } from 'chai';
import { openPool } from '#src/database/pool.ts';
import { DevIssuer } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import { RequestLog } from '#src/operations/request-log.ts';
import { Usage } from '#src/operations/usage.ts';
import { newId, newRequestId, newUuid } from '#src/shared/ids.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import type { Answer } from '#test/support/service.ts';

interface Entry {
  readonly request_id: string;
  readonly ts: string;
  readonly environment: string | null;
  readonly key_id: string | null;
  readonly identity: string | null;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly error: unknown;
}

describe('request log', () => {
  let service: InProcess;
  let token: string;
  let project: string;
  let keyId: string;
  let key: string;
  let sent: Answer[];
  let patient: string;

  const admin = async (path: string, body?: object, bearer = token): Promise<Answer> =>
    service.fhir(`${service.url}/admin${path}`, {
      key: bearer,
      ...(body === undefined
        ? {}
        : { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json' } }),
    });
  const made = async (path: string, body: object): Promise<Record<string, string>> => {
    const answer = await admin(path, body);
    expect(answer.status, String(answer)).to.equal(201);
    return JSON.parse(answer.text);
  };
  const signIn = (email: string): Promise<string> =>
    new DevIssuer(service.pool, `${service.url}/dev`).idToken(findPerson(email));
  const page = async (query = ''): Promise<{ data: Entry[]; total: number; next_cursor: string | null }> => {
    const answer = await admin(`/projects/${project}/logs${query}`);
    expect(answer.status, String(answer)).to.equal(200);
    return JSON.parse(answer.text);
  };
  const idOf = (answer: Answer | undefined): string => answer?.headers.get('service-request-id') ?? '';
  const logged = (answer: Answer | undefined): Promise<void> =>
    eventually(async () => (await page(`?request_id=${idOf(answer)}`)).total === 1);

  before(async () => {
    service = await startInProcess();
    token = await signIn('developer@example.org');
    const organization = await made('/organizations', { name: 'Logs' });
    ({ id: project = '' } = await made(`/organizations/${organization.id}/projects`, { name: 'Logs' }));
    ({ id: keyId = '', key = '' } = await made(`/projects/${project}/keys`, {
      name: 'first',
      environment: 'sandbox',
      scopes: ['read', 'write'],
    }));
    const created = await service.fhir('/Patient', {
      method: 'POST',
      key,
      body: '{"resourceType":"Patient"}',
    });
    patient = String(created.json.id);
    sent = [
      created,
      await service.fhir(`/Patient/${patient}`, { key }),
      await service.fhir(`/Patient/${patient}/_history/1`, { key }),
      await service.fhir('/Patient?family=Querymarker', { key }),
      await service.fhir('/Patient/Namemarker', { key }),
      await service.fhir('/Patient/_search', {
        method: 'POST',
        key,
        body: 'family=Bodymarker',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      }),
      await service.fhir('/Patient', {
        method: 'POST',
        key,
        body: '{"resourceType":"Patient","x":"Bodymarker"}',
      }),
    ];
    await Promise.all(sent.map(logged));
  });
  after(() => service?.stop());

  it('shows what was asked and how it ended, newest first', async () => {
    const { data, total, next_cursor } = await page(`?key=${keyId}`);
    expect([total, next_cursor]).to.deep.equal([7, null]);
    expect(data.map(({ request_id }) => request_id)).to.deep.equal(sent.map(idOf).reverse());
    expect(data.map(({ method, path, status }) => `${method} ${path} ${status}`).reverse()).to.deep.equal([
      'POST /fhir/R4/Patient 201',
      `GET /fhir/R4/Patient/${patient} 200`,
      `GET /fhir/R4/Patient/${patient}/_history/1 200`,
      'GET /fhir/R4/Patient 200',
      'GET /fhir/R4/Patient/… 404',
      'POST /fhir/R4/Patient/_search 200',
      'POST /fhir/R4/Patient 422',
    ]);
    for (const entry of data) {
      expect(entry).to.include({ environment: 'sandbox', key_id: keyId, identity: null });
      expect(entry.ms).to.be.above(0);
    }
  });

  it('shows what members did with the project', async () => {
    const answer = await admin(`/projects/${project}`);
    await logged(answer);
    const [entry] = (await page(`?request_id=${idOf(answer)}`)).data;
    expect(entry).to.include({
      environment: null,
      key_id: null,
      path: `/admin/projects/${project}`,
      status: 200,
    });
    expect(entry?.identity).to.match(/\/dev \S+$/);
  });

  it('shows nothing of what strangers tried', async () => {
    const stranger = await signIn('stranger@example.net');
    // Refused because of its format, before anything checks whose project it is.
    const refused = await admin(`/projects/${project}/keys`, {}, stranger);
    expect(refused.status).to.equal(422);
    await logged(await admin(`/projects/${project}`));
    expect((await page(`?request_id=${idOf(refused)}`)).total).to.equal(0);
  });

  it('is searched by key, status, environment, path and time', async () => {
    const count = async (query: string): Promise<number> => (await page(`?key=${keyId}&${query}`)).total;
    expect(await count('status=404')).to.equal(1);
    expect(await count('status=4xx')).to.equal(2);
    expect(await count('environment=production')).to.equal(0);
    expect(await count(`path=/fhir/R4/Patient/${patient}`)).to.equal(2);
    const today = new Date().toISOString().slice(0, 10);
    expect(await count(`from=${today}&to=${today}`)).to.equal(7);
    expect(await count('to=2020-01-01')).to.equal(0);
    const [newest] = (await page(`?key=${keyId}&limit=1`)).data;
    expect(await count(`from=${newest?.ts}`)).to.equal(1);
    expect(await count(`to=${newest?.ts}`)).to.equal(6);
    expect((await page('?key=key_of_somebody_else_______')).total).to.equal(0);
    const all = `environment=sandbox&status=2xx&path=/fhir&from=${today}&to=${today}&limit=1`;
    expect(await count(`${all}&request_id=${idOf(sent[1])}`)).to.equal(1);
  });

  it('is read page by page', async () => {
    const seen: string[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const found = await page(`?key=${keyId}&limit=3${cursor === '' ? '' : `&cursor=${cursor}`}`);
      seen.push(...found.data.map(({ request_id }) => request_id));
      cursor = found.next_cursor;
    }
    expect(seen).to.deep.equal(sent.map(idOf).reverse());
  });

  it('refuses what it cannot search by, and strangers', async () => {
    const wrong = await admin(`/projects/${project}/logs?status=9&from=yesterday&nonsense=1`);
    expect(wrong.status).to.equal(422);
    const { error } = JSON.parse(wrong.text) as { error: { errors: { field: string }[] } };
    expect(error.errors.map(({ field }) => field)).to.have.members([
      'query.status',
      'query.from',
      'query.nonsense',
    ]);
    const reversed = await admin(`/projects/${project}/logs?from=2026-03-02&to=2026-03-01`);
    expect(reversed.status).to.equal(422);
    expect(reversed.text).to.contain('"query.from"').and.contain('"query.to"');
    const stranger = await signIn('stranger@example.net');
    for (const what of ['logs', 'usage']) {
      const other = await admin(`/projects/${project}/${what}`, undefined, stranger);
      const never = await admin(`/projects/${newId('proj_')}/${what}`, undefined, stranger);
      expect([other.status, never.status], what).to.deep.equal([404, 404]);
    }
  });

  it('holds no query, body, name or credential', async () => {
    const { rows } = await service.pool.query('select l::text as row from operations.request_log l');
    expect(rows.length).to.be.above(7);
    const text = rows.map(({ row }) => row).join('\n');
    expect(text).to.not.match(/marker/i);
    expect(text).to.not.contain(key);
    expect(text).to.not.contain(token);
  });

  it('counts requests, reads, writes and bytes by day', async () => {
    const today = new Date().toISOString().slice(0, 10);
    await eventually(async () => {
      const { data } = JSON.parse((await admin(`/projects/${project}/usage`)).text);
      return data[0]?.requests === 7 && data[0]?.storage_bytes > 0;
    });
    const { data, total } = JSON.parse(
      (await admin(`/projects/${project}/usage?from=${today}&to=${today}`)).text,
    );
    expect(total).to.equal(1);
    expect(data[0]).to.include({ date: today, environment: 'sandbox', requests: 7, reads: 5, writes: 2 });
    expect(data[0]).to.include({ client_errors: 2, server_errors: 0 });
    expect(data[0].storage_bytes).to.be.within(300, 3_000);
    const { total: before } = JSON.parse((await admin(`/projects/${project}/usage?to=2020-01-01`)).text);
    expect(before).to.equal(0);
    for (const range of [
      'from=2026-02-01&to=2026-01-01',
      'from=2020-01-01&to=2026-01-01',
      'from=2026-02-30',
      'to=0000-01-01',
      'to=0001-01-01',
    ]) {
      expect((await admin(`/projects/${project}/usage?${range}`)).status, range).to.equal(422);
    }
    const { error } = JSON.parse(
      (await admin(`/projects/${project}/usage?from=2026-02-01&to=2026-01-01`)).text,
    );
    const fields = error.errors.map(({ field }: { field: string }) => field);
    expect(fields).to.deep.equal(['query.from', 'query.to']);
  });

  it('says of a key when it was used last', async () => {
    const used = async (): Promise<number | undefined> => {
      const sql = 'select used_at from operations.key_use where key_id = $1';
      return (await service.pool.query(sql, [keyId])).rows[0]?.used_at;
    };
    await eventually(async () => (await used()) !== undefined);
    expect(await used()).to.be.within(nowMicros() - 60_000_000, nowMicros());
  });

  it('says why a request was refused, without its words, and names no member that a client made up', async () => {
    const why = async (answer: Answer | undefined) =>
      (await page(`?request_id=${idOf(answer)}`)).data[0]?.error;
    expect(await why(sent[0])).to.equal(null);
    expect(await why(sent[4])).to.deep.equal({ type: 'not_found', fields: [] });
    expect(await why(sent[6])).to.deep.equal({
      type: 'invalid',
      fields: [{ field: 'Patient.x', code: 'structure' }],
    });
    const made = await service.fhir('/Patient', {
      method: 'POST',
      key,
      body: '{"resourceType":"Patient","Nora has asthma":1}',
      headers: { 'Idempotency-Key': 'made-up' },
    });
    await logged(made);
    expect(made.status).to.equal(422);
    expect(await why(made)).to.deep.equal({ type: 'invalid', fields: [{ field: '…', code: 'structure' }] });
    const dated = await service.fhir('/Observation', {
      method: 'POST',
      key,
      body: '{"resourceType":"Observation","status":"final","effectiveDateTime":"soon"}',
      headers: { 'Idempotency-Key': 'dated' },
    });
    await logged(dated);
    expect(await why(dated))
      .to.have.property('fields')
      .that.deep.includes({ field: 'Observation.effective.ofType(dateTime)', code: 'value' });
    const { rows } = await service.pool.query('select * from operations.request_log');
    expect(JSON.stringify(rows)).not.to.include('asthma');
  });

  itAtFullSize('has what was asked of paths and methods that no interface has', async () => {
    const id = newUuid();
    for (const [method, path, status, kept] of [
      ['GET', `/Nora/${id}`, 404, `/fhir/R4/…/${id}`],
      ['GET', `/Patient/${id}/$nora`, 404, `/fhir/R4/Patient/${id}/…`],
      ['GET', `${service.url}/v1/patients/${id}/nora`, 404, `/v1/patients/${id}/…`],
      ['GET', `${service.url}/R4/Patient`, 404, '/R4/Patient'],
      ['DELETE', `${service.url}/v1/patients/${id}/timeline`, 405, `/v1/patients/${id}/timeline`],
    ] as const) {
      const refused = await service.fhir(path, { method, key });
      expect(refused.status, path).to.equal(status);
      await logged(refused);
      const [entry] = (await page(`?request_id=${idOf(refused)}`)).data;
      expect(entry).to.deep.include({ method, path: kept, status, key_id: keyId, environment: 'sandbox' });
    }
    const strange = await service.fhir('/Nora', { key: `${key.slice(0, -1)}_` });
    expect(strange.status).to.equal(404);
  });

  it('tells which versions a request wrote, to those who may see them, until the record is purged', async () => {
    const about = async (answer: Answer | undefined, bearer = token) => {
      const found = await admin(`/projects/${project}/logs/${idOf(answer)}`, undefined, bearer);
      return [found.status, JSON.parse(found.text)];
    };
    const [status, entry] = await about(sent[0]);
    expect(status).to.equal(200);
    expect(entry.request_id).to.equal(idOf(sent[0]));
    expect(entry.events).to.have.length(1);
    expect(entry.events[0]).to.deep.include({
      version: `Patient/${patient}/_history/1`,
      patient,
      operation: 'create',
    });
    const written = `/projects/${project}/events/${entry.events[0].event_id}`;
    expect(JSON.parse((await admin(written)).text).resource).to.equal(`Patient/${patient}`);
    expect((await about(sent[1]))[1].events).to.deep.equal([]);
    const several = await service.fhir('', {
      method: 'POST',
      key,
      body: JSON.stringify({
        resourceType: 'Bundle',
        type: 'transaction',
        entry: [
          'urn:uuid:0e5b1c5e-0000-4000-8000-000000000001',
          'urn:uuid:0e5b1c5e-0000-4000-8000-000000000002',
        ].map((fullUrl, n) => ({
          fullUrl,
          resource:
            n === 0
              ? { resourceType: 'Patient', name: [{ family: 'Two' }] }
              : {
                  resourceType: 'Condition',
                  subject: { reference: 'urn:uuid:0e5b1c5e-0000-4000-8000-000000000001' },
                  code: { text: 'Cough' },
                },
          request: { method: 'POST', url: n === 0 ? 'Patient' : 'Condition' },
        })),
      }),
    });
    await logged(several);
    const wrote = (await about(several))[1].events as { version: string; patient: string }[];
    expect(wrote.map(({ version }) => version.split('/')[0])).to.have.members(['Patient', 'Condition']);
    const [{ patient: other = '' } = { patient: '' }] = wrote;
    expect((await about(several, await signIn('stranger@example.org')))[0]).to.equal(404);
    expect((await admin(`/projects/${project}/logs/req_none`)).status).to.equal(404);
    await service.fhir(`/Patient/${other}?_purge=true`, { method: 'DELETE', key });
    await eventually(async () => (await about(several))[1].events.length === 0);
  });

  it('forgets a patient who is purged', async () => {
    const named = async () =>
      (await service.pool.query('select 1 from operations.request_log where path like $1', [`%${patient}%`]))
        .rowCount;
    expect(await named()).to.equal(2);
    const purged = await service.fhir(`/Patient/${patient}?_purge=true`, { method: 'DELETE', key });
    expect(purged.status, String(purged)).to.equal(204);
    await logged(purged);
    const { rows } = await service.pool.query('select path from operations.request_log where path like $1', [
      `%${patient}%`,
    ]);
    // The entry for the purge request itself is written after the purge.
    expect(rows).to.deep.equal([{ path: `/fhir/R4/Patient/${patient}` }]);
  });
});

describe('what is noted of requests', () => {
  const request = () => ({
    requestId: newRequestId(),
    at: nowMicros(),
    project: 'proj_x',
    environment: 'sandbox',
    keyId: null,
    identity: null,
    method: 'GET',
    path: '/fhir/R4/Patient',
    status: 200,
    ms: 1,
  });

  it('has an id that begins with its time, and is one of many in that millisecond', () => {
    const before = Date.now();
    const ids = Array.from({ length: 1_000 }, newRequestId);
    const times = ids.map((id) => Buffer.from(id.slice('req_'.length), 'base64url').readUIntBE(0, 6));
    for (const time of times) expect(time).to.be.within(before, Date.now());
    expect(new Set(ids)).to.have.lengthOf(1_000);
  });

  it('is not written once the patient it names is purged, whichever instance holds it', async () => {
    const service = await startInProcess();
    const [one, other] = [new RequestLog(service.pool), new RequestLog(service.pool)];
    const patient = newUuid();
    const of = (id: string) => ({ ...request(), path: `/fhir/R4/Patient/${id}` });
    const [held, neighbour] = [of(patient), of(newUuid())];
    other.add(held);
    other.add(neighbour);
    await one.forget(patient);
    const late = { ...of(patient), at: nowMicros() + 1 };
    other.add(late);
    await other.flush();
    const written = async () =>
      (
        await service.pool.query<{ id: string }>(
          'select request_id as id from operations.request_log where project = $1',
          ['proj_x'],
        )
      ).rows.map(({ id }) => id);
    // A later request, such as the end of the purge, is logged, because it no longer finds anything of the record.
    expect(await written()).to.have.members([neighbour.requestId, late.requestId]);
    await one.forget(patient);
    expect(await written()).to.deep.equal([neighbour.requestId]);
    await one.sweep(nowMicros() + 1_000_000);
    expect((await service.pool.query('select from operations.request_log_forgotten')).rowCount).to.equal(0);
    await service.stop();
  });

  it('waits while the database is away, within bounds, and is counted when it is too much', async () => {
    const away = openPool('postgres://127.0.0.1:1/none', { connectMs: 500 });
    const log = new RequestLog(away);
    for (let n = 0; n < 20_005; n += 1) log.add(request());
    await log.flush().then(
      () => expect.fail('there is no database'),
      () => undefined,
    );
    expect([log.waiting, log.dropped]).to.deep.equal([20_000, 5]);
    await away.end();
  });

  it('is added up further while the database is away', async () => {
    const service = await startInProcess();
    const usage = new Usage(service.pool);
    const tenant = { project: 'proj_x', environment: 'production' } as const;
    const broken = new Usage(openPool('postgres://127.0.0.1:1/none', { connectMs: 500 }));
    for (const counter of [usage, broken]) {
      counter.request(tenant, true, 503);
      counter.request(tenant, false, 404);
      counter.stored(tenant, 5);
    }
    await broken.flush().catch(() => undefined);
    await usage.flush();
    await usage.flush();
    const { rows } = await service.pool.query(
      'select requests, client_errors, server_errors, reads, writes, stored from operations.usage where project = $1',
      [tenant.project],
    );
    const errors = { client_errors: 1, server_errors: 1 };
    expect(rows).to.deep.equal([{ requests: 2, ...errors, reads: 1, writes: 1, stored: 5 }]);
    Object.assign(broken, { pool: service.pool });
    await broken.flush();
    const again = await service.pool.query(
      'select requests, client_errors, server_errors, stored from operations.usage where project = $1',
      [tenant.project],
    );
    expect(again.rows).to.deep.equal([{ requests: 4, client_errors: 2, server_errors: 2, stored: 10 }]);
    await service.stop();
  });

  it('is written once, however often it is sent, by whomever it was asked and whatever stands in it', async () => {
    const service = await startInProcess();
    const log = new RequestLog(service.pool);
    const own = { ...request(), keyId: 'key_x', path: '/a "b" \\c {d},NULL', ms: 0.25 };
    const member = { ...request(), environment: null, identity: 'https://issuer.example someone' };
    const resource = { ...request(), path: `/fhir/R4/Observation/${newUuid()}`, project: 'proj_y' };
    const sent = [own, member, resource];
    for (const one of sent) log.add(one);
    await log.flush();
    const late = request();
    for (const one of [...sent, late]) log.add(one);
    await log.flush();
    const { rows } = await service.pool.query(`
      select request_id as "requestId", at, project, environment, key_id as "keyId", identity, method, path, status, ms
        from operations.request_log where project in ('proj_x', 'proj_y')`);
    expect(rows).to.have.deep.members([...sent, late]);
    await service.stop();
  });

  it('goes from the log when it is old', async () => {
    const service = await startInProcess();
    const log = new RequestLog(service.pool);
    const [old, young] = [request(), request()];
    log.add({ ...old, at: old.at - 86_400_000_000 });
    log.add(young);
    await log.flush();
    await log.sweep(nowMicros() - 3_600_000_000);
    const { rows } = await service.pool.query(
      'select request_id from operations.request_log where project = $1',
      ['proj_x'],
    );
    expect(rows).to.deep.equal([{ request_id: young.requestId }]);
    await service.stop();
  });
});
