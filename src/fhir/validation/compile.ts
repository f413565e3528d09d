/**
 * Compiles the definition of an R4 type, when it is first needed, into a closure that validates objects of that type:
 * structure, cardinality, types, primitive formats, required bindings, invariants (docs/spec/decisions.md, section 5
 * "Writes").
 */
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import {
  type ElementDefinition,
  type ElementType,
  type Invariant,
  isR4ResourceType,
  jsonName,
  PRIMITIVES,
  typeDefinition,
} from '../definitions/tables.ts';
import { choiceStep, pathName } from '../element-path.ts';
import { parseReference } from '../references/references.ts';
import { boundCode, boundConcept } from './bindings.ts';
import { checkContained, checkLocalReference } from './contained.ts';
import { checkExtension } from './extensions.ts';
import { compileInvariant } from './invariants.ts';
import { nearestElement } from './nearest-element.ts';
import { PRIMITIVE_TESTS } from './primitives.ts';
import {
  applyRules,
  checkShadow,
  checkValue,
  type ObjectCheck,
  type Property,
  type Rule,
} from './property.ts';
import { newScope, noteId, type Walk } from './walk.ts';

const compiled = new Map<string, ObjectCheck>();

/** The name under which an Extension inside an Extension is compiled. */
const PART = 'Extension.extension';

/**
 * Returns the check for a type, which is compiled on first use.
 * @throws Error if R4 does not define the type.
 */
export function objectCheck(type: string): ObjectCheck {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  const fresh = compileType(type);
  compiled.set(type, fresh);
  return fresh;
}

/**
 * Returns a check that is compiled when it checks its first value. Types refer to each other in cycles, so they can't all be
 * compiled in advance.
 */
function lazily(type: string): ObjectCheck {
  let check: ObjectCheck | undefined;
  return (object, walk) => {
    check ??= objectCheck(type);
    check(object, walk);
  };
}

function compileType(type: string): ObjectCheck {
  const name = type === PART ? 'Extension' : type;
  const { elements, invariants, resource: isResource, domain } = typeDefinition(name);
  const properties = new Map<string, Property>();
  const required: { bit: number; element: ElementDefinition }[] = [];
  let bits = 0;
  for (const element of elements) {
    const bit = element.required || element.choice ? 1 << bits++ : 0;
    if (element.required) required.push({ bit, element });
    const own = invariants.filter((invariant) => invariant.element === element.name);
    const rules = compileRules(own, element.types[0]?.code ?? '');
    for (const alternative of element.types)
      addProperties(properties, name, element, alternative, bit, rules);
  }
  if (bits > 31) throw new Error(`${type} has more required elements and choices than bits`);
  const requiredBits = required.reduce((mask, { bit }) => mask | bit, 0);
  const own = invariants.filter((invariant) => invariant.element === undefined);
  const rules = compileRules(own, name);
  const isExtension = name === 'Extension';
  // Ids repeat in ElementDefinition: a profile's snapshot and its differential have the same ids.
  const identifies = !isResource && name !== 'ElementDefinition';

  return (object, walk) => {
    let present = 0;
    let empty = !isResource;
    for (const key in object) {
      const value = object[key];
      if (value === undefined) continue;
      if (key !== 'id') empty = false;
      else if (identifies) noteId(value, walk);
      const property = properties.get(key);
      if (property === undefined) {
        if (!isResource || key !== 'resourceType')
          walk.fault(
            'structure',
            `is not an element of ${name}${walk.faults.full ? '' : nearestElement(key, properties)}`,
            pathName(key),
          );
        continue;
      }
      if (property.choice && (present & property.bit) !== 0)
        checkSingleChoice(object, property, properties, walk);
      if (!property.shadow) {
        present |= property.bit;
        checkValue(object, value, property, walk);
      } else if (checkShadow(object, value, property, walk)) present |= property.bit;
    }
    if (empty) walk.fault('structure', 'must not be empty (ele-1)');
    if ((present & requiredBits) !== requiredBits) {
      for (const { bit, element } of required) {
        if ((present & bit) === 0) walk.fault('required', 'is required', element.name);
      }
    }
    if (isExtension) checkExtension(object, (present & ~requiredBits) !== 0, type === PART, walk);
    if (domain && object.contained !== undefined) checkContained(object, walk);
    if (rules.length > 0) applyRules(rules, object, walk);
  };
}

