/** Converts receipts to rows: packs versions, deflates JSON, and computes an id that proves the row. */
import { createHash } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { GivenReceipt, NamedVersion, ReceiptKind } from '#src/shared/access/receipt.ts';
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { nowMicros } from '#src/shared/time/time.ts';

/** A row of operations.receipt. */
export interface ReceiptRow {
  readonly id: string;
  readonly made_at: number;
  readonly kind: ReceiptKind;
  readonly reader: string;
  readonly record: string;
  readonly position: number | null;
  readonly name: string | null;
  readonly parameters: Buffer;
  readonly versions: Buffer;
  readonly inputs: Buffer;
  readonly renderer: string;
  readonly sha256: Buffer;
}

/**
 * Returns the row for an answer that is about to be sent.
 * @param renderer the code that produced the answer
 */
export function makeReceiptRow(given: GivenReceipt, renderer: string): ReceiptRow {
  const { kind, reader, record, position, name, sha256 } = given;
  const row = {
    ...{ made_at: nowMicros(), kind, reader, record, position, name },
    parameters: pack(given.parameters),
    versions: packVersions(given.versions),
    inputs: pack(given.inputs),
    ...{ renderer, sha256 },
  };
  return { id: nameReceipt(row), ...row };
}

/**
 * Returns a receipt's id: a hash of the other columns. The id is in the access log entry, which is part of the log's hash
 * chain, so the chain also proves the receipt.
 */
export function nameReceipt(row: Omit<ReceiptRow, 'id'>): string {
  const { made_at, kind, reader, record, position, name, parameters, versions, inputs, renderer, sha256 } =
    row;
  const bytes = [parameters, versions, inputs, sha256].map((each) => each.toString('base64'));
  const text = JSON.stringify([made_at, kind, reader, record, position, name, renderer, ...bytes]);
  return `rcpt_${createHash('sha256').update(text).digest('base64url').slice(0, 32)}`;
}

/** The texts are short, so more compression effort would save only a few bytes. */
const QUICK = { level: 1 } as const;

function pack(json: JsonObject): Buffer {
  return deflateRawSync(JSON.stringify(json), QUICK);
}

/** Returns the JSON in a column. */
export function unpack(column: Buffer): JsonObject {
  const value: unknown = JSON.parse(inflateRawSync(column).toString());
  return isObject(value) ? value : {};
}

/** The sizes of an id and of a version number, in bytes. */
const [ID, NUMBER] = [16, 4];

/** The size of one version in the column, in bytes. */
export const VERSION_BYTES = ID + NUMBER;

/** Returns the column for the given versions, in their order. */
export function packVersions(versions: readonly NamedVersion[]): Buffer {
  const digits = versions.map(
    ({ id, version }) => id.replaceAll('-', '') + version.toString(16).padStart(2 * NUMBER, '0'),
  );
  return Buffer.from(digits.join(''), 'hex');
}

/** Returns the versions in a column, in their order. */
export function unpackVersions(packed: Buffer): NamedVersion[] {
  return Array.from({ length: packed.length / VERSION_BYTES }, (_, n) => {
    const at = n * VERSION_BYTES;
    const id = packed.toString('hex', at, at + ID).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
    return { id, version: packed.readUInt32BE(at + ID) };
  });
}
