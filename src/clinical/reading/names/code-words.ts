/**
 * Contains the words for codes that FHIR defines: states, classes, categories, interpretations. A code without a word here is
 * shown with its stored display, or as the code itself. https://hl7.org/fhir/R4/terminologies-valuesets.html. Pure.
 */
import { ar } from './code-texts/ar.ts';
import type { CodeTextKey, CodeTexts } from './code-texts/code-texts.ts';
import { de } from './code-texts/de.ts';
import { en } from './code-texts/en.ts';
import { es } from './code-texts/es.ts';
import { fr } from './code-texts/fr.ts';
import { nb } from './code-texts/nb.ts';

const TEXTS = { en, de, fr, es, nb, ar } as const satisfies Readonly<Record<string, CodeTexts>>;

/** A language that has words for codes, as a BCP 47 tag. */
export type WordLanguage = keyof typeof TEXTS;

/** Returns a map in which each code is also the key of its word. */
function same<const K extends CodeTextKey>(...keys: readonly K[]): { readonly [P in K]: P } {
  return Object.fromEntries(keys.map((key) => [key, key])) as { [P in K]: P };
}

const MISTAKE = { 'entered-in-error': 'mistake' } as const;

/** Maps each code to the key of its word, by set. R4 value sets share a set unless a code has different meanings in them. */
const SETS = {
  /** Condition.clinicalStatus, AllergyIntolerance.clinicalStatus */
  clinicalStatus: same('active', 'recurrence', 'relapse', 'inactive', 'remission', 'resolved', 'unknown'),
  /** Condition.verificationStatus, AllergyIntolerance.verificationStatus */
  verificationStatus: {
    ...same('unconfirmed', 'provisional', 'differential', 'presumed', 'confirmed', 'refuted'),
    ...MISTAKE,
  },
  /** MedicationStatement.status, MedicationRequest.status */
  medicationStatus: {
    ...same('completed', 'stopped', 'intended', 'draft', 'cancelled', 'unknown'),
    ...{ active: 'current', 'on-hold': 'onHold', 'not-taken': 'notTaken' },
    ...MISTAKE,
  },
  immunizationStatus: { completed: 'given', 'not-done': 'notGiven', ...MISTAKE },
  /** Observation.status, DiagnosticReport.status, DocumentReference.docStatus */
  resultStatus: {
    ...same('registered', 'partial', 'preliminary', 'final', 'amended', 'corrected', 'appended'),
    ...same('cancelled', 'unknown'),
    ...MISTAKE,
  },
  documentStatus: { current: 'valid', superseded: 'superseded', ...MISTAKE },
  encounterStatus: {
    ...same('planned', 'arrived', 'triaged', 'finished', 'cancelled', 'unknown'),
    ...{ 'in-progress': 'inProgress', onleave: 'onLeave' },
    ...MISTAKE,
  },
  /** Procedure.status, and other events */
  eventStatus: {
    ...same('preparation', 'completed', 'unknown'),
    ...{ 'in-progress': 'inProgress', 'not-done': 'notDone', 'on-hold': 'onHold', stopped: 'brokenOff' },
    ...MISTAKE,
  },
  /** CarePlan.status, CareTeam.status and CarePlan.activity.detail.status */
  planStatus: {
    ...same('draft', 'active', 'revoked', 'completed', 'scheduled', 'cancelled', 'unknown'),
    ...same('proposed', 'suspended', 'inactive'),
    ...{
      'on-hold': 'onHold',
      'not-started': 'notStarted',
      'in-progress': 'inProgress',
      stopped: 'brokenOff',
    },
    ...MISTAKE,
  },
  /** Goal.lifecycleStatus */
  goalStatus: {
    ...same('proposed', 'planned', 'accepted', 'active', 'completed', 'cancelled', 'rejected'),
    ...{ 'on-hold': 'onHold' },
    ...MISTAKE,
  },
  /** Goal.achievementStatus */
  achievement: {
    ...same('improving', 'worsening', 'achieved', 'sustaining'),
    ...{ 'in-progress': 'inProgress', 'no-change': 'noChange', 'not-achieved': 'notAchieved' },
    ...{ 'no-progress': 'noProgress', 'not-attainable': 'notAttainable' },
  },
  /** Device.status, DeviceUseStatement.status */
  deviceStatus: {
    ...same('completed', 'intended', 'stopped', 'unknown'),
    ...{ active: 'inUse', inactive: 'notInUse', 'on-hold': 'onHold' },
    ...MISTAKE,
  },
  intent: {
    ...same('proposal', 'plan', 'order', 'option', 'directive'),
    ...{ 'original-order': 'originalOrder', 'reflex-order': 'reflexOrder', 'filler-order': 'fillerOrder' },
    ...{ 'instance-order': 'instanceOrder' },
  },
  priority: same('routine', 'urgent', 'asap', 'stat'),
  allergyType: same('allergy', 'intolerance'),
  allergyCategory: { ...same('food', 'environment', 'biologic'), medication: 'medicine' },
  criticality: { low: 'lowRisk', high: 'highRisk', 'unable-to-assess': 'riskNotAssessed' },
  /** AllergyIntolerance.reaction.severity, and Condition.severity in SNOMED CT */
  severity: {
    ...same('mild', 'moderate', 'severe'),
    ...{ '255604002': 'mild', '6736007': 'moderate', '24484000': 'severe' },
  },
  /** http://terminology.hl7.org/CodeSystem/v3-ObservationInterpretation */
  interpretation: {
    ...{ H: 'high', HU: 'high', HX: 'high', HH: 'criticallyHigh', L: 'low', LU: 'low', LX: 'low' },
    ...{ LL: 'criticallyLow', A: 'abnormal', AA: 'criticallyAbnormal', N: 'normal' },
    ...{ U: 'risen', D: 'fallen', B: 'better', W: 'worse', POS: 'positive', NEG: 'negative' },
    ...{ IND: 'indeterminate', E: 'equivocal', DET: 'detected', ND: 'notDetected', R: 'resistant' },
    ...{ I: 'intermediate', S: 'susceptible', SDD: 'doseDependent', NS: 'notSusceptible' },
    ...{ RR: 'reactive', WR: 'weaklyReactive', NR: 'nonReactive', '>': 'aboveScale', '<': 'belowScale' },
    ...{ EXP: 'expected', UNE: 'unexpected' },
  },
  /** http://terminology.hl7.org/CodeSystem/data-absent-reason */
  absent: {
    ...same('masked', 'unsupported', 'error'),
    ...{ unknown: 'notKnown', 'asked-unknown': 'askedUnknown', 'temp-unknown': 'temporarilyUnknown' },
    ...{ 'not-asked': 'notAsked', 'asked-declined': 'declined', 'not-applicable': 'notApplicable' },
    ...{ 'as-text': 'asText', 'not-performed': 'notPerformed', 'not-permitted': 'notPermitted' },
  },
  /** Statements of absence: SNOMED CT, and IPS's absent-unknown-uv-ips */
  absence: {
    ...{ '716186003': 'noAllergies', '160244002': 'noAllergies', '409137002': 'noDrugAllergies' },
    ...{ '429625007': 'noFoodAllergies', '428607008': 'noEnvironmentAllergies' },
    ...{ '160245001': 'noProblems', '787481004': 'noMedicines' },
    ...{ 'no-known-allergies': 'noAllergies', 'no-known-medication-allergies': 'noDrugAllergies' },
    ...{ 'no-known-food-allergies': 'noFoodAllergies' },
    ...{ 'no-known-environmental-allergies': 'noEnvironmentAllergies', 'no-allergy-info': 'noAllergyInfo' },
    // A denial, in words, of one substance has no code of its own.
    'denied-in-words': 'deniedAllergy',
    ...{ 'no-known-problems': 'noProblems', 'no-problem-info': 'noProblemInfo' },
    ...{ 'no-known-medications': 'noMedicines', 'no-medication-info': 'noMedicineInfo' },
    ...{ 'no-known-immunizations': 'noVaccinations', 'no-immunization-info': 'noVaccinationInfo' },
  },
  /** http://terminology.hl7.org/CodeSystem/observation-category, and `symptom` */
  observationCategory: {
    ...same('laboratory', 'symptom', 'activity', 'survey', 'exam', 'imaging', 'procedure', 'therapy'),
    ...{ 'vital-signs': 'vitalSigns', 'social-history': 'socialHistory' },
  },
  /** http://terminology.hl7.org/CodeSystem/v2-0074: the common sections for laboratories and imaging */
  reportCategory: {
    ...{ LAB: 'laboratory', CH: 'chemistry', HM: 'haematology', MB: 'microbiology', RAD: 'radiology' },
    ...{ PAT: 'pathology', SP: 'pathology', GE: 'genetics', IMM: 'immunology', SR: 'serology' },
    ...{ TX: 'toxicology', VR: 'virology', BLB: 'bloodBank', EC: 'ecg', CT: 'tomography' },
    ...{ NMR: 'magneticResonance', OUS: 'ultrasound', CUS: 'echocardiography', OTH: 'other' },
  },
  conditionCategory: {
    'problem-list-item': 'problemList',
    'encounter-diagnosis': 'visitDiagnosis',
    'health-concern': 'healthConcern',
  },
  /** MedicationStatement.category, MedicationRequest.category */
  medicationCategory: {
    inpatient: 'inHospital',
    outpatient: 'outpatient',
    community: 'atHome',
    discharge: 'atDischarge',
    patientspecified: 'statedByPatient',
  },
  /** http://terminology.hl7.org/CodeSystem/v3-ActCode, both by code and by HL7's own display */
  encounterClass: {
    ...{ AMB: 'outpatientVisit', ambulatory: 'outpatientVisit', EMER: 'emergencyVisit' },
    ...{ emergency: 'emergencyVisit', FLD: 'fieldVisit', field: 'fieldVisit', HH: 'homeVisit' },
    ...{ 'home health': 'homeVisit', IMP: 'stay', 'inpatient encounter': 'stay', ACUTE: 'acuteStay' },
    ...{ 'inpatient acute': 'acuteStay', NONAC: 'longStay', 'inpatient non-acute': 'longStay' },
    ...{ OBSENC: 'observationStay', 'observation encounter': 'observationStay' },
    ...{ PRENC: 'beforeAdmission', 'pre-admission': 'beforeAdmission', SS: 'shortStay' },
    ...{ 'short stay': 'shortStay', VR: 'remoteVisit', virtual: 'remoteVisit' },
  },
  gender: same('male', 'female', 'other'),
  /** Immunization.statusReason in http://terminology.hl7.org/CodeSystem/v3-ActReason */
  noImmunization: {
    IMMUNE: 'immune',
    MEDPREC: 'medicalReason',
    OSTOCK: 'outOfStock',
    PATOBJ: 'objection',
  },
  /**
   * Immunization.subpotentReason in http://terminology.hl7.org/CodeSystem/immunization-subpotent-reason, and `subpotent` for
   * the fact that the reason explains
   */
  subpotent: {
    ...{ subpotent: 'subpotent', partial: 'partialDose', coldchainbreak: 'coldChainBroken' },
    ...{ recall: 'vaccineRecalled', expired: 'vaccineExpired' },
  },
  /** LOINC codes for kinds of documents */
  documentType: {
    ...{ '18842-5': 'dischargeSummary', '34133-9': 'episodeSummary', '11488-4': 'consultNote' },
    ...{ '11506-3': 'progressNote', '34117-2': 'historyNote', '28570-0': 'procedureNote' },
    ...{ '11504-8': 'operationNote', '34746-8': 'nurseNote', '57133-1': 'referral' },
    ...{ '11502-2': 'laboratoryReport', '18748-4': 'imagingReport', '11526-1': 'pathologyReport' },
    ...{ '60591-5': 'patientSummary', '42348-3': 'advanceDirective', '51847-2': 'assessment' },
    ...{ '51852-2': 'letter', '57833-6': 'prescription' },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, CodeTextKey>>>>;

/** The name of a set of codes. */
export type CodeSet = keyof typeof SETS;

const HL7 = 'http://terminology.hl7.org/CodeSystem/';

/** The set to which a system's codes belong. */
const SYSTEMS: ReadonlyMap<string, CodeSet> = new Map<string, CodeSet>([
  [`${HL7}condition-clinical`, 'clinicalStatus'],
  [`${HL7}allergyintolerance-clinical`, 'clinicalStatus'],
  [`${HL7}condition-ver-status`, 'verificationStatus'],
  [`${HL7}allergyintolerance-verification`, 'verificationStatus'],
  [`${HL7}goal-achievement`, 'achievement'],
  [`${HL7}v3-ObservationInterpretation`, 'interpretation'],
  [`${HL7}v2-0078`, 'interpretation'],
  [`${HL7}data-absent-reason`, 'absent'],
  ['http://hl7.org/fhir/uv/ips/CodeSystem/absent-unknown-uv-ips', 'absence'],
  [`${HL7}observation-category`, 'observationCategory'],
  ['https://annal.dev/fhir/observation-category', 'observationCategory'],
  [`${HL7}v2-0074`, 'reportCategory'],
  [`${HL7}condition-category`, 'conditionCategory'],
  [`${HL7}medication-statement-category`, 'medicationCategory'],
  [`${HL7}medicationrequest-category`, 'medicationCategory'],
  [`${HL7}v3-ActCode`, 'encounterClass'],
  [`${HL7}v3-ActReason`, 'noImmunization'],
  ['http://snomed.info/sct', 'severity'],
  ['http://loinc.org', 'documentType'],
]);

/** The set for an element's codes, if it is the same in all types. */
const ELEMENTS: Readonly<Record<string, CodeSet>> = {
  clinicalStatus: 'clinicalStatus',
  verificationStatus: 'verificationStatus',
  docStatus: 'resultStatus',
  lifecycleStatus: 'goalStatus',
  achievementStatus: 'achievement',
  intent: 'intent',
  priority: 'priority',
  criticality: 'criticality',
  severity: 'severity',
  interpretation: 'interpretation',
  dataAbsentReason: 'absent',
  class: 'encounterClass',
  gender: 'gender',
};

/** The set for an element's codes in one type. */
const OF_TYPES: Readonly<Record<string, Readonly<Record<string, CodeSet>>>> = {
  AllergyIntolerance: { type: 'allergyType', category: 'allergyCategory' },
  CarePlan: { status: 'planStatus' },
  CareTeam: { status: 'planStatus' },
  Condition: { category: 'conditionCategory' },
  Device: { status: 'deviceStatus' },
  DeviceUseStatement: { status: 'deviceStatus' },
  DiagnosticReport: { status: 'resultStatus', category: 'reportCategory' },
  DocumentReference: { status: 'documentStatus', type: 'documentType' },
  Encounter: { status: 'encounterStatus' },
  Immunization: { status: 'immunizationStatus', statusReason: 'noImmunization' },
  MedicationRequest: { status: 'medicationStatus', category: 'medicationCategory' },
  MedicationStatement: { status: 'medicationStatus', category: 'medicationCategory' },
  Observation: { status: 'resultStatus', category: 'observationCategory' },
  Procedure: { status: 'eventStatus' },
};

/** Returns the set for the codes of a type's element; undefined if there are no words for these codes. */
export function findCodeSet(type: string, element: string): CodeSet | undefined {
  return OF_TYPES[type]?.[element] ?? ELEMENTS[element];
}

/** Returns the word for a code in a set; undefined if there is none. */
export function findCodeWord(lang: WordLanguage, set: CodeSet, code: string): string | undefined {
  const keys: Readonly<Record<string, CodeTextKey>> = SETS[set];
  const key = Object.hasOwn(keys, code) ? keys[code] : undefined;
  return key === undefined ? undefined : TEXTS[lang][key];
}

/** Returns the code in a set whose word is the given word; undefined if there is none. */
export function findCodeByWord(lang: WordLanguage, set: CodeSet, word: string): string | undefined {
  return Object.keys(SETS[set]).find((code) => findCodeWord(lang, set, code) === word);
}

/** Returns the word for a Coding; undefined if this file has no word for its system or its code. */
export function findCodingWord(lang: WordLanguage, system: string, code: string): string | undefined {
  const set = SYSTEMS.get(system);
  return set === undefined ? undefined : findCodeWord(lang, set, code);
}
