import { expect } from 'chai';
import pg from 'pg';
import { newUuid } from '#src/shared/ids.ts';
import { HERE, type InProcess, type KeyedCall, startInProcess } from '#test/support/in-process.ts';
import type { Answer } from '#test/support/service.ts';

/** Returns the statements about an id that were needed for an answer. */
async function watched(
  id: string,
  ask: () => Promise<Answer>,
): Promise<{ answer: Answer; statements: string[] }> {
  const { query } = pg.Client.prototype;
  const statements: string[] = [];
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    const [asked, values] = given;
    const statement = typeof asked === 'object' ? { values, ...asked } : { text: asked, values };
    const text = String(Reflect.get(statement, 'text'));
    // The paths in the request log contain ids, but the log is written in the background.
    if (/^\s*(?:select|with)\b/i.test(text) && JSON.stringify(statement.values ?? '').includes(id))
      statements.push(text);
    return Reflect.apply(query, this, given);
  };
  try {
    return { answer: await ask(), statements };
  } finally {
    pg.Client.prototype.query = query;
  }
}

/**
 * Another project's resource looks as if it never existed (docs/spec/interface.md, section 1; docs/spec/decisions.md, section
 * 5).
 */
describe('isolation of projects', () => {
  let service: InProcess;
  let stranger: string;
  let id: string;
  let provenance: string;
  before(async () => {
    service = await startInProcess({}, HERE);
    stranger = await service.newProject();
    const identifier = [{ system: 'urn:isolated', value: '1' }];
    id = String((await service.post('/Patient', { resourceType: 'Patient', identifier })).json.id);
    const found = await service.fhir(`/Provenance?target=Patient/${id}`);
    // Background work that follows the log then uses the newest event, which is about another patient.
    await service.post('/Patient', { resourceType: 'Patient' });
    provenance = (JSON.parse(found.text) as { entry: [{ resource: { id: string } }] }).entry[0].resource.id;
  });
  after(() => service.stop());

  const asStranger = (path: string, call: KeyedCall = {}) => service.fhir(path, { ...call, key: stranger });

  it('answers every read as for an id that never was', async () => {
    const never = '01890000-0000-7000-8000-000000000000';
    const paths = (patient: string, made: string) => [
      `/Patient/${patient}`,
      `/Patient/${patient}/_history`,
      `/Patient/${patient}/_history/1`,
      `/Patient/${patient}/Observation`,
      `/Patient/${patient}/Provenance`,
      `/Provenance/${made}`,
      `/Provenance/${made}/_history`,
      `/Provenance/${made}/_history/1`,
    ];
    const theirs = paths(id, provenance);
    const unknown = paths(never, never);
    for (const [index, path] of theirs.entries()) {
      expect((await service.fhir(path)).status, path).to.equal(200);
      const answer = await asStranger(path);
      expect(answer.status, path).to.equal(404);
      const other = await asStranger(unknown[index] ?? '');
      const neutral = (text: string) =>
        text.replaceAll(id, 'ID').replaceAll(never, 'ID').replaceAll(provenance, 'ID');
      expect(neutral(answer.text)).to.equal(neutral(other.text));
    }
  });

  it('never counts or matches it', async () => {
    for (const path of [
      '/Patient',
      '/Patient?identifier=urn:isolated|1',
      `/Patient?_id=${id}`,
      '/Patient?_sort=-_lastUpdated',
      `/Observation?patient=${id}`,
      '/Provenance',
      `/Provenance?target=Patient/${id}`,
      `/Provenance?_id=${provenance}`,
      `/Provenance?patient=${id}`,
      '/_history',
      '/Patient/_history',
    ]) {
      const answer = await asStranger(path);
      expect([answer.status, answer.json.total], path).to.deep.equal([200, 0]);
    }
  });

  it('deletes nothing of it: 204 as for an id that never was, by the same statements, alone and in Bundles', async () => {
    const never = newUuid();
    const bundle = (type: string, target: string, more: object = {}) => ({
      method: 'POST',
      body: JSON.stringify({
        resourceType: 'Bundle',
        type,
        entry: [{ request: { method: 'DELETE', url: target, ...more } }],
      }),
    });
    const match = { ifMatch: 'W/"1"' };
    const asks: readonly (readonly [number, (target: string) => readonly [string, KeyedCall]])[] = [
      [204, (target) => [`/${target}`, { method: 'DELETE' }]],
      [204, (target) => [target.replace('Patient/', '/Observation/'), { method: 'DELETE' }]],
      [412, (target) => [`/${target}`, { method: 'DELETE', headers: { 'If-Match': 'W/"1"' } }]],
      [412, (target) => [`/${target}`, { method: 'DELETE', headers: { 'If-Match': '*' } }]],
      [404, (target) => [`/${target}?_purge=true`, { method: 'DELETE' }]],
      [
        404,
        (target) => [target.replace('Patient/', `${service.url}/v1/observations/`), { method: 'DELETE' }],
      ],
      [200, (target) => ['', bundle('batch', target)]],
      [200, (target) => ['', bundle('transaction', target)]],
      [200, (target) => ['', bundle('batch', target, match)]],
      [412, (target) => ['', bundle('transaction', target, match)]],
    ];
    for (const [status, ask] of asks) {
      const told = [];
      for (const target of [id, never]) {
        const [path, call] = ask(`Patient/${target}`);
        const { answer, statements } = await watched(target, () => asStranger(path, call));
        expect(answer.status, `${path} ${answer}`).to.equal(status);
        expect(statements, path).to.have.length.greaterThan(0);
        told.push({
          text: answer.text.replaceAll(target, 'ID').replace(/"req_[^"]+"/, '"req_…"'),
          etag: answer.headers.get('etag'),
          statements,
        });
      }
      expect(told[0]).to.deep.equal(told[1]);
    }
    const { text } = await asStranger('', bundle('batch', `Patient/${id}`));
    expect(text).to.contain('"response":{"status":"204 No Content"}');
    expect((await service.fhir(`/Patient/${id}`)).version).to.equal(1);
  });

  it('refuses every write to it as to an id that never was', async () => {
    const body = JSON.stringify({ resourceType: 'Patient', id });
    expect((await asStranger(`/Patient/${id}`, { method: 'PUT', body })).status).to.equal(405);
    expect((await asStranger(`/Patient/${id}`, { method: 'DELETE' })).status).to.equal(204);
    expect((await asStranger(`/Patient/${id}?_purge=true`, { method: 'DELETE' })).status).to.equal(404);
    const patch = { 'Content-Type': 'application/json-patch+json' };
    const patched = await asStranger(`/Patient/${id}`, {
      method: 'PATCH',
      headers: patch,
      body: '[{"op":"add","path":"/active","value":true}]',
    });
    expect(patched.status).to.equal(404);
    const observation = {
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'x' },
      subject: { reference: `Patient/${id}` },
    };
    const referring = await asStranger('/Observation', { method: 'POST', body: JSON.stringify(observation) });
    expect(referring.status).to.equal(422);
    const created = await asStranger('/Patient', {
      method: 'POST',
      headers: { 'If-None-Exist': 'identifier=urn:isolated|1' },
      body: JSON.stringify({ resourceType: 'Patient', identifier: [{ system: 'urn:isolated', value: '1' }] }),
    });
    expect(created.status).to.equal(201);
    expect((await service.fhir('/Patient?identifier=urn:isolated|1')).json.total).to.equal(1);
    expect((await service.fhir(`/Patient/${id}`)).version).to.equal(1);
  });
});
