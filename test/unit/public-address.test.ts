/** Which addresses are on the public internet. */
import { expect } from 'chai';
import { isPublicAddress } from '#src/shared/public-address.ts';

describe('public addresses', () => {
  const PUBLIC = [
    '1.1.1.1',
    '9.255.255.255',
    '11.0.0.0',
    '172.15.0.1',
    '172.32.0.1',
    '100.128.0.1',
    '223.255.255.255',
  ];
  const PUBLIC_6 = ['2606:4700::1111', '2a00:1450:4001::1', '2001:4860:4860::8888'];
  const SPECIAL = [
    '0.0.0.0',
    '10.1.2.3',
    '100.64.0.1',
    '100.127.255.255',
    '127.0.0.1',
    '127.8.8.8',
    '169.254.169.254',
    '172.16.0.1',
    '172.31.255.255',
    '192.0.0.8',
    '192.0.2.1',
    '192.168.0.1',
    '198.18.0.1',
    '198.51.100.1',
    '203.0.113.9',
    '224.0.0.1',
    '240.0.0.1',
    '255.255.255.255',
  ];
  const SPECIAL_6 = [
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '64:ff9b::a00:1',
    'fe80::1',
    'fc00::1',
    'fd12:3456::1',
    'ff02::1',
    '2001:db8::1',
    '2001::1',
    '2002:a00:1::',
    '3fff::1',
  ];
  const NONE = ['', 'localhost', '127.1', '0x7f000001', '[2606:4700::1111]', '1.1.1.1/8'];

  it('are those that no special range holds', () => {
    for (const address of [...PUBLIC, ...PUBLIC_6]) expect(isPublicAddress(address), address).to.equal(true);
  });

  it('are none of the special ranges, and nothing that is no address', () => {
    for (const address of [...SPECIAL, ...SPECIAL_6, ...NONE])
      expect(isPublicAddress(address), address).to.equal(false);
  });
});
