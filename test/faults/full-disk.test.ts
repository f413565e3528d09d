/**
 * Real full disks: small file systems in memory, one for the events in PostgreSQL and one for documents. The test is skipped
 * if mounting isn't permitted or the events are in EventStoreDB.
 */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { restOf } from '#test/support/rest.ts';
import { itAtFullSize } from '#test/support/scale.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const run = promisify(execFile);

describe('a full disk', () => {
  const mounted: string[] = [];
  let service: InProcess | undefined;

  /**
   * Mounts a file system of the given size in MB on a folder.
   * @returns false if mounting isn't permitted
   */
  const small = async (folder: string, megabytes: number): Promise<boolean> => {
    try {
      await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', folder]);
      mounted.push(folder);
      return true;
    } catch {
      return false;
    }
  };

  before(async function () {
    const dataDir = await temporaryFolder();
    const documents = join(dataDir, 'documents');
    await mkdir(documents);
    if (EVENTSTORE_URL !== '' || !(await small(documents, 2))) return this.skip();
    service = await startInProcess({}, { DATA_DIR: dataDir });
  });
  after(async () => {
    await service?.pool.query('alter table log.events set tablespace pg_default').catch(() => undefined);
    await service?.pool.query('drop tablespace if exists tiny').catch(() => undefined);
    await service?.stop();
    for (const folder of mounted) await run('umount', ['-l', folder]);
  });

  const running = (): InProcess => {
    if (service === undefined) throw new Error('it did not start');
    return service;
  };
  /**
   * Waits until `/health/ready` contains a text. Uses a new connection each time, because each connection may reach a
   * different process.
   */
  const readySays = async (text: string): Promise<void> => {
    const url = `${running().url}/health/ready`;
    const headers = { connection: 'close' };
    const ask = async (): Promise<string> => (await running().fhir(url, { headers })).text;
    await eventually(
      async () => (await Promise.all([ask(), ask()])).every((each) => each.includes(text)),
      10_000,
    );
    expect(await ask()).to.include('"status":"ready"');
  };

  it('of the document store is named in the answer, the log and /health/ready', async () => {
    const { made } = restOf(running);
    const { id: patient } = await made('/patients', { family: 'Berg' });
    const members = { title: 'Scan', content_type: 'text/plain' };
    const { id } = await made(`/patients/${String(patient)}/documents`, members);
    const answer = await fetch(`${running().url}/v1/documents/${String(id)}/content`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${running().key}`, 'Content-Type': 'text/plain' },
      body: 'a'.repeat(4_000_000),
    });
    const text = await answer.text();
    expect(answer.status, text).to.equal(503);
    expect(text).to.include('the disk of the document store is full');
    expect(answer.headers.get('retry-after')).to.equal('60');
    await running().logged('the disk of the document store is full');
    await readySays('the disk of the document store is full');
  });

  itAtFullSize('of the database is named in the same places, and reads go on', async function () {
    const { pool } = running();
    const { rows } = await pool.query<{ folder: string }>(
      "select current_setting('data_directory') as folder",
    );
    const { uid, gid } = await stat(rows[0]?.folder ?? '');
    const folder = await temporaryFolder();
    if (!(await small(folder, 8))) return this.skip();
    await chown(folder, uid, gid);
    await pool.query(`create tablespace tiny location '${folder}'`);
    await pool.query('alter table log.events set tablespace tiny');
    // Content that PostgreSQL can't compress much.
    const patient = (): string => {
      const texts = Array.from({ length: 500 }, () => ({ name: { text: randomBytes(500).toString('hex') } }));
      return JSON.stringify({ resourceType: 'Patient', contact: texts });
    };
    const created = await running().fhir('/Patient', { method: 'POST', body: '{"resourceType":"Patient"}' });
    let answer = created;
    for (let n = 0; answer.status === 201 && n < 100; n += 1)
      answer = await running().fhir('/Patient', { method: 'POST', body: patient() });
    expect(answer.status, answer.text).to.equal(503);
    expect(answer.text).to.include('the disk of the database is full');
    await running().logged('the disk of the database is full');
    await readySays('the disk of the database is full');
    expect((await running().fhir(`/Patient/${String(created.json.id)}`)).status).to.equal(200);
  });
});
