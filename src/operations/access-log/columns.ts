/** Converts access log entries to the columns of a statement. */
import { arrayLiteral } from '#src/database/array-literal.ts';
import type { AccessEntry } from '#src/shared/access/access-entry.ts';
import { isUuid, newUuid } from '#src/shared/ids.ts';
import type { ReceiptRow } from '../receipts/row.ts';
import { digestEntry, type EntryColumns } from './chain.ts';

/** The maximum length of a text in an entry, in UTF-16 units, because a client may have sent the text. */
const MOST = 512;

/** Characters that PostgreSQL can't store or that would upset a terminal. */
const CONTROLS = /[\u0000-\u001f\u007f]/g;

/** An entry that is ready to be written. */
export interface ReadyEntry extends EntryColumns {
  /** SHA-256 over the columns, in hex. */
  readonly digest: string;
}

/**
 * Returns an entry's columns, with a new id.
 * @param receipt the id of its receipt; null without a receipt
 * @throws TypeError for a record that isn't a UUID
 */
export function readyEntry(entry: AccessEntry, receipt: string | null = null): ReadyEntry {
  const { record, actor, count } = entry;
  if (!isUuid(record)) throw new TypeError('the record of an access-log entry must be a UUID');
  const columns: EntryColumns = {
    record,
    id: newUuid(),
    action: storable(entry.action),
    actor_kind: actor.kind,
    actor_id: storable(actor.kind === 'person' ? actor.subject : actor.id),
    issuer: actor.kind === 'person' ? storable(actor.issuer) : null,
    role: actor.kind === 'person' ? actor.role : null,
    grant_id: actor.kind === 'application' ? orNull(actor.grantId) : null,
    resource_type: orNull(entry.resourceType),
    resource_id: orNull(entry.resourceId),
    purpose: orNull(entry.purpose),
    status: entry.status,
    count,
    request_id: storable(entry.requestId),
    actor_name: actor.kind === 'link' ? storable(actor.recipient) : null,
    receipt,
  };
  return { ...columns, digest: digestEntry(columns).toString('hex') };
}

function orNull(text: string | null): string | null {
  return text === null ? null : storable(text);
}

/** Returns text in a form that PostgreSQL can store: well-formed, without control characters, and cut to the maximum length. */
function storable(text: string): string {
  return text.slice(0, MOST).toWellFormed().replace(CONTROLS, '\ufffd');
}

/**
 * Returns entries as parameters of the statement: an array for each column, and an array with each entry's number within its
 * record.
 */
export function makeParameters(entries: readonly ReadyEntry[]): string[] {
  const numbers = new Map<string, number>();
  const place = entries.map(({ record }) => {
    const number = (numbers.get(record) ?? 0) + 1;
    numbers.set(record, number);
    return number;
  });
  const texts = (member: Exclude<keyof ReadyEntry, 'count'>): string =>
    arrayLiteral(entries.map((entry) => entry[member]));
  return [
    texts('record'),
    texts('id'),
    texts('action'),
    texts('actor_kind'),
    texts('actor_id'),
    texts('issuer'),
    texts('role'),
    texts('grant_id'),
    texts('resource_type'),
    texts('resource_id'),
    texts('purpose'),
    texts('status'),
    `{${entries.map(({ count }) => count ?? 'null').join(',')}}`,
    texts('request_id'),
    texts('digest'),
    `{${place.join(',')}}`,
    texts('actor_name'),
    texts('receipt'),
  ];
}

/** Returns receipts as parameters of the statement, to follow the entries' parameters. */
export function makeReceiptParameters(receipts: readonly ReceiptRow[]): string[] {
  const texts = (member: 'id' | 'kind' | 'reader' | 'record' | 'name' | 'renderer'): string =>
    arrayLiteral(receipts.map((receipt) => receipt[member]));
  const bytes = (member: 'parameters' | 'versions' | 'inputs' | 'sha256'): string =>
    `{${receipts.map((receipt) => `"\\\\x${receipt[member].toString('hex')}"`).join(',')}}`;
  return [
    texts('id'),
    `{${receipts.map(({ made_at }) => made_at).join(',')}}`,
    texts('kind'),
    texts('reader'),
    texts('record'),
    `{${receipts.map(({ position }) => position ?? 'null').join(',')}}`,
    texts('name'),
    bytes('parameters'),
    bytes('versions'),
    bytes('inputs'),
    texts('renderer'),
    bytes('sha256'),
  ];
}
