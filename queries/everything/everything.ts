/**
 * `$everything` of a patient: the record, its automatic Provenances when they are asked for, and the directory entries
 * that it refers to, in this order, in pages. https://hl7.org/fhir/R4/patient-operation-everything.html
 */
import type { Pool } from 'pg';
import { z } from 'zod';
import { TYPE_NAMES, typeEntry } from '#src/fhir/types.ts';
import type { Caller } from '#src/shared/caller.ts';
import { onConnection } from '../connection.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { Queryable } from '../gather.ts';
import type { EverythingAsked } from './asked.ts';
import { closure, idsInRecord } from './directory.ts';
import { idsIn } from './references.ts';
import {
  type EverythingRow,
  NO_ID,
  type ProvenanceRow,
  provenanceRows,
  type RecordScope,
  recordRows,
} from './rows.ts';

/** A resource of the answer: of the record, or of the directory. */
export interface EverythingEntry extends EverythingRow {
  readonly mode: 'match' | 'include';
}

/** A page. */
export interface EverythingPage {
  readonly entries: readonly EverythingEntry[];
  /** Where the next page starts; absent on the last. */
  readonly next?: string;
}

/** Reads a page of the record of a Patient that the caller sees. @throws Refusal `malformed` for a bad cursor. */
export type Everything = (
  caller: Caller,
  patient: string,
  asked: EverythingAsked,
  base: string,
) => Promise<EverythingPage>;

/** Where a page ended: in the record, among automatic Provenances, or in the directory. */
const placeSchema = z.union([
  z.tuple([z.literal('record'), z.enum(['', ...TYPE_NAMES]), z.uuid()]),
  z.tuple([z.literal('provenance'), z.int(), z.uuid()]),
  z.tuple([z.literal('directory'), z.enum(['', ...TYPE_NAMES]), z.uuid()]),
]);

type PageEnd = z.infer<typeof placeSchema>;

const IN_DIRECTORY = TYPE_NAMES.filter((type) => ['directory', 'either'].includes(typeEntry(type).home));

/** Opens it over a database. */
export function openEverything(pool: Pool): Everything {
  return async (caller, patient, asked, base) => {
    const after = asked.cursor === undefined ? undefined : decodeCursor(asked.cursor, placeSchema);
    const scope = scopeOf(caller, patient, asked);
    return onConnection(pool, (database) => page(database, scope, asked.count, base, after));
  };
}

function scopeOf({ tenantId }: Caller, record: string, { types, since, care }: EverythingAsked): RecordScope {
  return {
    tenant: tenantId,
    record,
    ...(types === undefined ? {} : { types }),
    ...(since === undefined ? {} : { since }),
    ...(care === undefined ? {} : { care }),
  };
}

/** Fills a page from one kind of rows after the other. */
class Filling {
  readonly entries: EverythingEntry[] = [];

  constructor(readonly count: number) {}

  /** How many rows are worth asking for: one more than there is room for tells whether the page ends here. */
  get wanted(): number {
    return this.count + 1 - this.entries.length;
  }

  /** Takes what there is room for. @returns the page's end when there is more: after the last row taken, or `before` all */
  take<R extends EverythingRow>(
    rows: readonly R[],
    mode: EverythingEntry['mode'],
    placeOf: (row: R) => PageEnd,
    before: PageEnd,
  ): PageEnd | undefined {
    const taken = rows.slice(0, this.count - this.entries.length);
    for (const { type, id, body } of taken) this.entries.push({ type, id, body, mode });
    const last = taken.at(-1);
    if (rows.length === taken.length) return undefined;
    return last === undefined ? before : placeOf(last);
  }
}

async function page(
  database: Queryable,
  scope: RecordScope,
  count: number,
  base: string,
  after: PageEnd | undefined,
): Promise<EverythingPage> {
  const { types, since } = scope;
  const filling = new Filling(count);
  const { entries } = filling;
  const upTo = (end: PageEnd): EverythingPage => ({ entries, next: encodeCursor(end) });

  if (after === undefined || after[0] === 'record') {
    const place = after === undefined ? undefined : { type: after[1], id: after[2] };
    const rows = await recordRows(database, scope, place, filling.wanted);
    const end = filling.take(rows, 'match', recordPlace, BEFORE.record);
    if (end !== undefined) return upTo(end);
  }
  const isWhole = after === undefined && types === undefined && since === undefined;
  if (types?.has('Provenance') === true && after?.[0] !== 'directory') {
    const place = after?.[0] === 'provenance' ? { recordedAt: after[1], id: after[2] } : undefined;
    const rows = await provenanceRows(database, scope, place, filling.wanted);
    const placeOf = ({ recordedAt, id }: ProvenanceRow): PageEnd => ['provenance', recordedAt, id];
    const end = filling.take(rows, 'match', placeOf, BEFORE.provenance);
    if (end !== undefined) return upTo(end);
  }
  if (types !== undefined && !IN_DIRECTORY.some((type) => types.has(type))) return { entries };
  const ids = isWhole ? idsIn(entries, [base]) : await idsInRecord(database, scope, [base]);
  const last = after?.[0] === 'directory' ? `${after[1]}/${after[2]}` : '';
  const rows = (await closure(database, scope.tenant, ids, [base])).filter(
    ({ type, id, lastUpdated }) =>
      `${type}/${id}` > last && types?.has(type) !== false && lastUpdated >= (since ?? lastUpdated),
  );
  const end = filling.take(rows, 'include', ({ type, id }) => ['directory', type, id], BEFORE.directory);
  return end === undefined ? { entries } : upTo(end);
}

const BEFORE = {
  record: ['record', '', NO_ID],
  provenance: ['provenance', 0, NO_ID],
  directory: ['directory', '', NO_ID],
} as const satisfies Record<string, PageEnd>;

/** The Patient comes before all others, whatever its type's place among theirs. */
function recordPlace({ type, id }: EverythingRow): PageEnd {
  return type === 'Patient' ? BEFORE.record : ['record', type, id];
}
