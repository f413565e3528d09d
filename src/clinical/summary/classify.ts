/**
 * Determines which section of the summary a resource belongs to, and which resources are left out. docs/summary.md explains
 * these rules.
 */
import { codes, loincCodes, text } from '../../fhir/parts.ts';
import { isDenial } from '../reading/absence.ts';
import { isMedicine } from '../reading/medicine-subject.ts';
import { hasResult, isIdea, isModified, isOver, type Withdrawn, withdrawnAs } from '../reading/status.ts';
import type { PartOfAi } from '../reading/told.ts';
import type { SectionName } from './section.ts';
import type { Source } from './source.ts';

/** The reason for leaving out a resource that would otherwise be in a section. */
export type LeftOut =
  | Withdrawn
  | 'with an unknown modifier extension'
  | 'written by an AI'
  | typeof CHANGED_BY_AI;

/**
 * Someone else wrote the resource, and an AI has changed it since. It isn't an entry, but its section says what it contained
 * before (docs/decisions/0025-changed-by-ai-is-said.md).
 */
export const CHANGED_BY_AI = 'changed by an AI since somebody else wrote it';

/**
 * A resource's section, or the reason, shown to readers, why it is left out; undefined if the resource isn't meant for a
 * summary.
 */
export type Place =
  | {
      readonly section: SectionName;
      /** If set, the section has only the newest resource with the same value. */
      readonly single: string | undefined;
      /** False for resources that only the section's narrative uses: past resources, and medicines that must not be given. */
      readonly isEntry: boolean;
    }
  | { readonly leftOut: LeftOut; readonly section?: SectionName | undefined }
  | undefined;

/** The members that `placeInSummary` reads. */
export const PLACED_BY = [
  ...['status', 'lifecycleStatus', 'docStatus', 'verificationStatus', 'clinicalStatus'],
  ...['category', 'code', 'type', 'intent', 'doNotPerform', 'patient', 'implicitRules'],
] as const;

/**
 * Returns a resource's section, or the reason why the resource is left out.
 * @param byAi an AI's part: whether it wrote this version, and whether it changed someone else's entry.
 */
export function placeInSummary(source: Source, byAi: PartOfAi): Place {
  const section = SECTION_OF[source.type]?.(source);
  const beside = section === undefined ? besideIn(source) : undefined;
  // An AI may have ended or refuted someone else's statement. Neither version is then a fact, and readers have to know about
  // the change.
  if (byAi === 'changed') {
    const before = section ?? sectionIfCurrent(source);
    return before === undefined ? undefined : { leftOut: CHANGED_BY_AI, section: before };
  }
  const withdrawn = withdrawnAs(source.value);
  if (withdrawn !== undefined)
    return SECTION_OF[source.type] === undefined ? undefined : { leftOut: withdrawn };
  const about = section ?? beside;
  if (about === undefined) return undefined;
  const isTold = section !== undefined || source.value.doNotPerform === true;
  // See docs/spec/decisions.md, section 4 "Patient safety".
  if (isModified(source.value, source.body)) {
    return isTold ? { leftOut: 'with an unknown modifier extension' } : undefined;
  }
  // Versions that an AI wrote are never presented as facts (docs/spec/interface.md, section 2.5).
  if (byAi === 'written') return isTold ? { leftOut: 'written by an AI', section: about } : undefined;
  return {
    section: about,
    single: section === 'socialHistory' ? habitIn(loincCodes(source.value.code)) : undefined,
    isEntry: section !== undefined,
  };
}

/**
 * Returns the section whose narrative mentions a resource that isn't one of the section's entries: a medicine that is past or
 * must not be given (the guide's profile forbids entries with `doNotPerform`), or an allergy or care plan that has ended.
 */
function besideIn(source: Source): SectionName | undefined {
  const { type, value } = source;
  if (type === 'AllergyIntolerance') return isDenial(source, value.code) ? undefined : 'allergies';
  if (type === 'CarePlan')
    return PLAN_OVER.has(text(value.status) ?? '') && !isIdea(value.intent) ? 'planOfCare' : undefined;
  const isDrug = type === 'MedicationStatement' || type === 'MedicationRequest';
  return isDrug && isMedicine(value) ? 'medications' : undefined;
}

/** Statuses of care plans that have ended. */
const PLAN_OVER: ReadonlySet<string> = new Set(['completed', 'revoked']);

