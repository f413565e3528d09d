/** Steps for testing the dashboard in a browser. */
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import { accessibilityFaults, LOOKS, openBrowser, picture } from './browser.ts';
import { type GrantData, grantData, granted, revoked } from './consents.ts';
import { type InProcess, startInProcess } from './in-process.ts';
import { inDays, newPatient } from './me.ts';
import { eventually } from './process.ts';
import { RecordEvents } from './record-events.ts';
import { everyNth } from './scale.ts';
import { removeTemporaryFolders } from './temporary.ts';

const DESKTOP = { width: 1440, height: 900 };

/** Dashboard pages in a test suite. */
export interface Dashboard {
  /** Console lines and errors since the last page was opened. */
  readonly complaints: readonly string[];
  /** Signs a person in, in a browser context of their own, which is closed after the test: on a desktop, in English. */
  open(email: string): Promise<Page>;
}

/**
 * Starts a browser and a service before a suite's tests, and stops them afterwards. If there is no browser, the tests are
 * skipped.
 * @param prepare runs before the tests; pages that it opens stay open until the end
 * @param settings additional environment variables for the service
 */
export function useDashboard(
  prepare: (service: InProcess) => Promise<void> | void,
  settings: Readonly<Record<string, string>> = {},
): Dashboard {
  const complaints: string[] = [];
  const pages: Page[] = [];
  let kept = 0;
  let browser: Browser | undefined;
  let service: InProcess | undefined;

  before(async function () {
    browser = await openBrowser();
    if (browser === undefined) return this.skip();
    service = await startInProcess({}, settings);
    await prepare(service);
    kept = pages.length;
  });

  afterEach(async () => {
    for (const page of pages.splice(kept)) await page.context().close();
  });

  after(async () => {
    await browser?.close();
    await service?.stop();
    await removeTemporaryFolders();
  });

  return {
    complaints,
    async open(email) {
      if (browser === undefined || service === undefined) throw new Error('the service is not started yet');
      const context = await browser.newContext({ viewport: DESKTOP, locale: 'en' });
      const page = await context.newPage();
      pages.push(page);
      complaints.length = 0;
      page.on('console', (message) => complaints.push(message.text()));
      page.on('pageerror', (error) => complaints.push(error.message));
      await signInTo(page, service.url, email);
      return page;
    },
  };
}

/** Waits until nothing on the page is loading any more. */
export async function settle(page: Page): Promise<void> {
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.waitForFunction(() => document.querySelector('.loading') === null);
}

/**
 * Checks a page in every look, and saves a picture of each. The page must not scroll sideways, and must be accessible. `npm
 * test` checks accessibility in only one look, which varies between pages.
 * @param url loaded in each look; by default, the page isn't reloaded
 */
export async function checkLooks(page: Page, name: string, url?: string): Promise<void> {
  const examined = everyNth(LOOKS, LOOKS.length, name.length);
  for (const each of LOOKS) {
    const { colorScheme, size, viewport } = each;
    const look = `${name}-${colorScheme}-${size}`;
    await page.setViewportSize(viewport);
    await page.emulateMedia({ colorScheme });
    if (url !== undefined) await page.goto(url);
    await settle(page);
    if (examined.includes(each)) expect(await accessibilityFaults(page), look).to.deep.equal([]);
    const beyond = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(beyond, `${look} scrolls sideways`).to.equal(0);
    expect(await page.evaluate(findCellsOverNext), `${look} has cells over others`).to.deep.equal([]);
    await picture(page, look);
  }
  await page.setViewportSize(DESKTOP);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Returns the texts of cells with content that is wider than the cell and therefore covers the next cell. */
export function findCellsOverNext(): string[] {
  return [...document.querySelectorAll('td')]
    .filter((cell) =>
      [...cell.querySelectorAll(':not(.away)')].some(
        (part) => part.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1,
      ),
    )
    .map(({ textContent }) => textContent ?? '');
}

/** Signs in at the development issuer, and waits for the first screen. */
export async function signInTo(page: Page, url: string, email: string): Promise<void> {
  await page.goto(`${url}/app`);
  await page.getByRole('textbox').fill(email);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
}

/** Creates an organization with a project on the first screen, and returns the project's id. */
export async function beginProject(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name: 'New organization' }).first().click();
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create', exact: true }).click();
  await page.getByRole('heading', { level: 1, name }).waitFor();
  return new URL(page.url()).pathname.split('/')[3] ?? '';
}

