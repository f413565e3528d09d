/**
 * Who can sign in at the development issuer: whoever names an e-mail address; nothing is proved. Synthetic patients are
 * people like others, known by the address that their Patient resources bear.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type Account, accounts } from '#src/sandbox/accounts.ts';
import type { Person as Member } from '#src/shared/member.ts';

/** Somebody who signs in. */
export interface Person {
  /** Lower case. */
  readonly email: string;
  readonly name?: string;
}

/** The owner of the organization that the first start founds. */
const DEVELOPER: Person = { email: 'developer@example.org', name: 'Dana Developer' };

/** Whom the sign-in page offers. */
export const READY_PEOPLE: readonly Person[] = [
  DEVELOPER,
  { email: 'colleague@example.org', name: 'Chris Colleague' },
  { email: 'stranger@example.org', name: 'Sam Stranger' },
];

/** An e-mail address as people type it; becomes lower case without blanks around it. */
export const emailSchema = z
  .string()
  .trim()
  .toLowerCase()
  .pipe(z.email('must be an e-mail address, such as developer@example.org').max(254, 'is too long'));

/** The synthetic patients who can sign in, with their ages of today. @param count how many a sandbox holds; default: all. */
export function patientsToday(count?: number): readonly Account[] {
  return accounts(new Date().toISOString().slice(0, 10), count);
}

/** Who has an address: a person whom the page offers, or somebody without a name. */
export function personOf(email: string): Person {
  const same = (person: Person): boolean => person.email === email;
  return READY_PEOPLE.find(same) ?? patientsToday().find(same) ?? { email };
}

/** Who owns the organization that the first start founds, as organizations name their members. */
export function quickstartOwner(issuer: string): Member {
  return { issuer, subject: subjectOf(DEVELOPER.email), email: DEVELOPER.email };
}

/** `sub` of an address: the same in every installation and after every restart, 22 URL-safe characters. */
export function subjectOf(email: string): string {
  return createHash('sha256').update(`annal development issuer\n${email}`).digest('base64url').slice(0, 22);
}

/** A synthetic patient in a line, for who chooses among them. */
export function introduction({ name, age, about, sex, dependents }: Account): string {
  const children = dependents.map((child) => `${child.name}, ${child.age}`);
  const parent = sex === 'female' ? 'mother' : 'father';
  const family = children.length === 0 ? '' : `; ${parent} of ${children.join(' and ')}, a patient too`;
  return `${name}, ${age}: ${about}${family}`;
}
