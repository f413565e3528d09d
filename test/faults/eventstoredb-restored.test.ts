/**
 * An EventStoreDB whose files were put back from a backup, and that has written to its log since: it is longer than what was
 * derived from it, and is refused all the same. Needs EVENTSTORE_CONTROL and EVENTSTORE_FILES: docs/eventstoredb.md.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { scavenge } from '#src/events/eventstoredb/scavenge.ts';
import { EventStoreDbStore } from '#src/events/eventstoredb/store.ts';
import { toNumber, toPosition } from '#src/events/position.ts';
import { InvalidPosition } from '#src/events/store.ts';
import { rejection } from '#test/contract/event-store/events.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { CONTROLLED, control } from '#test/support/event-store-control.ts';
import { eventually } from '#test/support/process.ts';
import { newDataDir, startService } from '#test/support/service.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const run = promisify(execFile);
const { EVENTSTORE_URL: url = '', EVENTSTORE_FILES: files = '' } = process.env;

(CONTROLLED && files !== '' ? describe : describe.skip)('an EventStoreDB that was restored', function () {
  this.timeout(300_000);
  let database: TestDatabase;
  let dataDir: string;

  const writes = async (count: number): Promise<void> => {
    const service = await startService({ dataDir, databaseUrl: database.url, env: { EVENTSTORE_URL: url } });
    try {
      const body = JSON.stringify({ resourceType: 'Patient' });
      for (let n = 0; n < count; n += 1)
        expect((await service.fhir('/Patient', { method: 'POST', body })).status).to.equal(201);
    } finally {
      await service.stop();
    }
  };
  const reached = async (): Promise<string> => {
    const store = await EventStoreDbStore.open({ url });
    return store.reached().finally(() => store.close());
  };
  const up = async (): Promise<void> => {
    await control('start');
    await eventually(() => reached().then(Boolean, () => false), 60_000);
  };

  before(async () => {
    database = await createDatabase();
    dataDir = await newDataDir();
  });
  after(() => database?.drop());

  it('is refused, also when its own scavenge has made it longer than it was', async () => {
    await writes(1);
    await control('stop');
    const backup = await temporaryFolder();
    await run('cp', ['-a', `${files}/db/.`, backup]);
    await up();
    await writes(2);
    const lost = await reached();
    await control('stop');
    await run('bash', ['-c', 'rm -rf "$1"/db/* && cp -a "$2"/. "$1"/db', 'restore', files, backup]);
    await up();
    expect((await reached()) < lost).to.equal(true);
    while ((await reached()) < lost) await scavenge(url);
    const refused = await writes(0).then(() => 'it started', String);
    expect(refused).to.contain('Annal cannot start: the event log does not have event');
    expect(refused).to.contain('annal rebuild --restored');

    // A follower is told that it is another log, not that the server is away.
    const store = await EventStoreDbStore.open({ url });
    try {
      const between = toNumber(await store.head()) + 1;
      const failed = await rejection(
        new Promise((_, reject) => {
          const handle = async (): Promise<void> => undefined;
          store.subscribe({ after: toPosition(between), handle }).subscribe({ error: reject });
        }),
      );
      expect(failed).to.be.instanceOf(InvalidPosition);
    } finally {
      await store.close();
    }
  });
});
