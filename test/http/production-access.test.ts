/** Keys and applications of production where they are by request: an operator allows them by `annal production`. */
import { expect } from 'chai';
import { type AdminUser, signIn } from '#test/support/admin.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { startProgram } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';

describe('production by request', () => {
  let service: InProcess;
  let owner: AdminUser;
  let project: string;

  before(async () => {
    service = await startInProcess({}, { PRODUCTION_ACCESS: 'request' });
    owner = await signIn(service, 'owner@clinic.example');
    const { id } = await owner.done('POST', '/organizations', { name: 'Clinic' });
    project = (await owner.done('POST', `/organizations/${id}/projects`, { name: 'Pilot' })).id;
  });
  after(() => service.stop());

  const ask = (environment: string) =>
    owner.ask('POST', `/projects/${project}/keys`, { name: 'k', environment });
  const register = (environment: string) =>
    owner.ask('POST', `/projects/${project}/applications`, {
      name: 'Diary',
      environment,
      kind: 'public',
      redirect_uris: ['https://diary.example/back'],
      scopes: ['openid'],
    });

  async function annal(...args: string[]) {
    const program = startProgram(process.execPath, ['bin/annal.js', 'production', ...args], {
      DATABASE_URL: service.databaseUrl,
      EVENTSTORE_URL,
    });
    const code = await program.ended;
    return { code, stdout: program.stdout(), stderr: program.stderr() };
  }

  it('refuses its keys until the project is allowed, and again once that is withdrawn', async () => {
    const refused = await ask('production');
    expect(refused.status).to.equal(403);
    const { error } = JSON.parse(refused.text);
    expect(error.type).to.equal('forbidden');
    expect(error.message).to.contain('production keys need approval here').and.contain(project);
    expect((await ask('sandbox')).status).to.equal(201);
    const token = (environment: string) => owner.ask('POST', `/projects/${project}/tokens`, { environment });
    expect([(await token('production')).status, (await token('sandbox')).status]).to.deep.equal([403, 201]);

    expect(await annal('allow', project)).to.include({
      code: 0,
      stdout: `${project} may create production keys and applications.\n`,
    });
    const made = await ask('production');
    expect(made.status).to.equal(201);
    expect((await token('production')).status).to.equal(201);
    expect((await annal('withdraw', project)).code).to.equal(0);
    expect((await ask('production')).status).to.equal(403);
    // What was made works on.
    const { key } = JSON.parse(made.text);
    expect((await service.fhir('/Patient', { key })).status).to.equal(200);
  });

  it('refuses its applications just so', async () => {
    const refused = await register('production');
    expect(refused.status).to.equal(403);
    const { error } = JSON.parse(refused.text);
    expect(error.type).to.equal('forbidden');
    expect(error.message).to.contain('production applications need approval here').and.contain(project);
    expect((await owner.done('GET', `/projects/${project}/applications`)).data).to.deep.equal([]);
    expect((await register('sandbox')).status).to.equal(201);

    expect((await annal('allow', project)).code).to.equal(0);
    const made = await register('production');
    expect(made.status, made.text).to.equal(201);
    expect(JSON.parse(made.text).environment).to.equal('production');
    expect((await annal('withdraw', project)).code).to.equal(0);
    expect((await register('production')).status).to.equal(403);
  });

  it('names what is wrong with the command', async () => {
    const [unknown, misunderstood] = await Promise.all([
      annal('allow', 'proj_unknown'),
      annal('grant', project),
    ]);
    expect([unknown.code, unknown.stderr]).to.deep.equal([1, "annal: project/proj_unknown doesn't exist\n"]);
    expect([misunderstood.code, misunderstood.stderr]).to.deep.equal([
      2,
      'annal: unknown action grant of annal production; its actions are allow and withdraw\n',
    ]);
  });
});
