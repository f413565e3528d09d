/** Clients that write and read at random, and record their requests and responses. */
import type { ResourceType } from '#src/fhir/types.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import type { Call } from '#test/support/histories.ts';
import { type Cluster, NoAnswer } from './cluster.ts';
import type { Request, Response, Shown } from './requests.ts';
import type { VirtualTime } from './virtual-time.ts';

/** Identifier systems: one for the marker of each write, one for searches that count, and one for conditional creates. */
export const SYSTEMS = { marker: 'urn:marker', group: 'urn:group', only: 'urn:only' } as const;

/** A write that was acknowledged. */
export interface Acknowledged extends Shown {
  /** A text that occurs only in this write; undefined for a deletion. */
  readonly marker: string | undefined;
}

/** A resource that clients know about. */
interface Known {
  readonly type: ResourceType;
  readonly id: string;
  readonly patient: string;
  /** The newest version that a client has been told. */
  version: number;
}

/** Number of groups that searches count, and number of values that only one resource each may have. */
const GROUPS = 2;
const ONLY = 3;
const PATIENTS = 2;
const TRIES = 8;

/** All clients of a run. */
export class Clients {
  /** For `findFaults`: reads and writes of versions, and totals of groups. */
  readonly calls: Call[] = [];
  readonly acknowledged: Acknowledged[] = [];
  /** Markers of all requested writes. */
  readonly asked = new Set<string>();
  /** `If-Match` values that were refused although a client had been told of that version. */
  readonly refusedMatches: { readonly id: string; readonly version: number }[] = [];
  /** Responses that should never happen. */
  readonly faults: string[] = [];
  /** Number of requests by outcome. */
  readonly outcomes = new Map<string, number>();
  readonly #known: Known[] = [];
  readonly #patients: string[] = [];
  #markers = 0;
  #keys = 0;

  constructor(
    private readonly cluster: Cluster,
    private readonly time: VirtualTime,
  ) {}

  /** Creates the records. */
  async begin(): Promise<void> {
    while (this.#patients.length < PATIENTS) {
      const marker = this.#mark();
      const resource = { resourceType: 'Patient', identifier: [{ system: SYSTEMS.marker, value: marker }] };
      const response = await this.#create('Patient', resource, marker, {});
      const [shown] = response?.shown ?? [];
      if (shown !== undefined) this.#patients.push(shown.id);
    }
  }

  /** Runs one client, which sends the given number of requests one after another. */
  async run(requests: number): Promise<void> {
    const { time } = this;
    for (let n = 0; n < requests; n += 1) {
      await time.sleep(time.chance() * 20);
      await this.#one();
    }
  }

