/** Redirect URIs as they may be registered. */
import { expect } from 'chai';
import { redirectFault } from '#src/http/admin/applications/redirect-uri.ts';

describe('redirect URIs', () => {
  const taken: [string, 'public' | 'confidential'][] = [
    ['https://app.example/callback', 'confidential'],
    ['https://app.example', 'confidential'],
    ['https://[2001:db8::1]/callback', 'confidential'],
    ['https://app.example:8443/a/b?c=d&e=f', 'public'],
    ['http://localhost/callback', 'confidential'],
    ['http://localhost:3000/callback', 'public'],
    ['http://127.0.0.1:49152/', 'public'],
    ['http://[::1]:49152/', 'public'],
    ['org.example.app:/callback', 'public'],
    ['com.example.app://callback', 'public'],
  ];
  for (const [uri, kind] of taken) {
    it(`takes ${uri} of a ${kind} application`, () => {
      expect(redirectFault(uri, kind)).to.equal(undefined);
    });
  }

  const refused: [string, string][] = [
    ['', 'absolute'],
    ['/callback', 'absolute'],
    ['app.example/callback', 'absolute'],
    ['//app.example/callback', 'absolute'],
    ['https:/app.example/callback', 'host'],
    ['https:///callback', 'host'],
    ['https://', 'absolute'],
    ['https://app.example/#', 'fragment'],
    ['https://app.example/#a', 'fragment'],
    ['https://*.example/', 'wildcard'],
    ['https://app.example/*', 'wildcard'],
    ['https://a.example;x/', 'letters, digits'],
    ['https://a.example,b.example/', 'letters, digits'],
    ["https://a.example'none'/", 'letters, digits'],
    ['https://user@app.example/', 'user information'],
    ['https://user:password@app.example/', 'user information'],
    ['https://app.example\\@evil.example/', 'backslash'],
    ['https://app.example/ x', 'visible ASCII'],
    ['https://app.example/\u00e9', 'visible ASCII'],
    ['https://app.example/\n', 'visible ASCII'],
    ['http://app.example/', 'https'],
    ['http://localhost.evil.example/', 'https'],
    ['http://127.0.0.2/', 'https'],
    ['http://[::2]/', 'https'],
    ['javascript:alert(1)', 'dot'],
    ['data:text/html,x', 'dot'],
    ['file:///etc/passwd', 'dot'],
    ['myapp://callback', 'dot'],
    [`https://app.example/${'a'.repeat(2_000)}`, 'at most 2000'],
  ];
  for (const [uri, why] of refused) {
    it(`refuses ${JSON.stringify(uri.slice(0, 60))}: ${why}`, () => {
      expect(redirectFault(uri, 'public')).to.contain(why);
    });
  }

  it('leaves schemes of their own to public applications', () => {
    expect(redirectFault('org.example.app:/callback', 'confidential')).to.contain('public');
  });
});
