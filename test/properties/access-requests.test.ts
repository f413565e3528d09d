/**
 * Access requests as a state machine, on two instances, with parallel and repeated steps, while links, grants and muting
 * change between any two steps. There is no approved request without exactly one grant, no second answer, no tokens without an
 * approval or a second time, and nothing for people who can't see the request (docs/spec/decisions.md, section 7).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import { newUuid } from '#src/shared/ids.ts';
import { startWorkshop, type Workshop } from '#test/support/authorization.ts';
import { askAccess, letPass, pollAccess, registerCiba } from '#test/support/ciba.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { linkOf, newPatient } from '#test/support/me.ts';
import { Journey, type JourneyClient, type TokenAnswer } from '#test/support/oauth-journey.ts';
import { eventually } from '#test/support/process.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { type SecondInstance, startSecondInstance } from '#test/support/second-instance.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

type Who = 'parent' | 'helper';
type Status = 'pending' | 'approved' | 'denied' | 'expired';

type Change = 'mute' | 'unmute' | 'expire' | 'unlink' | 'link' | 'revoke';

/** An index, counted from the newest request. */
const nth = fc.nat({ max: 2 });
const who = fc.constantFrom<Who>('parent', 'parent', 'parent', 'helper');
const times = fc.constantFrom(1, 1, 2, 3);
const answer = fc.record({
  who,
  does: fc.constantFrom('approve' as const, 'approve' as const, 'deny' as const),
  record: fc.constantFrom<0 | 1>(0, 1),
});
const step = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      what: fc.constant('ask' as const),
      hint: fc.constantFrom('email', 'patient'),
      times,
    }),
  },
  {
    weight: 7,
    arbitrary: fc.record({
      what: fc.constant('answer' as const),
      nth,
      answers: fc.array(answer, { minLength: 1, maxLength: 4 }),
    }),
  },
  { weight: 5, arbitrary: fc.record({ what: fc.constant('poll' as const), nth, times }) },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constantFrom<Change>('mute', 'unmute', 'expire') }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ what: fc.constantFrom<Change>('unlink', 'link', 'revoke') }),
  },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const TWO_APPROVALS = [
  { who: 'parent', does: 'approve', record: 0 },
  { who: 'parent', does: 'approve', record: 1 },
] as const;

/**
 * A run that contains everything that must have occurred at the end, because the other runs are random and may miss something.
 * If two requests are made at the same time, either may be the one that waits, so both ask for the same.
 */
const USUAL: Step[] = [
  { what: 'ask', hint: 'email', times: 2 },
  { what: 'poll', nth: 0, times: 1 },
  { what: 'poll', nth: 1, times: 1 },
  { what: 'answer', nth: 0, answers: [...TWO_APPROVALS] },
  { what: 'answer', nth: 1, answers: [...TWO_APPROVALS] },
  { what: 'poll', nth: 0, times: 3 },
  { what: 'poll', nth: 1, times: 1 },
];

/** The facts that the test knows about a request. */
interface Known {
  readonly id: string;
  readonly answer: TokenAnswer;
  readonly hint: string;
  /** True if the request was made while the parent had muted the application. */
  readonly muted: boolean;
  /** True if the helper's link has ended since. */
  unlinked: boolean;
  status: Status;
  decidedBy?: Who;
  grantId?: string;
  redeemed: boolean;
}

