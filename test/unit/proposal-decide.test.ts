/** Decisions about a record's proposals, as given · when · then (docs/spec/decisions.md, section 7). */
import { expect } from 'chai';
import type { Past } from '#commands/consent/on-record.ts';
import type { Clock, Decision } from '#commands/kernel/decision.ts';
import * as decide from '#commands/proposal/decide.ts';
import type { Write } from '#commands/resource/decide.ts';
import { RESOURCES, type Resources } from '#commands/resource/state.ts';
import type { DomainEvent, PlainEvent } from '#src/events/catalog.ts';
import { PROPOSAL_PLACES } from '#src/events/snapshot-entries.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import { BEGINNING, given } from '#test/support/given.ts';

const RECORD = '0198c0de-0000-7000-8000-000000000001';
const CONDITION = '0198c0de-0000-7000-8000-0000000000c1';
const NEW_ID = '0198c0de-0000-7000-8000-0000000000c2';
const ADA: PersonId = { issuer: 'https://issuer.example', subject: 'ada' };
const EVE: PersonId = { issuer: 'https://issuer.example', subject: 'eve' };
const DAY = 86_400_000_000;
/** The time at which decisions are made. */
const NOW = BEGINNING + 10_000;

type Made = Extract<PlainEvent, { type: 'ProposalMade' }>;
type Granted = Extract<PlainEvent, { type: 'ConsentGranted' }>;

const created = (resourceType: string, resourceId: string): DomainEvent => ({
  type: 'ResourceCreated',
  resourceType,
  resourceId,
  version: 1,
  body: '{}',
});
const updated = (version: number): DomainEvent => ({
  type: 'ResourceUpdated',
  resourceType: 'Condition',
  resourceId: CONDITION,
  version,
  body: '{}',
});
const deleted = (resourceType: string, resourceId: string, version = 2): DomainEvent => ({
  type: 'ResourceDeleted',
  resourceType,
  resourceId,
  version,
});
const linked = (
  link_id: string,
  person: PersonId,
  relationship: 'self' | 'dependent' = 'self',
): PlainEvent => ({
  type: 'RecordLinked',
  data: { link_id, person, relationship, via: 'invitation' },
});
const unlinked = (link_id: string): PlainEvent => ({
  type: 'RecordUnlinked',
  data: { link_id, reason: 'patient' },
});
const granted = (about: Partial<Granted['data']> = {}): Granted => ({
  type: 'ConsentGranted',
  data: {
    grant_id: 'grant_1',
    person: ADA,
    application_id: 'app_1',
    project_id: 'proj_1',
    environment: 'production',
    sector: 'app_1',
    scopes: ['patient/Condition.cru'],
    purpose: null,
    patient: 'pairwise',
    subject: 'sub',
    granted_by: 'patient',
    expires_at: toInstant(NOW + 90 * DAY),
    lang: 'en',
    sentences: ['Write conditions'],
    ...about,
  },
});
const revoked: PlainEvent = {
  type: 'ConsentRevoked',
  data: {
    grant_id: 'grant_1',
    application_id: 'app_1',
    project_id: 'proj_1',
    environment: 'production',
    patient: 'pairwise',
    scopes: [],
    purpose: null,
    expires_at: toInstant(NOW),
    reason: 'patient',
  },
};
const grantExpired: PlainEvent = {
  type: 'ConsentExpired',
  data: { grant_id: 'grant_1', application_id: 'app_1', project_id: 'proj_1', environment: 'production' },
};

