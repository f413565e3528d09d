/** The sandboxes of all projects, for the admin interface. */
import type { RequestContext } from '../command.ts';

/** The contents of a sandbox. */
export interface SandboxStatus {
  /** Live patients that the service generated. */
  readonly syntheticPatients: number;
  /** Patients that the service didn't generate. */
  readonly ownPatients: number;
  /** Requests to the sandbox's interfaces since midnight UTC that may have written data. */
  readonly writesToday: number;
  readonly resets: number;
}

/** The sandboxes of all projects. */
export interface Sandboxes {
  readonly status: (project: string) => Promise<SandboxStatus>;
  /**
   * Empties and refills a sandbox, one reset at a time.
   * @returns true if it finished within the maximum waiting time
   * @throws Refusal not_found; throttled if too many sandboxes of the caller or the organization are waiting
   */
  readonly reset: (by: RequestContext, organization: string, project: string) => Promise<boolean>;
}
