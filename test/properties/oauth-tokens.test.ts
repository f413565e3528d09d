/**
 * The life of tokens, with two instances in separate processes that are killed in the middle of operations. There are never
 * two live refresh tokens in one chain, and no access token outlives its grant or its revocation.
 */
import { expect } from 'chai';
import fc from 'fast-check';
import { z } from 'zod';
import { Line } from '#queries/database/gather.ts';
import { sha256 } from '#src/oauth/secrets.ts';
import { introspectToken } from '#src/oauth/tokens/introspect.ts';
import { type FindTokenCaller, openTokenCallers } from '#src/oauth/tokens/tokens.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import {
  addGrantedApplication,
  type CodeInHand,
  codeFor,
  type GrantedApplication,
} from '#test/support/oauth-tokens.ts';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { type Outcome, TokenInstance } from '#test/support/token-instances.ts';

const FULL = 'offline_access openid patient/*.rs';
const NARROW = 'patient/Observation.rs';

const issuedSchema = z.object({
  accessToken: z.string(),
  refreshToken: z.string(),
  expiresIn: z.number(),
  scope: z.string(),
});
const faultSchema = z.object({ fault: z.string() });

/** The facts that the test knows about a chain. */
interface Chain {
  readonly code: CodeInHand;
  readonly access: { readonly token: string; readonly scope: string; revoked: boolean; expired: boolean }[];
  /** The chain's refresh tokens, in the order in which they were issued. */
  readonly refresh: string[];
  /** True if a used token was presented, or a refresh token was revoked: no token of the chain may work any longer. */
  ended: boolean;
  /** True if a response was lost: the newest known token might not be the newest. */
  unsure: boolean;
}

type Step =
  | { readonly does: 'code' | 'grant-ends' | 'grant-expires' | 'application-deleted' | 'tokens-expire' }
  | { readonly does: 'exchange'; readonly chain: number; readonly at: 0 | 1; readonly kill: boolean }
  | {
      readonly does: 'refresh';
      readonly chain: number;
      /** 0 is the newest. */
      readonly back: number;
      /** Number of simultaneous requests, alternating between the instances. */
      readonly times: number;
      readonly narrow: boolean;
      readonly at: 0 | 1;
      readonly kill: boolean;
    }
  | {
      readonly does: 'revoke-access' | 'revoke-refresh';
      readonly chain: number;
      readonly at: 0 | 1;
      readonly kill: boolean;
    };

const at = fc.constantFrom<0 | 1>(0, 1);
const chain = fc.nat({ max: 2 });
const kill = fc.nat({ max: 7 }).map((n) => n === 0);
const steps = fc.array(
  fc.oneof(
    { weight: 2, arbitrary: fc.record({ does: fc.constant('code' as const) }) },
    { weight: 3, arbitrary: fc.record({ does: fc.constant('exchange' as const), chain, at, kill }) },
    {
      weight: 8,
      arbitrary: fc.record({
        does: fc.constant('refresh' as const),
        chain,
        back: fc.constantFrom(0, 0, 0, 0, 1),
        times: fc.constantFrom(1, 1, 1, 2, 3),
        narrow: fc.boolean(),
        at,
        kill,
      }),
    },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('revoke-access' as const), chain, at, kill }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('revoke-refresh' as const), chain, at, kill }) },
    { weight: 1, arbitrary: fc.record({ does: fc.constant('tokens-expire' as const) }) },
    {
      weight: 1,
      arbitrary: fc.record({
        does: fc.constantFrom(
          'grant-ends' as const,
          'grant-expires' as const,
          'application-deleted' as const,
        ),
      }),
    },
  ),
  { minLength: 8, maxLength: 24 },
);

/** A life that contains everything that the property must have tested. */
const USUAL: Step[] = [
  { does: 'exchange', chain: 0, at: 0, kill: false },
  { does: 'refresh', chain: 0, back: 0, times: 1, narrow: false, at: 1, kill: false },
  { does: 'refresh', chain: 0, back: 0, times: 1, narrow: true, at: 0, kill: false },
  { does: 'refresh', chain: 0, back: 1, times: 1, narrow: false, at: 1, kill: false },
  { does: 'code' },
  { does: 'exchange', chain: 1, at: 1, kill: true },
];

