/** The port while read models are rebuilt at startup. */
import { expect } from 'chai';
import { pino } from 'pino';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { bringReadModelsUpToDate } from '#src/freshness/read-models.ts';
import { RebuildCount } from '#src/freshness/rebuild-count.ts';
import { answerWhileStarting } from '#src/http/server/starting.ts';
import { newUuid } from '#src/shared/ids.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { eventually, freePort } from '#test/support/process.ts';
import { startInstance } from './instance.ts';
import { created, Streams } from './made.ts';

describe('a start that rebuilds read models', () => {
  let database: TestDatabase;
  before(async () => {
    database = await createMigratedDatabase();
  });
  after(() => database.drop());

  it('lives, is not ready, and says how far it is', async () => {
    const instance = await startInstance(database.url);
    const patient = newUuid();
    await instance.shown(await new Streams(instance.store).record(patient, created('Patient', patient)));
    await instance.stop();
    await database.pool.query('update timeline.checkpoint set version = version - 1');
    // Holds up the swap.
    const holder = await database.pool.connect();
    const store = await PostgresEventStore.open({ url: database.url });
    try {
      await holder.query('begin; lock table timeline.checkpoint in share mode');
      let url = '';
      const rebuilding = bringReadModelsUpToDate(database.pool, {
        store,
        databaseUrl: database.url,
        log: pino({ level: 'silent' }),
        watch: { begin: () => Promise.resolve() },
        answerMeanwhile: async (say) => {
          // Chosen only now, because another process may take a free port at any time.
          const port = await freePort();
          const close = await answerWhileStarting(
            { host: '127.0.0.1', port, baseUrl: 'http://localhost' },
            say,
          );
          url = `http://127.0.0.1:${port}`;
          return close;
        },
      });
      const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
        const answer = await fetch(url + path, { headers });
        expect(answer.headers.get('service-request-id'), path).to.match(/^req_/);
        return { status: answer.status, retry: answer.headers.get('retry-after'), text: await answer.text() };
      };
      // If the rebuild ends too early, the test is faulty.
      await Promise.race([eventually(() => url !== ''), rebuilding]);
      expect(await ask('/health/live')).to.include({ status: 200, text: '{"status":"live"}' });
      const ready = await ask('/health/ready');
      expect(ready).to.include({ status: 503, retry: '10' });
      expect(ready.text).to.match(/rebuilding timeline: \d+ events? done, about \d+ left, \d+ per second/);
      // A person gets a page with a link to try again.
      const page = await ask('/connections', { Accept: 'text/html,*/*;q=0.8', 'Accept-Language': 'de' });
      expect(page).to.include({ status: 503, retry: '10' });
      expect(page.text)
        .to.include('<html lang="de"')
        .and.include('href="/connections">Noch einmal versuchen');
      const read = await ask('/fhir/R4/Patient');
      expect(read.status).to.equal(503);
      expect(JSON.parse(read.text)).to.include({ resourceType: 'OperationOutcome' });
      const listed = await ask('/v1/patients');
      expect(listed.status).to.equal(503);
      expect(JSON.parse(listed.text)).to.have.nested.property('error.type', 'unavailable');
      await holder.query('commit');
      await rebuilding;
      // The port is free again for the service.
      expect(await fetch(url).catch(() => 'closed')).to.equal('closed');
    } finally {
      holder.release();
      await store.close();
    }
  });

  it('adds up what is done and left of all of them', () => {
    const count = new RebuildCount(['search', 'timeline']);
    count.note({ name: 'search', phase: 'loading', events: 100, share: 0.25 });
    count.note({ name: 'timeline', phase: 'loading', events: 50, share: 0.5 });
    expect(count.state()).to.deep.include({ events: 150, left: 350 });
  });
});
