/** Statuses of results and reports: HL7 tables 0085 and 0123 → https://hl7.org/fhir/R4/valueset-observation-status.html */

/** OBX-11. */
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

/** OBR-25. */
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

/** The status of a result; undefined for a letter that table 0085 does not have. */
export function observationStatus(letter: string): string | undefined {
  return OBSERVATION[letter.trim().toUpperCase()];
}

/** The status of results that have none of their own: their report's. */
export function statusFromReport(letter: string): string | undefined {
  const status = reportStatus(letter);
  return status === 'partial' ? 'preliminary' : status;
}

/** The status of a report; undefined for a letter that table 0123 does not have. */
export function reportStatus(letter: string): string | undefined {
  return REPORT[letter.trim().toUpperCase()];
}

/** Statuses that a result goes through, of reports too; what is withdrawn may become anything again. */
const STEPS: Readonly<Record<string, number>> = {
  registered: 0,
  preliminary: 1,
  partial: 1,
  final: 2,
  amended: 3,
  corrected: 3,
};

/** Whether a status is an earlier step than another: a final result does not become preliminary again. */
export function isStepBack(from: unknown, to: unknown): boolean {
  const before = STEPS[String(from)];
  const after = STEPS[String(to)];
  return before !== undefined && after !== undefined && after < before;
}

/** Whether a result that was taken back, or was of no known status, comes as one that is neither. */
export function isRevived(from: unknown, to: unknown): boolean {
  return (isWithdrawn(from) || from === 'unknown') && !isWithdrawn(to) && from !== to;
}

/** Whether a result was taken back. */
export function isWithdrawn(status: unknown): boolean {
  return status === 'entered-in-error' || status === 'cancelled';
}
