/** Decisions about versioned resources, as given · when · then over events. */
import { expect } from 'chai';
import type { Clock } from '#commands/kernel/decision.ts';
import { decideWrites, type Write } from '#commands/resource/decide.ts';
import { RESOURCES, type Resources } from '#commands/resource/state.ts';
import type { DomainEvent } from '#src/events/catalog.ts';
import { parseJson } from '#src/shared/json/json.ts';
import { BEGINNING, given } from '#test/support/given.ts';

const PATIENT = '0198c0de-0000-7000-8000-000000000001';
const OBSERVATION = '0198c0de-0000-7000-8000-000000000002';

const patientCreated: DomainEvent = {
  type: 'ResourceCreated',
  resourceType: 'Patient',
  resourceId: PATIENT,
  version: 1,
  body: '{}',
};
const patientDeleted: DomainEvent = {
  type: 'ResourceDeleted',
  resourceType: 'Patient',
  resourceId: PATIENT,
  version: 2,
};
const observed = (version: number): DomainEvent => ({
  type: version === 1 ? 'ResourceCreated' : 'ResourceUpdated',
  resourceType: 'Observation',
  resourceId: OBSERVATION,
  version,
  body: '{}',
});
const observationDeleted: DomainEvent = {
  type: 'ResourceDeleted',
  resourceType: 'Observation',
  resourceId: OBSERVATION,
  version: 2,
};

const record = (...events: DomainEvent[]) => given(RESOURCES, events, `record-${PATIENT}`);

function resource(text: string): { value: Record<string, never>; exact: boolean } {
  const { value, exact } = parseJson(text);
  return { value: value as Record<string, never>, exact };
}

const create = (text = '{"resourceType":"Observation"}'): Write => ({
  kind: 'create',
  eventId: 'e1',
  type: 'Observation',
  id: OBSERVATION,
  resource: resource(text),
});
const update = (more: Partial<Extract<Write, { kind: 'update' }>> = {}): Write => ({
  kind: 'update',
  eventId: 'e1',
  type: 'Observation',
  id: OBSERVATION,
  resource: resource('{"resourceType":"Observation"}'),
  ...more,
});
const remove: Write = { kind: 'remove', eventId: 'e1', type: 'Observation', id: OBSERVATION };

const removePatient: Write = { kind: 'remove', eventId: 'e2', type: 'Patient', id: PATIENT };
const restorePatient: Write = { ...update(), type: 'Patient', id: PATIENT } as Write;

const writing =
  (...writes: Write[]) =>
  (state: Resources, clock: Clock) =>
    decideWrites(state, clock, writes);

