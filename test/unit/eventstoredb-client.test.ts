/** EventStoreDB's client library, whose protected members are used in only one file: docs/decisions/0010-own-append-call.md. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { EventStoreDBClient } from '@eventstore/db-client';
import { expect } from 'chai';
import { z } from 'zod';
import { assertLibraryVersion, LIBRARY_VERSION } from '#src/events/eventstoredb/library.ts';
import { ROOT } from '#test/support/process.ts';

const MEMBERS = ['GRPCStreamCreator', 'callArguments', 'HTTPRequest', 'getChannel', 'handleError'];
const OWNER = join('src', 'events', 'eventstoredb', 'library.ts');
const packages = z.object({ dependencies: z.record(z.string(), z.string()) });

describe('the client library of EventStoreDB', () => {
  it(`is pinned to ${LIBRARY_VERSION}, whose protected members are known`, () => {
    const { dependencies } = packages.parse(JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')));
    expect(dependencies['@eventstore/db-client']).to.equal(LIBRARY_VERSION);
    expect(() => assertLibraryVersion(LIBRARY_VERSION)).not.to.throw();
  });

  it('is refused in another version, by an error that names both', () => {
    for (const version of ['6.2.2', '6.2', '7.0.0', '']) {
      expect(() => assertLibraryVersion(version), version).to.throw(
        `@eventstore/db-client ${version} is installed, expected ${LIBRARY_VERSION}`,
      );
    }
  });

  it('is checked where its members are used, and they are used nowhere else', () => {
    const users = ['commands', 'projections', 'queries', 'src']
      .flatMap((folder) =>
        readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((name) =>
          join(folder, name),
        ),
      )
      .filter((name) => name.endsWith('.ts'))
      .filter((name) => {
        const text = readFileSync(join(ROOT, name), 'utf8');
        return (
          text.includes('@eventstore/db-client/dist/') ||
          [...MEMBERS, 'capabilities'].some((member) => text.includes(`['${member}']`))
        );
      });
    expect(users).to.deep.equal([OWNER]);
    expect(readFileSync(join(ROOT, OWNER), 'utf8')).to.match(/^assertLibraryVersion\($/m);
  });

  for (const member of MEMBERS) {
    it(`has ${member}`, async () => {
      const client = EventStoreDBClient.connectionString('esdb://127.0.0.1:1?tls=false');
      expect(Reflect.get(client, member)).to.be.a('function');
      await client.dispose();
    });
  }
});
