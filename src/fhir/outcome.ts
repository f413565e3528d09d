/** Builds OperationOutcomes, in which FHIR clients receive faults (https://hl7.org/fhir/R4/operationoutcome.html). */
import { listed } from '#src/shared/faults.ts';
import type { Issue } from '#src/shared/issue.ts';
import { elementPath } from './element-path.ts';

/**
 * Returns the JSON text of an OperationOutcome.
 * @param issues the faults, in order; at most `MAX_FAULTS` are listed. An empty list means success.
 */
export function operationOutcome(issues: readonly Issue[]): string {
  const told: readonly Issue[] =
    issues.length > 0 ? listed(issues) : [{ code: 'informational', diagnostics: 'No issues were found' }];
  return JSON.stringify({
    resourceType: 'OperationOutcome',
    issue: told.map(({ severity, code, diagnostics, expression }) => ({
      severity: severity ?? (code === 'informational' ? 'information' : 'error'),
      code,
      diagnostics,
      ...(expression !== undefined && issuePlace(expression)),
    })),
  });
}

/**
 * Returns `expression` for a FHIRPath, which begins with a type; for a header or parameter, returns `location` with
 * `http.<name>`: https://hl7.org/fhir/R4/operationoutcome-definitions.html#OperationOutcome.issue.location
 */
function issuePlace(expression: string): { expression: string[] } | { location: string[] } {
  if (/^[A-Z]/.test(expression)) return { expression: [elementPath(expression)] };
  return { location: [`http.${expression.replace(/^(?:http|query|path)\./, '')}`] };
}
