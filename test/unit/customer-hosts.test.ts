/** DNS look-ups of hosts that customers have specified. */
import { expect } from 'chai';
import { askNameServers } from '#src/shared/customer-hosts.ts';
import { type NameServer, startNameServer } from '#test/support/name-server.ts';

describe('hosts of customers', () => {
  let names: NameServer;

  before(async () => {
    names = await startNameServer();
  });

  after(() => names.stop());

  const codeOf = (asked: Promise<unknown>): Promise<unknown> =>
    asked.then(
      () => undefined,
      ({ code }: NodeJS.ErrnoException) => code,
    );

  it('are asked about once at a time, however many wait', async () => {
    const resolve = askNameServers([names.at]);
    const codes = await Promise.all(Array.from({ length: 50 }, () => codeOf(resolve('many.example'))));
    expect(new Set(codes)).to.deep.equal(new Set(['ENOTFOUND']));
    // One query for IPv4 and one for IPv6.
    expect(names.asked('many')).to.equal(2);
  });

  it('whose name servers do not answer are left alone for a while', async () => {
    // Nothing listens at that address.
    const resolve = askNameServers(['127.0.0.1:1']);
    const code = await codeOf(resolve('away.example'));
    expect(code).to.be.oneOf(['ECONNREFUSED', 'ETIMEOUT']);
    const started = performance.now();
    expect(await codeOf(resolve('away.example'))).to.equal(code);
    expect(performance.now() - started).to.be.below(50);
  });

  it('on this machine are known without a name server', async () => {
    const resolve = askNameServers([names.at]);
    for (const name of ['localhost', 'LOCALHOST', 'localhost.', 'hooks.localhost'])
      expect(
        (await resolve(name)).map(({ address }) => address),
        name,
      ).to.deep.equal(['127.0.0.1', '::1']);
    expect(names.asked('localhost')).to.equal(0);
    expect(await codeOf(resolve('notlocalhost'))).to.equal('ENOTFOUND');
  });
});
