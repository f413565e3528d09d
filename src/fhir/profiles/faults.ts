/** Collects a resource's faults according to a profile. */
import { Faults } from '#src/shared/faults.ts';
import type { Issue, IssueType } from '#src/shared/issue.ts';

/** An error, warning or remark, according to a profile. */
export interface Fault {
  readonly severity: 'error' | 'warning' | 'information';
  readonly code: IssueType;
  /** FHIRPath. */
  readonly path: string;
  /** The last part of the message, after the path. */
  readonly text: string;
  /** Url of the profile. */
  readonly profile: string;
  /**
   * True if the fault is in an element that identifies the profile's resources: a fixed value, a pattern, or a required code.
   */
  readonly identity: boolean;
  /** The fault that causes this one. If the cause is reported, this fault needn't be. */
  readonly cause?: Fault;
}

/** Returns whether the faults include an error, in which case the resource doesn't conform. */
export function hasErrors(faults: readonly Fault[]): boolean {
  return faults.some(({ severity }) => severity === 'error');
}

/**
 * Returns faults as issues, without duplicates, and without faults whose cause is also in the list; at most `MAX_FAULTS`, with
 * a note about the rest.
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
