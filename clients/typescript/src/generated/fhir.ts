/** Generated from HL7's definitions of FHIR R4 by `npm run generate`. */

/** The resource types that the service stores, by name. */
export interface ResourceTypes {
  Patient: Patient;
  Observation: Observation;
  Condition: Condition;
  MedicationStatement: MedicationStatement;
  MedicationRequest: MedicationRequest;
  AllergyIntolerance: AllergyIntolerance;
  Immunization: Immunization;
  Procedure: Procedure;
  Encounter: Encounter;
  DiagnosticReport: DiagnosticReport;
  Specimen: Specimen;
  DocumentReference: DocumentReference;
  CarePlan: CarePlan;
  CareTeam: CareTeam;
  Goal: Goal;
  RelatedPerson: RelatedPerson;
  Device: Device;
  Provenance: Provenance;
  Practitioner: Practitioner;
  PractitionerRole: PractitionerRole;
  Organization: Organization;
  Location: Location;
  Medication: Medication;
  CodeSystem: CodeSystem;
  ValueSet: ValueSet;
  ConceptMap: ConceptMap;
}

/** Any resource of an answer. */
export type FhirResource = Patient | Observation | Condition | MedicationStatement | MedicationRequest | AllergyIntolerance | Immunization | Procedure | Encounter | DiagnosticReport | Specimen | DocumentReference | CarePlan | CareTeam | Goal | RelatedPerson | Device | Provenance | Practitioner | PractitionerRole | Organization | Location | Medication | CodeSystem | ValueSet | ConceptMap | Bundle | Binary | CapabilityStatement | Composition | OperationOutcome | Parameters;

/** The names of the search parameters of each type. */
export interface SearchParameterNames {
  Patient: 'active' | 'address' | 'address-city' | 'address-country' | 'address-postalcode' | 'address-state' | 'address-use' | 'birthdate' | 'death-date' | 'deceased' | 'email' | 'family' | 'gender' | 'general-practitioner' | 'given' | 'identifier' | 'language' | 'link' | 'name' | 'organization' | 'phone' | 'phonetic' | 'telecom' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Observation: 'based-on' | 'category' | 'code' | 'code-value-concept' | 'code-value-date' | 'code-value-quantity' | 'code-value-string' | 'combo-code' | 'combo-code-value-concept' | 'combo-code-value-quantity' | 'combo-data-absent-reason' | 'combo-value-concept' | 'combo-value-quantity' | 'component-code' | 'component-code-value-concept' | 'component-code-value-quantity' | 'component-data-absent-reason' | 'component-value-concept' | 'component-value-quantity' | 'data-absent-reason' | 'date' | 'derived-from' | 'device' | 'encounter' | 'focus' | 'has-member' | 'identifier' | 'method' | 'part-of' | 'patient' | 'performer' | 'specimen' | 'status' | 'subject' | 'value-concept' | 'value-date' | 'value-quantity' | 'value-string' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Condition: 'abatement-age' | 'abatement-date' | 'abatement-string' | 'asserter' | 'body-site' | 'category' | 'clinical-status' | 'code' | 'encounter' | 'evidence' | 'evidence-detail' | 'identifier' | 'onset-age' | 'onset-date' | 'onset-info' | 'patient' | 'recorded-date' | 'severity' | 'stage' | 'subject' | 'verification-status' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  MedicationStatement: 'category' | 'code' | 'context' | 'effective' | 'identifier' | 'medication' | 'part-of' | 'patient' | 'source' | 'status' | 'subject' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  MedicationRequest: 'authoredon' | 'category' | 'code' | 'date' | 'encounter' | 'identifier' | 'intended-dispenser' | 'intended-performer' | 'intended-performertype' | 'intent' | 'medication' | 'patient' | 'priority' | 'requester' | 'status' | 'subject' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  AllergyIntolerance: 'asserter' | 'category' | 'clinical-status' | 'code' | 'criticality' | 'date' | 'identifier' | 'last-date' | 'manifestation' | 'onset' | 'patient' | 'recorder' | 'route' | 'severity' | 'type' | 'verification-status' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Immunization: 'date' | 'identifier' | 'location' | 'lot-number' | 'manufacturer' | 'patient' | 'performer' | 'reaction' | 'reaction-date' | 'reason-code' | 'reason-reference' | 'series' | 'status' | 'status-reason' | 'target-disease' | 'vaccine-code' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Procedure: 'based-on' | 'category' | 'code' | 'date' | 'encounter' | 'identifier' | 'instantiates-canonical' | 'instantiates-uri' | 'location' | 'part-of' | 'patient' | 'performer' | 'reason-code' | 'reason-reference' | 'status' | 'subject' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Encounter: 'account' | 'appointment' | 'based-on' | 'class' | 'date' | 'diagnosis' | 'episode-of-care' | 'identifier' | 'length' | 'location' | 'location-period' | 'part-of' | 'participant' | 'participant-type' | 'patient' | 'practitioner' | 'reason-code' | 'reason-reference' | 'service-provider' | 'special-arrangement' | 'status' | 'subject' | 'type' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  DiagnosticReport: 'based-on' | 'category' | 'code' | 'conclusion' | 'date' | 'encounter' | 'identifier' | 'issued' | 'media' | 'patient' | 'performer' | 'result' | 'results-interpreter' | 'specimen' | 'status' | 'subject' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Specimen: 'accession' | 'bodysite' | 'collected' | 'collector' | 'container' | 'container-id' | 'identifier' | 'parent' | 'patient' | 'status' | 'subject' | 'type' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  DocumentReference: 'authenticator' | 'author' | 'category' | 'contenttype' | 'custodian' | 'date' | 'description' | 'encounter' | 'event' | 'facility' | 'format' | 'identifier' | 'language' | 'location' | 'patient' | 'period' | 'related' | 'relatesto' | 'relation' | 'relationship' | 'security-label' | 'setting' | 'status' | 'subject' | 'type' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  CarePlan: 'activity-code' | 'activity-date' | 'activity-reference' | 'based-on' | 'care-team' | 'category' | 'condition' | 'date' | 'encounter' | 'goal' | 'identifier' | 'instantiates-canonical' | 'instantiates-uri' | 'intent' | 'part-of' | 'patient' | 'performer' | 'replaces' | 'status' | 'subject' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  CareTeam: 'category' | 'date' | 'encounter' | 'identifier' | 'participant' | 'patient' | 'status' | 'subject' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Goal: 'achievement-status' | 'category' | 'identifier' | 'lifecycle-status' | 'patient' | 'start-date' | 'subject' | 'target-date' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  RelatedPerson: 'active' | 'address' | 'address-city' | 'address-country' | 'address-postalcode' | 'address-state' | 'address-use' | 'birthdate' | 'email' | 'gender' | 'identifier' | 'name' | 'patient' | 'phone' | 'phonetic' | 'relationship' | 'telecom' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Device: 'device-name' | 'identifier' | 'location' | 'manufacturer' | 'model' | 'organization' | 'patient' | 'status' | 'type' | 'udi-carrier' | 'udi-di' | 'url' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Provenance: 'agent' | 'agent-role' | 'agent-type' | 'entity' | 'location' | 'patient' | 'recorded' | 'signature-type' | 'target' | 'when' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Practitioner: 'active' | 'address' | 'address-city' | 'address-country' | 'address-postalcode' | 'address-state' | 'address-use' | 'communication' | 'email' | 'family' | 'gender' | 'given' | 'identifier' | 'name' | 'phone' | 'phonetic' | 'telecom' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  PractitionerRole: 'active' | 'date' | 'email' | 'endpoint' | 'identifier' | 'location' | 'organization' | 'phone' | 'practitioner' | 'role' | 'service' | 'specialty' | 'telecom' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Organization: 'active' | 'address' | 'address-city' | 'address-country' | 'address-postalcode' | 'address-state' | 'address-use' | 'endpoint' | 'identifier' | 'name' | 'partof' | 'phonetic' | 'type' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Location: 'address' | 'address-city' | 'address-country' | 'address-postalcode' | 'address-state' | 'address-use' | 'endpoint' | 'identifier' | 'name' | 'near' | 'operational-status' | 'organization' | 'partof' | 'status' | 'type' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  Medication: 'code' | 'expiration-date' | 'form' | 'identifier' | 'ingredient' | 'ingredient-code' | 'lot-number' | 'manufacturer' | 'status' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  CodeSystem: 'code' | 'content-mode' | 'context' | 'context-quantity' | 'context-type' | 'context-type-quantity' | 'context-type-value' | 'date' | 'description' | 'identifier' | 'jurisdiction' | 'language' | 'name' | 'publisher' | 'status' | 'supplements' | 'system' | 'title' | 'url' | 'version' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  ValueSet: 'code' | 'context' | 'context-quantity' | 'context-type' | 'context-type-quantity' | 'context-type-value' | 'date' | 'description' | 'expansion' | 'identifier' | 'jurisdiction' | 'name' | 'publisher' | 'reference' | 'status' | 'title' | 'url' | 'version' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
  ConceptMap: 'context' | 'context-quantity' | 'context-type' | 'context-type-quantity' | 'context-type-value' | 'date' | 'dependson' | 'description' | 'identifier' | 'jurisdiction' | 'name' | 'other' | 'product' | 'publisher' | 'source' | 'source-code' | 'source-system' | 'source-uri' | 'status' | 'target' | 'target-code' | 'target-system' | 'target-uri' | 'title' | 'url' | 'version' | '_id' | '_lastUpdated' | '_profile' | '_security' | '_source' | '_tag';
}

