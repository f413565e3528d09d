/** Jobs in a running service: the command that does the work, how it ends, and what remains after a crash. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { Jobs } from '#src/operations/jobs/jobs.ts';
import type { Job, NewJob } from '#src/shared/job.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { holdRebuild, isHeld } from '#test/support/held-rebuild.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { startService } from '#test/support/service.ts';

const BY = { issuer: 'https://id.example', subject: 'ada' };
const rebuildOf = (subject: string, options: NewJob['options'] = {}): NewJob => ({
  kind: 'rebuild',
  subject,
  options: { load: 'full', ...options },
  started_by: BY,
});

async function ended(jobs: Jobs, { id }: Pick<Job, 'id'>): Promise<Job> {
  let job: Job | undefined;
  await eventually(async () => {
    job = await jobs.find('rebuild', id);
    return job?.finished_at != null;
  });
  if (job === undefined) throw new Error('there is no job');
  return job;
}

describe('jobs', () => {
  let service: InProcess;
  let jobs: Jobs;

  before(async () => {
    service = await startInProcess();
    jobs = new Jobs(service.pool);
  });
  after(() => service.stop());

  it('rebuild read models, and are one job for everyone who starts the same', async () => {
    await service.post('/Patient', { resourceType: 'Patient', name: [{ family: 'Sand' }] });
    const release = await holdRebuild(service.databaseUrl, 'timeline');
    const [first, second] = await Promise.all([
      jobs.start(rebuildOf('resources timeline')),
      jobs.start(rebuildOf('resources timeline', { load: 'low' })),
    ]);
    expect(first.job.id).to.equal(second.job.id);
    expect([first.made, second.made].sort()).to.deep.equal([false, true]);
    const other = await jobs.start(rebuildOf('history'));
    expect(other.made).to.equal(true);
    await eventually(() => isHeld(service.pool, 'timeline'));
    expect((await jobs.find('rebuild', first.job.id))?.status).to.equal('running');
    // Another job runs at the same time.
    expect((await ended(jobs, other.job)).status).to.equal('done');
    await release();
    const job = await ended(jobs, first.job);
    expect(job).to.include({ status: 'done', error: null });
    expect(job.result).to.have.property('models').with.length(2);
    expect(JSON.stringify(job.result)).to.contain('"outcome":"swapped"').and.contain('"differences":0');
    expect(job.progress?.unit).to.equal('events');
    expect(job.progress?.note).to.match(/^(resources|timeline): done$/);
    expect((await service.fhir('/Patient?family=Sand')).json.total).to.equal(1);
    expect((await jobs.start(rebuildOf('resources timeline'))).made).to.equal(true);
  });

  itAtFullSize(
    'of a kind take turns on an instance, so that verifications of many projects don’t hold up a rebuild',
    async () => {
      const verify = (subject: string) =>
        jobs.start({ kind: 'verification', subject, options: {}, started_by: BY });
      const first = await verify('project proj_a');
      const second = await verify('project proj_b');
      const states = async () => {
        const found = await Promise.all(
          [first, second].map(({ job: { id } }) => jobs.find('verification', id)),
        );
        return found.map((job) => job?.status);
      };
      await eventually(async () => (await states())[0] === 'running');
      const { job } = await jobs.start(rebuildOf('projects'));
      await ended(jobs, job);
      let sawBoth = false;
      await eventually(async () => {
        const now = await states();
        sawBoth ||= now.every((status) => status === 'running');
        return now.every((status) => status !== 'running' && status !== 'waiting');
      });
      expect(sawBoth).to.equal(false);
    },
  );

  it('go on in the instance that runs them, also if it gave no sign of life for a while', async () => {
    const release = await holdRebuild(service.databaseUrl, 'consents');
    const { job } = await jobs.start(rebuildOf('consents'));
    await eventually(() => isHeld(service.pool, 'consents'));
    const began = Date.now();
    for (; Date.now() - began < 3_000; await delay(10)) {
      await service.pool.query(
        "update operations.job set heartbeat = clock_timestamp() - interval '11 seconds' where id = $1",
        [job.id],
      );
      const { rows } = await service.pool.query<{ commands: number }>(
        "select count(distinct pid)::int as commands from pg_stat_activity where application_name = 'annal rebuild consents'",
      );
      expect(rows[0]?.commands).to.be.at.most(1);
      expect(await jobs.find('rebuild', job.id)).to.include({ status: 'running', error: null });
    }
    await release();
    expect((await ended(jobs, job)).status).to.equal('done');
  });

  it('go on after PostgreSQL ended their connections, as it does when it restarts', async () => {
    const release = await holdRebuild(service.databaseUrl, 'projects');
    const { job } = await jobs.start(rebuildOf('projects'));
    await eventually(() => isHeld(service.pool, 'projects'));
    await service.pool.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'annal rebuild projects'",
    );
    await eventually(async () => (await jobs.find('rebuild', job.id))?.status === 'waiting');
    expect((await jobs.find('rebuild', job.id))?.error).to.contain('connection to the database was lost');
    await release();
    expect((await ended(jobs, job)).status).to.equal('done');
  });

  it('are cancelled while they wait and while they run', async () => {
    const release = await holdRebuild(service.databaseUrl, 'search');
    const { job } = await jobs.start(rebuildOf('search'));
    await eventually(() => isHeld(service.pool, 'search'));
    expect((await jobs.cancel('rebuild', job.id))?.status).to.equal('running');
    expect((await ended(jobs, job)).status).to.equal('cancelled');
    expect(await jobs.cancel('rebuild', job.id)).to.equal(undefined);
    await release();
    const waiting = await service.pool.query(
      `insert into operations.job (id, kind, subject, options, status, started_by, created_at)
       values ('job_later', 'later', '', '{}', 'waiting', '{}', 1) returning id`,
    );
    expect(waiting.rowCount).to.equal(1);
    expect((await jobs.cancel('later', 'job_later'))?.status).to.equal('cancelled');
  });

  itAtFullSize('are taken over from an instance that died, and fail with the reason', async () => {
    await service.pool.query(
      `insert into operations.job (id, kind, subject, options, status, started_by, created_at, instance, heartbeat)
       values ('job_lost', 'rebuild', 'webhooks', '{}', 'running', '{}', 1, 'inst_dead', now() - interval '11 seconds'),
              ('job_live', 'rebuild', 'consents', '{}', 'running', '{}', 1, 'inst_live', now() + interval '1 hour'),
              ('job_newer', 'of a newer version', '', '{}', 'waiting', '{}', 1, null, null),
              ('job_wrong', 'rebuild', 'nothing', '{}', 'waiting', '{}', 2, null, null)`,
    );
    const taken = await ended(jobs, { id: 'job_lost' });
    expect(taken.status).to.equal('done');
    expect(taken.instance)
      .to.match(/^inst_/)
      .and.not.equal('inst_dead');
    // A job that was cancelled while its instance was dead doesn't run again.
    await service.pool.query(
      `insert into operations.job (id, kind, subject, options, status, started_by, created_at, instance, heartbeat, cancel)
       values ('job_given_up', 'rebuild', 'search', '{}', 'running', '{}', 1, 'inst_dead', now() - interval '1 day', true)`,
    );
    const failed = await ended(jobs, { id: 'job_wrong' });
    expect(failed.status).to.equal('failed');
    expect(failed.error).to.contain('unknown projection nothing; the projections are');
    expect((await ended(jobs, { id: 'job_given_up' })).status).to.equal('cancelled');
    expect(await jobs.find('rebuild', 'job_live')).to.include({ status: 'running', instance: 'inst_live' });
    expect((await jobs.find('of a newer version', 'job_newer'))?.status).to.equal('waiting');
  });
});

describe('a job of a service that ends', () => {
  let database: TestDatabase;
  let jobs: Jobs;

  before(async () => {
    database = await createDatabase();
    jobs = new Jobs(database.pool);
  });
  after(() => database.drop());

  itAtFullSize(
    'goes on after a kill and waits after a stop, and its command ends with the service',
    async () => {
      const { pool, url: databaseUrl } = database;
      const commands = async (): Promise<number> => {
        const sql =
          "select count(*)::int as n from pg_stat_activity where application_name = 'annal rebuild search'";
        return (await pool.query<{ n: number }>(sql)).rows[0]?.n ?? 0;
      };
      let service = await startService({ databaseUrl });
      const { dataDir } = service;
      try {
        const release = await holdRebuild(databaseUrl, 'search');
        const { job } = await jobs.start(rebuildOf('search'));
        await eventually(() => isHeld(pool, 'search'));
        const first = await jobs.find('rebuild', job.id);
        await service.kill();
        // The command notices within seconds, although it waits for the lock.
        await eventually(async () => (await commands()) === 0);
        // Makes the next instance believe that ten seconds have passed.
        await pool.query("update operations.job set heartbeat = heartbeat - interval '10 seconds'");
        service = await startService({ databaseUrl, dataDir });
        await eventually(() => isHeld(pool, 'search'));
        const second = await jobs.find('rebuild', job.id);
        expect(second?.instance).to.not.equal(first?.instance);
        await service.stop();
        expect(await jobs.find('rebuild', job.id)).to.include({ status: 'waiting', error: null });
        await eventually(async () => (await commands()) === 0);
        expect(await jobs.claim('inst_next', ['rebuild'])).to.include({
          id: job.id,
          started_at: first?.started_at,
        });
        await release();
      } finally {
        await service.stop();
      }
    },
  );
});
