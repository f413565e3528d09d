/** Checks that the patient of a message (PID) is the patient of the record. */

import { cut } from '#src/shared/cut.ts';
import type { Issue } from '#src/shared/issue.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { listIn, textIn } from '../v1/elements.ts';
import type { Segment } from './hl7v2/message.ts';
import { readMoment } from './hl7v2/time.ts';
import type { Notes } from './labs.ts';
import { findAuthority } from './systems.ts';

/** An identifier from a PID. */
interface Identified {
  readonly value: string;
  /** URIs by which the Patient may name the identifier's system; empty if the issuer is unknown. */
  readonly systems: readonly string[];
}

const SOCIAL_SECURITY = 'http://hl7.org/fhir/sid/us-ssn';
const GENDERS: Readonly<Record<string, string>> = { M: 'male', F: 'female', O: 'other', A: 'other' };
/** The values in HL7 table 0001 that don't name a sex: unknown, not applicable, complex. */
const NO_SEX = new Set(['', 'U', 'N', 'C']);

/**
 * Refuses a message about several patients.
 * @throws Refusal invalid (422)
 */
export function requireOnePatient(patients: readonly Segment[]): void {
  const [first, ...others] = patients;
  if (first !== undefined && others.some((other) => !isSame(first, other)))
    throw contradiction(['the message has several patients; send one message per patient']);
}

/**
 * Refuses a PID from a caller without the scope `read`. The check against the Patient would reveal stored data, but without
 * the check, an import may go to the wrong record.
 * @throws Refusal forbidden (403) for a PID with a name, number, day of birth or sex
 */
export function refusePatient(pid: Segment): void {
  const named = [2, 3, 4, 5, 7, 8, 19].filter((field) => pid.all(field).some(({ text }) => text !== ''));
  if (named.length === 0) return;
  const fields = named.map((field) => `PID-${field}`).join(', ');
  throw new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `comparing ${fields} with the patient requires the scope read, which this credential doesn't have; send the results as JSON items or CSV, or use a key with the scope read`,
    expression: 'message',
  });
}

/**
 * Checks a PID against the record's Patient. Contradictions are a number in a known system that isn't the Patient's, a
 * different day of birth, and a different sex. A different name is only noted.
 * @throws Refusal invalid (422) naming the PID's contradicting fields
 */
export function requirePatient(pid: Segment, patient: JsonObject, notes: Notes): void {
  const faults: string[] = [];
  const known = listIn(patient.identifier).map(({ system, value }) => ({
    system: textIn(system) ?? undefined,
    value: textIn(value) ?? '',
  }));
  for (const { value, systems } of identifiersIn(pid)) {
    const same = known.filter(({ system }) =>
      systems.length === 0 ? system === undefined : systems.includes(system ?? ''),
    );
    if (same.length > 0 && !same.some((one) => one.value === value))
      faults.push("an identifier in PID-3 doesn't match the patient");
  }
  const born = readMoment(pid.part(7))?.iso.slice(0, 10);
  const birthDate = textIn(patient.birthDate);
  if (born !== undefined && birthDate !== null && !born.startsWith(birthDate) && !birthDate.startsWith(born))
    faults.push("PID-7 doesn't match the patient’s birth date");
  if (born === undefined && pid.part(7) !== '')
    notes.warn(pid.place, `PID-7 is not a valid date, so it was not compared: ${cut(pid.part(7), 40)}`);
  const letter = pid.part(8).toUpperCase();
  const sex = GENDERS[letter];
  if (sex === undefined && !NO_SEX.has(letter))
    notes.warn(
      pid.place,
      `PID-8 is not a sex of table 0001, so it was not compared: ${cut(pid.part(8), 40)}`,
    );
  const gender = textIn(patient.gender);
  if (sex !== undefined && gender !== null && gender !== 'unknown' && sex !== gender)
    faults.push("PID-8 doesn't match the patient’s gender");
  if (faults.length > 0) throw contradiction([...new Set(faults)]);
  const names = listIn(patient.name).flatMap(({ family }) => textIn(family) ?? []);
  const family = pid.part(5);
  if (family !== '' && names.length > 0 && !names.some((name) => folded(name) === folded(family)))
    notes.warnOfRecord(pid.place, "PID-5 doesn't match the patient’s name");
}

function contradiction(faults: readonly string[]): Refusal {
  const issues = faults.map(
    (diagnostics): Issue => ({ code: 'business-rule', diagnostics, expression: 'message' }),
  );
  return new Refusal('invalid', issues);
}

/** Returns the identifiers in PID-2, 3, 4 and 19. */
function identifiersIn(pid: Segment): Identified[] {
  const numbers = [3, 2, 4]
    .flatMap((field) => pid.all(field))
    .flatMap((cx): Identified[] => {
      const value = cx.part(1);
      if (value === '') return [];
      const [name, universal] = [cx.part(4), cx.part(4, 2)];
      const systems = [findAuthority(name, universal), name, universal].filter(
        (one) => one !== undefined && one !== '',
      );
      const national = /^SS$/i.test(cx.part(5)) ? [SOCIAL_SECURITY] : [];
      return [{ value, systems: [...systems.filter((one) => one !== undefined), ...national] }];
    });
  const ssn = pid.part(19);
  return ssn === '' ? numbers : [...numbers, { value: ssn, systems: [SOCIAL_SECURITY] }];
}

/**
 * Returns whether two PIDs are for the same patient. They are if they share a number from the same issuer. If one of them has
 * no number, or the numbers that they share are from different issuers, they are if the name and the day of birth match.
 */
function isSame(one: Segment, other: Segment): boolean {
  const [mine, theirs] = [identifiersIn(one), identifiersIn(other)];
  if (mine.length > 0 && theirs.length > 0) {
    const shared = mine.flatMap((number) =>
      theirs.filter(({ value }) => value === number.value).map((each) => mayBeOfOneIssuer(number, each)),
    );
    if (shared.length === 0) return false;
    if (shared.includes(true)) return true;
  }
  return one.first(5).text === other.first(5).text && one.part(7) === other.part(7);
}

function mayBeOfOneIssuer({ systems: mine }: Identified, { systems: theirs }: Identified): boolean {
  return mine.length === 0 || theirs.length === 0 || mine.some((system) => theirs.includes(system));
}

function folded(name: string): string {
  return name
    .normalize('NFKD')
    .replaceAll(/[\p{M}\s'’-]/gu, '')
    .toLowerCase();
}
