/**
 * Proposals as a state machine, on two instances, with parallel and repeated steps, while grants, links and resources change
 * between any two steps. The rules are checked against the record's events. No proposal is written twice. None is written
 * outside its grant, over another version, or without a person who was linked. Each ends once (docs/spec/decisions.md, section
 * 7).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import type { StoredEvent } from '#src/events/catalog.ts';
import { newUuid } from '#src/shared/ids.ts';
import type { Allowed, Application } from '#test/support/granted.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { identityOf, linkOf, newPatient } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';
import { conditionOf, Proposing } from '#test/support/proposals.ts';
import { itAtFullSize, scaled, steadySeed } from '#test/support/scale.ts';
import { type SecondInstance, startSecondInstance } from '#test/support/second-instance.ts';

/** An index, counted from the newest proposal. */
const nth = fc.nat({ max: 2 });
const who = fc.constantFrom('parent' as const, 'parent' as const, 'helper' as const);
const action = fc.oneof(
  { weight: 4, arbitrary: fc.record({ what: fc.constantFrom('create' as const, 'update' as const) }) },
  {
    weight: 5,
    arbitrary: fc.record({ what: fc.constantFrom('accept' as const, 'reject' as const), nth, who }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('withdraw' as const), nth }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('write' as const) }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constantFrom('revoke' as const, 'unlink' as const) }) },
);
type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;
const step = fc.record({ actions: fc.array(action, { minLength: 1, maxLength: 4 }), twice: fc.boolean() });
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const one = (...actions: Action[]): Step => ({ actions, twice: false });
/**
 * A run that contains everything that must have occurred at the end, because the other runs are random and may miss something.
 */
const USUAL: Step[] = [
  { actions: [{ what: 'create' }], twice: true },
  { actions: [{ what: 'accept', nth: 0, who: 'parent' }], twice: true },
  one({ what: 'update' }, { what: 'update' }),
  one({ what: 'accept', nth: 0, who: 'parent' }, { what: 'accept', nth: 1, who: 'helper' }),
  one({ what: 'create' }),
  one(
    { what: 'accept', nth: 0, who: 'parent' },
    { what: 'reject', nth: 0, who: 'helper' },
    { what: 'withdraw', nth: 0 },
  ),
  one({ what: 'create' }),
  one({ what: 'unlink' }, { what: 'accept', nth: 0, who: 'helper' }),
  one({ what: 'create' }),
  one({ what: 'revoke' }, { what: 'accept', nth: 0, who: 'parent' }),
  one({ what: 'create' }),
  one({ what: 'reject', nth: 0, who: 'parent' }),
];

type Made = Extract<StoredEvent['event'], { type: 'ProposalMade' }>['data'];