const ids = { proposal_id: 'prop_1', grant_id: 'grant_1' };
const named = { ...ids, place: 0 };
const creation: decide.DraftedProposal = {
  ...ids,
  application_id: 'app_1',
  project_id: 'proj_1',
  environment: 'production',
  patient: 'pairwise',
  operation: 'create',
  resource_type: 'Condition',
  resource: '{"resourceType":"Condition"}',
  rationale: 'You said so',
};
const change: decide.DraftedProposal = {
  ...creation,
  operation: 'update',
  resource_id: CONDITION,
  base_version: 1,
};
const made = (drafted: decide.DraftedProposal = creation, about: Partial<Made['data']> = {}): Made => ({
  type: 'ProposalMade',
  data: { ...drafted, place: 0, expires_at: toInstant(NOW + 30 * DAY), ...about },
});
const told = {
  ...named,
  application_id: 'app_1',
  project_id: 'proj_1',
  environment: 'production',
  patient: 'pairwise',
  resource_type: 'Condition',
} as const;
const accepted = (resource_id = NEW_ID, version = 1): PlainEvent => ({
  type: 'ProposalAccepted',
  data: { ...told, resource_id, version },
});
const rejected = (about: object = {}): PlainEvent => ({
  type: 'ProposalRejected',
  data: { ...told, ...about },
});
const withdrawn: PlainEvent = { type: 'ProposalWithdrawn', data: named };
const superseded = (version: number): PlainEvent => ({
  type: 'ProposalSuperseded',
  data: { ...named, version },
});
const expired = (reason: 'time' | 'grant_ended'): PlainEvent => ({
  type: 'ProposalExpired',
  data: { ...named, reason },
});

const resource = { value: { resourceType: 'Condition' }, exact: false };
const writing: Write = { kind: 'create', eventId: 'event', type: 'Condition', id: NEW_ID, resource };
const changing: Write = { kind: 'update', eventId: 'event', type: 'Condition', id: CONDITION, resource };

/** Returns a record with a Patient, a Condition and the given events, for decisions at a given time. */
const record = (...events: DomainEvent[]) => ({
  when<T>(decided: (state: Resources, past: Past, clock: Clock) => Decision<T>, at: Micros = NOW) {
    const all = [created('Patient', RECORD), created('Condition', CONDITION), ...events];
    const past = (revision: number): DomainEvent => {
      const event = all[revision];
      if (event === undefined) throw new TypeError(`no event ${revision}`);
      return event;
    };
    let next = at;
    const clock = { next: () => next++ };
    return given(RESOURCES, all, `record-${RECORD}`).when((state) => decided(state, past, clock));
  },
});

const asked = { record: RECORD, proposalId: 'prop_1', person: ADA, environment: 'production' } as const;
const proposing =
  (drafted: decide.DraftedProposal = creation, writes: Write[] = [writing]) =>
  (state: Resources, past: Past, clock: Clock): Decision<void> => {
    const data = decide.propose(state, past, clock, true, drafted, writes);
    return { drafts: [{ id: 'made', at: 0, event: { type: 'ProposalMade', data } }], result: undefined };
  };
const accepting =
  (writes: Write[] = [writing], by: Partial<typeof asked> | object = {}) =>
  (state: Resources, past: Past, clock: Clock) =>
    decide.accept(state, past, clock, { ...asked, ...by }, writes, 'end');
const concluding =
  (conclude: ReturnType<typeof decide.reject> | ReturnType<typeof decide.withdraw>) =>
  (state: Resources, past: Past, clock: Clock): Decision<decide.Ended> => {
    const { events, result } = conclude(state, past, clock.next());
    return { drafts: events.map((event) => ({ id: '', at: 0, event })), result };
  };
const rejecting = (note?: string, by: object = {}) => concluding(decide.reject({ ...asked, ...by }, note));
const withdrawing = concluding(decide.withdraw(asked));
const lapsing = (state: Resources, past: Past, clock: Clock): Decision<void> => {
  const { events, result } = decide.lapse(asked)(state, past, clock.next());
  return { drafts: events.map((event) => ({ id: '', at: 0, event })), result };
};

