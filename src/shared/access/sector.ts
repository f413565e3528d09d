/** Applications that get the same pairwise ids (docs/spec/decisions.md, section 1). */
import type { Tenant } from './caller.ts';

/** The applications of one project and environment with the same `sector`. */
export interface Sector extends Tenant {
  /** As registered, 1 to 64 characters; the application's id if none was. */
  readonly sector: string;
}
