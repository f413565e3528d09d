/**
 * Determines who can sign in at the development issuer: anyone who enters an e-mail address, without proof. Synthetic patients
 * are recognised by the address in their Patient resources.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Account, accounts } from '#src/sandbox/accounts.ts';
import type { Person as Member } from '#src/shared/access/member.ts';

/** A person who signs in. */
export interface Person {
  /** Lower case. */
  readonly email: string;
  readonly name?: string;
  /** Claims from OpenID Connect Core 1.0, section 5.1, from which a personal record can be created. */
  readonly given?: string;
  readonly family?: string;
  /** `YYYY-MM-DD` */
  readonly birthDate?: string;
}

/** The owner of the organization that the first start creates. */
const DEVELOPER: Person = inventedPerson('developer', 'Dana', 'Developer', '1984-02-29');

/** The people that the sign-in page lists. */
export const READY_PEOPLE: readonly Person[] = [
  DEVELOPER,
  inventedPerson('colleague', 'Chris', 'Colleague', '1979-11-03'),
  inventedPerson('stranger', 'Sam', 'Stranger', '1991-06-21'),
];

function inventedPerson(local: string, given: string, family: string, birthDate: string): Person {
  return { email: `${local}@example.org`, name: `${given} ${family}`, given, family, birthDate };
}

/** An e-mail address as people type it; it is trimmed and converted to lower case. */
export const emailSchema = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(z.email('must be an e-mail address, such as developer@example.org').max(254, 'is too long'));

/**
 * Returns the synthetic patients who can sign in, with their present ages.
 * @param count number of patients in a sandbox; default: all
 */
export function patientsToday(count?: number): readonly Account[] {
  return accounts(new Date().toISOString().slice(0, 10), count);
}

/** Returns the person with a given address: a person whom the page lists, otherwise a person without a name. */
export function findPerson(email: string): Person {
  const same = (person: Person): boolean => person.email === email;
  return READY_PEOPLE.find(same) ?? patientsToday().find(same) ?? { email };
}

/** Returns the owner of the organization that the first start creates, as a member. */
export function quickstartOwner(issuer: string): Member {
  return { issuer, subject: makeSubject(DEVELOPER.email), email: DEVELOPER.email };
}

/** Returns the `sub` for an address: 22 URL-safe characters, the same in every installation. */
export function makeSubject(email: string): string {
  return createHash('sha256').update(`annal development issuer\n${email}`).digest('base64url').slice(0, 22);
}

/** Describes a synthetic patient in one line, for the sign-in page. */
export function introduction({ name, age, about, sex, dependents }: Account): string {
  const children = dependents.map((child) => `${child.name}, ${child.age}`);
  const parent = sex === 'female' ? 'mother' : 'father';
  const family = children.length === 0 ? '' : `; ${parent} of ${children.join(' and ')}, a patient too`;
  return `${name}, ${age}: ${about}${family}`;
}
