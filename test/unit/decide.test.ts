/** Decisions on versioned resources, as given · when · then over events. */
import { expect } from 'chai';
import { Clock } from '#commands/handle.ts';
import { decideWrites, Moved, type Write } from '#commands/resource/decide.ts';
import { emptyState, evolve, type StreamState } from '#commands/resource/state.ts';
import type { DomainEvent } from '#src/events/catalog.ts';
import { parseJson } from '#src/shared/json.ts';
import { refusal } from '#test/support/refusal.ts';

const PATIENT = '0198c0de-0000-7000-8000-000000000001';
const OBSERVATION = '0198c0de-0000-7000-8000-000000000002';
const HASH = 'f'.repeat(64);
const TEN = 1_700_000_000_000_000;

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

function given(...events: DomainEvent[]): StreamState {
  const state = emptyState(`record-${PATIENT}`);
  events.forEach((event, revision) => {
    evolve(state, { revision, hash: HASH, at: TEN + revision, owner: undefined, event });
  });
  return state;
}

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

function when(state: StreamState, ...writes: Write[]) {
  return decideWrites(state, new Clock(state, TEN), writes);
}

describe('deciding on resources', () => {
  it('given a patient, when a resource is created, then it is version 1 with the service’s meta', () => {
    const { drafts, result } = when(
      given(patientCreated),
      create(
        '{"resourceType":"Observation","id":"mine","meta":{"versionId":"9","tag":[{"code":"t"}]},"valueQuantity":{"value":1.50}}',
      ),
    );
    expect(drafts).to.have.length(1);
    expect(result[0]).to.include({ outcome: 'created', version: 1, id: OBSERVATION });
    expect(result[0]?.body).to.equal(
      `{"resourceType":"Observation","id":"${OBSERVATION}","meta":{"versionId":"1","lastUpdated":"${result[0]?.lastUpdated}","tag":[{"code":"t"}]},"valueQuantity":{"value":1.50}}`,
    );
  });

  it('given events of the same microsecond, then each new one is later than the one before', () => {
    const state = given(patientCreated, observed(1));
    const { drafts } = when(state, update(), update());
    expect(drafts.map(({ at }) => at)).to.deep.equal([TEN + 2, TEN + 3]);
  });

  it('given a version, when it is updated with a right If-Match, then the next one follows', () => {
    const { result } = when(given(patientCreated, observed(1)), update({ ifMatch: 1 }));
    expect(result[0]).to.include({ outcome: 'updated', version: 2 });
  });

  it('given a version, when it is updated with a stale If-Match, then 412 names both', () => {
    const refused = refusal(() =>
      when(given(patientCreated, observed(1), observed(2)), update({ ifMatch: 1 })),
    );
    expect(refused.status).to.equal(412);
    expect(refused.message).to.contain('version 2').and.to.contain('names version 1');
  });

  it('given a deleted resource, when it is updated, then it is restored as the next version', () => {
    const { result, drafts } = when(given(patientCreated, observed(1), observationDeleted), update());
    expect(result[0]).to.include({ outcome: 'restored', version: 3 });
    expect(drafts[0]?.event.type).to.equal('ResourceUpdated');
  });

  it('given a deleted resource, when it is patched, then 410', () => {
    const state = given(patientCreated, observed(1), observationDeleted);
    expect(refusal(() => when(state, update({ basedOn: 2, mustBeLive: true }))).status).to.equal(410);
  });

  it('given another version than the patch was applied to, then it must be applied again', () => {
    expect(() => when(given(patientCreated, observed(1), observed(2)), update({ basedOn: 1 }))).to.throw(
      Moved,
    );
  });

  it('given a deleted resource, when it is deleted again, then nothing is written', () => {
    const { drafts, result } = when(given(patientCreated, observed(1), observationDeleted), remove);
    expect(drafts).to.deep.equal([]);
    expect(result[0]).to.include({ outcome: 'unchanged', version: 2 });
  });

  it('given no such resource, when it is put, then 405; when it is deleted, then 404', () => {
    expect(refusal(() => when(given(patientCreated), update())).status).to.equal(405);
    expect(refusal(() => when(given(patientCreated), remove)).status).to.equal(404);
  });

  it('given a deleted patient, when the record is written to, then 409 until the Patient is restored', () => {
    const state = given(patientCreated, patientDeleted);
    expect(refusal(() => when(state, create())).status).to.equal(409);
    const restore: Write = { ...update(), type: 'Patient', id: PATIENT } as Write;
    expect(when(state, restore, create()).drafts).to.have.length(2);
  });
});
