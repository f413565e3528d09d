/**
 * Converts the statuses of results and reports from HL7 tables 0085 and 0123:
 * https://hl7.org/fhir/R4/valueset-observation-status.html
 */

/** Value of OBX-11 → status. */
const OBSERVATION: Readonly<Record<string, string>> = {
  A: 'amended',
  B: 'amended',
  C: 'corrected',
  D: 'entered-in-error',
  F: 'final',
  I: 'registered',
  N: 'final',
  O: 'registered',
  P: 'preliminary',
  R: 'preliminary',
  S: 'preliminary',
  U: 'final',
  V: 'final',
  W: 'entered-in-error',
  X: 'cancelled',
};

/** Value of OBR-25 → status. */
const REPORT: Readonly<Record<string, string>> = {
  A: 'partial',
  C: 'corrected',
  F: 'final',
  I: 'registered',
  M: 'corrected',
  N: 'registered',
  O: 'registered',
  P: 'preliminary',
  R: 'partial',
  S: 'registered',
  X: 'cancelled',
};

/** Returns the status of a result; undefined for a letter that isn't in table 0085. */
export function observationStatus(letter: string): string | undefined {
  return OBSERVATION[letter.trim().toUpperCase()];
}

/** Returns the status of results that have no status of their own, derived from their report's status. */
export function statusFromReport(letter: string): string | undefined {
  const status = reportStatus(letter);
  return status === 'partial' ? 'preliminary' : status;
}

/** Returns the status of a report; undefined for a letter that isn't in table 0123. */
export function reportStatus(letter: string): string | undefined {
  return REPORT[letter.trim().toUpperCase()];
}

/** The order of a result's or report's statuses. From a withdrawn status, any change is allowed. */
const STEPS: Readonly<Record<string, number>> = {
  registered: 0,
  preliminary: 1,
  partial: 1,
  final: 2,
  amended: 3,
  corrected: 3,
};

/** Returns whether a change of status goes backwards: a final result does not become preliminary again. */
export function isStepBack(from: unknown, to: unknown): boolean {
  const before = STEPS[String(from)];
  const after = STEPS[String(to)];
  return before !== undefined && after !== undefined && after < before;
}

/**
 * Returns whether a result that was withdrawn, or whose status was unknown, gets a status that is neither withdrawn nor
 * unknown.
 */
export function isRevived(from: unknown, to: unknown): boolean {
  return (isWithdrawn(from) || from === 'unknown') && !isWithdrawn(to) && from !== to;
}

/** Returns whether a result was withdrawn. */
export function isWithdrawn(status: unknown): boolean {
  return status === 'entered-in-error' || status === 'cancelled';
}
