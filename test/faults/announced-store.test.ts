/** A command run next to a service that keeps its log elsewhere finds the log without being told where it is. */
import { expect } from 'chai';
import { runCommand } from '#test/support/cli.ts';
import { createMigratedDatabase, type TestDatabase } from '#test/support/database.ts';
import { describeAtFullSize } from '#test/support/scale.ts';
import { type Service, startService } from '#test/support/service.ts';

describeAtFullSize('a service with its log elsewhere', () => {
  let log: TestDatabase;
  let service: Service;
  const { EVENTSTORE_URL } = process.env;

  before(async () => {
    // Instead of EventStoreDB, a log in another database is used.
    log = await createMigratedDatabase();
    service = await startService({ env: { EVENTSTORE_URL: log.url } });
    delete process.env.EVENTSTORE_URL;
  });
  after(async () => {
    if (EVENTSTORE_URL !== undefined) process.env.EVENTSTORE_URL = EVENTSTORE_URL;
    await service.stop();
    await log.drop();
  });

  it('announces it to commands on its DATA_DIR, which read that log', async () => {
    const { rows } = await log.pool.query<{ events: string }>(
      'select count(*)::text as events from log.events',
    );
    expect(Number(rows[0]?.events)).to.be.greaterThan(0);
    const { code, stdout, stderr } = await runCommand(['verify', '--json'], { DATA_DIR: service.dataDir });
    expect(code, stdout + stderr).to.equal(0);
    expect(JSON.parse(stdout)).to.include({ clean: true, events: Number(rows[0]?.events) });
    expect(process.env.EVENTSTORE_URL, 'of the command alone').to.equal(undefined);
  });
});
