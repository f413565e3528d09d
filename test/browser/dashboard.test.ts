/** The dashboard in a real browser: a developer's first minutes, without a terminal, on a phone and a desktop. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Webhook as Verifier } from 'standardwebhooks';
import { accessibilityFaults, picture } from '#test/support/browser.ts';
import { beginProject, callAs, checkLooks, fillProject, useDashboard } from '#test/support/dashboard.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { identityOf } from '#test/support/me.ts';
import { itAtFullSize } from '#test/support/scale.ts';

const PHONE = { width: 390, height: 844 };
const SCREENS = [
  '',
  '/requests',
  '/patients',
  '/keys',
  '/applications',
  '/consents',
  '/webhooks',
  '/search',
  '/try',
  '/usage',
  '/limits',
  '/members',
  '/organization',
];

interface Resource {
  readonly id: string;
  readonly meta: { readonly lastUpdated: string };
}

interface Bundle {
  readonly total: number;
  readonly entry: readonly { readonly resource: Resource }[];
}

describe('the dashboard', () => {
  let service: InProcess;
  const { complaints, open } = useDashboard((started) => {
    service = started;
  });

  it('leads a newcomer from the sign-in to a key, and shows its first request in the log', async () => {
    const page = await open('newcomer@example.org');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).to.equal('Projects');
    await beginProject(page, 'Clinic');
    expect(new URL(page.url()).pathname).to.match(/^\/app\/projects\/proj_[\w-]+\/sandbox$/);
    // The first steps need no terminal.
    await page.getByRole('link', { name: 'Or send it from here' }).click();
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('region', { name: 'Answer' }).filter({ hasText: 'searchset' }).waitFor();
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('server');
    await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
    const key = await page.getByRole('dialog').getByRole('region').innerText();
    expect(key).to.match(/^sk_test_/);
    // Over http, the clipboard is available only on localhost.
    await page.evaluate(() => Object.defineProperty(navigator, 'clipboard', { value: undefined }));
    await page.getByRole('dialog').getByRole('button', { name: 'Copy' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Copied' }).waitFor();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    expect(await page.content()).not.to.include(key);
    await page.getByRole('cell', { name: /^server …/ }).waitFor();
    const answer = await fetch(`${service.url}/fhir/R4/Patient/none`, { headers: { 'X-Api-Key': key } });
    expect(answer.status).to.equal(404);
    const id = answer.headers.get('service-request-id') ?? '';
    await page.getByRole('link', { name: 'Requests' }).click();
    await page.getByRole('row').filter({ hasText: id }).waitFor();
    expect(await page.getByRole('row').filter({ hasText: id }).innerText())
      .to.include('404')
      .and.include('GET');
    await page.getByRole('row').filter({ hasText: id }).getByRole('link').click();
    const means = page.getByRole('link', { name: 'What it means' });
    expect(await means.getAttribute('href')).to.equal('/docs/errors#not_found');
    expect(complaints).to.deep.equal([]);
  });

  it('says how much a key is used before it is revoked, and revokes it', async () => {
    const page = await open('rotator@example.org');
    await beginProject(page, 'Rotation');
    await page.getByRole('link', { name: 'Keys' }).click();
    await page.getByRole('button', { name: 'Create a key' }).click();
    await page.getByLabel('Name').fill('job');
    await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
    const key = await page.getByRole('dialog').getByRole('region').innerText();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('button', { name: 'Rotate “job”' }).click();
    await page.getByLabel('Ends').selectOption('In 90 days');
    await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
    await page.getByText('It is not shown again').waitFor();
    const lasting = await page.getByRole('dialog').getByRole('region').innerText();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    // A key that replaces an expiring key gets the same lifetime, unless a different lifetime is chosen.
    await page.getByRole('button', { name: 'Rotate “job”' }).nth(1).waitFor();
    await page.getByRole('button', { name: 'Rotate “job”' }).first().click();
    expect(await page.getByLabel('Ends').inputValue()).to.equal('90');
    await page.getByRole('dialog').getByRole('button', { name: 'Create a key' }).click();
    await page.getByText('It is not shown again').waitFor();
    const next = await page.getByRole('dialog').getByRole('region').innerText();
    expect(next)
      .to.match(/^sk_test_/)
      .and.not.oneOf([key, lasting]);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    const works = async (it: string): Promise<number> =>
      (await fetch(`${service.url}/fhir/R4/Patient/none`, { headers: { 'X-Api-Key': it } })).status;
    expect([await works(key), await works(next)]).to.deep.equal([404, 404]);
    await page.getByRole('button', { name: 'Revoke “job”' }).nth(2).waitFor();
    // Keys can be revoked without scrolling sideways on a phone, too.
    await page.setViewportSize(PHONE);
    const box = await page.getByRole('button', { name: 'Revoke “job”' }).last().boundingBox();
    expect((box?.x ?? 0) + (box?.width ?? PHONE.width)).to.be.lessThan(PHONE.width);
    await page.getByRole('button', { name: 'Revoke “job”' }).last().click();
    await page
      .getByRole('dialog')
      .getByText(/used it in the last hour/)
      .waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true }).click();
    await page.getByRole('button', { name: 'Show one key that no longer works' }).waitFor();
    // The focus was in the row that is gone; the keyboard goes on in the table.
    const table = page.getByRole('region', { name: 'Keys' });
    expect(await table.evaluate((element) => element === document.activeElement)).to.equal(true);
    expect([await works(key), await works(next)]).to.deep.equal([401, 404]);
  });

  it('makes a patient, and delivers the event to a local receiver, again when asked', async () => {
    const received: { readonly headers: IncomingHttpHeaders; readonly body: string }[] = [];
    let isAgain = (): void => undefined;
    const again = new Promise<void>((resolve) => {
      isAgain = resolve;
    });
    const receiver = createServer(async (request, response) => {
      const parts: Buffer[] = [];
      for await (const part of request) parts.push(part as Buffer);
      received.push({ headers: request.headers, body: Buffer.concat(parts).toString() });
      response.end('thanks');
      if (received.length === 2) isAgain();
    });
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
    const { port } = receiver.address() as AddressInfo;
    try {
      const page = await open('hooks@example.org');
      await beginProject(page, 'Hooks');
      await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
      await page.getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByLabel('URL').fill('ftp://hooks.example.org');
      await page.getByRole('dialog').getByRole('button', { name: 'Add an endpoint' }).click();
      await page.getByRole('dialog').getByText(/must/).first().waitFor();
      await page.getByLabel('URL').fill(`http://localhost:${port}/hook`);
      await page.getByRole('dialog').getByRole('button', { name: 'Add an endpoint' }).click();
      const secret = await page.getByRole('dialog').getByRole('region').innerText();
      expect(secret).to.match(/^whsec_/);
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await page.getByRole('link', { name: 'Patients', exact: true }).click();
      await page.getByRole('button', { name: 'Create a patient' }).click();
      await page.getByLabel('Given name').fill('Nora');
      await page.getByLabel('Family name').fill('Lind');
      await page.getByRole('dialog').getByRole('button', { name: 'Create a patient' }).click();
      await page.getByRole('heading', { level: 1, name: 'Nora Lind' }).waitFor();
      await page.getByRole('link', { name: 'Webhooks', exact: true }).click();
      await page.getByRole('link', { name: `http://localhost:${port}/hook` }).click();
      const row = page.locator('.delivery').filter({ hasText: 'resource.created' });
      await row.filter({ hasText: 'Delivered' }).waitFor();
      await row.locator('summary').click();
      const shown = JSON.parse(await row.getByRole('region').first().innerText()) as { readonly id: string };
      const [first] = received;
      if (first === undefined) throw new Error('nothing was received');
      expect(shown).to.deep.equal(JSON.parse(first.body));
      expect(new Verifier(secret).verify(first.body, first.headers as Record<string, string>)).to.deep.equal(
        shown,
      );
      await row.getByRole('button', { name: 'Send again' }).click();
      await again;
      expect(received.map(({ body }) => (JSON.parse(body) as { readonly id: string }).id)).to.deep.equal([
        shown.id,
        shown.id,
      ]);
      await page.getByRole('link', { name: 'Patients', exact: true }).click();
      await page.getByRole('link', { name: 'Nora Lind' }).click();
      await page.getByRole('link', { name: 'Add an observation' }).click();
      await page.locator('textarea').last().filter({ visible: true }).waitFor();
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      await page.getByText('201', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Patients', exact: true }).click();
      await page.getByRole('link', { name: 'Nora Lind' }).click();
      await page.getByRole('button', { name: 'Chart' }).click();
      await page.locator('canvas').waitFor();
      expect(complaints.filter((each) => !/422|404/.test(each))).to.deep.equal([]);
    } finally {
      receiver.close();
    }
  });

  it('sends any request as the person, and prints it for programs', async () => {
    const page = await open('trier@example.org');
    await beginProject(page, 'Trial');
    await page.getByRole('link', { name: 'Try it' }).click();
    await page.getByLabel('Method').selectOption('POST');
    await page.getByLabel('Path').fill('/fhir/R4/Patient');
    await page
      .getByLabel('Body')
      .fill('{"resourceType":"Patient","name":[{"family":"O\'Hara"}],"multipleBirthInteger":1}');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('201', { exact: true }).waitFor();
    const answer = await page.getByRole('region', { name: 'Answer' }).innerText();
    expect(JSON.parse(answer)).to.deep.include({ resourceType: 'Patient', name: [{ family: "O'Hara" }] });
    expect(answer).to.include('\n  "resourceType": "Patient",\n');
    const curl = await page.getByRole('region', { name: 'curl' }).innerText();
    expect(curl).to.include('$ANNAL_KEY').and.include("O'\\''Hara");
    const operation = page.getByLabel('Operation');
    const listing = operation.getByRole('option', { name: 'GET /v1/patients –' });
    await operation.selectOption(await listing.innerText());
    expect(await page.getByLabel('Method').inputValue()).to.equal('GET');
    expect(await page.getByLabel('Path').inputValue()).to.equal('/v1/patients');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('region', { name: 'Answer' }).filter({ hasText: '"total": 1' }).waitFor();
    // A click follows a reference in the response. Path parameters are fields. Nothing is deleted without confirmation.
    await page.getByText('One thing that the answer refers to').click();
    await page.getByRole('button', { name: /^\/fhir\/R4\/Patient\// }).click();
    const found = await page.getByLabel('Path').inputValue();
    await page.getByLabel('Method').selectOption('DELETE');
    await page.getByLabel('Path').fill('/fhir/R4/{type}/{id}');
    await page.getByLabel('type', { exact: true }).fill('Patient');
    await page.getByLabel('id', { exact: true }).fill(found.slice('/fhir/R4/Patient/'.length));
    await page.getByText('More headers').click();
    await page.getByLabel('Headers', { exact: true }).fill('If-Match: W/"7"');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('dialog').getByText(`DELETE ${found}`).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByText('412').first().waitFor();
    expect(await page.getByRole('region', { name: 'curl' }).innerText()).to.include('-H \'If-Match: W/"7"\'');
    expect(complaints.filter((each) => !each.includes('412'))).to.deep.equal([]);
  });

  itAtFullSize(
    'builds a search, says what it costs, and shows the resources that the interface returns',
    async () => {
      const page = await open('seeker@example.org');
      await beginProject(page, 'Searches');
      const [, project] = /\/projects\/([\w-]+)\//.exec(page.url()) ?? [];
      const headers = { 'X-Service-Session': '1', 'X-Service-Project': project ?? '' };
      const fhir = (path: string, body?: object): Promise<Resource & Bundle> =>
        page.evaluate(
          async ([url, sent, init]) => {
            const json = { ...init, 'Content-Type': 'application/fhir+json' };
            const written = sent === undefined ? {} : { method: 'POST', body: JSON.stringify(sent) };
            return (await fetch(`/app/api/fhir/R4${url}`, { headers: json, ...written })).json();
          },
          [path, body, headers] as const,
        );
      const { id } = await fhir('/Patient', { resourceType: 'Patient', name: [{ family: 'Lind' }] });
      const weigh = (day: number, value: number, of = id): Promise<Resource> =>
        fhir('/Observation', {
          resourceType: 'Observation',
          status: 'final',
          code: { coding: [{ system: 'http://loinc.org', code: '29463-7' }], text: 'Weight' },
          subject: { reference: `Patient/${of}` },
          effectiveDateTime: `2026-03-0${day}`,
          valueQuantity: { value, unit: 'kg', system: 'http://unitsofmeasure.org', code: 'kg' },
        });
      await weigh(1, 71);
      const { meta } = await weigh(2, 72);
      await weigh(3, 73);
      const other = await fhir('/Patient', { resourceType: 'Patient', name: [{ family: 'Other' }] });
      await weigh(3, 99, other.id);
      await page.getByRole('link', { name: 'FHIR search' }).click();
      const costs = page.getByRole('region', { name: 'What this search costs' });
      await costs.getByText('No condition').waitFor();
      await page.getByLabel('Record (patient)').fill(id);
      await page.getByLabel('Add a condition').selectOption('code');
      await page.keyboard.type('29463-7');
      await page.getByLabel('Add a condition').selectOption('date');
      await page.keyboard.type('2026-03-02');
      await page.getByLabel('Comparison of date').selectOption('ge');
      await page.getByLabel('Add a condition').selectOption('_include');
      await page.locator('.value').last().selectOption('Observation:patient');
      await page.getByLabel('Order (_sort)').selectOption('-date');
      await page.getByLabel('then by').selectOption('code');
      await page.getByLabel('Per page (_count)').fill('1');
      const path = `/Observation?patient=${id}&code=29463-7&date=ge2026-03-02&_include=Observation:patient&_sort=-date,code&_count=1`;

      await page.getByText(`/fhir/R4${path}`, { exact: true }).waitFor();
      expect(new URL(page.url()).searchParams.get('path')).to.equal(`/fhir/R4${path}`);
      expect(await costs.innerText())
        .to.include('only the record')
        .and.include('date=ge2026-03-02');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      const table = page.getByRole('region', { name: 'Results' });
      const expected = await fhir(path);
      await page.getByText(`${expected.total} matches`).waitFor();
      expect(expected.total).to.equal(2);
      for (const [at, { resource }] of expected.entry.entries())
        expect(
          await table
            .getByRole('row')
            .nth(at + 1)
            .innerText(),
          `${at}`,
        ).to.include(resource.id);
      expect(await table.getByRole('row').nth(1).innerText())
        .to.include('73 kg')
        .and.include('Weight');
      expect(await table.getByRole('row').nth(2).innerText())
        .to.include('Included')
        .and.include('Lind');
      expect(JSON.parse(await page.getByRole('region', { name: 'Answer' }).innerText())).to.have.property(
        'total',
        2,
      );
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      await picture(page, 'app-search-results');
      await page.setViewportSize(PHONE);
      await page.emulateMedia({ colorScheme: 'dark' });
      expect(await accessibilityFaults(page)).to.deep.equal([]);
      await picture(page, 'app-search-results-phone');
      await page.getByRole('button', { name: 'Next page' }).click();
      await table.getByText('72 kg').waitFor();
      expect(await table.getByText('73 kg').count()).to.equal(0);
      await page.getByLabel('As of (_asOf)').fill(meta.lastUpdated);
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.getByText('1 match', { exact: true }).waitFor();
      await page.getByLabel('As of (_asOf)').fill('');
      await page.getByRole('button', { name: 'Remove _include' }).click();
      await page.getByLabel('Per page (_count)').fill('few');
      await page.keyboard.press('Enter');
      await page.getByText('the value must be a whole number from 0').first().waitFor();
      expect(await page.getByLabel('Per page (_count)').getAttribute('aria-invalid')).to.equal('true');
      await page.getByLabel('Per page (_count)').fill('');
      await page.getByLabel('Record (patient)').fill('');
      await page.getByLabel('Add a condition').selectOption('Another, such as a chain');
      await page.keyboard.type('patient.family');
      const chains = await page
        .locator('#search-chains option')
        .evaluateAll((all) => all.map((each) => each.getAttribute('value')));
      expect(chains).to.include.members(['patient.family', 'subject:Patient.family', 'encounter.status']);
      await page.keyboard.press('Tab');
      await page.keyboard.type('lind');
      await page.getByLabel('Add a condition').selectOption('value-quantity');
      await page.getByLabel('Modifier of value-quantity').selectOption('missing');
      await page.keyboard.press('Enter');
      await costs.getByText('found first').waitFor();
      expect(await costs.innerText())
        .to.include('value-quantity:missing=true')
        .and.include('No index lists');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.getByText('No resource matches.').waitFor();
      await page.getByLabel('value-quantity', { exact: true }).selectOption('false');
      await page.getByRole('button', { name: 'Search', exact: true }).click();
      await page.getByText('2 matches').waitFor();
      await page.reload();
      expect(await page.getByLabel('code', { exact: true }).inputValue()).to.equal('29463-7');
      expect(complaints.filter((each) => !each.includes('400'))).to.deep.equal([]);
    },
  );

  it('asks why records of production are needed, and shows the reason in their access log', async () => {
    const page = await open('live@example.org');
    await beginProject(page, 'Live');
    const base = page.url().replace(/sandbox$/, 'production');
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const form = page.getByLabel('Why do you need them?');
    for (const screen of ['/patients', '/search', '/try']) {
      await page.goto(base + screen);
      await form.waitFor();
      expect(await accessibilityFaults(page), screen).to.deep.equal([]);
      await picture(page, `app${screen.replace('/', '-')}-reason`);
    }
    expect(asked.filter((path) => /\/app\/api\/(?:v1|fhir)/.test(path))).to.deep.equal([]);
    await form.fill('Ticket 12: Größe');
    await page.getByRole('button', { name: 'Open the records' }).click();
    await page.getByLabel('Method').selectOption('POST');
    await page.getByLabel('Path').fill('/fhir/R4/Patient');
    await page.getByLabel('Body').fill('{"resourceType":"Patient","name":[{"family":"Real"}]}');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('201').waitFor();
    await page.getByRole('link', { name: 'Patients', exact: true }).click();
    await page.getByRole('link', { name: 'Real' }).waitFor();
    expect(await form.count()).to.equal(0);
    const { rows } = await service.pool.query(
      "select purpose from operations.access_entry where purpose is not null and action = 'search-type'",
    );
    expect(rows[0]).to.deep.equal({ purpose: 'Ticket 12: Größe' });
    await service.pool.query(
      "update operations.session set started_at = now() - interval '31 minutes', auth_time = null",
    );
    await page.goto(`${base}/patients`);
    await page.waitForURL(/\/(?:signin|dev)/);
    await page.getByRole('textbox').fill('live@example.org');
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('link', { name: 'Real' }).waitFor();
  });

  it('shows a developer none of production’s records, also by their URL', async () => {
    let page = await open('boss@example.org');
    await beginProject(page, 'Roles');
    const base = page.url().replace(/sandbox$/, 'production');
    const developer = {
      ...identityOf(service, 'dev@example.org'),
      email: 'dev@example.org',
      role: 'developer',
    };
    const added = await page.evaluate(async (member) => {
      const headers = { 'X-Service-Session': '1', 'Content-Type': 'application/json' };
      const { data } = await (await fetch('/app/api/admin/organizations', { headers })).json();
      const path = `/app/api/admin/organizations/${data[0].id}/members`;
      return (await fetch(path, { method: 'POST', headers, body: JSON.stringify(member) })).status;
    }, developer);
    expect(added).to.be.within(200, 201);
    await page.context().close();
    page = await open('dev@example.org');
    for (const screen of ['/patients', '/search', '/try']) {
      await page.goto(base + screen);
      await page
        .getByText('To see records in production, you need the role auditor, admin or owner.')
        .waitFor();
      expect(await page.getByRole('table').count()).to.equal(0);
      expect(await page.getByRole('button', { name: 'Send', exact: true }).count()).to.equal(0);
    }
  });

  it('shows where the person is signed in, and signs them out elsewhere', async () => {
    const elsewhere = await open('roamer@example.org');
    const page = await open('roamer@example.org');
    await page.getByText('roamer@example.org').click();
    await page.getByRole('link', { name: 'Sessions' }).click();
    await page.getByRole('heading', { level: 1, name: 'Sessions' }).waitFor();
    await page.getByRole('row').nth(2).waitFor();
    expect(await page.getByRole('row').nth(1).innerText()).to.include('This session');
    expect(await accessibilityFaults(page)).to.deep.equal([]);
    await picture(page, 'app-sessions');
    await page.getByRole('button', { name: /^End the session of / }).click();
    await page.getByRole('button', { name: /^End the session of / }).waitFor({ state: 'detached' });
    await elsewhere.goto(`${service.url}/app`);
    expect(new URL(elsewhere.url()).pathname).to.not.equal('/app');
    expect(complaints).to.deep.equal([]);
  });

  it('finds a patient by name or id', async () => {
    const page = await open('finder@example.org');
    const project = await beginProject(page, 'Finding');
    const base = page.url();
    const { key } = await callAs<{ readonly key: string }>(page, `/admin/projects/${project}/keys`, {
      name: 'server',
      environment: 'sandbox',
    });
    const body = (family: string) => JSON.stringify({ resourceType: 'Patient', name: [{ family }] });
    const made = await service.fhir('/Patient', { method: 'POST', key, body: body('Sought') });
    await service.fhir('/Patient', { method: 'POST', key, body: body('Other') });
    await page.goto(`${base}/patients`);
    for (const [asked, found] of [
      [String(made.json.id), 'Sought'],
      [`Patient/${String(made.json.id)}`, 'Sought'],
      ['019a0000-0000-7000-8000-000000000000', undefined],
    ]) {
      await page.getByRole('searchbox').fill(asked ?? '');
      await page.getByRole('button', { name: 'Search' }).click();
      await page.getByRole('row').filter({ hasText: 'Other' }).waitFor({ state: 'detached' });
      if (found === undefined) await page.getByText('No patient').waitFor();
      else await page.getByRole('row').filter({ hasText: found }).waitFor();
    }
  });

  it('shows nothing of a project of others, also by its URL', async () => {
    let page = await open('owner@example.org');
    await beginProject(page, 'Private');
    const url = page.url();
    await page.context().close();
    page = await open('stranger@example.org');
    for (const screen of SCREENS) {
      await page.goto(url + screen);
      await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
      expect(await page.content()).not.to.include('Private');
    }
  });

  it('is accessible', async () => {
    const page = await open('look@example.org');
    await checkLooks(page, 'app-home');
    const project = await beginProject(page, 'Look');
    await fillProject(page, service, project);
    const base = page.url();
    for (const screen of SCREENS) await checkLooks(page, `app${screen.replace('/', '-')}`, base + screen);
  });

  it('is small, cached by its content, and needs no other host', async () => {
    const page = await open('size@example.org');
    const sizes = await page.evaluate(() =>
      (performance.getEntriesByType('resource') as PerformanceResourceTiming[]).map(
        ({ name, encodedBodySize }) => ({ name, encodedBodySize }),
      ),
    );
    for (const { name } of sizes) expect(name.startsWith(service.url), name).to.equal(true);
    expect(sizes.reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)).to.be.within(5_000, 200_000);
    const script = sizes.find(({ name }) => name.endsWith('.js'))?.name ?? '';
    const answer = await fetch(script);
    expect(answer.headers.get('cache-control')).to.include('immutable');
    expect((await fetch(`${service.url}/app/assets/none.js`)).status).to.equal(404);
  });
});
