/** `annal oauth-keys`. */
import { expect } from 'chai';
import { SigningKeys } from '#src/oauth/signing-keys.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { runAnnal } from '#test/support/process.ts';

describe('annal oauth-keys', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createMigratedDatabase();
  });
  after(() => database.drop());

  const annal = (...args: string[]) => runAnnal(database.url, ...args);

  it('lists keys and rotates them, without a restart of any instance', async () => {
    expect((await annal('oauth-keys')).stdout).to.contain('There are no keys');
    const instance = new SigningKeys(database.pool);
    const { kid } = await instance.signing();
    const rotated = await annal('oauth-keys', 'rotate', '--json');
    expect(rotated.code, rotated.stderr).to.equal(0);
    const [next, before] = JSON.parse(rotated.stdout) as { kid: string; status: string }[];
    expect(next).to.include({ status: 'waiting' });
    expect(before).to.include({ kid, status: 'signing' });
    const replaced = await annal('oauth-keys', 'rotate', '--now', '--json');
    const [now, ...others] = JSON.parse(replaced.stdout) as { kid: string }[];
    expect(others).to.deep.equal([]);
    expect((await instance.signing()).kid).to.equal(now?.kid);
    const listed = await annal('oauth-keys', 'list');
    expect(listed.stdout).to.contain(now?.kid).and.contain('signing');
    expect(listed.stdout).not.to.match(/"d"|private/i);
  });

  it('refuses other words', async () => {
    for (const args of [['drop'], ['list', '--now']])
      expect((await annal('oauth-keys', ...args)).code).to.equal(2);
  });
});