describe('deciding on a new proposal', () => {
  it('given an active grant, then it waits for 30 days, or until the grant ends', () => {
    record(granted()).when(proposing()).thenEvents(made());
    record(granted({ expires_at: toInstant(NOW + DAY) }))
      .when(proposing())
      .thenEvents(made(creation, { expires_at: toInstant(NOW + DAY) }));
  });

  it('given a grant that is over, ended or unknown, then 401', () => {
    for (const past of [
      [],
      [granted({ expires_at: toInstant(NOW) })],
      [granted(), revoked],
      [granted(), grantExpired],
    ])
      record(...past)
        .when(proposing())
        .thenRefused('unauthenticated', /has ended/);
  });

  it('given another version than the one that it changes, then 409', () => {
    record(granted())
      .when(proposing(change, [changing]))
      .thenEvents(made(change));
    record(granted(), updated(2))
      .when(proposing(change, [changing]))
      .thenRefused('conflict', /is at version 2, but the proposal changes version 1/);
    record(granted(), deleted('Condition', CONDITION))
      .when(proposing(change, [changing]))
      .thenRefused('conflict');
  });

  it('given a deleted Patient, then 409, as for the write', () => {
    record(granted(), deleted('Patient', RECORD))
      .when(proposing())
      .thenRefused('conflict', /is deleted/);
  });

  it('takes the first free place of its grant, and is refused when all are taken', () => {
    const full = Array.from({ length: PROPOSAL_PLACES }, (_, place) =>
      made(creation, { proposal_id: `prop_a${place}`, place }),
    );
    const one: PlainEvent = { type: 'ProposalWithdrawn', data: { ...ids, proposal_id: 'prop_a7', place: 7 } };
    record(granted(), ...full)
      .when(proposing())
      .thenRefused('conflict', /100 proposals under this grant are pending/);
    record(granted(), ...full, one)
      .when(proposing())
      .thenEvents(made(creation, { place: 7 }));
    const others = full.map(({ type, data }) => ({ type, data: { ...data, grant_id: 'grant_2' } }));
    record(granted(), ...others)
      .when(proposing())
      .thenEvents(made());
  });
});

