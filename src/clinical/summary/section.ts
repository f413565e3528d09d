/**
 * Lists the sections of an International Patient Summary:
 * https://hl7.org/fhir/uv/ips/STU2/StructureDefinition-Composition-uv-ips.html `classify.ts` decides which resources belong to
 * each section.
 */

export type SectionName =
  | 'problems'
  | 'allergies'
  | 'medications'
  | 'immunizations'
  | 'results'
  | 'vitalSigns'
  | 'procedures'
  | 'devices'
  | 'advanceDirectives'
  | 'functionalStatus'
  | 'pastProblems'
  | 'pregnancy'
  | 'planOfCare'
  | 'socialHistory';

/** The fixed data about a section. */
export interface Section {
  readonly name: SectionName;
  readonly title: string;
  /** LOINC code, as fixed by the profile. */
  readonly code: string;
  /** The text for an empty section; only for sections that are always present. */
  readonly empty?: string;
  /** The types of the section's entries; only for sections that are always present. */
  readonly types?: readonly string[];
  /**
   * Maximum number of entries; the newest entry for each code takes precedence. If absent, the number is unlimited, because a
   * missing entry could cause harm.
   */
  readonly cap?: number;
}

/** All sections, in the order of the document. */
export const SECTIONS: readonly Section[] = [
  { name: 'problems', title: 'Problems', code: '11450-4', empty: 'problems', types: ['Condition'] },
  {
    name: 'allergies',
    title: 'Allergies and intolerances',
    code: '48765-2',
    empty: 'allergies or intolerances',
    types: ['AllergyIntolerance'],
  },
  {
    name: 'medications',
    title: 'Medications',
    code: '10160-0',
    empty: 'medications',
    types: ['MedicationStatement', 'MedicationRequest'],
  },
  { name: 'immunizations', title: 'Immunizations', code: '11369-6', cap: 200 },
  { name: 'results', title: 'Results', code: '30954-2', cap: 200 },
  { name: 'vitalSigns', title: 'Vital signs', code: '8716-3', cap: 100 },
  { name: 'procedures', title: 'Procedures', code: '47519-4', cap: 100 },
  { name: 'devices', title: 'Medical devices', code: '46264-8' },
  { name: 'advanceDirectives', title: 'Advance directives', code: '42348-3' },
  { name: 'functionalStatus', title: 'Functional status', code: '47420-5' },
  { name: 'pastProblems', title: 'Past problems', code: '11348-0', cap: 100 },
  { name: 'pregnancy', title: 'Pregnancy', code: '10162-6', cap: 50 },
  { name: 'planOfCare', title: 'Plan of care', code: '18776-5' },
  { name: 'socialHistory', title: 'Social history', code: '29762-2', cap: 50 },
];
