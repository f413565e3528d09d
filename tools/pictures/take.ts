/**
 * Takes the dashboard pictures in `docs/pictures/`: `npm run pictures`. Starts a service with its own project; needs a browser
 * (`test/support/browser.ts`).
 */
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { openBrowser } from '#test/support/browser.ts';
import { beginProject, callAs, fillProject, settle, signInTo } from '#test/support/dashboard.ts';
import { startInProcess } from '#test/support/in-process.ts';

const FOLDER = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));

const SIZE = { width: 1200, height: 760 };

/** The screens by the file names of their pictures. */
const SCREENS = {
  overview: '',
  requests: '/requests',
  search: `/search?path=${encodeURIComponent('/fhir/R4/Observation?code=4548-4&_sort=-date&_count=10')}`,
  patients: '/patients',
  keys: '/keys',
  applications: '/applications',
  webhooks: '/webhooks',
  usage: '/usage',
  try: '/try',
  limits: '/limits',
  members: '/members',
  organization: '/organization',
  audit: '/audit',
  'audit-access-log': '/audit/access-log',
  'audit-exports': '/audit/exports',
  'audit-verifications': '/audit/verifications',
  'audit-event': '/audit?type=ResourceCreated&resource=Observation',
} as const;

const browser = await openBrowser();
if (browser === undefined) throw new Error('there is no browser for this platform: set ANNAL_TEST_BROWSER');
const service = await startInProcess();
/** Creates a resource and returns its id. */
async function create(key: string, resource: object): Promise<string> {
  const body = JSON.stringify(resource);
  const path = `/${(resource as { readonly resourceType: string }).resourceType}`;
  const { json } = await service.fhir(path, { method: 'POST', key, body });
  return String(json.id);
}

/** Takes pictures of the operators' screens when something needs their attention. */
async function takeOperations(): Promise<void> {
  await service.pool.query(
    `insert into operations.parked (process, stream, revision, position, event_id, error, attempts, retry_at)
     values ('webhooks', 'record-01a20143-3a02-774d-93f0-5348cd4ccbf1', 41, '1', gen_random_uuid(),
             'the statement timed out', 9, now() + interval '52 minutes')`,
  );
  const page = await browser?.newPage({ viewport: SIZE, locale: 'en' });
  if (page === undefined) return;
  await signInTo(page, service.url, 'developer@example.org');
  for (const [name, path] of [
    ['ops', ''],
    ['ops-read-models', '/read-models'],
    ['ops-processes', '/processes'],
    ['ops-sizes', '/sizes'],
    ['ops-failed-requests', '/failed-requests'],
    ['ops-slow-requests', '/slow-requests'],
    ['ops-approvals', '/projects'],
    ['ops-issuers', '/issuers'],
    ['ops-instances', '/instances'],
    ['ops-verifications', '/verifications'],
  ]) {
    await page.goto(`${service.url}/app/ops${path}`);
    await settle(page);
    await page.screenshot({ path: `${FOLDER}${name}.png` });
    console.log(`docs/pictures/${name}.png`);
  }
  await page.close();
  await service.pool.query('delete from operations.parked');
}

/**
 * Takes pictures of a record whose first lists aren't empty.
 * @param patients the path of the patient list
 */
async function takeRecord(page: Page, patients: string, key: string): Promise<void> {
  const patient = await create(key, {
    ...{ resourceType: 'Patient', birthDate: '1958-09-30', gender: 'female' },
    name: [{ family: 'Sand', given: ['Ida'] }],
  });
  const subject = { reference: `Patient/${patient}` };
  const active = (set: string) => ({
    coding: [{ system: `http://terminology.hl7.org/CodeSystem/${set}`, code: 'active' }],
  });
  const quantity = (value: number) => ({ value, unit: '%', system: 'http://unitsofmeasure.org', code: '%' });
  for (const resource of [
    {
      ...{ resourceType: 'AllergyIntolerance', patient: subject, criticality: 'high' },
      ...{ code: { text: 'Penicillin' }, clinicalStatus: active('allergyintolerance-clinical') },
    },
    {
      ...{ resourceType: 'Condition', subject, code: { text: 'Type 2 diabetes' }, onsetDateTime: '2012-05' },
      clinicalStatus: active('condition-clinical'),
    },
    ...[
      { drug: 'Metformin', status: 'active', period: { start: '2012-05-20' } },
      { drug: 'Glibenclamide', status: 'stopped', period: { start: '2014-01-10', end: '2019-08-01' } },
    ].map(({ drug, status, period }) => ({
      ...{ resourceType: 'MedicationStatement', status, subject, effectivePeriod: period },
      medicationCodeableConcept: { text: drug },
    })),
    ...[6.9, 7.4, 8.1].map((value, n) => ({
      ...{ resourceType: 'Observation', status: 'final', subject, effectiveDateTime: `2026-0${n + 4}-12` },
      code: { coding: [{ system: 'http://loinc.org', code: '4548-4', display: 'Hemoglobin A1c' }] },
      valueQuantity: quantity(value),
      referenceRange: [{ low: quantity(4), high: quantity(5.6) }],
    })),
  ])
    await create(key, resource);
  await page.setViewportSize({ width: SIZE.width, height: 1_250 });
  await page.goto(`${patients}/${patient}`);
  await page.locator('.results tbody tr').first().waitFor();
  await page.screenshot({ path: `${FOLDER}record.png` });
  await page.setViewportSize(SIZE);
  console.log('docs/pictures/record.png');
  const entry = await page.locator('a[href*="/entries/"]').first().getAttribute('href');
  for (const [name, path] of [
    ['record-timeline', `${patients}/${patient}?part=timeline`],
    ['record-changes', `${patients}/${patient}?part=changes`],
    ['record-documents', `${patients}/${patient}?part=documents`],
    ['record-reads', `${patients}/${patient}?part=reads`],
    ['record-entry', new URL(entry ?? '', service.url).href],
  ] as const) {
    await page.goto(path);
    await settle(page);
    await page.screenshot({ path: `${FOLDER}${name}.png` });
    console.log(`docs/pictures/${name}.png`);
  }
}