function compileRules(invariants: readonly Invariant[], type: string): Rule[] {
  return invariants.map((invariant) => ({
    key: invariant.key,
    human: invariant.human,
    holds: compileInvariant(invariant, type),
  }));
}

function addProperties(
  properties: Map<string, Property>,
  owner: string,
  element: ElementDefinition,
  type: ElementType,
  bit: number,
  rules: readonly Rule[],
): void {
  const key = jsonName(element, type.code);
  const bound = PRIMITIVES.has(type.code) ? element.binding : undefined;
  const test = bound === undefined ? PRIMITIVE_TESTS[type.code] : boundCode(bound);
  const { name, list, choice } = element;
  const shared = {
    ...{ name, step: choice ? choiceStep(name, type.code) : name, key, list, choice, bit },
    ...{ type: type.code, test, bound: bound !== undefined, rules },
  };
  const check = PRIMITIVES.has(type.code) ? undefined : elementCheck(owner, element, type);
  properties.set(key, { ...shared, shadow: false, check });
  if (test !== undefined) properties.set(`_${key}`, { ...shared, shadow: true, check: lazily('Element') });
}

function elementCheck(owner: string, element: ElementDefinition, type: ElementType): ObjectCheck {
  if (owner === 'Extension' && element.name === 'extension') return lazily(PART);
  if (type.code === 'Resource') return element.name === 'contained' ? checkContainedResource : checkResource;
  const check = lazily(type.code);
  if (type.code === 'Reference') return referenceCheck(check, type.targets);
  if (element.binding === undefined || type.code !== 'CodeableConcept') return check;
  const boundTest = boundConcept(element.binding);
  return (object, walk) => {
    check(object, walk);
    const fault = boundTest(object);
    if (fault !== undefined) walk.fault('code-invalid', fault);
  };
}

/** Checks an independent resource inside another resource, such as the resource in a Bundle entry. */
function checkResource(resource: JsonObject, walk: Walk): void {
  const outer = walk.scope;
  walk.scope = newScope(resource);
  checkByType(resource, walk);
  walk.scope = outer;
}

/** Checks a contained resource, in which local references are resolved as in its container. */
function checkContainedResource(resource: JsonObject, walk: Walk): void {
  const { scope } = walk;
  const { resource: outer, ids } = scope;
  scope.resource = resource;
  scope.ids = new Set();
  checkByType(resource, walk);
  scope.resource = outer;
  scope.ids = ids;
}

function checkByType(resource: JsonObject, walk: Walk): void {
  const type = resource.resourceType;
  if (type === undefined) walk.fault('required', 'must have a resourceType');
  else if (typeof type === 'string' && isR4ResourceType(type)) objectCheck(type)(resource, walk);
  else walk.fault('value', 'must have the name of an R4 resource type as its resourceType');
}

/** Reports, only once, that an element has more than one alternative of a choice. */
function checkSingleChoice(
  object: JsonObject,
  property: Property,
  properties: ReadonlyMap<string, Property>,
  walk: Walk,
): void {
  const alternatives = new Set<string>();
  for (const key in object) {
    const other = properties.get(key);
    if (other?.choice === true && other.name === property.name) alternatives.add(other.key);
  }
  if ([...alternatives][1] !== property.key || (property.shadow && object[property.key] !== undefined))
    return;
  walk.fault('structure', `must have a single type, not ${[...alternatives].join(' and ')}`, property.name);
}

/**
 * Returns the check for a Reference.
 * @param check the check for its elements.
 * @param targets the types that the reference may name; undefined means any type. For a reference to another server, the
 *   target's type cannot be checked.
 */
function referenceCheck(check: ObjectCheck, targets: ReadonlySet<string> | undefined): ObjectCheck {
  return (holder, walk) => {
    check(holder, walk);
    const named =
      typeof holder.reference === 'string' ? checkText(holder.reference, targets, walk) : undefined;
    checkType(holder.type, named, targets, walk);
    report(holder, walk);
  };
}

/**
 * Checks a literal reference.
 * @returns the type that it names; undefined if the type is unknown
 */
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

/** Canonical URL of R4's types; `Reference.type` may be relative to it. */
const DEFINITIONS = 'http://hl7.org/fhir/StructureDefinition/';

/**
 * Checks `Reference.type`. It must be the type of the reference's target, and one of the types that the element may refer to
 * (https://hl7.org/fhir/R4/references-definitions.html#Reference.type).
 * @param named the type of the literal reference's target, if known
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
