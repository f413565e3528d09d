/**
 * Texts for writes under a grant that may contain either id of the Patient, in any letter case, and JSON with escapes. Also
 * derives what the owner must read of what an application sent (docs/spec/decisions.md, section 1).
 */
import type { Picks } from './requests.ts';

/** The ids of a record's Patient: the real id, and the application's id. */
export interface PatientIds {
  readonly record: string;
  readonly patient: string;
}

const mixed = (id: string): string =>
  id.replace(/[a-f]/g, (letter, at: number) => (at % 2 === 0 ? letter.toUpperCase() : letter));

/**
 * Returns a text of one to four pieces.
 * @param withReal true if pieces may be the real id
 */
export function fuzzed({ record, patient }: PatientIds, picks: Picks, withReal: boolean): string {
  const pieces = [
    ...[patient, patient, patient.toUpperCase(), mixed(patient), `Patient/${patient}`],
    ...['text', ' é ', '"', '\\', '%2D', '|', '01890000-0000-7000-8000-000000000000'],
    ...(withReal ? [record, record.toUpperCase(), mixed(record), `Patient/${record}`] : []),
  ];
  let text = 'x';
  for (let n = 1 + picks.below(4); n > 0; n -= 1) text += picks.of(pieces);
  return text;
}

/**
 * Returns JSON with some characters of its strings escaped.
 * @param pattern a bit pattern that repeats; 0 escapes nothing
 */
export function escapedJson(value: object, pattern: number): string {
  let at = 0;
  return JSON.stringify(value).replace(/"(?:[^"\\]|\\.)*"/g, (quoted) =>
    quoted.replace(/\\.|[A-Za-z0-9-]/g, (one) => {
      at += 1;
      if (one.startsWith('\\') || ((pattern >> (at % 8)) & 1) === 0) return one;
      return `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`;
    }),
  );
}

function stringsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/**
 * Returns how the owner's text differs from what it must be, given what an application sent. Where the application's text has
 * the pairwise id, the owner's must have the real id. Where the application's text has the real id, in upper or lower case,
 * the owner's must have neither. Undefined if nothing differs.
 */
export function misreadBy(owner: unknown, application: unknown, ids: PatientIds): string | undefined {
  const [theirs, own] = [stringsIn(owner), stringsIn(application)];
  if (theirs.length !== own.length) return `${theirs.length} texts, not ${own.length}`;
  for (const [n, sent] of own.entries()) {
    const read = theirs[n] ?? '';
    if (!isExchanged(read, sent, ids)) return `${read}, not the owner's form of ${sent}`;
  }
  return undefined;
}

const HOLE = '?'.repeat(36);

function isExchanged(read: string, sent: string, { record, patient }: PatientIds): boolean {
  const expected = sent
    .replaceAll(new RegExp(record, 'gi'), HOLE)
    .replaceAll(patient, record)
    .replaceAll(patient.toUpperCase(), record.toUpperCase());
  if (read.length !== expected.length) return false;
  let at = 0;
  for (const part of expected.split(HOLE)) {
    if (read.slice(at, at + part.length) !== part) return false;
    at += part.length;
    const hidden = read.slice(at, at + HOLE.length).toLowerCase();
    if (hidden === record || hidden === patient) return false;
    at += HOLE.length;
  }
  return true;
}
