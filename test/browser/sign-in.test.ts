/** The sign-in and invitation pages in a real browser: phone and desktop, both themes, Arabic, keyboard, no scripts. */
import { expect } from 'chai';
import type { Browser, BrowserContext, BrowserContextOptions, Page, Request } from 'playwright-core';
import { accessibilityFaults, openBrowser } from '#test/support/browser.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { someOf } from '#test/support/scale.ts';
import { type ScriptedIssuer, startScriptedIssuer } from '#test/support/scripted-issuer.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

const PHONE = { width: 360, height: 740 };
const DESKTOP = { width: 1280, height: 800 };

describe('the pages of the sign-in in a browser', () => {
  let browser: Browser;
  /** A service with the development issuer. */
  let service: InProcess;
  /** With two issuers. */
  let several: InProcess;
  let issuers: readonly ScriptedIssuer[] = [];
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];
  const requests: Request[] = [];

  before(async function () {
    const opened = await openBrowser();
    if (opened === undefined) return this.skip();
    browser = opened;
    issuers = await Promise.all([startScriptedIssuer(), startScriptedIssuer()]);
    [service, several] = await Promise.all([
      startInProcess(),
      startInProcess({}, { OIDC_ISSUERS: issuers.map(({ url }) => `${url} our-client`).join(',') }),
    ]);
  });

  after(async () => {
    await browser?.close();
    await service?.stop();
    await several?.stop();
    await Promise.all(issuers.map((issuer) => issuer.stop()));
    await removeTemporaryFolders();
  });

  const open = async (options: BrowserContextOptions = {}): Promise<void> => {
    await context?.close();
    context = await browser.newContext({ viewport: PHONE, locale: 'en', ...options });
    page = await context.newPage();
    complaints.length = 0;
    requests.length = 0;
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (sent) => requests.push(sent));
  };

  afterEach(async () => {
    await context?.close();
  });

  const call = async (path: string, body: object): Promise<Record<string, unknown>> => {
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    return (await answer.json()) as Record<string, unknown>;
  };

  const invite = async (): Promise<string> => {
    const { id } = await call('/v1/patients', { given: 'Marie', family: 'Curie', birth_date: '1867-11-07' });
    return String((await call(`/v1/patients/${String(id)}/invitations`, {})).url);
  };

  /** Signs in on the development issuer's page. */
  const signIn = async (email: string): Promise<void> => {
    await page.getByRole('textbox').fill(email);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };

  const heading = (): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();

  /** Checks that a page is accessible, that its policy refused nothing, and that nothing is wider than the screen. */
  const isFine = async (): Promise<void> => {
    expect(await accessibilityFaults(page), page.url()).to.deep.equal([]);
    expect(complaints.filter((text) => !text.includes('the server responded with'))).to.deep.equal([]);
    const width: unknown = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(width, 'no sideways scrolling').to.be.at.most(0);
  };

  const screens = [
    ['a dark desktop in Arabic', { viewport: DESKTOP, colorScheme: 'dark', locale: 'ar' }],
    ['a narrow screen in German', { viewport: { width: 320, height: 600 }, locale: 'de-CH' }],
    ['a phone', { viewport: PHONE }],
    ['a dark phone', { viewport: PHONE, colorScheme: 'dark' }],
    ['a desktop', { viewport: DESKTOP }],
    ['a phone in Arabic', { viewport: PHONE, locale: 'ar' }],
  ] as const;
  for (const [name, options] of someOf(screens, 1))
    it(`is accessible on ${name}`, async () => {
      await open(options);
      await page.goto(`${several.url}/signin`);
      await isFine();
      expect(await page.getByRole('main').getByRole('link').count()).to.equal(2);
      const [first] = issuers;
      if (first !== undefined) first.script = { claims: { nonce: 'other' } };
      await page.getByRole('main').getByRole('link').first().click();
      await page.waitForURL(/callback/);
      await isFine();
      if (first !== undefined) first.script = {};
      await page.getByRole('main').getByRole('link').click();
      await page.waitForURL(/signin\/out/);
      await isFine();
      await page.getByRole('button').click();
      await isFine();
      await page.goto(`${service.url}/invitations?code=none`);
      await isFine();
      await page.goto(await invite());
      await isFine();
      await page.getByRole('main').getByRole('link').click();
      await page.getByRole('textbox').fill('marie@example.org');
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.waitForURL(/invitations/);
      await isFine();
      await page.getByRole('main').getByRole('button').click();
      await isFine();
      expect(await page.locator('input[aria-invalid=true]').getAttribute('aria-describedby')).to.equal(
        'fault why',
      );
      await page.locator('input[type=date]').fill('1867-11-07');
      await page.getByRole('main').getByRole('button').click();
      await page.getByRole('status').waitFor();
      await isFine();
      const locale = 'locale' in options ? options.locale.slice(0, 2) : 'en';
      const root = page.locator('html');
      expect(await root.getAttribute('lang')).to.equal(locale);
      expect(await root.getAttribute('dir')).to.equal(locale === 'ar' ? 'rtl' : 'ltr');
    });

  it('redeems an invitation without scripts, by the keyboard alone', async () => {
    const url = await invite();
    await open({ javaScriptEnabled: false });
    await page.goto(url);
    const press = async (key: string, times = 1): Promise<void> => {
      for (let n = 0; n < times; n += 1) await page.keyboard.press(key);
    };
    // The first element is the language menu, followed by the only link.
    await press('Tab', 2);
    await press('Enter');
    await page.waitForURL(/dev\/authorize/);
    await press('Tab');
    await page.keyboard.type('marie@example.org');
    await press('Enter');
    await page.waitForURL(/invitations/);
    expect(await heading()).to.equal('Connect the health record of Marie');
    await page.locator('input[type=date]').focus();
    await page.keyboard.type('11071867');
    await press('Enter');
    await page.getByRole('status').waitFor();
    expect(await heading()).to.equal('The record is connected');
  });

  it('sends the origin of its forms, and the code of an invitation to nobody', async () => {
    const url = await invite();
    const code = new URL(url).searchParams.get('code') ?? '';
    await open();
    await page.goto(url);
    await page.getByRole('main').getByRole('link').click();
    await signIn('curious@example.org');
    await page.waitForURL(/invitations/);
    await page.locator('input[type=date]').fill('1867-11-08');
    await page.getByRole('button', { name: 'Connect the record' }).click();
    await page.getByRole('alert').waitFor();
    const posted = requests.filter(
      (sent) => sent.method() === 'POST' && sent.url().includes('/invitations/'),
    );
    expect(posted).to.have.length(1);
    expect(await posted[0]?.headerValue('origin')).to.equal(service.url);
    for (const sent of requests.slice(1)) {
      expect(sent.url()).not.to.include(code);
      expect((await sent.headerValue('referer')) ?? '').not.to.include(code);
    }
    expect(await page.content()).not.to.include(code);
    const seen: unknown = await page.evaluate('document.cookie');
    expect(seen).to.equal('');
  });

  it('changes the language by the menu, and keeps it through the sign-in', async () => {
    await open({ javaScriptEnabled: false });
    await page.goto(await invite());
    await page.locator('summary').click();
    await page.getByRole('link', { name: 'Français' }).click();
    expect(await heading()).to.equal('Invitation à un dossier de santé');
    await page.getByRole('link', { name: 'Se connecter' }).click();
    await signIn('pierre@example.org');
    await page.waitForURL(/invitations/);
    expect(await heading()).to.equal('Relier le dossier de santé de Marie');
  });

  it('signs nobody out by a form of another origin', async () => {
    await open();
    await page.goto(`${service.url}/signin`);
    await signIn('stays@example.org');
    await page.waitForURL(/signin\/out/);
    await page.goto(`${issuers[0]?.url}/jwks`);
    await page.setContent(
      `<form method="post" action="${service.url}/signin/out"><button>Go</button></form>`,
    );
    const [answer] = await Promise.all([
      page.waitForResponse(`${service.url}/signin/out`),
      page.getByRole('button').click(),
    ]);
    // A different port counts as the same site, so the browser sends the cookie. The form's origin is what the service checks.
    expect(answer.status()).to.equal(403);
    await page.goto(`${service.url}/signin/out`);
    expect(await heading()).to.equal('You are signed in');
  });
});
