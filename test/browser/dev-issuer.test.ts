/** The development issuer's sign-in page in a real browser, with and without JavaScript. */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import { expect } from 'chai';
import { decodeJwt, type JWTPayload } from 'jose';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { accessibilityFaults, openBrowser } from '#test/support/browser.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { portOf } from '#test/support/process.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

const VERIFIER = randomBytes(32).toString('base64url');

describe('the sign-in page in a browser', () => {
  let browser: Browser;
  let service: InProcess;
  let context: BrowserContext;
  let page: Page;
  /** The browser's own error messages, about requests that the policy refused or that weren't found. */
  const complaints: string[] = [];
  const requested: string[] = [];
  /** A dashboard at a different origin on the same machine. */
  let dashboard: Server;
  let callback: string;

  before(async function () {
    const opened = await openBrowser();
    if (opened === undefined) return this.skip();
    browser = opened;
    service = await startInProcess({}, { SANDBOX_PATIENTS: '3' });
    dashboard = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><title>Dashboard</title><link rel="icon" href="data:,">');
    }).listen(0, '127.0.0.1');
    await once(dashboard, 'listening');
    callback = `http://localhost:${portOf(dashboard)}/callback`;
  });

  after(async () => {
    await browser?.close();
    await service?.stop();
    dashboard?.close();
    await removeTemporaryFolders();
  });

  const open = async (options: { javaScriptEnabled: boolean; colorScheme?: 'dark' }): Promise<void> => {
    context = await browser.newContext(options);
    page = await context.newPage();
    complaints.length = 0;
    requested.length = 0;
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (sent) => requested.push(new URL(sent.url()).pathname));
  };

  afterEach(async () => {
    await context?.close();
  });

  const authorize = (): string =>
    `${service.url}/dev/authorize?${new URLSearchParams({
      client_id: 'annal',
      response_type: 'code',
      scope: 'openid',
      redirect_uri: callback,
      state: '<b>"&\'',
      code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
      code_challenge_method: 'S256',
    })}`;

  /** Returns the claims of the ID token for the code that the browser brought back to the dashboard. */
  const redeemed = async (): Promise<JWTPayload> => {
    const answer = await fetch(`${service.url}/dev/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: 'annal',
        redirect_uri: callback,
        code: new URL(page.url()).searchParams.get('code') ?? '',
        code_verifier: VERIFIER,
      }),
    });
    expect(answer.status).to.equal(200);
    return decodeJwt(((await answer.json()) as { id_token: string }).id_token);
  };

  for (const javaScriptEnabled of [true, false]) {
    it(`leads back to a dashboard with a code, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
      await open({ javaScriptEnabled });
      await page.goto(authorize());
      await page.getByLabel('E-mail address').fill('ada@example.org');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.waitForURL(`${callback}?*`);
      const { state } = Object.fromEntries(new URL(page.url()).searchParams);
      expect(state).to.equal('<b>"&\'');
      expect(await redeemed()).to.include({ email: 'ada@example.org' });
      expect(complaints).to.deep.equal([]);
    });

    it(`lets a synthetic patient be chosen, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
      await open({ javaScriptEnabled });
      await page.goto(authorize());
      // Signing in by keyboard; the e-mail address can stay empty.
      await page
        .getByRole('button', { name: /^S-002 · Eleni Nikolaidi, .* mother of Giorgos Nikolaidis/ })
        .focus();
      await page.keyboard.press('Enter');
      await page.waitForURL(`${callback}?*`);
      expect(await redeemed()).to.include({ email: 's-002@patients.example.org', name: 'Eleni Nikolaidi' });
      expect(complaints).to.deep.equal([]);
    });
  }

  it('says who is no patient that can sign in, and blames no field', async () => {
    await open({ javaScriptEnabled: true });
    await page.goto(`${service.url}/dev`);
    await page.evaluate(`document.querySelector('button[name=patient]').value = 'S-003'`);
    await page.getByRole('button', { name: /^S-001 · Sabine Vogel/ }).click();
    expect(await page.getByRole('alert').textContent()).to.match(/No synthetic patient S-003 can sign in/);
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await page.getByRole('button', { name: /^S-001 · Sabine Vogel/ }).click();
    expect(await page.textContent('main')).to.include(
      'You are signed in as s-001@patients.example.org (Sabine Vogel)',
    );
  });

  it('shows a token that opens the admin interface, by the keyboard alone', async () => {
    await open({ javaScriptEnabled: true });
    await page.goto(`${service.url}/dev`);
    await page.keyboard.press('Tab');
    await page.keyboard.type('ada@example.org');
    await page.keyboard.press('Enter');
    const token = await page.getByLabel('ID token').inputValue();
    const config = await service.fhir(`${service.url}/admin/config`, { key: token });
    expect(config.status, String(config)).to.equal(200);
    expect(requested.filter((path) => path !== '/dev' && path !== '/favicon.ico')).to.deep.equal([]);
    await page.getByRole('link', { name: 'Sign in as another person' }).click();
    await page.getByRole('button', { name: /^Dana Developer/ }).click();
    expect(await page.textContent('main')).to.include('You are signed in as developer@example.org');
  });

  it('says what is wrong with an address, and keeps what was typed as text', async () => {
    await open({ javaScriptEnabled: false });
    await page.goto(`${service.url}/dev`);
    // The browser's own validation would reject this address.
    const answer = await context.request.post(`${service.url}/dev`, {
      form: { email: '"><script>document.title = 1</script>' },
    });
    expect(answer.status()).to.equal(422);
    await page.setContent(await answer.text());
    expect(await page.getByRole('alert').textContent()).to.match(/must be an e-mail address/);
    expect(await page.getByLabel('E-mail address').inputValue()).to.equal(
      '"><script>document.title = 1</script>',
    );
    expect(await page.locator('script').count()).to.equal(0);
  });

  it('passes the rules of accessibility, in light and dark', async () => {
    for (const colorScheme of [undefined, 'dark'] as const) {
      await open({ javaScriptEnabled: true, ...(colorScheme === undefined ? {} : { colorScheme }) });
      await page.goto(authorize());
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      await page.goto(`${service.url}/dev`);
      await page.getByRole('button', { name: /^Dana Developer/ }).click();
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      await page.goto(`${service.url}/dev/authorize`);
      expect(await page.getByRole('alert').textContent()).to.equal('client_id must be annal');
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      await context.close();
    }
    await open({ javaScriptEnabled: true });
    await page.setContent('<img src="data:,"><input>');
    expect(await accessibilityFaults(page), 'the check finds faults').not.to.deep.equal([]);
  });

  it('runs no script, loads nothing from elsewhere, and stands in no frame', async () => {
    await open({ javaScriptEnabled: true });
    const answer = await page.goto(`${service.url}/dev`);
    const headers = (await answer?.allHeaders()) ?? {};
    expect(headers).to.include({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
    expect(headers['content-security-policy']).to.match(
      /^default-src 'none'; style-src 'sha256-[^ ]+'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(headers['content-security-policy']).not.to.include('unsafe');
    expect(complaints).to.deep.equal([]);
    const refused = await page.evaluate(`new Promise((resolve) => {
      document.addEventListener('securitypolicyviolation', (event) => resolve(event.effectiveDirective));
      const script = document.createElement('script');
      script.textContent = 'document.title = "run"';
      document.body.append(script);
    })`);
    expect(refused).to.equal('script-src-elem');
    expect(await page.title()).to.match(/^Sign in/);
    await page.goto(callback);
    await page.setContent(`<iframe src="${service.url}/dev"></iframe>`);
    const frame = await (await page.waitForSelector('iframe')).contentFrame();
    await frame?.waitForLoadState();
    expect(await frame?.locator('form').count()).to.equal(0);
  });

  it('signs nobody in by a form or a script of another origin', async () => {
    await open({ javaScriptEnabled: true });
    await page.goto(callback);
    await page.setContent(
      `<form method="post" action="${service.url}/dev"><input name="email" value="ada@example.org"><button>Go</button></form>`,
    );
    const [answer] = await Promise.all([
      page.waitForResponse(`${service.url}/dev`),
      page.getByRole('button').click(),
    ]);
    expect(answer.status()).to.equal(403);
    await page.goto(callback);
    const read = await page.evaluate(
      `fetch(${JSON.stringify(`${service.url}/dev`)}).then((answer) => answer.text(), () => 'refused')`,
    );
    expect(read).to.equal('refused');
  });

  it('is served under no other name of this machine', async () => {
    const status = await new Promise((resolve, reject) => {
      const { port } = new URL(service.url);
      request(
        { host: '127.0.0.1', port, path: '/dev', headers: { Host: `rebound.example.org:${port}` } },
        (answer) => {
          answer.resume();
          resolve(answer.statusCode);
        },
      )
        .on('error', reject)
        .end();
    });
    expect(status).to.equal(403);
  });
});
