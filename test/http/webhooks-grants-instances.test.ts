/**
 * Webhook grants outlive the instance that makes the deliveries. The next instance knows them, including grants that are older
 * than their storage.
 */
import { expect } from 'chai';
import { pino } from 'pino';
import { startApp } from '#src/app.ts';
import { loadConfig } from '#src/config.ts';
import { type InProcess, startInProcess } from '../support/in-process.ts';
import { newPatient } from '../support/me.ts';
import { NO_LIMIT } from '../support/no-limit.ts';
import { freePort } from '../support/process.ts';
import { EVENTSTORE_URL } from '../support/project.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { WebhookGrants } from '../support/webhook-grants.ts';

const LEADER = `
select pg_terminate_backend(pid) from pg_locks
 where locktype = 'advisory' and pid <> pg_backend_pid()
   and database = (select oid from pg_database where datname = current_database())`;

describe('webhooks to applications with grants, on two instances', () => {
  let service: InProcess;
  let grants: WebhookGrants;
  let other: Awaited<ReturnType<typeof startApp>>;
  before(async () => {
    service = await startInProcess();
    grants = await WebhookGrants.open(service);
    const config = loadConfig({
      PORT: String(await freePort()),
      BASE_URL: service.url,
      DATA_DIR: await temporaryFolder(),
      EVENTSTORE_URL,
      RATE_LIMIT_PER_MINUTE: NO_LIMIT,
      SANDBOX_PATIENTS: '0',
    });
    other = await startApp({ config, databaseUrl: service.databaseUrl, log: pino({ level: 'silent' }) });
    await other.listen();
  });
  after(async () => {
    await other?.close();
    await grants?.close();
    await service?.stop();
  });

  it('go on with the grants of before, and without those that ended', async () => {
    const listening = await grants.listen('Led by another');
    const record = await newPatient(service);
    const give = async () =>
      grants.give(record, listening.project, await grants.register(listening.project, 'Diary'), [
        'patient/Observation.r',
      ]);
    const write = async (): Promise<string> => {
      const subject = { reference: `Patient/${record}` };
      const body = { resourceType: 'Observation', status: 'final', code: { text: 'x' }, subject };
      return String((await service.post('/Observation', body)).json.id);
    };
    const [kept, ended] = [await give(), await give()];
    const first = await write();
    await listening.come(2);
    await ended.revoke();
    // The leader loses its session, and the next leader reads everything from the beginning.
    await service.pool.query(LEADER);
    const second = await write();
    await listening.come(3);
    // The state after an upgrade from a version that didn't store grants.
    await service.pool.query('delete from operations.webhook_grant');
    await service.pool.query('update operations.webhook_grants_begun set taken_over = false');
    await service.pool.query(LEADER);
    const third = await write();
    const told = await listening.come(4);
    expect(told.map(({ data }) => [data.id, data.patient])).to.have.deep.members([
      [first, kept.patient],
      [first, ended.patient],
      [second, kept.patient],
      [third, kept.patient],
    ]);
  });
});
