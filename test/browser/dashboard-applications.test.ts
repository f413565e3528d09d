/** An application's dashboard screen in a real browser. Afterwards, the interfaces return what was set on the screen. */
import { generateKeyPairSync } from 'node:crypto';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openClients } from '#src/oauth/clients.ts';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { picture } from '#test/support/browser.ts';
import { checkLooks, useDashboard } from '#test/support/dashboard.ts';
import type { InProcess } from '#test/support/in-process.ts';
import { itAtFullSize } from '#test/support/scale.ts';

const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-384' });
/** One pixel. */
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

describe('the dashboard: an application', () => {
  let service: InProcess;
  let owner: AdminUser;
  let project: string;
  const dashboard = useDashboard(async (started) => {
    service = started;
    owner = await signIn(service, 'owner@clinic.example');
    const founded = await owner.done('POST', '/sandbox/quickstart', { name: 'Clinic' });
    project = founded.project.id;
    const { issuer, subject, email } = await signIn(service, 'developer@clinic.example');
    const member = { issuer, subject, email, role: 'developer' };
    await owner.done('POST', `/organizations/${founded.organization.id}/members`, member);
  });

  const { complaints } = dashboard;

  const register = (more: object = {}) =>
    owner.done('POST', `/projects/${project}/applications`, {
      name: 'Portal',
      kind: 'confidential',
      redirect_uris: ['https://portal.example/back', 'https://portal.example/old'],
      scopes: ['openid', 'launch/patient', 'patient/Observation.rs', 'patient/Condition.cud'],
      ...more,
    });
  const shown = async (id: string) => {
    const { data } = await owner.done('GET', `/projects/${project}/applications`);
    const found = data.find((each) => each.id === id);
    if (found === undefined) throw new Error('the application is gone');
    return found;
  };
  const visit = async (screen: string, email: string): Promise<Page> => {
    const page = await dashboard.open(email);
    await page.goto(`${service.url}/app/projects/${project}/sandbox${screen}`);
    return page;
  };
  const open = async (id: string, email = 'owner@clinic.example'): Promise<Page> => {
    const page = await visit(`/applications/${id}`, email);
    await page.getByRole('heading', { level: 1, name: 'Portal' }).waitFor();
    return page;
  };
  const panel = (page: Page, name: string) =>
    page.locator('.panel').filter({ has: page.getByRole('heading', { level: 2, name, exact: true }) });

  it('is reached from its registration, which shows the secret once', async () => {
    const page = await visit('/applications', 'owner@clinic.example');
    await page.getByRole('button', { name: 'Register an application' }).click();
    await page.getByLabel('Name').fill('Fresh');
    await page.getByLabel('Confidential').check();
    await page.getByLabel('Redirect URIs').fill('https://fresh.example/back');
    await page.getByRole('dialog').getByRole('button', { name: 'Register an application' }).click();
    const secret = await page.getByRole('dialog').getByRole('region').innerText();
    expect(secret).to.match(/^cs_/);
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await page.getByRole('heading', { level: 1, name: 'Fresh' }).waitFor();
    expect(new URL(page.url()).pathname).to.match(/\/applications\/app_[\w-]+$/);
    expect(await page.content()).not.to.include(secret);
    expect(complaints).to.deep.equal([]);
  });

  it('changes redirect URIs, and names those that end before they do', async () => {
    const { id } = await register();
    const page = await open(id);
    const redirects = panel(page, 'Redirect URIs');
    await redirects.getByLabel('Redirect URIs').fill('ftp://portal.example');
    await redirects.getByRole('button', { name: 'Save' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('https://portal.example/old').waitFor();
    await dialog.getByText('sent 0 requests in the last hour').waitFor();
    expect((await shown(id)).redirect_uris).to.have.length(2);
    await dialog.getByRole('button', { name: 'Remove the URIs' }).click();
    await redirects
      .getByText(/must be https/)
      .first()
      .waitFor();
    await redirects
      .getByLabel('Redirect URIs')
      .fill('https://portal.example/back\nhttps://portal.example/new');
    await redirects.getByLabel('After signing out').fill('https://portal.example/bye');
    await redirects.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the URIs' }).click();
    await redirects.getByText('Saved').waitFor();
    expect(await shown(id)).to.deep.include({
      redirect_uris: ['https://portal.example/back', 'https://portal.example/new'],
      post_logout_redirect_uris: ['https://portal.example/bye'],
    });
  });

  it('says what scopes mean before they are saved, in the words of the consent page', async () => {
    const { id } = await register();
    const page = await open(id);
    const scopes = panel(page, 'Scopes');
    const row = (text: string) => scopes.getByRole('row').filter({ hasText: text });
    await row('patient/Condition.cud')
      .getByText('Add, change and delete diagnoses and health problems')
      .waitFor();
    await row('launch/patient').getByText('People aren’t asked about it.').waitFor();
    await scopes.getByLabel('Scopes').fill('openid patient/Observation.rs patient/Immunization.rs');
    await scopes.getByLabel('Scopes').blur();
    await row('patient/Immunization.rs').getByText('Read your vaccinations').waitFor();
    expect((await shown(id)).scopes).to.have.length(4);
    await scopes.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').getByText('patient/Condition.cud').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the scopes' }).click();
    await scopes.getByText('Saved').waitFor();
    expect((await shown(id)).scopes).to.deep.equal([
      'openid',
      'patient/Observation.rs',
      'patient/Immunization.rs',
    ]);
  });

  itAtFullSize(
    'previews the consent page itself in each of its languages, for chosen scopes, without a script or form',
    async () => {
      const { id } = await register();
      await owner.done('PUT', `/applications/${id}/branding`, { logo: PNG.toString('base64') });
      const page = await open(id);
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.url()));
      const preview = panel(page, 'Preview of the consent page');
      const frame = page.frameLocator('iframe');
      await frame
        .getByRole('heading', { level: 1, name: 'Portal asks for access to a health record' })
        .waitFor();
      const font = await frame.locator('body').evaluate((body) => getComputedStyle(body).fontFamily);
      expect(font, 'the page has its style').to.include('system-ui');
      const logo = frame.locator('img.logo');
      expect(await logo.evaluate((image) => (image as HTMLImageElement).naturalWidth)).to.equal(1);
      await preview.locator('iframe').scrollIntoViewIfNeeded();
      await picture(page, 'app-preview');
      const options = await preview.getByLabel('Language').getByRole('option').all();
      const languages = await Promise.all(options.map((option) => option.getAttribute('value')));
      expect(languages).to.deep.equal(['en', 'de', 'fr', 'es', 'nb', 'ar']);
      for (const lang of languages) {
        await preview.getByLabel('Language').selectOption(lang);
        await page.frameLocator(`iframe`).locator(`html[lang="${lang}"] h1`).waitFor();
      }
      await preview.getByLabel('Language').selectOption('en');
      await frame.getByText('Add, change and delete diagnoses and health problems').first().waitFor();
      await preview.locator('summary').click();
      await preview.getByLabel('patient/Condition.cud').uncheck();
      await frame.getByText('Add, change and delete').first().waitFor({ state: 'detached' });
      await frame.getByText('Read your laboratory results').first().waitFor();
      expect(await frame.getByText('Add, change and delete').count()).to.equal(0);
      await preview.locator('iframe').scrollIntoViewIfNeeded();
      sent.length = 0;
      await frame.getByRole('button', { name: 'Allow', exact: true }).click();
      await frame.getByText('Use another account').click();
      await frame
        .getByRole('heading', { level: 1, name: 'Portal asks for access to a health record' })
        .waitFor();
      expect(sent).to.deep.equal([]);
      expect(complaints.filter((each) => !/sandbox|form/i.test(each))).to.deep.equal([]);
    },
  );

  itAtFullSize(
    'makes a secret beside the previous one, and takes keys in its place, but no private ones',
    async () => {
      const { id, client_id } = await register();
      const find = openClients(service.pool);
      const page = await open(id);
      const proof = panel(page, 'How it proves who it is');
      await proof.getByRole('button', { name: 'New secret' }).click();
      await page.getByLabel('How long the previous secret works').selectOption('168');
      await page.getByRole('dialog').getByRole('button', { name: 'New secret' }).click();
      expect(await page.getByRole('dialog').getByRole('region').innerText()).to.match(/^cs_/);
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await proof.getByText(/The previous one works until/).waitFor();
      expect((await find(client_id))?.secrets).to.have.length(2);
      await proof.getByRole('button', { name: 'New secret' }).click();
      await page
        .getByRole('dialog')
        .getByText(/The secret before it, .* ends at once/)
        .waitFor();
      await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click();
      await proof.getByRole('button', { name: 'Use keys instead' }).click();
      const dialog = page.getByRole('dialog');
      const sent: string[] = [];
      page.on('request', (request) => sent.push(request.postData() ?? ''));
      for (const [text, says] of [
        [JSON.stringify({ keys: [privateKey.export({ format: 'jwk' })] }), 'This is a private key.'],
        [privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(), 'This is a private key.'],
        [publicKey.export({ format: 'pem', type: 'spki' }).toString(), 'This is a key in PEM.'],
        ['nothing', 'This is not a key set'],
      ] as const) {
        await dialog.getByLabel('Key set').fill(text);
        await dialog.getByRole('button', { name: 'Use keys instead' }).click();
        await dialog.getByRole('alert').filter({ hasText: says }).waitFor();
      }
      expect(sent.filter((body) => body !== '')).to.deep.equal([]);
      const own = { ...publicKey.export({ format: 'jwk' }), kid: 'one' };
      await dialog.getByLabel('Key set').fill(JSON.stringify(own));
      await dialog.getByRole('button', { name: 'Use keys instead' }).click();
      await proof.getByRole('cell', { name: 'P-384' }).waitFor();
      expect((await shown(id)).jwks).to.deep.equal({ keys: [own] });
      expect((await find(client_id))?.secrets).to.deep.equal([]);
      expect(await proof.getByRole('button', { name: 'New secret' }).count()).to.equal(0);
      await proof.getByRole('button', { name: 'Replace the keys' }).click();
      await dialog.getByLabel(/^jwks_uri/).check();
      await dialog.getByRole('textbox', { name: 'jwks_uri' }).fill('https://portal.example/jwks');
      await dialog.getByRole('button', { name: 'Replace the keys' }).click();
      await proof.getByText('https://portal.example/jwks').waitFor();
      expect(await shown(id)).to.deep.include({ jwks: null, jwks_uri: 'https://portal.example/jwks' });
    },
  );

  itAtFullSize('changes the look and keeps the logo until it is removed', async () => {
    const { id } = await register();
    const page = await open(id);
    const look = panel(page, 'Look and links');
    const logo = async () => ((await shown(id)).branding as { readonly logo: object | null }).logo;
    await look
      .getByLabel('Logo', { exact: true })
      .setInputFiles({ name: 'l.png', mimeType: 'image/png', buffer: PNG });
    await look.getByLabel('Home page').fill('https://portal.example');
    await look.getByLabel('Privacy page').fill('https://portal.example/privacy');
    await look.getByRole('button', { name: 'Save' }).click();
    await look.getByRole('img', { name: 'Logo' }).waitFor();
    await look.getByLabel('Colour').fill('#0b6e4f');
    await look.getByRole('button', { name: 'Save' }).click();
    await look.getByText('Saved').waitFor();
    expect((await shown(id)).branding).to.deep.include({
      color: '#0b6e4f',
      client_uri: 'https://portal.example',
    });
    expect(await shown(id)).to.include({ privacy_url: 'https://portal.example/privacy' });
    expect(await logo()).to.include({ content_type: 'image/png', size: PNG.byteLength });
    await look.getByLabel('Remove the logo').check();
    await look.getByRole('button', { name: 'Save' }).click();
    await look.getByRole('img', { name: 'Logo' }).waitFor({ state: 'detached' });
    expect(await logo()).to.equal(null);
    expect(complaints).to.deep.equal([]);
  });

  it('is deleted with a word about what ends', async () => {
    const { id } = await register();
    const page = await open(id);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('dialog').getByText('0 permissions that people gave will end.').waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('heading', { level: 1, name: 'Applications' }).waitFor();
    const { data } = await owner.done('GET', `/projects/${project}/applications`);
    expect(data.map((each) => each.id)).to.not.include(id);
  });

  it('shows a developer everything, and lets them change nothing', async () => {
    const { id } = await register();
    const page = await open(id, 'developer@clinic.example');
    await page.getByText('Add, change and delete diagnoses and health problems').waitFor();
    for (const name of ['Save', 'Delete', 'New secret', 'Use keys instead'])
      expect(await page.getByRole('button', { name, exact: true }).count(), name).to.equal(0);
    expect(await page.locator('main').getByRole('textbox').count()).to.equal(0);
  });

  it('is unknown to people of other organizations, also by its URL', async () => {
    const { id } = await register();
    const page = await visit(`/applications/${id}`, 'stranger@other.example');
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
    expect(await page.content()).not.to.include('portal.example');
  });

  it('is accessible', async () => {
    const { id } = await register({ jwks: { keys: [publicKey.export({ format: 'jwk' })] } });
    const page = await open(id);
    await page.getByText('Add, change and delete diagnoses and health problems').waitFor();
    await page.frameLocator('iframe').getByRole('heading', { level: 1 }).waitFor();
    await checkLooks(page, 'app-application');
    await page.getByRole('button', { name: 'Replace the keys' }).click();
    await checkLooks(page, 'app-application-keys');
  });
});