/**
 * Takes a picture of the plan of a take-back.
 * @param base the project's path
 */
async function takeTakeback(page: Page, base: string, project: string, key: string): Promise<void> {
  const patient = await create(key, { resourceType: 'Patient', name: [{ family: 'Berg', given: ['Lena'] }] });
  const source = { 'X-Service-Source-System': 'Ward 3 analyser' };
  const write = async (value: number, headers: Record<string, string>, id?: string): Promise<string> => {
    const { json } = await service.fhir(id === undefined ? '/Observation' : `/Observation/${id}`, {
      ...{ key, headers, method: id === undefined ? 'POST' : 'PUT' },
      body: JSON.stringify({
        ...{ resourceType: 'Observation', status: 'final', subject: { reference: `Patient/${patient}` } },
        ...(id === undefined ? {} : { id }),
        code: { coding: [{ system: 'http://loinc.org', code: '2160-0', display: 'Creatinine' }] },
        valueQuantity: { value, unit: 'mg/dL' },
      }),
    });
    return String(json.id);
  };
  await write(11, source);
  await write(12, source, await write(1.2, {}));
  await write(1.3, {}, await write(13, source));
  const { id } = await callAs<{ readonly id: string }>(page, `/admin/projects/${project}/takebacks`, {
    ...{ select: { source_system: 'Ward 3 analyser' }, environment: 'sandbox' },
    reason: 'The analyser was calibrated wrongly.',
  });
  await page.goto(`${base}/takebacks/${id}`);
  await page.locator('.figures').waitFor();
  await page.screenshot({ path: `${FOLDER}takeback.png` });
  console.log('docs/pictures/takeback.png');
}

try {
  await mkdir(FOLDER, { recursive: true });
  const page = await browser.newPage({ viewport: SIZE, locale: 'en' });
  await signInTo(page, service.url, 'ada@example.org');
  const project = await beginProject(page, 'Heart clinic');
  await fillProject(page, service, project);
  const { key } = await callAs<{ readonly key: string }>(page, `/admin/projects/${project}/keys`, {
    ...{ name: 'import', environment: 'sandbox' },
  });
  for (const [given, birthDate] of [
    ['Mira', '1961-05-14'],
    ['Jonas', '1978-11-02'],
    ['Amal', '1990-03-21'],
  ]) {
    const name = [{ family: 'Sand', given: [given] }];
    const id = await create(key, { resourceType: 'Patient', name, birthDate });
    for (const [month, value] of [6.9, 7.2, 7.8].entries())
      await create(key, {
        ...{ resourceType: 'Observation', status: 'final', subject: { reference: `Patient/${id}` } },
        code: { coding: [{ system: 'http://loinc.org', code: '4548-4', display: 'Hemoglobin A1c' }] },
        effectiveDateTime: `2026-0${month + 4}-12`,
        valueQuantity: { value, unit: '%', system: 'http://unitsofmeasure.org', code: '%' },
      });
    await service.fhir(`/Observation?patient=${id}&code=4548-4&_sort=-date`, { key });
    await service.fhir(`/Observation?patient=${id}&colour=red`, { key });
  }
  await callAs(page, `/admin/projects/${project}/applications`, {
    ...{ name: 'Heart diary', environment: 'sandbox', kind: 'public' },
    redirect_uris: ['http://localhost:8080/callback'],
    scopes: ['patient/Observation.rs', 'patient/Condition.rs', 'offline_access'],
  });
  await callAs(page, `/admin/projects/${project}/webhooks`, {
    ...{ url: 'http://localhost:8081/hooks', events: ['*'], environment: 'sandbox' },
  });
  await takeOperations();
  const base = page.url();
  for (const [name, path] of Object.entries(SCREENS)) {
    await page.goto(base + path);
    await settle(page);
    // Entries appear in the log a second after their responses.
    if (name === 'requests') await page.getByRole('row').filter({ hasText: 'Observation' }).nth(8).waitFor();
    if (name === 'search') {
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.getByRole('table').waitFor();
      await page.setViewportSize({ width: 1200, height: 1400 });
    }
    if (name === 'audit-event') {
      await page
        .getByRole('link', { name: /^Created: / })
        .first()
        .click();
      await page.getByText('The hash matches').waitFor();
      await page.setViewportSize({ width: 1200, height: 1400 });
    }
    if (name === 'usage') await page.locator('canvas').nth(1).waitFor();
    await page.screenshot({ path: `${FOLDER}${name}.png` });
    await page.setViewportSize(SIZE);
    console.log(`docs/pictures/${name}.png`);
  }
  await takeRecord(page, `${base}/patients`, key);
  await takeTakeback(page, base, project, key);
} finally {
  await browser.close();
  await service.stop();
}
