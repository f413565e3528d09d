/** Receipts of a service under test, reproduced from its log. */
import { createHash } from 'node:crypto';
import { expect } from 'chai';
import type { Pool } from 'pg';
import { ArchivedRenderers } from '#src/app/receipts/archived.ts';
import { type Remade, remakeAnswer } from '#src/app/receipts/remake.ts';
import { openDocumentStore } from '#src/documents/open.ts';
import { openEventStore } from '#src/events/open.ts';
import type { EventStore } from '#src/events/store.ts';
import { Renderers } from '#src/operations/receipts/renderers.ts';
import type { ReceiptRow } from '#src/operations/receipts/row.ts';
import { EVENTSTORE_URL } from './project.ts';

/** A database's receipts. */
export class ReceiptsAgain {
  readonly renderers: ArchivedRenderers;

  private constructor(
    private readonly pool: Pool,
    private readonly store: EventStore,
    private readonly dataDir: string,
  ) {
    this.renderers = new ArchivedRenderers(new Renderers(pool));
  }

  /**
   * Opens a service's receipts.
   * @param dataDir the service's DATA_DIR, for documents
   */
  static async open(
    { pool, databaseUrl }: { readonly pool: Pool; readonly databaseUrl: string },
    dataDir = '',
  ): Promise<ReceiptsAgain> {
    const store = await openEventStore({ url: databaseUrl, eventStoreUrl: EVENTSTORE_URL });
    return new ReceiptsAgain(pool, store, dataDir);
  }

  close(): Promise<void> {
    this.renderers.close();
    return this.store.close();
  }

  /** Returns the receipt for a request. If the access log has an entry for the request, the entry names the receipt. */
  async ofRequest(requestId: string | null): Promise<ReceiptRow> {
    const { rows } = await this.pool.query<ReceiptRow>(
      `select r.* from operations.access_entry e join operations.receipt r on r.id = e.receipt where e.request_id = $1`,
      [requestId],
    );
    const [row] = rows;
    if (row === undefined) throw new Error(`no entry of the access log about ${requestId} has a receipt`);
    return row;
  }

  /** Returns all receipts, newest first. */
  async all(): Promise<ReceiptRow[]> {
    return (await this.pool.query<ReceiptRow>('select * from operations.receipt order by made_at desc')).rows;
  }

  remake(row: ReceiptRow): Promise<Remade> {
    const documents = () => openDocumentStore(this.dataDir, undefined);
    const { store, pool, renderers } = this;
    return remakeAnswer({ store, pool, documents, renderers }, row);
  }

  /** Checks that a receipt belongs to a text, and that the text can be reproduced from the log. */
  async expectSent(row: ReceiptRow, text: string): Promise<void> {
    expect(row.sha256.toString('hex')).to.equal(createHash('sha256').update(text).digest('hex'));
    const remade = await this.remake(row);
    if (remade.outcome === 'differs') expect(remade.bytes.toString()).to.equal(text);
    expect(remade.outcome).to.equal('matches');
  }
}
