/**
 * Whatever people, projects and time do to a record, in any order: there is at most one active grant per application and
 * person, no grant without a valid link, and at most one self link (docs/spec/decisions.md, section 9).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { expire, grant, link, revoke, revokeAll, unlink } from '#commands/consent/decide.ts';
import type { Conclude } from '#commands/consent/on-record.ts';
import { Stream } from '#commands/kernel/kernel.ts';
import { RESOURCES } from '#commands/resource/state.ts';
import type { DomainEvent } from '#src/events/catalog.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { toMicros } from '#src/shared/time/time.ts';
import { BEGINNING } from '#test/support/given.ts';
import { randomSeed } from '#test/support/scale.ts';

const RECORD = '0198c0de-0000-7000-8000-000000000001';
const DAY = 86_400_000_000;
const person = fc
  .integer({ min: 0, max: 2 })
  .map((n) => ({ issuer: 'https://issuer.example', subject: `p${n}` }));
const application = fc.integer({ min: 0, max: 2 }).map((n) => `app_${n}`);
/** The number of a grant or link, in the order of creation. */
const nth = fc.nat({ max: 12 });

const step = fc.oneof(
  fc.record({ what: fc.constant('grant' as const), person, application, days: fc.constantFrom(30, 365) }),
  fc.record({
    what: fc.constant('link' as const),
    person,
    relationship: fc.constantFrom('self' as const, 'dependent' as const),
  }),
  fc.record({ what: fc.constant('unlink' as const), nth }),
  fc.record({ what: fc.constant('revoke' as const), nth }),
  fc.record({ what: fc.constant('expire' as const), nth }),
  fc.record({ what: fc.constantFrom('delete' as const, 'restore' as const, 'purge' as const) }),
  fc.record({ what: fc.constant('wait' as const), days: fc.integer({ min: 1, max: 40 }) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A record in memory, and the conditions that it must meet. */
class Record {
  readonly events: DomainEvent[] = [];
  readonly stream = new Stream(RESOURCES, `record-${RECORD}`);
  at = BEGINNING;
  version = 1;

  constructor() {
    this.append({
      type: 'ResourceCreated',
      resourceType: 'Patient',
      resourceId: RECORD,
      version: 1,
      body: '{}',
    });
  }

  append(event: DomainEvent): void {
    this.stream.evolve({ revision: this.events.length, hash: '' }, this.at, undefined, event);
    this.events.push(event);
    this.at += 1;
  }

  /** Appends the events that a command decided on; a refusal changes nothing. */
  run<T>(conclude: Conclude<T>): void {
    const past = (revision: number): DomainEvent => {
      const event = this.events[revision];
      if (event === undefined) throw new RangeError(`no event ${revision}`);
      return event;
    };
    try {
      for (const event of conclude(this.stream.state, past, this.at).events) this.append(event);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
    }
  }

  get isDeleted(): boolean {
    return this.stream.state.entries.get(RECORD)?.deleted === true;
  }

  /** The grants that no event has ended, and the valid links, found by replaying all events. */
  get open() {
    const grants = new Map<string, Extract<DomainEvent, { type: 'ConsentGranted' }>['data']>();
    const links = new Map<string, Extract<DomainEvent, { type: 'RecordLinked' }>['data']>();
    for (const event of this.events) {
      if (event.type === 'ConsentGranted') grants.set(event.data.grant_id, event.data);
      else if (event.type === 'ConsentRevoked' || event.type === 'ConsentExpired') {
        expect(grants.delete(event.data.grant_id), 'each grant ends once').to.equal(true);
      } else if (event.type === 'RecordLinked') links.set(event.data.link_id, event.data);
      else if (event.type === 'RecordUnlinked')
        expect(links.delete(event.data.link_id), 'each link ends once').to.equal(true);
    }
    return { grants: [...grants.values()], links: [...links.values()] };
  }

  begun(type: 'ConsentGranted' | 'RecordLinked', n: number): string {
    const ids = this.events.flatMap((event) =>
      event.type === 'ConsentGranted' && type === event.type
        ? [event.data.grant_id]
        : event.type === 'RecordLinked' && type === event.type
          ? [event.data.link_id]
          : [],
    );
    return ids[n % Math.max(1, ids.length)] ?? 'none';
  }
}

function apply(record: Record, action: Step, n: number): void {
  switch (action.what) {
    case 'grant': {
      const { person: by, application: id, days } = action;
      const asked = {
        record: RECORD,
        person: by,
        application: { id, project: 'proj_1', environment: 'production' as const, sector: id },
        scopes: ['patient/*.rs'],
        purpose: null,
        days,
        grantedBy: 'patient' as const,
        lang: 'en',
        sentences: [],
      };
      record.run(grant(asked, { grantId: `grant_${n}`, patient: 'p', subject: 's' }, 'production'));
      break;
    }
    case 'link':
      record.run(link(RECORD, { linkId: `link_${n}`, via: 'invitation', ...action }));
      break;
    case 'unlink':
      record.run(unlink(RECORD, record.begun('RecordLinked', action.nth), 'project'));
      break;
    case 'revoke':
      record.run(revoke(RECORD, record.begun('ConsentGranted', action.nth), 'patient'));
      break;
    case 'expire':
      record.run(expire(RECORD, record.begun('ConsentGranted', action.nth)));
      break;
    case 'purge':
      record.run(revokeAll('patient_purged'));
      break;
    case 'wait':
      record.at += action.days * DAY;
      break;
    case 'delete':
    case 'restore': {
      const deletes = action.what === 'delete';
      if (record.isDeleted === deletes) break;
      record.version += 1;
      const header = { resourceType: 'Patient', resourceId: RECORD, version: record.version };
      record.append(
        deletes ? { type: 'ResourceDeleted', ...header } : { type: 'ResourceUpdated', ...header, body: '{}' },
      );
    }
  }
}

describe('grants and links of a record', () => {
  it('stay unique, end once, and never outlive the link that they rest on', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        const record = new Record();
        steps.forEach((action, n) => {
          const wasDeleted = record.isDeleted;
          const before = record.events.length;
          apply(record, action, n);
          const { grants, links } = record.open;
          const owners = grants.map(({ application_id, person: by }) => `${application_id} ${by.subject}`);
          expect(new Set(owners).size, 'one grant per application and person').to.equal(owners.length);
          expect(links.filter(({ relationship }) => relationship === 'self').length).to.be.at.most(1);
          const linked = links.map(({ person: by }) => by.subject);
          expect(new Set(linked).size, 'one link per person').to.equal(linked.length);
          for (const { person: by } of grants) expect(linked, 'a link for each grant').to.include(by.subject);
          const added = record.events.slice(before);
          for (const event of added) {
            if (event.type === 'ConsentGranted' || event.type === 'RecordLinked')
              expect(wasDeleted, 'nothing begins while the Patient is deleted').to.equal(false);
            if (event.type === 'ConsentRevoked')
              expect(toMicros(event.data.expires_at), 'an expired grant is not revoked').to.be.above(
                record.at - 10,
              );
          }
          if (action.what === 'purge') expect(grants).to.deep.equal([]);
        });
      }),
      { numRuns: 500, seed: randomSeed() },
    );
  });
});
