/** Reads the person in a record: name, birth date, sex, and whether the person has died. */
import { shownName } from '#src/fhir/human-name.ts';
import { objects, text } from '#src/fhir/parts.ts';
import type { JsonObject } from '#src/shared/json/json-value.ts';
import { nameConcept } from './names/name.ts';

export interface Person {
  readonly name: string | undefined;
  /** A FHIR date. */
  readonly born: string | undefined;
  /** A code from administrative-gender. */
  readonly gender: string | undefined;
  /** Numbers that identify the person elsewhere. */
  readonly identifiers: readonly PersonNumber[];
  /** Undefined if, according to the record, the person is alive. */
  readonly died: Death | undefined;
}

/** A number that identifies the person, for example at a hospital or an insurer. */
export interface PersonNumber {
  readonly value: string;
  readonly system: string | undefined;
  /** Its type in words. */
  readonly kind: string | undefined;
}

/** A person's death, with a date as precise as in the record. */
export interface Death {
  readonly date: string | undefined;
}

/** Reads a Patient. */
export function readPerson(patient: JsonObject): Person {
  const { name, birthDate, gender, identifier } = patient;
  const identifiers = objects(identifier).flatMap(({ system, value, type }): PersonNumber[] => {
    const number = text(value);
    return number === undefined ? [] : [{ value: number, system: text(system), kind: nameConcept(type) }];
  });
  return {
    name: shownName(name),
    born: text(birthDate),
    gender: text(gender),
    identifiers,
    died: readDeath(patient),
  };
}

/** Returns whether and when a person died, from `deceased[x]`. */
export function readDeath({ deceasedBoolean, deceasedDateTime }: JsonObject): Death | undefined {
  const date = text(deceasedDateTime);
  return date !== undefined || deceasedBoolean === true ? { date } : undefined;
}
