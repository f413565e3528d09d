/** `annal dev-token` next to a running service. */
import { expect } from 'chai';
import { DevIssuer } from '#src/dev-issuer/dev-issuer.ts';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';

describe('annal dev-token', () => {
  let service: InProcess;

  before(async () => {
    service = await startInProcess();
  });

  after(async () => {
    await service.stop();
    await removeTemporaryFolders();
  });

  const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}) =>
    runCommand(['dev-token', ...args], {
      DATABASE_URL: service.databaseUrl,
      MODE: '',
      OIDC_ISSUERS: '',
      ...env,
    });

  it('prints a token and nothing else, which opens the admin interface', async () => {
    const { code, stdout, stderr } = await run(['--email', 'Developer@Example.org']);
    expect([code, stderr]).to.deep.equal([0, '']);
    expect(stdout).to.match(/^eyJ[\w-]+\.[\w-]+\.[\w-]+\n$/);
    const config = await service.fhir(`${service.url}/admin/config`, { key: stdout.trim() });
    expect(config.status, String(config)).to.equal(200);
  });

  it('says with --json whom it speaks of', async () => {
    const { stdout } = await run(['--email', 'developer@example.org', '--json']);
    const { id_token: token, subject, ...others } = JSON.parse(stdout) as Record<string, string>;
    expect(others).to.deep.equal({
      expires_in: 3600,
      issuer: `${service.url}/dev`,
      email: 'developer@example.org',
    });
    const claims = JSON.parse(Buffer.from(token?.split('.')[1] ?? '', 'base64url').toString()) as Record<
      string,
      unknown
    >;
    expect(claims).to.include({ sub: subject, name: 'Dana Developer', email_verified: true });
  });

  it('gives a person whom the history of an organization names', async () => {
    const { stdout } = await run(['--email', 'founder@example.org', '--json']);
    const { id_token: token, issuer, subject } = JSON.parse(stdout) as Record<string, string>;
    const created = await service.fhir(`${service.url}/admin/organizations`, {
      method: 'POST',
      key: token ?? '',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'General Hospital' }),
    });
    expect(created.status, String(created)).to.equal(201);
    const stream = `organization-${String(created.json.id)}`;
    const env = { DATABASE_URL: service.databaseUrl };
    const told = JSON.parse((await runCommand(['history', stream, '--json'], env)).stdout) as {
      events: { credential: object }[];
    };
    expect(told.events.at(-1)?.credential).to.include({ kind: 'id_token', key_id: null, issuer, subject });
    expect((await runCommand(['history', stream], env)).stdout).to.include('founder@example.org');
  });

  it('makes one key, also when several processes need it at once', async () => {
    await service.pool.query('UPDATE operations.dev_issuer SET private_key = NULL');
    const issuers = Array.from({ length: 4 }, () => new DevIssuer(service.pool, `${service.url}/dev`));
    const kids = await Promise.all(issuers.map(async (issuer) => (await issuer.jwks()).keys[0]?.kid));
    expect(kids[0]).to.match(/^[\w-]{43}$/);
    expect(new Set(kids).size).to.equal(1);
  });

  it('refuses what it cannot do with a sentence', async () => {
    const empty = await temporaryFolder();
    const cases: [string[], Record<string, string>, number, RegExp][] = [
      [[], {}, 2, /needs either --email/],
      [['--email', 'nobody'], {}, 2, /--email must be an e-mail address/],
      [
        ['--email', 'a@example.org'],
        { MODE: 'production' },
        1,
        /the development issuer is off with MODE=production/,
      ],
      [
        ['--email', 'a@example.org'],
        { OIDC_ISSUERS: 'https://login.example.org x' },
        1,
        /sign in at https:\/\/login\.example\.org/,
      ],
      [['--email', 'a@example.org'], { OIDC_ISSUERS: 'nonsense' }, 1, /OIDC_ISSUERS entry 1 must be/],
      [['--email', 'a@example.org'], { DATABASE_URL: '', DATA_DIR: empty }, 1, /no service is running on/],
    ];
    for (const [args, env, expected, message] of cases) {
      const { code, stdout, stderr } = await run(args, env);
      expect([code, stdout], stderr).to.deep.equal([expected, '']);
      expect(stderr).to.match(message);
    }
  });

  it('refuses when the service has issuers, though the command does not know', async () => {
    const other = await startInProcess({}, { OIDC_ISSUERS: 'https://login.example.org annal' });
    try {
      const { code, stderr } = await run(['--email', 'a@example.org'], { DATABASE_URL: other.databaseUrl });
      expect(code).to.equal(1);
      expect(stderr).to.match(/the development issuer is off/);
    } finally {
      await other.stop();
    }
  });

  it('explains itself', async () => {
    const { code, stdout } = await runCommand(['dev-token', '--help'], {});
    expect(code).to.equal(0);
    expect(stdout).to.include('--email <address>');
  });
});
