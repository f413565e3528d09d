/**
 * `$everything` for a patient, in pages, which contain in this order: the record, its automatic Provenances if requested, and
 * the directory entries to which the record refers. https://hl7.org/fhir/R4/patient-operation-everything.html
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { ANSWER_LIMITS, tooCostly } from '#src/shared/load/answer-budget.ts';
import type { Refusal } from '#src/shared/refusal.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import { onConnection } from '../database/connection.ts';
import type { Queryable } from '../database/gather.ts';
import { addNamedInRecord, closure, type DirectoryRow } from './directory.ts';
import { NamedIds } from './references.ts';
import type { EverythingRequest } from './request.ts';
import {
  countProvenances,
  type EverythingRow,
  measureRecord,
  measureRows,
  NO_ID,
  type ProvenanceRow,
  provenanceRows,
  type RecordScope,
  recordRows,
  withLargeRows,
} from './rows.ts';

/** A resource in the response: from the record or from the directory. */
export interface EverythingEntry extends EverythingRow {
  readonly mode: 'match' | 'include';
}

/** A page, or the part of it that there was room for. */
export interface EverythingPage {
  readonly entries: readonly EverythingEntry[];
  /** The start of the next page; absent on the last page. */
  readonly next?: string;
  /** True if the page ended because of `Room`, before it contained the requested number of resources. */
  readonly isPart?: true;
  /** The record's references to the directory, if the record was read from its beginning. */
  readonly named?: NamedIds;
}

/** Limits on a part of a page. */
export interface Room {
  /**
   * The maximum number of bytes to read. At least one resource is read, however large; in later parts of a page, a resource is
   * read only if the page has room for it.
   */
  readonly bytes: number;
  /** The number of bytes that the page has room for. A page by `_offset` isn't shortened. */
  readonly most?: number;
  /** Returns the refusal for a page with more than `most` bytes. By default the refusal names `most`. */
  readonly exceeded?: () => Refusal;
  /** True if this isn't the first part of its page. */
  readonly isFurther?: boolean;
  /** The number of the record's rows to read; default: as many as requested. */
  readonly rows?: number;
  /** The references found by the previous part. */
  readonly named?: NamedIds | undefined;
}

/**
 * Reads a page of the record of a Patient that the caller can see.
 * @throws Refusal `malformed` for a bad cursor; 413 `too-costly` for a page by `_offset` that doesn't fit, because the next
 * page would then begin too late
 */
export type Everything = (
  caller: Caller,
  patient: string,
  asked: EverythingRequest,
  base: string,
  room?: Room,
) => Promise<EverythingPage>;

/** The place where a page ended: in the record, in the automatic Provenances, or in the directory. */
const placeSchema = z.union([
  z.tuple([z.literal('record'), z.enum(['', ...TYPE_NAMES]), z.uuid()]),
  z.tuple([z.literal('provenance'), z.int(), z.uuid()]),
  z.tuple([z.literal('directory'), z.enum(['', ...TYPE_NAMES]), z.uuid()]),
]);

type PageEnd = z.infer<typeof placeSchema>;

const IN_DIRECTORY = TYPE_NAMES.filter((type) => ['directory', 'either'].includes(typeEntry(type).home));

/** Creates `$everything` on a database. */
export function openEverything(pool: Pool): Everything {
  return async (caller, patient, asked, base, room = { bytes: ANSWER_LIMITS.bytes }) => {
    const after = asked.cursor === undefined ? undefined : decodeCursor(asked.cursor, placeSchema);
    const scope = makeScope(caller, patient, asked);
    return onConnection(pool, (database) => new Filling(database, scope, asked, room).fill(base, after));
  };
}

function makeScope(
  { calls, sees }: Caller,
  record: string,
  { types, since, care }: EverythingRequest,
): RecordScope {
  return {
    sees,
    readBy: calls.projectId,
    record,
    ...(types === undefined ? {} : { types }),
    ...(since === undefined ? {} : { since }),
    ...(care === undefined ? {} : { care }),
  };
}

/** The start of the next page or part. */
interface End {
  readonly at: PageEnd;
  readonly isPart: boolean;
}

/** Fills a page with one kind of rows after the other. */
class Filling {
  readonly #entries: EverythingEntry[] = [];
  /** The number of resources that still have to be skipped. */
  #offset: number;
  #bytes = 0;

  constructor(
    private readonly database: Queryable,
    private readonly scope: RecordScope,
    private readonly asked: EverythingRequest,
    private readonly room: Room,
  ) {
    this.#offset = asked.offset ?? 0;
  }

