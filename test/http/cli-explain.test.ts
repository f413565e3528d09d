/** `annal explain` against the real service. */
import { expect } from 'chai';
import { readQuickstart } from '#src/data-dir.ts';
import { type CommandOutcome, runCommand } from '#test/support/cli.ts';
import { type Service, startService } from '#test/support/service.ts';

describe('annal explain', () => {
  let service: Service;
  let own: readonly string[];
  before(async () => {
    service = await startService();
    // A shared log has other tests' projects.
    const project = (await readQuickstart(service.dataDir))?.project_id ?? '';
    own = ['--project', project];
    const patient = await service.fhir('/Patient', {
      method: 'POST',
      body: JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Explained' }] }),
    });
    await service.fhir('/Observation', {
      method: 'POST',
      body: JSON.stringify({
        resourceType: 'Observation',
        status: 'final',
        code: { coding: [{ system: 'http://loinc.org', code: '8480-6' }] },
        subject: { reference: `Patient/${patient.json.id}` },
        effectiveDateTime: '2026-01-01',
      }),
    });
  });
  after(() => service.stop());

  const explain = (...args: readonly string[]): Promise<CommandOutcome> =>
    runCommand(['explain', ...args, '--data-dir', service.dataDir], { DATABASE_URL: '' });
  const explained = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await explain(...args, ...own, '--json');
    expect(stderr).to.equal('');
    expect(code).to.equal(0);
    return JSON.parse(stdout);
  };

  it('prints the plan in plain English', async () => {
    const { stdout, code } = await explain('Observation?code=8480-6&_sort=-date&_count=10', ...own);
    expect(code).to.equal(0);
    expect(stdout).to.match(
      /^Observation\?code=8480-6&_sort=-date&_count=10, project .* \(proj_.*\), sandbox\n/,
    );
    expect(stdout).to.include(`
1. Walk along the values of date in their order, past 20000 at most, and take those that match, and count them. Then read up to 11 resources by their ids.
   index: search.period_about
   by: code=8480-6
   the next statement runs when fewer than 11 match

2. Find all matches, sort them by -date, and count them. Then read up to 11 resources by their ids.
   index: search.entry_keys
   by: code=8480-6
`);
  });

  it('prints statements with their parameters as JSON', async () => {
    const { plan, steps, ran } = await explained('Observation?status=final');
    expect(plan).to.equal('sources');
    expect(steps[0].sql).to.match(/search\.entry/);
    expect(steps[0].values).to.be.an('array').that.is.not.empty;
    expect(ran).to.equal(undefined);
  });

  it('looks up what chains lead to', async () => {
    const { looked_up, steps } = await explained('Observation?patient.name=explained');
    expect(looked_up).to.have.length(1);
    expect(looked_up[0]).to.include({ condition: 'patient.name=explained', found: 1 });
    expect(steps[0].by).to.deep.equal(['patient.name=explained']);
  });

  it('runs the statements with EXPLAIN ANALYZE', async () => {
    const { ran } = await explained('Observation?code=8480-6,a"\\b&_sort=-date', '--analyze');
    expect(ran).to.have.length.within(1, 2);
    expect(ran[0].plan.join('\n')).to.match(/actual time=.*[\s\S]*Execution Time:/);
    const { stdout } = await explain('Patient?name=expl&_summary=count', ...own, '--analyze');
    expect(stdout).to.include('Statement 1 that ran:').and.to.include('Execution Time:');
  });

  it('explains Provenance, compartments and shared terminology', async () => {
    const id = '00000000-0000-7000-8000-000000000001';
    // This request is answered once the terminology has been installed.
    await service.fhir('/CodeSystem?name=a');
    for (const search of [
      'Provenance?recorded=gt2020',
      `Patient/${id}/Observation?code=a`,
      `Encounter/${id}/Procedure`,
      'CodeSystem?name=a',
    ])
      expect((await explained(search, '--analyze')).ran, search).to.have.length(1);
  });

  it('says what the service says of a wrong search', async () => {
    for (const search of [
      'Observation?date=x',
      'Observation?code:bad=x',
      'observation?code=a',
      'Patient?_sort=naem',
      'Patient?_elements=x',
    ]) {
      const refused = await service.fhir(`/${search}`);
      const { stderr, code } = await explain(search, ...own);
      expect(code, search).to.equal(2);
      expect(stderr).to.equal(`annal: ${JSON.parse(refused.text).issue[0].diagnostics}\n`);
    }
    const answer = JSON.parse((await service.fhir('/Patient?nmae=x')).text);
    const { ignored } = await explained('Patient?nmae=x');
    const warnings = answer.entry.flatMap(
      ({ resource }: { resource: { issue?: { diagnostics: string }[] } }) =>
        (resource.issue ?? []).map(({ diagnostics }) => diagnostics),
    );
    expect(ignored).to.deep.equal(warnings);
  });

  it('refuses a project that does not exist, and what is no search', async () => {
    expect(await explain('Patient', '--project', 'proj_none')).to.deep.include({
      code: 1,
      stderr: 'annal: unknown project proj_none: no project has this id or name\n',
    });
    expect((await explain('Patient/a/b/c')).code).to.equal(2);
    expect((await explain('Patient', '--environment', 'test')).stderr).to.include('sandbox or production');
  });
});
