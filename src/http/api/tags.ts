/** Groups of the documentation, in order of their importance to readers. */
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
  'Patients and consent',
  'OAuth',
  'Webhooks',
  'Sandbox',
  'Projects',
  'API keys',
  'Applications',
  'Organizations',
  'Service',
  'Single sign-on',
] as const;

/** A group. */
export type Tag = (typeof TAGS)[number];
