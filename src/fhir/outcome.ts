/** OperationOutcome: what a FHIR client is told (https://hl7.org/fhir/R4/operationoutcome.html). */
import { listed } from '#src/shared/faults.ts';
import type { Issue } from '#src/shared/refusal.ts';

/**
 * The JSON text of an OperationOutcome.
 * @param issues faults in order, of which at most `MAX_FAULTS` are listed; none says that all is well.
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
      ...(expression !== undefined && { expression: [expression] }),
    })),
  });
}