export type AdministrativeGenderCode = 'male' | 'female' | 'other' | 'unknown';

export type ObservationStatusCode = 'registered' | 'preliminary' | 'final' | 'amended' | 'corrected' | 'cancelled' | 'entered-in-error' | 'unknown';

export type MedicationStatementStatusCode = 'active' | 'completed' | 'entered-in-error' | 'intended' | 'stopped' | 'on-hold' | 'unknown' | 'not-taken';

export type MedicationrequestStatusCode = 'active' | 'on-hold' | 'cancelled' | 'completed' | 'entered-in-error' | 'stopped' | 'draft' | 'unknown';

export type MedicationrequestIntentCode = 'proposal' | 'plan' | 'order' | 'original-order' | 'reflex-order' | 'filler-order' | 'instance-order' | 'option';

export type RequestPriorityCode = 'routine' | 'urgent' | 'asap' | 'stat';

export type AllergyIntoleranceTypeCode = 'allergy' | 'intolerance';

export type AllergyIntoleranceCategoryCode = 'food' | 'medication' | 'environment' | 'biologic';

export type AllergyIntoleranceCriticalityCode = 'low' | 'high' | 'unable-to-assess';

export type ImmunizationStatusCode = 'completed' | 'entered-in-error' | 'not-done';

export type EventStatusCode = 'preparation' | 'in-progress' | 'not-done' | 'on-hold' | 'stopped' | 'completed' | 'entered-in-error' | 'unknown';

export type EncounterStatusCode = 'planned' | 'arrived' | 'triaged' | 'in-progress' | 'onleave' | 'finished' | 'cancelled' | 'entered-in-error' | 'unknown';

export type DiagnosticReportStatusCode = 'registered' | 'partial' | 'preliminary' | 'final' | 'amended' | 'corrected' | 'appended' | 'cancelled' | 'entered-in-error' | 'unknown';

export type SpecimenStatusCode = 'available' | 'unavailable' | 'unsatisfactory' | 'entered-in-error';

export type DocumentReferenceStatusCode = 'current' | 'superseded' | 'entered-in-error';

export type CompositionStatusCode = 'preliminary' | 'final' | 'amended' | 'entered-in-error';

export type RequestStatusCode = 'draft' | 'active' | 'on-hold' | 'revoked' | 'completed' | 'entered-in-error' | 'unknown';

export type CarePlanIntentCode = 'proposal' | 'plan' | 'order' | 'option';

export type CareTeamStatusCode = 'proposed' | 'active' | 'suspended' | 'inactive' | 'entered-in-error';

export type GoalStatusCode = 'proposed' | 'planned' | 'accepted' | 'active' | 'on-hold' | 'completed' | 'cancelled' | 'entered-in-error' | 'rejected';

export type DeviceStatusCode = 'active' | 'inactive' | 'entered-in-error' | 'unknown';

export type LocationStatusCode = 'active' | 'suspended' | 'inactive';

export type LocationModeCode = 'instance' | 'kind';

export type MedicationStatusCode = 'active' | 'inactive' | 'entered-in-error';

export type PublicationStatusCode = 'draft' | 'active' | 'retired' | 'unknown';

export type CodesystemHierarchyMeaningCode = 'grouped-by' | 'is-a' | 'part-of' | 'classified-with';

export type CodesystemContentModeCode = 'not-present' | 'example' | 'fragment' | 'complete' | 'supplement';

export type BundleTypeCode = 'document' | 'message' | 'transaction' | 'transaction-response' | 'batch' | 'batch-response' | 'history' | 'searchset' | 'collection';

export type CapabilityStatementKindCode = 'instance' | 'capability' | 'requirements';

export type FHIRVersionCode = '0.01' | '0.05' | '0.06' | '0.11' | '0.0.80' | '0.0.81' | '0.0.82' | '0.4.0' | '0.5.0' | '1.0.0' | '1.0.1' | '1.0.2' | '1.1.0' | '1.4.0' | '1.6.0' | '1.8.0' | '3.0.0' | '3.0.1' | '3.3.0' | '3.5.0' | '4.0.0' | '4.0.1';

export type V3ConfidentialityClassificationCode = 'U' | 'L' | 'M' | 'N' | 'R' | 'V';

export type IdentifierUseCode = 'usual' | 'official' | 'temp' | 'secondary' | 'old';

export type NameUseCode = 'usual' | 'official' | 'temp' | 'nickname' | 'anonymous' | 'old' | 'maiden';

export type ContactPointSystemCode = 'phone' | 'fax' | 'email' | 'pager' | 'url' | 'sms' | 'other';

export type ContactPointUseCode = 'home' | 'work' | 'temp' | 'old' | 'mobile';

export type AddressUseCode = 'home' | 'work' | 'temp' | 'old' | 'billing';

export type AddressTypeCode = 'postal' | 'physical' | 'both';

export type LinkTypeCode = 'replaced-by' | 'replaces' | 'refer' | 'seealso';

export type QuantityComparatorCode = '<' | '<=' | '>=' | '>';

export type ReactionEventSeverityCode = 'mild' | 'moderate' | 'severe';

export type EncounterLocationStatusCode = 'planned' | 'active' | 'reserved' | 'completed';

export type DocumentRelationshipTypeCode = 'replaces' | 'transforms' | 'signs' | 'appends';

export type UdiEntryTypeCode = 'barcode' | 'rfid' | 'manual' | 'card' | 'self-reported' | 'unknown';

export type DeviceNametypeCode = 'udi-label-name' | 'user-friendly-name' | 'patient-reported-name' | 'manufacturer-name' | 'model-name' | 'other';

export type ProvenanceEntityRoleCode = 'derivation' | 'revision' | 'quotation' | 'source' | 'removal';

export type DaysOfWeekCode = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';

export type FilterOperatorCode = '=' | 'is-a' | 'descendent-of' | 'is-not-a' | 'regex' | 'in' | 'not-in' | 'generalizes' | 'exists';

export type ConceptPropertyTypeCode = 'code' | 'Coding' | 'string' | 'integer' | 'boolean' | 'dateTime' | 'decimal';

export type RestfulCapabilityModeCode = 'client' | 'server';

export type DocumentModeCode = 'producer' | 'consumer';

export type CompositionAttestationModeCode = 'personal' | 'professional' | 'legal' | 'official';

export type ListModeCode = 'working' | 'snapshot' | 'changes';

export type IssueSeverityCode = 'fatal' | 'error' | 'warning' | 'information';

export type ContributorTypeCode = 'author' | 'editor' | 'reviewer' | 'endorser';

export type OperationParameterUseCode = 'in' | 'out';

export type RelatedArtifactTypeCode = 'documentation' | 'justification' | 'citation' | 'predecessor' | 'successor' | 'derived-from' | 'depends-on' | 'composed-of';

export type TriggerTypeCode = 'named-event' | 'periodic' | 'data-changed' | 'data-added' | 'data-modified' | 'data-removed' | 'data-accessed' | 'data-access-ended';

export type NarrativeStatusCode = 'generated' | 'extensions' | 'additional' | 'empty';

export type UnitsOfTimeCode = 's' | 'min' | 'h' | 'd' | 'wk' | 'mo' | 'a';

export type EventTimingCode = 'MORN' | 'MORN.early' | 'MORN.late' | 'NOON' | 'AFT' | 'AFT.early' | 'AFT.late' | 'EVE' | 'EVE.early' | 'EVE.late' | 'NIGHT' | 'PHS' | 'HS' | 'WAKE' | 'C' | 'CM' | 'CD' | 'CV' | 'AC' | 'ACM' | 'ACD' | 'ACV' | 'PC' | 'PCM' | 'PCD' | 'PCV';

export type CarePlanActivityKindCode = 'Appointment' | 'CommunicationRequest' | 'DeviceRequest' | 'MedicationRequest' | 'NutritionOrder' | 'Task' | 'ServiceRequest' | 'VisionPrescription';

