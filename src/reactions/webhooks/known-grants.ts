/**
 * Caches the grants on the records whose events were followed most recently. A record without grants takes up one entry and
 * needs no look-up.
 */
import type { RecordedEvent } from '#src/events/store.ts';
import { recordPatient } from '#src/events/streams.ts';
import { type KnownGrant, together } from './grants.ts';

/** The maximum number of records in memory. */
const MOST_RECORDS = 10_000;
const NONE: ReadonlyMap<string, KnownGrant> = new Map();

/** The store of grants. */
export interface GrantRows {
  /** Returns whether there are any grants. First takes over grants from before grants were stored here. */
  readonly any: () => Promise<boolean>;
  /** Returns all grants on records, including ended grants. */
  readonly onRecords: (records: readonly string[]) => Promise<readonly KnownGrant[]>;
}

/** Grants on records, as of the position up to which the log was followed. */
export class KnownGrants {
  /** Record → grant id → grant. The least recently used record comes first. */
  readonly #records = new Map<string, ReadonlyMap<string, KnownGrant>>();
  /** Undefined until it has been read. */
  #any: boolean | undefined;

  constructor(readonly rows: GrantRows) {}

  /** Forgets everything, so that it will be read again. */
  clear(): void {
    this.#records.clear();
    this.#any = undefined;
  }

  /**
   * Reads the grants on the records that events are about, in at most one statement.
   * @param isNew true if the events are followed in order, so that no grant can precede a record's first event
   */
  async load(events: readonly Pick<RecordedEvent, 'stream' | 'revision'>[], isNew = false): Promise<void> {
    this.#any ??= await this.rows.any();
    const unknown: string[] = [];
    for (const { stream, revision } of events) {
      const record = recordPatient(stream);
      if (record === undefined) continue;
      const known = this.#records.get(record);
      if (known === undefined && this.#any && !(isNew && revision === 0)) unknown.push(record);
      this.#records.delete(record);
      this.#records.set(record, known ?? NONE);
    }
    if (unknown.length === 0) return;
    for (const grant of await this.rows.onRecords(unknown)) this.#put(grant);
  }

  /**
   * Drops the least recently used records. Must be called between batches, because a single batch may need more records than
   * the maximum.
   */
  trim(): void {
    for (const record of this.#records.keys()) {
      if (this.#records.size <= MOST_RECORDS) return;
      this.#records.delete(record);
    }
  }

  /** Adds what an event says about a grant. */
  take(grant: KnownGrant): void {
    this.#any = true;
    if (this.#records.has(grant.record)) this.#put(grant);
  }

  /** Returns the grants on the record of a stream that has already been loaded. */
  on(stream: string): readonly KnownGrant[] {
    const known = this.#records.get(recordPatient(stream) ?? '');
    return known === undefined || known.size === 0 ? [] : [...known.values()];
  }

  #put(grant: KnownGrant): void {
    const { record, grantId } = grant;
    const all = new Map(this.#records.get(record));
    this.#records.set(record, all.set(grantId, together(grant, all.get(grantId))));
  }
}