describe('the life of proposals', () => {
  let service: InProcess;
  let other: SecondInstance;
  let proposing: Proposing;
  let application: Application;
  const seen = new Map<string, number>();
  const note = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

  before(async () => {
    service = await startInProcess();
    other = await startSecondInstance(service);
    proposing = await Proposing.open(service);
    application = await proposing.application();
  });
  after(async () => {
    await proposing?.close();
    await other?.close();
    await service?.stop();
  });

  /** A record with a Condition, an application with a grant from the parent, and a helper who is also linked. */
  class Run {
    readonly proposals: string[] = [];
    /** Proposals, by the action whose request on them returned 200. */
    readonly done = new Map<string, string[]>();
    #sent = 0;
    helperLink = '';
    private constructor(
      readonly record: string,
      readonly condition: string,
      readonly emails: Readonly<Record<'parent' | 'helper', string>>,
      public allowed: Allowed,
    ) {}

    static async start(): Promise<Run> {
      const record = await newPatient(service);
      const emails = { parent: `parent-${record}@example.org`, helper: `helper-${record}@example.org` };
      await proposing.granting.events.append(record, linkOf(service, emails.parent));
      const condition = String((await service.post('/Condition', conditionOf(record, 'Asthma'))).json.id);
      const run = new Run(
        record,
        condition,
        emails,
        await proposing.allow(application, record, emails.parent),
      );
      await run.link();
      return run;
    }

    get #url(): string {
      this.#sent += 1;
      return this.#sent % 2 === 0 ? service.url : other.url;
    }

    async link(): Promise<void> {
      this.helperLink = `link_${newUuid()}`;
      await proposing.granting.events.append(
        this.record,
        linkOf(service, this.emails.helper, 'dependent', this.helperLink),
      );
      const shown = 'select from consents.links where link_id = $1 and unlinked_at is null';
      await eventually(async () => (await service.pool.query(shown, [this.helperLink])).rowCount === 1);
    }

    /** Takes the actions at the same time. If requested, each action is sent twice with the same Idempotency-Key. */
    async take({ actions, twice }: Step): Promise<void> {
      await Promise.all(
        actions.flatMap((each) => {
          const headers = twice ? { 'Idempotency-Key': newUuid() } : {};
          return twice ? [this.#act(each, headers), this.#act(each, headers)] : [this.#act(each, headers)];
        }),
      );
      if (actions.some(({ what }) => what === 'revoke'))
        this.allowed = await proposing.allow(application, this.record, this.emails.parent);
      if (actions.some(({ what }) => what === 'unlink')) await this.link();
    }

    async #act(each: Action, headers: Record<string, string>): Promise<void> {
      const url = this.#url;
      switch (each.what) {
        case 'create':
        case 'update':
          return this.#propose(each.what, headers, url);
        case 'accept':
        case 'reject': {
          const id = this.proposals.at(-1 - each.nth);
          if (id === undefined) return;
          const person = { record: this.record, email: this.emails[each.who] };
          const { status, json } = await proposing.person(
            person,
            `/${id}/${each.what}`,
            'POST',
            {},
            { headers, url },
          );
          expect(status, JSON.stringify(json)).to.be.oneOf([200, 404, 409]);
          if (status === 200) this.#note(id, each.what);
          return;
        }
        case 'withdraw': {
          const id = this.proposals.at(-1 - each.nth);
          if (id === undefined) return;
          const answer = await proposing.app(this.allowed, `/${id}/withdraw`, 'POST', {}, { headers, url });
          expect(answer.status, String(answer)).to.be.oneOf([200, 401, 409]);
          if (answer.status === 200) this.#note(id, 'withdraw');
          return;
        }
        case 'write': {
          const body = JSON.stringify({ ...conditionOf(this.record, newUuid()), id: this.condition });
          const { status } = await service.fhir(`/Condition/${this.condition}`, { method: 'PUT', body });
          expect(status).to.equal(200);
          return;
        }
        case 'revoke':
        case 'unlink': {
          const path = each.what === 'revoke' ? `/grants/${this.allowed.data.grant_id}/revoke` : '/link';
          const email = each.what === 'revoke' ? this.emails.parent : this.emails.helper;
          const method = each.what === 'revoke' ? 'POST' : 'DELETE';
          const status = await proposing.sendMe({ record: this.record, email }, path, method, url);
          expect(status).to.be.oneOf([200, 204, 404]);
          note(each.what);
        }
      }
    }

    async #propose(
      operation: 'create' | 'update',
      headers: Record<string, string>,
      url: string,
    ): Promise<void> {
      const { patient } = this.allowed;
      const { version } = await service.fhir(`/Condition/${this.condition}`);
      const resource = conditionOf(patient, newUuid(), operation === 'update' ? { id: this.condition } : {});
      const body = {
        operation,
        resource:
          'Idempotency-Key' in headers
            ? { ...resource, code: { text: headers['Idempotency-Key'] } }
            : resource,
        ...(operation === 'update' ? { current_version: version } : {}),
        author_type: 'ai',
      };
      const answer = await proposing.app(this.allowed, '', 'POST', body, { headers, url });
      // 422: the same Idempotency-Key with a different current version.
      expect(answer.status, String(answer)).to.be.oneOf([201, 401, 409, 422]);
      if (answer.status !== 201) return;
      const { id } = JSON.parse(answer.text) as { id: string };
      if (!this.proposals.includes(id)) this.proposals.push(id);
    }

    #note(id: string, how: string): void {
      note(how);
      this.done.set(id, [...(this.done.get(id) ?? []), how]);
    }

    /** Checks what must hold after every step, using only the record's events. */
    async check(): Promise<void> {
      const events = await proposing.events(this.record);
      const grants = new Map<string, boolean>();
      const links = new Map<string, { person: object; held: boolean }>();
      const made = new Map<string, Made>();
      const ends = new Map<string, string>();
      const versions = new Map<string, number>();
      const places = new Set<string>();
      for (const [at, { event, metadata }] of events.entries()) {
        if ('resourceId' in event) {
          expect(event.version).to.equal((versions.get(event.resourceId) ?? 0) + 1);
          versions.set(event.resourceId, event.version);
          if (metadata.credential.kind !== 'grant') continue;
          // An application writes to the record only through its accepted proposals.
          const next = events[at + 1];
          expect(next?.event.type).to.equal('ProposalAccepted');
          expect([metadata.append, next?.metadata.append]).to.deep.equal([
            [0, 2],
            [1, 2],
          ]);
          continue;
        }
        switch (event.type) {
          case 'ConsentGranted':
            grants.set(event.data.grant_id, true);
            break;
          case 'ConsentRevoked':
            grants.set(event.data.grant_id, false);
            break;
          case 'RecordLinked':
            links.set(event.data.link_id, { person: event.data.person, held: true });
            break;
          case 'RecordUnlinked':
            links.set(event.data.link_id, {
              person: links.get(event.data.link_id)?.person ?? {},
              held: false,
            });
            break;
          case 'ProposalMade': {
            const { proposal_id: id, grant_id, place, resource_id, base_version } = event.data;
            expect([made.has(id), grants.get(grant_id)], id).to.deep.equal([false, true]);
            if (resource_id !== undefined) expect(base_version).to.equal(versions.get(resource_id));
            expect(places.has(`${grant_id} ${place}`), `place ${place}`).to.equal(false);
            places.add(`${grant_id} ${place}`);
            made.set(id, event.data);
            break;
          }
          case 'ProposalAccepted':
          case 'ProposalRejected':
          case 'ProposalWithdrawn':
          case 'ProposalSuperseded':
          case 'ProposalExpired': {
            const { proposal_id: id, grant_id, place } = event.data;
            expect([made.has(id), ends.has(id)], id).to.deep.equal([true, false]);
            ends.set(id, event.type);
            places.delete(`${grant_id} ${place}`);
            if (event.type === 'ProposalAccepted')
              this.#checkAccepted(events, at, made.get(id), { grants, links });
          }
        }
      }
      for (const [id, done] of this.done) {
        const end = { accept: 'ProposalAccepted', reject: 'ProposalRejected', withdraw: 'ProposalWithdrawn' };
        for (const how of done) expect(ends.get(id), id).to.equal(Reflect.get(end, how));
      }
      await this.#checkShown(ends);
    }

    #checkAccepted(
      events: readonly StoredEvent[],
      at: number,
      made: Made | undefined,
      held: {
        readonly grants: ReadonlyMap<string, boolean>;
        readonly links: ReadonlyMap<string, { person: object; held: boolean }>;
      },
    ): void {
      const [written, accepted] = [events[at - 1], events[at]];
      expect(held.grants.get(made?.grant_id ?? ''), 'within the grant').to.equal(true);
      const { issuer, subject, role } = accepted?.metadata.approved_by ?? {};
      const linked = [...held.links.values()].filter((link) => link.held).map(({ person }) => person);
      expect(linked, 'a person who is linked').to.deep.include({ issuer, subject });
      const isParent = subject === identityOf(service, this.emails.parent).subject;
      expect(role).to.equal(isParent ? 'self' : 'representative');
      expect(accepted?.metadata.author?.type).to.equal('ai');
      if (written === undefined || !('body' in written.event)) throw new Error('nothing was written');
      const { resourceId, version, body } = written.event;
      expect(accepted?.event)
        .to.have.deep.property('data')
        .that.includes({ resource_id: resourceId, version });
      if (made?.operation === 'update')
        expect([resourceId, version]).to.deep.equal([made.resource_id, (made.base_version ?? 0) + 1]);
      else expect(version).to.equal(1);
      const proposed = JSON.parse(made?.resource ?? '{}') as { code: object };
      expect(JSON.parse(body)).to.deep.include({ code: proposed.code });
    }

    /** Checks that the interface shows what the events say. */
    async #checkShown(ends: ReadonlyMap<string, string>): Promise<void> {
      const { json } = await proposing.person(
        { record: this.record, email: this.emails.parent },
        '?limit=200',
      );
      for (const { id, status } of json.data) {
        const end = ends.get(id);
        if (end !== undefined) expect(`Proposal${status}`.toLowerCase(), id).to.equal(end.toLowerCase());
        else expect(status, id).to.be.oneOf(['pending', 'superseded', 'expired']);
        note(String(status));
      }
      expect(json.data.map(({ id }) => id)).to.include.members(this.proposals);
    }
  }

  itAtFullSize('ends once, and writes once what a linked person accepts within its grant', async function () {
    this.timeout(scaled(3_600_000, 600_000));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 6, maxLength: 16 }), async (steps) => {
        const run = await Run.start();
        for (const each of steps) {
          await run.take(each);
          await run.check();
        }
      }),
      { numRuns: scaled(60, 2), examples: [[USUAL]], endOnFailure: true, seed: steadySeed() },
    );
    for (const what of [
      'accept',
      'reject',
      'revoke',
      'unlink',
      'accepted',
      'rejected',
      'superseded',
      'expired',
    ])
      expect(seen.get(what), what).to.be.greaterThan(0);
  });
});