export type CarePlanActivityStatusCode = 'not-started' | 'scheduled' | 'in-progress' | 'on-hold' | 'completed' | 'cancelled' | 'stopped' | 'unknown' | 'entered-in-error';

export type ConceptmapUnmappedModeCode = 'provided' | 'fixed' | 'other-map';

export type SearchEntryModeCode = 'match' | 'include' | 'outcome';

export type HttpVerbCode = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'PATCH';

export type VersioningPolicyCode = 'no-version' | 'versioned' | 'versioned-update';

export type ConditionalReadStatusCode = 'not-supported' | 'modified-since' | 'not-match' | 'full-support';

export type ConditionalDeleteStatusCode = 'not-supported' | 'single' | 'multiple';

export type ReferenceHandlingPolicyCode = 'literal' | 'logical' | 'resolves' | 'enforced' | 'local';

export type SystemRestfulInteractionCode = 'transaction' | 'batch' | 'search-system' | 'history-system';

export type SearchParamTypeCode = 'number' | 'date' | 'string' | 'token' | 'reference' | 'composite' | 'quantity' | 'uri' | 'special';

export type EventCapabilityModeCode = 'sender' | 'receiver';

export type SortDirectionCode = 'ascending' | 'descending';

export type ConceptMapEquivalenceCode = 'relatedto' | 'equivalent' | 'equal' | 'wider' | 'subsumes' | 'narrower' | 'specializes' | 'inexact' | 'unmatched' | 'disjoint';

export type TypeRestfulInteractionCode = 'read' | 'vread' | 'update' | 'patch' | 'delete' | 'history-instance' | 'history-type' | 'create' | 'search-type';

export interface Element {
  id?: string;
  extension?: Extension[];
  /** Id and extensions of a primitive element: `_birthDate` of `birthDate`. */
  [ofPrimitive: `_${string}`]: Element | (Element | null)[] | undefined;
}

export interface Resource {
  resourceType: string;
  id?: string;
  meta?: Meta;
  implicitRules?: string;
  language?: string;
  /** Id and extensions of a primitive element: `_birthDate` of `birthDate`. */
  [ofPrimitive: `_${string}`]: Element | (Element | null)[] | undefined;
}

export interface Patient extends DomainResource {
  resourceType: 'Patient';
  identifier?: Identifier[];
  active?: boolean;
  name?: HumanName[];
  telecom?: ContactPoint[];
  gender?: AdministrativeGenderCode;
  birthDate?: string;
  deceasedBoolean?: boolean;
  deceasedDateTime?: string;
  address?: Address[];
  maritalStatus?: CodeableConcept;
  multipleBirthBoolean?: boolean;
  multipleBirthInteger?: number;
  photo?: Attachment[];
  contact?: PatientContact[];
  communication?: PatientCommunication[];
  generalPractitioner?: Reference[];
  managingOrganization?: Reference;
  link?: PatientLink[];
}

export interface Observation extends DomainResource {
  resourceType: 'Observation';
  identifier?: Identifier[];
  basedOn?: Reference[];
  partOf?: Reference[];
  status: ObservationStatusCode;
  category?: CodeableConcept[];
  code: CodeableConcept;
  subject?: Reference;
  focus?: Reference[];
  encounter?: Reference;
  effectiveDateTime?: string;
  effectivePeriod?: Period;
  effectiveTiming?: Timing;
  effectiveInstant?: string;
  issued?: string;
  performer?: Reference[];
  valueQuantity?: Quantity;
  valueCodeableConcept?: CodeableConcept;
  valueString?: string;
  valueBoolean?: boolean;
  valueInteger?: number;
  valueRange?: Range;
  valueRatio?: Ratio;
  valueSampledData?: SampledData;
  valueTime?: string;
  valueDateTime?: string;
  valuePeriod?: Period;
  dataAbsentReason?: CodeableConcept;
  interpretation?: CodeableConcept[];
  note?: Annotation[];
  bodySite?: CodeableConcept;
  method?: CodeableConcept;
  specimen?: Reference;
  device?: Reference;
  referenceRange?: ObservationReferenceRange[];
  hasMember?: Reference[];
  derivedFrom?: Reference[];
  component?: ObservationComponent[];
}

export interface Condition extends DomainResource {
  resourceType: 'Condition';
  identifier?: Identifier[];
  clinicalStatus?: CodeableConcept;
  verificationStatus?: CodeableConcept;
  category?: CodeableConcept[];
  severity?: CodeableConcept;
  code?: CodeableConcept;
  bodySite?: CodeableConcept[];
  subject: Reference;
  encounter?: Reference;
  onsetDateTime?: string;
  onsetAge?: Age;
  onsetPeriod?: Period;
  onsetRange?: Range;
  onsetString?: string;
  abatementDateTime?: string;
  abatementAge?: Age;
  abatementPeriod?: Period;
  abatementRange?: Range;
  abatementString?: string;
  recordedDate?: string;
  recorder?: Reference;
  asserter?: Reference;
  stage?: ConditionStage[];
  evidence?: ConditionEvidence[];
  note?: Annotation[];
}

export interface MedicationStatement extends DomainResource {
  resourceType: 'MedicationStatement';
  identifier?: Identifier[];
  basedOn?: Reference[];
  partOf?: Reference[];
  status: MedicationStatementStatusCode;
  statusReason?: CodeableConcept[];
  category?: CodeableConcept;
  medicationCodeableConcept?: CodeableConcept;
  medicationReference?: Reference;
  subject: Reference;
  context?: Reference;
  effectiveDateTime?: string;
  effectivePeriod?: Period;
  dateAsserted?: string;
  informationSource?: Reference;
  derivedFrom?: Reference[];
  reasonCode?: CodeableConcept[];
  reasonReference?: Reference[];
  note?: Annotation[];
  dosage?: Dosage[];
}

export interface MedicationRequest extends DomainResource {
  resourceType: 'MedicationRequest';
  identifier?: Identifier[];
  status: MedicationrequestStatusCode;
  statusReason?: CodeableConcept;
  intent: MedicationrequestIntentCode;
  category?: CodeableConcept[];
  priority?: RequestPriorityCode;
  doNotPerform?: boolean;
  reportedBoolean?: boolean;
  reportedReference?: Reference;
  medicationCodeableConcept?: CodeableConcept;
  medicationReference?: Reference;
  subject: Reference;
  encounter?: Reference;
  supportingInformation?: Reference[];
  authoredOn?: string;
  requester?: Reference;
  performer?: Reference;
  performerType?: CodeableConcept;
  recorder?: Reference;
  reasonCode?: CodeableConcept[];
  reasonReference?: Reference[];
  instantiatesCanonical?: string[];
  instantiatesUri?: string[];
  basedOn?: Reference[];
  groupIdentifier?: Identifier;
  courseOfTherapyType?: CodeableConcept;
  insurance?: Reference[];
  note?: Annotation[];
  dosageInstruction?: Dosage[];
  dispenseRequest?: MedicationRequestDispenseRequest;
  substitution?: MedicationRequestSubstitution;
  priorPrescription?: Reference;
  detectedIssue?: Reference[];
  eventHistory?: Reference[];
}

export interface AllergyIntolerance extends DomainResource {
  resourceType: 'AllergyIntolerance';
  identifier?: Identifier[];
  clinicalStatus?: CodeableConcept;
  verificationStatus?: CodeableConcept;
  type?: AllergyIntoleranceTypeCode;
  category?: AllergyIntoleranceCategoryCode[];
  criticality?: AllergyIntoleranceCriticalityCode;
  code?: CodeableConcept;
  patient: Reference;
  encounter?: Reference;
  onsetDateTime?: string;
  onsetAge?: Age;
  onsetPeriod?: Period;
  onsetRange?: Range;
  onsetString?: string;
  recordedDate?: string;
  recorder?: Reference;
  asserter?: Reference;
  lastOccurrence?: string;
  note?: Annotation[];
  reaction?: AllergyIntoleranceReaction[];
}

export interface Immunization extends DomainResource {
  resourceType: 'Immunization';
  identifier?: Identifier[];
  status: ImmunizationStatusCode;
  statusReason?: CodeableConcept;
  vaccineCode: CodeableConcept;
  patient: Reference;
  encounter?: Reference;
  occurrenceDateTime?: string;
  occurrenceString?: string;
  recorded?: string;
  primarySource?: boolean;
  reportOrigin?: CodeableConcept;
  location?: Reference;
  manufacturer?: Reference;
  lotNumber?: string;
  expirationDate?: string;
  site?: CodeableConcept;
  route?: CodeableConcept;
  doseQuantity?: SimpleQuantity;
  performer?: ImmunizationPerformer[];
  note?: Annotation[];
  reasonCode?: CodeableConcept[];
  reasonReference?: Reference[];
  isSubpotent?: boolean;
  subpotentReason?: CodeableConcept[];
  education?: ImmunizationEducation[];
  programEligibility?: CodeableConcept[];
  fundingSource?: CodeableConcept;
  reaction?: ImmunizationReaction[];
  protocolApplied?: ImmunizationProtocolApplied[];
}

