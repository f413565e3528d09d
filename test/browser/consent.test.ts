/** The consent page in a real browser: English and Arabic, phone and desktop, light and dark, with and without scripts. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { LANGUAGES } from '#src/http/pages/texts.ts';
import {
  authorizePath,
  MOTHER,
  startWorkshop,
  stopWorkshop,
  type Workshop,
} from '#test/support/authorization.ts';
import { accessibilityFaults, openBrowser, picture } from '#test/support/browser.ts';
import { startGuestHost } from '#test/support/guest-host.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { portOf } from '#test/support/process.ts';
import { itAtFullSize, someOf } from '#test/support/scale.ts';

const SCOPE = 'openid fhirUser offline_access launch/patient patient/*.rs patient/Observation.c';

const SIZES = {
  phone: { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 900 } },
} as const;

const WORDS = {
  en: { allow: 'Allow', deny: 'Deny', results: /^Read laboratory results/, dir: 'ltr' },
  ar: { allow: 'السماح', deny: 'الرفض', results: /^قراءة نتائج المختبر/, dir: 'rtl' },
} as const;

/** A server that answers every request with an empty page and records the requests. */
interface Application {
  readonly server: Server;
  /** The callback URL, with the host that the browser uses. */
  readonly callback: string;
  readonly asked: {
    readonly url: string;
    readonly referer: string | undefined;
    readonly method: string | undefined;
    readonly body: string;
  }[];
}

async function startApplication(host: string): Promise<Application> {
  const asked: Application['asked'] = [];
  const server = createServer(async (request, response) => {
    const { method, url = '', headers } = request;
    asked.push({ url, referer: headers.referer, method, body: await text(request) });
    response.setHeader('Content-Type', 'text/html');
    response.end('<!doctype html><title>Diary</title><link rel="icon" href="data:,">');
  }).listen(0, host === '[::1]' ? '::1' : '127.0.0.1');
  await once(server, 'listening');
  return { server, asked, callback: `http://${host}:${portOf(server)}/callback` };
}

