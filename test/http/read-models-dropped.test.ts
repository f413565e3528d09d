/** Read models that somebody drops under the service: derived data, which a rebuild brings back. */
import { expect } from 'chai';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { fetchOnce } from '#test/support/patience.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';

describe('dropped read models', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  it('make reads and readiness fail with 503 at once, until annal rebuild has made them', async () => {
    const { id } = (await service.post('/Patient', { resourceType: 'Patient' })).json;
    await service.pool.query('drop schema resources cascade; drop schema search cascade');
    const headers = { Authorization: `Bearer ${service.key}` };
    const paths = [`/Patient/${id}`, '/Patient?name=x'];
    const answers = await Promise.all(paths.map((path) => fetchOnce(service.base + path, { headers })));
    expect(answers.map(({ status }) => status)).to.deep.equal([503, 503]);
    expect((await fetchOnce(`${service.url}/health/ready`)).status).to.equal(503);
    const { code, stderr } = await runCommand(['rebuild', '--json'], {
      DATABASE_URL: service.databaseUrl,
      EVENTSTORE_URL,
    });
    expect(code, stderr).to.equal(0);
    // Asked again while it is refused.
    expect((await service.fhir(`/Patient/${id}`)).status).to.equal(200);
    expect((await service.fhir('/Patient?_summary=count')).json.total).to.equal(1);
  });
});
