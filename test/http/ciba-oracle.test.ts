/**
 * An application can't find out from its access requests which people exist: responses and response times are the same for
 * every kind of person (docs/spec/decisions.md, section 7). `npm run prove` sends 1,000 requests, `npm test` fewer.
 */
import { expect } from 'chai';
import { newUuid } from '#src/shared/ids.ts';
import { startWorkshop, stopWorkshop, type Workshop } from '#test/support/authorization.ts';
import { askAccess, pollAccess, registerCiba } from '#test/support/ciba.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { identityOf } from '#test/support/me.ts';
import { Journey, type JourneyClient, type TokenAnswer } from '#test/support/oauth-journey.ts';
import { scaled } from '#test/support/scale.ts';

const KINDS = ['known', 'unknown', 'muted', 'unverified', 'patient', 'no patient'] as const;
type Kind = (typeof KINDS)[number];
const ROUNDS = Math.ceil(scaled(1_000, 90) / KINDS.length);

/** A response as an application sees it, without the parts that vary between responses. */
interface Seen {
  readonly kind: Kind;
  readonly answer: string;
  readonly ms: readonly number[];
}

describe('what an application learns by asking for access', () => {
  let service: InProcess;
  let workshop: Workshop;
  let journey: Journey;
  let app: JourneyClient & { readonly id: string };

  before(async () => {
    ({ service, workshop } = await startWorkshop());
    journey = new Journey(service.url);
    const { id, client_id, client_secret } = await registerCiba(workshop);
    app = { id, client_id, client_secret };
  });
  after(() => stopWorkshop(service));

  /**
   * Creates a person of a kind, by sign-ins, links, grants and muting.
   * @returns the hint
   */
  async function hintFor(kind: Kind, n: number): Promise<string> {
    const email = `${kind.replace(' ', '-')}-${n}@example.org`;
    const patient = newUuid();
    if (kind === 'unknown') return email;
    if (kind === 'no patient') return patient;
    const { issuer, subject } = identityOf(service, email);
    await service.pool.query(
      `insert into operations.person (issuer, subject, email, email_verified, signed_in_at, session_ended_at)
       values ($1, $2, $3, $4, now(), now())`,
      [issuer, subject, email, kind !== 'unverified'],
    );
    const record = newUuid();
    await service.pool.query(
      `insert into consents.links (link_id, record, owner_project, environment, issuer, subject, relationship, via, linked_at)
       values ($1, $2, $3, 'sandbox', $4, $5, 'self', 'invitation', 1)`,
      [`link_${newUuid()}`, record, workshop.project, issuer, subject],
    );
    if (kind === 'muted')
      await service.pool.query(
        'insert into operations.muted_application (issuer, subject, application_id, muted_at) values ($1, $2, $3, now())',
        [issuer, subject, app.id],
      );
    if (kind !== 'patient') return email;
    await service.pool.query(
      `insert into consents.grants (grant_id, record, patient, application_id, project, environment, sector, issuer,
         subject, pairwise_subject, scopes, granted_by, granted_at, expires_at, lang, sentences, owner_project,
         owner_environment)
       values ($1, $2, $3, $4, $5, 'sandbox', $4, $6, $7, $7, '{openid}', 'patient', 1, 2, 'en', '{}', $5, 'sandbox')`,
      [`grant_${newUuid()}`, record, patient, app.id, workshop.project, issuer, subject],
    );
    return patient;
  }

  const timed = async (work: () => Promise<TokenAnswer>): Promise<{ answer: TokenAnswer; ms: number }> => {
    const begun = performance.now();
    const answer = await work();
    return { answer, ms: performance.now() - begun };
  };
  /** Returns everything in a response, with secrets masked, and without the values of headers that count or number requests. */
  const said = ({ status, headers, text }: TokenAnswer): string => {
    const changing = new Set(['date', 'ratelimit', 'service-request-id']);
    const named = [...headers].map(([name, value]) => `${name}: ${changing.has(name) ? '…' : value}`);
    return JSON.stringify([status, named, text.replace(/"auth_req_id":"[\w-]{43}"/, '"auth_req_id":"…"')]);
  };

  it('ORACLE-1: it learns nothing about persons, their addresses, records and muting', async function () {
    this.timeout(600_000);
    const hints = new Map<Kind, string[]>();
    for (const kind of KINDS) {
      const made: string[] = [];
      for (let n = 0; n < ROUNDS; n += 1) made.push(await hintFor(kind, n));
      hints.set(kind, made);
    }
    const seen: Seen[] = [];
    for (let n = 0; n < ROUNDS; n += 1) {
      // The order is different each time, so that no kind always comes after the same other kind.
      for (const kind of [...KINDS].sort(() => Math.random() - 0.5)) {
        const login_hint = hints.get(kind)?.[n];
        const asked = await timed(() => askAccess(journey, app, { login_hint, binding_message: 'W4SCT' }));
        const polled = await timed(() => pollAccess(journey, app, asked.answer));
        seen.push({ kind, answer: said(asked.answer) + said(polled.answer), ms: [asked.ms, polled.ms] });
      }
    }
    expect(seen[0]?.answer).to.include('authorization_pending');
    for (const { kind, answer } of seen) expect(answer, kind).to.equal(seen[0]?.answer);
    for (const which of [0, 1]) {
      const ranked = [...seen].sort((a, b) => (a.ms[which] ?? 0) - (b.ms[which] ?? 0));
      for (const kind of KINDS) {
        // The ranks of one kind among all answers (Wilcoxon). A deviation of five standard deviations happens by chance once
        // in a million times.
        const ranks = ranked.flatMap((each, index) => (each.kind === kind ? [index + 1] : []));
        const [own, all] = [ranks.length, ranked.length];
        const expected = (own * (all + 1)) / 2;
        const deviation = Math.sqrt((own * (all - own) * (all + 1)) / 12);
        const z = (ranks.reduce((sum, rank) => sum + rank, 0) - expected) / deviation;
        expect(
          Math.abs(z),
          `${kind}: ${which === 0 ? 'requests' : 'polls'} take another time`,
        ).to.be.lessThan(5);
      }
    }
  });

  it('sees a difference where there is one', () => {
    const answer = { status: 200, headers: new Headers({ a: 'b' }), text: '{}' };
    expect(said({ ...answer, headers: new Headers({ a: 'c' }) } as TokenAnswer)).not.to.equal(
      said(answer as TokenAnswer),
    );
    expect(said({ ...answer, text: '{"a":1}' } as TokenAnswer)).not.to.equal(said(answer as TokenAnswer));
  });
});
