/** After signing in, people only return to pages of this service, whatever a link says. */
import { expect } from 'chai';
import fc from 'fast-check';
import { isOwnPath } from '#src/shared/access/session.ts';

describe('paths that a sign-in returns to', () => {
  const BASES = ['http://localhost:3000', 'https://records.example.org', 'https://example.org/records'];

  it('stay on the origin of BASE_URL and below its path, as browsers resolve them', () => {
    const odd = fc.constantFrom(
      '/',
      '//',
      '\\',
      '..',
      '.',
      '%2e',
      '%2F',
      '%5c',
      '@',
      ':',
      '?',
      '#',
      '\t',
      '\n',
      ' ',
      'ä',
      '\u0000',
      'a',
      'evil.example.org',
      'https:',
    );
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(fc.oneof(odd, fc.string({ maxLength: 3 })), { maxLength: 8 }), (parts) => {
        const path = `/${parts.join('')}`;
        if (!isOwnPath(path)) return;
        accepted += 1;
        for (const base of BASES) {
          const { origin, pathname, username } = new URL(base + path);
          expect(origin).to.equal(new URL(base).origin);
          expect(username).to.equal('');
          expect(
            `${pathname}/`.startsWith(`${new URL(base).pathname.replace(/\/$/, '')}/`),
            pathname,
          ).to.equal(true);
          expect(new URL(path, base).origin, 'also without the base').to.equal(origin);
          expect(path).to.match(/^[\x21-\x7e]+$/);
        }
      }),
      { numRuns: 5_000 },
    );
    expect(accepted).to.be.greaterThan(100);
  });

  it('are the paths of our pages', () => {
    for (const path of [
      '/signin/out?lang=de',
      `/invitations/${'0'.repeat(16)}?lang=ar`,
      '/oauth/authorize/Ab-_1?lang=en',
    ])
      expect(isOwnPath(path), path).to.equal(true);
    for (const path of ['', 'a', '//a', '/a//b', '/\\a', '/a/../b', '/a/%2E./b', 'https://a', '/a#b', '/a b'])
      expect(isOwnPath(path), path).to.equal(false);
  });
});