/**
 * Calls a gateway route as the page's person.
 * @param body sent with POST
 * @throws Error if the response isn't a success
 */
export async function callAs<T>(page: Page, path: string, body?: object): Promise<T> {
  const { status, text } = await page.evaluate(
    async ([where, sent]) => {
      const answer = await fetch(`/app/api${where}`, {
        headers: { 'X-Service-Session': '1', 'Content-Type': 'application/json' },
        ...(sent === null ? {} : { method: 'POST', body: sent }),
      });
      return { status: answer.status, text: await answer.text() };
    },
    [path, body === undefined ? null : JSON.stringify(body)] as const,
  );
  if (status > 299) throw new Error(`${path}: ${status} ${text}`);
  return JSON.parse(text) as T;
}

/**
 * Gives an application four grants: an active grant, and three that were ended by the person, by a newer grant, and by expiry.
 */
export async function addConsents(service: InProcess, project: string, application: string): Promise<void> {
  const events = await RecordEvents.open(service.databaseUrl);
  try {
    const record = await newPatient(service);
    const grant = (rest: Partial<GrantData>): GrantData =>
      grantData({ application_id: application, project_id: project, sector: application, ...rest });
    const [active, stopped, replaced] = [
      { scopes: ['patient/Condition.rs'], sentences: ['Read diagnoses and health problems'] },
      { granted_by: 'representative' as const },
      { purpose: null },
    ].map((rest) => grant({ expires_at: inDays(30), ...rest })) as [GrantData, GrantData, GrantData];
    const over = grant({ expires_at: inDays(-1) });
    const given = [active, stopped, replaced, over].map(granted);
    await events.append(record, ...given, revoked(stopped), revoked(replaced, 'replaced'));
    await eventually(async () => {
      const ended = await service.pool.query(
        'select 1 from consents.grants where application_id = $1 and ended_at is not null',
        [application],
      );
      return (ended.rowCount ?? 0) >= 2;
    });
  } finally {
    await events.close();
  }
}

/** Fills a project with what its screens show: a key, requests, a week's usage, and nearly the maximum number of endpoints. */
export async function fillProject(page: Page, service: InProcess, project: string): Promise<void> {
  const { key } = await callAs<{ readonly key: string }>(page, `/admin/projects/${project}/keys`, {
    name: 'server',
    environment: 'sandbox',
  });
  // One of the paths is longer than its column.
  const none = `none${'-none'.repeat(12)}`;
  for (const path of ['/Patient', `/Patient/${none}/_history/${none}`]) await service.fhir(path, { key });
  await service.pool.query(
    `insert into operations.usage (project, environment, day, requests, reads, writes, stored, client_errors, server_errors)
     select $1, 'sandbox', (now() at time zone 'utc')::date - n, 1000 + 90 * (n % 3), 900, 100, 100000,
            case when n < 5 then 20 * n end, case when n < 5 then n % 2 end
       from generate_series(1, 7) n`,
    [project],
  );
  const application = await callAs<{ readonly id: string }>(page, `/admin/projects/${project}/applications`, {
    name: 'Diary',
    environment: 'sandbox',
    kind: 'public',
    redirect_uris: ['https://diary.example/callback'],
    scopes: ['patient/*.rs'],
  });
  await addConsents(service, project, application.id);
  for (let n = 0; n < 8; n += 1)
    await callAs(page, `/admin/projects/${project}/webhooks`, {
      url: `http://localhost:9/${n}`,
      events: ['*'],
      environment: 'sandbox',
    });
  await eventually(
    async () =>
      (await callAs<{ readonly total: number }>(page, `/admin/projects/${project}/logs?status=404`)).total ===
      1,
  );
}
