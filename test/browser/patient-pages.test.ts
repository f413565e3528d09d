/**
 * The pages for patients in a real browser: a patient's first five minutes in English and Arabic, with and without scripts;
 * every page on a phone and a desktop, light and dark.
 */
import { expect } from 'chai';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { MOTHER, startWorkshop, stopWorkshop, type Workshop } from '#test/support/authorization.ts';
import { accessibilityFaults, openBrowser, picture, savedAs } from '#test/support/browser.ts';
import { askAccess, letPass, pollAccess, registerCiba } from '#test/support/ciba.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { Journey } from '#test/support/oauth-journey.ts';
import { sheetsOf } from '#test/support/pdf-text.ts';
import { itAtFullSize, someOf } from '#test/support/scale.ts';

const SIZES = {
  phone: { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
  desktop: { viewport: { width: 1280, height: 900 } },
} as const;

/** A record's pages. */
const PAGES = [
  '',
  '/health',
  '/print',
  '/results',
  '/documents',
  '/timeline',
  '/applications',
  '/proposals',
  '/log',
  '/links',
  '/links/new',
  '/people',
  '/data',
];

/** The texts that the patient clicks on and reads. */
const WORDS = {
  en: {
    signIn: 'Sign in',
    connect: 'Connect the record',
    see: 'See the record',
    problem: 'Type 2 diabetes mellitus',
    decide: /Look at it and decide/,
    allow: 'Allow',
    approved: 'You gave access. You can end it at any time.',
    never: 'Has not read anything yet',
    read: /Read once in the last 7 days, last today: results/,
    logged: /Read results/,
    end: 'End access',
    revoked: 'The access has ended. None of its keys works any more.',
    none: 'No application has access',
  },
  ar: {
    signIn: 'تسجيل الدخول',
    connect: 'ربط السجلّ',
    see: 'الاطّلاع على السجلّ',
    problem: 'Type 2 diabetes mellitus',
    decide: /الاطّلاع واتخاذ القرار/,
    allow: 'السماح',
    approved: 'لقد سمحت بالوصول. يمكنك إنهاؤه في أي وقت.',
    never: 'لم يقرأ شيئاً بعد',
    read: /قرأ مرة واحدة في آخر 7 أيام، آخرها اليوم: النتائج/,
    logged: /قرأ: النتائج/,
    end: 'إنهاء الوصول',
    revoked: 'انتهى الوصول. لم يعد أي من مفاتيحه يعمل.',
    none: 'لا يوجد تطبيق لديه وصول',
  },
} as const;

describe('the pages of patients in a browser', () => {
  let browser: Browser;
  let service: InProcess;
  let workshop: Workshop;
  let journey: Journey;
  let writes: string;
  let context: BrowserContext | undefined;
  let page: Page;
  const complaints: string[] = [];
  const requested: string[] = [];

  before(async function () {
    const opened = await openBrowser();
    if (opened === undefined) return this.skip();
    browser = opened;
    ({ service, workshop } = await startWorkshop());
    journey = new Journey(service.url);
    const { key } = await workshop.owner.done('POST', `/projects/${workshop.project}/keys`, {
      name: 'writes',
      environment: 'sandbox',
      scopes: ['read', 'write'],
    });
    writes = String(key);
  });
  after(async () => {
    await browser?.close();
    await stopWorkshop(service);
  });
  afterEach(async () => {
    await context?.close();
    context = undefined;
  });

  const call = async (path: string, body: object, token = writes): Promise<Record<string, unknown>> => {
    const answer = await fetch(service.url + path, {
      method: 'POST',
      headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, unknown>;
  };
  const open = async (options: BrowserContextOptions): Promise<void> => {
    context = await browser.newContext(options);
    page = await context.newPage();
    complaints.length = 0;
    requested.length = 0;
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requested.push(request.url()));
  };
  let pictures = 0;
  /**
   * Checks that a page is accessible, that its policy refused nothing, that it loads nothing from other hosts, and that
   * nothing is wider than the screen.
   */
  const isFine = async (): Promise<void> => {
    pictures += 1;
    await picture(
      page,
      `${String(pictures).padStart(3, '0')}${new URL(page.url()).pathname.replace(/[^a-z]+/g, '-')}`,
    );
    expect(await accessibilityFaults(page), page.url()).to.deep.equal([]);
    expect(complaints.filter((text) => !text.includes('the server responded with'))).to.deep.equal([]);
    const width: unknown = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
    expect(width, `${page.url()}: no sideways scrolling`).to.be.at.most(0);
    expect(requested.filter((url) => !url.startsWith(service.url) && !url.startsWith('data:'))).to.deep.equal(
      [],
    );
  };

  for (const [lang, size, javaScriptEnabled] of someOf(
    [
      ['en', 'desktop', true],
      ['ar', 'phone', false],
      ['en', 'phone', false],
      ['ar', 'desktop', true],
    ] as const,
    2,
  ))
    it(`are a patient’s first five minutes: ${lang}, ${size}, ${javaScriptEnabled ? 'with' : 'without'} scripts`, async () => {
      const words = WORDS[lang];
      const email = `first-${lang}-${size}@example.org`;
      const fine = async (): Promise<void> => (javaScriptEnabled ? isFine() : undefined);
      const { id } = await call('/v1/patients', {
        given: 'Amina',
        family: 'Haddad',
        birth_date: '1984-12-12',
      });
      const record = String(id);
      await call(`/v1/patients/${record}/conditions`, {
        code: 'E11',
        display: 'Type 2 diabetes mellitus',
        author_type: 'practitioner',
      });
      for (const [value, day] of [
        [6.9, '2025-03-31'],
        [7.4, '2026-03-31'],
      ] as const)
        await call(`/v1/patients/${record}/observations`, {
          code: '4548-4',
          display: 'HbA1c',
          category: 'laboratory',
          effective_at: `${day}T09:00:00Z`,
          value,
          unit: '%',
          reference_range: { low: 4, high: 5.6 },
        });
      const { url } = await call(`/v1/patients/${record}/invitations`, {});

      // Redeem the invitation.
      await open({ ...SIZES[size], locale: lang, javaScriptEnabled });
      await page.goto(String(url));
      await page.getByRole('main').getByRole('link').click();
      await page.getByRole('textbox').fill(email);
      await page.locator('form').first().getByRole('button').first().click();
      await page.waitForURL(/invitations/);
      await page.locator('input[type=date]').fill('1984-12-12');
      await page.getByRole('button', { name: words.connect }).click();
      await page.getByRole('status').waitFor();
      await fine();

      // See the record.
      await page.getByRole('link', { name: words.see }).click();
      await page.waitForURL(/connections\/records/);
      expect(await page.locator('html').getAttribute('dir')).to.equal(lang === 'ar' ? 'rtl' : 'ltr');
      expect(await page.getByRole('heading', { level: 1 }).innerText()).to.equal('Amina Haddad');
      expect(await page.getByRole('main').innerText()).to.include(words.problem);
      await fine();
      const at = (part: string): string => `${service.url}/connections/records/${record}${part}?lang=${lang}`;
      await page.goto(at('/results'));
      expect(await page.locator('svg[role=img]').count()).to.equal(1);
      await fine();

      // Answer an access request.
      const client = await registerCiba(workshop, { name: 'Sugar diary' });
      const asked = await askAccess(journey, client, {
        ...{ login_hint: email, binding_message: 'Desk 7' },
        scope: 'openid offline_access patient/Observation.crus patient/Condition.rs',
      });
      expect(asked.status, asked.text).to.equal(200);
      await page.goto(`${service.url}/connections?lang=${lang}`);
      await fine();
      await page.getByRole('link', { name: words.decide }).click();
      expect(await page.getByRole('main').innerText()).to.include('Desk 7');
      await fine();
      await page.getByRole('radio', { name: /90/ }).check();
      await page.getByRole('button', { name: words.allow, exact: true }).click();
      await page.waitForURL(/applications/);
      expect(await page.getByRole('status').innerText()).to.equal(words.approved);
      expect(await page.getByRole('main').innerText()).to.include(words.never);
      await fine();

      // The application reads data, and the patient sees that it did.
      await letPass(service, 6);
      const tokens = await pollAccess(journey, client, asked);
      expect(tokens.status, tokens.text).to.equal(200);
      const reads = (): Promise<{ readonly status: number }> =>
        journey.read(tokens.access_token, '/fhir/R4/Observation');
      expect((await reads()).status).to.equal(200);
      await page.goto(at('/applications'));
      expect(await page.getByRole('main').innerText()).to.match(words.read);
      await page.goto(at('/log'));
      const log = await page.getByRole('main').innerText();
      expect(log).to.match(words.logged).and.include('Sugar diary');
      await fine();

      // The application suggests a value, and the patient accepts it.
      const { text } = await journey.read(tokens.access_token, '/fhir/R4/Patient');
      const patient = /"id":"([0-9a-f-]{36})"/.exec(text)?.[1];
      const part = (code: string, display: string, value: number) => ({
        code: { coding: [{ system: 'http://loinc.org', code, display }] },
        valueQuantity: { value, unit: 'mm[Hg]', system: 'http://unitsofmeasure.org', code: 'mm[Hg]' },
      });
      const proposed = await call(
        `/v1/patients/${patient}/proposals`,
        {
          ...{ operation: 'create', author_type: 'ai', rationale: 'You told it in the chat on Monday.' },
          resource: {
            ...{ resourceType: 'Observation', status: 'final', effectiveDateTime: '2026-11-23' },
            code: { coding: [{ system: 'http://loinc.org', code: '85354-9' }] },
            subject: { reference: `Patient/${patient}` },
            component: [
              part('8480-6', 'Systolic blood pressure', 128),
              part('8462-4', 'Diastolic blood pressure', 82),
            ],
          },
        },
        String(tokens.access_token),
      );
      await page.goto(at('/proposals'));
      await fine();
      await page.goto(at(`/proposals/${String(proposed.id)}`));
      expect(await page.getByRole('main').innerText())
        .to.include('128 mmHg')
        .and.include('82 mmHg');
      await fine();
      await page.locator('button[value=accept]').click();
      await page.waitForURL(/done=accepted/);
      await fine();

      // Revoke the grant; the application is then refused.
      await page.goto(at('/applications'));
      await page.getByRole('heading', { level: 3 }).getByRole('link').click();
      await fine();
      await page.getByRole('link', { name: words.end, exact: true }).click();
      await page.waitForURL(/\/end/);
      await fine();
      await page.getByRole('button', { name: words.end, exact: true }).click();
      await page.waitForURL(/done=revoked/);
      expect(await page.getByRole('status').innerText()).to.equal(words.revoked);
      expect(await page.getByRole('main').innerText()).to.include(words.none);
      await fine();
      expect((await reads()).status).to.equal(401);
    });

  const screens = [
    ['a dark phone in Arabic', { ...SIZES.phone, locale: 'ar', colorScheme: 'dark' }],
    ['a narrow screen in German', { viewport: { width: 320, height: 640 }, locale: 'de' }],
    ['a phone', { ...SIZES.phone, locale: 'en' }],
    ['a dark desktop', { ...SIZES.desktop, locale: 'en', colorScheme: 'dark' }],
    ['a desktop in Arabic', { ...SIZES.desktop, locale: 'ar' }],
  ] as const satisfies readonly (readonly [string, BrowserContextOptions])[];
  for (const [name, options] of someOf(screens, 1))
    it(`are accessible on ${name}`, async () => {
      await open(options);
      await page.goto(`${service.url}/connections`);
      await page.getByRole('textbox').fill(MOTHER);
      await page.locator('form').first().getByRole('button').first().click();
      await page.waitForURL(`${service.url}/connections`);
      await isFine();
      const record = await page.locator('.card.opens a').first().getAttribute('href');
      await page.goto(`${service.url}/connections/account`);
      await isFine();
      for (const part of [
        '',
        '/health',
        '/print',
        '/results',
        '/documents',
        '/timeline',
        '/applications',
        '/proposals',
        '/log',
        '/links',
        '/links/new',
        '/people',
        '/data',
        '/nothing',
      ]) {
        await page.goto(`${service.url}${record ?? ''}${part}`);
        await isFine();
      }
      await page.goto(`${service.url}${record ?? ''}/results`);
      await page.getByRole('heading', { level: 3 }).getByRole('link').first().click();
      await page.waitForURL(/results\/one/);
      await isFine();
      await page.getByRole('rowheader').getByRole('link').first().click();
      await page.waitForURL(/entries/);
      await isFine();
    });

  itAtFullSize(
    'print on sheets that say whose record it is, with every allergy and medicine and without navigation',
    async () => {
      const { id } = await call('/v1/patients', {
        given: 'Amina',
        family: 'Haddad',
        birth_date: '1984-12-12',
      });
      const subject = { reference: `Patient/${String(id)}` };
      const system = 'http://terminology.hl7.org/CodeSystem/allergyintolerance-clinical';
      const active = { clinicalStatus: { coding: [{ system, code: 'active' }] } };
      const names = Array.from({ length: 40 }, (_, n) => `Number${n + 1}`);
      const write = (type: string, more: object): Promise<unknown> =>
        call(`/fhir/R4/${type}`, { resourceType: type, ...more });
      for (const name of names) {
        await write('AllergyIntolerance', { ...active, patient: subject, code: { text: `Allergy${name}` } });
        await write('MedicationStatement', {
          ...{ subject, status: 'active', medicationCodeableConcept: { text: `Drug${name}` } },
          dosage: [{ text: 'One tablet in the morning' }],
        });
      }
      await call(`/v1/patients/${String(id)}/observations`, {
        ...{ code: '4548-4', display: 'HbA1c', category: 'laboratory', value: 7.4, unit: '%' },
        effective_at: '2026-03-31T09:00:00Z',
        reference_range: { low: 4, high: 5.6 },
      });
      const { url } = await call(`/v1/patients/${String(id)}/invitations`, {});
      await open({ ...SIZES.desktop, locale: 'en' });
      await page.goto(String(url));
      await page.getByRole('main').getByRole('link').click();
      await page.getByRole('textbox').fill('prints@example.org');
      await page.locator('form').first().getByRole('button').first().click();
      await page.waitForURL(/invitations/);
      await page.locator('input[type=date]').fill('1984-12-12');
      await page.getByRole('button', { name: WORDS.en.connect }).click();
      await page.getByRole('status').waitFor();
      for (const part of ['/print', '/health']) {
        await page.goto(`${service.url}/connections/records/${String(id)}${part}`);
        await isFine();
        const sheets = sheetsOf(await page.pdf({ format: 'A4', ...savedAs(`${part.slice(1)}.pdf`) }));
        expect(sheets.length, part).to.be.within(2, 8);
        for (const [n, sheet] of sheets.entries()) {
          expect(sheet, `${part}, sheet ${n + 1}`).to.match(
            /Amina Haddad ?· born 12 December 1984 · printed \d+ \w+ 20\d\d/,
          );
          expect(sheet).not.to.match(/Access log|Sign out|Skip to|The whole entry/);
          expect(sheet).to.match(new RegExp(`${n + 1} ?/ ?${sheets.length}`));
        }
        const all = sheets.join(' ');
        for (const name of names) expect(all).to.include(`Allergy${name}`).and.include(`Drug${name}`);
        expect(all.indexOf('Allergies')).to.be.lessThan(all.indexOf('Medicines'));
        if (part === '/print') expect(all).to.match(/HbA1c [^·]*7.4\s*%[ !]*Above the range/);
      }
    },
  );

  itAtFullSize(
    'are short on a phone: each page of the richest record of the sandbox, as first opened',
    async () => {
      await open({ ...SIZES.phone, locale: 'en' });
      await page.goto(`${service.url}/connections`);
      await page.getByRole('textbox').fill('s-001@patients.example.org');
      await page.locator('form').first().getByRole('button').first().click();
      await page.waitForURL(`${service.url}/connections`);
      const record = await page.locator('.card.opens a').first().getAttribute('href');
      for (const lang of ['en', 'de', 'ar'])
        for (const part of PAGES) {
          await page.goto(`${service.url}${record ?? ''}${part}?lang=${lang}`);
          const length: unknown = await page.evaluate('document.documentElement.scrollHeight');
          // The print page shows past medicines and who entered each entry. On the other pages, these are collapsed.
          expect(length, `${part} ${lang}`).to.be.at.most(part === '/print' ? 4_300 : 4_000);
          // No value is beyond the edge of the screen, not even in a part that scrolls sideways.
          const cut: unknown = await page.evaluate(
            `[...document.querySelectorAll('main td')].filter((cell) => {
            const { left, right } = cell.getBoundingClientRect();
            return left < 0 || right > innerWidth;
          }).map((cell) => cell.textContent.trim())`,
          );
          expect(cut, `${part} ${lang}`).to.deep.equal([]);
        }
      // The shared page isn't longer either. Out-of-range values come first, and none of them is collapsed.
      await page.goto(`${service.url}${record ?? ''}/links/new?lang=ar`);
      await page.locator('main form button').first().click();
      await page.waitForURL(/links\/shl_/);
      const link = /https?:\/\/[^"'<> ]+#shlink:\/[\w-]+/.exec(await page.content())?.[0];
      await page.goto(String(link));
      await page.locator('#recipient').fill('Dr Lind');
      await page.locator('form button').last().click();
      await page.locator('.part').first().waitFor();
      const length: unknown = await page.evaluate('document.documentElement.scrollHeight');
      expect(length, 'the shared page').to.be.at.most(4_000);
      const rows = await page.locator('#section-results ~ ul').first().locator('.row').allInnerTexts();
      expect(rows.length).to.be.at.least(8);
      expect(rows.slice(0, 2).every((row) => /mg\/dL|%/.test(row) && !/Cholesterol/.test(row))).to.equal(
        true,
      );
      const flagged = await page.locator('#section-results ~ ul > .flagged').count();
      expect(await page.locator('.part .flagged .measured').count()).to.equal(flagged);
    },
  );

  it('are reached by the keyboard: past the navigation, and by the folded list on a phone', async () => {
    await open({ ...SIZES.phone, locale: 'en', javaScriptEnabled: false });
    await page.goto(`${service.url}/connections`);
    await page.getByRole('textbox').fill(MOTHER);
    await page.locator('form').first().getByRole('button').first().click();
    await page.locator('.card.opens a').first().focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/records/);
    await page.keyboard.press('Tab');
    expect(await page.locator(':focus').innerText()).to.equal('Skip to the content');
    await page.locator('.side summary').focus();
    await page.keyboard.press('Enter');
    await page.getByRole('navigation').getByRole('link', { name: 'Access log' }).focus();
    await page.keyboard.press('Enter');
    await page.waitForURL(/log/);
    expect(await page.getByRole('heading', { level: 1 }).innerText()).to.equal('Access log');
  });
});
