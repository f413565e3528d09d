/** Elements that REST v1 and FHIR say differently (docs/spec/decisions.md, section 4), both ways. Pure. */
import type { LosslessNumber } from 'lossless-json';
import { isNumber, isObject, type Json, type JsonObject } from '#src/shared/json.ts';

/** Code systems of bare codes (docs/spec/decisions.md, section 1). */
export const LOINC = 'http://loinc.org';
export const ICD_10 = 'http://hl7.org/fhir/sid/icd-10';
export const ATC = 'http://www.whocc.no/atc';
/** Units. */
export const UCUM = 'http://unitsofmeasure.org';

/** A number, with its literal where JavaScript would write another: `1.50`. */
export type Decimal = number | LosslessNumber;

/** A code as v1 takes it: `code` may be `system|code`. */
export interface GivenCode {
  readonly code?: string | undefined;
  readonly system?: string | undefined;
  readonly display?: string | undefined;
}

/** A concept as v1 shows it. */
export interface ShownCode {
  readonly code: string | null;
  readonly system: string | null;
  readonly display: string | null;
}

/** `system|code` in its parts; a bare code has none of the first. */
export function splitCode(text: string): { readonly system?: string; readonly code: string } {
  const bar = text.lastIndexOf('|');
  return bar < 0 ? { code: text } : { system: text.slice(0, bar), code: text.slice(bar + 1) };
}

/** The CodeableConcept. @param fallback system of a bare code; none: the code has no system */
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

/** A concept: the coding of the preferred system where there is one, else the first; its words where there is no code. */
export function shownConcept(concept: Json | undefined, preferred?: string): ShownCode {
  const { coding, text } = objectIn(concept);
  const codings = listIn(coding).filter(({ code }) => typeof code === 'string');
  const best = codings.find(({ system }) => system === preferred) ?? codings[0];
  return {
    code: textIn(best?.code),
    system: textIn(best?.system),
    display: textIn(best?.display) ?? textIn(text),
  };
}

/** A Quantity in UCUM; without a unit a bare number. */
export function toQuantity(value: Decimal, unit: string | undefined): JsonObject {
  return unit === undefined ? { value } : { value, unit, system: UCUM, code: unit };
}

/** The unit of a Quantity: its UCUM code, else what is written. */
export function shownUnit(quantity: Json | undefined): string | null {
  const { system, code, unit } = objectIn(quantity);
  return system === UCUM ? (textIn(code) ?? textIn(unit)) : (textIn(unit) ?? textIn(code));
}

/** A number; null for what is none. */
export function numberIn(value: Json | undefined): Decimal | null {
  return isNumber(value) ? value : null;
}

/** A text; null for what is none. */
export function textIn(value: Json | undefined): string | null {
  return typeof value === 'string' ? value : null;
}

/** An object; empty for what is none. */
export function objectIn(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

/** The objects of a list. */
export function listIn(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

/** `note` as Annotations. */
export function toNote(note: string | undefined): JsonObject {
  return note === undefined ? {} : { note: [{ text: note }] };
}

/** All Annotations as one text. */
export function shownNote(note: Json | undefined): string | null {
  const texts = listIn(note).flatMap(({ text }) => textIn(text) ?? []);
  return texts.length === 0 ? null : texts.join('\n\n');
}

/** The members that have a value. */
export function present(members: Readonly<Record<string, Json | undefined>>): JsonObject {
  return Object.fromEntries(
    Object.entries(members).filter((member): member is [string, Json] => member[1] !== undefined),
  );
}
