/** Groups of applications that get the same pairwise ids (docs/spec/decisions.md, section 1). */
import type { Tenant } from './caller.ts';

/** The applications in one project and environment that have the same `sector`. */
export interface Sector extends Tenant {
  /** As registered, 1 to 64 characters; the application's id if no sector was registered. */
  readonly sector: string;
}
