/** Personal records: one per person and environment, however often a person starts one (docs/spec/decisions.md, section 9). */
import { expect } from 'chai';
import { personalProject } from '#commands/consent/personal.ts';
import { Streams } from '#commands/kernel/streams.ts';
import { PROJECT } from '#commands/project/state.ts';
import { parseMetadata } from '#src/events/metadata.ts';
import { projectStream, recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { nowMicros } from '#src/shared/time/time.ts';
import {
  byPerson,
  type ConsentInstance,
  grantBy,
  identityOf,
  openInstance,
} from '#test/support/consent-commands.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';

const DETAILS = { given: 'Ada', family: 'Lind', birth_date: '1984-07-19' };

describe('personal records', () => {
  let database: TestDatabase;
  let instances: readonly [ConsentInstance, ConsentInstance];
  before(async () => {
    database = await createMigratedDatabase();
    instances = [await openInstance(database.url), await openInstance(database.url)];
  });
  after(async () => {
    await Promise.all((instances ?? []).map((each) => each.close()));
    await database.drop();
  });

  const newPerson = () => identityOf(newUuid());
  const start = (
    person: ReturnType<typeof newPerson>,
    at: 0 | 1 = 0,
    environment: 'sandbox' | 'production' = 'production',
    details = DETAILS,
  ) => instances[at].consents.startPersonalRecord(byPerson(person), person, environment, details);
  async function typesIn(stream: string): Promise<string[]> {
    const types: string[] = [];
    for await (const { type } of instances[0].store.read(stream)) types.push(type);
    return types;
  }

  it('are a Patient and its self link in one append, in a project of the person that has nothing else', async () => {
    const person = newPerson();
    const { result } = await start(person);
    expect(result.project).to.equal(personalProject(person));
    expect(await typesIn(projectStream(result.project))).to.deep.equal(['PersonalRecordStarted']);
    const [created, linked, ...more] = await instances[0].events(result.patient);
    expect(more).to.deep.equal([]);
    expect(created?.data.resource).to.deep.include({
      resourceType: 'Patient',
      name: [{ family: 'Lind', given: ['Ada'] }],
      birthDate: '1984-07-19',
    });
    const { issuer, subject } = person;
    expect(linked?.data).to.deep.include({ person: { issuer, subject }, relationship: 'self', via: 'own' });
    for await (const { metadata } of instances[0].store.read(recordStream(result.patient))) {
      const { owner, credential, append } = parseMetadata(metadata);
      expect(owner).to.deep.equal({ project: result.project, environment: 'production' });
      expect(credential).to.deep.equal({ kind: 'id_token', issuer, subject });
      expect(append[1]).to.equal(2);
    }
  });

  it('of two first consents at once are one record, on which both are grants', async () => {
    for (let n = 0; n < 5; n += 1) {
      const person = newPerson();
      const consent = async (at: 0 | 1) => {
        const { result } = await start(person, at);
        const asked = grantBy(person, result.patient, {
          application: `app_${at}`,
          environment: 'production',
        });
        await instances[at].consents.grant(byPerson(person), asked);
        return result;
      };
      const [one, other] = await Promise.all([consent(0), consent(1)]);
      expect(one).to.deep.equal(other);
      expect(await typesIn(projectStream(one.project))).to.deep.equal(['PersonalRecordStarted']);
      const events = await instances[0].events(one.patient);
      expect(events.map(({ type }) => type)).to.deep.equal([
        'ResourceCreated',
        'RecordLinked',
        'ConsentGranted',
        'ConsentGranted',
      ]);
      expect(new Set(events.slice(2).map(({ data }) => data.application_id))).to.have.property('size', 2);
    }
  });

  it('are the same when started again, and others per environment and per issuer', async () => {
    const person = newPerson();
    const { result: first } = await start(person);
    expect((await start(person, 1)).result).to.deep.equal(first);
    const { result: sandbox } = await start(person, 1, 'sandbox');
    expect(sandbox.project).to.equal(first.project);
    expect(sandbox.patient).to.not.equal(first.patient);
    const { result: namesake } = await start({ ...person, issuer: 'https://other.example' });
    expect(namesake.project).to.not.equal(first.project);
  });

  it('are completed by the next start if one died before it made the Patient', async () => {
    const person = newPerson();
    const project = personalProject(person);
    const patient = newUuid();
    await new Streams(instances[0].resources.kernel, PROJECT).handle<void>({
      stream: projectStream(project),
      metadata: { request_id: 'req_1', command_id: newUuid(), credential: { kind: 'system' } },
      now: nowMicros,
      decide: (_, clock) => ({
        drafts: [
          {
            id: newUuid(),
            at: clock.next(),
            event: {
              type: 'PersonalRecordStarted',
              data: { project_id: project, environment: 'production', patient },
            },
          },
        ],
        result: undefined,
      }),
    });
    expect((await start(person, 1)).result).to.deep.equal({ patient, project });
    expect(await instances[0].events(patient)).to.have.length(2);
  });

  it('are linked again if the person had ended the link', async () => {
    const person = newPerson();
    const { result } = await start(person);
    const [, linked] = await instances[0].events(result.patient);
    const ref = { linkId: String(linked?.data.link_id), person, relationship: 'self' } as const;
    await instances[0].consents.unlink(byPerson(person), result.patient, ref, 'patient');
    expect((await start(person, 1)).result).to.deep.equal(result);
    const types = (await instances[0].events(result.patient)).map(({ type }) => type);
    expect(types.slice(1)).to.deep.equal(['RecordLinked', 'RecordUnlinked', 'RecordLinked']);
  });

  it('need a name and a day of birth', async () => {
    const person = newPerson();
    for (const details of [
      { ...DETAILS, given: ' ', family: '' },
      { ...DETAILS, birth_date: '1984-02-30' },
      { ...DETAILS, birth_date: '1984' },
      { ...DETAILS, birth_date: '' },
    ]) {
      const refused = await start(person, 0, 'production', details).catch((error: unknown) => error);
      expect(refused).to.be.instanceOf(Refusal).with.property('kind', 'invalid');
    }
    expect(await typesIn(projectStream(personalProject(person)))).to.deep.equal([]);
    await start(person, 0, 'production', { ...DETAILS, given: '' });
  });
});
