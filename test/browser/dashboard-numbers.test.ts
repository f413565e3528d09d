/** The dashboard's numbers for a project's requests match what the interfaces return. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { addConsents, beginProject, callAs, useDashboard } from '#test/support/dashboard.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';

interface Listed<T> {
  readonly data: readonly T[];
  readonly total: number;
}
interface UsageDay {
  readonly date: string;
  readonly environment: string;
  readonly requests: number;
  readonly client_errors: number | null;
  readonly server_errors: number | null;
  readonly reads: number;
  readonly writes: number;
}
interface Consent {
  readonly status: 'active' | 'revoked' | 'expired';
  readonly end_reason: string | null;
  readonly revoked_at: string | null;
  readonly expires_at: string;
  readonly scopes_text: readonly string[];
  readonly patient: string;
  readonly application: { readonly id: string };
}
interface Made {
  readonly id: string;
  readonly key: string;
  readonly client_id: string;
  readonly client_secret: string;
}

/** Requests per minute; the tests send fewer. */
const LIMIT = 2_000;

describe('the dashboard’s numbers', () => {
  let service: InProcess;
  let page: Page;
  let project: string;
  const { complaints, open } = useDashboard(
    (started) => {
      service = started;
    },
    { RATE_LIMIT_PER_MINUTE: String(LIMIT) },
  );

  const begin = async (name: string): Promise<void> => {
    page = await open(`${name.toLowerCase()}@example.org`);
    project = await beginProject(page, name);
  };

  afterEach(() => expect(complaints).to.deep.equal([]));

  const ask = <T>(path: string, body?: object): Promise<T> =>
    callAs<T>(page, `/admin/projects/${project}${path}`, body);
  const makeKey = (name: string): Promise<Made> =>
    ask('/keys', { name, environment: 'sandbox', scopes: ['read', 'write'] });
  const get = async (path: string, key: string): Promise<string> =>
    (await service.fhir(path, { key })).headers.get('service-request-id') ?? '';
  const logged = (id: string): Promise<void> =>
    eventually(async () => (await ask<Listed<unknown>>(`/logs?request_id=${id}`)).total === 1);
  const idsOnPage = (): Promise<string[]> =>
    page.locator('tbody tr code').filter({ hasText: /^req_/ }).allInnerTexts();
  const idsOfApi = async (query: string): Promise<string[]> =>
    (await ask<Listed<{ readonly request_id: string }>>(`/logs?environment=sandbox&${query}`)).data.map(
      ({ request_id }) => request_id,
    );

  it('filters the log by key, application and time, all of them in the URL', async () => {
    await begin('Filters');
    const [first, second] = [await makeKey('first'), await makeKey('second')];
    const application = await ask<Made>('/applications', {
      name: 'Diary',
      environment: 'sandbox',
      kind: 'confidential',
      redirect_uris: [],
      grant_types: ['client_credentials'],
      scopes: ['system/*.rs'],
    });
    const token = await fetch(`${service.url}/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: application.client_id,
        client_secret: application.client_secret,
      }),
    });
    const { access_token: access } = (await token.json()) as { readonly access_token: string };
    const sent = [
      await get('/Patient', first.key),
      await get('/Patient/none', first.key),
      await get('/Patient', second.key),
      await get('/Patient', access),
    ];
    for (const id of sent) await logged(id);
    const [oldest = '', , third = '', ofApplication = ''] = sent;
    const shows = async (ids: readonly string[], query: string): Promise<void> => {
      const asked = [...new URLSearchParams(query)].sort();
      const expected = await idsOfApi(query);
      expect(expected).to.have.members([...ids]);
      await eventually(async () => {
        const shown = [[...new URL(page.url()).searchParams].sort(), await idsOnPage()];
        return isDeepStrictEqual(shown, [asked, expected]);
      });
    };
    await page.getByRole('link', { name: 'Requests', exact: true }).click();
    await shows(sent, '');
    await page.getByLabel('Key').selectOption({ label: `first …${first.key.slice(-4)}` });
    await shows(sent.slice(0, 2), `key=${first.id}`);
    await page.getByLabel('Status').selectOption('4xx');
    await shows(sent.slice(1, 2), `key=${first.id}&status=4xx`);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await page.getByLabel('Application').selectOption({ label: 'Diary' });
    await shows([ofApplication], `application=${application.id}`);
    expect(await page.getByRole('row').nth(1).innerText()).to.include('Diary');
    await page.getByRole('button', { name: 'Clear filters' }).click();
    const [{ ts } = { ts: '' }] = (await ask<Listed<{ readonly ts: string }>>(`/logs?request_id=${third}`))
      .data;
    await page.goto(`${page.url()}?from=${ts}`);
    await shows(sent.slice(2), `from=${ts}`);
    await page.getByLabel('Path begins with').fill('/fhir/R4/Patient');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await shows(sent.slice(2), `from=${ts}&path=/fhir/R4/Patient`);
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await shows(sent, '');
    expect(await page.getByLabel('From').inputValue()).to.equal('');
    await page.getByLabel('Until').fill('2020-01-01T00:00:30');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.getByText('No request matches.').waitFor();
    const { searchParams } = new URL(page.url());
    expect(Date.parse(searchParams.get('to') ?? '')).to.equal(Date.parse('2020-01-01T00:00:30'));
    await page.goto(page.url().replace(/\?.*/, `?status=404&request_id=${oldest}`));
    await page.getByText('No request matches.').waitFor();
    expect(await page.getByLabel('Status').inputValue()).to.equal('404');
    expect(await page.getByLabel('Request id').inputValue()).to.equal(oldest);
  });

  itAtFullSize('shows the errors of each day first, and says where they were not recorded', async () => {
    await begin('Usage');
    const key = await makeKey('one');
    const last = [await get('/Patient', key.key), await get('/Patient/none', key.key)].at(-1) ?? '';
    await logged(last);
    await service.pool.query(
      `insert into operations.usage (project, environment, day, requests, reads, writes, stored, client_errors, server_errors)
         values ($1, 'sandbox', (now() at time zone 'utc')::date - 3, 1200, 1000, 200, 4096, null, null),
                ($1, 'sandbox', (now() at time zone 'utc')::date - 1, 30, 20, 10, 2048, 7, 3),
                ($1, 'production', (now() at time zone 'utc')::date - 1, 90, 20, 10, 2048, 9, 9)`,
      [project],
    );
    const days = async () =>
      (await ask<Listed<UsageDay>>('/usage')).data.filter(({ environment }) => environment === 'sandbox');
    await eventually(async () => (await days()).at(-1)?.client_errors === 1);
    await page.getByRole('link', { name: 'Usage', exact: true }).click();
    await page.getByRole('row').nth(3).waitFor();
    expect(await page.getByRole('columnheader').allInnerTexts()).to.deep.equal([
      'Day (UTC)',
      'Failed (5xx)',
      'Refused (4xx)',
      'Requests',
      'Reads',
      'Writes',
      'Stored',
    ]);
    const shown = await page
      .locator('tbody tr')
      .evaluateAll((rows) =>
        rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText)),
      );
    const told = (count: number | null): string =>
      count === null ? 'not recorded' : count.toLocaleString('en');
    const expected = (await days()).map(({ date, ...day }) => [
      new Date(date).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }),
      told(day.server_errors),
      told(day.client_errors),
      told(day.requests),
      told(day.reads),
      told(day.writes),
    ]);
    expect(shown.map((cells) => cells.slice(0, 6))).to.deep.equal(expected.reverse());
    expect(shown.map(([, failed]) => failed)).to.deep.equal(['0', '3', 'not recorded']);
    expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).to.deep.equal([
      'Errors',
      'Requests',
    ]);
    for (const what of ['Errors', 'Requests'])
      expect(
        await page
          .getByRole('img', { name: `${what} by day` })
          .locator('canvas')
          .count(),
      ).to.equal(1);
    await page.getByRole('row').nth(1).getByRole('link', { name: '1', exact: true }).click();
    await page.getByRole('row').filter({ hasText: last }).waitFor();
    expect(await idsOnPage()).to.deep.equal([last]);
  });

  itAtFullSize(
    'says how close limits are, and announces those nearly reached on the first screen',
    async () => {
      await begin('Limits');
      const [busy, quiet] = [await makeKey('busy'), await makeKey('quiet')];
      for (let n = 0; n < 7; n += 1)
        await ask('/webhooks', {
          url: `http://localhost:9/${n}`,
          environment: 'sandbox',
          events: ['*'],
        });
      const last = await get('/Patient', quiet.key);
      await logged(last);
      expect(await page.getByRole('heading', { name: 'Limits nearly reached' }).count()).to.equal(0);
      const send = (requests: number, status: number): Promise<unknown> =>
        service.pool.query(
          `insert into operations.request_log (request_id, at, project, environment, key_id, method, path, status, ms)
         select 'req_' || $3::int4 || n, (extract(epoch from clock_timestamp()) * 1000000)::int8, $1, 'sandbox', $2, 'GET',
                '/fhir/R4/Patient', $3::int4, 1 from generate_series(1, $4::int4) n`,
          [project, busy.id, status, requests],
        );
      await send(LIMIT * 0.79 - 2, 200);
      await send(2, 429);
      await service.pool.query(
        'insert into operations.key_use (key_id, used_at) values ($1, (extract(epoch from now()) * 1000000)::int8)',
        [busy.id],
      );
      await page.getByRole('link', { name: 'Limits', exact: true }).click();
      const readRow = async (name: string): Promise<string[]> =>
        page
          .getByRole('region', { name: 'Limits', exact: true })
          .getByRole('row')
          .filter({ hasText: name })
          .getByRole('cell')
          .allInnerTexts();
      await page.getByRole('row').filter({ hasText: 'busy' }).waitFor();
      const [, used, share] = await readRow('busy');
      const { total } = await ask<Listed<unknown>>(`/logs?key=${busy.id}&limit=1`);
      expect(used).to.equal(`${total.toLocaleString('en')} of ${LIMIT.toLocaleString('en')}`);
      expect(share?.trim()).to.equal('79%');
      expect((await readRow('quiet'))[1]).to.equal(`1 of ${LIMIT.toLocaleString('en')}`);
      expect((await readRow('Webhook endpoints')).slice(1).map((text) => text.trim())).to.deep.equal([
        '7 of 10',
        '70%',
      ]);
      const [, mine = ''] = await readRow('Your requests');
      expect(Number(mine.split(' ')[0])).to.be.within(10, LIMIT / 2);
      await page.getByText('2 requests were refused because of a limit in the last 24 hours (429).').click();
      await page.getByRole('row').nth(2).waitFor();
      expect((await idsOnPage()).sort()).to.deep.equal(['req_4291', 'req_4292']);
      expect(await page.getByLabel('Status').inputValue()).to.equal('429');
      await send(LIMIT * 0.01, 201);
      await ask('/webhooks', { url: 'http://localhost:9/more', environment: 'sandbox', events: ['*'] });
      await page.getByRole('link', { name: 'Overview', exact: true }).click();
      await page.getByRole('heading', { name: 'Limits nearly reached' }).waitFor();
      for (const [name, is] of [
        ['busy', `1,600 of ${LIMIT.toLocaleString('en')}`],
        ['Webhook endpoints', '8 of 10'],
      ] as const) {
        const [, amount, state] = await readRow(name);
        expect([amount, state?.trim()]).to.deep.equal([is, '80% Nearly reached']);
      }
      expect(await readRow('quiet')).to.deep.equal([]);
    },
  );

  itAtFullSize(
    'shows what people allowed, in the sentences that they read, and when and why it ended',
    async () => {
      await begin('Consents');
      await page.getByRole('link', { name: 'Consents', exact: true }).click();
      await page.getByText('No person has allowed an application').waitFor();
      const register = async (name: string): Promise<string> =>
        (
          await ask<Made>('/applications', {
            name,
            environment: 'sandbox',
            kind: 'public',
            redirect_uris: ['https://diary.example/callback'],
            scopes: ['patient/*.rs'],
          })
        ).id;
      const [kept, deleted] = [await register('Diary'), await register('Gone')];
      await addConsents(service, project, kept);
      await addConsents(service, project, deleted);
      const removed = await page.evaluate(
        async (path) =>
          (await fetch(path, { method: 'DELETE', headers: { 'X-Service-Session': '1' } })).status,
        `/app/api/admin/applications/${deleted}`,
      );
      expect(removed).to.equal(204);
      const list = () => ask<Listed<Consent>>('/consents?environment=sandbox');
      await eventually(async () =>
        (await list()).data.some(({ end_reason }) => end_reason === 'application_deleted'),
      );
      const { data, total } = await list();
      expect(total).to.equal(8);
      expect(data.map(({ status, end_reason }) => `${status} ${end_reason}`).sort()).to.deep.equal([
        'active null',
        ...['expired expired', 'expired expired'],
        'revoked application_deleted',
        ...['revoked patient', 'revoked patient'],
        ...['revoked replaced', 'revoked replaced'],
      ]);
      await page.reload();
      await page.getByText('8 consents').waitFor();
      await page.getByRole('link', { name: 'Diary' }).first().waitFor();
      const rows = await page
        .locator('tbody tr')
        .evaluateAll((all) =>
          all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.innerText)),
        );
      const said: Readonly<Record<string, string>> = {
        null: 'Ends on {}, unless somebody ends it earlier',
        patient: 'Ended on {}, by a person who has the record',
        replaced: 'Ended on {}, replaced by a newer consent of the same person',
        application_deleted: 'Ended on {}, because the application or its project was deleted',
        expired: 'Expired on {}',
      };
      const states = { active: 'Active', revoked: 'Ended', expired: 'Expired' };
      const timeZone = await page.evaluate(() => Intl.DateTimeFormat().resolvedOptions().timeZone);
      for (const [index, { status, end_reason, ...consent }] of data.entries()) {
        const day = new Date(consent.revoked_at ?? consent.expires_at);
        const told = day.toLocaleDateString('en-GB', { dateStyle: 'medium', timeZone });
        const [state, application, may, , patient] = rows[index] ?? [];
        expect(state?.split('\n')).to.deep.equal([
          states[status],
          said[String(end_reason)]?.replace('{}', told),
        ]);
        expect(application).to.match(consent.application.id === kept ? /^Diary$/ : /^(?:Gone|app_)/);
        for (const sentence of consent.scopes_text) expect(may).to.include(sentence);
        expect(patient).to.equal(consent.patient);
      }
      expect(await page.getByRole('link', { name: 'Diary' }).count()).to.equal(4);
      expect(await page.getByRole('link', { name: 'Gone' }).count()).to.equal(0);
    },
  );
});
