/** `/docs`: it works without a network, under a strict policy, and explains every error. */
import { readdir } from 'node:fs/promises';
import { expect } from 'chai';
import { STATUS_OF } from '#src/shared/refusal.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { itAtFullSize } from '#test/support/scale.ts';

describe('the documentation page', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const PAGES = [
    '/docs',
    '/docs/',
    '/docs/errors',
    '/docs/guides',
    '/docs/guides/consents',
    '/docs/guides/dashboard',
    '/docs/operations/fhirUpdate',
    '/docs/search?q=grant',
  ];

  itAtFullSize('loads nothing but from the service, and all of it is there', async () => {
    const seen = new Set<string>();
    for (const path of PAGES) {
      const page = await fetch(service.url + path);
      expect(page.status).to.equal(200);
      const html = await page.text();
      const referred = [...html.matchAll(/(?:src|href|content)="([^"]+)"/g)].map(([, url = '']) => url);
      const loaded = referred.filter((url) => url.startsWith('/'));
      expect(loaded).to.include('/docs/assets/annal.css');
      const others = referred.filter((url) => !url.startsWith('/'));
      expect(others.filter((url) => /:|\/\//.test(url) && url !== 'data:,')).to.deep.equal([]);
      for (const url of loaded.filter((each) => !seen.has(each))) {
        seen.add(url);
        const asset = await fetch(service.url + url);
        expect(asset.status, url).to.equal(200);
        expect((await asset.text()).length, url).to.be.greaterThan(0);
      }
    }
  });

  it('allows a browser nothing inline and nothing from elsewhere', async () => {
    for (const path of PAGES) {
      const { headers } = await fetch(service.url + path);
      const policy = headers.get('content-security-policy') ?? '';
      expect(policy).to.contain("default-src 'none'").and.contain("frame-ancestors 'none'");
      expect(policy).not.to.match(/unsafe|\*/);
      expect(headers.get('x-content-type-options')).to.equal('nosniff');
    }
  });

  it('has its files and no other', async () => {
    for (const name of [
      'package.json',
      '..%2Fpackage.json',
      '%2e%2e%2fpackage.json',
      'constructor',
      'nope.js',
    ]) {
      const { status } = await fetch(`${service.url}/docs/assets/${name}`);
      expect(status, name).to.equal(404);
    }
  });

  it('shows the files in docs/ and no other', async () => {
    for (const name of ['spec/interface', 'decisions/0001-run-from-source', 'examples/report.hl7'])
      expect((await fetch(`${service.url}/docs/guides/${name}`)).status, name).to.equal(200);
    for (const name of [
      'nothing',
      'consents.md',
      'README',
      'docs',
      '..%2FCONTRIBUTING',
      '%2e%2e/CONTRIBUTING',
      '..%2F..%2Fpackage.json',
      '%2Fetc%2Fpasswd',
      'constructor',
      'decisions',
    ]) {
      const answer = await fetch(`${service.url}/docs/guides/${name}`, { headers: { Accept: 'text/html' } });
      expect(answer.status, name).to.equal(404);
      expect(await answer.text(), name)
        .to.include('This page doesn’t exist')
        .and.include('href="/docs');
    }
  });

  it('has every guide in its index, with links and anchors that lead somewhere', async () => {
    const html = async (path: string) => (await fetch(service.url + path)).text();
    const anchors = (text: string) => new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id = '']) => id));
    const index = await html('/docs/guides');
    const names = (await readdir(new URL('../../docs', import.meta.url)))
      .filter((name) => name.endsWith('.md') && name !== 'README.md')
      .map((name) => name.slice(0, -3));
    const known = new Map<string, Set<string>>();
    for (const name of names) {
      expect(index, name).to.include(`href="/docs/guides/${name}"`);
      known.set(`/docs/guides/${name}`, anchors(await html(`/docs/guides/${name}`)));
    }
    let followed = 0;
    for (const [path, ids] of known)
      for (const [, url = ''] of (await html(path)).matchAll(/<a[^>]* href="([^"]+)"/g)) {
        const [target = '', anchor] = url.split('#');
        const there = target === '' ? ids : known.get(target);
        if (there === undefined || anchor === undefined) continue;
        if (anchor !== 'content') expect([...there], `${path}: ${url}`).to.include(anchor);
        followed += 1;
      }
    expect(followed).to.be.above(100);
  });

  it('finds guides and operations by words, and shows what was asked as text', async () => {
    const find = async (q: string) =>
      (await fetch(`${service.url}/docs/search?${new URLSearchParams({ q })}`)).text();
    expect(await find('revoke grant'))
      .to.include('/docs/operations/')
      .and.include('/docs/guides/');
    expect(await find('$everythin')).to.include('class="result"');
    for (const q of ['', 'zzzzqqqq', '<img src=x>', 'a '.repeat(2_000)]) {
      const text = await find(q.slice(0, 3_000));
      expect(text, q.slice(0, 20)).to.include('All guides').and.not.include('<img');
    }
  });

  it('explains every type of error where errors say that it does', async () => {
    const html = await (await fetch(`${service.url}/docs/errors`)).text();
    for (const type of Object.keys(STATUS_OF)) expect(html).to.contain(`id="${type}"`);
    for (const path of ['/nothing', '/admin/config']) {
      const { error } = (await (await fetch(service.url + path)).json()) as { error: { doc_url: string } };
      const url = new URL(error.doc_url);
      const page = await fetch(url);
      expect(page.status).to.equal(200);
      expect(await page.text()).to.contain(`id="${url.hash.slice(1)}"`);
    }
  });

  it('tells who asks for what is not there where to look', async () => {
    const response = await fetch(`${service.url}/v9/patients`);
    expect(response.status).to.equal(404);
    expect(await response.text())
      .to.contain('/fhir/R4')
      .and.contain('/admin')
      .and.contain('/docs');
  });
});
