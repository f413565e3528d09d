/** Converts elements between REST v1 and FHIR (docs/spec/decisions.md, section 4). Pure. */
import type { LosslessNumber } from 'lossless-json';
import { isNumber, isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { writtenName } from '../clinical/reading/names/name.ts';

/** Code systems for codes that are given without one (docs/spec/decisions.md, section 1). */
export const LOINC = 'http://loinc.org';
export const ICD_10 = 'http://hl7.org/fhir/sid/icd-10';
export const ATC = 'http://www.whocc.no/atc';
/** System of units. */
export const UCUM = 'http://unitsofmeasure.org';

/** A number. It has its literal if JavaScript would print the number differently, such as `1.50`. */
export type Decimal = number | LosslessNumber;

/** A code in a request; `code` may be `system|code`. */
export interface GivenCode {
  readonly code?: string | undefined;
  readonly system?: string | undefined;
  readonly display?: string | undefined;
}

/** A concept in an answer. */
export interface ShownCode {
  readonly code: string | null;
  readonly system: string | null;
  readonly display: string | null;
}

/** Splits `system|code`; a code without a bar has no system. */
export function splitCode(text: string): { readonly system?: string; readonly code: string } {
  const bar = text.lastIndexOf('|');
  return bar < 0 ? { code: text } : { system: text.slice(0, bar), code: text.slice(bar + 1) };
}

/**
 * Returns a CodeableConcept.
 * @param fallback system for a code that is given without a system; if absent, such a code stays without a system
 */
export function toConcept({ code, system, display }: GivenCode, fallback?: string): JsonObject {
  const words = display === undefined ? {} : { text: display };
  if (code === undefined) return words;
  const parts = splitCode(code);
  const of = parts.system ?? system ?? fallback;
  const coding = {
    ...(of === undefined ? {} : { system: of }),
    code: parts.code,
    ...(display === undefined ? {} : { display }),
  };
  return { coding: [coding], ...words };
}

/**
 * Returns a concept for v1: the coding from the preferred system, or otherwise the first coding, and the concept's name.
 * `display` is null if the concept itself has no name; the terminology may then have one.
 */
export function shownConcept(concept: Json | undefined, preferred?: string): ShownCode {
  const { coding, text = null } = objectIn(concept);
  const codings = listIn(coding);
  const best =
    codings.find(({ system, code }) => system === preferred && typeof code === 'string') ??
    codings.find(({ code }) => typeof code === 'string');
  return {
    code: textIn(best?.code),
    system: textIn(best?.system),
    display: writtenName({ text, coding: best === undefined ? codings : [best, ...codings] }) ?? null,
  };
}

/** Returns a Quantity with a UCUM unit, or without a unit if none is given. */
export function toQuantity(value: Decimal, unit: string | undefined): JsonObject {
  return unit === undefined ? { value } : { value, unit, system: UCUM, code: unit };
}

/** Returns a Quantity's unit: its UCUM code, or otherwise its text. */
export function shownUnit(quantity: Json | undefined): string | null {
  const { system, code, unit } = objectIn(quantity);
  return system === UCUM ? (textIn(code) ?? textIn(unit)) : (textIn(unit) ?? textIn(code));
}

/** Returns the value if it is a number, otherwise null. */
export function numberIn(value: Json | undefined): Decimal | null {
  return isNumber(value) ? value : null;
}

/** Returns the value if it is text, otherwise null. */
export function textIn(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** Returns the value if it is an object, otherwise an empty object. */
export function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** Returns the objects in a list. */
export function listIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** Returns `note` as Annotations. */
export function toNote(note: string | undefined): JsonObject {
  return note === undefined ? {} : { note: [{ text: note }] };
}

/** Returns all Annotations as one text. */
export function shownNote(note: Json | undefined): string | null {
  const texts = listIn(note).flatMap(({ text }) => textIn(text) ?? []);
  return texts.length === 0 ? null : texts.join('\n\n');
}

/** Returns the members that have a value. */
export function present(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((member): member is [string, Json] => member[1] !== undefined),
  );
}
