/**
 * Directory entries that are carried by a record's append, and work that continues where it stopped, as given · when · then.
 */
import { expect } from 'chai';
import { decideCarrying, type Write } from '#commands/resource/decide.ts';
import { createMissing, removeLive } from '#commands/resource/resume.ts';
import { RESOURCES } from '#commands/resource/state.ts';
import type { DomainEvent } from '#src/events/catalog.ts';
import { given } from '#test/support/given.ts';

const PATIENT = '0198c0de-0000-7000-8000-000000000001';
const RECORD = `record-${PATIENT}`;
const DIRECTORY = 'directory-proj_1-sandbox';
const IDS = ['0198c0de-0000-7000-8000-000000000002', '0198c0de-0000-7000-8000-000000000003'];

type Creation = Extract<Write, { kind: 'create' }>;
type Removal = Extract<Write, { kind: 'remove' }>;

const resource = { value: { resourceType: 'Practitioner' }, exact: false };
const creations: Creation[] = IDS.map((id) => {
  return { kind: 'create', eventId: `e-${id}`, type: 'Practitioner', id, resource };
});
const removals: Removal[] = IDS.map((id) => ({
  kind: 'remove',
  eventId: `d-${id}`,
  type: 'Practitioner',
  id,
}));
const event = (type: 'ResourceCreated' | 'ResourceDeleted', id: string, resourceType = 'Practitioner') => {
  const header = { resourceType, resourceId: id, version: type === 'ResourceCreated' ? 1 : 2 };
  return (type === 'ResourceCreated' ? { type, ...header, body: '{}' } : { type, ...header }) as DomainEvent;
};
const directory = (...events: DomainEvent[]) => given(RESOURCES, events, DIRECTORY);
const carried: DomainEvent = {
  type: 'DirectoryEntriesCarried',
  data: {
    stream: DIRECTORY,
    entries: IDS.map((id) => {
      return { event_id: `e-${id}`, resource_type: 'Practitioner', resource_id: id, resource: '{}' };
    }),
  },
};

describe('deciding on carried directory entries', () => {
  const create: Write = {
    kind: 'create',
    eventId: 'e1',
    type: 'Patient',
    id: PATIENT,
    resource: { value: { resourceType: 'Patient' }, exact: false },
  };
  const carrying = { id: 'carry', event: carried };

  it('given a new record, when its append carries entries, then they come after its own events, later than these', () => {
    const { drafts, result } = given(RESOURCES, [], RECORD).when((state, clock) =>
      decideCarrying(state, clock, [create], carrying),
    );
    expect(drafts.map(({ event: { type } }) => type)).to.deep.equal([
      'ResourceCreated',
      'DirectoryEntriesCarried',
    ]);
    expect(drafts[1]?.event).to.deep.equal(carried);
    expect(drafts[1]?.id).to.equal('carry');
    expect(drafts[1]?.at).to.be.greaterThan(drafts[0]?.at ?? Number.POSITIVE_INFINITY);
    expect(result).to.have.length(1);
  });

  it('when nothing is carried, then the append has its own events alone', () => {
    const { drafts } = given(RESOURCES, [], RECORD).when((state, clock) =>
      decideCarrying(state, clock, [create], undefined),
    );
    expect(drafts).to.have.length(1);
  });

  it('given a deleted patient, when the record is refused, then nothing is carried either', () => {
    const past = [event('ResourceCreated', PATIENT, 'Patient'), event('ResourceDeleted', PATIENT, 'Patient')];
    const observation: Write = { ...create, type: 'Observation', id: IDS[0] ?? '' } as Write;
    given(RESOURCES, past, RECORD)
      .when((state, clock) => decideCarrying(state, clock, [observation], carrying))
      .thenRefused('conflict', /is deleted/);
  });

  it('given an empty directory, when the entries are completed, then with the ids that the event gives', () => {
    const { drafts } = directory().when((state, clock) => createMissing(state, clock, creations));
    expect(drafts.map(({ id }) => id)).to.deep.equal(creations.map(({ eventId }) => eventId));
    expect(drafts.map((draft) => 'resourceId' in draft.event && draft.event.resourceId)).to.deep.equal(IDS);
  });

  it('given some of the entries, when they are completed again, then only those that are missing are made', () => {
    const [first = '', second = ''] = IDS;
    const one = directory(event('ResourceCreated', first)).when((state, clock) =>
      createMissing(state, clock, creations),
    );
    expect(one.result.map(({ id }) => id)).to.deep.equal([second]);
    directory(event('ResourceCreated', first), event('ResourceCreated', second))
      .when((state, clock) => createMissing(state, clock, creations))
      .thenNothing();
  });

  it('given an entry that was deleted since, when it is completed again, then it stays deleted', () => {
    const past = IDS.flatMap((id) => [event('ResourceCreated', id), event('ResourceDeleted', id)]);
    directory(...past)
      .when((state, clock) => createMissing(state, clock, creations))
      .thenNothing();
  });
});

describe('deciding on deletions that go on where they were stopped', () => {
  it('deletes what is there and live, and nothing else', () => {
    const [first = '', second = ''] = IDS;
    directory(
      event('ResourceCreated', first),
      event('ResourceCreated', second),
      event('ResourceDeleted', first),
    )
      .when((state, clock) => removeLive(state, clock, removals))
      .thenEvents(event('ResourceDeleted', second));
    directory()
      .when((state, clock) => removeLive(state, clock, removals))
      .thenNothing();
  });

  it('of a purged patient, deletes it once, and not one that never was', () => {
    const removal: Removal = { kind: 'remove', eventId: 'd', type: 'Patient', id: PATIENT };
    const created = event('ResourceCreated', PATIENT, 'Patient');
    const deleted = event('ResourceDeleted', PATIENT, 'Patient');
    const purging = (...events: DomainEvent[]) =>
      given(RESOURCES, events, RECORD).when((state, clock) => removeLive(state, clock, [removal]));
    purging(created).thenEvents(deleted);
    purging(created, deleted).thenNothing();
    purging().thenNothing();
  });

  it('given a deleted patient, when what is missing of the record is created, then 409; without one, 404', () => {
    const created = event('ResourceCreated', PATIENT, 'Patient');
    const creating = (...events: DomainEvent[]) =>
      given(RESOURCES, events, RECORD).when((state, clock) =>
        createMissing(state, clock, [{ ...creations[0], type: 'Observation' } as Creation]),
      );
    creating(created, event('ResourceDeleted', PATIENT, 'Patient')).thenRefused('conflict', /is deleted/);
    creating().thenRefused('not_found', /Patient/);
  });
});
