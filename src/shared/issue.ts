/** FHIR issue types in use (https://hl7.org/fhir/R4/valueset-issue-type.html). */
export type IssueType =
  | 'invalid'
  | 'structure'
  | 'required'
  | 'value'
  | 'invariant'
  | 'login'
  | 'forbidden'
  | 'not-supported'
  | 'duplicate'
  | 'multiple-matches'
  | 'not-found'
  | 'deleted'
  | 'too-long'
  | 'too-costly'
  | 'code-invalid'
  | 'extension'
  | 'business-rule'
  | 'conflict'
  | 'transient'
  | 'throttled'
  | 'exception'
  | 'informational';

/** One fault. */
export interface Issue {
  /** Absent: `error`, or `information` for `informational`. */
  readonly severity?: 'error' | 'warning' | 'information';
  readonly code: IssueType;
  /** A sentence for a developer: what is wrong and where. Never clinical content or a credential. */
  readonly diagnostics: string;
  /** FHIRPath of the element (`Observation.component[1].code`), or a dotted path or header name. */
  readonly expression?: string;
  /** Set in the note at the end of a capped list: how many faults the list leaves out. */
  readonly unlisted?: number;
}
