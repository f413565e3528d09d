/** Collects a resource's faults by a profile. */
import { Faults } from '#src/shared/faults.ts';
import type { Issue, IssueType } from '#src/shared/issue.ts';

/** A fault or remark by a profile. */
export interface Fault {
  readonly severity: 'error' | 'warning' | 'information';
  readonly code: IssueType;
  /** FHIRPath. */
  readonly path: string;
  /** The end of the message, after the path. */
  readonly text: string;
  /** Url of the profile. */
  readonly profile: string;
  /**
   * True if it concerns an element that identifies the profile's resources: a fixed value, a pattern, a required code.
   */
  readonly identity: boolean;
  /** The fault that causes this one: if that is reported, this one need not be. */
  readonly cause?: Fault;
}

/** Returns whether faults include an error, so that the resource does not conform. */
export function hasErrors(faults: readonly Fault[]): boolean {
  return faults.some(({ severity }) => severity === 'error');
}

/**
 * Returns faults as issues: each once, without those caused by another one in the list; at most `MAX_FAULTS`, and a
 * note on the rest.
 */
export function toIssues(faults: readonly Fault[]): Issue[] {
  const told = new Set(faults);
  const seen = new Set<string>();
  const issues = new Faults();
  for (const fault of faults) {
    const { severity, code, path, text, profile } = fault;
    if (followsFromTold(fault, told)) continue;
    const key = `${code} ${path} ${text}`;
    if (seen.has(key)) continue;
    seen.add(key);
    const name = profile.slice(profile.lastIndexOf('/') + 1);
    issues.add({ severity, code, diagnostics: `${path} ${text} (profile ${name})`, expression: path });
  }
  return issues.list();
}

function followsFromTold({ cause }: Fault, told: ReadonlySet<Fault>): boolean {
  return cause !== undefined && (told.has(cause) || followsFromTold(cause, told));
}
