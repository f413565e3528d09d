/** Answers that are prepared while the database is being asked whose credential it is. */
import { expect } from 'chai';
import type { Context } from 'koa';
import { Authenticator, readAs } from '#src/http/credentials.ts';
import { type Caller, ownCaller, type Tenant } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { Refusal } from '#src/shared/refusal.ts';

const KEY = `sk_test_${'k'.repeat(43)}`;
const ONE: Tenant = { project: 'prj_one', environment: 'sandbox' };
const TWO: Tenant = { project: 'prj_two', environment: 'sandbox' };
const SCOPES = ['read'] as const;
const CALLER = ownCaller(ONE, { kind: 'api_key', keyId: 'key_one' }, SCOPES);

describe('a credential that is checked', () => {
  let known: Caller | undefined;
  let admit: () => void | Promise<void>;
  let counted: number;
  let read: string[];
  let authenticator: Authenticator;

  beforeEach(() => {
    [known, admit, counted, read] = [CALLER, () => undefined, 0, []];
    authenticator = new Authenticator(
      {
        apiKey: async () => {
          read.push('asked');
          return known;
        },
        token: async () => undefined,
        identify: async () => {
          throw new Error('no ID token is sent');
        },
      },
      'http://localhost:3000',
      () => {
        counted += 1;
        return admit();
      },
    );
  });

  const ctx = () => ({ state: {} }) as Context;
  const ask = (context = ctx(), key = KEY) =>
    readAs(authenticator.begin(key, context), async ({ calls, sees }) => {
      read.push(`${calls.project.project} ${sees.owner.project}`);
      return read.length;
    });
  const refusal = async (asked: Promise<unknown>) => {
    const error = await asked.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    return error instanceof Refusal ? error.kind : error;
  };

  it('is read for once, and counted once, whether it was seen before or not', async () => {
    const context = ctx();
    await ask(context);
    await ask();
    expect(read).to.deep.equal(['asked', 'prj_one prj_one', 'asked', 'prj_one prj_one']);
    expect([counted, context.state.caller]).to.deep.equal([2, CALLER]);
  });

  it('gives nothing once it is revoked, and is nobody then', async () => {
    await ask();
    known = undefined;
    const context = ctx();
    expect(await refusal(ask(context))).to.equal('unauthenticated');
    expect(context.state.caller).to.equal(undefined);
    read = [];
    expect(await refusal(ask())).to.equal('unauthenticated');
    expect(read).to.deep.equal(['asked']);
  });

  it('has nothing read for it while it is throttled, and is known all the same', async () => {
    const throttled = () => new Refusal('throttled', { code: 'throttled', diagnostics: 'later' });
    await ask();
    for (const refuse of [() => Promise.reject(throttled()), () => raise(throttled())]) {
      [admit, read] = [refuse, []];
      const context = ctx();
      expect(await refusal(ask(context))).to.equal('throttled');
      expect([read, context.state.caller]).to.deep.equal([['asked'], CALLER]);
    }
  });

  it('is read for again when who calls is another, or what it sees', async () => {
    const two = ownCaller(TWO, CALLER.calls.credential, SCOPES);
    const other = ownCaller(ONE, { kind: 'api_key', keyId: 'key_two' }, SCOPES);
    const more = ownCaller(ONE, CALLER.calls.credential, ['read', 'write']);
    for (const [next, again] of [
      [{ ...CALLER, sees: two.sees }, 'prj_one prj_two'],
      [{ ...CALLER, calls: two.calls }, 'prj_two prj_one'],
      [two, 'prj_two prj_two'],
      [other, 'prj_one prj_one'],
      [more, 'prj_one prj_one'],
    ] as const) {
      known = CALLER;
      const key = `sk_test_${newUuid()}`;
      await ask(ctx(), key);
      [known, read] = [next, []];
      await ask(ctx(), key);
      expect(read).to.deep.equal(['asked', 'prj_one prj_one', again]);
    }
  });

  it('is read for again under a grant: what is within it may have changed', async () => {
    const within = { record: newUuid(), patient: newUuid(), access: { types: new Map() }, purpose: null };
    known = { ...CALLER, sees: { ...CALLER.sees, within } };
    await ask();
    read = [];
    await ask();
    expect(read).to.deep.equal(['asked', 'prj_one prj_one', 'prj_one prj_one']);
  });

  it('is refused first, whatever the reading throws at once', async () => {
    await ask();
    const wrong = () => raise(new Refusal('malformed', { code: 'value', diagnostics: 'wrong' }));
    known = undefined;
    expect(await refusal(readAs(authenticator.begin(KEY, ctx()), wrong))).to.equal('unauthenticated');
    known = CALLER;
    await ask();
    const context = ctx();
    expect(await refusal(readAs(authenticator.begin(KEY, context), wrong))).to.equal('malformed');
    expect(context.state.caller).to.equal(CALLER);
  });

  it('is refused without the scope, whatever was prepared', async () => {
    await ask();
    known = ownCaller(ONE, CALLER.calls.credential, ['write']);
    expect(await refusal(ask())).to.equal('forbidden');
  });
});

function raise(error: Error): never {
  throw error;
}
