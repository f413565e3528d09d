/** The terminology that comes with the program. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { CodeSystem, Concept, ConceptMap, ValueSet } from '../resources.ts';

/** A concept with what observations need of it. */
export interface BundledConcept extends Concept {
  readonly category?: string;
  /** UCUM. */
  readonly unit?: string;
}

/** LOINC's system and ours of it. */
export const LOINC = 'http://loinc.org';
/** ATC's system. */
export const ATC = 'http://www.whocc.no/atc';

/** The notice that LOINC's licence asks for, section 10 of https://loinc.org/license/ */
export const LOINC_NOTICE =
  'This material contains content from LOINC (http://loinc.org). LOINC is copyright © Regenstrief Institute, Inc. and ' +
  'the Logical Observation Identifiers Names and Codes (LOINC) Committee and is available at no cost under the license ' +
  'at http://loinc.org/license. LOINC® is a registered United States trademark of Regenstrief Institute, Inc.';

/** The attribution that the ATC index asks for. */
export const ATC_NOTICE =
  'ATC codes are from the ATC/DDD Index of the WHO Collaborating Centre for Drug Statistics Methodology, Oslo ' +
  '(https://atcddd.fhi.no). Copying and distribution for commercial purposes is not allowed; changing or manipulating ' +
  'the material is not allowed.';

function read(name: string): string {
  return readFileSync(new URL(`./generated/${name}.json`, import.meta.url), 'utf8');
}

/** A digest of all of it: the same bundle gives the same. */
export function bundledFingerprint(): string {
  const hash = createHash('sha256').update(LOINC_NOTICE).update(ATC_NOTICE);
  for (const name of ['r4', 'loinc', 'atc']) hash.update(read(name));
  return hash.digest('hex');
}

/** Every bundled resource; CodeSystems with their concepts. */
export function bundledResources(): (CodeSystem | ValueSet | ConceptMap)[] {
  return [...JSON.parse(read('r4')), loinc(), atc()];
}

function loinc(): CodeSystem {
  const rows: [string, string, string, string | null][] = JSON.parse(read('loinc'));
  const concept = rows.map(
    ([code, display, category, unit]): BundledConcept => ({
      code,
      display,
      category,
      ...(unit === null ? {} : { unit }),
    }),
  );
  return {
    resourceType: 'CodeSystem',
    url: LOINC,
    name: 'LOINC',
    title: 'LOINC, common laboratory, vital-sign and survey codes',
    status: 'active',
    copyright: LOINC_NOTICE,
    caseSensitive: false,
    valueSet: `${LOINC}/vs`,
    content: 'fragment',
    concept,
  };
}

/** Its five levels nest by the length of the code: A, A01, A01A, A01AB, A01AB17. */
function atc(): CodeSystem {
  const rows: [string, string][] = JSON.parse(read('atc'));
  const below = (parent: string): Concept[] =>
    rows
      .filter(([code]) => parentOfAtc(code) === parent)
      .map(([code, display]) => {
        const concept = below(code);
        return { code, display, ...(concept.length === 0 ? {} : { concept }) };
      });
  return {
    resourceType: 'CodeSystem',
    url: ATC,
    name: 'ATC',
    title: 'Anatomical Therapeutic Chemical Classification, common substances',
    status: 'active',
    copyright: ATC_NOTICE,
    caseSensitive: true,
    hierarchyMeaning: 'is-a',
    content: 'fragment',
    concept: below(''),
  };
}

const LEVELS = [1, 3, 4, 5, 7];

/** The group that an ATC code is in; empty for one of the first level. */
export function parentOfAtc(code: string): string {
  return code.slice(0, LEVELS[LEVELS.indexOf(code.length) - 1] ?? 0);
}
