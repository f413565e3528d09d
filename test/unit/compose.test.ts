import { execFileSync, spawnSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');

/** What of `docker compose config`'s answer is checked. */
interface Composition {
  services: Record<string, { image?: string; environment?: Record<string, string>; healthcheck?: object }>;
}

describe('docker-compose.yml', () => {
  let composition: Composition;

  before(function () {
    if (spawnSync('docker', ['compose', 'version']).status !== 0) this.skip();
    const json = execFileSync('docker', ['compose', 'config', '--format', 'json'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    composition = JSON.parse(json) as Composition;
  });

  it('holds the service, PostgreSQL and EventStoreDB', () => {
    expect(Object.keys(composition.services).sort()).to.deep.equal(['annal', 'eventstore', 'postgres']);
    expect(composition.services.annal?.environment?.DATABASE_URL).to.match(
      /^postgres:\/\/.*@postgres:5432\/annal$/,
    );
  });

  it('lets one append be as large as a command may be', () => {
    expect(composition.services.eventstore?.image).to.match(/:24\.10/);
    expect(composition.services.eventstore?.environment?.EVENTSTORE_MAX_APPEND_SIZE).to.equal('16000000');
  });
});
