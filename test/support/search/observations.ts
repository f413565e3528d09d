/** Random histories of Observations, for tests that count them. */
import type { EventStore, NewEvent, Position } from '#src/events/store.ts';
import { projectStream, recordStream } from '#src/events/streams.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { newUuid } from '#src/shared/ids.ts';
import { body, made, Streams } from '../../projections/made.ts';

export const TENANTS: readonly Tenant[] = [
  { project: 'proj_one', environment: 'sandbox' },
  { project: 'proj_one', environment: 'production' },
  { project: 'proj_two', environment: 'production' },
];
export const CODES = ['a', 'b', 'c'];
const STATUSES = ['final', 'amended'];

/** An Observation that currently exists. */
export interface Shown {
  readonly codes: readonly string[];
  readonly status: string;
  readonly isLab: boolean;
}

interface Observed {
  readonly tenant: Tenant;
  readonly record: string;
  version: number;
  shown: Shown | undefined;
}

interface RecordOf {
  readonly id: string;
  readonly tenant: Tenant;
}

/** Writes several tenants' Observations at random: creates, changes of code, deletions, restorations, erasures. */
export class ObservationWriter {
  readonly #observed = new Map<string, Observed>();
  readonly #streams: Streams;
  #records: readonly RecordOf[] = [];
  /** The position of the last event. */
  position = '' as Position;

  constructor(
    private readonly store: EventStore,
    private readonly chance: () => number,
  ) {
    this.#streams = new Streams(store);
  }

  #pick<T>(all: readonly T[]): T {
    const found = all[Math.floor(this.chance() * all.length)];
    if (found === undefined) throw new Error('nothing to pick from');
    return found;
  }

  /** Appends to a record, starts a new record, or erases a record. */
  async write(): Promise<void> {
    if (this.#records.length < 4 || this.chance() < 0.1) return this.#newRecord();
    const record = this.#pick(this.#records);
    if (this.chance() < 0.03) return this.#erase(record);
    const events: NewEvent[] = [];
    const own = [...this.#observed].filter(([, { record: of }]) => of === record.id);
    for (let left = Math.ceil(this.chance() ** 3 * 40); left > 0; left -= 1) {
      if (own.length === 0 || this.chance() < 0.6) {
        const one: Observed = { tenant: record.tenant, record: record.id, version: 0, shown: undefined };
        own.push([newUuid(), one]);
      }
      const [id, one] = this.chance() < 0.5 ? (own.at(-1) ?? this.#pick(own)) : this.#pick(own);
      events.push(this.#next(id, one));
      this.#observed.set(id, one);
    }
    this.position = await this.#streams.append(recordStream(record.id), ...events);
  }

  async #newRecord(): Promise<void> {
    const record = { id: newUuid(), tenant: this.#pick(TENANTS) };
    this.#records = [...this.#records, record];
    const event = { resourceType: 'Patient', resourceId: record.id, version: 1 };
    this.position = await this.#streams.append(
      recordStream(record.id),
      made(
        { type: 'ResourceCreated', ...event, body: body('Patient', record.id, 1) },
        { owner: record.tenant },
      ),
    );
  }

  async #erase({ id, tenant }: RecordOf): Promise<void> {
    this.#records = this.#records.filter((each) => each.id !== id);
    for (const [resource, { record }] of this.#observed) {
      if (record === id) this.#observed.delete(resource);
    }
    await this.store.erase(recordStream(id));
    const access_log = { entries: 0, hash: null };
    const data = { patient: id, environment: tenant.environment, grants: [], access_log };
    this.position = await this.#streams.append(
      projectStream(tenant.project),
      made({ type: 'RecordErased', data }),
    );
  }

  #next(id: string, one: Observed): NewEvent {
    one.version += 1;
    const { version, tenant, record } = one;
    const event = { resourceType: 'Observation', resourceId: id, version };
    if (one.shown !== undefined && this.chance() < 0.2) {
      one.shown = undefined;
      return made({ type: 'ResourceDeleted', ...event }, { owner: tenant });
    }
    // A code may appear twice in one resource.
    const codes = Array.from({ length: Math.floor(this.chance() * 4) }, () => this.#pick(CODES));
    one.shown = { codes, status: this.#pick(STATUSES), isLab: this.chance() < 0.5 };
    const text = body('Observation', id, version, {
      status: one.shown.status,
      code: { text: 'x', coding: codes.map((code) => ({ system: 'urn:s', code })) },
      subject: { reference: `Patient/${record}` },
      effectiveDateTime: `2026-01-${String(1 + (version % 28)).padStart(2, '0')}`,
      ...(one.shown.isLab ? { category: [{ coding: [{ system: 'urn:c', code: 'laboratory' }] }] } : {}),
    });
    return made(
      { type: version === 1 ? 'ResourceCreated' : 'ResourceUpdated', ...event, body: text },
      { owner: tenant },
    );
  }

  /** Returns how many of a tenant's Observations meet a condition. */
  count(tenant: Tenant, holds: (shown: Shown) => boolean): number {
    const all = [...this.#observed.values()];
    return all.filter((one) => one.tenant === tenant && one.shown !== undefined && holds(one.shown)).length;
  }
}
