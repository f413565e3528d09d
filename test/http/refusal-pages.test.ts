/** What a browser shows when a page can't be answered: a page, in the person's language; programs get JSON. */
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const LIMIT = 5;

describe('a page that can’t be answered', () => {
  let service: InProcess;

  before(async () => {
    service = await startInProcess(
      {},
      { RATE_LIMIT_PER_MINUTE: String(LIMIT), TRUSTED_PROXIES: '127.0.0.0/8' },
    );
  });
  after(() => service?.stop());

  const ask = async (path: string, headers: Readonly<Record<string, string>>) => {
    const response = await fetch(service.url + path, {
      redirect: 'manual',
      headers: { 'X-Forwarded-For': '198.51.100.7', Origin: 'https://elsewhere.example', ...headers },
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };

  it('is a page for browsers that came too often, and JSON for programs', async () => {
    for (let n = 0; n < LIMIT; n += 1) await ask('/signin', { Accept: 'text/html' });
    for (const path of [
      '/signin',
      '/oauth/authorize?client_id=x',
      '/oauth/consent?request=x&lang=de',
      '/invitations',
    ]) {
      const page = await ask(path, { Accept: 'text/html,*/*;q=0.8', 'Accept-Language': 'fr-CH, en' });
      expect(page.status, path).to.equal(429);
      expect(page.headers.get('content-type')).to.equal('text/html; charset=utf-8');
      expect(Number(page.headers.get('retry-after'))).to.be.greaterThan(0);
      expect(page.headers.get('access-control-allow-origin')).to.equal(null);
      expect(page.headers.get('cache-control')).to.equal('no-store');
      expect(page.headers.get('content-security-policy')).to.include("form-action 'none'");
      expect(page.text).to.include(path.includes('lang=de') ? 'zu viele Anfragen' : 'Trop de requêtes');
      expect(page.text).to.include(String(page.headers.get('service-request-id')));
      const program = await ask(path, { Accept: 'application/json' });
      expect([program.status, JSON.parse(program.text).error.type]).to.deep.equal([429, 'throttled']);
    }
    const token = await ask('/oauth/token', { Accept: 'text/html' });
    expect(JSON.parse(token.text)).to.have.property('error', 'temporarily_unavailable');
  });
});
