/** Decisions about a record's grants and links, as given · when · then (docs/spec/decisions.md, section 9). */
import { expect } from 'chai';
import type { NewGrant } from '#commands/consent/consents.ts';
import { expire, grant, link, revoke, revokeAll, unlink } from '#commands/consent/decide.ts';
import type { Conclude } from '#commands/consent/on-record.ts';
import { RESOURCES } from '#commands/resource/state.ts';
import type { DomainEvent, PlainEvent } from '#src/events/catalog.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import { toInstant } from '#src/shared/time/time.ts';
import { BEGINNING, given } from '#test/support/given.ts';

const RECORD = '0198c0de-0000-7000-8000-000000000001';
const ADA: PersonId = { issuer: 'https://issuer.example', subject: 'ada' };
const EVE: PersonId = { issuer: 'https://issuer.example', subject: 'eve' };
/** The same subject at a different issuer is a different person. */
const OTHER_ADA: PersonId = { issuer: 'https://other.example', subject: 'ada' };
const DAY = 86_400_000_000;
const NOW = BEGINNING + 1000;

const patient: DomainEvent = {
  type: 'ResourceCreated',
  resourceType: 'Patient',
  resourceId: RECORD,
  version: 1,
  body: '{}',
};
const patientDeleted: DomainEvent = {
  type: 'ResourceDeleted',
  resourceType: 'Patient',
  resourceId: RECORD,
  version: 2,
};
type Linked = Extract<PlainEvent, { type: 'RecordLinked' }>;
const linked = (
  link_id: string,
  person: PersonId,
  relationship: Linked['data']['relationship'] = 'self',
): Linked => ({ type: 'RecordLinked', data: { link_id, person, relationship, via: 'invitation' } });
const unlinked = (link_id: string, reason: 'patient' | 'project' = 'patient'): PlainEvent => ({
  type: 'RecordUnlinked',
  data: { link_id, reason },
});
const application = { id: 'app_1', project: 'proj_1', environment: 'production', sector: 'app_1' } as const;
const asked: NewGrant = {
  record: RECORD,
  person: ADA,
  application,
  scopes: ['patient/*.rs'],
  purpose: null,
  days: 90,
  grantedBy: 'patient',
  lang: 'en',
  sentences: ['Read everything'],
};
type Granted = Extract<PlainEvent, { type: 'ConsentGranted' }>;
const granted = (grant_id: string, about: Partial<Granted['data']> = {}): Granted => ({
  type: 'ConsentGranted',
  data: {
    grant_id,
    person: ADA,
    application_id: 'app_1',
    project_id: 'proj_1',
    environment: 'production',
    sector: 'app_1',
    scopes: ['patient/*.rs'],
    purpose: null,
    patient: 'pairwise',
    subject: 'sub',
    granted_by: 'patient',
    expires_at: toInstant(NOW + 90 * DAY),
    lang: 'en',
    sentences: ['Read everything'],
    ...about,
  },
});
const revoked = (
  { data }: Granted,
  reason: Extract<PlainEvent, { type: 'ConsentRevoked' }>['data']['reason'],
  note?: string,
): PlainEvent => {
  const { grant_id, application_id, project_id, environment, patient, scopes, purpose, expires_at } = data;
  const about = { grant_id, application_id, project_id, environment, patient, scopes, purpose, expires_at };
  return { type: 'ConsentRevoked', data: { ...about, reason, ...(note === undefined ? {} : { note }) } };
};
const expired = ({ data: { grant_id, application_id, project_id, environment } }: Granted): PlainEvent => ({
  type: 'ConsentExpired',
  data: { grant_id, application_id, project_id, environment },
});

const ids = { grantId: 'grant_new', patient: 'pairwise', subject: 'sub' };
const fresh = granted('grant_new');

/** Returns a record with a Patient and the given events, for decisions at a given time. */
const record = (...events: DomainEvent[]) => ({
  when<T>(conclude: Conclude<T>, at = NOW) {
    const all = [patient, ...events];
    const past = (revision: number): DomainEvent => {
      const event = all[revision];
      if (event === undefined) throw new TypeError(`no event ${revision}`);
      return event;
    };
    return given(RESOURCES, all, `record-${RECORD}`).when((state) => {
      const { events: decided, result } = conclude(state, past, at);
      return { drafts: decided.map((event) => ({ id: '', at, event })), result };
    });
  },
});
const granting = (about: Partial<NewGrant> = {}, environment: 'production' | 'sandbox' = 'production') =>
  grant({ ...asked, ...about }, ids, environment);

