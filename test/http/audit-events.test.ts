/** `GET /admin/projects/{id}/events`: auditors search the log and read single events with their proofs. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import { openEventQueries } from '#queries/audit/events.ts';
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

interface Event {
  readonly id: string;
  readonly type: string;
  readonly title: string | null;
  readonly patient_name: string | null;
  readonly resource: string | null;
  readonly version: number | null;
  readonly patient: string | null;
  readonly recorded_at: string;
  readonly credential: { readonly kind: string; readonly name: string | null; readonly key: string | null };
}

describe('events for auditors', () => {
  let service: InProcess;
  let auditing: Auditing;
  let patient: Written;
  let weight: Written;
  let live: Written;
  let path: string;

  before(async () => {
    service = await startInProcess();
    auditing = await openAuditing(service);
    const { project, production, write } = auditing;
    path = `/projects/${project}/events`;
    patient = await write(PATIENT);
    await write({ resourceType: 'Practitioner', name: [{ family: 'Berg' }] });
    weight = await write(weightOf(patient.id, 61));
    await write({ ...weightOf(patient.id, 64), id: weight.id });
    live = await write(PATIENT, production.key);
  });
  after(() => service?.stop());

  const search = async (query: string): Promise<readonly Event[]> =>
    (await auditing.auditor.done('GET', `${path}?${query}`)).data as unknown as readonly Event[];
  const named = (events: readonly Event[]) =>
    events.map(({ type, resource, version }) => `${type} ${resource?.split('/')[0]} ${version}`);

  it('are found newest first, in pages, by each condition', async () => {
    const all = await search('');
    expect(named(all)).to.deep.equal([
      'ResourceUpdated Observation 2',
      'ResourceCreated Observation 1',
      'ResourceCreated Practitioner 1',
      'ResourceCreated Patient 1',
    ]);
    expect(all.map((each) => each.patient)).to.deep.equal([patient.id, patient.id, null, patient.id]);
    expect(all[0]?.credential).to.deep.include({ kind: 'api_key', key: auditing.sandbox.id });
    expect(all[0]?.credential.name).to.match(/^sandbox key \(….{4}\)$/);
    const first = await auditing.auditor.done('GET', `${path}?limit=3`);
    const rest = await search(`limit=3&cursor=${first.next_cursor}`);
    expect([...first.data, ...rest].map(({ id }) => id)).to.deep.equal(all.map(({ id }) => id));
    const counts: readonly (readonly [string, number])[] = [
      [`patient=${patient.id}`, 3],
      ['type=ResourceUpdated', 1],
      ['type=ResourceUpdated,ResourceCreated', 4],
      ['resource=Observation', 2],
      [`resource=Observation/${weight.id}`, 2],
      [`resource=Observation/${weight.id}&type=ResourceCreated`, 1],
      [`resource=Patient/${weight.id}`, 0],
      [`key=${auditing.sandbox.id}`, 4],
      [`key=${auditing.production.id}`, 0],
      ['author=import', 4],
      ['author=Import', 4],
      ['author_type=import', 4],
      ['author_type=ai', 0],
      ['author=Nobody', 0],
      ['author=Practitioner/x', 0],
      ['application=app_x', 0],
      [`from=${weight.meta.lastUpdated}`, 2],
      [`to=${weight.meta.lastUpdated}`, 2],
      ['to=2026-01-01', 0],
      [`patient=${live.id}`, 0],
      ['environment=production', 1],
    ];
    for (const [query, count] of counts) expect(await search(query), query).to.have.length(count);
    for (const wrong of [
      'type=x',
      'patient=Ida Sand',
      'resource=x/',
      'resource=Observation/nobody',
      'resource=Observatio',
      'key=server',
      'application=App',
      'author_type=AI',
      'from=yesterday',
      'from=2026-03-02&to=2026-03-01',
      'of=x',
      `cursor=${first.next_cursor}&type=Resource`,
    ])
      expect((await auditing.auditor.ask('GET', `${path}?${wrong}`)).status, wrong).to.equal(422);
  });

  it('of consents and of the project itself are found, too', async () => {
    const own = await search('of=project');
    expect(own.map(({ type }) => type)).to.deep.equal(['ApiKeyCreated', 'ApiKeyCreated', 'ProjectCreated']);
    expect(own[0]?.credential.name).to.equal('owner@clinic.example');
    expect(own.map(({ title }) => title)[0]).to.match(/^production key \(….{4}\)$/);
    expect(await search('of=project&type=ProjectCreated')).to.have.length(1);
    expect(await search(`of=project&key=${auditing.sandbox.id}`)).to.have.length(1);
    expect(await search('of=project&author=somebody')).to.have.length(0);
    expect(await search('of=project&author=OWNER@clinic')).to.have.length(3);
    const first = await auditing.auditor.done('GET', `${path}?of=project&limit=2`);
    const rest = await search(`of=project&limit=2&cursor=${first.next_cursor}`);
    expect([...first.data, ...rest].map(({ id }) => id)).to.deep.equal(own.map(({ id }) => id));
    const one = await auditing.auditor.done('GET', `${path}/${own[0]?.id}`);
    expect(one).to.deep.include({
      type: 'ApiKeyCreated',
      revision: 2,
      stream: `project-${auditing.project}`,
      title: own[0]?.title,
    });
    expect(one.changes).to.deep.include({ path: 'scopes[0]', before: null, after: '"read"' });
    expect((one.chain as { holds: boolean }).holds).to.equal(true);
  });

  it('show their content and their link of the chain, which anyone can recompute', async () => {
    const [newest, before] = await search(`resource=Observation/${weight.id}`);
    const event = await auditing.auditor.done('GET', `${path}/${newest?.id}`);
    const { data, metadata, chain, stream } = event as unknown as Record<
      'data' | 'metadata' | 'stream',
      string
    > & {
      chain: { previous: string; hash: string; holds: boolean };
    };
    expect(event).to.deep.include({
      revision: 2,
      stream: `record-${patient.id}`,
      patient: patient.id,
      resource: `Observation/${weight.id}`,
      version: 2,
      changes: [{ path: 'valueQuantity.value', before: '61', after: '64' }],
    });
    expect(chain.holds).to.equal(true);
    const hash = createHash('sha256').update(chain.previous);
    const unsealed = `${metadata.slice(0, -`,"hash":"${chain.hash}"}`.length)}}`;
    for (const part of [stream, '2', event.id, 'ResourceUpdated', data, unsealed])
      hash.update(`\n${Buffer.byteLength(part)}\n`).update(part);
    expect(hash.digest('hex')).to.equal(chain.hash);
    const previous = await auditing.auditor.done('GET', `${path}/${before?.id}`);
    expect((previous.chain as { hash: string }).hash).to.equal(chain.previous);
    expect(
      (await auditing.auditor.ask('GET', `${path}/0198c0de-0000-7000-8000-000000000001`)).status,
    ).to.equal(404);
    expect((await auditing.auditor.ask('GET', `${path}/x`)).status).to.equal(404);
  });

  it('name what they are about, and of a deletion what it said last', async () => {
    const { write, sandbox, auditor } = auditing;
    const other = await write({ ...PATIENT, name: [{ family: 'Berg', given: ['Ida'] }] });
    const allergy = await write({
      resourceType: 'AllergyIntolerance',
      patient: { reference: `Patient/${other.id}` },
      code: { text: 'Latex' },
      clinicalStatus: {
        coding: [
          { system: 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical', code: 'active' },
        ],
      },
    });
    await service.fhir(`/AllergyIntolerance/${allergy.id}`, { method: 'DELETE', key: sandbox.key });
    const found = await search(`patient=${other.id}`);
    expect(found.map(({ type, title, patient_name }) => [type, title, patient_name])).to.deep.equal([
      ['ResourceDeleted', 'Latex', 'Ida Berg'],
      ['ResourceCreated', 'Latex', 'Ida Berg'],
      ['ResourceCreated', 'Ida Berg', 'Ida Berg'],
    ]);
    const deletion = await auditor.done('GET', `${path}/${found[0]?.id}`);
    expect(deletion.title).to.equal('Latex');
    expect(deletion.changes).to.deep.include({ path: 'code.text', before: '"Latex"', after: null });
    // Names are content. In production, they are shown only to a person who gives a reason.
    const [unnamed] = await search('environment=production');
    expect([unnamed?.title, unnamed?.patient_name]).to.deep.equal([null, null]);
    const { text } = await auditor.ask('GET', `${path}?environment=production`, undefined, REASON);
    expect(JSON.parse(text).data[0]).to.deep.include({ title: 'Sand', patient_name: 'Sand' });
  });

  it('that were altered don’t hold', async function () {
    if (process.env.EVENTSTORE_URL) return this.skip();
    const other = await auditing.write(weightOf(patient.id, 80));
    const [event] = await search(`resource=Observation/${other.id}`);
    await service.pool.query(`update log.events set data = replace(data, '80', '81') where id = $1`, [
      event?.id,
    ]);
    const found = await auditing.auditor.done('GET', `${path}/${event?.id}`);
    expect((found.chain as { holds: boolean }).holds).to.equal(false);
    // An event whose time was altered is found by its id; an event that was removed is reported as missing.
    await service.pool.query(
      `update log.events set metadata = replace(metadata, '"recorded_at":"20', '"recorded_at":"19') where id = $1`,
      [event?.id],
    );
    expect(await auditing.auditor.done('GET', `${path}/${event?.id}`)).to.deep.include({ revision: 3 });
    await service.pool.query('delete from log.events where id = $1', [event?.id]);
    expect(await auditing.auditor.done('GET', `${path}/${event?.id}`)).to.deep.include({
      revision: null,
      data: null,
      chain: { previous: null, hash: null, holds: false, checkpoint: null },
    });
  });

  it('look through a bounded number of rows, and say how far', async () => {
    const { events } = openEventQueries(service.pool, 1);
    const tenant = { project: auditing.project, environment: 'sandbox' as const };
    const found: string[] = [];
    let pages = 0;
    let last: number | undefined;
    for (let cursor: string | undefined; ; pages += 1) {
      const page = await events(tenant, { limit: 10, cursor, types: ['ResourceCreated'] });
      found.push(...page.rows.map(({ resource_type }) => resource_type ?? ''));
      if (page.next === undefined) break;
      expect(page.searchedTo).to.be.lessThan(last ?? Number.POSITIVE_INFINITY);
      last = page.searchedTo;
      cursor = page.next;
    }
    expect(pages).to.be.greaterThan(1);
    expect(found.slice(-3)).to.deep.equal(['Observation', 'Practitioner', 'Patient']);
  });

  it('are for auditors of the project, and need a reason in production', async () => {
    const [event] = await search('environment=production');
    for (const each of [path, `${path}/${event?.id}`, `${path}?of=project`]) {
      expect(await refusalsOf(auditing, 'GET', each), each).to.deep.equal([403, 404, 404]);
      expect((await auditing.owner.ask('GET', each, undefined, REASON)).status).to.equal(200);
    }
    const entries = async () =>
      (
        await service.pool.query(
          'select action, purpose, resource_id from operations.access_entry where record = $1',
          [live.id],
        )
      ).rows;
    const earlier = (await entries()).length;
    for (const each of [`${path}?environment=production`, `${path}/${event?.id}`]) {
      expect((await auditing.session.ask(`/admin${each}`)).status, each).to.equal(400);
      expect((await auditing.session.ask(`/admin${each}`, { headers: REASON })).status, each).to.equal(200);
    }
    expect((await entries()).slice(earlier)).to.deep.equal([
      { action: 'history-system', purpose: 'Case 12', resource_id: null },
      { action: 'vread', purpose: 'Case 12', resource_id: live.id },
    ]);
  });
});
