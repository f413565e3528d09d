/** Times and ids in the dashboard: times are exact, and ids belong to an environment. */
import { expect } from 'chai';
import { beginProject, callAs, settle, useDashboard } from '#test/support/dashboard.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { identityOf } from '#test/support/me.ts';
import { eventually } from '#test/support/process.ts';

describe('times and ids in the dashboard', () => {
  let service: InProcess;
  const { open } = useDashboard((started) => {
    service = started;
  });

  it('keep the fraction of a second of a time that isn’t changed, and ids in their environment', async () => {
    const page = await open('exact@example.org');
    const project = await beginProject(page, 'Exact');
    const { key } = await callAs<{ readonly key: string }>(page, `/admin/projects/${project}/keys`, {
      name: 'server',
      environment: 'sandbox',
    });
    const body = JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Seen' }] });
    const made = await service.fhir('/Patient', { method: 'POST', key, body });
    const { lastUpdated } = made.json.meta as { readonly lastUpdated: string };
    const at = lastUpdated.replace(/(?:\.\d+)?Z$/, '.654321Z');
    const sandbox = page.url();
    await page.goto(`${sandbox}/patients/${String(made.json.id)}?at=${at}`);
    await settle(page);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    expect(new URL(page.url()).searchParams.get('at')).to.equal(at);
    await page.goto(
      `${sandbox}/patients/${String(made.json.id)}?part=changes&from=2026-01-01T00:00:00.5Z&to=${at}`,
    );
    await settle(page);
    await page.getByRole('form', { name: 'Changes' }).getByRole('button', { name: 'Show' }).click();
    const { searchParams } = new URL(page.url());
    expect([searchParams.get('from'), searchParams.get('to')]).to.deep.equal(['2026-01-01T00:00:00.5Z', at]);
    const other = page.getByRole('link', { name: 'Production', exact: true });
    expect(await other.getAttribute('href')).to.match(/production\/patients$/);
    const found = () =>
      callAs<{ readonly data: readonly { readonly request_id: string }[] }>(
        page,
        `/admin/projects/${project}/logs?environment=sandbox&method=POST`,
      );
    await eventually(async () => (await found()).data.length > 0);
    const request = (await found()).data[0]?.request_id ?? '';
    await page.goto(`${sandbox.replace(/sandbox$/, 'production')}/requests/${request}`);
    await page.waitForURL(`${sandbox}/requests/${request}`);
    await settle(page);
    expect(await other.getAttribute('href')).to.match(/production\/requests$/);
  });

  it('accept any moment up to now, however long the page has been open', async () => {
    const page = await open('later@example.org');
    const project = await beginProject(page, 'Later');
    const { key } = await callAs<{ readonly key: string }>(page, `/admin/projects/${project}/keys`, {
      name: 'server',
      environment: 'sandbox',
    });
    const body = JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Seen' }] });
    const made = await service.fhir('/Patient', { method: 'POST', key, body });
    await page.clock.install();
    await page.goto(`${page.url()}/patients/${String(made.json.id)}`);
    await settle(page);
    await page.clock.fastForward('02:00:00');
    const hour = await page.evaluate(() => {
      const at = new Date(Date.now() - 3_600_000);
      return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 19);
    });
    await page.getByLabel('Any moment').fill(hour);
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.waitForURL(/[?&]at=/);
  });

  it('lead nowhere in an organization that the person has left', async () => {
    const page = await open('leaver@example.org');
    await beginProject(page, 'Left');
    const { data } = await callAs<{ readonly data: readonly { readonly id: string }[] }>(
      page,
      '/admin/organizations',
    );
    await callAs(page, `/admin/organizations/${data[0]?.id}/members`, {
      ...identityOf(service, 'stays@example.org'),
      role: 'owner',
    });
    await page.getByRole('link', { name: 'Members', exact: true }).click();
    await page.getByRole('button', { name: 'Remove leaver@example.org' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
    expect(await page.getByRole('link', { name: 'Keys', exact: true }).count()).to.equal(0);
  });

  it('filter the audit by days in UTC, as the fields say', async () => {
    const page = await open('auditor@example.org');
    await beginProject(page, 'Audited');
    for (const screen of ['/audit', '/audit/access-log']) {
      await page.goto(`${page.url().replace(/sandbox.*$/, 'sandbox')}${screen}`);
      await settle(page);
      for (const label of ['From (UTC)', 'To (UTC)'])
        expect(await page.getByLabel(label).count(), `${screen}: ${label}`).to.equal(1);
    }
  });

  it('lead to a version that isn’t among the newest 200', async () => {
    const page = await open('historian@example.org');
    const project = await beginProject(page, 'History');
    const { key } = await callAs<{ readonly key: string }>(page, `/admin/projects/${project}/keys`, {
      name: 'server',
      environment: 'sandbox',
    });
    const write = (path: string, method: string, family: string, id?: unknown) =>
      service.fhir(path, {
        ...{ method, key },
        body: JSON.stringify({ resourceType: 'Patient', id, name: [{ family }] }),
      });
    const { id } = (await write('/Patient', 'POST', 'First')).json;
    for (let n = 2; n <= 202; n += 1) await write(`/Patient/${String(id)}`, 'PUT', `Name${n}`, id);
    await page.goto(`${page.url()}/patients/${String(id)}/entries/Patient/${String(id)}?version=1`);
    await page.getByText('This is version 1; the newest is 202.').waitFor();
    expect(await page.getByText('Version 1 isn’t').count()).to.equal(0);
  });

  it('say a value and a reference range with only one end in all their digits', async () => {
    const page = await open('ranger@example.org');
    const project = await beginProject(page, 'Ranges');
    const { key } = await callAs<{ readonly key: string }>(page, `/admin/projects/${project}/keys`, {
      name: 'server',
      environment: 'sandbox',
    });
    const write = (type: string, rest: object) =>
      service.fhir(`/${type}`, {
        method: 'POST',
        key,
        body: JSON.stringify({ resourceType: type, ...rest }).replace(/"(\d\.\d+)"/g, '$1'),
      });
    const { id } = (await write('Patient', { name: [{ family: 'Ranged' }] })).json;
    await write('Observation', {
      ...{
        status: 'final',
        subject: { reference: `Patient/${String(id)}` },
        effectiveDateTime: '2026-01-01',
      },
      code: { text: 'LDL', coding: [{ system: 'http://loinc.org', code: '18262-6' }] },
      valueQuantity: { value: '2.50', unit: 'mmol/L' },
      referenceRange: [{ high: { value: '3.0', unit: 'mmol/L' } }],
    });
    await page.goto(`${page.url()}/patients/${String(id)}`);
    await page.getByRole('button', { name: 'Chart LDL' }).click();
    await page.getByText('Shaded: the reference range, ≤ 3.0.').waitFor();
    await page.getByText('Values', { exact: true }).click();
    await page
      .getByRole('region', { name: 'LDL' })
      .getByRole('cell', { name: '2.50', exact: true })
      .waitFor();
    await page
      .getByRole('region', { name: 'LDL' })
      .getByRole('cell', { name: '≤ 3.0', exact: true })
      .waitFor();
  });
});