describe('deciding on a new grant', () => {
  it('given a linked person, then access begins, until the days are over', () => {
    const { result } = record(linked('link_1', ADA)).when(granting()).thenEvents(fresh);
    expect(result).to.deep.equal({ ...ids, expiresAt: toInstant(NOW + 90 * DAY) });
  });

  it('given an active grant of the same application and person, then it is replaced in the same append', () => {
    const before = granted('grant_old', { scopes: ['patient/Observation.rs'] });
    record(linked('link_1', ADA), before).when(granting()).thenEvents(revoked(before, 'replaced'), fresh);
  });

  it('given one whose time is over, then that one expired', () => {
    const before = granted('grant_old', { expires_at: toInstant(NOW) });
    record(linked('link_1', ADA), before).when(granting()).thenEvents(expired(before), fresh);
  });

  it('given one that has ended, or of another application or person, then these stay as they are', () => {
    const before = granted('grant_old');
    for (const past of [
      [before, revoked(before, 'patient')],
      [before, expired(before)],
      [granted('grant_old', { application_id: 'app_2' })],
      [granted('grant_old', { person: EVE })],
      [granted('grant_old', { person: OTHER_ADA })],
    ])
      record(linked('link_1', ADA), ...past)
        .when(granting())
        .thenEvents(fresh);
  });

  it('given a deleted Patient, then 409', () => {
    record(linked('link_1', ADA), patientDeleted)
      .when(granting())
      .thenRefused('conflict', /is deleted/);
  });

  it('given a person who is not linked, or no longer, then 404', () => {
    for (const past of [
      [],
      [linked('link_1', EVE)],
      [linked('link_1', OTHER_ADA)],
      [linked('link_1', ADA), unlinked('link_1')],
      [linked('link_1', ADA, 'dependent'), unlinked('link_1')],
    ])
      record(...past)
        .when(granting())
        .thenRefused('not_found');
    record(linked('link_1', ADA, 'dependent'))
      .when(granting())
      .thenEvents(fresh);
    record(linked('link_1', ADA), unlinked('link_1'), linked('link_2', ADA))
      .when(granting())
      .thenEvents(fresh);
  });

  it('given the sandbox, where links are computed, then only a link that has ended refuses', () => {
    const sandbox = { application: { ...application, environment: 'sandbox' } } as const;
    const begun = granted('grant_new', { environment: 'sandbox' });
    record().when(granting(sandbox, 'sandbox')).thenEvents(begun);
    record(linked('link_1', EVE)).when(granting(sandbox, 'sandbox')).thenEvents(begun);
    record(linked('link_1', ADA), unlinked('link_1'))
      .when(granting(sandbox, 'sandbox'))
      .thenRefused('not_found');
  });

  it('given a record of the other environment, then 404', () => {
    record(linked('link_1', ADA)).when(granting({}, 'sandbox')).thenRefused('not_found');
  });
});

describe('deciding on the end of a grant', () => {
  const before = granted('grant_1');

  it('revokes an active one, also while the Patient is deleted, with the note', () => {
    for (const past of [[before], [before, patientDeleted]])
      record(...past)
        .when(revoke(RECORD, 'grant_1', 'patient', 'I moved'))
        .thenEvents(revoked(before, 'patient', 'I moved'));
  });

  it('leaves one that has ended as it is', () => {
    for (const end of [revoked(before, 'platform'), expired(before)]) {
      record(before, end)
        .when(revoke(RECORD, 'grant_1', 'patient'))
        .thenNothing();
      record(before, end)
        .when(expire(RECORD, 'grant_1'), NOW + 100 * DAY)
        .thenNothing();
    }
  });

  it('expires it at its time and not before; after it, a revocation is an expiry', () => {
    const at = NOW + 90 * DAY;
    record(before)
      .when(expire(RECORD, 'grant_1'), at - 1)
      .thenNothing();
    record(before).when(expire(RECORD, 'grant_1'), at).thenEvents(expired(before));
    record(before)
      .when(revoke(RECORD, 'grant_1', 'patient'), at)
      .thenEvents(expired(before));
  });

  it('knows the grant by its id alone: 404 for others, also for the id of a link or a resource', () => {
    for (const id of ['grant_2', 'link_1', RECORD, 'link/self'])
      record(linked('link_1', ADA), before)
        .when(revoke(RECORD, id, 'patient'))
        .thenRefused('not_found');
  });

  it('revokes the one that was replaced no second time', () => {
    const next = granted('grant_2');
    record(before, revoked(before, 'replaced'), next)
      .when(revoke(RECORD, 'grant_1', 'patient'))
      .thenNothing();
    record(before, revoked(before, 'replaced'), next)
      .when(revoke(RECORD, 'grant_2', 'platform'))
      .thenEvents(revoked(next, 'platform'));
  });

  it('ends all grants of a record at once', () => {
    const others = [granted('grant_2', { person: EVE }), granted('grant_3', { application_id: 'app_2' })];
    const over = granted('grant_4', { application_id: 'app_3', expires_at: toInstant(NOW - 1) });
    record(before, ...others, over, expired(before), patientDeleted)
      .when(revokeAll('patient_purged'))
      .thenEvents(...others.map((each) => revoked(each, 'patient_purged')), expired(over));
    record(linked('link_1', ADA)).when(revokeAll('patient_purged')).thenNothing();
  });
});

