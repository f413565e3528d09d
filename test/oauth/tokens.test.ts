import { randomUUID } from 'node:crypto';
import { expect } from 'chai';
import type { Pool, PoolClient } from 'pg';
import { STATEMENTS } from '#projections/consents/schema.ts';
import { Line } from '#queries/database/gather.ts';
import { forgetRecord, revokeToken, sweepTokens } from '#src/oauth/revoke.ts';
import { sha256 } from '#src/oauth/secrets.ts';
import { issueCode } from '#src/oauth/tokens/codes.ts';
import { exchangeCode } from '#src/oauth/tokens/exchange-code.ts';
import { introspectToken } from '#src/oauth/tokens/introspect.ts';
import { issueClientToken, issueGrantTokens } from '#src/oauth/tokens/issue-tokens.ts';
import type { Issued } from '#src/oauth/tokens/issued.ts';
import { findRefreshToken, refresh } from '#src/oauth/tokens/refresh.ts';
import { type FindTokenCaller, openTokenCallers, type TokenCaller } from '#src/oauth/tokens/tokens.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import {
  addGrant,
  addGrantedApplication,
  codeFor,
  type GrantedApplication,
  REDIRECT,
} from '#test/support/oauth-tokens.ts';
import { eventually } from '#test/support/process.ts';

const FULL = 'offline_access openid patient/*.rs';
const RESOURCE = 'https://api.example/fhir/R4';

