/** The documentation's groups with their descriptions, in order of importance to readers. */
export const TAG_TEXTS = {
  Patients: 'The people whose records a project keeps, with their demographics.',
  'FHIR: resources':
    'Read, create, update, patch and delete single FHIR R4 resources; transactions and batches.',
  'FHIR: search': 'Search by R4’s parameters, in the URL or as a form, also within a compartment.',
  'FHIR: history': 'All versions of one resource, of one type, or of all resources.',
  'FHIR: operations': 'R4’s operations, such as `$everything`, `$summary` and `$validate`.',
  Observations: 'Measurements, laboratory results, symptoms and other findings.',
  Conditions: 'Diagnoses and problems.',
  Medications: 'Medicines that a patient takes or took.',
  Documents: 'Letters, reports and other files, with their bytes.',
  'Laboratory results': 'Import of laboratory reports: HL7 v2, CSV or JSON.',
  'Timeline and context':
    'A record as a timeline, as series and patterns of values, and as text for a language model.',
  Terminology: 'LOINC and ATC codes, medical concepts, and FHIR’s terminology operations.',
  'Patients and consent':
    'Patients and their representatives decide who reads a record: invitations, grants, access requests, proposals, shared links and the access log.',
  OAuth: 'OAuth 2.1, SMART App Launch and OpenID Connect: how applications get access.',
  Webhooks: 'Endpoints that receive signed events, and their deliveries.',
  Sandbox: 'A project’s synthetic data: its contents, and how to reset it.',
  Projects: 'An organization’s projects, and their requests.',
  Audit: 'Events of the log, who read what, and signed exports that can be checked elsewhere.',
  'API keys': 'A project’s API keys, for the sandbox or for production.',
  Applications: 'A project’s OAuth applications: registration, secrets, branding.',
  Organizations: 'Organizations and their members.',
  Operations: 'For the installation’s operators: read models, jobs, processes, sizes, instances.',
  Service: 'Health, metrics, this document and the index.',
  'Take-backs':
    'Takes back everything that a source system, a key, an application or an AI wrote, and can undo that. For a project’s owners and admins.',
  'Single sign-on': 'How an organization’s members sign in with its own OpenID provider.',
} as const;

/** A group. */
export type Tag = keyof typeof TAG_TEXTS;

/** The names of the groups, in the same order. */
export const TAGS = Object.keys(TAG_TEXTS) as readonly Tag[];
