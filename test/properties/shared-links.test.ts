/**
 * Shared links as a state machine, on two instances, with parallel and repeated steps, while people's links end between any
 * two steps and crashes interrupt attempts. There is never a sixth attempt at a passcode, a link that has ended returns
 * nothing, and every attempt is in the access log (docs/spec/decisions.md, section 7).
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { DevIssuer, devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { findPerson } from '#src/dev-issuer/people.ts';
import { newUuid } from '#src/shared/ids.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { linkOf, newPatient } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { type SecondInstance, startSecondInstance } from '#test/support/second-instance.ts';
import { openLink, payloadOf, type ShownLink, sharedLinkSchema } from '#test/support/shared-links.ts';

type Who = 'owner' | 'helper';
type Attempt = 'right' | 'wrong' | 'none';

const PASSCODE = '402617';
const MOST = 5;

/** An index, counted from the newest link. */
const nth = fc.nat({ max: 2 });
const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      what: fc.constant('create' as const),
      who: fc.constantFrom<Who>('owner', 'helper'),
      passcode: fc.boolean(),
      long: fc.boolean(),
      times: fc.constantFrom(1, 2),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      what: fc.constant('open' as const),
      nth,
      attempts: fc.array(fc.constantFrom<Attempt>('right', 'wrong', 'wrong', 'none'), {
        minLength: 1,
        maxLength: 7,
      }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant('revoke' as const), nth, times: fc.constantFrom(1, 2) }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('crash' as const), nth }) },
  { weight: 1, arbitrary: fc.record({ what: fc.constant('unlink' as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/**
 * A run that contains everything that must have occurred at the end, because the other runs are random and may miss something.
 */
const USUAL: Step[] = [
  { what: 'create', who: 'owner', passcode: true, long: false, times: 2 },
  { what: 'open', nth: 0, attempts: ['right'] },
  { what: 'open', nth: 0, attempts: ['wrong', 'wrong', 'right', 'none'] },
  { what: 'crash', nth: 0 },
  { what: 'open', nth: 0, attempts: ['wrong', 'wrong', 'wrong', 'wrong', 'wrong', 'wrong', 'wrong'] },
  { what: 'open', nth: 0, attempts: ['right'] },
  { what: 'create', who: 'helper', passcode: false, long: true, times: 1 },
  { what: 'open', nth: 0, attempts: ['none', 'none', 'right'] },
  { what: 'unlink' },
  { what: 'open', nth: 0, attempts: ['none'] },
  { what: 'create', who: 'owner', passcode: false, long: false, times: 1 },
  { what: 'revoke', nth: 0, times: 2 },
  { what: 'open', nth: 0, attempts: ['right', 'none'] },
];

interface Known {
  readonly link: ShownLink;
  readonly url: string;
  readonly who: Who;
  readonly passcode: boolean;
  /** Number of attempts that were wrong or interrupted. */
  used: number;
  /**
   * True if attempts were interrupted. For a minute, it isn't known that they are over, and other attempts are told to wait.
   */
  interrupted: boolean;
  ended: boolean;
  /** Number of requests for the link's manifest. */
  asked: number;
}

describe('the life of shared links', () => {
  let service: InProcess;
  let other: SecondInstance;
  let events: RecordEvents;
  const seen = new Map<string, number>();
  const note = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

  before(async () => {
    service = await startInProcess();
    other = await startSecondInstance(service);
    events = await RecordEvents.open(service.databaseUrl);
  });
  after(async () => {
    await events?.close();
    await other?.close();
    await service?.stop();
  });

  /** One record with an owner and a helper. */
  class Run {
    readonly links: Known[] = [];
    helped = true;
    #sent = 0;

    private constructor(
      readonly record: string,
      readonly tokens: Readonly<Record<Who, string>>,
    ) {}

    static async start(): Promise<Run> {
      const record = await newPatient(service);
      const emails = { owner: `owner-${newUuid()}@example.org`, helper: `helper-${newUuid()}@example.org` };
      await events.append(record, linkOf(service, emails.owner));
      await events.append(record, linkOf(service, emails.helper, 'dependent'));
      await eventually(
        async () =>
          (await service.pool.query('select from consents.links where record = $1', [record])).rowCount === 2,
      );
      const issuer = new DevIssuer(service.pool, devIssuerUrl(service.url));
      return new Run(record, {
        owner: await issuer.idToken(findPerson(emails.owner)),
        helper: await issuer.idToken(findPerson(emails.helper)),
      });
    }

    /** Requests alternate between the instances. */
    #turn(): string {
      this.#sent += 1;
      return this.#sent % 2 === 0 ? service.url : other.url;
    }

    async #me(as: Who, method: string, path: string, body?: object) {
      const response = await fetch(`${this.#turn()}/me/patients/${this.record}${path}`, {
        method,
        headers: { Authorization: `Bearer ${this.tokens[as]}`, 'Content-Type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, json: text === '' ? {} : JSON.parse(text) };
    }

    async take(all: Step): Promise<void> {
      if (all.what === 'create') return this.#create(all);
      if (all.what === 'unlink') return this.#unlink();
      const known = this.links.at(-1 - all.nth);
      if (known === undefined) return;
      if (all.what === 'open') return this.#open(known, all.attempts);
      if (all.what === 'revoke') return this.#revoke(known, all.times);
      return this.#crash(known);
    }

    async #create({ who, passcode, long, times }: Extract<Step, { what: 'create' }>): Promise<void> {
      const body = { content: 'summary', long_term: long, ...(passcode ? { passcode: PASSCODE } : {}) };
      const made = await Promise.all(
        Array.from({ length: times }, () => this.#me(who, 'POST', '/shl', body)),
      );
      for (const { status, json } of made) {
        expect(status).to.equal(who === 'helper' && !this.helped ? 404 : 201);
        if (status !== 201) continue;
        const link = sharedLinkSchema.parse(json);
        const { pathname } = new URL(payloadOf(link).url);
        this.links.push({
          link,
          url: pathname,
          who,
          passcode,
          used: 0,
          interrupted: false,
          ended: false,
          asked: 0,
        });
      }
    }

    async #open(known: Known, attempts: readonly Attempt[]): Promise<void> {
      const answers = await Promise.all(
        attempts.map(async (attempt) => {
          const passcode =
            attempt === 'none' ? {} : { passcode: attempt === 'right' ? PASSCODE : `not ${PASSCODE}` };
          const { status, json } = await openLink(this.#turn() + known.url, {
            recipient: 'Dr Lind',
            ...passcode,
          });
          return { attempt, status, left: json.remainingAttempts };
        }),
      );
      known.asked += answers.length;
      const was = known.used;
      if (known.ended || was >= MOST) {
        const waits = known.interrupted && !known.ended;
        for (const { attempt, status } of answers)
          expect(status).to.be.oneOf(waits ? [404, attempt === 'none' ? 401 : 429] : [404]);
        note('ended');
        return;
      }
      if (!known.passcode) {
        for (const { status } of answers) expect(status).to.equal(200);
        note('open');
        return;
      }
      const wrong = answers.filter(({ attempt, status }) => attempt === 'wrong' && status === 401);
      known.used += wrong.length;
      expect(known.used, 'a sixth attempt').to.be.at.most(MOST);
      for (const { attempt, status, left } of answers) {
        if (attempt === 'none') expect(status).to.be.oneOf([401, 404]);
        else if (attempt === 'right') expect(status).to.be.oneOf([200, 404, 429]);
        else expect(status).to.be.oneOf([401, 404, 429]);
        if (status === 401) expect(left).to.be.within(0, MOST - was);
        if (status === 404) expect(known.used, 'an open link that was not found').to.equal(MOST);
        if (attempt === 'right' && status === 200) note('right');
      }
      if (answers.length === 1 && attempts[0] === 'right') expect(answers[0]?.status).to.equal(200);
      // A sixth attempt at the same time is told to wait, and its passcode isn't compared.
      if (attempts.filter((attempt) => attempt !== 'none').length <= MOST - was)
        for (const { status } of answers) expect(status).to.not.equal(429);
      if (known.used === MOST) note('closed');
    }

    async #revoke(known: Known, times: number): Promise<void> {
      const ended = await Promise.all(
        Array.from({ length: times }, () => this.#me('owner', 'POST', `/shl/${known.link.id}/revoke`)),
      );
      for (const { status, json } of ended) {
        expect(status).to.equal(200);
        expect(json.status).to.be.oneOf(['revoked', 'closed']);
      }
      known.ended = true;
      note('revoked');
    }

    /** Simulates what an attempt leaves behind, a while later, if its instance was killed before comparing the passcode. */
    async #crash(known: Known): Promise<void> {
      if (known.ended || !known.passcode || known.used >= MOST) return;
      await service.pool.query(
        "update operations.shared_link set attempts = attempts + 1, attempted_at = now() - interval '2 minutes' where id = $1",
        [known.link.id],
      );
      known.used += 1;
      known.interrupted = true;
      note('crash');
    }

    async #unlink(): Promise<void> {
      if (!this.helped) return;
      expect((await this.#me('helper', 'DELETE', '/link')).status).to.equal(204);
      this.helped = false;
      for (const known of this.links) if (known.who === 'helper') known.ended = true;
      note('unlinked');
    }

    /** Checks what must be true at the end, whatever happened. */
    async check(): Promise<void> {
      const { rows } = await service.pool.query<{ id: string }>(
        'select id from operations.shared_link where record = $1',
        [this.record],
      );
      const kept = new Set(rows.map(({ id }) => id));
      for (const known of this.links) {
        const { id } = known.link;
        if (known.ended) expect(kept.has(id), 'an ended link has a row').to.equal(false);
        const { rows: entries } = await service.pool.query<{ n: number }>(
          `select count(*)::int as n from operations.access_entry
            where actor_kind = 'link' and actor_id = $1 and actor_name = 'Dr Lind'`,
          [id],
        );
        expect(entries[0]?.n, 'attempts in the access log').to.equal(known.asked);
        const { json } = await this.#me('owner', 'GET', `/shl/${id}`);
        const expected = known.used >= MOST ? ['closed', 'revoked'] : [known.ended ? 'revoked' : 'active'];
        if (known.used >= MOST && known.interrupted && !known.ended) expected.push('active');
        expect(json.status).to.be.oneOf(expected);
        expect(json.shlink === null).to.equal(json.status !== 'active');
      }
      const { rows: written } = await service.pool.query<{ type: string; n: number }>(
        "select type, count(*)::int as n from log.events where stream = $1 and type like 'SharedLink%' group by type",
        [`record-${this.record}`],
      );
      const counts = Object.fromEntries(written.map(({ type, n }) => [type, n]));
      expect(counts.SharedLinkCreated ?? 0).to.equal(this.links.length);
      expect(counts.SharedLinkEnded ?? 0).to.be.at.most(this.links.length);
    }
  }

  it('never takes a sixth attempt, shows nothing after its end, and is in the access log', async function () {
    const numRuns = scaled(40, 1);
    this.timeout(60_000 + numRuns * 30_000);
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 14 }), async (steps) => {
        const run = await Run.start();
        for (const each of steps) await run.take(each);
        await run.check();
      }),
      { numRuns, seed: steadySeed(), examples: [[USUAL]], endOnFailure: true },
    );
    expect([...seen.keys()].sort()).to.include.members(
      ['closed', 'crash', 'ended', 'open', 'revoked', 'right', 'unlinked'].sort(),
    );
  });
});
