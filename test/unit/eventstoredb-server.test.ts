/** Annal's requests to EventStoreDB, and how long it waits for an unresponsive server. */
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { expect } from 'chai';
import { isAway, translate } from '#src/events/eventstoredb/faults.ts';
import { Outage } from '#src/events/eventstoredb/outage.ts';
import { scavenge } from '#src/events/eventstoredb/scavenge.ts';
import { assertVersion } from '#src/events/eventstoredb/server.ts';
import { EventStoreDbStore } from '#src/events/eventstoredb/store.ts';
import { InvalidPosition, Unavailable } from '#src/events/store.ts';
import { eventually } from '#test/support/process.ts';

describe('the server of EventStoreDB', () => {
  for (const version of ['23.10.1', '24.0.9', '5.0.8']) {
    it(`is refused at ${version}`, () => {
      expect(() => assertVersion(version)).to.throw(Unavailable, `${version} is too old`);
    });
  }

  for (const version of ['24.2.0', '24.10.4-rc1', '25.1.0', '100.1', 'unknown']) {
    it(`is let through at ${version}`, () => assertVersion(version));
  }
});

describe('what a server says of a position that it does not have', () => {
  for (const message of [
    '2 UNKNOWN: Unexpected ReadAllResult: InvalidPosition',
    '3 INVALID_ARGUMENT: Trying to read from an invalid position.',
  ]) {
    it(`is no outage: ${message}`, () => {
      const error = Object.assign(new Error(message), { code: Number(message[0]), details: message });
      expect(isAway(error)).to.equal(false);
      expect(translate(error)).to.be.instanceOf(InvalidPosition);
    });
  }
});

describe('a server that accepts connections and is silent', () => {
  const sockets = new Set<Socket>();
  let server: Server;
  let url: string;

  before(async () => {
    server = createServer((socket) => sockets.add(socket.on('error', () => undefined))).listen(
      0,
      '127.0.0.1',
    );
    await once(server, 'listening');
    const address = server.address();
    if (typeof address !== 'object' || address === null) throw new Error('no port');
    url = `esdb://127.0.0.1:${address.port}?tls=false`;
  });
  after(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });

  /** Expects a call to fail soon with `Unavailable`. */
  const givesUp = async (call: () => Promise<unknown>): Promise<void> => {
    const began = performance.now();
    const failed = await call().then(
      () => undefined,
      (error: unknown) => error,
    );
    expect(failed).to.be.instanceOf(Unavailable);
    expect(performance.now() - began).to.be.lessThan(5_000);
  };

  it('keeps a scavenge waiting no longer than the deadline, and its process not at all', async () => {
    await givesUp(() => scavenge(url, 300));
    for (const socket of sockets) socket.resume();
    await eventually(() => [...sockets].every((socket) => socket.destroyed));
  });

  it('keeps a start waiting no longer than the deadline', () =>
    givesUp(() => EventStoreDbStore.open({ url, answerWithin: 300 })));
});

describe('an outage of the event log', () => {
  const lines: [details: object, message: string][] = [];
  const log = { warn: (details: object, message: string) => void lines.push([details, message]) };

  it('is told once, without a stack, and then its end', () => {
    const outage = new Outage(log, 'the subscription');
    outage.works();
    for (let n = 0; n < 50; n += 1) outage.failed(new Error(`refused ${n}`));
    outage.works();
    outage.works();
    expect(lines).to.deep.equal([
      [{ reason: 'refused 0' }, 'the subscription failed and will be retried'],
      [{}, 'the subscription resumed after 0 s'],
    ]);
  });
});