export interface Procedure extends DomainResource {
  resourceType: 'Procedure';
  identifier?: Identifier[];
  instantiatesCanonical?: string[];
  instantiatesUri?: string[];
  basedOn?: Reference[];
  partOf?: Reference[];
  status: EventStatusCode;
  statusReason?: CodeableConcept;
  category?: CodeableConcept;
  code?: CodeableConcept;
  subject: Reference;
  encounter?: Reference;
  performedDateTime?: string;
  performedPeriod?: Period;
  performedString?: string;
  performedAge?: Age;
  performedRange?: Range;
  recorder?: Reference;
  asserter?: Reference;
  performer?: ProcedurePerformer[];
  location?: Reference;
  reasonCode?: CodeableConcept[];
  reasonReference?: Reference[];
  bodySite?: CodeableConcept[];
  outcome?: CodeableConcept;
  report?: Reference[];
  complication?: CodeableConcept[];
  complicationDetail?: Reference[];
  followUp?: CodeableConcept[];
  note?: Annotation[];
  focalDevice?: ProcedureFocalDevice[];
  usedReference?: Reference[];
  usedCode?: CodeableConcept[];
}

export interface Encounter extends DomainResource {
  resourceType: 'Encounter';
  identifier?: Identifier[];
  status: EncounterStatusCode;
  statusHistory?: EncounterStatusHistory[];
  class: Coding;
  classHistory?: EncounterClassHistory[];
  type?: CodeableConcept[];
  serviceType?: CodeableConcept;
  priority?: CodeableConcept;
  subject?: Reference;
  episodeOfCare?: Reference[];
  basedOn?: Reference[];
  participant?: EncounterParticipant[];
  appointment?: Reference[];
  period?: Period;
  length?: Duration;
  reasonCode?: CodeableConcept[];
  reasonReference?: Reference[];
  diagnosis?: EncounterDiagnosis[];
  account?: Reference[];
  hospitalization?: EncounterHospitalization;
  location?: EncounterLocation[];
  serviceProvider?: Reference;
  partOf?: Reference;
}

export interface DiagnosticReport extends DomainResource {
  resourceType: 'DiagnosticReport';
  identifier?: Identifier[];
  basedOn?: Reference[];
  status: DiagnosticReportStatusCode;
  category?: CodeableConcept[];
  code: CodeableConcept;
  subject?: Reference;
  encounter?: Reference;
  effectiveDateTime?: string;
  effectivePeriod?: Period;
  issued?: string;
  performer?: Reference[];
  resultsInterpreter?: Reference[];
  specimen?: Reference[];
  result?: Reference[];
  imagingStudy?: Reference[];
  media?: DiagnosticReportMedia[];
  conclusion?: string;
  conclusionCode?: CodeableConcept[];
  presentedForm?: Attachment[];
}

export interface Specimen extends DomainResource {
  resourceType: 'Specimen';
  identifier?: Identifier[];
  accessionIdentifier?: Identifier;
  status?: SpecimenStatusCode;
  type?: CodeableConcept;
  subject?: Reference;
  receivedTime?: string;
  parent?: Reference[];
  request?: Reference[];
  collection?: SpecimenCollection;
  processing?: SpecimenProcessing[];
  container?: SpecimenContainer[];
  condition?: CodeableConcept[];
  note?: Annotation[];
}

export interface DocumentReference extends DomainResource {
  resourceType: 'DocumentReference';
  masterIdentifier?: Identifier;
  identifier?: Identifier[];
  status: DocumentReferenceStatusCode;
  docStatus?: CompositionStatusCode;
  type?: CodeableConcept;
  category?: CodeableConcept[];
  subject?: Reference;
  date?: string;
  author?: Reference[];
  authenticator?: Reference;
  custodian?: Reference;
  relatesTo?: DocumentReferenceRelatesTo[];
  description?: string;
  securityLabel?: CodeableConcept[];
  content: DocumentReferenceContent[];
  context?: DocumentReferenceContext;
}

export interface CarePlan extends DomainResource {
  resourceType: 'CarePlan';
  identifier?: Identifier[];
  instantiatesCanonical?: string[];
  instantiatesUri?: string[];
  basedOn?: Reference[];
  replaces?: Reference[];
  partOf?: Reference[];
  status: RequestStatusCode;
  intent: CarePlanIntentCode;
  category?: CodeableConcept[];
  title?: string;
  description?: string;
  subject: Reference;
  encounter?: Reference;
  period?: Period;
  created?: string;
  author?: Reference;
  contributor?: Reference[];
  careTeam?: Reference[];
  addresses?: Reference[];
  supportingInfo?: Reference[];
  goal?: Reference[];
  activity?: CarePlanActivity[];
  note?: Annotation[];
}

export interface CareTeam extends DomainResource {
  resourceType: 'CareTeam';
  identifier?: Identifier[];
  status?: CareTeamStatusCode;
  category?: CodeableConcept[];
  name?: string;
  subject?: Reference;
  encounter?: Reference;
  period?: Period;
  participant?: CareTeamParticipant[];
  reasonCode?: CodeableConcept[];
  reasonReference?: Reference[];
  managingOrganization?: Reference[];
  telecom?: ContactPoint[];
  note?: Annotation[];
}

export interface Goal extends DomainResource {
  resourceType: 'Goal';
  identifier?: Identifier[];
  lifecycleStatus: GoalStatusCode;
  achievementStatus?: CodeableConcept;
  category?: CodeableConcept[];
  priority?: CodeableConcept;
  description: CodeableConcept;
  subject: Reference;
  startDate?: string;
  startCodeableConcept?: CodeableConcept;
  target?: GoalTarget[];
  statusDate?: string;
  statusReason?: string;
  expressedBy?: Reference;
  addresses?: Reference[];
  note?: Annotation[];
  outcomeCode?: CodeableConcept[];
  outcomeReference?: Reference[];
}

export interface RelatedPerson extends DomainResource {
  resourceType: 'RelatedPerson';
  identifier?: Identifier[];
  active?: boolean;
  patient: Reference;
  relationship?: CodeableConcept[];
  name?: HumanName[];
  telecom?: ContactPoint[];
  gender?: AdministrativeGenderCode;
  birthDate?: string;
  address?: Address[];
  photo?: Attachment[];
  period?: Period;
  communication?: RelatedPersonCommunication[];
}

export interface Device extends DomainResource {
  resourceType: 'Device';
  identifier?: Identifier[];
  definition?: Reference;
  udiCarrier?: DeviceUdiCarrier[];
  status?: DeviceStatusCode;
  statusReason?: CodeableConcept[];
  distinctIdentifier?: string;
  manufacturer?: string;
  manufactureDate?: string;
  expirationDate?: string;
  lotNumber?: string;
  serialNumber?: string;
  deviceName?: DeviceDeviceName[];
  modelNumber?: string;
  partNumber?: string;
  type?: CodeableConcept;
  specialization?: DeviceSpecialization[];
  version?: DeviceVersion[];
  property?: DeviceProperty[];
  patient?: Reference;
  owner?: Reference;
  contact?: ContactPoint[];
  location?: Reference;
  url?: string;
  note?: Annotation[];
  safety?: CodeableConcept[];
  parent?: Reference;
}

export interface Provenance extends DomainResource {
  resourceType: 'Provenance';
  target: Reference[];
  occurredPeriod?: Period;
  occurredDateTime?: string;
  recorded: string;
  policy?: string[];
  location?: Reference;
  reason?: CodeableConcept[];
  activity?: CodeableConcept;
  agent: ProvenanceAgent[];
  entity?: ProvenanceEntity[];
  signature?: Signature[];
}

export interface Practitioner extends DomainResource {
  resourceType: 'Practitioner';
  identifier?: Identifier[];
  active?: boolean;
  name?: HumanName[];
  telecom?: ContactPoint[];
  address?: Address[];
  gender?: AdministrativeGenderCode;
  birthDate?: string;
  photo?: Attachment[];
  qualification?: PractitionerQualification[];
  communication?: CodeableConcept[];
}

export interface PractitionerRole extends DomainResource {
  resourceType: 'PractitionerRole';
  identifier?: Identifier[];
  active?: boolean;
  period?: Period;
  practitioner?: Reference;
  organization?: Reference;
  code?: CodeableConcept[];
  specialty?: CodeableConcept[];
  location?: Reference[];
  healthcareService?: Reference[];
  telecom?: ContactPoint[];
  availableTime?: PractitionerRoleAvailableTime[];
  notAvailable?: PractitionerRoleNotAvailable[];
  availabilityExceptions?: string;
  endpoint?: Reference[];
}

