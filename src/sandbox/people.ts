/** Draws the patients: their ages according to the cast, and their names and addresses from a seed. */
import type { JsonObject } from '#src/shared/json/json.ts';
import { COUNTRIES, type Country, type Name } from './countries.ts';
import { type Day, dateText, YEAR } from './days.ts';
import type { Random } from './random.ts';

/** A sex as in Patient.gender. */
export type Sex = 'female' | 'male';

/** A patient's part in the cast. */
export interface Part {
  readonly story: string;
  readonly sex?: Sex;
  /** Current age in years: minimum and maximum. */
  readonly ages: readonly [number, number];
  /** For a child, the story of the adult who is its parent. */
  readonly childOf?: string;
}

/** A synthetic person. */
export interface Person {
  readonly sex: Sex;
  readonly birth: Day;
  readonly country: Country;
  readonly given: Name;
  readonly family: Name;
  /** Index of the family name in its country's list: its form differs by sex in some countries. */
  readonly familyIndex: number;
  readonly street: string;
  readonly city: readonly [postalCode: string, city: string];
  readonly phone: string;
  /** An address in a reserved domain (RFC 2606); children have no address. */
  readonly email: string | undefined;
  /** The patient's number in the hospital's register. */
  readonly number: string;
}

/** System URI of the patients' numbers. */
export const REGISTER = 'urn:annal:sandbox:patient-number';

/** Draws a person; a child gets its parent's family name and address. */
export function drawPerson(part: Part, random: Random, today: Day, number: string, parent?: Person): Person {
  const sex = part.sex ?? random.pick(['female', 'male'] as const);
  const country = parent?.country ?? random.pick(COUNTRIES);
  const [youngest, oldest] = part.ages;
  const familyIndex = parent?.familyIndex ?? random.int(0, country.family.length - 1);
  return {
    sex,
    birth: today - Math.round(random.between(youngest, oldest) * YEAR),
    country,
    given: random.pick(country[sex]),
    family: familyName(country, familyIndex, sex),
    familyIndex,
    street: parent?.street ?? `${random.pick(country.streets)} ${random.int(1, 120)}`,
    city: parent?.city ?? random.pick(country.cities),
    phone: parent?.phone ?? `${country.phone} 555 ${random.int(100_000, 999_999)}`,
    email: part.childOf === undefined ? `${number.toLowerCase()}@patients.example.org` : undefined,
    number,
  };
}

/** Returns HumanName elements: one in Latin letters, and one in the country's own script if it has one. */
export function humanNames({ given, family }: Pick<Person, 'given' | 'family'>): JsonObject[] {
  const latin = { use: 'usual', family: family[0], given: [given[0]] };
  const [, ownGiven] = given;
  const [, ownFamily] = family;
  if (ownGiven === undefined || ownFamily === undefined) return [{ ...latin, use: 'official' }];
  return [{ use: 'official', family: ownFamily, given: [ownGiven] }, latin];
}

/** Returns an Address element. */
export function makeAddress({ street, city, country }: Person): JsonObject {
  return { use: 'home', line: [street], postalCode: city[0], city: city[1], country: country.code };
}

/** Returns ContactPoint elements, with the telephone first. */
export function makeTelecom({ phone, email }: Pick<Person, 'phone' | 'email'>): JsonObject[] {
  const called = { system: 'phone', value: phone, use: 'mobile' };
  return email === undefined ? [called] : [called, { system: 'email', value: email, use: 'home' }];
}

/** Returns the Patient resource without its id. */
export function patientResource(person: Person, death: Day | undefined): JsonObject {
  return {
    resourceType: 'Patient',
    meta: { security: [TEST_DATA] },
    identifier: [{ use: 'usual', system: REGISTER, value: person.number }],
    active: true,
    name: humanNames(person),
    telecom: makeTelecom(person),
    gender: person.sex,
    birthDate: dateText(person.birth),
    ...(death === undefined ? {} : { deceasedDateTime: dateText(death) }),
    address: [makeAddress(person)],
    communication: [
      {
        language: { coding: [{ system: 'urn:ietf:bcp:47', code: person.country.language }] },
        preferred: true,
      },
    ],
  };
}

/** HL7's label for test data (v3 ActReason HTEST). */
const TEST_DATA = {
  system: 'http://terminology.hl7.org/CodeSystem/v3-ActReason',
  code: 'HTEST',
  display: 'test health data',
};

function familyName(country: Country, index: number, sex: Sex): Name {
  const list = sex === 'female' ? (country.familyOfWomen ?? country.family) : country.family;
  const name = list[index];
  if (name === undefined) throw new RangeError(`${country.code} has no family name ${index}`);
  return name;
}
