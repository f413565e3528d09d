/**
 * Derives the pairwise ids by which an application knows a patient and a person. Because of them, two applications can't find
 * out whether they know the same person (OpenID Connect Core 1.0, section 8; docs/spec/decisions.md, section 1).
 */
import { createHmac } from 'node:crypto';
import type { Sector } from '../shared/access/sector.ts';

/** Derives pairwise ids with the installation's key. */
export interface Pairwise {
  /** Returns the id by which a sector knows a record's Patient: a UUID. */
  readonly patient: (sector: Sector, recordId: string) => string;
  /** Returns a person's `sub` for a sector: 43 URL-safe characters. */
  readonly subject: (sector: Sector, issuer: string, subject: string) => string;
}

/**
 * Returns the functions that derive pairwise ids.
 * @param key 32 bytes, the `pairwise_key` in `src/operations/installation-key.ts`
 */
export function openPairwise(key: Buffer): Pairwise {
  return {
    patient: (sector, recordId) => pairwisePatient(key, sector, recordId),
    subject: (sector, issuer, subject) => pairwiseSubject(key, sector, issuer, subject),
  };
}

/** Derives a UUID (version 8, RFC 9562, section 5.8) from the sector and the record, by HMAC-SHA256. */
export function pairwisePatient(key: Buffer, sector: Sector, recordId: string): string {
  const bytes = derived(key, 'patient', sector, recordId).subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Derives the `sub` from the sector, the issuer and the subject, by HMAC-SHA256. */
export function pairwiseSubject(key: Buffer, sector: Sector, issuer: string, subject: string): string {
  return derived(key, 'subject', sector, issuer, subject).toString('base64url');
}

/** The input is JSON, so that different lists of parts never result in the same text. */
function derived(key: Buffer, kind: string, { project, environment, sector }: Sector, ...parts: string[]) {
  const input = JSON.stringify([kind, project, environment, sector, ...parts]);
  return createHmac('sha256', key).update(input).digest();
}
