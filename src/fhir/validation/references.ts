/** Checks Reference elements: their form and allowed target types; each is reported to the sink. */
import type { Json, JsonObject } from '#src/shared/json.ts';
import { isR4ResourceType } from '../definitions/tables.ts';
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
    const named =
      typeof holder.reference === 'string' ? checkText(holder.reference, targets, walk) : undefined;
    checkType(holder.type, named, targets, walk);
    report(holder, walk);
  };
}

/** Checks a literal reference. @returns the type that it names; undefined if that can't be told */
function checkText(
  reference: string,
  targets: ReadonlySet<string> | undefined,
  walk: Walk,
): string | undefined {
  const parsed = parseReference(reference, walk.sink?.bases);
  if (parsed.kind === 'malformed' && reference !== '')
    walk.fault('value', 'must be a reference: Type/id, an absolute URL, urn:uuid:… or #id', 'reference');
  if (parsed.kind === 'absolute')
    return /\/([A-Za-z]+)\/[^/?#]+(?:\/_history\/[^/?#]+)?$/.exec(reference)?.[1];
  const named =
    parsed.kind === 'contained'
      ? checkLocalReference(reference, walk)
      : 'type' in parsed
        ? parsed.type
        : undefined;
  if (named !== undefined && isR4ResourceType(named) && targets?.has(named) === false)
    walk.fault('value', `must refer to ${[...targets].join(', ')}, not to ${named}`);
  return named;
}

/** Canonical of R4's types, which `Reference.type` may be relative to. */
const DEFINITIONS = 'http://hl7.org/fhir/StructureDefinition/';

/**
 * Checks `Reference.type`: it is the type of what the reference names, and one that the element may refer to
 * (https://hl7.org/fhir/R4/references-definitions.html#Reference.type).
 * @param named type of what the literal reference names, if known
 */
function checkType(
  type: Json | undefined,
  named: string | undefined,
  targets: ReadonlySet<string> | undefined,
  walk: Walk,
): void {
  if (typeof type !== 'string') return;
  const told = type.startsWith(DEFINITIONS) ? type.slice(DEFINITIONS.length) : type;
  if (!isR4ResourceType(told)) return;
  if (named !== undefined && isR4ResourceType(named) && named !== told)
    walk.fault('value', `must be ${named}, as in reference, not ${told}`, 'type');
  else if (named === undefined && targets?.has(told) === false)
    walk.fault('value', `must be ${[...targets].join(', ')}, not ${told}`, 'type');
}

function report(holder: JsonObject, walk: Walk): void {
  walk.sink?.reference(walk.path(), holder);
}
