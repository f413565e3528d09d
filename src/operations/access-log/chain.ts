/**
 * The hash chain of a record's access log. An entry's hash is the SHA-256 over the previous hash (32 zero bytes before the
 * first entry), the entry's number and time (8 bytes each, big-endian), and the entry's digest. The digest is the SHA-256 over
 * the entry's other members as a JSON array. If the recipient has a name, that name comes last. If there is a receipt, the
 * last two elements are the name (or null) and the receipt's id. The database computes the hashes while it locks the record's
 * head (`operations.access_chain`).
 */
import { createHash } from 'node:crypto';

/** An entry's columns other than number, time and hash. */
export interface EntryColumns {
  readonly record: string;
  readonly id: string;
  readonly action: string;
  readonly actor_kind: string;
  readonly actor_id: string;
  readonly issuer: string | null;
  readonly role: string | null;
  readonly grant_id: string | null;
  readonly resource_type: string | null;
  readonly resource_id: string | null;
  readonly purpose: string | null;
  readonly status: string;
  readonly count: number | null;
  readonly request_id: string;
  /** The name that the recipient of a shared link gave; null for all other actors. */
  readonly actor_name: string | null;
  /** The id of the answer's receipt; null if the answer has none. */
  readonly receipt: string | null;
}

/** The hash that precedes a record's first entry. */
export const GENESIS = Buffer.alloc(32);

/** Returns the SHA-256 over an entry's columns, 32 bytes. */
export function digestEntry(entry: EntryColumns): Buffer {
  const text = JSON.stringify([
    entry.record,
    entry.id,
    entry.action,
    entry.actor_kind,
    entry.actor_id,
    entry.issuer,
    entry.role,
    entry.grant_id,
    entry.resource_type,
    entry.resource_id,
    entry.purpose,
    entry.status,
    entry.count,
    entry.request_id,
    // Entries without a name or receipt are hashed in the same way as before names and receipts existed.
    ...(entry.actor_name === null && entry.receipt === null ? [] : [entry.actor_name]),
    ...(entry.receipt === null ? [] : [entry.receipt]),
  ]);
  return createHash('sha256').update(text).digest();
}

/**
 * Returns the hash of the entry that follows `previous`, 32 bytes.
 * @param seq the entry's number, from 1
 * @param at the entry's time, in microseconds since 1970
 */
export function chainHash(previous: Buffer, seq: number, at: number, digest: Buffer): Buffer {
  const numbers = Buffer.alloc(16);
  numbers.writeBigInt64BE(BigInt(seq), 0);
  numbers.writeBigInt64BE(BigInt(at), 8);
  return createHash('sha256').update(previous).update(numbers).update(digest).digest();
}