describe('the life of tokens', () => {
  let database: TestDatabase;
  let line: Line;
  let find: FindTokenCaller;
  let instances: readonly [TokenInstance, TokenInstance];
  /** How often each thing happened, to show that the property isn't vacuous. */
  const seen = new Map<string, number>();
  const note = (what: string): void => void seen.set(what, (seen.get(what) ?? 0) + 1);

  before(async () => {
    database = await createMigratedDatabase();
    line = new Line(database.pool.options);
    find = openTokenCallers(line);
    instances = [new TokenInstance(database.url), new TokenInstance(database.url)];
  });
  after(async () => {
    await Promise.all(instances.map((instance) => instance.kill()));
    await line.close();
    await database.drop();
  });

  it('has one live refresh token a chain, and no access token beyond its grant or revocation', async () => {
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        const run = new Run(await addGrantedApplication(database.pool));
        await run.newCode();
        for (const step of all) {
          await run.take(step);
          await run.check();
        }
      }),
      { numRuns: scaled(40, 2), examples: [[USUAL]], endOnFailure: true, seed: steadySeed() },
    );
    // Repeated until a response is lost, because a kill may come after the response.
    while (!seen.has('lost')) {
      const run = new Run(await addGrantedApplication(database.pool));
      await run.newCode();
      await run.take({ does: 'exchange', chain: 0, at: 0, kill: true });
      await run.check();
    }
    for (const what of ['exchanged', 'refreshed', 'reused', 'lost'])
      expect(seen.get(what), what).to.be.greaterThan(0);
  });

  class Run {
    readonly chains: Chain[] = [];
    over = false;

    constructor(readonly app: GrantedApplication) {}

    /** Gets a code; after the grant has ended, checks that no code is issued. */
    async newCode(): Promise<void> {
      if (this.over) {
        const refused = await codeFor(database.pool, this.app, { scope: FULL }).catch(String);
        expect(refused).to.include('the grant has ended');
        return;
      }
      const code = await codeFor(database.pool, this.app, { scope: FULL });
      this.chains.push({ code, access: [], refresh: [], ended: false, unsure: false });
    }

    async take(step: Step): Promise<void> {
      if (step.does === 'code') return this.newCode();
      if ('chain' in step) {
        const one = this.chains[step.chain % this.chains.length];
        if (one !== undefined) await this.onChain(step, one);
        return;
      }
      if (step.does === 'tokens-expire') {
        await database.pool.query(
          `update operations.oauth_token set expires_at = now()
            where kind = 'access' and chain in (select id from operations.oauth_chain where grant_id = $1)`,
          [this.app.grantId],
        );
        for (const { access } of this.chains) for (const token of access) token.expired = true;
        return;
      }
      this.over = true;
      note(step.does);
      const { grantId, applicationId } = this.app;
      if (step.does === 'application-deleted')
        await database.pool.query('update projects.application set deleted_at = 1 where id = $1', [
          applicationId,
        ]);
      else {
        const change = step.does === 'grant-ends' ? "ended_at = 1, end_reason = 'patient'" : 'expires_at = 1';
        await database.pool.query(`update consents.grants set ${change} where grant_id = $1`, [grantId]);
      }
    }

    async onChain(step: Extract<Step, { chain: number }>, one: Chain): Promise<void> {
      const { applicationId } = this.app;
      const instance = instances[step.at];
      const lose = step.kill ? [...instances] : [];
      const asked = async (work: Promise<Outcome>[]): Promise<Outcome[]> => {
        // The operation may be at any stage: not sent yet, in the database, committed, or answered.
        if (step.kill) await new Promise(setImmediate);
        const [outcomes] = await Promise.all([Promise.all(work), ...lose.map((each) => each.kill())]);
        return outcomes;
      };
      if (step.does === 'exchange') {
        const [outcome] = await asked([instance.ask({ does: 'exchange', asked: one.code.exchange })]);
        this.exchanged(one, outcome ?? 'lost');
      } else if (step.does === 'refresh') {
        const token = one.refresh.at(-1 - step.back);
        if (token === undefined) return;
        const scope = step.narrow ? NARROW : FULL;
        const work = Array.from({ length: step.times }, (_, n) =>
          instances[((step.at + n) % 2) as 0 | 1].ask({
            does: 'refresh',
            asked: { token, applicationId, scope, resources: [] },
          }),
        );
        this.refreshed(one, await asked(work), step.back === 0, scope);
      } else {
        const isAccess = step.does === 'revoke-access';
        const known = one.access.at(-1);
        const token = isAccess ? known?.token : one.refresh.at(-1);
        if (token === undefined || known === undefined) return;
        const [outcome] = await asked([instance.ask({ does: 'revoke', token, applicationId })]);
        if (outcome === 'lost') {
          note('lost');
          one.unsure = true;
        } else if (isAccess) known.revoked = true;
        else one.ended = true;
      }
    }

    exchanged(one: Chain, outcome: Outcome): void {
      if (outcome === 'lost') {
        note('lost');
        // The tokens that the lost response may have contained are unknown. Another exchange ends them, even an exchange that
        // the database completes before this one.
        one.unsure = true;
        return;
      }
      const issued = issuedSchema.safeParse(outcome.result);
      if (issued.success) {
        note('exchanged');
        expect(this.over, 'a code was exchanged after its grant had ended').to.equal(false);
        expect(one.access, 'a code gave tokens twice').to.have.length(0);
        this.keep(one, issued.data);
      } else {
        faultSchema.parse(outcome.result);
        // The code was already used, or has been used up by this exchange.
        one.ended = true;
      }
    }

    refreshed(one: Chain, outcomes: readonly Outcome[], newest: boolean, scope: string): void {
      const won = outcomes.flatMap((outcome) => {
        if (outcome === 'lost') return [];
        const issued = issuedSchema.safeParse(outcome.result);
        return issued.success ? [issued.data] : [];
      });
      const lost = outcomes.filter((outcome) => outcome === 'lost').length;
      expect(won.length, 'several refreshes won').to.be.at.most(1);
      if (won.length > 0) {
        expect(this.over || one.ended, 'a refresh after the end').to.equal(false);
        expect(newest, 'a used refresh token gave tokens').to.equal(true);
      }
      for (const issued of won) {
        note('refreshed');
        expect(issued.scope).to.equal(scope);
        this.keep(one, issued);
      }
      if (lost > 0) {
        note('lost');
        one.unsure = true;
      }
      const reused = outcomes.some(
        (outcome) => outcome !== 'lost' && faultSchema.safeParse(outcome.result).data?.fault === 'reused',
      );
      if (reused) {
        note('reused');
        one.ended = true;
      }
      if (!this.over && !one.ended && !one.unsure)
        expect(won.length, 'a live refresh token was refused').to.equal(1);
      if (!newest && lost === 0) one.ended = true;
    }

    keep(one: Chain, { accessToken, refreshToken, scope }: z.infer<typeof issuedSchema>): void {
      one.access.push({ token: accessToken, scope, revoked: false, expired: false });
      one.refresh.push(refreshToken);
    }

    async check(): Promise<void> {
      for (const one of this.chains) {
        for (const { token, scope, revoked, expired } of one.access) {
          const caller = await find(sha256(token).toString('hex'));
          const may = !(this.over || one.ended || revoked || expired);
          if (!may) expect(caller, 'an access token outlives its grant or revocation').to.equal(undefined);
          else if (!one.unsure) expect(caller, 'a live access token is refused').not.to.equal(undefined);
          if (caller?.kind === 'grant') expect(caller.scopes.join(' ')).to.equal(scope);
        }
        const live: string[] = [];
        for (const token of one.refresh)
          if ((await introspectToken(database.pool, token)) !== undefined) live.push(token);
        expect(live.length, 'two live refresh tokens in one chain').to.be.at.most(1);
        if (this.over || one.ended) expect(live, 'a refresh token outlives its chain').to.deep.equal([]);
        if (live.length > 0)
          expect(live, 'an earlier refresh token is live').to.deep.equal(one.refresh.slice(-1));
      }
    }
  }
});
