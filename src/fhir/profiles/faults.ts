/** What a resource lacks by a profile. */
import { Faults } from '#src/shared/faults.ts';
import type { Issue, IssueType } from '#src/shared/issue.ts';

/** A fault by a profile, or a remark on one. */
export interface Fault {
  readonly severity: 'error' | 'warning' | 'information';
  readonly code: IssueType;
  /** FHIRPath. */
  readonly path: string;
  /** What is wrong, after the path. */
  readonly text: string;
  /** Url of the profile. */
  readonly profile: string;
  /** It breaks what tells this profile's resources from others: a fixed value, a pattern, a required code. */
  readonly identity: boolean;
  /** The fault that this one follows from: it need not be told beside it. */
  readonly cause?: Fault;
}

/** Whether faults keep a resource from conforming. */
export function hasErrors(faults: readonly Fault[]): boolean {
  return faults.some(({ severity }) => severity === 'error');
}

/** Faults as issues: each once, none that follows from another one here; at most `MAX_FAULTS`, and a note on the rest. */
export function issuesOf(faults: readonly Fault[]): Issue[] {
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
