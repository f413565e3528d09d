/**
 * Lets this process read and write version 2 of `ProjectDeleted`, as newer software would. Its data is the same as in version
 * 1.
 */
import { CATALOG } from '#src/events/catalog.ts';

/** The version that newer software writes. */
export const NEWER_VERSION = 2;

/** Makes this process act as the newer software. */
export function becomeNewer(): void {
  Object.assign(CATALOG.ProjectDeleted, { version: NEWER_VERSION });
}
