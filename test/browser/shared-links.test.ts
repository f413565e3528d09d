/** Shared links in a real browser: the page opens our links and links of a third-party server, and contacts no other host. */
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { expect } from 'chai';
import { SHL, SHLManifestBuilder } from 'kill-the-clipboard';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { texts } from '#src/http/pages/texts.ts';
import { accessibilityFaults, openBrowser, picture } from '#test/support/browser.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { ipsExample } from '#test/support/ips.ts';
import { linkOf, me } from '#test/support/me.ts';
import { eventually, portOf } from '#test/support/process.ts';
import { RecordEvents } from '#test/support/record-events.ts';
import { itAtFullSize, someOf } from '#test/support/scale.ts';
import { revoke, share } from '#test/support/shared-links.ts';

const EMAIL = 'mira@example.org';
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };
const LOINC = 'http://loinc.org';
/** HTML in a record, which must never take effect. */
const HOSTILE = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';

const text = (value: string) => ({ text: value });
const clinical = (system: string, code: string) => ({
  coding: [{ system: `http://terminology.hl7.org/CodeSystem/${system}`, code }],
});

describe('the page of a shared link in a browser', () => {
  let browser: Browser;
  let service: InProcess;
  let events: RecordEvents;
  let record: string;
  let context: BrowserContext | undefined;
  let page: Page;
  const complaints: string[] = [];
  const requested: string[] = [];

  before(async function () {
    const opened = await openBrowser();
    if (opened === undefined) return this.skip();
    browser = opened;
    service = await startInProcess();
    events = await RecordEvents.open(service.databaseUrl);
    record = await newRecord();
  });
  after(async () => {
    await browser?.close();
    await events?.close();
    await service?.stop();
  });
  afterEach(async () => {
    await context?.close();
    context = undefined;
  });

  async function newRecord(): Promise<string> {
    const created = await service.post('/Patient', {
      resourceType: 'Patient',
      name: [{ family: 'Sand', given: ['Mira', 'Lou'] }],
      birthDate: '1957-03-14',
      gender: 'female',
    });
    const id = String(created.json.id);
    const subject = { reference: `Patient/${id}` };
    const patient = subject;
    const lab = (
      code: string,
      name: string,
      value: number,
      unit: string,
      [low, high]: [number, number],
      date: string,
    ) => ({
      resourceType: 'Observation',
      status: 'final',
      category: [clinical('observation-category', 'laboratory')],
      code: { coding: [{ system: LOINC, code }], text: name },
      subject,
      effectiveDateTime: date,
      valueQuantity: { value, unit, system: 'http://unitsofmeasure.org', code: unit },
      referenceRange: [{ low: { value: low, unit }, high: { value: high, unit } }],
    });
    for (const resource of [
      ...Array.from({ length: 14 }, (_, n) => ({
        resourceType: 'AllergyIntolerance',
        clinicalStatus: clinical('allergyintolerance-clinical', 'active'),
        code: text(`Pollen ${n}`),
        patient,
      })),
      {
        resourceType: 'AllergyIntolerance',
        clinicalStatus: clinical('allergyintolerance-clinical', 'active'),
        criticality: 'high',
        code: text('Penicillin'),
        patient,
        reaction: [{ manifestation: [text('Anaphylaxis')], severity: 'severe' }],
      },
      {
        resourceType: 'Condition',
        clinicalStatus: clinical('condition-clinical', 'active'),
        code: text('Type 2 diabetes mellitus'),
        subject,
        onsetDateTime: '2011-05',
      },
      {
        resourceType: 'Condition',
        clinicalStatus: clinical('condition-clinical', 'active'),
        code: text(`Hostile ${HOSTILE}`),
        subject,
        text: {
          status: 'additional',
          div: '<div xmlns="http://www.w3.org/1999/xhtml"><b>narrative</b></div>',
        },
      },
      {
        resourceType: 'MedicationStatement',
        status: 'active',
        medicationCodeableConcept: text('Metformin 850 mg'),
        subject,
        dosage: [{ text: '1 tablet twice a day' }],
      },
      {
        resourceType: 'MedicationStatement',
        status: 'active',
        medicationCodeableConcept: text('Methotrexate 15 mg'),
        subject,
        effectivePeriod: { start: '2024-01-01', end: '2025-03-31' },
        dosage: [{ timing: { repeat: { frequency: 1, period: 1, periodUnit: 'wk' } } }],
      },
      {
        resourceType: 'MedicationRequest',
        status: 'active',
        intent: 'order',
        medicationCodeableConcept: text('Metformin 850 mg'),
        subject,
      },
      {
        resourceType: 'Observation',
        status: 'final',
        category: [clinical('observation-category', 'laboratory')],
        code: { coding: [{ system: LOINC, code: '6690-2' }] },
        subject,
        effectiveDateTime: '2026-10-02T08:00:00Z',
        valueQuantity: { value: 6.1, system: 'http://unitsofmeasure.org', code: '10*3/uL' },
      },
      {
        resourceType: 'Observation',
        status: 'final',
        category: [clinical('observation-category', 'laboratory')],
        code: text('فحص البول'),
        subject,
        effectiveDateTime: '2026-10-02T08:00:00Z',
        component: [
          { code: text('البروتين'), valueQuantity: { value: 0.3, unit: 'g/L' } },
          { code: text('Glucose'), valueString: 'negative' },
        ],
      },
      lab('4548-4', 'HbA1c', 7.9, '%', [4, 6], '2026-10-02T08:00:00Z'),
      lab('4548-4', 'HbA1c', 8.4, '%', [4, 6], '2026-04-11T08:00:00Z'),
      lab('2160-0', 'Creatinine', 0.9, 'mg/dL', [0.5, 1.1], '2026-10-02T08:00:00Z'),
      lab('2160-0', 'Creatinine', 1, 'mg/dL', [0.5, 1.1], '2026-10-02T20:15:00+02:00'),
      lab('2951-2', 'Sodium', 131, 'mmol/L', [135, 145], '2026-10-02T08:00:00Z'),
      {
        resourceType: 'Observation',
        status: 'final',
        category: [clinical('observation-category', 'laboratory')],
        code: { coding: [{ system: LOINC, code: '2951-2' }], text: 'Sodium' },
        subject,
        effectiveDateTime: '2026-10-09',
        dataAbsentReason: text('clotted'),
      },
      {
        resourceType: 'Observation',
        status: 'final',
        category: [clinical('observation-category', 'vital-signs')],
        code: { coding: [{ system: LOINC, code: '85354-9' }], text: 'Blood pressure' },
        subject,
        effectiveDateTime: '2026-11-01T09:30:00Z',
        component: [
          {
            code: { coding: [{ system: LOINC, code: '8480-6' }] },
            valueQuantity: { value: 128, unit: 'mmHg' },
          },
          {
            code: { coding: [{ system: LOINC, code: '8462-4' }] },
            valueQuantity: { value: 82, unit: 'mmHg' },
          },
        ],
      },
    ])
      await service.post(`/${resource.resourceType}`, resource);
    const latex = {
      resourceType: 'AllergyIntolerance',
      clinicalStatus: clinical('allergyintolerance-clinical', 'active'),
      criticality: 'high',
      code: text('Latex'),
      patient,
    };
    const { json } = await service.post('/AllergyIntolerance', latex);
    const ofAi = { ...json, criticality: 'low', code: text(`Talc ${HOSTILE}`) };
    await service.fhir(`/AllergyIntolerance/${String(json.id)}`, {
      method: 'PUT',
      headers: { 'X-Service-Author-Type': 'ai' },
      body: JSON.stringify(ofAi),
    });
    await events.append(id, linkOf(service, EMAIL));
    await eventually(
      async () =>
        (await service.pool.query('select from consents.links where record = $1', [id])).rowCount === 1,
    );
    return id;
  }

  const open = async (url: string, options: BrowserContextOptions = PHONE): Promise<void> => {
    context ??= await browser.newContext(options);
    page = await context.newPage();
    complaints.length = 0;
    requested.length = 0;
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('request', (request) => requested.push(request.url()));
    await page.goto(url);
  };
  const enter = async (recipient: string, passcode?: string): Promise<void> => {
    await page.locator('#recipient').fill(recipient);
    if (passcode !== undefined) await page.locator('#passcode').fill(passcode);
    await page.locator('form button').click();
  };
  const isWide = (): Promise<boolean> =>
    page.evaluate('document.documentElement.scrollWidth > document.documentElement.clientWidth');

  const looks = [
    ['ar', 'dark'],
    ['en', 'light'],
    ['en', 'dark'],
    ['ar', 'light'],
  ] as const;
  for (const [lang, colorScheme] of someOf(looks, 1)) {
    it(`shows the summary on a phone: ${lang}, ${colorScheme}`, async () => {
      const link = await share(service, EMAIL, record, {
        content: 'summary',
        label: 'For Dr Lind',
        passcode: '402617',
      });
      const url = String(link.viewer_url).replace('/shl/view#', `/shl/view?lang=${lang}#`);
      const say = texts(lang);
      await open(url, { ...PHONE, colorScheme });
      await page.locator('form').waitFor();
      expect(await page.locator('h1').textContent()).to.equal('For Dr Lind');
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      await picture(page, `form-${lang}-${colorScheme}`);
      await page.locator('form button').click();
      await page.locator('[role=alert]').waitFor();
      expect(await page.evaluate('document.activeElement.id')).to.equal('recipient');
      await enter('Dr Lind, Clinic', '000000');
      await page.locator('#passcode[aria-invalid=true]').waitFor();
      expect(await page.locator('[role=alert]').textContent()).to.include('4');
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      await enter('Dr Lind, Clinic', '402617');
      await page.locator('section.patient').waitFor();
      const shown = (await page.locator('#viewer').innerText()).replace(/\s+/g, ' ');
      for (const each of [
        'Mira Lou Sand',
        'Penicillin',
        'Anaphylaxis',
        'Type 2 diabetes mellitus',
        'Metformin 850 mg',
        '1 tablet twice a day',
        `${say('result.hba1c')} 7.9 %`,
        '4 – 6',
        '128/82 mmHg',
        `${say('result.whitecells')} 6.1 10³/µL`,
        `البروتين: 0.3 g/L${lang === 'ar' ? '،' : ','} Glucose: negative`,
        `Hostile ${HOSTILE}`,
      ])
        expect(shown).to.include(each);
      expect(shown.split('Metformin 850 mg')).to.have.length(2);
      expect(await page.locator('.before li[lang=en]').allInnerTexts()).to.deep.equal([
        'Before AI changed it: Latex; Criticality: may be life-threatening; Status: active',
      ]);
      // No allergy is collapsed, and the dangerous one comes first.
      const allergies = await page.locator('#section-allergies ~ ul .name').allInnerTexts();
      expect(allergies).to.have.length(15);
      expect(allergies[0]).to.equal('Penicillin');
      const ended = await page.locator('.row', { hasText: 'Methotrexate 15 mg' }).innerText();
      expect(ended)
        .to.include(lang === 'ar' ? 'مرة واحدة أسبوعيًا' : 'once a week')
        .and.include(lang === 'ar' ? 'مدته انتهت' : 'but its time is over');
      expect(await page.locator('#section-results ~ ul .range bdi').first().getAttribute('dir')).to.equal(
        'ltr',
      );
      const flags = await page.locator('#section-results ~ ul .row:has(.badge) .name').allTextContents();
      expect(flags.filter((flag) => flag !== say('result.creatinine')).sort()).to.deep.equal(
        [say('result.hba1c'), say('result.sodium')].sort(),
      );
      // A later measurement without a result is shown beside the last value.
      const failed = await page.locator('.failed').allTextContents();
      expect(failed).to.deep.equal([
        `(${say.day(Date.parse('2026-10-09'))}: ${say('shl.novalue')}${say('shl.comma')} clotted)`,
      ]);
      expect(await page.locator('details.earlier').count()).to.equal(2);
      // A time is shown, as it was written, only for adjacent values from the same day.
      const days = await page.locator('#viewer .when').allTextContents();
      const times = days.flatMap((day) => /\d\d:\d\d.*/.exec(day) ?? []);
      expect(days.length).to.be.greaterThan(6);
      expect(times).to.deep.equal(['20:15', '08:00 UTC']);
      expect(await page.evaluate('document.activeElement.tagName')).to.equal('H1');
      expect(await page.evaluate('window.hacked')).to.equal(undefined);
      expect(await page.locator('#viewer img, #viewer script, #viewer b').count()).to.equal(0);
      expect(await page.evaluate('document.documentElement.dir')).to.equal(lang === 'ar' ? 'rtl' : 'ltr');
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      expect(await isWide()).to.equal(false);
      await picture(page, `summary-${lang}-${colorScheme}`);
      const origins = new Set(requested.map((each) => new URL(each).origin));
      expect([...origins]).to.deep.equal([service.url]);
      const key = String(link.shlink).slice('shlink:/'.length);
      expect(requested.filter((each) => each.split('#')[0]?.includes(key))).to.deep.equal([]);
      // A wrong passcode returns 401, which browsers report.
      expect(complaints.filter((each) => !each.includes('401'))).to.deep.equal([]);
      const { json } = await me(service, EMAIL, `/patients/${record}/shl/${link.id}`);
      expect(json).to.deep.include({ access_count: 1, status: 'active' });
    });
  }

  it('shows everything on a desktop, keeps the link in another language, and tells when it has ended', async () => {
    const link = await share(service, EMAIL, record, { content: 'everything' });
    await open(String(link.viewer_url), { viewport: { width: 1280, height: 900 } });
    await enter('Pharmacy');
    await page.locator('section.patient').waitFor();
    expect(await page.locator('#section-problems').count()).to.equal(1);
    const [latex, ...others] = await page.locator('.note.warn + .before li').allInnerTexts();
    expect(latex).to.match(/^Before AI changed it: Latex, May be life-threatening/);
    expect(others).to.deep.equal([]);
    await picture(page, 'everything-desktop');
    await page.locator('.contents a').first().click();
    expect(await page.evaluate('location.hash')).to.equal(`#${link.shlink}`);
    await page.locator('.menu summary').click();
    await page.locator('.menu a[lang=de]').click();
    await page.locator('form').waitFor();
    expect(await page.locator('label').first().textContent()).to.equal('Ihr Name und Ihre Praxis');
    await revoke(service, EMAIL, record, link.id);
    await enter('Pharmacy');
    await page.locator('#viewer > [role=alert]').waitFor();
    expect(await page.locator('[role=alert]').textContent()).to.include(
      'Bitten Sie die Person um einen neuen',
    );
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    // The page accepts another link.
    const next = await share(service, EMAIL, record, { content: 'everything' });
    await page.getByLabel('Adresse eines anderen Links').fill(String(next.viewer_url));
    await page.locator('form button').click();
    await page.getByLabel('Ihr Name und Ihre Praxis').waitFor();
  });

  it('saves a document without opening it', async () => {
    const data = Buffer.from('<script>window.hacked=1</script>').toString('base64');
    const created = await service.post('/DocumentReference', {
      resourceType: 'DocumentReference',
      status: 'current',
      type: text('Discharge letter'),
      subject: { reference: `Patient/${record}` },
      content: [{ attachment: { contentType: 'text/html', data, title: 'letter' } }],
    });
    const link = await share(service, EMAIL, record, { content: `document/${created.json.id}` });
    await open(String(link.viewer_url));
    await enter('Dr Lind');
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.locator('#section-documents ~ ul button').click(),
    ]);
    expect(download.suggestedFilename()).to.match(/^letter/);
    expect(await page.evaluate('window.hacked')).to.equal(undefined);
    expect(complaints).to.deep.equal([]);
  });

  itAtFullSize('explains links that it cannot open', async () => {
    const at = `${service.url}/shl/view`;
    await open(at);
    expect(await page.locator('#viewer').innerText()).to.include('This page opens links');
    for (const hash of ['shlink:/e30', 'shlink:/!!', 'nothing', '%E0%A4%A']) {
      await open(`${at}#${hash}`);
      await page.locator('[role=alert]').waitFor();
      expect(await page.locator('[role=alert]').textContent(), hash).to.include('not complete');
    }
    const both = Buffer.from(JSON.stringify({ url: `${service.url}/x`, key: 'A'.repeat(43), flag: 'PU' }));
    await open(`${at}#shlink:/${both.toString('base64url')}`);
    expect(await page.locator('[role=alert]').textContent()).to.include('this kind of link');
  });

  describe('with a server written by others', () => {
    let server: Server;
    let origin: string;
    let answer: (url: string, body: string) => { readonly status: number; readonly body: string };

    before(async () => {
      server = createServer(async (request, response) => {
        let body = '';
        for await (const part of request) body += String(part);
        response.setHeader('Access-Control-Allow-Origin', '*');
        response.setHeader('Access-Control-Allow-Headers', 'content-type');
        if (request.method === 'OPTIONS') response.end();
        else {
          const answered = answer(request.url ?? '', body);
          response.writeHead(answered.status, { 'Content-Type': 'application/json' }).end(answered.body);
        }
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      origin = `http://localhost:${portOf(server)}`;
    });
    after(() => void server?.close());

    /** Creates a link with the library and serves its files from this test. */
    async function foreign(embeddedLengthMax: number, flag?: 'P') {
      const files = new Map<string, string>();
      const shl = SHL.generate({
        baseManifestURL: origin,
        label: 'From elsewhere',
        ...(flag === undefined ? {} : { flag }),
      });
      const builder = new SHLManifestBuilder({
        shl,
        uploadFile: async (content) => {
          const path = `/files/${files.size}`;
          files.set(path, content);
          return path;
        },
        getFileURL: async (path) => origin + path,
        loadFile: async (path) => files.get(path) ?? '',
      });
      await builder.addFHIRResource({
        content: ipsExample('Bundle-IPS-examples-Bundle-01') as never,
        enableCompression: true,
      });
      const manifest = JSON.stringify(await builder.buildManifest({ embeddedLengthMax }));
      answer = (url, body) => {
        const file = files.get(url);
        if (file !== undefined) return { status: 200, body: file };
        if (flag === 'P' && !body.includes('"passcode":"right"'))
          return { status: 401, body: JSON.stringify({ remainingAttempts: 3 }) };
        return { status: 200, body: manifest };
      };
      return shl.toURI();
    }

    for (const embeddedLengthMax of [1_000_000, 0]) {
      it(`asks before it goes on, and opens the link: files of at most ${embeddedLengthMax} characters embedded`, async () => {
        const link = await foreign(embeddedLengthMax, 'P');
        await open(`${service.url}/shl/view#${link}`);
        await page.locator('a.button').waitFor();
        expect(await page.locator('h1').textContent()).to.include('localhost');
        expect(requested.filter((each) => each.startsWith(origin))).to.deep.equal([]);
        expect(await accessibilityFaults(page)).to.deep.equal([]);
        await page.locator('a.button').click();
        await page.locator('form').waitFor();
        await enter('Dr Lind', 'wrong');
        await page.locator('[role=alert]').waitFor();
        expect(await page.locator('[role=alert]').textContent()).to.include('3');
        await enter('Dr Lind', 'right');
        await page.locator('section.patient').waitFor();
        await picture(page, `foreign-${embeddedLengthMax}`);
        expect(await page.locator('h1').textContent()).to.not.equal('');
        expect(await page.locator('#section-allergies').count()).to.equal(1);
        const origins = new Set(requested.map((each) => new URL(each).origin));
        expect([...origins].sort()).to.deep.equal([service.url, origin].sort());
      });
    }

    it('is not asked before the click, even if the URL of the page names it', async () => {
      const link = await foreign(0);
      await open(`${service.url}/shl/view?from=${encodeURIComponent(origin)}#${link}`);
      await page.locator('a.button').waitFor();
      expect(await page.locator('form').count()).to.equal(0);
      await page.locator('a.button').click();
      await enter('Dr Lind');
      await page.locator('section.patient').waitFor();
    });

    it('is not asked by a page whose policy does not name it', async () => {
      const link = await foreign(0);
      await open(`${service.url}/shl/view?from=${encodeURIComponent('https://other.example')}#${link}`);
      await page.locator('a.button').waitFor();
      const refused = await page.evaluate(
        `fetch(${JSON.stringify(origin)}).then(() => 'sent', () => 'refused')`,
      );
      expect(refused).to.equal('refused');
    });
  });
});
