/** The dashboard with names and texts that contain no spaces. */
import { expect } from 'chai';
import { beginProject, callAs, settle, useDashboard } from '#test/support/dashboard.ts';
import type { InProcess } from '#test/support/in-process.ts';

const WORD = 'Krankenversicherungsnummernverzeichnis'.repeat(4);
const LONG_URL = `http://localhost:9/${'receiver'.repeat(12)}`;
const WIDTHS = [360, 1440];

describe('the dashboard with long words', () => {
  let service: InProcess;
  const { open } = useDashboard((started) => {
    service = started;
  });

  it('breaks them, so that no screen scrolls sideways', async () => {
    const page = await open('long@example.org');
    const project = await beginProject(page, WORD);
    const base = page.url();
    const { key } = await callAs<{ readonly key: string }>(page, `/admin/projects/${project}/keys`, {
      name: WORD,
      environment: 'sandbox',
    });
    const make = async (resourceType: string, rest: object): Promise<string> => {
      const body = JSON.stringify({ resourceType, ...rest });
      const { json, status } = await service.fhir(`/${resourceType}`, { method: 'POST', key, body });
      expect(status, resourceType).to.equal(201);
      return String(json.id);
    };
    const patient = await make('Patient', { name: [{ family: WORD }], identifier: [{ value: WORD }] });
    const subject = { reference: `Patient/${patient}` };
    const condition = await make('Condition', { subject, code: { text: WORD }, recordedDate: '2020-01-01' });
    await make('Observation', {
      ...{
        subject,
        status: 'final',
        code: { text: WORD, coding: [{ code: '718-7', system: 'http://loinc.org' }] },
      },
      ...{ valueQuantity: { value: 1, unit: WORD }, effectiveDateTime: '2020-01-01' },
    });
    const hook = await callAs<{ readonly id: string }>(page, `/admin/projects/${project}/webhooks`, {
      ...{ url: LONG_URL, events: ['*'], environment: 'sandbox' },
    });
    const record = `/patients/${patient}`;
    const screens = [
      ...['', record, `${record}?part=timeline`, `${record}?part=changes&from=2019-01-01T00:00:00Z`],
      ...[`${record}/entries/Condition/${condition}`, '/keys', `/webhooks/${hook.id}`, '/members'],
    ].map((screen) => base + screen);
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 800 });
      for (const screen of [`${service.url}/app`, ...screens]) {
        await page.goto(screen);
        await settle(page);
        const beyond = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(beyond, `${screen} at ${width}`).to.equal(0);
      }
    }
  });
});
