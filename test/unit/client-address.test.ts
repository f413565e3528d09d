/** Finding a request's client by address. */
import { expect } from 'chai';
import { clientAddress } from '#src/http/limits.ts';

describe('client address', () => {
  const trusting = clientAddress(['10.0.0.0/8', '2001:db8:1::/48', '192.0.2.7', '::ffff:172.16.0.0/108']);
  const cases: readonly (readonly [string, string | undefined, string | undefined, string])[] = [
    ['who connects, without a proxy', '203.0.113.5', undefined, '203.0.113.5'],
    ['who connects, whatever he claims', '203.0.113.5', '198.51.100.1', '203.0.113.5'],
    ['who the proxy says', '10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['the proxy itself, when it says nothing', '10.1.2.3', undefined, '10.1.2.3'],
    [
      'the rightmost that is no proxy',
      '10.1.2.3',
      '6.6.6.6, 198.51.100.1, 10.9.9.9,192.0.2.7',
      '198.51.100.1',
    ],
    ['the leftmost, when all are proxies', '10.1.2.3', '10.0.0.1, 10.0.0.2', '10.0.0.1'],
    ['the proxy that sent nonsense', '10.1.2.3', '198.51.100.1, unknown, 10.9.9.9', '10.9.9.9'],
    ['an address with a port', '10.1.2.3', '198.51.100.1:4711', '198.51.100.1'],
    ['IPv4 in IPv6 as IPv4', '::ffff:203.0.113.5', undefined, '203.0.113.5'],
    ['IPv4 in IPv6 in hexadecimal', '10.1.2.3', '::FFFF:c633:6401', '198.51.100.1'],
    ['a proxy as IPv4 in IPv6', '::ffff:10.1.2.3', '198.51.100.1', '198.51.100.1'],
    ['a proxy of a mapped network', '172.16.5.5', '198.51.100.1', '198.51.100.1'],
    ['64 bits of IPv6', '2001:DB8:0:7:1:2:3:4', undefined, '2001:db8:0:7::/64'],
    ['64 bits of a short IPv6', '10.1.2.3', '[2a00::9]:443', '2a00:0:0:0::/64'],
    ['IPv6 behind an IPv6 proxy', '2001:db8:1::5', '2a00:1:2:3:4::', '2a00:1:2:3::/64'],
    ['the loopback of IPv6', '::1', undefined, '0:0:0:0::/64'],
    ['a link-local address without its zone', 'fe80::1%eth0', undefined, 'fe80:0:0:0::/64'],
    ['nobody, when the socket is gone', undefined, '198.51.100.1', 'unknown'],
  ];
  for (const [what, socket, forwarded, expected] of cases) {
    it(`is ${what}`, () => expect(trusting(socket, forwarded)).to.equal(expected));
  }

  it('believes nobody without trusted proxies', () => {
    expect(clientAddress([])('::ffff:10.1.2.3', '198.51.100.1')).to.equal('10.1.2.3');
  });

  it('looks at a few members of a long header only', () => {
    expect(trusting('10.1.2.3', `198.51.100.1,${'10.0.0.1,'.repeat(50_000)}10.0.0.2`)).to.equal('10.0.0.1');
  });
});
