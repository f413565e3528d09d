/** Lets this process read and write version 2 of `ProjectDeleted`, whose data are those of version 1: newer software. */
import { CATALOG } from '#src/events/catalog.ts';

/** The version that newer software has. */
export const NEWER_VERSION = 2;

/** Makes this process the newer software. */
export function becomeNewer(): void {
  Object.assign(CATALOG.ProjectDeleted, { version: NEWER_VERSION });
}
