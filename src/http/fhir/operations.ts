/** The table of operations: routes and the CapabilityStatement come from it. A new operation is a file and a line here. */
import type { Operation } from './operation.ts';

/** Every operation of the interface. */
export const OPERATIONS: readonly Operation[] = [];