describe('deciding on a proposal', () => {
  const waiting = [linked('link_1', ADA), granted(), made()];
  const changed = [linked('link_1', ADA), granted(), made(change)];

  it('accepts it: the version and its acceptance are one append', () => {
    const outcome = record(...waiting).when(accepting());
    expect(outcome.drafts.map(({ event }) => event.type)).to.deep.equal([
      'ResourceCreated',
      'ProposalAccepted',
    ]);
    expect(outcome.drafts[1]?.event).to.deep.equal(accepted());
    expect(outcome.result.accepted).to.deep.equal({ type: 'Condition', id: NEW_ID, version: 1 });
    const times = outcome.drafts.map(({ at }) => at);
    expect(times[1]).to.be.greaterThan(times[0] ?? 0);
    const update = record(...changed).when(accepting([changing]));
    expect(update.drafts[1]?.event).to.deep.equal(accepted(CONDITION, 2));
  });

  it('rejects it, with a note of the person’s own', () => {
    record(...waiting)
      .when(rejecting())
      .thenEvents(rejected());
    record(...waiting)
      .when(rejecting('no'))
      .thenEvents(rejected({ note: 'no' }));
    record(...changed)
      .when(rejecting())
      .thenEvents(rejected({ resource_id: CONDITION }));
  });

  it('withdraws it, once', () => {
    record(...waiting)
      .when(withdrawing)
      .thenEvents(withdrawn);
    record(...waiting, withdrawn)
      .when(withdrawing)
      .thenNothing();
    record(...waiting, rejected())
      .when(withdrawing)
      .thenRefused('conflict', /already rejected/);
  });

  it('given one that has ended, then 409 naming how', () => {
    for (const [end, words] of [
      [accepted(), /already accepted/],
      [rejected(), /already rejected/],
      [withdrawn, /has withdrawn/],
      [superseded(2), /has changed/],
      [expired('time'), /has expired/],
    ] as const) {
      record(...waiting, end)
        .when(accepting())
        .thenRefused('conflict', words);
      record(...waiting, end)
        .when(rejecting())
        .thenRefused('conflict', words);
      record(...waiting, end)
        .when(lapsing)
        .thenNothing();
    }
  });

  it('given another version, then it is superseded, and nothing is written', () => {
    for (const [past, version] of [
      [[updated(2)], 2],
      [[deleted('Condition', CONDITION)], 2],
      [[deleted('Condition', CONDITION), updated(3)], 3],
    ] as const) {
      for (const deciding of [rejecting(), withdrawing]) {
        const { result } = record(...changed, ...past)
          .when<decide.Ended>(deciding)
          .thenEvents(superseded(version));
        expect(result).to.deep.equal({ status: 'superseded' });
      }
      const { result } = record(...changed, ...past)
        .when(accepting([changing]))
        .thenNothing();
      expect(result).to.deep.equal({ status: 'superseded' });
      record(...changed, ...past)
        .when(lapsing)
        .thenEvents(superseded(version));
    }
    record(...waiting, updated(2))
      .when(lapsing)
      .thenNothing();
  });

  it('given its time is over, or its grant has ended, then it expires, and nothing is written', () => {
    for (const [past, at, reason] of [
      [waiting, NOW + 30 * DAY, 'time'],
      [[...waiting, revoked], NOW, 'grant_ended'],
      [[...waiting, grantExpired], NOW, 'grant_ended'],
      [waiting, NOW + 90 * DAY, 'grant_ended'],
    ] as const) {
      for (const deciding of [rejecting(), withdrawing]) {
        const { result } = record(...past)
          .when<decide.Ended>(deciding, at)
          .thenEvents(expired(reason));
        expect(result).to.deep.equal({ status: 'expired' });
      }
      const { result } = record(...past)
        .when(accepting(), at)
        .thenNothing();
      expect(result).to.deep.equal({ status: 'expired' });
      record(...past)
        .when(lapsing, at)
        .thenEvents(expired(reason));
    }
    record(...waiting)
      .when(lapsing, NOW + 30 * DAY - 1)
      .thenNothing();
  });

  it('given a new grant in the place of its own, then it has expired all the same', () => {
    record(...waiting, revoked, granted({ grant_id: 'grant_2' }))
      .when(rejecting())
      .thenEvents(expired('grant_ended'));
  });

  it('given a person who is not linked, or no longer, then 404', () => {
    const rest = [granted(), made()];
    for (const past of [
      rest,
      [linked('link_1', EVE), ...rest],
      [linked('link_1', ADA), ...rest, unlinked('link_1')],
    ]) {
      record(...past)
        .when(accepting())
        .thenRefused('not_found');
      record(...past)
        .when(rejecting())
        .thenRefused('not_found');
    }
    const dependent = [linked('link_1', EVE), linked('link_2', ADA, 'dependent'), ...rest];
    record(...dependent)
      .when(rejecting())
      .thenEvents(rejected());
  });

  it('given the sandbox, where links are computed, then only a link that has ended refuses', () => {
    const rest = [granted(), made()];
    const sandbox = { environment: 'sandbox' };
    record(...rest)
      .when(rejecting(undefined, sandbox))
      .thenEvents(rejected());
    record(linked('link_1', ADA), ...rest, unlinked('link_1'))
      .when(rejecting(undefined, sandbox))
      .thenRefused('not_found');
  });

  it('given a deleted Patient, then accepting is 409 and rejecting works', () => {
    record(...waiting, deleted('Patient', RECORD))
      .when(accepting())
      .thenRefused('conflict', /is deleted/);
    record(...waiting, deleted('Patient', RECORD))
      .when(rejecting())
      .thenEvents(rejected());
  });

  it('knows it by its id alone: 404 for others, also for ids of grants, links, resources and places', () => {
    for (const proposalId of ['prop_2', 'grant_1', 'link_1', RECORD, CONDITION]) {
      record(...waiting)
        .when(accepting([writing], { proposalId }))
        .thenRefused('not_found');
      record(...waiting)
        .when(rejecting(undefined, { proposalId }))
        .thenRefused('not_found');
    }
  });
});
