/** Protects elements that no patch may change. */
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { isObject } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';

/**
 * Returns the result of a patch, after checking that its type and id are unchanged. `meta.versionId` and `meta.lastUpdated`
 * needn't be checked, because every write sets them.
 * @throws Refusal invalid (422), naming the element that must not change.
 */
export function sameIdentity(before: JsonObject, after: Json | undefined): JsonObject {
  const type = typeof before.resourceType === 'string' ? before.resourceType : 'Resource';
  if (!isObject(after)) {
    throw new Refusal('invalid', {
      code: 'structure',
      diagnostics: 'the patch must not remove the resource',
      expression: type,
    });
  }
  for (const element of ['resourceType', 'id'] as const) {
    if (after[element] !== before[element]) {
      throw new Refusal('invalid', {
        code: 'business-rule',
        diagnostics: `a patch cannot change ${type}.${element}`,
        expression: `${type}.${element}`,
      });
    }
  }
  return after;
}
