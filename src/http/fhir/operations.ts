/**
 * Lists all operations. The routes and the CapabilityStatement are derived from this table. To add an operation, add a file
 * and a line here.
 */
import type { Operation } from './operation.ts';
import { everything } from './operations/everything.ts';
import { expand } from './operations/expand.ts';
import { lookup } from './operations/lookup.ts';
import { subsumes } from './operations/subsumes.ts';
import { summary } from './operations/summary.ts';
import { translate } from './operations/translate.ts';
import { validate } from './operations/validate.ts';
import { validateCodeInSet, validateCodeInSystem } from './operations/validate-code.ts';

/** All operations of the FHIR interface. */
export const OPERATIONS: readonly Operation[] = [
  everything,
  summary,
  validate,
  lookup,
  subsumes,
  validateCodeInSystem,
  expand,
  validateCodeInSet,
  translate,
];
