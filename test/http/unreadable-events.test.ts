/** Unreadable events in the log of a running service: what clients and operators are told. */
import { expect } from 'chai';
import { parseMetadata } from '#src/events/metadata.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { created, made, Streams, TENANT } from '#test/projections/made.ts';
import { type CommandOutcome, runCommand } from '#test/support/cli.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { fetchOnce } from '#test/support/patience.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { itAtFullSize } from '#test/support/scale.ts';

const SECRET = 'Confidential';

describe('an event that cannot be read', () => {
  let service: InProcess;
  let malformed: string;
  const newer = newUuid();

  const annal = (...args: string[]): Promise<CommandOutcome> =>
    runCommand(args, { DATABASE_URL: service.databaseUrl, EVENTSTORE_URL: '' });
  const ask = async (path: string, init: RequestInit = {}) => {
    const headers = { Authorization: `Bearer ${service.key}`, 'Content-Type': 'application/fhir+json' };
    const answer = await fetchOnce(service.base + path, { headers, ...init });
    return { status: answer.status, text: await answer.text(), retry: answer.headers.get('Retry-After') };
  };

  before(async function () {
    // In a log shared with other tests, such events would stop those tests' projections.
    if (EVENTSTORE_URL !== '') this.skip();
    service = await startInProcess();
    const { rows } = await service.pool.query<{ project: string }>('select project from projects.api_key');
    const owner = { ...TENANT, project: rows[0]?.project ?? '' };
    malformed = String((await service.post('/Patient', { resourceType: 'Patient' })).json.id);
    const stream = recordStream(malformed);
    const store = await PostgresEventStore.open({ url: service.databaseUrl });
    for await (const { revision, metadata } of store.read(stream)) {
      const { hash } = parseMetadata(metadata);
      const event = created('Observation', newUuid(), { note: [{ text: SECRET }] }, { owner });
      const data = event.data.replace('resource_id', 'resource');
      await store.append(stream, { revision, hash: hash ?? '' }, [{ ...event, data }]);
    }
    const renamed = { ...made({ type: 'ProjectDeleted', data: { project_id: 'x' } }), type: 'Renamed' };
    await new Streams(store).record(newer, renamed);
    await store.close();
  });
  after(() => service?.stop());

  it('refuses writes to its record, without saying where it is', async () => {
    const subject = { reference: `Patient/${malformed}` };
    const body = JSON.stringify({
      resourceType: 'Observation',
      status: 'final',
      code: { text: 'x' },
      subject,
    });
    const { status, text, retry } = await ask('/Observation', { method: 'POST', body });
    expect([status, retry], text).to.deep.equal([503, '60']);
    expect(text).to.contain('an operator must run annal verify').and.not.to.contain(SECRET);
    await service.logged(`revision 1 of ${recordStream(malformed)}`);
    expect(service.log.join()).not.to.contain(SECRET);
  });

  itAtFullSize('makes reads say that the read model stopped, not that it is catching up', async () => {
    await eventually(async () => (await ask(`/Patient/${malformed}`)).text.includes('stopped at an event'));
    const { status, text, retry } = await ask('/Patient?name=x');
    expect([status, retry]).to.deep.equal([503, '30']);
    expect(text).to.match(/the read model \w+ stopped at an event that it can't apply; an operator must run/);
  });

  it('is named by the commands that read its stream, without a stack trace', async () => {
    for (const [id, revision, said] of [
      [
        malformed,
        1,
        'the data are not of the form of ResourceCreated version 1; run annal verify for details',
      ],
      [
        newer,
        0,
        "a newer version of Annal wrote Renamed version 1; this one doesn't know Renamed: upgrade this instance",
      ],
    ] as const)
      for (const args of [
        ['history', recordStream(id)],
        ['record', id, '--json'],
      ]) {
        const outcome = await annal(...args);
        expect(outcome).to.deep.include({
          code: 1,
          stderr: `annal: cannot read the event at revision ${revision} of ${recordStream(id)}: ${said}\n`,
        });
      }
  });

  it('stops a rebuild, which says so', async () => {
    // If read models had the same version, they would be rebuilt only up to their serving position.
    await service.pool.query('update resources.checkpoint set version = 1');
    const { code, stderr } = await annal('rebuild', 'resources');
    expect(code).to.equal(1);
    expect(stderr)
      .to.contain("annal: the rebuild stopped before an event that it can't apply: projection resources")
      .and.contain(`${recordStream(malformed)} revision 1`)
      .and.contain('run the same command again to continue')
      .and.not.contain('    at ');
  });

  itAtFullSize('is reported by verify, which quotes none of it', async () => {
    const sql = `update log.events set metadata = $2 where stream = $1`;
    await service.pool.query(sql, [recordStream(newer), `{"author": ${SECRET}}`]);
    const { stdout } = await annal('verify', '--json');
    expect(stdout).to.contain('cannot be read: its metadata is not valid JSON').and.not.to.contain(SECRET);
  });
});
