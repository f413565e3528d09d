/**
 * Ids of findings. They name the patient, so that the short form of the contract (`/v1/patterns/{finding_id}`) finds the
 * record without a table of findings that would have to be kept and purged. Under a grant there is one record, and the id
 * doesn't contain the patient's real one.
 */

import type { Finding } from '#src/insight/finding.ts';
import { cut } from '#src/shared/cut.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { RestRequest } from '../record.ts';

const PREFIX = 'find_';
/** Characters of a UUID in base64url. */
const PATIENT = 22;

/** Returns the id of a finding as the caller sees it. @param patient the real id */
export function shownId({ caller }: RestRequest, patient: string, { finding_id: id }: Finding): string {
  if (caller.sees.within !== undefined) return id;
  const named = Buffer.from(patient.replaceAll('-', ''), 'hex').toString('base64url');
  return `${PREFIX}${named}${id.slice(PREFIX.length)}`;
}

/**
 * Returns the real id of the patient whose finding it is.
 * @throws Refusal not_found (404) if it isn't the id of a finding
 */
export function patientIn({ caller }: RestRequest, id: string): string {
  if (caller.sees.within !== undefined) return caller.sees.within.record;
  const named = id.slice(PREFIX.length, PREFIX.length + PATIENT);
  if (!id.startsWith(PREFIX) || !/^[\w-]{22}$/.test(named)) throw notFound('finding', cut(id, 64));
  return Buffer.from(named, 'base64url')
    .toString('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
