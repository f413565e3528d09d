/**
 * Production deliveries go only to addresses on the public internet. Other addresses are refused in whatever notation they are
 * written.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { Sender } from '#src/reactions/webhooks/send.ts';
import { askNameServers } from '#src/shared/customer-hosts.ts';
import { isPublicAddress } from '#src/shared/public-address.ts';
import { faultOfUrl } from '#src/shared/webhook-url.ts';
import { startNameServer } from '#test/support/name-server.ts';

/** Hosts that resolve to non-public addresses, in every notation that URLs accept. */
const FORBIDDEN_HOSTS = [
  ...['127.0.0.1', '127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001'],
  ...['0x7F.0x0.0x0.0x1', '127.255.255.254', '0', '0.0.0.0', '0x0', '1', '10.0.0.1', '10.255.255.255'],
  ...[
    '0xa000001',
    '167772161',
    '012.0.0.1',
    '100.64.0.1',
    '100.127.255.255',
    '169.254.169.254',
    '2852039166',
  ],
  ...['0xa9fea9fe', '0251.0376.0251.0376', '169.254.0.1', '172.16.0.1', '172.31.255.255', '2886729729'],
  ...['192.0.0.1', '192.0.2.1', '192.88.99.1', '192.168.0.1', '192.168.1', '3232235521', '0xc0a80001'],
  ...['198.18.0.1', '198.19.255.255', '198.51.100.7', '203.0.113.9', '224.0.0.1', '239.255.255.255'],
  ...['240.0.0.1', '255.255.255.255', '4294967295', '１２７.0.0.1', '①②⑦.0.0.1', '127。0。0。1'],
  ...['[::]', '[::1]', '[0:0:0:0:0:0:0:1]', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[::ffff:10.0.0.1]'],
  ...['[::127.0.0.1]', '[64:ff9b::7f00:1]', '[64:ff9b::169.254.169.254]', '[64:ff9b:1::a00:1]', '[100::1]'],
  ...['[fc00::1]', '[fd12:3456::1]', '[fe80::1]', '[fec0::1]', '[ff02::1]', '[2001::1]', '[2001:db8::1]'],
  ...['[2002:7f00:1::]', '[2002:a00:1::1]', '[3fff::1]', '[::ffff:0:127.0.0.1]', '[fd00:ec2::254]'],
  ...['localhost', 'LOCALHOST', 'localhost.', 'a.localhost', '127.0.0.1.', '%31%32%37.0.0.1'],
];
const PUBLIC_HOSTS = [
  '8.8.8.8',
  '134744072',
  '1.1.1.1',
  '172.32.0.1',
  '100.128.0.1',
  '[2606:4700:4700::1111]',
  'hooks.example.org',
];

const ATTEMPT = {
  secret: 'whsec_x',
  deliveryId: 'whd_x',
  eventId: 'evt_x',
  eventType: 'ping',
  payload: '{}',
  replay: false,
};

describe('addresses of webhook endpoints', () => {
  it(`${FORBIDDEN_HOSTS.length} notations of forbidden ones are refused in production mode`, () => {
    expect(FORBIDDEN_HOSTS.length).to.be.at.least(60);
    for (const host of FORBIDDEN_HOSTS) {
      for (const environment of ['production', 'sandbox'] as const)
        expect(faultOfUrl(`https://${host}/x`, environment, 'production'), host).not.to.equal(undefined);
    }
    for (const host of PUBLIC_HOSTS) {
      expect(faultOfUrl(`https://${host}/x`, 'production', 'production'), host).to.equal(undefined);
    }
  });

  it('a sandbox for development takes http://localhost, and production nothing but https', () => {
    expect(faultOfUrl('http://localhost:4000/x', 'sandbox', 'development')).to.equal(undefined);
    expect(faultOfUrl('http://127.0.0.1:4000/x', 'sandbox', 'development')).to.equal(undefined);
    for (const url of [
      'http://example.org',
      'ftp://example.org',
      'https://a:b@example.org',
      'https://e.org/#a',
    ])
      expect(faultOfUrl(url, 'sandbox', 'development'), url).not.to.equal(undefined);
    for (const url of ['http://example.org', 'http://localhost', 'https://localhost'])
      expect(faultOfUrl(url, 'production', 'development'), url).not.to.equal(undefined);
  });

  it('no text that is no address is public', () => {
    for (const text of ['', 'localhost', '8.8.8', '8.8.8.8.8', '2606:4700::1%eth0', '::ffff:8.8.8.8'])
      expect(isPublicAddress(text), text).to.equal(false);
  });

  for (const guarded of [true, false]) {
    it(`a name whose servers do not answer holds up no other (${guarded ? 'public hosts only' : 'any host'})`, async () => {
      const names = await startNameServer();
      const sender = new Sender(30_000, askNameServers([names.at]));
      const to = (host: string) => sender.send({ ...ATTEMPT, url: `http://${host}/`, guarded });
      const silent = Array.from({ length: 40 }, (_, n) => to(`silent-${n}.example`));
      const outcome = await Promise.race([to('quick.example'), Promise.any(silent)]);
      expect(outcome?.error).to.include('ENOTFOUND');
      sender.breakOff();
      expect(await Promise.all(silent)).to.deep.equal(Array(40).fill(undefined));
      sender.close();
      names.stop();
    });
  }

  it('the address that was checked is the one connected to: a name that changes its answer reaches nothing', async () => {
    const server = createServer((_request, response) => response.end()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;
    let asked = 0;
    let reached = 0;
    server.on('connection', () => {
      reached += 1;
    });
    // The address is public for the first look-up, and private from then on.
    const sender = new Sender(3_000, async () => {
      asked += 1;
      return [{ address: asked === 1 ? '203.0.113.1' : '127.0.0.1', family: 4 }];
    });
    const attempt = { ...ATTEMPT, url: `http://rebinding.example:${port}/` };
    for (let tries = 0; tries < 2; tries += 1) {
      const outcome = await sender.send({ ...attempt, guarded: true });
      expect(outcome?.delivered).to.equal(false);
      expect(outcome?.error).to.include('address that is not public');
    }
    const literal = await sender.send({ ...attempt, url: `http://127.0.0.1:${port}/`, guarded: true });
    expect(literal?.error).to.include('address that is not public');
    expect(reached).to.equal(0);
    const open = await sender.send({ ...attempt, url: `http://127.0.0.1:${port}/`, guarded: false });
    expect(open?.delivered, 'the server is there').to.equal(true);
    sender.close();
    server.close();
  });
});
