/**
 * Defines compartments by the parameters that put resources into them. A Patient's compartment is its record
 * (docs/spec/decisions.md, section 5); all others follow R4: https://hl7.org/fhir/R4/compartmentdefinition.html
 */
import { type ResourceType, TYPE_NAMES, typeEntry } from './types.ts';

/** The parameter for the resource itself, which R4 writes as `{def}`. */
export const ITSELF = '_id';

/**
 * Maps a compartment's type and a member's type to reference parameters; at least one of these must name the compartment's
 * resource.
 */
const COMPARTMENTS = {
  Encounter: {
    CarePlan: ['encounter'],
    CareTeam: ['encounter'],
    Condition: ['encounter'],
    DiagnosticReport: ['encounter'],
    DocumentReference: ['encounter'],
    Encounter: [ITSELF],
    MedicationRequest: ['encounter'],
    Observation: ['encounter'],
    Procedure: ['encounter'],
  },
  RelatedPerson: {
    AllergyIntolerance: ['asserter'],
    CarePlan: ['performer'],
    CareTeam: ['participant'],
    Condition: ['asserter'],
    DocumentReference: ['author'],
    Encounter: ['participant'],
    MedicationStatement: ['source'],
    Observation: ['performer'],
    Patient: ['link'],
    Procedure: ['performer'],
    Provenance: ['agent'],
    RelatedPerson: [ITSELF],
  },
  Practitioner: {
    AllergyIntolerance: ['recorder', 'asserter'],
    CarePlan: ['performer'],
    CareTeam: ['participant'],
    Condition: ['asserter'],
    DiagnosticReport: ['performer'],
    DocumentReference: ['subject', 'author', 'authenticator'],
    Encounter: ['practitioner', 'participant'],
    Immunization: ['performer'],
    MedicationRequest: ['requester'],
    MedicationStatement: ['source'],
    Observation: ['performer'],
    Patient: ['general-practitioner'],
    Practitioner: [ITSELF],
    PractitionerRole: ['practitioner'],
    Procedure: ['performer'],
    Provenance: ['agent'],
    Specimen: ['collector'],
  },
  Device: {
    DiagnosticReport: ['subject'],
    DocumentReference: ['subject', 'author'],
    Observation: ['subject', 'device'],
    Provenance: ['agent'],
    Specimen: ['subject'],
  },
} as const satisfies Partial<Record<ResourceType, Partial<Record<ResourceType, readonly string[]>>>>;

/** A type whose resources have compartments. */
export type CompartmentType = 'Patient' | keyof typeof COMPARTMENTS;

/** All compartment types, in the order used in the CapabilityStatement. */
export const COMPARTMENT_TYPES: readonly CompartmentType[] = [
  'Patient',
  'Encounter',
  'RelatedPerson',
  'Practitioner',
  'Device',
];

/** The compartment of one resource. */
export interface Compartment {
  readonly type: CompartmentType;
  readonly id: string;
}

/** Returns whether a type's resources have compartments. */
export function isCompartmentType(type: ResourceType): type is CompartmentType {
  return COMPARTMENT_TYPES.some((each) => each === type);
}

/** Returns the parameters that put resources of a type into a compartment; none if the type is never in such a compartment. */
export function compartmentParameters(
  compartment: Exclude<CompartmentType, 'Patient'>,
  type: ResourceType,
): readonly string[] {
  const types: Partial<Record<ResourceType, readonly string[]>> = COMPARTMENTS[compartment];
  return types[type] ?? [];
}

/** Returns the types that may be in a compartment. */
export function typesInCompartment(compartment: CompartmentType): readonly ResourceType[] {
  return TYPE_NAMES.filter((type) => {
    if (compartment !== 'Patient') return compartmentParameters(compartment, type).length > 0;
    const { home } = typeEntry(type);
    return home === 'record' || home === 'either';
  });
}
