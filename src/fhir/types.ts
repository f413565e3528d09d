/**
 * Lists the 26 resource types, with one entry each. This table determines routes, the CapabilityStatement, validation, search,
 * and where a resource is stored. To add a type, add an entry (docs/spec/decisions.md, section 5).
 */

/**
 * Where a type's resources are stored. `either` is for Device, which is stored in a record if it names a patient, and
 * otherwise in the directory.
 */
export type Home = 'record' | 'directory' | 'either' | 'terminology';

/** The properties that the service defines for a type, in addition to its R4 definition. */
export interface TypeEntry {
  readonly home: Home;
  /** The element whose literal reference to a Patient determines the record. Patient itself has no such element. */
  readonly owner?: 'subject' | 'patient' | 'target';
}

/** Type name → entry, in the order in which the CapabilityStatement lists the types. */
export const TYPES = {
  Patient: { home: 'record' },
  Observation: { home: 'record', owner: 'subject' },
  Condition: { home: 'record', owner: 'subject' },
  MedicationStatement: { home: 'record', owner: 'subject' },
  MedicationRequest: { home: 'record', owner: 'subject' },
  AllergyIntolerance: { home: 'record', owner: 'patient' },
  Immunization: { home: 'record', owner: 'patient' },
  Procedure: { home: 'record', owner: 'subject' },
  Encounter: { home: 'record', owner: 'subject' },
  DiagnosticReport: { home: 'record', owner: 'subject' },
  Specimen: { home: 'record', owner: 'subject' },
  DocumentReference: { home: 'record', owner: 'subject' },
  CarePlan: { home: 'record', owner: 'subject' },
  CareTeam: { home: 'record', owner: 'subject' },
  Goal: { home: 'record', owner: 'subject' },
  RelatedPerson: { home: 'record', owner: 'patient' },
  Device: { home: 'either', owner: 'patient' },
  Provenance: { home: 'record', owner: 'target' },
  Practitioner: { home: 'directory' },
  PractitionerRole: { home: 'directory' },
  Organization: { home: 'directory' },
  Location: { home: 'directory' },
  Medication: { home: 'directory' },
  CodeSystem: { home: 'terminology' },
  ValueSet: { home: 'terminology' },
  ConceptMap: { home: 'terminology' },
} as const satisfies Record<string, TypeEntry>;

/** The name of one of the 26 types. */
export type ResourceType = keyof typeof TYPES;

/** All type names. */
export const TYPE_NAMES = Object.keys(TYPES) as readonly ResourceType[];

/** Returns whether the given name is one of the 26 types. */
export function isResourceType(name: unknown): name is ResourceType {
  return typeof name === 'string' && Object.hasOwn(TYPES, name);
}

/** Returns a type's entry. */
export function typeEntry(type: ResourceType): TypeEntry {
  return TYPES[type];
}
