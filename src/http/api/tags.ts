/** Groups of the documentation with their descriptions, in order of their importance to readers. */
export const TAG_TEXTS = {
  Patients: 'The people whose records a project keeps, with their demographics.',
  'FHIR: resources':
    'Read, create, update, patch and delete single FHIR R4 resources; transactions and batches.',
  'FHIR: search': 'Search by R4’s parameters, in the URL or as a form, also within a compartment.',
  'FHIR: history': 'All versions of a resource, of a type or of everything.',
  'FHIR: operations': 'R4’s operations, such as `$everything`, `$summary` and `$validate`.',
  Observations: 'Measurements, laboratory results, symptoms and other findings.',
  Conditions: 'Diagnoses and problems.',
  Medications: 'Medicines that a patient takes or took.',
  Documents: 'Letters, reports and other files, with their bytes.',
  'Laboratory results': 'Import of laboratory reports: HL7 v2, CSV or JSON.',
  'Timeline and context':
    'A record in the order of its dates, as series and patterns of values, and as a text for a language model.',
  Terminology: 'Codes of LOINC and ATC, medical concepts, and FHIR’s terminology operations.',
  'Patients and consent':
    'Patients and their representatives decide who reads a record: invitations, grants, access requests, proposals, shared links and the access log.',
  OAuth: 'OAuth 2.1, SMART App Launch and OpenID Connect: how applications get access.',
  Webhooks: 'Endpoints that receive signed events, and their deliveries.',
  Sandbox: 'A project’s synthetic data: its contents, and how to reset it.',
  Projects: 'Projects of an organization, and their requests.',
  Audit: 'Events of the log, who read what, and signed exports that can be checked elsewhere.',
  'API keys': 'Keys of a project for the sandbox or for production.',
  Applications: 'OAuth applications of a project: registration, secrets, branding.',
  Organizations: 'Organizations and their members.',
  Operations: 'For operators of the installation: read models, jobs, processes, sizes, instances.',
  Service: 'Health, metrics, this document and the index.',
  'Take-backs':
    'What a source, a key, an application or an AI wrote, taken back as a whole, and undone. Owners and admins of a project order it.',
  'Single sign-on': 'How an organization’s members sign in with its own OpenID provider.',
} as const;

/** A group. */
export type Tag = keyof typeof TAG_TEXTS;

/** The groups, in that order. */
export const TAGS = Object.keys(TAG_TEXTS) as readonly Tag[];
