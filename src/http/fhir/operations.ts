/** The table of operations: routes and the CapabilityStatement come from it. A new operation is a file and a line here. */
import type { Operation } from './operation.ts';
import { everything } from './operations/everything.ts';
import { summary } from './operations/summary.ts';
import { validate } from './operations/validate.ts';

/** Every operation of the interface. */
export const OPERATIONS: readonly Operation[] = [everything, summary, validate];