describe('codes and tokens', () => {
  let database: TestDatabase;
  let line: Line;
  let find: FindTokenCaller;
  let app: GrantedApplication;
  before(async () => {
    database = await createMigratedDatabase();
    line = new Line(database.pool.options);
    find = openTokenCallers(line);
  });
  after(async () => {
    await line.close();
    await database.drop();
  });
  beforeEach(async () => {
    app = await addGrantedApplication(database.pool);
  });

  const callerOf = (token: string): Promise<TokenCaller | undefined> => find(sha256(token).toString('hex'));
  const exchanged = async (
    asked?: Parameters<typeof codeFor>[2],
  ): Promise<Issued & { refreshToken: string }> => {
    const { exchange } = await codeFor(database.pool, app, asked);
    return withRefresh(await exchangeCode(database.pool, exchange));
  };
  const withRefresh = (found: Issued | { fault: string }): Issued & { refreshToken: string } => {
    if ('fault' in found) throw new Error(found.fault);
    const { refreshToken } = found;
    if (refreshToken === undefined) throw new Error('no refresh token');
    return { ...found, refreshToken };
  };
  const refreshed = (token: string, scope = FULL) =>
    refresh(database.pool, { token, applicationId: app.applicationId, scope, resources: [] });

  it('exchanges a code for tokens of its grant, whose hashes alone are stored', async () => {
    const issued = await exchanged({ authTime: 1_700_000_000 });
    expect(issued).to.include({
      scope: FULL,
      expiresIn: 1800,
      grantId: app.grantId,
      patient: app.patient,
      subject: app.subject,
      own: true,
      authTime: 1_700_000_000,
    });
    expect(issued.accessToken).to.match(/^at_[\w-]{43}$/);
    expect(issued.refreshToken).to.match(/^rt_[\w-]{43}$/);
    const caller = await callerOf(issued.accessToken);
    expect(caller).to.deep.include({
      kind: 'grant',
      applicationId: app.applicationId,
      project: app.project,
      environment: 'sandbox',
      grantId: app.grantId,
      record: app.record,
      patient: app.patient,
      scopes: FULL.split(' '),
      resources: [],
    });
    expect(await callerOf(issued.refreshToken)).to.equal(undefined);
    const { rows } = await database.pool.query(
      'select row_to_json(t) as row from operations.oauth_token t union all select row_to_json(c) from operations.oauth_chain c',
    );
    const stored = JSON.stringify(rows);
    expect(stored).not.to.contain(issued.accessToken.slice(3));
    expect(stored).not.to.contain(issued.refreshToken.slice(3));
  });

  /** Returns the error for a reused token, which names the record whose log gets the note. */
  const reused = () => ({ fault: 'reused', reused: { record: app.record, grantId: app.grantId } });

  it('gives no refresh token without offline_access', async () => {
    const { exchange } = await codeFor(database.pool, app, { scope: 'patient/*.rs' });
    const issued = await exchangeCode(database.pool, exchange);
    expect(issued).to.include({ scope: 'patient/*.rs', refreshToken: undefined });
  });

  it('ends the tokens that a code gave when it is presented again', async () => {
    const { exchange } = await codeFor(database.pool, app);
    const issued = withRefresh(await exchangeCode(database.pool, exchange));
    expect(await exchangeCode(database.pool, exchange)).to.deep.equal(reused());
    expect(await callerOf(issued.accessToken)).to.equal(undefined);
    expect(await refreshed(issued.refreshToken)).to.deep.equal({ fault: 'ended' });
    const other = await exchangeCode(database.pool, { ...exchange, applicationId: 'app_other' });
    expect(other, 'by another client').to.deep.equal({ ...reused(), fault: 'unknown' });
  });

  it('gives tokens to one of parallel exchanges, and the others end them', async () => {
    const { exchange } = await codeFor(database.pool, app);
    const all = await Promise.all(Array.from({ length: 6 }, () => exchangeCode(database.pool, exchange)));
    const issued = all.flatMap((one) => ('fault' in one ? [] : [one]));
    expect(issued).to.have.length(1);
    expect(await callerOf(issued[0]?.accessToken ?? '')).to.equal(undefined);
  });

  const FAULTS = [
    ['redirect_uri', { redirectUri: 'https://app.example/other' }],
    ['redirect_uri', { redirectUri: undefined }],
    ['verifier', { challenge: 'a'.repeat(43) }],
    ['verifier', { challenge: undefined }],
    ['unknown', { applicationId: 'app_other' }],
    ['resource', { resources: ['https://api.example/v1'] }],
  ] as const;
  for (const [fault, changed] of FAULTS) {
    it(`uses up a code in an exchange with ${JSON.stringify(Object.keys(changed))} of another (${fault})`, async () => {
      const { exchange } = await codeFor(database.pool, app, { resources: [RESOURCE] });
      expect(await exchangeCode(database.pool, { ...exchange, ...changed })).to.deep.equal({ fault });
      for (const _ of [2, 3])
        expect(await exchangeCode(database.pool, exchange), 'no token ended').to.deep.equal({
          fault: 'reused',
        });
      const other = await exchangeCode(database.pool, { ...exchange, applicationId: 'app_other' });
      expect(other, 'by another client').to.deep.equal({ fault: 'unknown' });
    });
  }

  it('refuses an unknown and an expired code, and one whose grant has ended', async () => {
    const { exchange } = await codeFor(database.pool, app);
    expect(await exchangeCode(database.pool, { ...exchange, code: 'x' })).to.deep.equal({ fault: 'unknown' });
    await database.pool.query('update operations.oauth_code set expires_at = now() where sha256 = $1', [
      sha256(exchange.code),
    ]);
    expect(await exchangeCode(database.pool, exchange)).to.deep.equal({ fault: 'expired' });
    const other = await codeFor(database.pool, app);
    await endGrant();
    expect(await exchangeCode(database.pool, other.exchange)).to.deep.equal({ fault: 'ended' });
  });

  it('rotates refresh tokens, and ends the chain when a used one is presented', async () => {
    const first = await exchanged();
    const second = withRefresh(await refreshed(first.refreshToken));
    expect(await findRefreshToken(database.pool, first.refreshToken, app.applicationId)).to.include({
      current: false,
    });
    expect(await callerOf(first.accessToken)).to.include({ grantId: app.grantId });
    expect(await callerOf(second.accessToken)).to.include({ grantId: app.grantId });
    expect(await refreshed(first.refreshToken)).to.deep.equal(reused());
    expect(await callerOf(first.accessToken)).to.equal(undefined);
    expect(await callerOf(second.accessToken)).to.equal(undefined);
    expect(await refreshed(second.refreshToken)).to.deep.equal({ fault: 'ended' });
  });

  it('has exactly one winner among parallel refreshes, and ends the chain', async () => {
    const { refreshToken } = await exchanged();
    const all = await Promise.all(Array.from({ length: 6 }, () => refreshed(refreshToken)));
    const won = all.flatMap((one) => ('fault' in one ? [] : [one]));
    expect(won).to.have.length(1);
    expect(all.filter((one) => 'fault' in one && one.fault === 'reused')).to.have.length(5);
    expect(await callerOf(won[0]?.accessToken ?? '')).to.equal(undefined);
  });

  it('narrows the scope of an access token, and keeps that of the refresh token', async () => {
    const first = await exchanged();
    const narrow = withRefresh(await refreshed(first.refreshToken, 'patient/Observation.rs'));
    expect(await callerOf(narrow.accessToken)).to.deep.include({ scopes: ['patient/Observation.rs'] });
    const found = await findRefreshToken(database.pool, narrow.refreshToken, app.applicationId);
    expect(found).to.deep.equal({ scope: FULL, resources: [], current: true });
  });

  it("leaves other applications' refresh tokens alone", async () => {
    const { refreshToken } = await exchanged();
    const other = { token: refreshToken, applicationId: 'app_other', scope: FULL, resources: [] };
    expect(await refresh(database.pool, other)).to.deep.equal({ fault: 'unknown' });
    expect(await findRefreshToken(database.pool, refreshToken, 'app_other')).to.equal(undefined);
    withRefresh(await refreshed(refreshToken));
  });

  it('never lets a token outlive its grant', async () => {
    app = await addGrantedApplication(database.pool, { seconds: 600 });
    const issued = await exchanged();
    expect(issued.expiresIn).to.be.within(590, 600);
    const next = withRefresh(await refreshed(issued.refreshToken));
    expect(next.expiresIn).to.be.within(590, 600);
    const active = await introspectToken(database.pool, next.refreshToken);
    expect((active?.expiresAt ?? 0) * 1000 - Date.now()).to.be.below(600_000);
  });

  for (const [what, end] of [
    ['the grant ends', () => endGrant()],
    [
      'the grant expires',
      () =>
        database.pool.query('update consents.grants set expires_at = 1 where grant_id = $1', [app.grantId]),
    ],
    [
      'the application is deleted',
      () =>
        database.pool.query('update projects.application set deleted_at = 1 where id = $1', [
          app.applicationId,
        ]),
    ],
    [
      'its project is deleted',
      () => database.pool.query('update projects.project set deleted_at = 1 where id = $1', [app.project]),
    ],
    [
      "the record's project is deleted",
      () => database.pool.query('update projects.project set deleted_at = 1 where id = $1', [app.owner]),
    ],
  ] as const) {
    it(`refuses every token once ${what}`, async () => {
      const { accessToken, refreshToken } = await exchanged();
      const { exchange } = await codeFor(database.pool, app);
      await end();
      expect(await callerOf(accessToken)).to.equal(undefined);
      expect(await introspectToken(database.pool, accessToken)).to.equal(undefined);
      expect(await introspectToken(database.pool, refreshToken)).to.equal(undefined);
      expect(await refreshed(refreshToken)).to.deep.equal({ fault: 'ended' });
      expect(await exchangeCode(database.pool, exchange)).to.deep.equal({ fault: 'ended' });
    });
  }

  it('refuses expired access and refresh tokens', async () => {
    const { accessToken, refreshToken } = await exchanged();
    await database.pool.query('update operations.oauth_token set expires_at = now()');
    expect(await callerOf(accessToken)).to.equal(undefined);
    expect(await refreshed(refreshToken)).to.deep.equal({ fault: 'ended' });
  });

  it('revokes an access token alone, and a refresh token with its chain', async () => {
    const { accessToken, refreshToken } = await exchanged();
    await revokeToken(database.pool, accessToken, 'app_other');
    await revokeToken(database.pool, refreshToken, 'app_other');
    expect(await callerOf(accessToken)).to.include({ grantId: app.grantId });
    await revokeToken(database.pool, accessToken, app.applicationId);
    expect(await callerOf(accessToken)).to.equal(undefined);
    const next = withRefresh(await refreshed(refreshToken));
    await revokeToken(database.pool, next.refreshToken, app.applicationId);
    expect(await callerOf(next.accessToken)).to.equal(undefined);
    expect(await refreshed(next.refreshToken)).to.deep.equal({ fault: 'ended' });
  });

  it('describes active tokens', async () => {
    const { accessToken, refreshToken } = await exchanged({ resources: [RESOURCE] });
    const described = {
      applicationId: app.applicationId,
      clientId: app.clientId,
      scope: FULL,
      resources: [RESOURCE],
      grant: { grantId: app.grantId, patient: app.patient, subject: app.subject, own: true },
    };
    expect(await introspectToken(database.pool, accessToken)).to.deep.include({
      kind: 'access',
      ...described,
    });
    expect(await introspectToken(database.pool, refreshToken)).to.deep.include({
      kind: 'refresh',
      ...described,
    });
    expect(await introspectToken(database.pool, 'at_unknown')).to.equal(undefined);
    const next = withRefresh(await refreshed(refreshToken));
    expect(await introspectToken(database.pool, refreshToken)).to.equal(undefined);
    expect(await introspectToken(database.pool, next.refreshToken)).to.deep.include({ kind: 'refresh' });
  });

  it("issues the application's own tokens", async () => {
    const client = {
      applicationId: app.applicationId,
      project: app.project,
      environment: 'sandbox' as const,
    };
    const readOnly = await issueClientToken(database.pool, client, 'system/*.rs', []);
    expect(readOnly.expiresIn).to.equal(1800);
    expect(await callerOf(readOnly.accessToken)).to.deep.equal({
      kind: 'client',
      ...client,
      keyScopes: ['read'],
      resources: [],
    });
    const both = await issueClientToken(database.pool, client, 'system/*.cruds', [RESOURCE]);
    expect(await callerOf(both.accessToken)).to.deep.include({
      keyScopes: ['read', 'write'],
      resources: [RESOURCE],
    });
    expect(await introspectToken(database.pool, both.accessToken)).to.deep.include({ grant: undefined });
    await revokeToken(database.pool, readOnly.accessToken, app.applicationId);
    expect(await callerOf(readOnly.accessToken)).to.equal(undefined);
    await database.pool.query('update projects.application set deleted_at = 1 where id = $1', [
      app.applicationId,
    ]);
    expect(await callerOf(both.accessToken)).to.equal(undefined);
    expect(await introspectToken(database.pool, both.accessToken)).to.equal(undefined);
  });

  it('issues tokens of a grant without a code', async () => {
    const asked = {
      client: { applicationId: app.applicationId, project: app.project, environment: 'sandbox' as const },
      grantId: app.grantId,
      record: app.record,
      scope: FULL,
      resources: [],
    };
    const issued = await issueGrantTokens(database.pool, asked);
    expect(await callerOf(issued?.accessToken ?? '')).to.include({ grantId: app.grantId });
    withRefresh(await refreshed(issued?.refreshToken ?? ''));
    expect(await issueGrantTokens(database.pool, { ...asked, grantId: 'grant_unknown' })).to.equal(undefined);
    expect(await issueGrantTokens(database.pool, { ...asked, record: randomUUID() })).to.equal(undefined);
  });

  it('lets refresh tokens work as long as it is told, from each use on, never past the end of the grant', async () => {
    const days = async (token: string): Promise<number> => {
      const { rows } = await database.pool.query<{ days: number }>(
        `select (extract(epoch from t.expires_at - now()) / 86400)::float8 as days from operations.oauth_token t
          join operations.oauth_chain c on c.id = t.chain and c.expires_at >= t.expires_at
         where t.sha256 = sha256($1::bytea)`,
        [Buffer.from(token)],
      );
      return Math.round(rows[0]?.days ?? 0);
    };
    await database.pool.query(
      'update consents.grants set expires_at = (extract(epoch from now()) * 1000000)::int8 + 90::int8 * 86400000000 where grant_id = $1',
      [app.grantId],
    );
    const exchange = async (life?: number) => {
      const { exchange: asked } = await codeFor(database.pool, app);
      return withRefresh(await exchangeCode(database.pool, asked, life)).refreshToken;
    };
    for (const [life, expected] of [
      [undefined, 30],
      [1, 1],
      [60, 60],
      [400, 90],
    ] as const) {
      const token = await exchange(life);
      expect(await days(token)).to.equal(expected);
      await database.pool.query(
        "update operations.oauth_token set expires_at = now() + interval '1 hour' where kind = 'refresh'",
      );
      const next = await refresh(
        database.pool,
        { token, applicationId: app.applicationId, scope: FULL, resources: [] },
        life,
      );
      expect(await days('refreshToken' in next ? (next.refreshToken ?? '') : '')).to.equal(expected);
    }
  });

  it("says that a representative's grant isn't of the person's own record", async () => {
    app = { ...app, grantId: `${app.grantId}_2` };
    await addGrant(database.pool, app, { seconds: 60, grantedBy: 'representative' });
    expect(await exchanged()).to.include({ own: false });
  });

  it("deletes a record's codes and tokens, and those that have expired", async () => {
    const kept = await exchanged();
    const other = app;
    app = await addGrantedApplication(database.pool);
    const gone = await exchanged();
    await codeFor(database.pool, app);
    const rows = async (record: string): Promise<number> => {
      const counted = await database.pool.query<{ n: number }>(
        `select (count(c.id) + count(k.sha256) + count(t.sha256))::int4 as n from operations.oauth_chain c
           left join operations.oauth_code k on k.chain = c.id left join operations.oauth_token t on t.chain = c.id
          where c.record = $1`,
        [record],
      );
      return counted.rows[0]?.n ?? 0;
    };
    await forgetRecord(database.pool, app.record);
    expect(await rows(app.record)).to.equal(0);
    expect(await callerOf(gone.accessToken)).to.equal(undefined);
    await sweepTokens(database.pool);
    expect(await rows(other.record)).to.be.greaterThan(0);
    expect(await callerOf(kept.accessToken)).to.include({ record: other.record });
    await database.pool.query(
      "update operations.oauth_chain set expires_at = now() - interval '1 s' where record = $1",
      [other.record],
    );
    await sweepTokens(database.pool);
    expect(await rows(other.record)).to.equal(0);
  });

  describe('while the record is purged', () => {
    const client = () => ({
      applicationId: app.applicationId,
      project: app.project,
      environment: 'sandbox' as const,
    });
    const ISSUES = {
      'a code': (pool: Pick<Pool, 'query'>) =>
        issueCode(pool, {
          ...{ client: client(), grantId: app.grantId, record: app.record, redirectUri: REDIRECT },
          ...{ challenge: 'a'.repeat(43), scope: FULL, resources: [] },
        }),
      'the tokens of a grant': (pool: Pick<Pool, 'query'>) =>
        issueGrantTokens(pool, {
          ...{ client: client(), grantId: app.grantId, record: app.record, scope: FULL, resources: [] },
        }),
    };
    /** Does what the read model does at `RecordErased`. */
    const erase = (at: Pick<Pool, 'query'>) =>
      at.query(STATEMENTS.erasure('consents'), [JSON.stringify([{ record: app.record }])]);
    const chains = async () =>
      (await database.pool.query('select from operations.oauth_chain where record = $1', [app.record]))
        .rowCount;
    /** Waits until a statement is blocked by a lock that the given connection holds. */
    const waitedFor = async (connection: PoolClient): Promise<void> => {
      const { rows } = await connection.query<{ pid: number }>('select pg_backend_pid() as pid');
      await eventually(async () => {
        const found = await database.pool.query(
          'select from pg_stat_activity where $1 = any(pg_blocking_pids(pid))',
          [rows[0]?.pid],
        );
        return (found.rowCount ?? 0) > 0;
      });
    };
    for (const [what, issue] of Object.entries(ISSUES)) {
      it(`writes ${what} before the grant's row is deleted, so that the purge deletes both`, async () => {
        const slow = await database.pool.connect();
        try {
          await slow.query('begin');
          expect(await issue(slow)).not.to.equal(undefined);
          const erased = erase(database.pool).then(() => forgetRecord(database.pool, app.record));
          await waitedFor(slow);
          await slow.query('commit');
          await erased;
        } finally {
          slow.release();
        }
        expect(await chains()).to.equal(0);
      });

      it(`does not write ${what} when the grant's row is deleted meanwhile`, async () => {
        const purge = await database.pool.connect();
        try {
          await purge.query('begin');
          await erase(purge);
          const issued = issue(database.pool);
          await waitedFor(purge);
          await purge.query('commit');
          await forgetRecord(database.pool, app.record);
          expect(await issued).to.equal(undefined);
        } finally {
          purge.release();
        }
        expect(await chains()).to.equal(0);
      });

      it(`leaves no row of ${what} in a race with a purge`, async () => {
        for (let round = 0; round < 20; round++) {
          app = await addGrantedApplication(database.pool);
          const issued = Promise.all(Array.from({ length: 3 }, () => issue(database.pool)));
          await erase(database.pool);
          await forgetRecord(database.pool, app.record);
          await issued;
          expect(await chains()).to.equal(0);
        }
      });
    }
  });

  it('issues no code for a grant that has ended, or of another record', async () => {
    const of = async (asked: Parameters<typeof codeFor>[2]) => {
      try {
        await codeFor(database.pool, app, asked);
      } catch (error) {
        return String(error);
      }
    };
    expect(await of({ record: randomUUID() })).to.include('the grant has ended');
    expect(await of({})).to.equal(undefined);
    await endGrant();
    expect(await of({})).to.include('the grant has ended');
  });

  async function endGrant(): Promise<void> {
    await database.pool.query(
      "update consents.grants set ended_at = 1, end_reason = 'patient' where grant_id = $1",
      [app.grantId],
    );
  }
});
