/** The sandboxes of all projects, as the admin interface asks for them. */
import type { RequestContext } from '../command.ts';

/** What is in a sandbox. */
export interface SandboxStatus {
  /** Live patients that the service made. */
  readonly syntheticPatients: number;
  /** All others. */
  readonly ownPatients: number;
  /** Requests to its interfaces that may have written, since midnight UTC. */
  readonly writesToday: number;
  readonly resets: number;
}

/** The sandboxes of all projects. */
export interface Sandboxes {
  readonly status: (project: string) => Promise<SandboxStatus>;
  /**
   * Empties a sandbox and fills it anew, one reset at a time.
   * @returns whether that was over before the patience was.
   * @throws Refusal not_found; throttled when too many sandboxes of the caller or of the organization wait.
   */
  readonly reset: (by: RequestContext, organization: string, project: string) => Promise<boolean>;
}
