/** The syntax of `OIDC_ISSUERS`, and the messages about an invalid value. */
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

  it('names the environment variable of a client secret', () => {
    const text = 'https://a.example.org one A_SECRET, https://b.example.org two, https://a.example.org three';
    expect(loadConfig({ OIDC_ISSUERS: text, A_SECRET: 'hidden' }).oidcIssuers).to.deep.equal([
      { issuer: 'https://a.example.org', audiences: ['one', 'three'], clientSecret: 'hidden' },
      { issuer: 'https://b.example.org', audiences: ['two'] },
    ]);
    for (const A_SECRET of [undefined, '', ' '])
      expect(() => loadConfig({ OIDC_ISSUERS: text, A_SECRET }))
        .to.throw(ConfigError, /^OIDC_ISSUERS entry 1 names an environment variable .* not set$/)
        .with.property('message')
        .that.does.not.include('A_SECRET');
  });

  it('is refused with the number of the entry that is wrong, and never its text', () => {
    const wrong: [string, RegExp][] = [
      ['https://login.example.org', /^OIDC_ISSUERS entry 1 must be an issuer's URL, a space and an audience/],
      ['https://login.example.org a b c', /entry 1 must be/],
      ['https://login.example.org a s3cret!', /third part of entry 1 must be the name of an environment var/],
      ['https://a.example.org a, https://a.example.org b B', /entry 2 must not name a client secret/],
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
