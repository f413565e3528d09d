/** `/docs`: it works without a network, under a strict policy, and explains every error. */
import { expect } from 'chai';
import { STATUS_OF } from '#src/shared/refusal.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';

describe('the documentation page', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const PAGES = ['/docs', '/docs/', '/docs/errors'];

  it('loads nothing but from the service, and all of it is there', async () => {
    for (const path of PAGES) {
      const page = await fetch(service.url + path);
      expect(page.status).to.equal(200);
      const html = await page.text();
      const referred = [...html.matchAll(/(?:src|href|content)="([^"]+)"/g)].map(([, url = '']) => url);
      const loaded = referred.filter((url) => url.startsWith('/'));
      expect(loaded).to.include('/docs/assets/annal.css');
      const others = referred.filter((url) => !url.startsWith('/'));
      expect(others.filter((url) => /:|\/\//.test(url) && url !== 'data:,')).to.deep.equal([]);
      for (const url of loaded) {
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
