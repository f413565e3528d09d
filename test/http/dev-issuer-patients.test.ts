/**
 * Synthetic patients at the development issuer: who is offered, what their tokens contain and give access to, and whom no form
 * may name.
 */
import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { devIssuerUrl } from '#src/dev-issuer/dev-issuer.ts';
import { makeSubject } from '#src/dev-issuer/people.ts';
import { signIn, withToken } from '#test/support/admin.ts';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { patientVisitor, wordsOf } from '#test/support/patient-pages.ts';
import { eventually } from '#test/support/process.ts';
import { removeTemporaryFolders } from '#test/support/temporary.ts';

/** The second patient is the third patient's mother. */
const PATIENTS = 3;
const MOTHER = 's-002@patients.example.org';

describe('synthetic patients at the development issuer', () => {
  let service: InProcess;
  /** The key of a sandbox that has been filled. */
  let key: string;

  before(async () => {
    service = await startInProcess({}, { SANDBOX_PATIENTS: String(PATIENTS) });
    const owner = await signIn(service, 'developer@example.org');
    const organization = await owner.done('POST', '/organizations', { name: 'Practice' });
    const project = await owner.done('POST', `/organizations/${organization.id}/projects`, { name: 'Trial' });
    const made = await owner.done('POST', `/projects/${project.id}/keys`, {
      name: 'reads',
      environment: 'sandbox',
      scopes: ['read'],
    });
    key = made.key;
  });
  after(async () => {
    await service.stop();
    await removeTemporaryFolders();
  });

  const submit = (form: Readonly<Record<string, string>> | URLSearchParams): Promise<Response> =>
    fetch(`${service.url}/dev`, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { 'Sec-Fetch-Site': 'same-origin' },
    });

  const tokenIn = async (answer: Response): Promise<string> =>
    /eyJ[\w.-]+/.exec(await answer.text())?.[0] ?? '';

  const choices = async (url: string): Promise<string[]> =>
    [
      ...(await (await fetch(`${url}/dev`)).text()).matchAll(
        /<button [^>]*name="patient" value="([^"]*)">([^<]*)</g,
      ),
    ].map(([, number, says]) => (says?.startsWith(`${number} · `) ? says : `${number} is not named`));

  const entries = async (query: string): Promise<number> =>
    Number((await service.fhir(`/${query}&_summary=count`, { key })).json.total);

  it('are offered as far as sandboxes hold them, those of age', async () => {
    const [first, second, ...others] = await choices(service.url);
    expect(first).to.match(/^S-001 · Sabine Vogel, \d\d: diabetes for twenty years$/);
    expect(second).to.match(
      /^S-002 · Eleni Nikolaidi, \d\d: healthy; mother of Giorgos Nikolaidis, \d+, a patient too$/,
    );
    expect(others).to.deep.equal([]);
    const none = await startInProcess();
    try {
      expect(await choices(none.url)).to.deep.equal([]);
    } finally {
      await none.stop();
    }
  });

  it('get a token that says who they are, the same in every installation', async () => {
    const token = await tokenIn(await submit({ patient: 'S-002' }));
    const { iat, exp, auth_time, birthdate, ...claims } = decodeJwt(token);
    expect(birthdate).to.match(/^\d{4}-\d\d-\d\d$/);
    expect(claims).to.deep.equal({
      iss: devIssuerUrl(service.url),
      aud: 'annal',
      sub: 'KXgLM95ZaocvS4rmJ6rEFe',
      email: MOTHER,
      email_verified: true,
      name: 'Eleni Nikolaidi',
      given_name: 'Eleni',
      family_name: 'Nikolaidi',
    });
    expect([Number(exp) - Number(iat), auth_time]).to.deep.equal([3600, iat]);
    const typed = await tokenIn(await submit({ email: MOTHER.toUpperCase() }));
    expect(decodeJwt(typed)).to.include({ sub: claims.sub, name: 'Eleni Nikolaidi' });
  });

  it('are in each sandbox by their e-mail address, a dependent by that of the parent', async () => {
    await eventually(async () => (await entries('Patient?')) === PATIENTS);
    expect(await entries(`Patient?email=${MOTHER}&identifier=S-002&family=Nikolaidi`)).to.equal(1);
    expect(await entries(`Patient?email=s-001@patients.example.org`)).to.equal(1);
    await eventually(async () => (await entries(`RelatedPerson?email=${MOTHER}`)) === 1);
    expect(await entries(`RelatedPerson?email=${MOTHER}&identifier=S-002&patient.identifier=S-003`)).to.equal(
      1,
    );
    expect(await entries(`Patient?identifier=S-003&email:missing=true`)).to.equal(1);
  });

  it('see nothing on /admin: they are no members', async () => {
    const token = await tokenIn(await submit({ patient: 'S-001' }));
    const email = 's-001@patients.example.org';
    const patient = withToken(service.url, token, {
      email,
      issuer: devIssuerUrl(service.url),
      subject: makeSubject(email),
    });
    const owner = await signIn(service, 'developer@example.org');
    const [organization] = (await owner.done('GET', '/organizations')).data;
    expect(organization?.name).to.be.a('string');
    expect((await patient.done('GET', '/organizations')).data).to.deep.equal([]);
    for (const path of [`/organizations/${organization?.id}`, `/organizations/${organization?.id}/projects`])
      expect((await patient.ask('GET', path)).status, path).to.equal(404);
  });

  it('are printed tokens of by dev-token', async () => {
    const env = {
      DATABASE_URL: service.databaseUrl,
      MODE: '',
      OIDC_ISSUERS: '',
      SANDBOX_PATIENTS: String(PATIENTS),
    };
    const run = (...args: string[]) => runCommand(['dev-token', ...args], env);
    for (const who of ['S-002', '2', 'eleni nikolaidi', 'Eleni']) {
      const { code, stdout, stderr } = await run('--patient', who, '--json');
      expect([code, stderr], who).to.deep.equal([0, '']);
      expect(JSON.parse(stdout)).to.include({ email: MOTHER, subject: makeSubject(MOTHER) });
    }
    for (const [who, message] of [
      [
        'S-003',
        /--patient S-003 matches no synthetic patient who can sign in; choose one of these:\n {2}S-001 {2}Sabine Vogel/,
      ],
      ['S-004', /matches no synthetic patient who can sign in; choose one of these/],
      ['e', /--patient e matches several patients; choose one of these:\n {2}S-001 .*\n {2}S-002 /],
    ] as const) {
      const { code, stdout, stderr } = await run('--patient', who);
      expect([code, stdout], who).to.deep.equal([2, '']);
      expect(stderr).to.match(message);
    }
    expect((await run('--patient', '2', '--email', MOTHER)).code).to.equal(2);
    const { stdout: help } = await run('--help');
    expect(help).to.match(/S-002 {2}Eleni Nikolaidi, \d\d: healthy; mother of/);
  });

  it('are refused with a page where a form names nobody, or several', async () => {
    const wrong: [Readonly<Record<string, string>> | URLSearchParams, RegExp][] = [
      [{ patient: 'S-004' }, /No synthetic patient S-004 can sign in here/],
      [{ patient: 'S-003' }, /No synthetic patient S-003/],
      [{ patient: '' }, /No synthetic patient {2}can/],
      [{ patient: '<script>' }, /No synthetic patient &lt;script&gt; can/],
      [{ patient: 'S-001', email: 'a@example.org' }, /the form names several/],
      [new URLSearchParams('patient=S-001&patient=S-002'), /the form names several/],
    ];
    for (const [form, says] of wrong) {
      const answer = await submit(form);
      const text = await answer.text();
      expect(answer.status, String(says)).to.equal(422);
      expect(text).to.match(says);
      expect(text).not.to.match(/eyJ|aria-invalid|<script/);
    }
    const foreign = await fetch(`${service.url}/dev`, {
      method: 'POST',
      body: new URLSearchParams({ patient: 'S-001' }),
      headers: { 'Sec-Fetch-Site': 'cross-site' },
    });
    expect(foreign.status).to.equal(403);
  });

  it('see on their page which project each of their records is in', async () => {
    const owner = await signIn(service, 'developer@example.org');
    const [organization] = (await owner.done('GET', '/organizations')).data;
    await owner.done('POST', `/organizations/${organization?.id}/projects`, { name: 'Second trial' });
    const cards = async (): Promise<string> => {
      const { page } = await patientVisitor(service, 's-001@patients.example.org');
      return wordsOf(page);
    };
    await eventually(async () => (await cards()).includes('kept by Second trial'), 60_000, 200);
    expect(await cards()).to.include('kept by Trial');
  });
});
