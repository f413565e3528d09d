/**
 * Validates resources against base R4, before they become events and for `$validate` (docs/spec/decisions.md, section 5
 * "Writes"). Each fault includes its FHIRPath.
 */
import type { Issue } from '#src/shared/issue.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { isR4ResourceType } from './definitions/tables.ts';
import { objectCheck } from './validation/compile.ts';
import { forgetEvaluations } from './validation/invariants.ts';
import { type Sink, Walk } from './validation/walk.ts';

export type { Sink } from './validation/walk.ts';

/**
 * Validates a resource of any R4 type.
 * @param resource its JSON, as returned by `parseJson`.
 * @param expectedType the type that the resource must have; default: the type in its `resourceType`.
 * @param sink called for each Reference.
 * @returns the faults; an empty list for a valid resource. Codes: `structure` (unknown element, wrong JSON type or
 *   cardinality), `required`, `value` (format, reference target), `code-invalid` (required binding), `extension`, `invariant`.
 *   At most `MAX_FAULTS` faults, or as many as the sink allows, are listed, followed by a note about the rest.
 */
export function validateResource(resource: JsonObject, expectedType?: string, sink?: Sink): Issue[] {
  const type = resource.resourceType;
  const expected = expectedType ?? 'a resource type of R4';
  if (
    typeof type !== 'string' ||
    !isR4ResourceType(type) ||
    (expectedType !== undefined && type !== expectedType)
  ) {
    const code = type === undefined ? 'required' : 'value';
    return [
      { code, diagnostics: `resourceType must be ${expected}`, expression: expectedType ?? 'Resource' },
    ];
  }
  forgetEvaluations(resource);
  const walk = new Walk(resource, sink);
  walk.enter(type, -1);
  objectCheck(type)(resource, walk);
  return walk.faults.list();
}
