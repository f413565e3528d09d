/** Checks Reference elements: their form and allowed target types; each is reported to the sink. */
import type { JsonObject } from '#src/shared/json.ts';
import { parseReference } from '../references.ts';
import { checkLocalReference } from './contained.ts';
import type { ObjectCheck } from './property.ts';
import type { Walk } from './walk.ts';

/**
 * Returns the check of a Reference.
 * @param check of its elements.
 * @param targets types that a reference may name; undefined: any. The target's type of a reference to another server
 *   cannot be checked.
 */
export function referenceCheck(check: ObjectCheck, targets: ReadonlySet<string> | undefined): ObjectCheck {
  return (holder, walk) => {
    check(holder, walk);
    if (typeof holder.reference === 'string') checkText(holder.reference, targets, walk);
    report(holder, walk);
  };
}

function checkText(reference: string, targets: ReadonlySet<string> | undefined, walk: Walk): void {
  const parsed = parseReference(reference, walk.sink?.bases);
  if (parsed.kind === 'contained') checkLocalReference(reference, walk);
  else if (parsed.kind === 'malformed' && reference !== '') {
    walk.fault('value', 'must be a reference: Type/id, an absolute URL, urn:uuid:… or #id', 'reference');
  } else if ('type' in parsed && targets !== undefined && !targets.has(parsed.type)) {
    walk.fault('value', `must refer to ${[...targets].join(', ')}, not to ${parsed.type}`);
  }
}

function report(holder: JsonObject, walk: Walk): void {
  walk.sink?.reference(walk.path(), holder);
}
