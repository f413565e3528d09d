/**
 * Names the meaning of a CodeableConcept for people and models (docs/spec/decisions.md, section 4 "Names of codes"). The name
 * is the author's text, a stored display, a name from the terminology or a concept, or otherwise the code itself. Pure.
 */

import type { SystemCode } from '#src/fhir/parts.ts';
import { objects, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import { SNOMED_TAGS } from './snomed-tags.ts';
import { SHORT_NAMES } from './system-names.ts';

/** Maps `system|code` to a name. */
export type Names = ReadonlyMap<string, string>;

const NO_NAMES: Names = new Map();

const LOINC = 'http://loinc.org';
const SNOMED = 'http://snomed.info/sct';

/** Systems whose codes are named in the terminology or the concepts; they take precedence over other systems. */
const PREFERRED: ReadonlySet<string> = new Set([
  LOINC,
  'http://www.whocc.no/atc',
  'http://hl7.org/fhir/sid/icd-10',
]);

/** The maximum number of codings that are looked up per concept, because FHIR sets no limit. */
const MOST_CODINGS = 10;

/** Matches the part of LOINC panel names that is meant for laboratories rather than for readers. */
const PANEL = / with all children optional$/i;
const TAGGED = /^(.*\S) \(([^()]+)\)$/s;

/**
 * Returns the names of CodeableConcepts, separated by commas.
 * @returns for a concept without a name, its code with the system's short name; undefined if there is nothing to show
 */
export function nameConcept(value: Json | undefined, names: Names = NO_NAMES): string | undefined {
  const all = objects(value).flatMap((each) => findName(each, names) ?? labelConcept(each) ?? []);
  return all.length === 0 ? undefined : all.join(', ');
}

/** Returns a CodeableConcept's name; undefined if none is known. */
export function findName(concept: JsonObject, names: Names = NO_NAMES): string | undefined {
  const words = writtenName(concept);
  if (words !== undefined) return words;
  for (const code of readSystemCodes(concept)) {
    const name = names.get(joinSystemCode(code));
    if (name !== undefined) return cleanName(name, code.system);
  }
  return undefined;
}

/** Returns the name that a CodeableConcept itself contains: its text, otherwise the first display in its codings. */
export function writtenName(concept: JsonObject): string | undefined {
  const codings = objects(concept.coding);
  const said = text(concept.text);
  if (said !== undefined) return codings.reduce((name, coding) => withoutNotation(name, said, coding), said);
  for (const { system, display } of codings) {
    const shown = text(display);
    if (shown !== undefined) return cleanName(shown, text(system));
  }
  return undefined;
}

/**
 * Returns the codes to look up for a CodeableConcept, the best first. If the CodeableConcept contains a name, nothing has to
 * be looked up, so the list is empty.
 */
export function codesToName(concept: JsonObject): SystemCode[] {
  return writtenName(concept) === undefined ? readSystemCodes(concept) : [];
}

/** Returns a code with its system's short name: `ICD-10 N18.3`. If the system has no short name, returns only the code. */
export function labelCode({ system, code }: SystemCode): string {
  const short = SHORT_NAMES.get(system);
  return short === undefined ? code : `${short} ${code}`;
}

/**
 * Returns a name for readers: removes the semantic tag from a SNOMED CT name (`Hypertension (disorder)`), and `with all
 * children optional` from the name of a LOINC panel.
 * @param system the code system that contains the name
 */
export function cleanName(name: string, system: string | undefined): string {
  if (system === LOINC) return name.replace(PANEL, '');
  if (system !== SNOMED) return name;
  const [, words, tag] = TAGGED.exec(name) ?? [];
  return words !== undefined && tag !== undefined && SNOMED_TAGS.has(tag) ? words : name;
}

/** Cleans a text if it is the official name of a coding. Any other text, which the author wrote, is returned unchanged. */
function withoutNotation(name: string, said: string, { system, display }: JsonObject): string {
  const official = text(display);
  const isOfficial = official === undefined || official.toLowerCase() === said.toLowerCase();
  return isOfficial ? cleanName(name, text(system)) : name;
}

function readSystemCodes({ coding }: JsonObject): SystemCode[] {
  const codes = objects(coding)
    .slice(0, MOST_CODINGS)
    .flatMap(({ system: by, code: is }): SystemCode[] => {
      const [system, code] = [text(by), text(is)];
      return system === undefined || code === undefined ? [] : [{ system, code }];
    });
  const [preferred, others] = [true, false].map((is) =>
    codes.filter(({ system }) => PREFERRED.has(system) === is),
  );
  return [...(preferred ?? []), ...(others ?? [])];
}

/** Returns the label for a concept without a name. */
function labelConcept(concept: JsonObject): string | undefined {
  const [best] = readSystemCodes(concept);
  return best === undefined
    ? objects(concept.coding).flatMap(({ code }) => text(code) ?? [])[0]
    : labelCode(best);
}

const joinSystemCode = ({ system, code }: SystemCode): string => `${system}|${code}`;