describe('deciding on resources', () => {
  it('given a patient, when a resource is created, then it is version 1 with the service’s meta', () => {
    const sent =
      '{"resourceType":"Observation","id":"mine","meta":{"versionId":"9","tag":[{"code":"t"}]},"valueQuantity":{"value":1.50}}';
    const outcome = record(patientCreated).when(writing(create(sent)));
    const [result] = outcome.result;
    expect(result).to.include({ outcome: 'created', version: 1, id: OBSERVATION });
    const body = `{"resourceType":"Observation","id":"${OBSERVATION}","meta":{"versionId":"1","lastUpdated":"${result?.lastUpdated}","tag":[{"code":"t"}]},"valueQuantity":{"value":1.50}}`;
    expect(result?.body).to.equal(body);
    outcome.thenEvents({ ...observed(1), body } as DomainEvent);
  });

  it('given a resource, when its id is drawn again, then that is a fault of the service', () => {
    record(patientCreated, observed(1))
      .when(writing(create()))
      .thenFault(/generated twice/);
  });

  it('given events of the same microsecond, then each new one is later than the one before', () => {
    const { drafts } = record(patientCreated, observed(1)).when(writing(update(), update()));
    expect(drafts.map(({ at }) => at)).to.deep.equal([BEGINNING + 2, BEGINNING + 3]);
  });

  it('given a version, when it is updated with a right If-Match, then the next one follows', () => {
    for (const ifMatch of [1, '*'] as const) {
      const { result } = record(patientCreated, observed(1)).when(writing(update({ ifMatch })));
      expect(result[0]).to.include({ outcome: 'updated', version: 2 });
    }
  });

  it('given a version, when it is written with a stale If-Match, then 412 names both', () => {
    const stale: Write[] = [update({ ifMatch: 1 }), { ...remove, ifMatch: 1 }];
    for (const write of stale)
      record(patientCreated, observed(1), observed(2))
        .when(writing(write))
        .thenRefused('precondition_failed', /version 2.*names version 1/);
  });

  it('given a deleted resource, when it is updated, then it is restored as the next version', () => {
    const { result, drafts } = record(patientCreated, observed(1), observationDeleted).when(
      writing(update()),
    );
    expect(result[0]).to.include({ outcome: 'restored', version: 3 });
    expect(drafts[0]?.event.type).to.equal('ResourceUpdated');
  });

  it('given a deleted resource, when it is patched, then 410', () => {
    record(patientCreated, observed(1), observationDeleted)
      .when(writing(update({ basedOn: 2, mustBeLive: true })))
      .thenRefused('gone', /is deleted/);
  });

  it('given another version than the one that a write was made of, then it must be prepared again', () => {
    record(patientCreated, observed(1), observed(2))
      .when(writing(update({ basedOn: 1 })))
      .thenStale();
  });

  it('given a resource, when it is deleted, then once', () => {
    const deletion = record(patientCreated, observed(1)).when(writing(remove));
    deletion.thenEvents(observationDeleted);
    expect(deletion.result[0]).to.include({ outcome: 'deleted', version: 2 });
    const again = record(patientCreated, observed(1), observationDeleted).when(writing(remove));
    again.thenNothing();
    expect(again.result[0]).to.include({ outcome: 'unchanged', version: 2 });
  });

  it('given no such resource, when it is put, then 405; when it is deleted, then 404', () => {
    const put = record(patientCreated).when(writing(update()));
    expect(put.thenRefused('method_not_allowed', /cannot choose ids/).headers).to.have.property('Allow');
    record(patientCreated)
      .when(writing(remove))
      .thenRefused('not_found', /Observation/);
    const otherType = { ...remove, type: 'Condition' } as Write;
    record(patientCreated, observed(1))
      .when(writing(otherType))
      .thenRefused('not_found', /Condition/);
  });

  it('given no patient, when the record is written to, then 404', () => {
    record()
      .when(writing(create()))
      .thenRefused('not_found', /Patient/);
  });

  it('given a deleted patient, when the record is written to, then 409 until the Patient is restored', () => {
    const deleted = record(patientCreated, patientDeleted);
    deleted.when(writing(create())).thenRefused('conflict', /is deleted/);
    deleted.when(writing(create(), removePatient)).thenRefused('conflict', /is deleted/);
    expect(deleted.when(writing(restorePatient, create())).drafts).to.have.length(2);
  });

  it('when the Patient is deleted, then deletions may go with it, other writes may not', () => {
    const live = record(patientCreated, observed(1));
    live.when(writing(remove, removePatient)).thenEvents(observationDeleted, patientDeleted);
    live.when(writing(update(), removePatient)).thenRefused('conflict', /is deleted/);
  });

  it('given document bytes, then their event stands beside the version that shows them', () => {
    const bytes = { eventId: 'e3', blob: 'b', contentType: 'text/plain', size: 3, sha256: 'aa' };
    const { drafts } = record(patientCreated).when(
      writing({ ...create(), type: 'DocumentReference', finalized: [bytes] } as Write),
    );
    expect(drafts.map(({ event }) => event.type)).to.deep.equal(['ResourceCreated', 'DocumentFinalized']);
    expect(drafts[1]?.event)
      .to.have.property('data')
      .that.includes({ version: 1, blob: 'b', patient: PATIENT });
  });

  it('names the entry of the write that is refused', () => {
    const blamed: number[] = [];
    const blame = <T>(index: number, work: () => T): T => {
      blamed.push(index);
      return work();
    };
    record(patientCreated, observed(1))
      .when((state, clock) => decideWrites(state, clock, [update(), update({ ifMatch: 7 })], blame))
      .thenRefused('precondition_failed');
    expect(blamed).to.deep.equal([0, 1]);
  });
});