export interface Organization extends DomainResource {
  resourceType: 'Organization';
  identifier?: Identifier[];
  active?: boolean;
  type?: CodeableConcept[];
  name?: string;
  alias?: string[];
  telecom?: ContactPoint[];
  address?: Address[];
  partOf?: Reference;
  contact?: OrganizationContact[];
  endpoint?: Reference[];
}

export interface Location extends DomainResource {
  resourceType: 'Location';
  identifier?: Identifier[];
  status?: LocationStatusCode;
  operationalStatus?: Coding;
  name?: string;
  alias?: string[];
  description?: string;
  mode?: LocationModeCode;
  type?: CodeableConcept[];
  telecom?: ContactPoint[];
  address?: Address;
  physicalType?: CodeableConcept;
  position?: LocationPosition;
  managingOrganization?: Reference;
  partOf?: Reference;
  hoursOfOperation?: LocationHoursOfOperation[];
  availabilityExceptions?: string;
  endpoint?: Reference[];
}

export interface Medication extends DomainResource {
  resourceType: 'Medication';
  identifier?: Identifier[];
  code?: CodeableConcept;
  status?: MedicationStatusCode;
  manufacturer?: Reference;
  form?: CodeableConcept;
  amount?: Ratio;
  ingredient?: MedicationIngredient[];
  batch?: MedicationBatch;
}

export interface CodeSystem extends DomainResource {
  resourceType: 'CodeSystem';
  url?: string;
  identifier?: Identifier[];
  version?: string;
  name?: string;
  title?: string;
  status: PublicationStatusCode;
  experimental?: boolean;
  date?: string;
  publisher?: string;
  contact?: ContactDetail[];
  description?: string;
  useContext?: UsageContext[];
  jurisdiction?: CodeableConcept[];
  purpose?: string;
  copyright?: string;
  caseSensitive?: boolean;
  valueSet?: string;
  hierarchyMeaning?: CodesystemHierarchyMeaningCode;
  compositional?: boolean;
  versionNeeded?: boolean;
  content: CodesystemContentModeCode;
  supplements?: string;
  count?: number;
  filter?: CodeSystemFilter[];
  property?: CodeSystemProperty[];
  concept?: CodeSystemConcept[];
}

export interface ValueSet extends DomainResource {
  resourceType: 'ValueSet';
  url?: string;
  identifier?: Identifier[];
  version?: string;
  name?: string;
  title?: string;
  status: PublicationStatusCode;
  experimental?: boolean;
  date?: string;
  publisher?: string;
  contact?: ContactDetail[];
  description?: string;
  useContext?: UsageContext[];
  jurisdiction?: CodeableConcept[];
  immutable?: boolean;
  purpose?: string;
  copyright?: string;
  compose?: ValueSetCompose;
  expansion?: ValueSetExpansion;
}

export interface ConceptMap extends DomainResource {
  resourceType: 'ConceptMap';
  url?: string;
  identifier?: Identifier;
  version?: string;
  name?: string;
  title?: string;
  status: PublicationStatusCode;
  experimental?: boolean;
  date?: string;
  publisher?: string;
  contact?: ContactDetail[];
  description?: string;
  useContext?: UsageContext[];
  jurisdiction?: CodeableConcept[];
  purpose?: string;
  copyright?: string;
  sourceUri?: string;
  sourceCanonical?: string;
  targetUri?: string;
  targetCanonical?: string;
  group?: ConceptMapGroup[];
}

export interface Bundle<T = FhirResource> extends Resource {
  resourceType: 'Bundle';
  identifier?: Identifier;
  type: BundleTypeCode;
  timestamp?: string;
  total?: number;
  link?: BundleLink[];
  entry?: BundleEntry<T>[];
  signature?: Signature;
}

export interface Binary extends Resource {
  resourceType: 'Binary';
  contentType: string;
  securityContext?: Reference;
  data?: string;
}

export interface CapabilityStatement extends DomainResource {
  resourceType: 'CapabilityStatement';
  url?: string;
  version?: string;
  name?: string;
  title?: string;
  status: PublicationStatusCode;
  experimental?: boolean;
  date: string;
  publisher?: string;
  contact?: ContactDetail[];
  description?: string;
  useContext?: UsageContext[];
  jurisdiction?: CodeableConcept[];
  purpose?: string;
  copyright?: string;
  kind: CapabilityStatementKindCode;
  instantiates?: string[];
  imports?: string[];
  software?: CapabilityStatementSoftware;
  implementation?: CapabilityStatementImplementation;
  fhirVersion: FHIRVersionCode;
  format: string[];
  patchFormat?: string[];
  implementationGuide?: string[];
  rest?: CapabilityStatementRest[];
  messaging?: CapabilityStatementMessaging[];
  document?: CapabilityStatementDocument[];
}

export interface Composition extends DomainResource {
  resourceType: 'Composition';
  identifier?: Identifier;
  status: CompositionStatusCode;
  type: CodeableConcept;
  category?: CodeableConcept[];
  subject?: Reference;
  encounter?: Reference;
  date: string;
  author: Reference[];
  title: string;
  confidentiality?: V3ConfidentialityClassificationCode;
  attester?: CompositionAttester[];
  custodian?: Reference;
  relatesTo?: CompositionRelatesTo[];
  event?: CompositionEvent[];
  section?: CompositionSection[];
}

export interface OperationOutcome extends DomainResource {
  resourceType: 'OperationOutcome';
  issue: OperationOutcomeIssue[];
}

export interface Parameters extends Resource {
  resourceType: 'Parameters';
  parameter?: ParametersParameter[];
}

export interface Extension extends Element {
  url: string;
  valueBase64Binary?: string;
  valueBoolean?: boolean;
  valueCanonical?: string;
  valueCode?: string;
  valueDate?: string;
  valueDateTime?: string;
  valueDecimal?: number;
  valueId?: string;
  valueInstant?: string;
  valueInteger?: number;
  valueMarkdown?: string;
  valueOid?: string;
  valuePositiveInt?: number;
  valueString?: string;
  valueTime?: string;
  valueUnsignedInt?: number;
  valueUri?: string;
  valueUrl?: string;
  valueUuid?: string;
  valueAddress?: Address;
  valueAge?: Age;
  valueAnnotation?: Annotation;
  valueAttachment?: Attachment;
  valueCodeableConcept?: CodeableConcept;
  valueCoding?: Coding;
  valueContactPoint?: ContactPoint;
  valueCount?: Count;
  valueDistance?: Distance;
  valueDuration?: Duration;
  valueHumanName?: HumanName;
  valueIdentifier?: Identifier;
  valueMoney?: Money;
  valuePeriod?: Period;
  valueQuantity?: Quantity;
  valueRange?: Range;
  valueRatio?: Ratio;
  valueReference?: Reference;
  valueSampledData?: SampledData;
  valueSignature?: Signature;
  valueTiming?: Timing;
  valueContactDetail?: ContactDetail;
  valueContributor?: Contributor;
  valueDataRequirement?: DataRequirement;
  valueExpression?: Expression;
  valueParameterDefinition?: ParameterDefinition;
  valueRelatedArtifact?: RelatedArtifact;
  valueTriggerDefinition?: TriggerDefinition;
  valueUsageContext?: UsageContext;
  valueDosage?: Dosage;
  valueMeta?: Meta;
}

export interface Meta extends Element {
  versionId?: string;
  lastUpdated?: string;
  source?: string;
  profile?: string[];
  security?: Coding[];
  tag?: Coding[];
}

export interface DomainResource extends Resource {
  text?: Narrative;
  contained?: FhirResource[];
  extension?: Extension[];
  modifierExtension?: Extension[];
}

export interface Identifier extends Element {
  use?: IdentifierUseCode;
  type?: CodeableConcept;
  system?: string;
  value?: string;
  period?: Period;
  assigner?: Reference;
}

export interface HumanName extends Element {
  use?: NameUseCode;
  text?: string;
  family?: string;
  given?: string[];
  prefix?: string[];
  suffix?: string[];
  period?: Period;
}

export interface ContactPoint extends Element {
  system?: ContactPointSystemCode;
  value?: string;
  use?: ContactPointUseCode;
  rank?: number;
  period?: Period;
}

export interface Address extends Element {
  use?: AddressUseCode;
  type?: AddressTypeCode;
  text?: string;
  line?: string[];
  city?: string;
  district?: string;
  state?: string;
  postalCode?: string;
  country?: string;
  period?: Period;
}

export interface CodeableConcept extends Element {
  coding?: Coding[];
  text?: string;
}

