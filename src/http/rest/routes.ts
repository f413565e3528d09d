/** Lists all routes below `/v1` (docs/spec/interface.md, section 4.3). */
import type { Route } from '../api/route.ts';
import { CONDITION_ROUTES } from './conditions.ts';
import { CONTEXT_ROUTES } from './context.ts';
import { DOCUMENT_ROUTES } from './documents/documents.ts';
import { CONCEPT_ROUTES } from './insight/concepts.ts';
import { PATTERN_ROUTES } from './insight/patterns.ts';
import { SERIES_ROUTES } from './insight/series.ts';
import { LABS_ROUTES } from './labs/labs.ts';
import { MEDICATION_ROUTES } from './medications.ts';
import { OBSERVATION_ROUTES } from './observations.ts';
import { PATIENT_ROUTES } from './patients.ts';
import { PRESCRIPTION_ROUTES } from './prescriptions.ts';
import { PROVENANCE_ROUTES } from './provenance.ts';
import { ACCESS_LOG_ROUTES } from './sharing/access-log.ts';
import { GRANT_ROUTES } from './sharing/grants.ts';
import { INVITATION_ROUTES } from './sharing/invitations.ts';
import { LINK_ROUTES } from './sharing/links.ts';
import { PROPOSAL_ROUTES } from './sharing/proposals.ts';
import { TERMINOLOGY_ROUTES } from './terminology.ts';
import { TIMELINE_ROUTES } from './timeline.ts';

/** All routes, in the order used in the documentation. */
export const REST_ROUTES: readonly Route[] = [
  ...PATIENT_ROUTES,
  ...OBSERVATION_ROUTES,
  ...CONDITION_ROUTES,
  ...MEDICATION_ROUTES,
  ...PRESCRIPTION_ROUTES,
  ...DOCUMENT_ROUTES,
  ...LABS_ROUTES,
  ...TIMELINE_ROUTES,
  ...SERIES_ROUTES,
  ...PATTERN_ROUTES,
  ...PROVENANCE_ROUTES,
  ...INVITATION_ROUTES,
  ...LINK_ROUTES,
  ...GRANT_ROUTES,
  ...PROPOSAL_ROUTES,
  ...ACCESS_LOG_ROUTES,
  ...TERMINOLOGY_ROUTES,
  ...CONCEPT_ROUTES,
  ...CONTEXT_ROUTES,
];