  #one(): Promise<unknown> {
    const dice = this.time.chance();
    const known = this.#pick(this.#known);
    if (known === undefined || dice < 0.14) return this.#createObservation();
    if (dice < 0.2) return this.#createCounted();
    if (dice < 0.3) return this.#createOnly();
    if (dice < 0.44) return this.#update(known);
    if (dice < 0.52) return this.#patch(known);
    if (dice < 0.59) return this.#delete(known);
    if (dice < 0.69) return this.#transaction(known);
    return dice < 0.9 ? this.#read(known) : this.#count();
  }

  #createObservation(): Promise<unknown> {
    const patient = this.#pick(this.#patients) ?? '';
    const marker = this.#mark();
    return this.#create('Observation', observation(patient, marker), marker, { patient });
  }

  async #createCounted(): Promise<void> {
    const patient = this.#pick(this.#patients) ?? '';
    const marker = this.#mark();
    const group = Math.floor(this.time.chance() * GROUPS);
    const began = this.time.now;
    const object = `group ${group}`;
    const response = await this.#create('Procedure', procedure(patient, marker, group), marker, {});
    const isWritten = response === undefined || response.status === 201;
    const ended = response === undefined ? Number.POSITIVE_INFINITY : this.time.now;
    if (isWritten) this.calls.push({ object, began, ended, isWrite: true });
  }

  /** Creates one of the resources that may exist only once, in a record or in the directory. */
  async #createOnly(): Promise<void> {
    const marker = this.#mark();
    const value = String(Math.floor(this.time.chance() * ONLY));
    const identifier = [
      { system: SYSTEMS.only, value },
      { system: SYSTEMS.marker, value: marker },
    ];
    const criteria = `identifier=${encodeURIComponent(`${SYSTEMS.only}|${value}`)}`;
    const type = this.time.chance() < 0.3 ? 'Practitioner' : 'Condition';
    // All clients create it in the same record.
    const patient = this.#patients[0] ?? '';
    const subject = type === 'Condition' ? { subject: { reference: `Patient/${patient}` } } : {};
    await this.#create(type, { resourceType: type, identifier, ...subject }, marker, { criteria });
  }

  async #create(
    type: ResourceType,
    resource: JsonObject,
    marker: string,
    { criteria, patient }: { readonly criteria?: string; readonly patient?: string },
  ): Promise<Response | undefined> {
    const began = this.time.now;
    const request = {
      is: 'create',
      type,
      resource,
      ...(criteria === undefined ? {} : { criteria }),
    } as const;
    const response = await this.#insist(request, this.time.chance() < 0.7 || patient === undefined);
    const [shown] = response?.shown ?? [];
    if (shown === undefined) return response;
    if (shown.outcome === 'created') {
      this.#acknowledge(shown, marker, began);
      if (patient !== undefined) this.#known.push({ type, id: shown.id, patient, version: 1 });
    }
    return response;
  }

  #update(known: Known): Promise<void> {
    const marker = this.#mark();
    const { type, id, patient } = known;
    const resource = { id, ...observation(patient, marker) };
    return this.#change(known, marker, { is: 'update', type, id, resource, ...this.#match(known) });
  }

  #patch(known: Known): Promise<void> {
    const marker = this.#mark();
    const { type, id } = known;
    return this.#change(known, marker, { is: 'patch', type, id, value: marker, ...this.#match(known) });
  }

  #delete(known: Known): Promise<void> {
    const { type, id } = known;
    return this.#change(known, undefined, { is: 'delete', type, id, ...this.#match(known) });
  }

  /** Sends one request for a new version of a resource. */
  async #change(
    known: Known,
    marker: string | undefined,
    request: Extract<Request, { is: 'update' | 'patch' | 'delete' }>,
  ): Promise<void> {
    const { ifMatch } = request;
    const began = this.time.now;
    const response = await this.#ask(request);
    if (response === undefined || response.status >= 500) {
      this.#noteUnknown(known, began);
      return;
    }
    if (response.status === 412 && ifMatch !== undefined)
      this.refusedMatches.push({ id: known.id, version: ifMatch });
    const [shown] = response.shown;
    if (shown === undefined) return;
    if (ifMatch !== undefined && shown.outcome !== 'unchanged' && shown.version !== ifMatch + 1)
      this.faults.push(`If-Match ${ifMatch} of ${known.id} became version ${shown.version}`);
    if (shown.outcome === 'unchanged') this.#noteRead(shown, began);
    else this.#acknowledge(shown, marker, began);
  }

  /**
   * Sends a transaction that creates a resource and sometimes also a directory entry, a new version of another resource, or
   * its deletion.
   */
  async #transaction(known: Known): Promise<void> {
    const { patient } = known;
    const began = this.time.now;
    const [created, updated, entry] = [this.#mark(), this.#mark(), this.#mark()];
    const practitioner = 'urn:uuid:00000000-0000-4000-8000-000000000001';
    const isWithEntry = this.time.chance() < 0.4;
    const dice = this.time.chance();
    const { type, id } = known;
    const resource = {
      ...observation(patient, created),
      ...(isWithEntry ? { performer: [{ reference: practitioner }] } : {}),
    };
    const entries: (Extract<Request, { is: 'transaction' }>['entries'][number] & { marker?: string })[] = [
      { index: 0, method: 'POST', type: 'Observation', resource, marker: created },
    ];
    if (isWithEntry) {
      const identifier = [{ system: SYSTEMS.marker, value: entry }];
      entries.push({
        ...{ index: 1, method: 'POST', type: 'Practitioner', fullUrl: practitioner, marker: entry },
        resource: { resourceType: 'Practitioner', identifier },
      });
    }
    if (dice < 0.4)
      entries.push({
        ...{ index: 2, method: 'PUT', type, id, marker: updated },
        resource: { id, ...observation(patient, updated) },
        ...this.#match(known),
      });
    else if (dice < 0.6) entries.push({ index: 2, method: 'DELETE', type, id });
    const written = entries.map(({ marker: _, ...each }) => each);
    const response = await this.#insist({ is: 'transaction', entries: written }, this.time.chance() < 0.7);
    const isUnknown = response === undefined || response.status >= 500;
    if (isUnknown && dice < 0.6) this.#noteUnknown(known, began);
    if (response?.status !== 200) return;
    if (response.shown.length !== entries.length)
      this.faults.push(`a transaction of ${entries.length} entries has ${response.shown.length} results`);
    for (const [n, shown] of response.shown.entries()) {
      if (shown.outcome === 'unchanged') this.#noteRead(shown, began);
      else this.#acknowledge(shown, entries[n]?.marker, began);
      if (n === 0) this.#known.push({ type: 'Observation', id: shown.id, patient, version: 1 });
    }
  }

  async #read({ type, id }: Known): Promise<void> {
    const began = this.time.now;
    const response = await this.#ask({ is: 'read', type, id });
    if (response?.status === 404) this.faults.push(`${type}/${id} was acknowledged, and isn't found`);
    const [shown] = response?.shown ?? [];
    if (shown !== undefined) this.#noteRead(shown, began);
  }

  async #count(): Promise<void> {
    const began = this.time.now;
    const group = Math.floor(this.time.chance() * GROUPS);
    const criteria = `identifier=${encodeURIComponent(`${SYSTEMS.group}|${group}`)}`;
    const response = await this.#ask({ is: 'search', type: 'Procedure', criteria });
    const value = response?.total;
    if (value !== undefined)
      this.calls.push({ object: `group ${group}`, began, ended: this.time.now, isWrite: false, value });
  }

  /**
   * Repeats a request with an Idempotency-Key until there is a response; sends a request without a key only once.
   * @returns undefined if the outcome is unknown
   */
  async #insist(request: Request, isKeyed: boolean): Promise<Response | undefined> {
    if (!isKeyed) return this.#ask(request);
    const key = `key-${++this.#keys}`;
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const response = await this.#ask({ ...request, key });
      const isOver = response !== undefined && response.status < 500 && response.isPassing !== true;
      if (isOver) return response;
      await this.time.sleep(this.time.chance() * 60 * 2 ** tries);
    }
    return undefined;
  }

  /**
   * Sends a request once.
   * @returns undefined if there was no response
   */
  async #ask(request: Request): Promise<Response | undefined> {
    const response = await this.cluster.call(request).catch((error: unknown) => {
      if (error instanceof NoAnswer) return undefined;
      throw error;
    });
    const outcome = `${request.is} ${response?.status ?? 'unanswered'}`;
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
    return response;
  }

  #acknowledge(shown: Shown, marker: string | undefined, began: number): void {
    const { type, id, version } = shown;
    this.acknowledged.push({ ...shown, marker });
    this.calls.push({ object: `${type}/${id}`, began, ended: this.time.now, isWrite: true, value: version });
    this.#learn(shown);
  }

  #noteRead(shown: Shown, began: number): void {
    const { type, id, version } = shown;
    this.calls.push({ object: `${type}/${id}`, began, ended: this.time.now, isWrite: false, value: version });
    this.#learn(shown);
  }

  #noteUnknown({ type, id }: Known, began: number): void {
    this.calls.push({ object: `${type}/${id}`, began, ended: Number.POSITIVE_INFINITY, isWrite: true });
  }

  #learn({ id, version }: Shown): void {
    const known = this.#known.find((each) => each.id === id);
    if (known !== undefined) known.version = Math.max(known.version, version);
  }

  #match({ version }: Known): { ifMatch?: number } {
    return this.time.chance() < 0.5 ? { ifMatch: version } : {};
  }

  #mark(): string {
    const marker = `m${++this.#markers}.`;
    this.asked.add(marker);
    return marker;
  }

  #pick<T>(all: readonly T[]): T | undefined {
    // Newer resources are picked more often, so that several clients use the same ones.
    return all[Math.floor(all.length * Math.sqrt(this.time.chance()))];
  }
}

const observation = (patient: string, marker: string): JsonObject => ({
  resourceType: 'Observation',
  status: 'final',
  code: { text: 'pulse' },
  subject: { reference: `Patient/${patient}` },
  valueString: marker,
});

const procedure = (patient: string, marker: string, group: number): JsonObject => ({
  resourceType: 'Procedure',
  identifier: [
    { system: SYSTEMS.marker, value: marker },
    { system: SYSTEMS.group, value: String(group) },
  ],
  status: 'completed',
  subject: { reference: `Patient/${patient}` },
});
