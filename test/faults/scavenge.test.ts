/**
 * `annal scavenge`: after a purge, no byte of the record is left in any file. If EVENTSTORE_URL is set, EVENTSTORE_FILES names
 * the folder with that server's files.
 */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { findDatabase } from '#src/data-dir.ts';
import { describeAtFullSize } from '#test/support/scale.ts';
import { annal, type Service, startService } from '#test/support/service.ts';

const { EVENTSTORE_URL = '', EVENTSTORE_FILES } = process.env;
const MARKERS = 100;

/** A patient's record in which each resource has its own marker; some resources are changed, searched for and read. */
class MarkedRecord {
  readonly markers = Array.from({ length: MARKERS }, () => `marker${randomBytes(12).toString('hex')}`);
  patient = '';

  constructor(private readonly service: Service) {}

  async write(): Promise<void> {
    const [name = '', ...others] = this.markers;
    const patient = await this.#send('POST', '/Patient', {
      resourceType: 'Patient',
      name: [{ family: name }],
      identifier: [{ system: 'urn:annal:test', value: name }],
    });
    this.patient = String(patient.id);
    const subject = { reference: `Patient/${this.patient}` };
    const half = others.length / 2;
    for (const [n, marker] of others.entries()) {
      const observation = { resourceType: 'Observation', status: 'final', subject, code: { text: marker } };
      if (n < half) {
        await this.#send('POST', '/Observation', { ...observation, identifier: [{ value: marker }] });
        await this.service.fhir(`/Observation?identifier=${marker}`);
      } else {
        await this.#send('PUT', `/Patient/${this.patient}`, { ...patient, name: [{ family: marker }] });
      }
    }
  }

  async #send(method: string, path: string, body: object): Promise<Record<string, unknown>> {
    const headers = { Prefer: 'return=representation', 'Idempotency-Key': randomBytes(12).toString('hex') };
    const answer = await this.service.fhir(path, { method, headers, body: JSON.stringify(body) });
    expect(answer.status, answer.text).to.be.oneOf([200, 201]);
    return JSON.parse(answer.text) as Record<string, unknown>;
  }
}

/** Yields the whole content of every file below a folder, skipping files that disappear in the meantime. */
async function* filesIn(folder: string): AsyncGenerator<Buffer> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const bytes = await readFile(join(entry.parentPath, entry.name)).catch(() => undefined);
    if (bytes !== undefined) yield bytes;
  }
}

/** Returns the markers that appear in a file below one of the folders. */
async function foundIn(folders: readonly string[], markers: readonly string[]): Promise<string[]> {
  const found = new Set<string>();
  for (const folder of folders) {
    for await (const bytes of filesIn(folder)) {
      for (const [marker] of bytes.toString('latin1').matchAll(/marker[0-9a-f]{24}/g)) found.add(marker);
    }
  }
  return markers.filter((marker) => found.has(marker));
}

/** Returns the number of rows, in any table, that contain a text. This finds values that are compressed in the files. */
async function rowsWith(database: string, texts: readonly string[]): Promise<number> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  const { rows: tables } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname <> 'information_schema'`,
  );
  let count = 0;
  for (const { name } of tables) {
    const { rows } = await client.query<{ count: string }>(
      `SELECT count(*) FROM ${name} r WHERE r::text LIKE ANY ($1)`,
      [texts.map((text) => `%${text}%`)],
    );
    count += Number(rows[0]?.count);
  }
  await client.end();
  return count;
}

describeAtFullSize('annal scavenge', () => {
  it('leaves no byte of a purged record, and all of another', async function () {
    if (EVENTSTORE_URL !== '' && EVENTSTORE_FILES === undefined) this.skip();
    const service = await startService();
    try {
      const [purged, kept] = [new MarkedRecord(service), new MarkedRecord(service)];
      await purged.write();
      await kept.write();
      const folders = [service.dataDir, ...(EVENTSTORE_FILES === undefined ? [] : [EVENTSTORE_FILES])];
      expect(await foundIn(folders, purged.markers)).to.have.length(MARKERS);

      const { status } = await service.fhir(`/Patient/${purged.patient}?_purge=true`, { method: 'DELETE' });
      expect(status).to.equal(204);
      expect(await foundIn(folders, purged.markers), 'a purge leaves bytes').to.not.deep.equal([]);

      const { code, output } = await annal(service, ['scavenge']);
      expect(code, output).to.equal(0);
      expect(await foundIn(folders, purged.markers)).to.deep.equal([]);
      expect(await foundIn(folders, kept.markers)).to.have.length(MARKERS);
      const database = (await findDatabase(service.dataDir)) ?? '';
      expect(await rowsWith(database, purged.markers)).to.equal(0);
      expect((await service.fhir(`/Patient/${kept.patient}`)).status).to.equal(200);
    } finally {
      await service.stop();
    }
  });
});
