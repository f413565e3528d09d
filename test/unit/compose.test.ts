/** Dockerfile and docker-compose.yml: which ports they publish, and what they pass on and omit. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { parse } from 'yaml';
import { configurationTable } from '#src/config.ts';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** The parts that are checked in the file, or in the output of `docker compose config`. */
interface Composition {
  services: Record<
    string,
    { image?: string; environment?: Record<string, string>; ports?: unknown[]; healthcheck?: object }
  >;
}

const text = (name: string): string => readFileSync(resolve(ROOT, name), 'utf8');

describe('docker-compose.yml', () => {
  const { services } = parse(text('docker-compose.yml')) as Composition;
  const environment = services.annal?.environment ?? {};

  it('holds the service, PostgreSQL and EventStoreDB', () => {
    expect(Object.keys(services).sort()).to.deep.equal(['annal', 'eventstore', 'postgres']);
    expect(environment.DATABASE_URL).to.include('@postgres:5432/annal');
  });

  it('passes every documented setting on, but those that are the container’s own', () => {
    const own = ['HOST', 'DATA_DIR'];
    const documented = configurationTable().map(({ name }) => name);
    expect(Object.keys(environment).sort()).to.deep.equal(
      documented.filter((name) => !own.includes(name)).sort(),
    );
    for (const [name, value] of Object.entries(environment))
      expect(value).to.match(RegExp(`^\\$\\{${name}:-`));
  });

  it('publishes one port on this machine alone, which BASE_URL names', () => {
    const port = `\${PORT:-3000}`;
    expect(services.annal?.ports).to.deep.equal([`127.0.0.1:${port}:${port}`]);
    expect(environment.PORT).to.equal(port);
    expect(environment.BASE_URL).to.equal(`\${BASE_URL:-http://localhost:${port}}`);
    expect(environment.DEV_ISSUER).to.equal(`\${DEV_ISSUER:-allow}`);
    for (const name of ['postgres', 'eventstore']) expect(services[name]?.ports, name).to.equal(undefined);
  });

  it('has no default password', () => {
    expect(services.postgres?.environment?.POSTGRES_PASSWORD).to.match(/^\$\{POSTGRES_PASSWORD:\?/);
    expect(text('docker-compose.yml')).not.to.match(/PASSWORD:-./);
  });

  it('lets one append be as large as a command may be', () => {
    expect(services.eventstore?.image).to.match(/:24\.10/);
    expect(services.eventstore?.environment?.EVENTSTORE_MAX_APPEND_SIZE).to.equal('16000000');
  });

  describe('as docker compose reads it', () => {
    const config = (env: Record<string, string>) =>
      spawnSync('docker', ['compose', 'config', '--format', 'json'], {
        cwd: ROOT,
        encoding: 'utf8',
        env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
      });

    before(function () {
      if (spawnSync('docker', ['compose', 'version']).status !== 0) this.skip();
    });

    it('takes a port for the service, its publication and its URL', () => {
      const { stdout } = config({ POSTGRES_PASSWORD: 'abc', PORT: '8080', RATE_LIMIT_PER_MINUTE: '7' });
      const { environment: passed } = (JSON.parse(stdout) as Composition).services.annal ?? {};
      expect(passed).to.include({
        PORT: '8080',
        BASE_URL: 'http://localhost:8080',
        RATE_LIMIT_PER_MINUTE: '7',
        DATABASE_URL: 'postgres://annal:abc@postgres:5432/annal',
      });
    });

    it('does not start without a password', () => {
      const { status, stderr } = config({});
      expect(status).not.to.equal(0);
      expect(stderr).to.include('POSTGRES_PASSWORD').and.to.include('openssl rand -hex 24');
    });
  });
});

describe('Dockerfile', () => {
  it('runs Node 24 in production mode, and lets a long rebuild start', () => {
    const dockerfile = text('Dockerfile');
    expect(dockerfile).to.match(/^FROM node:24-slim$/m);
    expect(dockerfile).to.match(/^ENV .*\bMODE=production\b/m);
    expect(dockerfile).to.match(/^HEALTHCHECK --start-period=24h /m);
  });
});
