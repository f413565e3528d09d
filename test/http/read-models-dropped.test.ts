/** Read models that are dropped while the service is running. They contain only derived data, which a rebuild restores. */
import { expect } from 'chai';
import { runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { fetchOnce } from '#test/support/patience.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { itAtFullSize } from '#test/support/scale.ts';

describe('dropped read models', () => {
  let service: InProcess;
  before(async () => {
    service = await startInProcess();
  });
  after(() => service.stop());

  const headers = () => ({
    Authorization: `Bearer ${service.key}`,
    'Content-Type': 'application/fhir+json',
  });
  const ask = async (path: string, init: RequestInit = {}) => {
    const url = path.startsWith('http') ? path : service.base + path;
    const answer = await fetchOnce(url, { headers: headers(), ...init });
    return { status: answer.status, text: await answer.text() };
  };
  const create = (more: Readonly<Record<string, string>> = {}) =>
    ask('/Patient', {
      method: 'POST',
      headers: { ...headers(), ...more },
      body: JSON.stringify({ resourceType: 'Patient', name: [{ family: 'Later' }] }),
    });
  const rebuild = async (...names: string[]): Promise<void> => {
    const { code, stderr } = await runCommand(['rebuild', ...names, '--json'], {
      DATABASE_URL: service.databaseUrl,
      EVENTSTORE_URL,
    });
    expect(code, stderr).to.equal(0);
  };
  /** Checks readiness over new connections, because each may reach a different process, which checks for itself. */
  const isReady = async (): Promise<boolean> => {
    const once = () => ask(`${service.url}/health/ready`, { headers: { connection: 'close' } });
    return (await Promise.all([once(), once()])).every(({ status }) => status === 200);
  };
  const missing = (name: string): string =>
    `tables of a read model are missing; run \`annal rebuild ${name}\` or restart the service to create them`;
  /** Waits until the service has checked the checkpoints again. */
  const looked = async (): Promise<void> => {
    const at = async (): Promise<number> => {
      const { rows } = await service.pool.query<{ at: number | null }>(
        `select extract(epoch from max(query_start))::float8 as at from pg_stat_activity
          where datname = current_database() and application_name = 'annal progress'`,
      );
      return rows[0]?.at ?? 0;
    };
    const before = await at();
    await eventually(async () => (await at()) > before);
  };

  itAtFullSize('leave what other read models serve as it was', async () => {
    const { id } = (await service.post('/Patient', { resourceType: 'Patient' })).json;
    const timeline = `${service.url}/v1/patients/${id}/timeline`;
    expect((await ask(timeline)).status).to.equal(200);
    await service.pool.query('drop schema timeline cascade');
    // The error of a failing statement doesn't say which read model is missing. That is known once the followers have checked.
    await eventually(async () => (await ask(timeline)).text.includes(missing('timeline')));
    for (let looks = 0; looks < 2; looks += 1) {
      const answers = await Promise.all([
        ...[`/Patient/${id}`, '/Patient?name=later', `/Patient/${id}/_history`, '/_history'].map((path) =>
          ask(path),
        ),
        create(),
        create({ 'If-None-Exist': 'family=Nobody' }),
        ask(timeline),
      ]);
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200, 201, 201, 503]);
      await looked();
    }
    const ready = await ask(`${service.url}/health/ready`);
    expect(ready.status).to.equal(503);
    expect(JSON.parse(ready.text)).to.include({
      message: `not ready: projections (${missing('timeline')})`,
    });
    await rebuild('timeline');
    await eventually(isReady);
    expect((await ask(timeline)).status).to.equal(200);
    // The process that runs the read model continues, too.
    const { id: next } = (await service.post('/Patient', { resourceType: 'Patient' })).json;
    await eventually(
      async () => (await ask(`${service.url}/v1/patients/${next}/timeline`)).status === 200,
      10_000,
    );
    expect(await isReady()).to.equal(true);
  });

  it('keep no write waiting for what nobody can read', async () => {
    const { id } = (await service.post('/Patient', { resourceType: 'Patient' })).json;
    const history = `/Patient/${id}/_history`;
    await service.pool.query('drop schema history cascade');
    await eventually(async () => (await ask(history)).text.includes(missing('history')));
    const began = performance.now();
    const created = await create();
    // A create that waits for a lagging read model takes ten seconds.
    expect(performance.now() - began).to.be.below(8_000);
    expect(created.status).to.equal(201);
    const { id: late } = JSON.parse(created.text);
    expect((await ask(`/Patient/${late}`)).status).to.equal(200);
    expect((await ask(history)).status).to.equal(503);
    await rebuild('history');
    await eventually(isReady);
    expect((await ask(`/Patient/${late}/_history`)).text).to.include('"total":1');
  });

  it('make reads and readiness fail with 503 at once, until annal rebuild has made them', async () => {
    const { id } = (await service.post('/Patient', { resourceType: 'Patient' })).json;
    const before = (await service.fhir('/Patient?_summary=count')).json.total;
    await service.pool.query('drop schema resources cascade; drop schema search cascade');
    const answers = await Promise.all([`/Patient/${id}`, '/Patient?name=x'].map((path) => ask(path)));
    expect(answers.map(({ status }) => status)).to.deep.equal([503, 503]);
    expect(await isReady()).to.equal(false);
    await rebuild();
    await eventually(isReady);
    expect((await service.fhir(`/Patient/${id}`)).status).to.equal(200);
    expect((await service.fhir('/Patient?_summary=count')).json.total).to.equal(before);
  });
});
