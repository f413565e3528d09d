/** If a page can't be shown, a browser gets an error page in the person's language, while programs get JSON. */
import { expect } from 'chai';
import { LANGUAGES } from '#src/http/pages/texts.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

const LIMIT = 5;

/** The Accept header that a browser sends when it opens a page. */
const BROWSER = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';

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

  /** Paths that don't exist: among the pages, in the interfaces, below files, and below FHIR. */
  const UNKNOWN = [
    '/nothing',
    '/oauth/nothing',
    '/docs/nothing',
    '/docs/guides/nothing',
    '/v1/nothing',
    '/fhir/R4',
    '/fhir/R4/Nothing/1/2/3/4',
    '/shl/a/b/c/d',
    '/admin/nothing',
    '/dev/nothing',
  ];

  it('is a page with a way onward for browsers at every URL that doesn’t exist, and JSON for programs', async () => {
    for (const [n, path] of UNKNOWN.entries()) {
      const from = { 'X-Forwarded-For': `203.0.113.${n}` };
      const page = await ask(path, { ...from, Accept: BROWSER, 'Accept-Language': 'nb' });
      expect([404, 401], path).to.include(page.status);
      expect(page.headers.get('content-type'), path).to.equal('text/html; charset=utf-8');
      expect(page.headers.get('vary'), path).to.include('Accept');
      expect(page.text, path).to.include('<html lang="nb"').and.include('<a class="button" href="/');
      if (page.status === 404) expect(page.text, path).to.include('Denne siden finnes ikke');
      expect(page.text, path).to.match(/<a href="[^"]*lang=ar" lang="ar" hreflang="ar" dir="rtl">/);
      for (const accept of [
        '*/*',
        'application/json',
        'application/fhir+json',
        'application/json, text/html;q=0.9',
      ]) {
        const program = await ask(path, { ...from, Accept: accept });
        expect(program.status, `${path} ${accept}`).to.equal(page.status);
        const body = JSON.parse(program.text);
        if (path.startsWith('/fhir/')) expect(body.resourceType, path).to.equal('OperationOutcome');
        else expect(body.error, path).to.include.keys('type', 'message', 'doc_url');
      }
    }
  });

  it('has links only to this service, however many slashes the URL begins with', async () => {
    for (const path of [
      '//elsewhere.example/x',
      '///elsewhere.example',
      '//elsewhere.example/%2e%2e/?lang=de',
    ]) {
      const { text } = await ask(path, { Accept: BROWSER, 'X-Forwarded-For': '198.51.100.9' });
      const links = [...text.matchAll(/ (?:href|action|src)="([^"]*)"/g)].map(([, link = '']) => link);
      expect(links, path).to.have.length.above(Object.keys(LANGUAGES).length - 1);
      for (const link of links.filter((each) => !each.startsWith('data:')))
        expect(new URL(link, service.url + path).origin, `${path} ${link}`).to.equal(service.url);
    }
  });

  it('has a way onward wherever a person is stopped, in all languages', async () => {
    const stopped = [
      '/oauth/authorize?client_id=unknown',
      '/oauth/consent?request=unknown',
      '/invitations?code=short',
      '/invitations/0123456789abcdef',
      '/signin?issuer=0123456789abcdef',
      '/signin/callback/0123456789abcdef?state=x',
    ];
    for (const [n, lang] of Object.keys(LANGUAGES).entries())
      for (const path of stopped) {
        const page = await ask(`${path}${path.includes('?') ? '&' : '?'}lang=${lang}`, {
          Accept: BROWSER,
          'X-Forwarded-For': `192.0.2.${1 + n * 10 + stopped.indexOf(path)}`,
        });
        expect(page.status, path).to.be.within(400, 404);
        expect(page.text, path).to.include(`<html lang="${lang}"`);
        const main = page.text.slice(page.text.indexOf('<main'));
        expect(main, path).to.match(/<a class="button[^"]*" href="\/[^"]+">|<button class="button/);
        expect(main, path).not.to.match(/way\.|undefined/);
      }
  });
});