/** Returns the section that a resource would be in if it weren't ended, forbidden, refuted or entered in error. */
function sectionIfCurrent(source: Source): SectionName | undefined {
  const { type, value } = source;
  const { status: _, clinicalStatus, verificationStatus, doNotPerform, ...rest } = value;
  const status = STATUS_OF_CURRENT[type];
  return SECTION_OF[type]?.({ ...source, value: status === undefined ? rest : { ...rest, status } });
}

/** The status that an entry needs to be in a section, for types whose section depends on the status. */
const STATUS_OF_CURRENT: Readonly<Record<string, string>> = {
  MedicationStatement: 'active',
  MedicationRequest: 'active',
  Immunization: 'completed',
  CarePlan: 'active',
  DocumentReference: 'current',
};

type Rule = (source: Source) => SectionName | undefined;

const SECTION_OF: Readonly<Record<string, Rule>> = {
  Condition: condition,
  AllergyIntolerance: ({ value }) => (isOver(value.clinicalStatus) ? undefined : 'allergies'),
  MedicationStatement: ({ value }) => (CURRENT.has(text(value.status) ?? '') ? 'medications' : undefined),
  MedicationRequest: ({ value }) =>
    CURRENT.has(text(value.status) ?? '') && !isIdea(value.intent) && value.doNotPerform !== true
      ? 'medications'
      : undefined,
  Immunization: ({ value }) => (value.status === 'completed' ? 'immunizations' : undefined),
  Observation: observation,
  DiagnosticReport: ({ value }) => (hasResult(value.status) ? 'results' : undefined),
  Procedure: ({ value }) =>
    ['preparation', 'not-done'].includes(text(value.status) ?? '') ? undefined : 'procedures',
  Device: ({ value }) => (value.patient === undefined || value.status === 'inactive' ? undefined : 'devices'),
  CarePlan: ({ value }) =>
    ['active', 'on-hold'].includes(text(value.status) ?? '') && !isIdea(value.intent)
      ? 'planOfCare'
      : undefined,
  DocumentReference: ({ value }) =>
    value.status === 'current' &&
    loincCodes([value.type ?? [], value.category ?? []].flat()).includes('42348-3')
      ? 'advanceDirectives'
      : undefined,
};

/** Statuses of medications that the patient takes or may take: codes from both of R4's value sets. */
const CURRENT: ReadonlySet<string> = new Set(['active', 'intended', 'on-hold', 'unknown']);

/** Categories that mark a Condition as functional status: the section's LOINC code, and US Core's categories. */
const FUNCTIONAL: ReadonlySet<string> = new Set(['47420-5', 'functional-status', 'disability-status']);

function condition(source: Source): SectionName | undefined {
  const { value } = source;
  // When a statement of absence ends, it doesn't become a past problem.
  if (isOver(value.clinicalStatus)) return isDenial(source, value.code) ? undefined : 'pastProblems';
  return codes(value.category).some((code) => FUNCTIONAL.has(code)) ? 'functionalStatus' : 'problems';
}

/** Codes that are fixed or bound by the IPS profiles for pregnancy status, expected delivery date and outcome. */
const PREGNANCY: ReadonlySet<string> = new Set(
  '82810-3 11778-8 11779-6 11780-4 11636-8 11637-6 11638-4 11639-2 11640-0 11612-9 11613-7 11614-5 33065-4'.split(
    ' ',
  ),
);

/** Codes in the IPS profiles for tobacco and alcohol use; the section may have one Observation for each. */
const HABITS: ReadonlySet<string> = new Set(['72166-2', '74013-4']);

function habitIn(loinc: readonly string[]): string | undefined {
  return loinc.find((code) => HABITS.has(code));
}

/** Codes that make an Observation a vital sign: https://hl7.org/fhir/R4/observation-vitalsigns.html */
const VITAL_SIGNS: ReadonlySet<string> = new Set(
  '85353-1 9279-1 8867-4 2708-6 59408-5 8310-5 8302-2 9843-4 29463-7 39156-5 85354-9 8480-6 8462-4 8478-0'.split(
    ' ',
  ),
);

function observation({ value }: Source): SectionName | undefined {
  if (!hasResult(value.status)) return undefined;
  const loinc = loincCodes(value.code);
  if (loinc.some((code) => PREGNANCY.has(code))) return 'pregnancy';
  if (habitIn(loinc) !== undefined) return 'socialHistory';
  const categories = codes(value.category);
  if (categories.includes('social-history')) return 'socialHistory';
  if (categories.includes('vital-signs')) return 'vitalSigns';
  if (categories.includes('activity')) return undefined;
  if (categories.length === 0 && loinc.some((code) => VITAL_SIGNS.has(code))) return 'vitalSigns';
  return 'results';
}
