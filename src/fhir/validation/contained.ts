/**
 * Checks the rules for contained resources (https://hl7.org/fhir/R4/domainresource.html#invs and references.html#contained).
 */
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { asArray, containedById, noteId, type Walk } from './walk.ts';

/**
 * Checks dom-2 to dom-5, and that ids are unique. Call it after the whole resource has been visited, because only then are all
 * local references known.
 */
export function checkContained(resource: JsonObject, walk: Walk): void {
  for (const [index, contained] of asArray(resource.contained).entries()) {
    if (!isObject(contained)) continue;
    if (contained.id !== undefined) noteId(contained.id, walk, 'contained', index);
    const fault = (rule: string): void => walk.fault('invariant', rule, 'contained', index);
    if (contained.contained !== undefined) fault('SHALL NOT contain nested resources (dom-2)');
    const meta = isObject(contained.meta) ? contained.meta : {};
    if (meta.versionId !== undefined || meta.lastUpdated !== undefined) {
      fault('SHALL NOT have a meta.versionId or a meta.lastUpdated, being contained (dom-4)');
    }
    if (meta.security !== undefined) fault('SHALL NOT have a security label, being contained (dom-5)');
    const referred = typeof contained.id === 'string' && walk.scope.local.has(`#${contained.id}`);
    if (!referred && !walk.scope.upward.has(contained)) {
      fault(
        'SHALL be referred to from elsewhere in the resource or refer to the containing resource (dom-3)',
      );
    }
  }
}

/**
 * Checks ref-1: a local reference must name a contained resource or, if it is inside a contained resource, it may be `#` for
 * the container. Records the reference for dom-3.
 * @returns the type of the referenced resource
 */
export function checkLocalReference(reference: string, walk: Walk): string | undefined {
  const { scope } = walk;
  scope.local.add(reference);
  const inside = scope.resource !== scope.root;
  if (reference === '#' && inside) scope.upward.add(scope.resource);
  const named = reference === '#' && inside ? scope.root : containedById(scope).get(reference.slice(1));
  if (named === undefined)
    walk.fault('invariant', 'SHALL refer to a contained resource when it begins with # (ref-1)');
  return typeof named?.resourceType === 'string' ? named.resourceType : undefined;
}
