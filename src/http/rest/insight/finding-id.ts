/**
 * Converts finding ids. Each id contains the patient, so that the contract's short form (`/v1/patterns/{finding_id}`) finds
 * the record without a table of findings, which would have to be stored and purged. Under a grant, there is only one record,
 * and the id doesn't contain the patient's real id.
 */

import type { Finding } from '#src/insight/finding.ts';
import { cut } from '#src/shared/cut.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { RestRequest } from '../record.ts';

const PREFIX = 'find_';
/** Number of characters in a UUID in base64url. */
const PATIENT = 22;

/**
 * Returns a finding's id as the caller sees it.
 * @param patient the real id
 */
export function shownId({ caller }: RestRequest, patient: string, { finding_id: id }: Finding): string {
  if (caller.sees.within !== undefined) return id;
  const named = Buffer.from(patient.replaceAll('-', ''), 'hex').toString('base64url');
  return `${PREFIX}${named}${id.slice(PREFIX.length)}`;
}

/**
 * Returns the real id of the patient to whom a finding belongs.
 * @throws Refusal not_found (404) if the given id isn't a finding id
 */
export function patientIn({ caller }: RestRequest, id: string): string {
  if (caller.sees.within !== undefined) return caller.sees.within.record;
  const named = id.slice(PREFIX.length, PREFIX.length + PATIENT);
  if (!id.startsWith(PREFIX) || !/^[\w-]{22}$/.test(named)) throw notFound('finding', cut(id, 64));
  return Buffer.from(named, 'base64url')
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