describe('the life of access requests', () => {
  let service: InProcess;
  let other: SecondInstance;
  let workshop: Workshop;
  let events: RecordEvents;
  const seen = new Map<string, number>();
  const note = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    other = await startSecondInstance(service);
    events = await RecordEvents.open(service.databaseUrl);
  });
  after(async () => {
    await events?.close();
    await other?.close();
    await service?.stop();
    await removeTemporaryFolders();
  });

  /** One application, two records, and two people: a parent with both records, and a helper with the second. */
  class Run {
    readonly #journeys: readonly [Journey, Journey];
    readonly requests: Known[] = [];
    muted = false;
    helperLink: string | undefined;
    #sent = 0;

    private constructor(
      readonly app: JourneyClient & { readonly id: string },
      readonly records: readonly [string, string],
      readonly emails: Readonly<Record<Who, string>>,
      readonly tokens: Readonly<Record<Who, string>>,
      /** The second record's id in the application. */
      readonly pairwise: string,
    ) {
      this.#journeys = [new Journey(service.url), new Journey(other.url)];
    }

    static async start(): Promise<Run> {
      const app = await registerCiba(workshop);
      const emails = { parent: `parent-${newUuid()}@example.org`, helper: `helper-${newUuid()}@example.org` };
      const records = [await newPatient(service), await newPatient(service)] as const;
      for (const record of records) await events.append(record, linkOf(service, emails.parent, 'dependent'));
      const issuer = new DevIssuer(service.pool, devIssuerUrl(service.url));
      const tokens = {
        parent: await issuer.idToken(findPerson(emails.parent)),
        helper: await issuer.idToken(findPerson(emails.helper)),
      };
      const journey = new Journey(service.url);
      const first = await askAccess(journey, app, { login_hint: emails.parent });
      const run = new Run(app, records, emails, tokens, '');
      const approved = await run.send('parent', await run.newestId(), { does: 'approve', record: 1 });
      expect(approved.status).to.equal(200);
      const { patient } = await pollAccess(journey, app, first);
      const ready = new Run(app, records, emails, tokens, patient);
      await ready.link();
      return ready;
    }

    /** Requests alternate between the instances. */
    get #turn(): 0 | 1 {
      this.#sent += 1;
      return (this.#sent % 2) as 0 | 1;
    }

    async newestId(): Promise<string> {
      const { rows } = await service.pool.query<{ id: string }>(
        'select id from operations.access_request where client_id = $1 order by created_at desc limit 1',
        [this.app.client_id],
      );
      return rows[0]?.id ?? '';
    }

    async me(
      as: Who,
      method: string,
      path: string,
      body?: object,
    ): Promise<{ status: number; json: { [name: string]: unknown } }> {
      const response = await fetch(`${[service.url, other.url][this.#turn]}/me${path}`, {
        method,
        headers: { Authorization: `Bearer ${this.tokens[as]}`, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, json: text === '' ? {} : JSON.parse(text) };
    }

    send(as: Who, id: string, { does, record }: { does: 'approve' | 'deny'; record: 0 | 1 }) {
      const body = does === 'deny' ? {} : { patient_id: this.records[record], duration_days: 30 };
      return this.me(as, 'POST', `/access-requests/${id}/${does}`, body);
    }

    async link(): Promise<void> {
      if (this.helperLink !== undefined) return;
      this.helperLink = `link_${newUuid()}`;
      await events.append(this.records[1], linkOf(service, this.emails.helper, 'dependent', this.helperLink));
      await eventually(async () => {
        const { rowCount } = await service.pool.query('select from consents.links where link_id = $1', [
          this.helperLink,
        ]);
        return rowCount === 1;
      });
    }

    #sees(as: Who, { hint, muted, unlinked }: Known): boolean {
      if (as === 'parent') return !muted;
      return hint === 'patient' && this.helperLink !== undefined && !unlinked;
    }

    /** Returns whether an answer to a pending request can take effect. */
    #counts(
      known: Known,
      { who: as, does, record }: { who: Who; does: 'approve' | 'deny'; record: 0 | 1 },
    ): boolean {
      if (known.status !== 'pending' || !this.#sees(as, known)) return false;
      if (does === 'deny') return true;
      const has = as === 'parent' || record === 1;
      return has && (known.hint === 'email' || record === 1);
    }

    async take(all: Step): Promise<void> {
      if (all.what === 'ask') return this.#ask(all.hint, all.times);
      if (all.what !== 'answer' && all.what !== 'poll') return this.#change(all.what);
      const known = this.requests.at(-1 - all.nth);
      if (known === undefined) return;
      if (all.what === 'answer') await this.#answer(known, all.answers);
      else await this.#poll(known, all.times);
    }

    async #change(what: Change): Promise<void> {
      if (what === 'mute' || what === 'unmute') {
        const method = what === 'mute' ? 'PUT' : 'DELETE';
        expect((await this.me('parent', method, `/muted-applications/${this.app.id}`)).status).to.equal(204);
        this.muted = what === 'mute';
        return;
      }
      if (what === 'expire') {
        await letPass(service, 601);
        for (const known of this.requests) {
          if (known.status === 'pending' || (known.status === 'approved' && !known.redeemed))
            known.status = 'expired';
        }
        return;
      }
      if (what === 'link') return this.link();
      if (what === 'unlink') {
        if (this.helperLink === undefined) return;
        const ended = await this.me('helper', 'DELETE', `/patients/${this.records[1]}/link`);
        expect(ended.status).to.equal(204);
        this.helperLink = undefined;
        for (const known of this.requests) known.unlinked = true;
        return;
      }
      if (what === 'revoke') {
        const known = this.requests.findLast(({ grantId }) => grantId !== undefined);
        if (known?.grantId === undefined) return;
        for (const record of this.records)
          await this.me('parent', 'POST', `/patients/${record}/grants/${known.grantId}/revoke`, {});
        return;
      }
    }

    async #ask(hint: string, count: number): Promise<void> {
      // Only ten requests per hour are allowed, so their times are reset.
      await service.pool.query("update operations.access_request_turn set asked = '{}'");
      const login_hint = hint === 'email' ? this.emails.parent : this.pairwise;
      const answers = await Promise.all(
        Array.from({ length: count }, () => askAccess(this.#journeys[this.#turn], this.app, { login_hint })),
      );
      const { rows } = await service.pool.query<{ id: string; status: Status; sha256: string }>(
        `select id, status, encode(sha256, 'hex') as sha256 from operations.access_request_now where client_id = $1`,
        [this.app.client_id],
      );
      for (const known of this.requests) {
        if (known.hint === hint && known.status === 'pending') known.status = 'expired';
      }
      for (const each of answers) {
        expect(each.status, each.text).to.equal(200);
        const hash = Buffer.from(
          await crypto.subtle.digest('SHA-256', Buffer.from(String(each.auth_req_id))),
        );
        const row = rows.find(({ sha256 }) => sha256 === hash.toString('hex'));
        if (row === undefined) throw new Error('a request has no row');
        const { id, status } = row;
        this.requests.push({
          id,
          answer: each,
          hint,
          muted: this.muted,
          unlinked: false,
          status,
          redeemed: false,
        });
      }
      const waiting = this.requests.slice(-count).filter(({ status }) => status === 'pending');
      expect(waiting.length, 'one of parallel requests waits').to.equal(1);
    }

    async #answer(
      known: Known,
      answers: readonly { who: Who; does: 'approve' | 'deny'; record: 0 | 1 }[],
    ): Promise<void> {
      const possible = answers.filter((each) => this.#counts(known, each));
      const results = await Promise.all(
        answers.map(async (each) => ({ ...each, ...(await this.send(each.who, known.id, each)) })),
      );
      const won = results.filter(({ status }) => status === 200);
      expect(won.length, JSON.stringify(results.map(({ status, json }) => [status, json.error]))).to.equal(
        possible.length > 0 ? 1 : 0,
      );
      for (const { status } of results) expect(status).to.be.oneOf([200, 404, 409, 422]);
      for (const each of won) {
        expect(this.#counts(known, each), 'an answer of somebody who may not').to.equal(true);
        note(each.does);
        if (answers.length > 1) note('parallel answers');
        known.status = each.does === 'approve' ? 'approved' : 'denied';
        known.decidedBy = each.who;
        if (each.does === 'approve') known.grantId = String(each.json.grant_id);
      }
    }

    async #poll(known: Known, count: number): Promise<void> {
      await service.pool.query(
        'update operations.access_request set polled_at = null, pace = 5 where id = $1',
        [known.id],
      );
      const polls = await Promise.all(
        Array.from({ length: count }, () => pollAccess(this.#journeys[this.#turn], this.app, known.answer)),
      );
      const errors = polls.map(({ error }) => error);
      const active = await this.#isActive(known.grantId);
      if (known.status === 'approved' && !known.redeemed && active) {
        expect(polls.filter(({ status }) => status === 200).length, errors.join()).to.equal(1);
        note('redeemed');
        known.redeemed = true;
        const tokens = polls.find(({ status }) => status === 200);
        expect(tokens?.grant_id).to.equal(known.grantId);
        for (const error of errors.filter((each) => each !== undefined))
          expect(error).to.equal('invalid_grant');
        return;
      }
      // The first poll uses up a request whose tokens were delivered or whose grant has ended.
      if (known.status === 'approved') {
        for (const error of errors) expect(error).to.equal('invalid_grant');
        known.redeemed = true;
        return;
      }
      const expected = known.redeemed
        ? ['invalid_grant']
        : {
            pending: ['authorization_pending', 'slow_down'],
            denied: ['access_denied'],
            expired: ['expired_token'],
          }[known.status];
      for (const error of errors) expect(error).to.be.oneOf(expected);
      note(known.status);
    }

    async #isActive(grantId: string | undefined): Promise<boolean> {
      const { rowCount } = await service.pool.query(
        'select from consents.grants where grant_id = $1 and ended_at is null',
        [grantId ?? ''],
      );
      return rowCount === 1;
    }

    /** Checks what must hold after every step. */
    async check(): Promise<void> {
      const { rows } = await service.pool.query<{
        id: string;
        outcome: string | null;
        grant_id: string | null;
        status: Status;
      }>('select id, outcome, grant_id, status from operations.access_request_now where client_id = $1', [
        this.app.client_id,
      ]);
      const approved = rows.filter(({ outcome }) => outcome === 'approved');
      const grants = await service.pool.query<{ grant_id: string }>(
        'select grant_id from consents.grants where application_id = $1',
        [this.app.id],
      );
      expect(grants.rows.map(({ grant_id }) => grant_id).sort(), 'one grant for each approval').to.deep.equal(
        approved.map(({ grant_id }) => grant_id).sort(),
      );
      for (const known of this.requests) {
        const row = rows.find(({ id }) => id === known.id);
        const decided = known.decidedBy === undefined ? known.status : row?.outcome;
        expect(row?.status, known.id).to.equal(decided);
        expect(row?.grant_id ?? undefined).to.equal(known.grantId);
      }
      for (const as of ['parent', 'helper'] as const) {
        const { json } = await this.me(as, 'GET', '/access-requests?environment=sandbox&limit=200');
        const shown = (json.data as { id: string }[]).map(({ id }) => id);
        for (const known of this.requests) {
          const decidedByOther = known.decidedBy !== undefined && known.decidedBy !== as;
          expect(shown.includes(known.id), `${as} sees ${known.hint}`).to.equal(
            this.#sees(as, known) && !decidedByOther,
          );
        }
      }
    }
  }

  it('has one answer, one grant for an approval, and tokens once', async function () {
    this.timeout(scaled(3_600_000, 600_000));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 24 }), async (steps) => {
        const run = await Run.start();
        for (const each of steps) {
          await run.take(each);
          await run.check();
        }
      }),
      { numRuns: scaled(80, 2), examples: [[USUAL]], endOnFailure: true, seed: steadySeed() },
    );
    for (const what of ['approve', 'parallel answers', 'redeemed', 'pending'])
      expect(seen.get(what), what).to.be.greaterThan(0);
  });
});