export interface Attachment extends Element {
  contentType?: string;
  language?: string;
  data?: string;
  url?: string;
  size?: number;
  hash?: string;
  title?: string;
  creation?: string;
}

export interface PatientContact extends BackboneElement {
  relationship?: CodeableConcept[];
  name?: HumanName;
  telecom?: ContactPoint[];
  address?: Address;
  gender?: AdministrativeGenderCode;
  organization?: Reference;
  period?: Period;
}

export interface PatientCommunication extends BackboneElement {
  language: CodeableConcept;
  preferred?: boolean;
}

export interface Reference extends Element {
  reference?: string;
  type?: string;
  identifier?: Identifier;
  display?: string;
}

export interface PatientLink extends BackboneElement {
  other: Reference;
  type: LinkTypeCode;
}

export interface Period extends Element {
  start?: string;
  end?: string;
}

export interface Timing extends BackboneElement {
  event?: string[];
  repeat?: TimingRepeat;
  code?: CodeableConcept;
}

export interface Quantity extends Element {
  value?: number;
  comparator?: QuantityComparatorCode;
  unit?: string;
  system?: string;
  code?: string;
}

export interface Range extends Element {
  low?: SimpleQuantity;
  high?: SimpleQuantity;
}

export interface Ratio extends Element {
  numerator?: Quantity;
  denominator?: Quantity;
}

export interface SampledData extends Element {
  origin: SimpleQuantity;
  period: number;
  factor?: number;
  lowerLimit?: number;
  upperLimit?: number;
  dimensions: number;
  data?: string;
}

export interface Annotation extends Element {
  authorReference?: Reference;
  authorString?: string;
  time?: string;
  text: string;
}

export interface ObservationReferenceRange extends BackboneElement {
  low?: SimpleQuantity;
  high?: SimpleQuantity;
  type?: CodeableConcept;
  appliesTo?: CodeableConcept[];
  age?: Range;
  text?: string;
}

export interface ObservationComponent extends BackboneElement {
  code: CodeableConcept;
  valueQuantity?: Quantity;
  valueCodeableConcept?: CodeableConcept;
  valueString?: string;
  valueBoolean?: boolean;
  valueInteger?: number;
  valueRange?: Range;
  valueRatio?: Ratio;
  valueSampledData?: SampledData;
  valueTime?: string;
  valueDateTime?: string;
  valuePeriod?: Period;
  dataAbsentReason?: CodeableConcept;
  interpretation?: CodeableConcept[];
  referenceRange?: ObservationReferenceRange[];
}

export interface Age extends Quantity {

}

export interface ConditionStage extends BackboneElement {
  summary?: CodeableConcept;
  assessment?: Reference[];
  type?: CodeableConcept;
}

export interface ConditionEvidence extends BackboneElement {
  code?: CodeableConcept[];
  detail?: Reference[];
}

export interface Dosage extends BackboneElement {
  sequence?: number;
  text?: string;
  additionalInstruction?: CodeableConcept[];
  patientInstruction?: string;
  timing?: Timing;
  asNeededBoolean?: boolean;
  asNeededCodeableConcept?: CodeableConcept;
  site?: CodeableConcept;
  route?: CodeableConcept;
  method?: CodeableConcept;
  doseAndRate?: DosageDoseAndRate[];
  maxDosePerPeriod?: Ratio;
  maxDosePerAdministration?: SimpleQuantity;
  maxDosePerLifetime?: SimpleQuantity;
}

export interface MedicationRequestDispenseRequest extends BackboneElement {
  initialFill?: MedicationRequestDispenseRequestInitialFill;
  dispenseInterval?: Duration;
  validityPeriod?: Period;
  numberOfRepeatsAllowed?: number;
  quantity?: SimpleQuantity;
  expectedSupplyDuration?: Duration;
  performer?: Reference;
}

export interface MedicationRequestSubstitution extends BackboneElement {
  allowedBoolean?: boolean;
  allowedCodeableConcept?: CodeableConcept;
  reason?: CodeableConcept;
}

export interface AllergyIntoleranceReaction extends BackboneElement {
  substance?: CodeableConcept;
  manifestation: CodeableConcept[];
  description?: string;
  onset?: string;
  severity?: ReactionEventSeverityCode;
  exposureRoute?: CodeableConcept;
  note?: Annotation[];
}

export interface SimpleQuantity extends Element {
  value?: number;
  comparator?: QuantityComparatorCode;
  unit?: string;
  system?: string;
  code?: string;
}

export interface ImmunizationPerformer extends BackboneElement {
  function?: CodeableConcept;
  actor: Reference;
}

export interface ImmunizationEducation extends BackboneElement {
  documentType?: string;
  reference?: string;
  publicationDate?: string;
  presentationDate?: string;
}

export interface ImmunizationReaction extends BackboneElement {
  date?: string;
  detail?: Reference;
  reported?: boolean;
}

export interface ImmunizationProtocolApplied extends BackboneElement {
  series?: string;
  authority?: Reference;
  targetDisease?: CodeableConcept[];
  doseNumberPositiveInt?: number;
  doseNumberString?: string;
  seriesDosesPositiveInt?: number;
  seriesDosesString?: string;
}

export interface ProcedurePerformer extends BackboneElement {
  function?: CodeableConcept;
  actor: Reference;
  onBehalfOf?: Reference;
}

export interface ProcedureFocalDevice extends BackboneElement {
  action?: CodeableConcept;
  manipulated: Reference;
}

export interface EncounterStatusHistory extends BackboneElement {
  status: EncounterStatusCode;
  period: Period;
}

export interface Coding extends Element {
  system?: string;
  version?: string;
  code?: string;
  display?: string;
  userSelected?: boolean;
}

export interface EncounterClassHistory extends BackboneElement {
  class: Coding;
  period: Period;
}

export interface EncounterParticipant extends BackboneElement {
  type?: CodeableConcept[];
  period?: Period;
  individual?: Reference;
}

export interface Duration extends Quantity {

}

export interface EncounterDiagnosis extends BackboneElement {
  condition: Reference;
  use?: CodeableConcept;
  rank?: number;
}

export interface EncounterHospitalization extends BackboneElement {
  preAdmissionIdentifier?: Identifier;
  origin?: Reference;
  admitSource?: CodeableConcept;
  reAdmission?: CodeableConcept;
  dietPreference?: CodeableConcept[];
  specialCourtesy?: CodeableConcept[];
  specialArrangement?: CodeableConcept[];
  destination?: Reference;
  dischargeDisposition?: CodeableConcept;
}

export interface EncounterLocation extends BackboneElement {
  location: Reference;
  status?: EncounterLocationStatusCode;
  physicalType?: CodeableConcept;
  period?: Period;
}

export interface DiagnosticReportMedia extends BackboneElement {
  comment?: string;
  link: Reference;
}

export interface SpecimenCollection extends BackboneElement {
  collector?: Reference;
  collectedDateTime?: string;
  collectedPeriod?: Period;
  duration?: Duration;
  quantity?: SimpleQuantity;
  method?: CodeableConcept;
  bodySite?: CodeableConcept;
  fastingStatusCodeableConcept?: CodeableConcept;
  fastingStatusDuration?: Duration;
}

export interface SpecimenProcessing extends BackboneElement {
  description?: string;
  procedure?: CodeableConcept;
  additive?: Reference[];
  timeDateTime?: string;
  timePeriod?: Period;
}

export interface SpecimenContainer extends BackboneElement {
  identifier?: Identifier[];
  description?: string;
  type?: CodeableConcept;
  capacity?: SimpleQuantity;
  specimenQuantity?: SimpleQuantity;
  additiveCodeableConcept?: CodeableConcept;
  additiveReference?: Reference;
}

export interface DocumentReferenceRelatesTo extends BackboneElement {
  code: DocumentRelationshipTypeCode;
  target: Reference;
}

export interface DocumentReferenceContent extends BackboneElement {
  attachment: Attachment;
  format?: Coding;
}

export interface DocumentReferenceContext extends BackboneElement {
  encounter?: Reference[];
  event?: CodeableConcept[];
  period?: Period;
  facilityType?: CodeableConcept;
  practiceSetting?: CodeableConcept;
  sourcePatientInfo?: Reference;
  related?: Reference[];
}

export interface CarePlanActivity extends BackboneElement {
  outcomeCodeableConcept?: CodeableConcept[];
  outcomeReference?: Reference[];
  progress?: Annotation[];
  reference?: Reference;
  detail?: CarePlanActivityDetail;
}

export interface CareTeamParticipant extends BackboneElement {
  role?: CodeableConcept[];
  member?: Reference;
  onBehalfOf?: Reference;
  period?: Period;
}

