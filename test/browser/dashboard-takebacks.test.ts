/** The take-back screens in a real browser: from the selection to the report and the undo (docs/take-back.md). */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type Auditing, openAuditing, PATIENT, type Written, weightOf } from '#test/support/auditing.ts';
import { checkLooks, settle, useDashboard } from '#test/support/dashboard.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';

const SOURCE = 'Ward 3 analyser';

describe('the screens of take-backs', () => {
  let service: InProcess;
  let auditing: Auditing;
  let patient: Written;
  const { complaints, open } = useDashboard(async (started) => {
    service = started;
    auditing = await openAuditing(service);
    patient = await auditing.write(PATIENT);
  });

  /** Writes a weight. If an id is given, writes it as the next version of that Observation. */
  const weigh = async (value: number, source: string, id?: string): Promise<string> => {
    const answer = await service.fhir(id === undefined ? '/Observation' : `/Observation/${id}`, {
      key: auditing.sandbox.key,
      method: id === undefined ? 'POST' : 'PUT',
      headers: { 'X-Service-Source-System': source },
      body: JSON.stringify({ ...weightOf(patient.id, value), ...(id === undefined ? {} : { id }) }),
    });
    expect(answer.status, answer.text).to.be.below(300);
    return String(answer.json.id);
  };
  const readValue = async (id: string): Promise<unknown> => {
    const { status, json } = await service.fhir(`/Observation/${id}`, { key: auditing.sandbox.key });
    return status === 200 ? (json.valueQuantity as { readonly value: number }).value : status;
  };
  const screen = (path: string): string =>
    `${service.url}/app/projects/${auditing.project}/sandbox/takebacks${path}`;

  /** Checks how the screen looks in both themes, on a desktop and a phone. */
  const look = (page: Page, name: string): Promise<void> => checkLooks(page, `takeback-${name}`);

  it('lead an owner from the choice over the plan and the report to the undo', async () => {
    const [changed, added, later] = [
      await weigh(61, 'Clinic'),
      await weigh(700, SOURCE),
      await weigh(5, SOURCE),
    ];
    await weigh(900, SOURCE, changed);
    await weigh(62, 'Clinic', later);
    const read = await service.fhir(`${service.url}/v1/context`, {
      key: auditing.sandbox.key,
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ patient: patient.id, budget_tokens: 900, format: 'text' }),
    });
    expect(read.status).to.equal(200);
    await eventually(
      async () => (await service.pool.query('select 1 from operations.receipt')).rowCount === 1,
    );
    const page = await open('owner@clinic.example');
    await page.goto(screen('').replace('/takebacks', ''));
    await page.getByRole('link', { name: 'Take-backs', exact: true }).click();
    await page.getByText('Nothing was taken back in this project yet.').waitFor();
    await look(page, 'none');
    await page.getByRole('link', { name: 'Plan a take-back' }).click();
    const plan = page.getByRole('button', { name: 'Make the plan' });
    expect(await plan.isDisabled()).to.equal(true);
    await page.getByLabel('An API key').check();
    await page.getByRole('combobox', { name: 'API key' }).selectOption({ index: 1 });
    const listed = await page.getByRole('combobox', { name: 'API key' }).locator('option').allInnerTexts();
    expect(listed[1]).to.match(/^sandbox key …/);
    expect(listed).to.have.length(2);
    await page.getByLabel('A source system').check();
    await page.getByRole('textbox', { name: 'Source system' }).fill(SOURCE);
    await page.getByLabel('An AI').check();
    await look(page, 'form');
    await page.getByLabel('An AI').uncheck();
    await page.getByLabel('From (optional)').fill('2026-01-01T00:00');
    await page.getByLabel('Reason').fill('The analyser was calibrated wrongly.');
    await plan.click();
    await page.getByRole('heading', { level: 1, name: 'Take-back' }).waitFor();
    await settle(page);
    await page.getByRole('button', { name: 'Take this back …' }).waitFor();
    expect(await page.locator('.figures strong').allInnerTexts()).to.deep.equal(['3', '1', '1', '1']);
    await page.getByText(/^sandbox key …/).waitFor();
    const facts = await page.getByRole('main').innerText();
    for (const said of [
      SOURCE,
      'sandbox key …',
      'calibrated wrongly',
      'from 1 Jan 2026',
      'owner@clinic.example',
    ])
      expect(facts).to.include(said);
    const stays = page.getByRole('row').filter({ hasText: 'Others have changed it since' });
    expect(await stays.innerText()).to.include(later);
    await page.getByText('1 context for a language model').waitFor();
    await look(page, 'plan');
    await stays.getByRole('link').click();
    await page.getByRole('row').filter({ hasText: 'version 2' }).waitFor();
    expect(await page.getByRole('row').count()).to.equal(3);
    await page.goBack();

    expect(await Promise.all([changed, added, later].map(readValue))).to.deep.equal([900, 700, 62]);
    await page.getByRole('button', { name: 'Take this back …' }).click();
    const dialog = page.getByRole('dialog');
    const start = dialog.getByRole('button', { name: 'Take back' });
    await dialog.getByLabel('Confirm').fill('Pilo');
    expect(await start.isDisabled()).to.equal(true);
    await look(page, 'start');
    await dialog.getByLabel('Confirm').fill('Pilot');
    await start.click();
    await page.getByText('Taken back: 2 versions written in 1 record.').waitFor({ timeout: 60_000 });
    expect(await Promise.all([changed, added, later].map(readValue))).to.deep.equal([61, 410, 62]);
    await look(page, 'done');

    await page.getByRole('button', { name: 'Undo the take-back …' }).click();
    await dialog.getByRole('button', { name: 'Undo the take-back' }).click();
    await page.getByText('Undone: 2 versions written in 1 record.').waitFor({ timeout: 60_000 });
    expect(await Promise.all([changed, added, later].map(readValue))).to.deep.equal([900, 700, 62]);
    expect(await page.getByRole('button', { name: /Undo|Take/ }).count()).to.equal(0);
    await page.getByRole('navigation', { name: 'Project' }).getByRole('link', { name: 'Take-backs' }).click();
    const row = page.getByRole('row').filter({ hasText: SOURCE });
    await row.filter({ hasText: 'Undone' }).filter({ hasText: 'Sandbox' }).waitFor();
    await look(page, 'list');
    await page.locator('summary').filter({ hasText: 'owner@clinic.example' }).click();
    await page.getByLabel('Language').selectOption('Deutsch');
    await row.getByRole('link').click();
    await page.getByRole('heading', { level: 1, name: 'Zurücknahme' }).waitFor();
    await page.getByText('Rückgängig gemacht: 2 Fassungen in einer Akte geschrieben.').waitFor();
    await look(page, 'german');
    expect(complaints).to.deep.equal([]);
  });

  itAtFullSize('show their progress, continue what failed, and say what the service refuses', async () => {
    await weigh(3, 'Slow import');
    const page = await open('owner@clinic.example');
    const { id } = await auditing.owner.done('POST', `/projects/${auditing.project}/takebacks`, {
      ...{ select: { source_system: 'Slow import' }, environment: 'sandbox' },
    });
    await page.goto(screen(`/${id}`));
    await page.getByRole('button', { name: 'Take this back …' }).waitFor();
    // Sets the state that a large take-back has while it runs and after it has failed.
    const set = async (state: string, status: string, error: string | null): Promise<void> => {
      await service.pool.query('update operations.takeback set state = $2 where id = $1', [id, state]);
      await service.pool.query(
        `update operations.job set kind = 'takeback', status = $2, error = $3,
                progress = '{"done": 40, "total": 160, "unit": "records"}' where subject = $1`,
        [id, status, error],
      );
    };
    await set('running', 'done', null);
    await page.reload();
    await page.getByText('40 of 160 records.').waitFor();
    expect(await page.getByRole('progressbar').getAttribute('value')).to.equal('0.25');
    await look(page, 'progress');
    await set('running', 'failed', 'the read models lag behind the log');
    await page.getByText('the read models lag behind the log').waitFor();
    await look(page, 'failed');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('Taken back: 1 version written in 1 record.').waitFor({ timeout: 60_000 });
    await service.pool.query(
      'update operations.takeback set result = null, finished_at = null where id = $1',
      [id],
    );
    await set('running', 'failed', 'the disk was full');
    await page.reload();
    await page.getByText('the disk was full').waitFor();
    await page.getByRole('button', { name: 'Undo the take-back …' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Undo the take-back' }).click();
    await page.getByText('Undone: 1 version written in 1 record.').waitFor({ timeout: 60_000 });
    await page.goto(screen('/tb_none'));
    await page.getByRole('alert').waitFor();
    await page.goto(screen('/new'));
    await page.getByLabel('A source system').check();
    await page.getByRole('textbox', { name: 'Source system' }).fill('Nobody');
    await page.getByLabel('Reason').fill('Test');
    await page.getByRole('button', { name: 'Make the plan' }).click();
    await page.getByText('Nothing would change, so there is nothing to start.').waitFor();
    expect(await page.getByRole('button', { name: 'Take this back …' }).count()).to.equal(0);
  });

  it('are for admins and owners only', async () => {
    for (const [person, said] of [
      ['dev@clinic.example', 'Owners and admins'],
      ['audit@clinic.example', 'Owners and admins'],
      ['owner@other.example', 'Not found'],
    ] as const) {
      const page = await open(person);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      for (const path of ['', '/new', '/tb_none']) {
        await page.goto(screen(path));
        await page.getByText(said).first().waitFor();
      }
      expect(await page.getByRole('link', { name: 'Take-backs', exact: true }).count()).to.equal(0);
      expect(asked.filter((path) => path.includes('/api/') && path.includes('takebacks'))).to.deep.equal([]);
      await page.context().close();
    }
  });
});
