/**
 * Writes and revocation on two instances. The grant is an event in the record, so every write happens either before or after
 * the grant's end (docs/decisions/0021-grants-in-the-record.md).
 */
import { expect } from 'chai';
import { openPool } from '#src/database/pool.ts';
import { recordStream } from '#src/events/streams.ts';
import { PostgresCriteriaLocks } from '#src/operations/locks.ts';
import { tenantId } from '#src/shared/access/caller.ts';
import {
  byPerson,
  type ConsentInstance,
  grantBy,
  identityOf,
  openInstance,
} from '#test/support/consent-commands.ts';
import { grantData } from '#test/support/consents.ts';
import { GrantWriting } from '#test/support/grant-writing.ts';
import type { Allowed } from '#test/support/granted.ts';
import { eventually } from '#test/support/process.ts';
import { type SecondInstance, startSecondInstance } from '#test/support/second-instance.ts';

const LAB = 'laboratory';

describe('writes and the end of a grant, on two instances', () => {
  let on: GrantWriting;
  let second: SecondInstance;
  let instance: ConsentInstance;

  before(async () => {
    on = await GrantWriting.start();
    second = await startSecondInstance(on.service);
    instance = await openInstance(on.service.databaseUrl);
  });
  after(async () => {
    await instance?.close();
    await second?.close();
    await on?.stop();
  });

  /** Creates a grant through the consent commands, which handle concurrent writes. */
  async function given(name: string): Promise<{ allowed: Allowed; revoke: () => Promise<void> }> {
    const person = identityOf(name);
    const { application, record } = on;
    const { applicationId, project, environment } = application;
    const { consents } = instance;
    await consents.link(byPerson(person), record, person, 'dependent', 'invitation');
    const scopes = ['patient/*.cruds'];
    const { result } = await consents.grant(byPerson(person), {
      ...grantBy(person, record),
      application: { id: applicationId, project, environment, sector: applicationId },
      scopes,
    });
    const { grantId, patient } = result;
    const data = grantData({
      grant_id: grantId,
      application_id: applicationId,
      project_id: project,
      environment,
      scopes,
      patient,
    });
    const shown = 'select from consents.grants where grant_id = $1';
    await eventually(async () => (await on.service.pool.query(shown, [grantId])).rowCount === 1);
    const token = await on.granting.tokenOf({ application, data, record, patient });
    return {
      allowed: { application, data, record, patient, token },
      async revoke() {
        await consents.revoke(byPerson(person), { grantId, record, applicationId, person }, 'patient');
        const ended = `${shown} and ended_at is not null`;
        await eventually(async () => (await on.service.pool.query(ended, [grantId])).rowCount === 1);
      },
    };
  }

  const post = (allowed: Allowed, base: string, path: string, body: object) =>
    fetch(`${base}/fhir/R4${path}`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${allowed.token}`, 'Content-Type': 'application/fhir+json' },
      body: JSON.stringify(body),
    });

  it('never come after it: none that begins later succeeds, and the log has none', async () => {
    const { allowed, revoke } = await given('mira');
    let isOver = false;
    const late: number[] = [];
    const done = { written: 0, refused: 0 };
    const observation = on.observation(allowed.patient, LAB);
    const bundle = (type: string) => ({
      resourceType: 'Bundle',
      type,
      entry: [1, 2, 3].map(() => ({
        resource: observation,
        request: { method: 'POST', url: 'Observation' },
      })),
    });
    const bodies: [string, object][] = [
      ['/Observation', observation],
      ['/', bundle('batch')],
      ['/', bundle('transaction')],
    ];
    const writer = async (n: number): Promise<void> => {
      for (let turn = 0; ; turn += 1) {
        const beganLate = isOver;
        const [path, body] = bodies[(n + turn) % bodies.length] ?? ['/', {}];
        const response = await post(allowed, n % 2 === 0 ? on.service.url : second.url, path, body);
        await response.text();
        if (response.status < 300) done.written += 1;
        else done.refused += 1;
        if (beganLate) {
          late.push(response.status);
          return;
        }
      }
    };
    const writers = Array.from({ length: 6 }, (_, n) => writer(n));
    await eventually(async () => done.written > 12);
    await revoke();
    isOver = true;
    await Promise.all(writers);
    expect(late).to.deep.equal(late.map(() => 401));
    expect(late).to.have.length(6);
    const events: string[] = [];
    for await (const { type, metadata } of instance.store.read(recordStream(on.record))) {
      const { credential } = JSON.parse(metadata) as { credential: { grant_id?: string } };
      if (type === 'ConsentRevoked' || credential.grant_id === allowed.data.grant_id) events.push(type);
    }
    expect(events.length).to.be.greaterThan(12);
    expect(events.indexOf('ConsentRevoked')).to.equal(events.length - 1);
  });

  for (const type of ['batch', 'transaction'] as const)
    it(`end a ${type} in flight: what hasn’t begun is refused`, async () => {
      const { allowed, revoke } = await given(`in flight ${type}`);
      const id = await on.created(on.observation(on.record, LAB));
      const criteria = `identifier=urn:flight|${type}`;
      const { rows } = await on.service.pool.query<{ owner: { project: string; environment: 'sandbox' } }>(
        `select metadata::jsonb -> 'owner' as owner from history.version where id = $1`,
        [id],
      );
      const [owner] = rows;
      if (owner === undefined) throw new Error('no owner');
      const pool = openPool(on.service.databaseUrl);
      const before = await on.events();
      try {
        let sent: Promise<Response> | undefined;
        await new PostgresCriteriaLocks(pool).hold(
          [`${tenantId(owner.owner)}/Observation?${new URLSearchParams(criteria)}`],
          async () => {
            sent = post(allowed, second.url, '/', {
              resourceType: 'Bundle',
              type,
              entry: [
                {
                  resource: on.observation(allowed.patient, LAB),
                  request: { method: 'POST', url: 'Observation', ifNoneExist: criteria },
                },
                {
                  resource: { ...on.observation(allowed.patient, LAB), id },
                  request: { method: 'PUT', url: `Observation/${id}` },
                },
                { request: { method: 'GET', url: `Observation/${id}` } },
                { request: { method: 'GET', url: `Patient/${allowed.patient}` } },
              ],
            });
            const waiting = `select from pg_locks where locktype = 'advisory' and not granted
            and database = (select oid from pg_database where datname = current_database())`;
            await eventually(async () => ((await on.service.pool.query(waiting)).rowCount ?? 0) > 0);
            await revoke();
          },
        );
        const answer = await sent;
        const text = (await answer?.text()) ?? '';
        if (type === 'transaction') expect([answer?.status, text], text).to.include(401);
        else {
          const { entry } = JSON.parse(text) as { entry: { response: { status: string } }[] };
          expect(
            entry.map(({ response }) => response.status.slice(0, 3)),
            text,
          ).to.deep.equal(['401', '401', '401', '401']);
        }
        expect(text).not.to.contain('valueQuantity');
        // The one event is the revocation itself.
        expect(await on.events()).to.equal(before + 1);
      } finally {
        await pool.end();
      }
    });

  it('refuse what needs no event, too', async () => {
    const { allowed, revoke } = await given('nothing to write');
    const id = await on.created(on.observation(on.record, LAB));
    await on.service.fhir(`/Observation/${id}`, { method: 'DELETE' });
    await revoke();
    const response = await fetch(`${second.url}/fhir/R4/Observation/${id}`, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${allowed.token}` },
    });
    expect(response.status).to.equal(401);
    expect(response.headers.get('www-authenticate')).to.contain('invalid_token');
  });
});