export interface GoalTarget extends BackboneElement {
  measure?: CodeableConcept;
  detailQuantity?: Quantity;
  detailRange?: Range;
  detailCodeableConcept?: CodeableConcept;
  detailString?: string;
  detailBoolean?: boolean;
  detailInteger?: number;
  detailRatio?: Ratio;
  dueDate?: string;
  dueDuration?: Duration;
}

export interface RelatedPersonCommunication extends BackboneElement {
  language: CodeableConcept;
  preferred?: boolean;
}

export interface DeviceUdiCarrier extends BackboneElement {
  deviceIdentifier?: string;
  issuer?: string;
  jurisdiction?: string;
  carrierAIDC?: string;
  carrierHRF?: string;
  entryType?: UdiEntryTypeCode;
}

export interface DeviceDeviceName extends BackboneElement {
  name: string;
  type: DeviceNametypeCode;
}

export interface DeviceSpecialization extends BackboneElement {
  systemType: CodeableConcept;
  version?: string;
}

export interface DeviceVersion extends BackboneElement {
  type?: CodeableConcept;
  component?: Identifier;
  value: string;
}

export interface DeviceProperty extends BackboneElement {
  type: CodeableConcept;
  valueQuantity?: Quantity[];
  valueCode?: CodeableConcept[];
}

export interface ProvenanceAgent extends BackboneElement {
  type?: CodeableConcept;
  role?: CodeableConcept[];
  who: Reference;
  onBehalfOf?: Reference;
}

export interface ProvenanceEntity extends BackboneElement {
  role: ProvenanceEntityRoleCode;
  what: Reference;
  agent?: ProvenanceAgent[];
}

export interface Signature extends Element {
  type: Coding[];
  when: string;
  who: Reference;
  onBehalfOf?: Reference;
  targetFormat?: string;
  sigFormat?: string;
  data?: string;
}

export interface PractitionerQualification extends BackboneElement {
  identifier?: Identifier[];
  code: CodeableConcept;
  period?: Period;
  issuer?: Reference;
}

export interface PractitionerRoleAvailableTime extends BackboneElement {
  daysOfWeek?: DaysOfWeekCode[];
  allDay?: boolean;
  availableStartTime?: string;
  availableEndTime?: string;
}

export interface PractitionerRoleNotAvailable extends BackboneElement {
  description: string;
  during?: Period;
}

export interface OrganizationContact extends BackboneElement {
  purpose?: CodeableConcept;
  name?: HumanName;
  telecom?: ContactPoint[];
  address?: Address;
}

export interface LocationPosition extends BackboneElement {
  longitude: number;
  latitude: number;
  altitude?: number;
}

export interface LocationHoursOfOperation extends BackboneElement {
  daysOfWeek?: DaysOfWeekCode[];
  allDay?: boolean;
  openingTime?: string;
  closingTime?: string;
}

export interface MedicationIngredient extends BackboneElement {
  itemCodeableConcept?: CodeableConcept;
  itemReference?: Reference;
  isActive?: boolean;
  strength?: Ratio;
}

export interface MedicationBatch extends BackboneElement {
  lotNumber?: string;
  expirationDate?: string;
}

export interface ContactDetail extends Element {
  name?: string;
  telecom?: ContactPoint[];
}

export interface UsageContext extends Element {
  code: Coding;
  valueCodeableConcept?: CodeableConcept;
  valueQuantity?: Quantity;
  valueRange?: Range;
  valueReference?: Reference;
}

export interface CodeSystemFilter extends BackboneElement {
  code: string;
  description?: string;
  operator: FilterOperatorCode[];
  value: string;
}

export interface CodeSystemProperty extends BackboneElement {
  code: string;
  uri?: string;
  description?: string;
  type: ConceptPropertyTypeCode;
}

export interface CodeSystemConcept extends BackboneElement {
  code: string;
  display?: string;
  definition?: string;
  designation?: CodeSystemConceptDesignation[];
  property?: CodeSystemConceptProperty[];
  concept?: CodeSystemConcept[];
}

export interface ValueSetCompose extends BackboneElement {
  lockedDate?: string;
  inactive?: boolean;
  include: ValueSetComposeInclude[];
  exclude?: ValueSetComposeInclude[];
}

export interface ValueSetExpansion extends BackboneElement {
  identifier?: string;
  timestamp: string;
  total?: number;
  offset?: number;
  parameter?: ValueSetExpansionParameter[];
  contains?: ValueSetExpansionContains[];
}

export interface ConceptMapGroup extends BackboneElement {
  source?: string;
  sourceVersion?: string;
  target?: string;
  targetVersion?: string;
  element: ConceptMapGroupElement[];
  unmapped?: ConceptMapGroupUnmapped;
}

export interface BundleLink extends BackboneElement {
  relation: string;
  url: string;
}

export interface BundleEntry<T = FhirResource> extends BackboneElement {
  link?: BundleLink[];
  fullUrl?: string;
  resource?: T;
  search?: BundleEntrySearch;
  request?: BundleEntryRequest;
  response?: BundleEntryResponse;
}

export interface CapabilityStatementSoftware extends BackboneElement {
  name: string;
  version?: string;
  releaseDate?: string;
}

export interface CapabilityStatementImplementation extends BackboneElement {
  description: string;
  url?: string;
  custodian?: Reference;
}

export interface CapabilityStatementRest extends BackboneElement {
  mode: RestfulCapabilityModeCode;
  documentation?: string;
  security?: CapabilityStatementRestSecurity;
  resource?: CapabilityStatementRestResource[];
  interaction?: CapabilityStatementRestInteraction[];
  searchParam?: CapabilityStatementRestResourceSearchParam[];
  operation?: CapabilityStatementRestResourceOperation[];
  compartment?: string[];
}

export interface CapabilityStatementMessaging extends BackboneElement {
  endpoint?: CapabilityStatementMessagingEndpoint[];
  reliableCache?: number;
  documentation?: string;
  supportedMessage?: CapabilityStatementMessagingSupportedMessage[];
}

export interface CapabilityStatementDocument extends BackboneElement {
  mode: DocumentModeCode;
  documentation?: string;
  profile: string;
}

export interface CompositionAttester extends BackboneElement {
  mode: CompositionAttestationModeCode;
  time?: string;
  party?: Reference;
}

export interface CompositionRelatesTo extends BackboneElement {
  code: DocumentRelationshipTypeCode;
  targetIdentifier?: Identifier;
  targetReference?: Reference;
}

export interface CompositionEvent extends BackboneElement {
  code?: CodeableConcept[];
  period?: Period;
  detail?: Reference[];
}

export interface CompositionSection extends BackboneElement {
  title?: string;
  code?: CodeableConcept;
  author?: Reference[];
  focus?: Reference;
  text?: Narrative;
  mode?: ListModeCode;
  orderedBy?: CodeableConcept;
  entry?: Reference[];
  emptyReason?: CodeableConcept;
  section?: CompositionSection[];
}

export interface OperationOutcomeIssue extends BackboneElement {
  severity: IssueSeverityCode;
  code: string;
  details?: CodeableConcept;
  diagnostics?: string;
  location?: string[];
  expression?: string[];
}

export interface ParametersParameter extends BackboneElement {
  name: string;
  valueBase64Binary?: string;
  valueBoolean?: boolean;
  valueCanonical?: string;
  valueCode?: string;
  valueDate?: string;
  valueDateTime?: string;
  valueDecimal?: number;
  valueId?: string;
  valueInstant?: string;
  valueInteger?: number;
  valueMarkdown?: string;
  valueOid?: string;
  valuePositiveInt?: number;
  valueString?: string;
  valueTime?: string;
  valueUnsignedInt?: number;
  valueUri?: string;
  valueUrl?: string;
  valueUuid?: string;
  valueAddress?: Address;
  valueAge?: Age;
  valueAnnotation?: Annotation;
  valueAttachment?: Attachment;
  valueCodeableConcept?: CodeableConcept;
  valueCoding?: Coding;
  valueContactPoint?: ContactPoint;
  valueCount?: Count;
  valueDistance?: Distance;
  valueDuration?: Duration;
  valueHumanName?: HumanName;
  valueIdentifier?: Identifier;
  valueMoney?: Money;
  valuePeriod?: Period;
  valueQuantity?: Quantity;
  valueRange?: Range;
  valueRatio?: Ratio;
  valueReference?: Reference;
  valueSampledData?: SampledData;
  valueSignature?: Signature;
  valueTiming?: Timing;
  valueContactDetail?: ContactDetail;
  valueContributor?: Contributor;
  valueDataRequirement?: DataRequirement;
  valueExpression?: Expression;
  valueParameterDefinition?: ParameterDefinition;
  valueRelatedArtifact?: RelatedArtifact;
  valueTriggerDefinition?: TriggerDefinition;
  valueUsageContext?: UsageContext;
  valueDosage?: Dosage;
  valueMeta?: Meta;
  resource?: FhirResource;
  part?: ParametersParameter[];
}

