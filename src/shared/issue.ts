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

/** A fault in a request. */
export interface Issue {
  /** If absent, the severity is `error`, or `information` for `informational`. */
  readonly severity?: 'error' | 'warning' | 'information';
  readonly code: IssueType;
  /** A sentence for a developer: the problem and its place. It never contains clinical content or a credential. */
  readonly diagnostics: string;
  /** FHIRPath of the element (`Observation.component[1].code`), or a dotted path or header name. */
  readonly expression?: string;
  /** Set only in the note at the end of a limited list: the number of faults left out. */
  readonly unlisted?: number;
}
