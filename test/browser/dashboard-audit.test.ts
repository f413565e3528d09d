/** The auditors' screens in a real browser: who changed a value, the proof of it, and what only auditors can see. */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { type Auditing, openAuditing, PATIENT, type Written, weightOf } from '#test/support/auditing.ts';
import { accessibilityFaults, picture } from '#test/support/browser.ts';
import { checkLooks, settle, useDashboard } from '#test/support/dashboard.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const VERIFY = fileURLToPath(new URL('../../bin/verify-export.mjs', import.meta.url));

/**
 * Runs the verifier as an auditor does on another machine.
 * @returns its exit code and output
 */
function verifyFile(args: readonly string[]): Promise<{ readonly code: number; readonly said: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [VERIFY, ...args], (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr }),
    );
  });
}

describe('the dashboard of auditors', () => {
  let service: InProcess;
  let auditing: Auditing;
  let patient: Written;
  let weight: Written;
  let live: Written;
  let folder: string;
  const { complaints, open } = useDashboard(async (started) => {
    service = started;
    folder = await temporaryFolder();
    auditing = await openAuditing(service);
    const { write, production, owner, project } = auditing;
    patient = await write(PATIENT);
    weight = await write(weightOf(patient.id, 61));
    await write(weightOf(patient.id, 70));
    await write({ ...weightOf(patient.id, 64), id: weight.id });
    live = await write(PATIENT, production.key);
    await owner.done('GET', `/projects/${project}/patients`);
  });

  const screen = (path: string, environment = 'sandbox'): string =>
    `${service.url}/app/projects/${auditing.project}/${environment}/audit${path}`;

  it('shows who changed a value, the record before it, and a proof to take along', async () => {
    const page = await open('audit@clinic.example');
    await page.goto(screen('').replace('/audit', ''));
    await page.getByRole('link', { name: 'Audit', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Log' }).waitFor();
    await page.getByLabel('What happened').selectOption('Changed');
    await page.getByRole('button', { name: 'Search', exact: true }).click();
    await page.waitForURL(/type=ResourceUpdated/);
    await settle(page);
    const row = page.getByRole('row').filter({ hasText: 'Observation' });
    await row.filter({ hasText: 'version 2' }).waitFor();
    expect(await page.getByRole('row').count()).to.equal(2);
    expect(await row.innerText())
      .to.include('Another system (imported)')
      .and.include('API key sandbox key');
    await page.getByRole('link', { name: 'Changed: Weight' }).click();
    await page
      .getByRole('row')
      .filter({ hasText: 'valueQuantity.value' })
      .filter({ hasText: '61' })
      .filter({ hasText: '64' })
      .waitFor();
    await page.getByText('The hash matches').waitFor();
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await picture(page, 'audit-event');

    for (const [button, name] of [
      ['Save this resource’s history', `history-Observation-${weight.id}.ndjson`],
      ['Save the whole record', `record-${patient.id}.ndjson`],
    ] as const) {
      const downloading = page.waitForEvent('download');
      await page.getByRole('button', { name: button }).click();
      const download = await downloading;
      expect(download.suggestedFilename()).to.equal(name);
      const file = join(folder, name);
      await download.saveAs(file);
      const command = await page.getByRole('status').getByText(name).last().innerText();
      const key = /--key ([\w-]{43})/.exec(await page.getByRole('status').innerText())?.[1] ?? command;
      const intact = await verifyFile([file, '--key', key]);
      expect([intact.code, intact.said.includes('is intact')], intact.said).to.deep.equal([0, true]);
      const bytes = await readFile(file);
      const at = bytes.indexOf('64,');
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      await writeFile(file, bytes);
      const altered = await verifyFile([file, '--key', key]);
      expect([altered.code, altered.said.includes('NOT valid')], altered.said).to.deep.equal([3, true]);
    }
    await picture(page, 'audit-saved');
    const checker = await fetch(`${service.url}/docs/guides/verify-export.mjs`);
    expect(await checker.text()).to.equal(await readFile(VERIFY, 'utf8'));

    await page.getByRole('link', { name: 'The record just before' }).click();
    await page.waitForURL(/\/patients\/.*at=/);
    await settle(page);
    await page.goto(`${page.url()}&part=timeline`);
    await page
      .getByRole('main')
      .getByText(/\b61\s*kg/)
      .first()
      .waitFor();
    expect(complaints).to.deep.equal([]);
  });

  it('shows who read what, verifies a record, and asks why in production', async () => {
    let page = await open('audit@clinic.example');
    await page.goto(screen(`/access-log?patient=${patient.id}`));
    await page.getByRole('row').filter({ hasText: 'owner@clinic.example' }).waitFor();
    await page.getByText('They are numbered without gaps').waitFor();
    await page.getByRole('button', { name: 'Show names' }).click();
    await page
      .getByRole('row')
      .filter({ hasText: PATIENT.name[0]?.family ?? '?' })
      .first()
      .waitFor();
    await picture(page, 'audit-names');
    await page.goto(screen('/verifications'));
    await page.getByLabel('Only one patient’s record').fill(patient.id);
    await page.getByRole('button', { name: 'Start a verification' }).click();
    await page
      .getByRole('row')
      .filter({ hasText: 'A record' })
      .filter({ hasText: 'No fault' })
      .waitFor({ timeout: 60_000 });
    await page.getByRole('link', { name: 'A record' }).click();
    await page.getByText('No fault was found in what was compared').waitFor();
    await page.getByText(/Events: \d, streams: 1/).waitFor();
    await page.getByText('audit@clinic.example').last().waitFor();
    await picture(page, 'audit-verification');
    // The start screen announces a verification that found faults.
    await service.pool.query(
      `update operations.job set result = jsonb_set(result::jsonb, '{faults}', '2')::json`,
    );
    await page.goto(screen('').replace('/audit', ''));
    const announced = page.getByText('A verification found faults').locator('..');
    await announced.getByRole('link', { name: 'A record' }).waitFor();
    expect(await announced.innerText()).to.include('2 faults');

    await page.goto(screen('', 'production'));
    await page.getByLabel('Why do you need them?').fill('Yearly audit');
    await page.getByRole('button', { name: 'Open the records' }).click();
    await page.getByRole('row').filter({ hasText: 'Patient' }).filter({ hasText: live.id }).waitFor();
    const { rows } = await service.pool.query(
      'select purpose from operations.access_entry where record = $1',
      [live.id],
    );
    expect(rows.at(-1)).to.deep.equal({ purpose: 'Yearly audit' });

    // Opening a production record by its URL first asks for a reason, and shows nothing until it is given. The patient can
    // read the reason.
    await page.context().close();
    page = await open('audit@clinic.example');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    await page.goto(screen(`/${live.id}`, 'production').replace('/audit/', '/patients/'));
    await page.getByLabel('Why do you need them?').fill('Case 12');
    expect(asked.filter((path) => path.includes(live.id) && path.includes('/api/'))).to.deep.equal([]);
    await page.getByRole('button', { name: 'Open the records' }).click();
    await page.getByText('No allergy is recorded.').waitFor();
    await eventually(async () => {
      const { rows: entries } = await service.pool.query(
        "select 1 from operations.access_entry where record = $1 and purpose = 'Case 12'",
        [live.id],
      );
      return entries.length > 0;
    });
    expect(complaints).to.deep.equal([]);
  });

  itAtFullSize(
    'is usable by everybody who may see it, on a desktop and a phone, in both themes, in German',
    async () => {
      const page = await open('audit@clinic.example');
      const screens = [
        '',
        '?type=ConsentGranted',
        '/access-log',
        `/access-log?patient=${patient.id}`,
        '/exports',
        '/verifications',
      ];
      for (const path of screens) {
        const name = path.replaceAll(/[^a-z]+/g, '-').slice(0, 14);
        await checkLooks(page, `audit${name}`, screen(path));
      }
      await page.locator('summary').filter({ hasText: 'audit@clinic.example' }).click();
      await page.getByLabel('Language').selectOption('Deutsch');
      await page.goto(screen(''));
      await page.getByRole('heading', { level: 1, name: 'Protokoll' }).waitFor();
      await settle(page);
      await picture(page, 'audit-german');
      expect(complaints).to.deep.equal([]);
    },
  );

  it('shows nothing to a developer of the organization, nor to an owner or auditor of another', async () => {
    for (const person of ['dev@clinic.example', 'owner@other.example', 'audit@other.example']) {
      const page = await open(person);
      const asked: string[] = [];
      page.on('request', (request) => asked.push(new URL(request.url()).pathname));
      for (const path of ['', '/access-log', '/exports', '/verifications']) {
        await page.goto(screen(path));
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page
          .getByText(person === 'dev@clinic.example' ? 'Auditors, admins and owners' : 'Not found')
          .first()
          .waitFor();
      }
      expect(await page.getByRole('link', { name: 'Audit', exact: true }).count()).to.equal(0);
      expect(
        asked.filter(
          (path) => /events|access-log|exports|verifications/.test(path) && path.includes('/api/'),
        ),
      ).to.deep.equal([]);
      const status = await page.evaluate(async (project) => {
        const headers = { 'X-Service-Session': '1' };
        return (await fetch(`/app/api/admin/projects/${project}/events`, { headers })).status;
      }, auditing.project);
      expect(status).to.equal(person === 'dev@clinic.example' ? 403 : 404);
      await page.context().close();
    }
  });
});
