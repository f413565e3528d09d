/**
 * A direct upload is finalized while bytes that no event refers to are removed. The upload is either kept or gets 409, but is
 * never lost silently.
 */
import { join } from 'node:path';
import { expect } from 'chai';
import { DiskStore } from '#src/documents/disk.ts';
import type { BlobKey } from '#src/documents/store.ts';
import { sweepDocuments } from '#src/documents/sweep.ts';
import { openEventStore } from '#src/events/open.ts';
import type { EventStore } from '#src/events/store.ts';
import { PostgresCriteriaLocks } from '#src/operations/locks.ts';
import { type InProcess, startInProcess } from '#test/support/in-process.ts';
import { eventually } from '#test/support/process.ts';
import { EVENTSTORE_URL } from '#test/support/project.ts';
import { restOf } from '#test/support/rest.ts';
import type { Answer } from '#test/support/service.ts';
import { temporaryFolder } from '#test/support/temporary.ts';

const TEXT = 'the content';

describe('documents that are finalized while others are swept', () => {
  let service: InProcess;
  let store: DiskStore;
  let log: EventStore;
  before(async () => {
    const dataDir = await temporaryFolder();
    store = new DiskStore(join(dataDir, 'documents'));
    service = await startInProcess({}, { DATA_DIR: dataDir });
    log = await openEventStore({ url: service.databaseUrl, eventStoreUrl: EVENTSTORE_URL });
  });
  after(async () => {
    await log.close();
    await service.stop();
  });
  const { v1, get, made } = restOf(() => service);
  const finalize = (id: string): Promise<Answer> => v1('POST', `/documents/${id}/finalize`, {});
  const put = (url: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(url, { method: 'PUT', headers, body: TEXT });

  /** Returns the id of a document whose content was uploaded directly. */
  const uploaded = async (): Promise<string> => {
    const { id: patient } = await made('/patients', { family: 'Berg' });
    const members = { title: 'Letter', content_type: 'text/plain' };
    const { id, upload } = await made(`/patients/${String(patient)}/documents`, members);
    const { url, headers } = upload as { url: string; headers: Record<string, string> };
    expect((await put(url, headers)).status).to.equal(200);
    return String(id);
  };
  /** Sweeps as if all bytes were old and unknown to every read model. */
  const sweep = (deps: { log?: Pick<EventStore, 'read'>; remove?: (key: BlobKey) => Promise<void> }) =>
    sweepDocuments(
      {
        store: {
          list: () => store.list(),
          remove: deps.remove ?? ((key) => store.remove(key)),
          removeUnfinished: () => store.removeUnfinished(),
        },
        log: deps.log ?? log,
        locks: new PostgresCriteriaLocks(service.pool),
        findShown: async () => new Set(),
      },
      new Date(Date.now() + 60_000),
    );

  it('keep their content when they are finalized after the events were asked', async () => {
    const id = await uploaded();
    let asked = false;
    const read: EventStore['read'] = async function* (...which) {
      yield* log.read(...which);
      if (asked) return;
      asked = true;
      expect((await finalize(id)).status).to.equal(200);
    };
    expect(await sweep({ log: { read } })).to.equal(0);
    expect((await get(`/documents/${id}/content`)).text).to.equal(TEXT);
  });

  it('are 409 when their bytes are being removed, and take others', async () => {
    const id = await uploaded();
    let finalized: Promise<Answer> | undefined;
    const remove = async (key: BlobKey): Promise<void> => {
      finalized ??= finalize(id);
      await eventually(async () => {
        const waiting = `select from pg_locks where locktype = 'advisory' and not granted
          and database = (select oid from pg_database where datname = current_database())`;
        return (await service.pool.query(waiting)).rowCount === 1;
      });
      await store.remove(key);
    };
    expect(await sweep({ remove })).to.equal(1);
    const refused = await finalized;
    expect(refused?.status, refused?.text).to.equal(409);
    expect((await get(`/documents/${id}`)).json).to.include({ status: 'pending', sha256: null });
    const headers = { Authorization: `Bearer ${service.key}` };
    expect((await put(`${service.url}/v1/documents/${id}/content`, headers)).status).to.equal(200);
    expect((await get(`/documents/${id}/content`)).text).to.equal(TEXT);
  });
});
