/**
 * The grants on the records whose events were followed last. A record without grants costs one entry, and no look-up.
 */
import type { RecordedEvent } from '#src/events/store.ts';
import { recordPatient } from '#src/events/streams.ts';
import { type KnownGrant, together } from './grants.ts';

/** The maximum number of records in memory. */
const MOST_RECORDS = 10_000;
const NONE: ReadonlyMap<string, KnownGrant> = new Map();

/** The store of grants. */
export interface GrantRows {
  /** Tells whether there is any grant; before that, takes over those that were given before they were kept. */
  readonly any: () => Promise<boolean>;
  /** All grants on records, ended ones too. */
  readonly onRecords: (records: readonly string[]) => Promise<readonly KnownGrant[]>;
}

/** Grants on records, as of where the log was followed to. */
export class KnownGrants {
  /** Record → grant id → grant. The record used longest ago comes first. */
  readonly #records = new Map<string, ReadonlyMap<string, KnownGrant>>();
  /** Undefined before it is read. */
  #any: boolean | undefined;

  constructor(readonly rows: GrantRows) {}

  /** Forgets everything: it is read again. */
  clear(): void {
    this.#records.clear();
    this.#any = undefined;
  }

  /**
   * Reads the grants on records that events are about, in one statement at most.
   * @param isNew the events are followed in order, so that nothing was granted before a record's first one
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

  /** Drops the records used longest ago. To be called between batches: one batch may need more. */
  trim(): void {
    for (const record of this.#records.keys()) {
      if (this.#records.size <= MOST_RECORDS) return;
      this.#records.delete(record);
    }
  }

  /** Adds the facts of an event about a grant. */
  take(grant: KnownGrant): void {
    this.#any = true;
    if (this.#records.has(grant.record)) this.#put(grant);
  }

  /** Returns the grants on the record of a stream that was loaded. */
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