describe('deciding on links', () => {
  const linking = (person: PersonId, relationship: 'self' | 'dependent' = 'self') =>
    link(RECORD, { linkId: 'link_new', person, relationship, via: 'invitation' });
  const begun = (person: PersonId, relationship: 'self' | 'dependent' = 'self') =>
    linked('link_new', person, relationship);

  it('links a person, and any number of people to a dependent', () => {
    record().when(linking(ADA)).thenEvents(begun(ADA));
    record(linked('link_1', ADA), linked('link_2', EVE, 'dependent'))
      .when(linking(OTHER_ADA, 'dependent'))
      .thenEvents(begun(OTHER_ADA, 'dependent'));
  });

  it('refuses a second self with 409 until the first has ended', () => {
    record(linked('link_1', ADA))
      .when(linking(EVE))
      .thenRefused('conflict', /another person/);
    record(linked('link_1', ADA), unlinked('link_1', 'project')).when(linking(EVE)).thenEvents(begun(EVE));
  });

  it('leaves the same link as it is, with its id', () => {
    for (const relationship of ['self', 'dependent'] as const) {
      const { result } = record(linked('link_1', ADA, relationship))
        .when(linking(ADA, relationship))
        .thenNothing();
      expect(result).to.deep.equal({ linkId: 'link_1' });
    }
  });

  it('refuses a person who is linked in the other way', () => {
    record(linked('link_1', ADA))
      .when(linking(ADA, 'dependent'))
      .thenRefused('conflict', /already, as self/);
    record(linked('link_1', ADA, 'dependent'))
      .when(linking(ADA))
      .thenRefused('conflict', /already, as dependent/);
  });

  it('makes no link of an id that another person was linked with, also when that has ended', () => {
    const before = linked('link_new', EVE, 'dependent');
    record(before).when(linking(ADA, 'dependent')).thenRefused('not_found');
    record(before, unlinked('link_new')).when(linking(EVE, 'dependent')).thenRefused('not_found');
  });

  it('links nobody to a deleted Patient, nor to a record that never was', () => {
    record(patientDeleted)
      .when(linking(ADA))
      .thenRefused('conflict', /is deleted/);
    given(RESOURCES, [], `record-${RECORD}`)
      .when((state) => linking(ADA)(state, () => patient, NOW).events)
      .thenRefused('not_found');
  });

  it("ends a link with that person's grants, and no other's; also while the Patient is deleted", () => {
    const own = [granted('grant_1'), granted('grant_2', { application_id: 'app_2' })];
    const past = [linked('link_1', ADA), linked('link_2', EVE, 'dependent'), ...own];
    record(...past, granted('grant_3', { person: EVE }), patientDeleted)
      .when(unlink(RECORD, 'link_1', 'project'))
      .thenEvents(unlinked('link_1', 'project'), ...own.map((each) => revoked(each, 'link_ended')));
  });

  it('ends it once; 404 for a link that never was', () => {
    record(linked('link_1', ADA), unlinked('link_1'))
      .when(unlink(RECORD, 'link_1', 'patient'))
      .thenNothing();
    for (const id of ['link_2', 'grant_1', RECORD])
      record(linked('link_1', ADA), granted('grant_1'))
        .when(unlink(RECORD, id, 'patient'))
        .thenRefused('not_found');
  });
});
