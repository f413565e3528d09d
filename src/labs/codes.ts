/** Parses coded elements (CE, CWE, CNE): HL7 v2 chapter 2A. */

import { isLoincCode } from '#src/fhir/loinc-code.ts';
import { cut } from '#src/shared/cut.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { LOINC, present } from '../v1/elements.ts';
import type { Field } from './hl7v2/message.ts';
import { findSystem } from './systems.ts';

/**
 * For a code and its two alternates: the numbers of the components with the code, its text, its system and the system's OID.
 */
const TRIPLETS = [
  [1, 2, 3, 14],
  [4, 5, 6, 17],
  [10, 11, 12, 20],
] as const;
const ORIGINAL_TEXT = 9;
/** Matches codes from LOINC's answer lists, which can't identify a test. */
const ANSWER = /^LA\d{1,6}-\d$/;

/** A coded element. */
export interface Coded {
  readonly concept: JsonObject;
  /** True if one of the element's codes is a LOINC code. */
  readonly loinc: boolean;
  /** The original code, for people to read: `GLU (Glucose)`. */
  readonly label: string;
  /** The reason why an alleged LOINC code is invalid. */
  readonly fault?: string;
}

/**
 * Returns a coded element; undefined if it is empty. An invalid LOINC code is treated as the sender's own code.
 * @param bare the system for valid LOINC codes that name no system; undefined: the sender's own system
 */
export function readCodes(field: Field, sender: string, bare: string | undefined = LOINC): Coded | undefined {
  const coding: JsonObject[] = [];
  let fault: string | undefined;
  for (const [code, text, system, oid] of TRIPLETS) {
    const value = codeText(field.part(code));
    const display = field.part(text);
    if (value === '') continue;
    const isBare = field.part(system) === '' && field.part(oid) === '';
    const own = bare !== undefined && isBare && isLoincCode(value) ? bare : undefined;
    let of = own ?? findSystem(field.part(system), field.part(oid), sender);
    if (of === LOINC && !isLoincCode(value) && !ANSWER.test(value)) {
      fault = `${cut(value, 40)} is not a LOINC code`;
      of = findSystem('', '', sender);
    }
    coding.push(
      present({ system: of, code: value, display: display === '' || display === '""' ? undefined : display }),
    );
  }
  const texts = [field.part(ORIGINAL_TEXT), field.part(2), field.part(5), field.part(11)];
  const text = texts.find((one) => one !== '') ?? (coding.length === 0 ? '' : undefined);
  if (coding.length === 0 && (text === undefined || text === '')) return undefined;
  const code = field.part(1) || field.part(4);
  return {
    concept: {
      ...(coding.length === 0 ? {} : { coding: coding as Json[] }),
      ...(text === undefined || text === '' ? {} : { text }),
    },
    loinc: coding.some(({ system, code }) => system === LOINC && isLoincCode(String(code))),
    label: joinLabel(code, text ?? ''),
    ...(fault === undefined ? {} : { fault }),
  };
}

/** Returns a code with its text: `GLU (Glucose)`. */
export function joinLabel(code: string, text: string): string {
  if (code === '' || text === '' || code === text) return code || text;
  return `${code} (${text})`;
}

/** Returns a coded element's concept; undefined if the element is empty. */
export function conceptIn(field: Field, sender: string): JsonObject | undefined {
  return readCodes(field, sender, undefined)?.concept;
}

/** Normalizes blanks: a code has no blanks at its ends, and only single blanks inside (R4 datatypes.html#code). */
export function codeText(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
