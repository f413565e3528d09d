/**
 * A checkpoint of very many streams is created, read and checked against the log in memory that doesn't grow with their
 * number.
 */
import { once } from 'node:events';
import { join } from 'node:path';
import { expect } from 'chai';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { withHeads } from '#projections/verify/heads.ts';
import { verify } from '#projections/verify/verify.ts';
import { checkpointLines, leavesIn, readCheckpoint } from '#src/audit/checkpoint.ts';
import { linesOfFile, writeNewFile } from '#src/cli/files.ts';
import { seal } from '#src/events/chain.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { newUuid } from '#src/shared/ids.ts';
import { newKey } from '#test/support/audit-files.ts';
import { createDatabase, type TestDatabase } from '#test/support/database.ts';
import { scaled } from '#test/support/scale.ts';
import { tell } from '#test/support/tell.ts';
import { removeTemporaryFolders, temporaryFolder } from '#test/support/temporary.ts';
import { created } from './made.ts';

const STREAMS = scaled(500_000, 5_000);
/** Maximum additional memory in bytes, however many streams there are. */
const ROOM = 150_000_000;

/** Fills an empty log with one-event records. */
async function fill(url: string, streams: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const into = client.query(
    copyFrom('copy log.events (position, stream, revision, id, type, data, metadata) from stdin'),
  );
  for (let position = 1; position <= streams; position += 1) {
    const id = newUuid();
    const stream = `record-${id}`;
    for (const event of seal(stream, 'none', [created('Patient', id)]).events) {
      const row = [position, stream, event.revision, event.id, event.type, event.data, event.metadata];
      if (!into.write(`${row.join('\t')}\n`)) await once(into, 'drain');
    }
  }
  into.end();
  await once(into, 'finish');
  await client.end();
}

describe(`a checkpoint of ${STREAMS} streams`, function () {
  this.timeout(30 * 60_000);
  let database: TestDatabase;
  let store: PostgresEventStore;

  before(async () => {
    database = await createDatabase();
    store = await PostgresEventStore.open({ url: database.url });
    await fill(database.url, STREAMS);
  });
  after(async () => {
    await store.close();
    await database.drop();
    await removeTemporaryFolders();
  });

  it('is made and proved in the same memory', async () => {
    const deps = { store, databaseUrl: database.url, projections: [] };
    const file = join(await temporaryFolder(), 'checkpoint.gz');
    const key = await newKey();
    const before = process.memoryUsage().heapUsed;
    let peak = before;
    const watch = setInterval(() => {
      peak = Math.max(peak, process.memoryUsage().heapUsed);
    }, 20);
    try {
      await withHeads(deps, ({ position, events, heads }) =>
        writeNewFile(
          file,
          checkpointLines({ position, events, leaves: heads }, '2026-03-01T00:00:00Z', key, () => undefined),
        ),
      );
      const { statement } = await readCheckpoint(linesOfFile(file), key);
      expect(statement).to.include({ streams: STREAMS, events: STREAMS });
      const { clean, checkpoint } = await verify(deps, { heads: leavesIn(linesOfFile(file)) });
      expect({ clean, checkpoint }).to.deep.equal({
        clean: true,
        checkpoint: { streams: STREAMS, erased: [] },
      });
    } finally {
      clearInterval(watch);
    }
    tell(`${STREAMS} streams, at most ${Math.round((peak - before) / 1e6)} MB of heap more than before`);
    expect(peak - before).to.be.lessThan(ROOM);
  });
});
