import { resolve } from 'node:path';
import { expect } from 'chai';
import { ConfigError, configurationTable, loadConfig } from '#src/config.ts';
import { misspeltSettings } from '#src/misspelt.ts';

function faultsOf(env: Record<string, string>): string {
  try {
    loadConfig(env);
  } catch (error) {
    expect(error).to.be.instanceOf(ConfigError);
    return (error as ConfigError).message;
  }
  throw new Error('it was accepted');
}

describe('configuration', () => {
  it('needs no variable', () => {
    const config = loadConfig({});
    expect(config).to.deep.include({
      port: 3000,
      host: '127.0.0.1',
      baseUrl: 'http://localhost:3000',
      dataDir: resolve('.annal'),
      databaseUrl: undefined,
      eventStoreUrl: undefined,
      mode: 'development',
      productionAccess: 'request',
      logLevel: 'info',
    });
    expect(loadConfig({ MODE: 'production' }).productionAccess).to.equal('request');
    expect(config.limits).to.deep.equal({
      bodyBytes: 10_000_000,
      bundleBytes: 25_000_000,
      bundleEntries: 5_000,
      documentBytes: 100_000_000,
      answerBytes: 50_000_000,
      answerResources: 20_000,
      answerSeconds: 60,
      answerMemoryBytes: 300_000_000,
      bodyMemoryBytes: 300_000_000,
      connectionsPerAddress: 256,
    });
    expect(config.documentsBucket).to.equal(undefined);
  });

  it('takes a bucket for documents, and its keys both or none', () => {
    const bucket = { DOCUMENTS_S3_BUCKET: 'annal', DOCUMENTS_S3_ENDPOINT: 'https://s3.example' };
    expect(loadConfig(bucket).documentsBucket).to.deep.equal({
      bucket: 'annal',
      region: 'us-east-1',
      endpoint: 'https://s3.example',
      credentials: undefined,
    });
    expect(() => loadConfig({ ...bucket, DOCUMENTS_S3_ACCESS_KEY_ID: 'a' })).to.throw(
      ConfigError,
      'together',
    );
    // Otherwise documents would silently be stored on this machine.
    const keys = { DOCUMENTS_S3_ACCESS_KEY_ID: 'a', DOCUMENTS_S3_SECRET_ACCESS_KEY: 'b' };
    for (const withoutBucket of [{ DOCUMENTS_S3_ENDPOINT: 'https://s3.example' }, keys])
      expect(() => loadConfig(withoutBucket)).to.throw(ConfigError, 'DOCUMENTS_S3_BUCKET is missing');
    expect(loadConfig({ DOCUMENTS_S3_REGION: 'eu-north-1' }).documentsBucket).to.equal(undefined);
  });

  it('takes an empty variable for an absent one', () => {
    expect(loadConfig({ PORT: '', DATABASE_URL: ' ' })).to.deep.equal(loadConfig({}));
  });

  it('takes hosts that exist, and names what is wrong with others', () => {
    for (const host of ['0.0.0.0', '::', 'fd00::7', 'localhost', 'annal-1.internal', 'host_a'])
      expect(loadConfig({ HOST: host }).host, host).to.equal(host);
    for (const host of [
      '300.1.1.1',
      '127.1',
      '1.2.3.4.5',
      'a b',
      'http://localhost',
      'localhost:3000',
      '[::1]',
      'a/b',
    ])
      expect(faultsOf({ HOST: host }), host).to.match(/^HOST must be an IP address of this machine/);
    expect(faultsOf({ HOST: 'fe80::1%eth0' })).to.match(/^BASE_URL is missing/);
    expect(loadConfig({ HOST: 'fe80::1%eth0', BASE_URL: 'http://a.example' }).host).to.equal('fe80::1%eth0');
  });

  it('finds variables that were probably meant as settings', () => {
    const found = (env: Record<string, string>) =>
      misspeltSettings(env).map(({ name, setting }) => `${name} ${setting}`);
    expect(
      found({
        DATABSE_URL: 'x',
        OIDC_ISSUER: 'x',
        LOGLEVEL: 'x',
        base_url: 'x',
        PRT: 'x',
        WEBHOOK_TIMEOUT_SECOND: 'x',
      }),
    ).to.deep.equal([
      'DATABSE_URL DATABASE_URL',
      'OIDC_ISSUER OIDC_ISSUERS',
      'LOGLEVEL LOG_LEVEL',
      'base_url BASE_URL',
      'PRT PORT',
      'WEBHOOK_TIMEOUT_SECOND WEBHOOK_TIMEOUT_SECONDS',
    ]);
    expect(found({ DATABSE_URL: 'x', DATABASE_URL: 'y' })).to.deep.equal([]);
    expect(found({ NODE: '/usr/bin/node' }), 'npm sets it').to.deep.equal([]);
    const usual = [
      'PATH',
      'HOME',
      'HOSTNAME',
      'USER',
      'LOGNAME',
      'LANG',
      'TERM',
      'PWD',
      'SHELL',
      'NODE_ENV',
      'TMPDIR',
    ];
    const others = [
      'OTEL_EXPORTER_OTLP_HEADERS',
      'OTEL_SERVICE_NAME',
      'ANNAL_KEY',
      'PGPASSWORD',
      'AWS_REGION',
      'INIT_CWD',
    ];
    expect(found(Object.fromEntries([...usual, ...others].map((name) => [name, 'x'])))).to.deep.equal([]);
  });

  it('makes the base URL from host and port', () => {
    expect(loadConfig({ HOST: '0.0.0.0', PORT: '8080' }).baseUrl).to.equal('http://localhost:8080');
    expect(loadConfig({ HOST: '10.0.0.7' }).baseUrl).to.equal('http://10.0.0.7:3000');
    expect(loadConfig({ HOST: 'fd00::7' }).baseUrl).to.equal('http://[fd00::7]:3000');
  });

  it('leaves a trailing slash off a given base URL', () => {
    expect(loadConfig({ BASE_URL: 'https://x.example/annal/' }).baseUrl).to.equal('https://x.example/annal');
  });

  it('takes proxies as a list of addresses and networks', () => {
    expect(loadConfig({ TRUSTED_PROXIES: '10.0.0.0/8, fd00::/8 ,192.0.2.7' }).trustedProxies).to.deep.equal([
      '10.0.0.0/8',
      'fd00::/8',
      '192.0.2.7',
    ]);
    expect(loadConfig({}).trustedProxies).to.deep.equal([]);
  });

  it('takes a database behind a unix socket', () => {
    const url = 'postgres://annal@/annal?host=/run/postgresql';
    expect(loadConfig({ DATABASE_URL: url }).databaseUrl).to.equal(url);
  });

  it('takes every node of a cluster', () => {
    for (const eventStoreUrl of [
      'esdb://one:2113,two:2113,three.example.org:2113?tls=true',
      'kurrentdb://user:a,secret@127.0.0.1:2113,127.0.0.1:2114',
    ])
      expect(loadConfig({ EVENTSTORE_URL: eventStoreUrl })).to.include({ eventStoreUrl });
  });

  it('takes ANNAL_EVENTSTORE_URL for EVENTSTORE_URL, and refuses two that differ', () => {
    const one = 'esdb://one:2113?tls=false';
    const two = 'esdb://two:2113?tls=false';
    expect(loadConfig({ ANNAL_EVENTSTORE_URL: one }).eventStoreUrl).to.equal(one);
    expect(loadConfig({ EVENTSTORE_URL: '', ANNAL_EVENTSTORE_URL: one }).eventStoreUrl).to.equal(one);
    expect(loadConfig({ EVENTSTORE_URL: one, ANNAL_EVENTSTORE_URL: one }).eventStoreUrl).to.equal(one);
    expect(() => loadConfig({ EVENTSTORE_URL: one, ANNAL_EVENTSTORE_URL: two })).to.throw(
      ConfigError,
      'EVENTSTORE_URL and ANNAL_EVENTSTORE_URL name different logs',
    );
  });

  it('names every wrong variable in one sentence', () => {
    const message = faultsOf({
      PORT: '70000',
      LOG_LEVEL: 'loud',
      BASE_URL: 'ftp://x',
      MAX_BODY_BYTES: 'many',
    });
    expect(message).to.equal(
      'PORT must be at most 65535; BASE_URL must be a URL such as https://records.example.org; ' +
        'LOG_LEVEL must be one of fatal, error, warn, info, debug, trace, silent; ' +
        'MAX_BODY_BYTES must be a whole number from 1000 to 1000000000',
    );
  });

  for (const [name, value] of [
    ['PORT', '0'],
    ['PORT', '80.5'],
    ['PORT', '-1'],
    ['MODE', 'Production'],
    ['BASE_URL', 'records.example.org'],
    ['BASE_URL', 'https://x.example?y=1'],
    ['BASE_URL', 'https://annal:hidden@x.example'],
    ['DATABASE_URL', 'mysql://x'],
    ['EVENTSTORE_URL', 'http://x'],
    ['EVENTSTORE_URL', 'esdb://one:2113,'],
    ['DATABASE_URL', 'postgres://one:5432,two:5432/annal'],
    ['MAX_BUNDLE_ENTRIES', '0'],
    ['SHUTDOWN_SECONDS', 'soon'],
    ['RATE_LIMIT_PER_MINUTE', '-1'],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', '10.0.0.1, balancer'],
  ] as const) {
    it(`refuses ${name}=${value}`, () => {
      expect(faultsOf({ [name]: value })).to.match(new RegExp(`^${name} must `));
    });
  }

  it('never repeats a value, which may be a password', () => {
    expect(faultsOf({ DATABASE_URL: 'mysql://annal:hunter2@db/annal' })).not.to.contain('hunter2');
  });

  it('documents every variable', () => {
    for (const row of configurationTable()) expect(row.description, row.name).to.match(/^\S.*\.$/);
    expect(configurationTable().find((row) => row.name === 'PORT')?.default).to.equal('3000');
  });
});
