/**
 * Grants and links with a snapshot: instances that start from the snapshot make the same decisions as instances that read
 * every event, and `annal verify` finds the snapshot's entries in the log.
 */
import { expect } from 'chai';
import { verify } from '#projections/verify/verify.ts';
import { recordStream } from '#src/events/streams.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import {
  byPerson,
  type ConsentInstance,
  grantBy,
  identityOf,
  openInstance,
} from '#test/support/consent-commands.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { wholeLog } from '#test/support/whole-log.ts';

describe('grants and links behind a snapshot', () => {
  let service: InProcess;
  const open: ConsentInstance[] = [];
  before(async () => {
    service = await startInProcess();
  });
  after(async () => {
    await Promise.all(open.map((each) => each.close()));
    await service?.stop();
  });

  /** Opens an instance with nothing in memory. */
  async function fresh(): Promise<ConsentInstance> {
    const instance = await openInstance(service.databaseUrl);
    open.push(instance);
    return instance;
  }
  /** Writes 600 resources, which triggers a snapshot, and waits for it. */
  async function grow(patient: string): Promise<void> {
    const entry = Array.from({ length: 600 }, (_, n) => ({
      resource: {
        resourceType: 'Observation',
        status: 'final',
        code: { text: `value ${n}` },
        subject: { reference: `Patient/${patient}` },
      },
      request: { method: 'POST', url: 'Observation' },
    }));
    const before = await revision(patient);
    await service.post('', { resourceType: 'Bundle', type: 'transaction', entry });
    await eventually(async () => (await revision(patient)) > before);
  }
  async function revision(patient: string): Promise<number> {
    const { rows } = await service.pool.query<{ revision: number }>(
      'select revision from operations.snapshot where stream = $1',
      [recordStream(patient)],
    );
    return rows[0]?.revision ?? -1;
  }
  const types = async (patient: string) =>
    (await (await fresh()).events(patient))
      .filter(({ type }) => !type.startsWith('Resource'))
      .map(({ type, data }) => [type, data.reason ?? data.grant_id ?? data.link_id]);

  it('are replaced, revoked, linked and ended by an instance that read none of their events', async () => {
    const { text } = await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'Lind' }] });
    const record = (JSON.parse(text) as { id: string }).id;
    const [ada, eve, mia] = ['ada', 'eve', 'mia'].map((name) => identityOf(name)) as [
      Identity,
      Identity,
      Identity,
    ];
    const writer = await fresh();
    const link = (person: Identity, relationship: 'self' | 'dependent') =>
      writer.consents.link(byPerson(person), record, person, relationship, 'invitation');
    const grant = (by: ConsentInstance, person: Identity, application: string) =>
      by.consents.grant(byPerson(person), grantBy(person, record, { application }));
    const self = (await link(ada, 'self')).result.linkId;
    await link(eve, 'dependent');
    const first = (await grant(writer, ada, 'app_1')).result.grantId;
    const second = (await grant(writer, ada, 'app_2')).result.grantId;
    const third = (await grant(writer, eve, 'app_1')).result.grantId;
    await writer.consents.revoke(
      byPerson(ada),
      { grantId: second, record, applicationId: 'app_2', person: ada },
      'patient',
    );
    await grow(record);
    await grow(record);
    const before = await types(record);

    const refused = await (await fresh()).consents
      .link(byPerson(mia), record, mia, 'self', 'invitation')
      .catch((error: unknown) => error);
    expect(refused).to.have.property('kind', 'conflict');
    expect(
      (await (await fresh()).consents.link(byPerson(ada), record, ada, 'self', 'own')).result.linkId,
    ).to.equal(self);
    const fourth = (await grant(await fresh(), ada, 'app_1')).result.grantId;
    const fifth = (await grant(await fresh(), ada, 'app_2')).result.grantId;
    await (await fresh()).consents.revoke(
      byPerson(eve),
      { grantId: third, record, applicationId: 'app_1', person: eve },
      'platform',
    );
    await (await fresh()).consents.revoke(
      byPerson(ada),
      { grantId: first, record, applicationId: 'app_1', person: ada },
      'platform',
    );
    await grow(record);
    await (await fresh()).consents.unlink(
      byPerson(ada),
      record,
      { linkId: self, person: ada, relationship: 'self' },
      'project',
    );
    expect((await types(record)).slice(before.length)).to.deep.equal([
      ['ConsentRevoked', 'replaced'],
      ['ConsentGranted', fourth],
      ['ConsentGranted', fifth],
      ['ConsentRevoked', 'platform'],
      ['RecordUnlinked', 'project'],
      ['ConsentRevoked', 'link_ended'],
      ['ConsentRevoked', 'link_ended'],
    ]);
    await (await fresh()).consents.link(byPerson(mia), record, mia, 'self', 'invitation');
    await grow(record);

    const { store, consents } = await fresh();
    const details = { given: 'Eve', family: '', birth_date: '1990-01-31' };
    await consents.startPersonalRecord(byPerson(eve), eve, 'production', details);
    await eventually(async () => {
      const report = await verify({ store, databaseUrl: service.databaseUrl });
      expect(report.operations ?? []).to.deep.equal([]);
      if (EVENTSTORE_URL === '') return report.clean;
      // A shared log also contains records of tests that have removed their documents, and erasures that tests made up.
      expect(report.log.filter(({ stream }) => stream === recordStream(record))).to.deep.equal([]);
      return report.readModels.length === 0;
    });
  });

  it('end with the purge of the record', async () => {
    const { text } = await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'Holm' }] });
    const record = (JSON.parse(text) as { id: string }).id;
    const instance = await fresh();
    const people = ['one', 'two', 'three'].map((name) => identityOf(name));
    for (const [n, person] of people.entries()) {
      await instance.consents.link(
        byPerson(person),
        record,
        person,
        n === 0 ? 'self' : 'dependent',
        'invitation',
      );
      await instance.consents.grant(byPerson(person), grantBy(person, record, { application: `app_${n}` }));
    }
    await grow(record);
    expect((await service.fhir(`/Patient/${record}?_purge=true`, { method: 'DELETE' })).status).to.equal(204);
    const last = (await wholeLog(instance.store)).findLast(({ type }) => type === 'RecordErased');
    const erased = JSON.parse(last?.data ?? '{}') as {
      patient: string;
      grants: { application_id: string }[];
    };
    expect(erased.patient).to.equal(record);
    expect(erased.grants.map(({ application_id }) => application_id)).to.deep.equal([
      'app_0',
      'app_1',
      'app_2',
    ]);
  });
});