  async fill(base: string, after: PageEnd | undefined): Promise<EverythingPage> {
    const { types, since } = this.scope;
    const isWhole = after === undefined && types === undefined && since === undefined && this.#offset === 0;
    const named = this.room.named ?? (isWhole ? new NamedIds([base]) : undefined);
    const inRecord = after === undefined || after[0] === 'record' ? await this.#fromRecord(after) : undefined;
    if (named !== undefined) for (const { body } of this.#entries) named.add(body);
    if (inRecord !== undefined) return this.#upTo(inRecord, named);
    if (types?.has('Provenance') === true && after?.[0] !== 'directory') {
      const end = await this.#fromProvenances(after);
      if (end !== undefined) return this.#upTo(end, named);
    }
    if (types === undefined || IN_DIRECTORY.some((type) => types.has(type))) {
      const end = await this.#fromDirectory(base, after, named);
      if (end !== undefined) return this.#upTo(end, named);
    }
    return { entries: this.#entries };
  }

  #upTo({ at, isPart }: End, named: NamedIds | undefined): EverythingPage {
    return {
      entries: this.#entries,
      next: encodeCursor(at),
      ...(isPart ? { isPart } : {}),
      ...(named === undefined ? {} : { named }),
    };
  }

  /** Returns how many rows to read: one more than fits, in order to find out whether the page ends here. */
  get #wanted(): number {
    return this.asked.count + 1 - this.#entries.length;
  }

  async #fromRecord(after: PageEnd | undefined): Promise<End | undefined> {
    const { database, scope, room } = this;
    const offset = this.#offset;
    if (this.asked.offset !== undefined) {
      const { rows, bytes } = await measureRecord(database, scope, { offset, limit: this.asked.count });
      if (room.most !== undefined && bytes > room.most)
        throw room.exceeded?.() ?? tooCostly(`would exceed ${room.most} bytes`);
      this.#offset = Math.max(0, offset - rows);
      if (offset >= rows) return undefined;
    }
    const limit = Math.min(this.#wanted, room.rows ?? this.#wanted);
    const place = after === undefined ? undefined : { type: String(after[1]), id: after[2] };
    const rows = await recordRows(database, scope, { after: place, limit, offset });
    return this.#take(rows, 'match', recordPlace, after ?? BEFORE.record, rows.length === limit);
  }

  async #fromProvenances(after: PageEnd | undefined): Promise<End | undefined> {
    const { database, scope } = this;
    const place = after?.[0] === 'provenance' ? { recordedAt: after[1], id: after[2] } : undefined;
    const offset = this.#offset;
    const rows = await provenanceRows(database, scope, place, this.#wanted, offset);
    if (offset > 0) this.#offset = rows.length > 0 ? 0 : offset - (await countProvenances(database, scope));
    const rowPlace = ({ recordedAt, id }: ProvenanceRow): PageEnd => ['provenance', recordedAt, id];
    const before = after?.[0] === 'provenance' ? after : BEFORE.provenance;
    return this.#take(rows, 'match', rowPlace, before);
  }

  async #fromDirectory(
    base: string,
    after: PageEnd | undefined,
    known: NamedIds | undefined,
  ): Promise<End | undefined> {
    const { database, scope } = this;
    const { types, since } = scope;
    const named = known ?? new NamedIds([base]);
    if (known === undefined) await addNamedInRecord(database, scope, named);
    const last = after?.[0] === 'directory' ? `${after[1]}/${after[2]}` : '';
    const rows = (await closure(database, scope.sees, named.ids, [base])).filter(
      ({ type, id, lastUpdated }) =>
        `${type}/${id}` > last && types?.has(type) !== false && lastUpdated >= (since ?? lastUpdated),
    );
    const rowPlace = ({ type, id }: DirectoryRow): PageEnd => ['directory', type, id];
    const before = after?.[0] === 'directory' ? after : BEFORE.directory;
    return this.#take(rows.slice(this.#offset), 'include', rowPlace, before);
  }

  /**
   * Takes as many rows as there is room for.
   * @param more true if there are further rows after these
   * @returns where the page ends if there is more: after the last row taken, or at `before` if none was taken
   */
  async #take<R extends EverythingRow>(
    rows: readonly R[],
    mode: EverythingEntry['mode'],
    rowPlace: (row: R) => PageEnd,
    before: PageEnd,
    more = false,
  ): Promise<End | undefined> {
    const most = this.asked.count - this.#entries.length;
    const sizes = measureRows(rows.slice(0, most));
    let count = 0;
    for (const size of sizes) {
      const mayExceed = this.room.isFurther !== true || size <= (this.room.most ?? 0);
      const isFirst = this.#entries.length + count === 0 && mayExceed;
      if (this.#bytes + size > this.room.bytes && !isFirst) break;
      this.#bytes += size;
      count += 1;
    }
    const taken = rows.slice(0, count);
    for (const { type, id, body } of await withLargeRows(this.database, this.scope.sees, taken))
      this.#entries.push({ type, id, body, mode });
    const last = taken.at(-1);
    if (count === rows.length && !more) return undefined;
    return { at: last === undefined ? before : rowPlace(last), isPart: count < most };
  }
}

const BEFORE = {
  record: ['record', '', NO_ID],
  provenance: ['provenance', 0, NO_ID],
  directory: ['directory', '', NO_ID],
} as const satisfies Record<string, PageEnd>;

/** The Patient comes before all other resources, whatever the type order. */
function recordPlace({ type, id }: EverythingRow): PageEnd {
  return type === 'Patient' ? BEFORE.record : ['record', type, id];
}
