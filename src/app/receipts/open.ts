/** Provides receipts to the interfaces. Only one answer at a time is generated again, because each reads a whole record. */
import type { Pool } from 'pg';
import type { EventStore } from '#src/events/store.ts';
import { Receipts } from '#src/operations/receipts/receipts.ts';
import { Renderers } from '#src/operations/receipts/renderers.ts';
import { unpackVersions } from '#src/operations/receipts/row.ts';
import type { RemadeReceipts, ShownReceipt } from '../../http/ports/receipts.ts';
import { ArchivedRenderers } from './archived.ts';
import type { Archive } from './load.ts';
import { remakeAnswer } from './remake.ts';

/** The maximum size of a record's versions in memory, in bytes. */
const MOST_BYTES = 50_000_000;

/** Opens them. */
export function openReceipts({
  pool,
  store,
  documents,
}: {
  readonly pool: Pool;
  readonly store: EventStore;
  readonly documents: Awaited<ReturnType<Archive['documents']>>;
}): RemadeReceipts {
  const receipts = new Receipts(pool);
  let last: Promise<unknown> = Promise.resolve();
  const show = async (record: string, id: string): Promise<ShownReceipt | undefined> => {
    const row = await receipts.find(id, record);
    if (row === undefined) return undefined;
    const renderers = new ArchivedRenderers(new Renderers(pool));
    const archive = { pool, store, documents: () => Promise.resolve(documents), renderers, most: MOST_BYTES };
    const remade = await remakeAnswer(archive, row).finally(() => renderers.close());
    const { made_at: madeAt, kind, reader, position, renderer, sha256 } = row;
    return {
      ...{ id, madeAt, kind, reader, position, renderer },
      versions: unpackVersions(row.versions),
      sha256: sha256.toString('hex'),
      outcome: remade.outcome,
      missing: remade.outcome === 'gone' ? remade.what : null,
      content: remade.outcome === 'matches' ? remade.bytes.toString() : null,
    };
  };
  return {
    recordOf: async (id) => (await receipts.find(id))?.record,
    show(record, id) {
      const shown = last.then(() => show(record, id));
      last = shown.catch(() => undefined);
      return shown;
    },
  };
}
