/** `POST /admin/projects/{id}/exports`: signed files that `bin/verify-export.mjs` checks without the service. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
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
import { everyNth, scaled } from '#test/support/scale.ts';

interface Verifier {
  verifyExport(bytes: Uint8Array, key?: string): Readonly<Record<string, unknown>>;
  readonly Altered: new (message?: string) => Error;
  readonly OtherFile: new (message?: string) => Error;
}

describe('signed exports for auditors', () => {
  let service: InProcess;
  let auditing: Auditing;
  let verifier: Verifier;
  let patient: Written;
  let weight: Written;
  let live: Written;
  let path: string;
  let key: string;

  before(async () => {
    verifier = (await import('../../bin/verify-export.mjs' as string)) as Verifier;
    service = await startInProcess();
    auditing = await openAuditing(service);
    const { project, production, write, auditor } = auditing;
    path = `/projects/${project}/exports`;
    patient = await write(PATIENT);
    weight = await write(weightOf(patient.id, 61));
    await write(weightOf(patient.id, 70));
    await write({ ...weightOf(patient.id, 64), id: weight.id });
    live = await write(PATIENT, production.key);
    key = (await auditor.done('GET', `${path}/key`)).public_key as string;
  });
  after(() => service?.stop());

  const post = (body: object) => auditing.auditor.ask('POST', path, body);
  const exported = async (body: object): Promise<Buffer> => {
    const answer = await post(body);
    expect([answer.status, answer.headers.get('content-type')], String(answer)).to.deep.equal([
      200,
      'application/x-ndjson',
    ]);
    expect(answer.headers.get('content-disposition')).to.match(/^attachment; filename="\w+-[\w-]+\.ndjson"$/);
    return Buffer.from(answer.text);
  };
  const all = (): readonly Readonly<Record<string, unknown>>[] => [
    { kind: 'record', patient: patient.id },
    { kind: 'history', resource: `Observation/${weight.id}` },
    { kind: 'search', query: `Observation?patient=${patient.id}&_sort=date` },
  ];

  /** Returns whether the verifier refuses a file with its own errors, which name the reason. */
  const refuses = (file: Uint8Array): boolean => {
    try {
      verifier.verifyExport(file, key);
      return false;
    } catch (error) {
      if (error instanceof verifier.Altered || error instanceof verifier.OtherFile) return true;
      throw error;
    }
  };

  it('are signed with the key that anybody can note', async () => {
    const answer = await fetch(`${service.url}/.well-known/audit-keys`);
    const { keys } = (await answer.json()) as { readonly keys: readonly Readonly<Record<string, string>>[] };
    expect(keys.map(({ kty, crv, x, alg }) => ({ kty, crv, x, alg }))).to.deep.equal([
      { kty: 'OKP', crv: 'Ed25519', x: key, alg: 'EdDSA' },
    ]);
    const thumbprint = JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x: key });
    expect(keys[0]?.kid).to.equal(createHash('sha256').update(thumbprint).digest('base64url'));
    expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
  });

  it('are unavailable while the key can’t be read, and the answer says what an operator must do', async () => {
    const other = await startInProcess({}, { AUDIT_KEY_FILE: '/nowhere/audit-key.pem' });
    try {
      const answer = await fetch(`${other.url}/.well-known/audit-keys`);
      const text = await answer.text();
      expect(answer.status, text).to.equal(503);
      expect(text).to.contain('must correct AUDIT_KEY_FILE').and.not.to.contain('/nowhere');
    } finally {
      await other.stop();
    }
  });

  it('prove themselves, with the key that the service names', async () => {
    const [record, history, search] = await Promise.all(all().map(exported));
    if (!record || !history || !search) throw new Error('nothing was exported');
    expect(verifier.verifyExport(record, key)).to.deep.include({
      kind: 'export',
      stream: `record-${patient.id}`,
      events: 4,
      public_key: key,
    });
    expect(verifier.verifyExport(history, key)).to.deep.include({
      kind: 'history',
      resource: `Observation/${weight.id}`,
      events: 2,
    });
    expect(verifier.verifyExport(search, key)).to.deep.include({
      kind: 'search',
      events: 2,
      query: `Observation?patient=${patient.id}&_sort=date`,
    });
    // The hashes in an answer match the hashes of the record's events.
    const events = record.toString().split('\n');
    for (const line of search.toString().split('\n').slice(2, 4)) {
      const { revision, event, hash } = JSON.parse(line) as Record<string, string>;
      expect(events[Number(revision) + 1])
        .to.include(event)
        .and.include(`\\"hash\\":\\"${hash}\\"`);
    }
    const bundle = JSON.parse(JSON.parse(search.toString().split('\n')[1] ?? '').bundle) as {
      entry: { resource: { id: string } }[];
    };
    expect(bundle.entry.map(({ resource }) => resource.id)).to.include(weight.id);
  });

  it('are refused after one byte has changed, and without a line', async () => {
    for (const asked of all()) {
      const file = await exported(asked);
      const places = [...file.keys()];
      for (const at of everyNth(places, scaled(23, 1))) {
        const changed = Buffer.from(file);
        changed[at] = (changed[at] ?? 0) ^ 1;
        expect(refuses(changed), `${asked.kind} ${at}`).to.equal(true);
      }
      const lines = file.toString().split('\n').slice(0, -1);
      for (const left of lines.keys()) {
        const text = lines
          .filter((_, at) => at !== left)
          .map((line) => `${line}\n`)
          .join('');
        expect(refuses(Buffer.from(text)), `${asked.kind} line ${left}`).to.equal(true);
      }
      expect(() => verifier.verifyExport(file, 'A'.repeat(43))).to.throw(verifier.Altered);
    }
  });

  it('are as of a moment', async () => {
    const as_of = weight.meta.lastUpdated;
    const counts: readonly number[] = [2, 1, 1];
    for (const [index, asked] of all().entries()) {
      const found = verifier.verifyExport(await exported({ ...asked, as_of }), key);
      expect(found, String(asked.kind)).to.deep.include({ as_of, events: counts[index] });
    }
    const early = { as_of: '2020-01-01T00:00:00Z' };
    expect((await post({ kind: 'record', patient: patient.id, ...early })).status).to.equal(404);
    expect((await post({ kind: 'history', resource: `Observation/${weight.id}`, ...early })).status).to.equal(
      404,
    );
  });

  it('are refused for what isn’t there, and what can’t be asked', async () => {
    const cases: readonly (readonly [object, number])[] = [
      [{ kind: 'record', patient: weight.id }, 404],
      [{ kind: 'record', patient: 'x' }, 422],
      [{ kind: 'history', resource: `Condition/${weight.id}` }, 404],
      [{ kind: 'history', resource: 'x' }, 422],
      [{ kind: 'search', query: 'Nothing?x=y' }, 422],
      [{ kind: 'search', query: 'Observation?nothing=y' }, 400],
      [{ kind: 'search', query: `Observation?patient=${patient.id}&_asOf=2026-01-01T00:00:00Z` }, 422],
      [{ kind: 'search', query: 'Provenance?target=Patient/x' }, 422],
      [{ kind: 'search', query: `Observation?patient=${patient.id}&_revinclude=Provenance:target` }, 422],
      [{ kind: 'search', query: `Patient?_id=${patient.id}&_revinclude:iterate=Provenance:target` }, 422],
      [{ kind: 'other' }, 422],
      [{ kind: 'record', patient: patient.id, as_of: 'yesterday' }, 422],
      [{ kind: 'record', patient: patient.id, as_of: '2999-01-01T00:00:00Z' }, 422],
    ];
    for (const [body, status] of cases)
      expect((await post(body)).status, JSON.stringify(body)).to.equal(status);
    const directory = await auditing.write({ resourceType: 'Practitioner', name: [{ family: 'Berg' }] });
    const file = await exported({ kind: 'history', resource: `Practitioner/${directory.id}` });
    expect(verifier.verifyExport(file, key)).to.deep.include({ events: 1 });
  });

  it('are for auditors of the project, need a reason in production, and are in the patient’s access log', async () => {
    const bodies = [
      { kind: 'record', patient: live.id },
      { kind: 'history', resource: `Patient/${live.id}` },
      { kind: 'search', query: `Patient?_id=${live.id}`, environment: 'production' },
    ];
    for (const body of bodies) {
      expect(await refusalsOf(auditing, 'POST', path, body)).to.deep.equal([403, 404, 404]);
      expect((await auditing.session.ask(`/admin${path}`, { method: 'POST', body })).status).to.equal(400);
      const answer = await auditing.session.ask(`/admin${path}`, { method: 'POST', body, headers: REASON });
      expect(answer.status).to.equal(200);
      verifier.verifyExport(Buffer.from(answer.text), key);
    }
    expect(await refusalsOf(auditing, 'GET', `${path}/key`)).to.deep.equal([403, 404, 404]);
    const { rows } = await service.pool.query(
      'select action, purpose, resource_id as id, count from operations.access_entry where record = $1 order by seq',
      [live.id],
    );
    const purpose = 'Case 12';
    expect(rows).to.deep.equal([
      { action: 'export', purpose, id: null, count: null },
      { action: 'export', purpose, id: live.id, count: null },
      { action: 'export', purpose, id: live.id, count: 1 },
    ]);
  });

  it('are not made of what was altered or purged', async function () {
    const gone = await auditing.write(PATIENT);
    await service.fhir(`/Patient/${gone.id}?_purge=true`, { key: auditing.sandbox.key, method: 'DELETE' });
    expect((await post({ kind: 'record', patient: gone.id })).status).to.equal(404);
    if (process.env.EVENTSTORE_URL) return this.skip();
    await service.pool.query(`update log.events set data = replace(data, '61', '62') where stream = $1`, [
      `record-${patient.id}`,
    ]);
    for (const asked of all().slice(0, 2)) expect((await post(asked)).status).to.equal(409);
    // This holds even though the answer doesn't show the altered version.
    expect(
      (
        await post({
          kind: 'search',
          query: `Observation?patient=${patient.id}`,
          as_of: weight.meta.lastUpdated,
        })
      ).status,
    ).to.equal(409);
  });
});
