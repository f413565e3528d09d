/** Handles capabilities: https://hl7.org/fhir/R4/http.html#capabilities. Requires no credential. */
import { type Answer, FHIR_JSON } from '../answer/answer.ts';
import type { FhirService } from './request.ts';

/** Returns 200 with the CapabilityStatement. */
export function metadata(service: FhirService): Answer {
  return { status: 200, headers: { 'Content-Type': FHIR_JSON }, body: service.capability };
}