export interface Count extends Quantity {

}

export interface Distance extends Quantity {

}

export interface Money extends Element {
  value?: number;
  currency?: string;
}

export interface Contributor extends Element {
  type: ContributorTypeCode;
  name: string;
  contact?: ContactDetail[];
}

export interface DataRequirement extends Element {
  type: string;
  profile?: string[];
  subjectCodeableConcept?: CodeableConcept;
  subjectReference?: Reference;
  mustSupport?: string[];
  codeFilter?: DataRequirementCodeFilter[];
  dateFilter?: DataRequirementDateFilter[];
  limit?: number;
  sort?: DataRequirementSort[];
}

export interface Expression extends Element {
  description?: string;
  name?: string;
  language: string;
  expression?: string;
  reference?: string;
}

export interface ParameterDefinition extends Element {
  name?: string;
  use: OperationParameterUseCode;
  min?: number;
  max?: string;
  documentation?: string;
  type: string;
  profile?: string;
}

export interface RelatedArtifact extends Element {
  type: RelatedArtifactTypeCode;
  label?: string;
  display?: string;
  citation?: string;
  url?: string;
  document?: Attachment;
  resource?: string;
}

export interface TriggerDefinition extends Element {
  type: TriggerTypeCode;
  name?: string;
  timingTiming?: Timing;
  timingReference?: Reference;
  timingDate?: string;
  timingDateTime?: string;
  data?: DataRequirement[];
  condition?: Expression;
}

export interface Narrative extends Element {
  status: NarrativeStatusCode;
  div: string;
}

export interface BackboneElement extends Element {
  modifierExtension?: Extension[];
}

export interface TimingRepeat extends Element {
  boundsDuration?: Duration;
  boundsRange?: Range;
  boundsPeriod?: Period;
  count?: number;
  countMax?: number;
  duration?: number;
  durationMax?: number;
  durationUnit?: UnitsOfTimeCode;
  frequency?: number;
  frequencyMax?: number;
  period?: number;
  periodMax?: number;
  periodUnit?: UnitsOfTimeCode;
  dayOfWeek?: DaysOfWeekCode[];
  timeOfDay?: string[];
  when?: EventTimingCode[];
  offset?: number;
}

export interface DosageDoseAndRate extends Element {
  type?: CodeableConcept;
  doseRange?: Range;
  doseSimpleQuantity?: SimpleQuantity;
  rateRatio?: Ratio;
  rateRange?: Range;
  rateSimpleQuantity?: SimpleQuantity;
}

export interface MedicationRequestDispenseRequestInitialFill extends BackboneElement {
  quantity?: SimpleQuantity;
  duration?: Duration;
}

export interface CarePlanActivityDetail extends BackboneElement {
  kind?: CarePlanActivityKindCode;
  instantiatesCanonical?: string[];
  instantiatesUri?: string[];
  code?: CodeableConcept;
  reasonCode?: CodeableConcept[];
  reasonReference?: Reference[];
  goal?: Reference[];
  status: CarePlanActivityStatusCode;
  statusReason?: CodeableConcept;
  doNotPerform?: boolean;
  scheduledTiming?: Timing;
  scheduledPeriod?: Period;
  scheduledString?: string;
  location?: Reference;
  performer?: Reference[];
  productCodeableConcept?: CodeableConcept;
  productReference?: Reference;
  dailyAmount?: SimpleQuantity;
  quantity?: SimpleQuantity;
  description?: string;
}

export interface CodeSystemConceptDesignation extends BackboneElement {
  language?: string;
  use?: Coding;
  value: string;
}

export interface CodeSystemConceptProperty extends BackboneElement {
  code: string;
  valueCode?: string;
  valueCoding?: Coding;
  valueString?: string;
  valueInteger?: number;
  valueBoolean?: boolean;
  valueDateTime?: string;
  valueDecimal?: number;
}

export interface ValueSetComposeInclude extends BackboneElement {
  system?: string;
  version?: string;
  concept?: ValueSetComposeIncludeConcept[];
  filter?: ValueSetComposeIncludeFilter[];
  valueSet?: string[];
}

export interface ValueSetExpansionParameter extends BackboneElement {
  name: string;
  valueString?: string;
  valueBoolean?: boolean;
  valueInteger?: number;
  valueDecimal?: number;
  valueUri?: string;
  valueCode?: string;
  valueDateTime?: string;
}

export interface ValueSetExpansionContains extends BackboneElement {
  system?: string;
  abstract?: boolean;
  inactive?: boolean;
  version?: string;
  code?: string;
  display?: string;
  designation?: ValueSetComposeIncludeConceptDesignation[];
  contains?: ValueSetExpansionContains[];
}

export interface ConceptMapGroupElement extends BackboneElement {
  code?: string;
  display?: string;
  target?: ConceptMapGroupElementTarget[];
}

export interface ConceptMapGroupUnmapped extends BackboneElement {
  mode: ConceptmapUnmappedModeCode;
  code?: string;
  display?: string;
  url?: string;
}

export interface BundleEntrySearch extends BackboneElement {
  mode?: SearchEntryModeCode;
  score?: number;
}

export interface BundleEntryRequest extends BackboneElement {
  method: HttpVerbCode;
  url: string;
  ifNoneMatch?: string;
  ifModifiedSince?: string;
  ifMatch?: string;
  ifNoneExist?: string;
}

export interface BundleEntryResponse extends BackboneElement {
  status: string;
  location?: string;
  etag?: string;
  lastModified?: string;
  outcome?: FhirResource;
}

export interface CapabilityStatementRestSecurity extends BackboneElement {
  cors?: boolean;
  service?: CodeableConcept[];
  description?: string;
}

export interface CapabilityStatementRestResource extends BackboneElement {
  type: string;
  profile?: string;
  supportedProfile?: string[];
  documentation?: string;
  interaction?: CapabilityStatementRestResourceInteraction[];
  versioning?: VersioningPolicyCode;
  readHistory?: boolean;
  updateCreate?: boolean;
  conditionalCreate?: boolean;
  conditionalRead?: ConditionalReadStatusCode;
  conditionalUpdate?: boolean;
  conditionalDelete?: ConditionalDeleteStatusCode;
  referencePolicy?: ReferenceHandlingPolicyCode[];
  searchInclude?: string[];
  searchRevInclude?: string[];
  searchParam?: CapabilityStatementRestResourceSearchParam[];
  operation?: CapabilityStatementRestResourceOperation[];
}

export interface CapabilityStatementRestInteraction extends BackboneElement {
  code: SystemRestfulInteractionCode;
  documentation?: string;
}

export interface CapabilityStatementRestResourceSearchParam extends BackboneElement {
  name: string;
  definition?: string;
  type: SearchParamTypeCode;
  documentation?: string;
}

export interface CapabilityStatementRestResourceOperation extends BackboneElement {
  name: string;
  definition: string;
  documentation?: string;
}

export interface CapabilityStatementMessagingEndpoint extends BackboneElement {
  protocol: Coding;
  address: string;
}

export interface CapabilityStatementMessagingSupportedMessage extends BackboneElement {
  mode: EventCapabilityModeCode;
  definition: string;
}

export interface DataRequirementCodeFilter extends Element {
  path?: string;
  searchParam?: string;
  valueSet?: string;
  code?: Coding[];
}

export interface DataRequirementDateFilter extends Element {
  path?: string;
  searchParam?: string;
  valueDateTime?: string;
  valuePeriod?: Period;
  valueDuration?: Duration;
}

export interface DataRequirementSort extends Element {
  path: string;
  direction: SortDirectionCode;
}

export interface ValueSetComposeIncludeConcept extends BackboneElement {
  code: string;
  display?: string;
  designation?: ValueSetComposeIncludeConceptDesignation[];
}

export interface ValueSetComposeIncludeFilter extends BackboneElement {
  property: string;
  op: FilterOperatorCode;
  value: string;
}

export interface ValueSetComposeIncludeConceptDesignation extends BackboneElement {
  language?: string;
  use?: Coding;
  value: string;
}

export interface ConceptMapGroupElementTarget extends BackboneElement {
  code?: string;
  display?: string;
  equivalence: ConceptMapEquivalenceCode;
  comment?: string;
  dependsOn?: ConceptMapGroupElementTargetDependsOn[];
  product?: ConceptMapGroupElementTargetDependsOn[];
}

export interface CapabilityStatementRestResourceInteraction extends BackboneElement {
  code: TypeRestfulInteractionCode;
  documentation?: string;
}

export interface ConceptMapGroupElementTargetDependsOn extends BackboneElement {
  property: string;
  system?: string;
  value: string;
  display?: string;
}
