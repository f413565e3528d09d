/** Reads the terminology that is bundled with the program. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { CodeSystem, Concept, ConceptMap, ValueSet } from '../resources.ts';
import { MEMBER, type Properties, RANK, SHORT_NAME, SYNONYM } from './own.ts';
import { substanceProperties } from './substances.ts';

/** A concept with the properties that Observations need. */
export interface BundledConcept extends Concept {
  readonly category?: string;
  /** UCUM unit. */
  readonly unit?: string;
  /** Further properties, by name. */
  readonly properties?: Properties;
}

/** LOINC's code system URL. */
export const LOINC = 'http://loinc.org';
/** ATC's code system URL. */
export const ATC = 'http://www.whocc.no/atc';

/** The notice that LOINC's licence requires: section 10 of https://loinc.org/license/ */
export const LOINC_NOTICE =
  'This material contains content from LOINC (http://loinc.org). LOINC is copyright © Regenstrief Institute, Inc. and ' +
  'the Logical Observation Identifiers Names and Codes (LOINC) Committee and is available at no cost under the license ' +
  'at http://loinc.org/license. LOINC® is a registered United States trademark of Regenstrief Institute, Inc.';

/** The attribution that the ATC index requires. */
export const ATC_NOTICE =
  'ATC codes are from the ATC/DDD Index of the WHO Collaborating Centre for Drug Statistics Methodology, Oslo ' +
  '(https://atcddd.fhi.no). Copying and distribution for commercial purposes is not allowed; changing or manipulating ' +
  'the material is not allowed.';

function read(name: string): string {
  return readFileSync(new URL(`./generated/${name}.json`, import.meta.url), 'utf8');
}

/** Returns a digest of the bundled terminology; the same bundle results in the same digest. */
export function bundledFingerprint(): string {
  const hash = createHash('sha256').update(LOINC_NOTICE).update(ATC_NOTICE);
  for (const name of ['r4', 'loinc', 'atc']) hash.update(read(name));
  return hash.digest('hex');
}

/** Returns every bundled resource; CodeSystems contain their concepts. */
export function bundledResources(): (CodeSystem | ValueSet | ConceptMap)[] {
  return [...JSON.parse(read('r4')), loinc(), atc()];
}

/** The file of LOINC codes (`tools/terminology/pack-loinc.ts`). */
interface LoincFile {
  readonly answers: readonly (readonly [code: string, display: string])[];
  /** The most common codes first. */
  readonly codes: readonly LoincRow[];
}

type LoincRow = readonly [
  code: string,
  display: string,
  unit: string | null,
  category: string | null,
  shortName: string,
  synonyms: readonly string[],
  members: readonly string[],
];

/** Returns Annal's own properties of a code; undefined if it has none. */
export type OwnProperties = (code: string, display: string) => Properties | undefined;

/** Returns a function that finds Annal's own properties of LOINC codes. */
export function ownOfLoinc(): OwnProperties {
  const { codes }: LoincFile = JSON.parse(read('loinc'));
  const own = new Map(codes.map((row, place) => [row[0], loincProperties(row, place)]));
  return (code) => own.get(code);
}

/** Returns the units and categories of the bundled LOINC codes, by code. */
export function loincUnits(): ReadonlyMap<
  string,
  { readonly unit: string | null; readonly category: string | null }
> {
  const { codes }: LoincFile = JSON.parse(read('loinc'));
  return new Map(codes.map(([code, , unit, category]) => [code, { unit, category }]));
}

function loincProperties(row: LoincRow, place: number): Properties {
  const [, , , , shortName, synonyms, members] = row;
  return {
    [RANK]: String(place + 1),
    ...(shortName === '' ? {} : { [SHORT_NAME]: shortName }),
    ...(synonyms.length === 0 ? {} : { [SYNONYM]: synonyms }),
    ...(members.length === 0 ? {} : { [MEMBER]: members }),
  };
}

function loinc(): CodeSystem {
  const { answers, codes }: LoincFile = JSON.parse(read('loinc'));
  const concept = codes.map((row, place): BundledConcept => {
    const [code, display, unit, category] = row;
    return {
      code,
      display,
      ...(category === null ? {} : { category }),
      ...(unit === null ? {} : { unit }),
      properties: loincProperties(row, place),
    };
  });
  return {
    resourceType: 'CodeSystem',
    url: LOINC,
    name: 'LOINC',
    title: 'LOINC, common laboratory, vital-sign, imaging, document and survey codes',
    status: 'active',
    copyright: LOINC_NOTICE,
    caseSensitive: false,
    valueSet: `${LOINC}/vs`,
    content: 'fragment',
    concept: [...concept, ...answers.map(([code, display]) => ({ code, display }))],
  };
}

/**
 * Returns the code system ATC. The length of a code determines its level, of which there are five: A, A01, A01A, A01AB,
 * A01AB17.
 */
function atc(): CodeSystem {
  const rows: [string, string][] = JSON.parse(read('atc'));
  const below = (parent: string): BundledConcept[] =>
    rows
      .filter(([code]) => parentOfAtc(code) === parent)
      .map(([code, display]) => {
        const concept = below(code);
        const properties = substanceProperties(code, display);
        return { code, display, properties, ...(concept.length === 0 ? {} : { concept }) };
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

/** Returns the parent group of an ATC code; empty for a code of the first level. */
export function parentOfAtc(code: string): string {
  return code.slice(0, LEVELS[LEVELS.indexOf(code.length) - 1] ?? 0);
}
