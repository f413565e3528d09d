/** Converts patients' demographics between REST v1 and FHIR (docs/spec/decisions.md, section 4). Pure. */
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { sameJson } from '#src/shared/json/json-equal.ts';
import { without } from '#src/shared/json/json-value.ts';
import { listIn, present, textIn } from './elements.ts';

/** Demographics in a request; absent members are unknown. */
export interface GivenPatient {
  readonly given?: string | undefined;
  readonly family?: string | undefined;
  readonly birth_date?: string | undefined;
  readonly gender?: string | undefined;
  readonly identifiers?:
    | readonly { readonly system?: string | undefined; readonly value: string }[]
    | undefined;
}

/** Demographics in an answer. */
export interface ShownPatient {
  readonly given: string | null;
  readonly family: string | null;
  readonly birth_date: string | null;
  readonly gender: string | null;
  readonly identifiers: { system: string | null; value: string }[];
}

/** Returns the elements that v1 can express. */
function toElements({ given, family, birth_date, gender, identifiers }: GivenPatient): JsonObject {
  const name = present({ family, given: given === undefined ? undefined : [given] });
  return present({
    identifier: identifiers?.map(({ system, value }) => present({ system, value })),
    name: given === undefined && family === undefined ? undefined : [name],
    gender,
    birthDate: birth_date,
  });
}

/** Returns a new Patient. */
export function toPatient(given: GivenPatient): JsonObject {
  const elements = toElements(given);
  const { identifier } = elements;
  const none = Array.isArray(identifier) && identifier.length === 0;
  return { resourceType: 'Patient', ...(none ? without(elements, 'identifier') : elements) };
}

/**
 * Replaces a Patient's demographics. An element that the request doesn't change keeps content that v1 can't express; an
 * element that it changes is replaced entirely.
 */
export function withDemographics(before: JsonObject, given: GivenPatient): JsonObject {
  const shown = shownPatient(before);
  const sent = shownPatient(toPatient(given));
  const after = toPatient(given);
  let patient = before;
  const replace = (element: string, same: boolean): void => {
    if (same) return;
    const value: Json | undefined = after[element];
    // A primitive's sibling (`_birthDate`) describes the old value.
    const others = without(patient, element, `_${element}`);
    patient = value === undefined ? others : { ...others, [element]: value };
  };
  replace('identifier', sameJson(shown.identifiers, sent.identifiers));
  replace('name', shown.given === sent.given && shown.family === sent.family);
  replace('gender', shown.gender === sent.gender);
  replace('birthDate', shown.birth_date === sent.birth_date);
  return patient;
}

/**
 * Returns a Patient in the form that v1 shows. The name shown is the official name, otherwise the usual name, otherwise the
 * first name listed.
 */
export function shownPatient({ name, birthDate, gender, identifier }: JsonObject): ShownPatient {
  const names = listIn(name);
  const used = (use: string) => names.find((each) => each.use === use);
  const { given, family } = used('official') ?? used('usual') ?? names[0] ?? {};
  const first = Array.isArray(given) ? given.filter((each) => typeof each === 'string').join(' ') : '';
  return {
    given: first === '' ? null : first,
    family: textIn(family),
    birth_date: textIn(birthDate),
    gender: textIn(gender),
    identifiers: listIn(identifier).flatMap(({ system, value }) =>
      typeof value === 'string' ? [{ system: textIn(system), value }] : [],
    ),
  };
}
