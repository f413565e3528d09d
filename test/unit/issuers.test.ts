/** How `OIDC_ISSUERS` is written, and what is said of one that is not. */
import { expect } from 'chai';
import { ConfigError, loadConfig } from '#src/config.ts';

describe('OIDC_ISSUERS', () => {
  const read = (text: string) => loadConfig({ OIDC_ISSUERS: text }).oidcIssuers;

  it('names issuers with their audiences', () => {
    expect(read('')).to.deep.equal([]);
    expect(read('https://login.example.org annal')).to.deep.equal([
      { issuer: 'https://login.example.org', audiences: ['annal'] },
    ]);
    expect(
      read(' https://a.example.org/o/  one,\nhttp://localhost:4000 two, https://a.example.org/o/ three'),
    ).to.deep.equal([
      { issuer: 'https://a.example.org/o/', audiences: ['one', 'three'] },
      { issuer: 'http://localhost:4000', audiences: ['two'] },
    ]);
  });

  it('is refused with the number of the entry that is wrong, and never its text', () => {
    const wrong: [string, RegExp][] = [
      ['https://login.example.org', /^OIDC_ISSUERS entry 1 must be an issuer's URL, a space and an audience/],
      ['https://login.example.org a b', /entry 1 must be/],
      ['https://login.example.org a,', /entry 2 must be/],
      ['login.example.org a', /entry 1 must begin with an https URL/],
      ['http://login.example.org a', /entry 1 must begin with an https URL/],
      ['https://user@login.example.org a', /entry 1 must begin with an https URL/],
      ['https://login.example.org/?tenant=1 a', /entry 1 must begin with an https URL/],
      ['https://login.example.org/#a a', /entry 1 must begin with an https URL/],
      ['https://login.example.org/" a', /entry 1 must begin with an https URL/],
      ['https://a.example.org a, b c, d', /entry 2 must begin .*, entry 3 must be/],
    ];
    for (const [text, message] of wrong) {
      expect(() => read(text), text)
        .to.throw(ConfigError, message)
        .with.property('message')
        .that.does.not.match(/user@|tenant/);
    }
  });
});
