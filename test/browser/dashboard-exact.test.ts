/** The dashboard's URLs: times are exact, and ids belong to an environment. */
import { expect } from 'chai';
import { beginProject, callAs, settle, useDashboard } from '#test/support/dashboard.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';

describe('the URLs of the dashboard', () => {
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
});
