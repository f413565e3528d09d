/** The client library whose protected members are called: docs/decisions/0010-own-append-call.md. */
import { createRequire } from 'node:module';
import { EventStoreDBClient } from '@eventstore/db-client';
import { expect } from 'chai';

/** Raise it together with package.json, after what the decision asks for. */
const VERSION = '6.2.1';

describe('the client library of EventStoreDB', () => {
  it(`is ${VERSION}, whose protected members are known`, () => {
    const require = createRequire(import.meta.url);
    const { dependencies } = require('../../package.json');
    expect(dependencies['@eventstore/db-client']).to.equal(VERSION);
    expect(require('@eventstore/db-client/package.json').version).to.equal(VERSION);
  });

  for (const member of ['GRPCStreamCreator', 'callArguments', 'HTTPRequest', 'getChannel', 'handleError']) {
    it(`has ${member}`, async () => {
      const client = EventStoreDBClient.connectionString('esdb://127.0.0.1:1?tls=false');
      expect(Reflect.get(client, member)).to.be.a('function');
      await client.dispose();
    });
  }
});
