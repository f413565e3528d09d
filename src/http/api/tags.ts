/** Groups of the documentation, one for each subject, in their order: what most readers come for first. */
export const TAGS = [
  'Patients',
  'FHIR: resources',
  'FHIR: search',
  'FHIR: history',
  'FHIR: operations',
  'Observations',
  'Conditions',
  'Medications',
  'Documents',
  'Laboratory results',
  'Timeline and context',
  'Terminology',
  'Webhooks',
  'Sandbox',
  'Projects',
  'API keys',
  'Applications',
  'Organizations',
  'Service',
  'Single sign-on',
] as const;

/** One of them. */
export type Tag = (typeof TAGS)[number];
