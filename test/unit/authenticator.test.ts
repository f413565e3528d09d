/** Readings that are prepared while the database is asked whose credential it is. */
import { expect } from 'chai';
import type { Context } from 'koa';
import { Authenticator, readAs } from '#src/http/credentials.ts';
import type { Caller } from '#src/shared/caller.ts';
import { Refusal } from '#src/shared/refusal.ts';

const KEY = `sk_test_${'k'.repeat(43)}`;
const CALLER: Caller = {
  kind: 'api_key',
  tenant: { project: 'prj_one', environment: 'sandbox' },
  tenantId: 'one',
  keyId: 'key_one',
  scopes: ['read'],
};

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
      },
      'http://localhost:3000',
      () => {
        counted += 1;
        return admit();
      },
    );
  });

  const ctx = () => ({ state: {} }) as Context;
  const ask = (context = ctx()) =>
    readAs(authenticator.begin(KEY, context), async ({ tenantId }) => {
      read.push(tenantId);
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
    expect(read).to.deep.equal(['asked', 'one', 'asked', 'one']);
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

  it('is read for again when it stands for another project', async () => {
    await ask();
    known = { ...CALLER, tenantId: 'two' };
    read = [];
    await ask();
    expect(read).to.deep.equal(['asked', 'one', 'two']);
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
    known = { ...CALLER, scopes: ['write'] };
    expect(await refusal(ask())).to.equal('forbidden');
  });
});

function raise(error: Error): never {
  throw error;
}
