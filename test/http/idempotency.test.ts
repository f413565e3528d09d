import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { openIdempotency } from '#src/operations/idempotency.ts';
import type { Json } from '#src/shared/json/json.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import type { Answer } from '#test/support/service.ts';

/** docs/spec/decisions.md, section 3. The fault tests show what a crash leaves behind. */
describe('Idempotency-Key', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  let drawn = 0;
  const newKey = () => {
    drawn += 1;
    return `key-${drawn}`;
  };
  const create = (key: string, family: string, headers: Record<string, string> = {}, credential?: string) =>
    service.fhir('/Patient', {
      method: 'POST',
      ...(credential === undefined ? {} : { key: credential }),
      headers: { 'Idempotency-Key': key, ...headers },
      body: JSON.stringify({ resourceType: 'Patient', name: [{ family }] }),
    });
  const count = async () => (await service.fhir('/Patient?_summary=count')).json.total;

  it('repeats the first answer byte for byte', async () => {
    const key = newKey();
    const first = await create(key, 'Once');
    expect([first.status, first.headers.get('idempotent-replayed')]).to.deep.equal([201, null]);
    const before = await count();
    const second = await create(key, 'Once');
    expect(second.headers.get('idempotent-replayed')).to.equal('true');
    expect([second.status, second.text]).to.deep.equal([first.status, first.text]);
    for (const name of ['location', 'etag', 'last-modified', 'content-type']) {
      expect(second.headers.get(name)).to.equal(first.headers.get(name));
    }
    expect(second.headers.get('service-request-id')).not.to.equal(first.headers.get('service-request-id'));
    expect(await count()).to.equal(before);
  });

  it('answers three retries that come while the first request runs as the first', async () => {
    const key = newKey();
    const before = Number(await count());
    const [first, ...others] = await Promise.all(Array.from({ length: 4 }, () => create(key, 'Patience')));
    for (const answer of others) expect([answer.status, answer.text]).to.deep.equal([201, first?.text]);
    expect(await count()).to.equal(before + 1);
  });

  it('carries out one of many at a time; the others get its answer, or 409 if too many wait', async () => {
    const key = newKey();
    const before = Number(await count());
    const answers = await Promise.all(Array.from({ length: 12 }, () => create(key, 'Crowd')));
    for (const answer of answers) {
      expect([201, 409]).to.include(answer.status);
      if (answer.status === 409) expect(answer.headers.get('retry-after')).to.equal('1');
    }
    const replays = await Promise.all(Array.from({ length: 5 }, () => create(key, 'Crowd')));
    const made = answers.find(({ status }) => status === 201);
    for (const replay of replays) expect(replay.text).to.equal(made?.text);
    expect(await count()).to.equal(before + 1);
  });

  it('refuses another request under the same key', async () => {
    const key = newKey();
    await create(key, 'Same');
    expect((await create(key, 'Other')).status).to.equal(422);
    expect((await create(key, 'Same', { 'X-Service-Author-Type': 'device' })).status).to.equal(422);
    const elsewhere = await service.fhir('/Organization', {
      method: 'POST',
      headers: { 'Idempotency-Key': key },
      body: JSON.stringify({ resourceType: 'Organization', name: 'x' }),
    });
    expect(elsewhere.status).to.equal(422);
    expect(elsewhere.text).to.contain('Idempotency-Key');
  });

  it('is 422 with the header named, if it is empty, too long or has other characters', async () => {
    for (const key of ['', 'a b', 'x'.repeat(256), 'ä']) {
      const answer = await create(key, 'Faulty');
      expect(answer.status, key).to.equal(422);
      expect(answer.json, key).to.nested.include({
        'issue[0].code': 'value',
        'issue[0].location[0]': 'http.idempotency-key',
      });
    }
  });

  it('belongs to a project', async () => {
    const key = newKey();
    const stranger = await service.newProject();
    const mine = await create(key, 'Shared');
    const theirs = await create(key, 'Shared', {}, stranger);
    expect([mine.status, theirs.status]).to.deep.equal([201, 201]);
    expect(theirs.json.id).not.to.equal(mine.json.id);
  });

  it('keeps 404, 409 and 412, but not the refusals of validation', async () => {
    const key = newKey();
    const send = (body: object) =>
      service.fhir('/Patient', {
        method: 'POST',
        headers: { 'Idempotency-Key': key },
        body: JSON.stringify(body),
      });
    expect((await send({ resourceType: 'Patient', gender: 'x' })).status).to.equal(422);
    expect((await send({ resourceType: 'Patient', gender: 'male' })).status).to.equal(201);

    const identifier = [{ system: 'urn:twice', value: '1' }];
    for (let i = 0; i < 2; i += 1) await service.post('/Patient', { resourceType: 'Patient', identifier });
    const several = newKey();
    const conditional = () => create(several, 'Several', { 'If-None-Exist': 'identifier=urn:twice|1' });
    expect((await conditional()).status).to.equal(412);
    const repeated = await conditional();
    expect([repeated.status, repeated.headers.get('idempotent-replayed')]).to.deep.equal([412, 'true']);
  });

  it('holds for Bundles and for searches by POST', async () => {
    const headers = { 'Idempotency-Key': newKey() };
    const bundle = {
      resourceType: 'Bundle',
      type: 'batch',
      entry: [{ resource: { resourceType: 'Patient' }, request: { method: 'POST', url: 'Patient' } }],
    };
    const first = await service.post('/', bundle, headers);
    expect((await service.post('/', bundle, headers)).text).to.equal(first.text);
    const form = { 'Content-Type': 'application/x-www-form-urlencoded', 'Idempotency-Key': newKey() };
    const search = () =>
      service.fhir('/Patient/_search', { method: 'POST', headers: form, body: '_summary=count' });
    const found = await search();
    await service.post('/Patient', { resourceType: 'Patient' });
    expect((await search()).text).to.equal(found.text);
  });

  it('keeps neither the key nor the answer in the clear', async () => {
    const key = `secret-key-${newKey()}`;
    await create(key, 'Geheimnis');
    const { rows } = await service.pool.query<{ whole: string }>(
      "select i::text || encode(coalesce(i.answer, ''), 'escape') as whole from operations.idempotency i",
    );
    expect(rows.length).to.be.greaterThan(0);
    for (const { whole } of rows) {
      expect(whole).not.to.contain(key);
      expect(whole).not.to.contain('Geheimnis');
    }
  });

  it('continues a request whose process died, under the same ids, and only once its lease is over', async () => {
    const key = newKey();
    const first = await create(key, 'Dies');
    // The state left by a process that was killed after the append and before the response.
    await service.pool.query(
      `update operations.idempotency set answer = null, owner = $1, lease_until = now() + interval '1 hour'
       where answer is not null and $2::uuid = any(records)`,
      ['01890000-0000-7000-8000-000000000000', first.json.id],
    );
    const before = await count();
    let answered = false;
    const retry = create(key, 'Dies').finally(() => {
      answered = true;
    });
    await count();
    expect(answered).to.equal(false);
    await service.pool.query(
      "update operations.idempotency set lease_until = now() - interval '1 second' where owner is not null",
    );
    const again = await retry;
    expect([again.status, again.text]).to.deep.equal([201, first.text]);
    expect(await count()).to.equal(before);
    expect((await service.fhir(`/Patient/${first.json.id}/_history`)).json.total).to.equal(1);
  });

  it('forgets after 24 hours', async () => {
    const key = newKey();
    const first = await create(key, 'Old');
    await service.pool.query("update operations.idempotency set expires_at = now() - interval '1 second'");
    const second = await create(key, 'New');
    expect(second.status).to.equal(201);
    expect(second.json.id).not.to.equal(first.json.id);
  });

  it('is purged with the record', async () => {
    const created = await create(newKey(), 'Purged');
    const id = String(created.json.id);
    const rows = async () =>
      (await service.pool.query('select 1 from operations.idempotency where $1::uuid = any(records)', [id]))
        .rowCount;
    expect(await rows()).to.equal(1);
    expect((await service.fhir(`/Patient/${id}?_purge=true`, { method: 'DELETE' })).status).to.equal(204);
    expect(await rows()).to.equal(0);
  });

  it('keeps nothing that was read of a purged record, and writes nothing twice for that', async () => {
    const patient = String((await create(newKey(), 'Read')).json.id);
    const observation = { resourceType: 'Observation', status: 'final', code: { text: 'x' } };
    const written = await service.post(
      '/Observation',
      { ...observation, subject: { reference: `Patient/${patient}` } },
      { 'X-Service-Source-System': 'SourceOfThePurged' },
    );
    // This resource's Provenance doesn't refer to a patient.
    const target = `target=Observation/${String(written.json.id)}`;
    const searchHeaders = {
      'Content-Type': 'application/x-www-form-urlencoded',
      'Idempotency-Key': newKey(),
    };
    const search = () =>
      service.fhir('/Provenance/_search', {
        method: 'POST',
        headers: searchHeaders,
        body: target,
      });
    const bundle = {
      resourceType: 'Bundle',
      type: 'batch',
      entry: [
        { resource: { resourceType: 'Patient' }, request: { method: 'POST', url: 'Patient' } },
        { request: { method: 'GET', url: `Provenance?${target}` } },
      ],
    };
    const bundleHeaders = { 'Idempotency-Key': newKey() };
    const batch = () => service.post('/', bundle, bundleHeaders);
    for (const answer of [await search(), await search(), await batch()])
      expect(answer.text).to.contain('SourceOfThePurged');
    const [first] = entriesOf(await batch());
    const before = Number(await count());
    expect((await service.fhir(`/Patient/${patient}?_purge=true`, { method: 'DELETE' })).status).to.equal(
      204,
    );
    expect((await search()).text).not.to.contain('SourceOfThePurged');
    const again = await batch();
    expect(again.text).not.to.contain('SourceOfThePurged');
    expect(entriesOf(again)[0]).to.deep.equal(first);
    expect(await count()).to.equal(before - 1);
  });

  it('keeps no answer of a request during which a record was purged: it may have read that before', async () => {
    const store = openIdempotency(service.pool);
    const { signal } = new AbortController();
    const hash = createHash('sha256').update('a search').digest();
    const asked = { scope: 'a project', credential: 'a credential', requestHash: hash, bytes: 0 };
    const begin = (key: string) => store.begin({ ...asked, key, gone: () => signal });
    const reserved = async (key: string) => {
      const begun = await begin(key);
      return 'reserved' in begun ? begun.reserved : expect.fail(`${key} has an answer`);
    };
    const answer = { status: 200, headers: {}, body: '{"display":"of the purged"}', reads: true };
    const { id } = (await create(newKey(), 'Read meanwhile')).json;
    const during = await reserved('during');
    expect((await service.fhir(`/Patient/${id}?_purge=true`, { method: 'DELETE' })).status).to.equal(204);
    await during.keep(answer);
    const again = await reserved('during');
    expect([again.commandId, again.millis]).to.deep.equal([during.commandId, during.millis]);
    await again.keep(answer);
    expect(await begin('during')).to.deep.equal({ kept: answer });
  });
});

function entriesOf(answer: Answer): readonly Json[] {
  const { entry } = answer.json;
  return Array.isArray(entry) ? entry : [];
}