describe('the consent page in a browser', () => {
  let browser: Browser;
  let service: InProcess;
  let workshop: Workshop;
  let application: Application;
  let clientId: string;
  let context: BrowserContext | undefined;
  let page: Page;
  /** The browser's own error messages, about requests that the policy refused or that weren't found. */
  const complaints: string[] = [];
  const requested: string[] = [];

  before(async function () {
    const opened = await openBrowser();
    if (opened === undefined) return this.skip();
    browser = opened;
    ({ service, workshop } = await startWorkshop());
    application = await startApplication('localhost');
    ({ client_id: clientId } = await workshop.register({ redirect_uris: [application.callback] }));
  });

  after(async () => {
    await browser?.close();
    application?.server.close();
    await stopWorkshop(service);
  });

  afterEach(async () => {
    await context?.close();
    context = undefined;
  });

  /** Opens an authorization request in a new browser profile, signs in, and stops at the consent page. */
  const open = async (
    options: BrowserContextOptions,
    changes: Readonly<Record<string, string | undefined>> = {},
    { email = MOTHER, client = clientId } = {},
  ): Promise<void> => {
    context = await browser.newContext(options);
    page = await context.newPage();
    complaints.length = 0;
    requested.length = 0;
    application.asked.length = 0;
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requested.push(request.url()));
    const all = { redirect_uri: application.callback, scope: SCOPE, purpose: 'treatment', ...changes };
    await page.goto(service.url + authorizePath(client, all));
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(`${service.url}/oauth/consent?*`);
  };

  const answer = async (): Promise<Record<string, string>> => {
    await page.waitForURL(`${application.callback}?*`);
    return Object.fromEntries(new URL(page.url()).searchParams);
  };

  const boxOf = async (name: string): Promise<{ x: number; y: number; width: number; height: number }> =>
    (await page.getByRole('button', { name, exact: true }).boundingBox()) ?? {
      x: 0,
      y: 0,
      width: 0,
      height: 0,
    };

  /** Returns whether Allow and Deny are both visible in the window. */
  const areButtonsInSight = (): Promise<boolean> =>
    page.locator('.decide button').evaluateAll((buttons) =>
      buttons.every((button) => {
        const { top, bottom } = button.getBoundingClientRect();
        return top >= 0 && bottom <= (button.ownerDocument.defaultView?.innerHeight ?? 0);
      }),
    );

  const ways = (['en', 'ar'] as const).flatMap((lang) =>
    (['phone', 'desktop'] as const).flatMap((size) =>
      [true, false].map((javaScriptEnabled) => ({ lang, size, javaScriptEnabled })),
    ),
  );
  // The first three cover each language and each size, both with and without scripts.
  const first = [ways[0], ways[7], ways[2]].filter((each) => each !== undefined);
  for (const { lang, size, javaScriptEnabled } of someOf(
    [...first, ...ways.filter((each) => !first.includes(each))],
    3,
  )) {
    const { allow, deny, results, dir } = WORDS[lang];
    it(`leads back with a code: ${lang}, ${size}, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
      await open({ ...SIZES[size], javaScriptEnabled }, { lang });
      expect(await page.locator('html').getAttribute('dir')).to.equal(dir);
      const [one, other] = [await boxOf(allow), await boxOf(deny)];
      // Both buttons have equal weight: the same size and the same look.
      expect(Math.abs(one.width - other.width)).to.be.lessThan(1);
      expect(one.height).to.equal(other.height).and.be.at.least(44);
      if (size === 'desktop') expect(one.x < other.x).to.equal(dir === 'ltr');
      await page.locator('.group summary').click();
      await page.getByRole('checkbox', { name: results }).first().uncheck();
      await page.getByRole('radio', { name: /180/ }).check();
      await page.getByRole('button', { name: allow, exact: true }).click();
      expect(await answer())
        .to.include({ state: 'st&te', iss: service.url })
        .and.have.property('code');
      // The application's server received no callback before this, and isn't told the page's URL.
      expect(application.asked.filter(({ url }) => url.startsWith('/callback'))).to.have.length(1);
      expect(application.asked.map(({ referer }) => referer)).to.deep.equal(
        application.asked.map(() => undefined),
      );
      expect(complaints).to.deep.equal([]);
      const { rows } = await service.pool.query<{ scopes: string[]; lang: string; days: number }>(
        'select scopes, lang, round((expires_at - granted_at) / 86400000000.0)::int as days from consents.grants order by granted_at desc limit 1',
      );
      expect(rows[0]).to.include({ lang, days: 180 });
      expect(rows[0]?.scopes).to.include('patient/Condition.rs').and.not.include('patient/*.rs');
    });
  }

  for (const lang of ['en', 'ar'] as const) {
    it(`says of a guest what is certain, and leads back to a port of this machine: ${lang}`, async () => {
      const host = await startGuestHost();
      try {
        const redirect = `http://localhost${new URL(application.callback).pathname}`;
        const client = host.publish('/client.json', {
          client_name: `Assistant of ${'everybody '.repeat(5)}`,
          redirect_uris: [redirect],
        });
        await open(SIZES.phone, { lang }, { client });
        expect(await page.locator('.asker .name').textContent()).to.equal(new URL(host.url).host);
        expect(await accessibilityFaults(page)).to.deep.equal([]);
        await picture(page, `guest-${lang}`);
        const width = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(width).to.equal(SIZES.phone.viewport.width);
        await page.getByRole('button', { name: WORDS[lang].allow, exact: true }).click();
        expect(await answer()).to.have.property('code');
        expect(complaints).to.deep.equal([]);
      } finally {
        await host.stop();
      }
    });
  }

  it('says in words what everything is, with closed groups and both buttons in sight, without scripts', async () => {
    await open(
      { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, javaScriptEnabled: false },
      { scope: 'openid offline_access launch/patient patient/*.cruds' },
    );
    const asked = page.getByRole('region', { name: 'What Health diary asks for' }).getByRole('listitem');
    expect(await asked.allTextContents()).to.have.length(5);
    expect((await asked.allTextContents()).slice(0, 3)).to.deep.equal([
      'Read results, health problems, medicines, allergies, vaccinations, procedures, visits and stays, documents, care plans and goals, devices, contact persons and origins of entries',
      'Add, change and delete all of these and name and contact data',
      'This can include sensitive matters, such as mental health, addiction, pregnancy, sexual health or infections such as HIV',
    ]);
    expect(await page.getByText('confirmed').first().isVisible()).to.equal(true);
    // The page as first shown: the groups' boxes are hidden, and Allow and Deny are visible without scrolling.
    expect(await page.getByRole('checkbox').count()).to.equal(1);
    expect(await areButtonsInSight()).to.equal(true);
    expect(await page.evaluate('document.documentElement.scrollHeight')).to.be.at.most(3_600);
    const groups = page.locator('details.group');
    const state = (n: number) => groups.nth(n).locator('summary').innerText();
    expect([await groups.count(), await state(0), await state(1)].join()).to.match(
      /^2,.*All boxes are checked,.*All boxes are checked$/s,
    );
    await groups.first().locator('summary').click();
    const boxes = groups.first().getByRole('checkbox');
    expect(await boxes.count()).to.equal(12);
    await boxes.nth(3).uncheck();
    expect(await state(0))
      .to.include('Some boxes are cleared')
      .and.not.include('All boxes');
    await groups.first().locator('summary').click();
    expect(await boxes.nth(3).isVisible()).to.equal(false);
    // The focused element is never hidden behind the buttons.
    const last = page.getByRole('radio', { name: /365/ });
    await last.focus();
    const { y = 0, height = 0 } = (await last.boundingBox()) ?? {};
    expect(y + height).to.be.at.most((await boxOf('Allow')).y);
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    const above = await page.getByText('If you allow access, you can end it at any time.').boundingBox();
    expect((above?.y ?? 0) + (above?.height ?? 0)).to.be.at.most((await boxOf('Allow')).y);
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    expect(await answer()).to.have.property('code');
    const { rows } = await service.pool.query<{ scopes: string[] }>(
      'select scopes from consents.grants order by granted_at desc limit 1',
    );
    expect(rows[0]?.scopes).to.include('patient/Condition.rs').and.include('patient/*.cud');
    expect(rows[0]?.scopes.join()).not.to.match(/AllergyIntolerance\.rs/);
  });

  it('leads back with access_denied', async () => {
    await open({});
    await page.getByRole('button', { name: 'Deny', exact: true }).click();
    expect(await answer()).to.include({ error: 'access_denied', state: 'st&te', iss: service.url });
    expect(complaints).to.deep.equal([]);
  });

  it('leads to an IPv6 address, which a policy can only name by its scheme', async () => {
    const other = await startApplication('[::1]');
    try {
      const { client_id } = await workshop.register({ redirect_uris: [other.callback] });
      await open({}, { redirect_uri: other.callback }, { client: client_id });
      await page.getByRole('button', { name: 'Deny', exact: true }).click();
      await page.waitForURL(`${other.callback}?*`);
    } finally {
      other.server.close();
    }
  });

  it('sends a private-use scheme to the system', async () => {
    const back = 'org.example.diary:/back';
    const { client_id } = await workshop.register({ redirect_uris: [back] });
    await open({}, { redirect_uri: back }, { client: client_id });
    const answered = page.waitForResponse((response) => response.request().method() === 'POST');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    const response = await answered;
    expect(response.status()).to.equal(303);
    expect(response.headers().location).to.match(
      /^org\.example\.diary:\/back\?code=[\w-]{43}&state=st%26te&iss=/,
    );
    expect(complaints.filter((line) => /form-action/.test(line))).to.deep.equal([]);
  });

  for (const javaScriptEnabled of [true, false])
    it(`sends a form for form_post, ${javaScriptEnabled ? 'by itself' : 'by a button without scripts'}`, async () => {
      await open({ javaScriptEnabled }, { response_mode: 'form_post' });
      await page.getByRole('button', { name: 'Allow', exact: true }).click();
      if (!javaScriptEnabled) {
        expect(await page.getByRole('button').count()).to.equal(1);
        await page.getByRole('button', { name: 'Continue', exact: true }).click();
      }
      await page.waitForURL(application.callback);
      expect(application.asked.map(({ method, referer }) => [method, referer])).to.deep.include([
        'POST',
        undefined,
      ]);
      const sent = application.asked.find(({ method }) => method === 'POST');
      expect(Object.fromEntries(new URLSearchParams(sent?.body))).to.include({
        state: 'st&te',
        iss: service.url,
      });
      expect(complaints).to.deep.equal([]);
    });

  itAtFullSize(
    'shows a stranger where a faulty request leads, in every language and both themes',
    async () => {
      const looks = Object.keys(LANGUAGES).map(
        (lang, n) => ({ lang, theme: n % 2 === 0 ? 'light' : 'dark' }) as const,
      );
      for (const { lang, theme } of looks) {
        context = await browser.newContext({ ...SIZES.phone, colorScheme: theme });
        page = await context.newPage();
        const asked = { redirect_uri: application.callback, scope: 'magic', lang };
        await page.goto(service.url + authorizePath(clientId, asked));
        expect(await page.getByRole('alert').count(), lang).to.equal(1);
        expect(await accessibilityFaults(page), lang).to.deep.equal([]);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), lang).to.be.at.most(
          0,
        );
        if (process.env.ANNAL_TEST_PICTURES !== undefined)
          await page.screenshot({
            path: `${process.env.ANNAL_TEST_PICTURES}/fault-${lang}-${theme}.png`,
            fullPage: true,
          });
        const { host } = new URL(application.callback);
        await page.getByRole('link', { name: host }).click();
        expect(await answer()).to.include({ error: 'invalid_scope', state: 'st&te', iss: service.url });
        await context.close();
      }
      context = undefined;
    },
  );

  it('is operated by the keyboard alone', async () => {
    await open({ javaScriptEnabled: false });
    const reached: string[] = [];
    const focused = async (): Promise<string> => {
      const field = page.locator(':focus');
      const [name, value] = [await field.getAttribute('name'), await field.getAttribute('value')];
      return `${name ?? ''}=${value ?? ''} ${(await field.textContent())?.trim() ?? ''}`;
    };
    for (let n = 0; n < 60; n += 1) {
      await page.keyboard.press('Tab');
      const name = await focused();
      reached.push(name);
      if (name.startsWith('record=')) await page.keyboard.press('ArrowDown');
      if (name.includes('Choose one by one')) await page.keyboard.press('Enter');
      if (name.startsWith('item=read:conditions')) await page.keyboard.press('Space');
      if (name.startsWith('days=')) await page.keyboard.press('ArrowDown');
      if (name.startsWith('decision=allow')) break;
    }
    // The hidden button that handles Enter is not in the tab order.
    expect(reached.some((name) => name.startsWith('decision=review'))).to.equal(false);
    expect(reached.findIndex((name) => name.startsWith('record='))).to.be.lessThan(
      reached.findIndex((name) => name.startsWith('item=')),
    );
    await page.keyboard.press('Enter');
    expect(await answer()).to.have.property('code');
    const { rows } = await service.pool.query<{ scopes: string[]; granted_by: string; days: number }>(
      'select scopes, granted_by, round((expires_at - granted_at) / 86400000000.0)::int as days from consents.grants order by granted_at desc limit 1',
    );
    expect(rows[0]).to.include({ granted_by: 'representative', days: 90 });
    expect(rows[0]?.scopes).not.to.include('patient/Condition.rs');
  });

  it('decides nothing when Enter is pressed in a field', async () => {
    const email = `enter-${Date.now()}@example.org`;
    await open({}, {}, { email });
    await page.getByLabel('Given name').fill('Nia');
    await page.keyboard.press('Enter');
    await page.waitForURL(`${service.url}/oauth/consent?lang=en`);
    expect(await page.getByLabel('Given name').inputValue()).to.equal('Nia');
    expect(await page.getByRole('alert').count()).to.equal(0);
  });

  it('starts a new record, and says what is missing beside the field', async () => {
    await open({ ...SIZES.phone }, {}, { email: `start-${Date.now()}@example.org` });
    await page.getByLabel('Given name').fill('Nia');
    await page.getByLabel('Family name').fill('Okoye');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    const alert = page.getByRole('alert');
    expect(await alert.textContent()).to.include('Enter the birth date with day, month and year.');
    // The focus moves to the list of errors, and each error links to its field.
    expect(await alert.evaluate((element) => element === element.ownerDocument.activeElement)).to.equal(true);
    await alert.getByRole('link').click();
    expect(await page.getByLabel('Birth date').getAttribute('aria-describedby')).to.equal('birthdate-fault');
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await page.getByLabel('Birth date').fill('1990-02-03');
    await page.getByRole('button', { name: 'Allow', exact: true }).click();
    expect(await answer()).to.have.property('code');
  });

  it('hides the fields of a new record until it is chosen', async () => {
    await open({});
    expect(await page.getByLabel('Birth date').isVisible()).to.equal(false);
    await page.getByRole('radio', { name: /A new, empty record/ }).check();
    expect(await page.getByLabel('Birth date').isVisible()).to.equal(true);
  });

  it('changes its language by the menu, without scripts', async () => {
    await open({ ...SIZES.phone, javaScriptEnabled: false, locale: 'fr-FR' });
    await page.locator('.menu summary').click();
    expect(await page.locator('.menu li').first().textContent()).to.equal('Français');
    await page.getByRole('link', { name: 'العربية' }).click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).to.include('يطلب الوصول');
    await page.locator('.menu summary').click();
    await page.getByRole('link', { name: 'Norsk' }).click();
    await page.getByRole('button', { name: 'Avslå', exact: true }).click();
    expect(await answer()).to.include({ error: 'access_denied' });
  });

  it('takes a form of the application’s own page, with which the browser sends no cookies', async () => {
    await open({});
    const asked = authorizePath(clientId, {
      redirect_uri: application.callback,
      state: 'by form',
      lang: 'nb',
    });
    const fields = [...new URL(asked, service.url).searchParams].map(
      ([name, value]) => `<input type="hidden" name="${name}" value="${value}">`,
    );
    await page.goto(application.callback);
    await page.setContent(
      `<form method="post" action="${service.url}/oauth/authorize">${fields.join('')}<button>Go</button></form>`,
    );
    await page.getByRole('button', { name: 'Go' }).click();
    await page.waitForURL(`${service.url}/oauth/consent?*`);
    // The person is still signed in, and their other requests still belong to this browser.
    await page.getByRole('button', { name: 'Avslå', exact: true }).click();
    expect(await answer()).to.include({ error: 'access_denied', state: 'by form' });
  });

  it('lets a person sign in with another account, and comes back', async () => {
    await open({});
    await page.getByRole('link', { name: 'Use another account' }).click();
    await page.getByLabel('E-mail address').fill('s-001@patients.example.org');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.waitForURL(`${service.url}/oauth/consent?*`);
    expect(await page.textContent('main'))
      .to.include('Sabine Vogel')
      .and.not.include('Nikolaidi');
  });

  it('passes the rules of accessibility, fits its window and loads nothing from elsewhere', async () => {
    const looks = Object.keys(LANGUAGES).flatMap((lang) =>
      Object.keys(SIZES).flatMap((size) => ['light', 'dark'].map((theme) => `${lang} ${size} ${theme}`)),
    );
    // Two complete looks come first. Looks in the other languages differ only in their text.
    const first = ['en desktop light', 'ar phone dark'];
    const texts = looks.filter((look) => /^(?!en|ar).* phone dark$/.test(look));
    const others = looks.filter((look) => /^(?:en|ar) /.test(look) && !first.includes(look));
    for (const what of someOf([...first, ...texts, ...others], first.length + 1)) {
      const [lang = '', size = '', theme = ''] = what.split(' ');
      const options = Object.entries(SIZES).find(([name]) => name === size)?.[1];
      await open({ ...options, colorScheme: theme === 'dark' ? 'dark' : 'light' }, { lang });
      expect(await accessibilityFaults(page), what).to.deep.equal([]);
      const wide = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
      expect(wide, what).to.be.at.most(0);
      if (!texts.includes(what)) {
        await page.locator('.menu summary').click();
        expect(await accessibilityFaults(page), `${what}, menu open`).to.deep.equal([]);
      }
      expect(await areButtonsInSight(), what).to.equal(true);
      if (process.env.ANNAL_TEST_PICTURES !== undefined)
        await page.screenshot({
          path: `${process.env.ANNAL_TEST_PICTURES}/consent-${what.replaceAll(' ', '-')}.png`,
        });
      const foreign = requested.filter((url) => !url.startsWith(service.url) && !url.startsWith('data:'));
      expect(foreign, what).to.deep.equal([]);
      expect(complaints, what).to.deep.equal([]);
      await context?.close();
    }
  });

  it('can be read at 320 pixels, with texts twice as large, and with forced colours', async () => {
    await open({ viewport: { width: 320, height: 640 }, forcedColors: 'active' }, { lang: 'de' });
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(320);
    await page.evaluate('document.documentElement.style.fontSize = "200%"');
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(320);
    expect(await page.getByRole('button', { name: 'Erlauben', exact: true }).isVisible()).to.equal(true);
  });

  it('can’t be framed, and errors are pages that pass the same rules', async () => {
    await open({});
    const { url } = { url: page.url() };
    await page.goto(application.callback);
    await page.setContent(`<iframe src="${url}"></iframe>`);
    const frame = await (await page.waitForSelector('iframe')).contentFrame();
    await frame?.waitForLoadState();
    expect(await frame?.locator('form').count()).to.equal(0);
    for (const changes of [{ redirect_uri: 'https://evil.example/' }, { state: '', lang: 'ar' }]) {
      await page.goto(
        service.url + authorizePath(clientId, { redirect_uri: application.callback, ...changes }),
      );
      expect(await page.getByRole('alert').count()).to.equal(1);
      expect(await accessibilityFaults(page)).to.deep.equal([]);
    }
  });
});
