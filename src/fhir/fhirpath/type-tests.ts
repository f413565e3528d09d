/** Compiles `is`, `as` and `ofType`, if the types are known before evaluation (http://hl7.org/fhirpath/N1/#types). */
import { isObject } from '#src/shared/json/json.ts';
import { isR4ResourceType, isTypeName } from '../definitions/tables.ts';
import { type Compiled, fromTruth, NOTHING, NotCompiled } from './compiled.ts';
import { NO_VALUE, type Node } from './nodes.ts';
import type { Expression } from './parse.ts';

/** Types from which other types derive, so an item whose own type is different may also have one of these types. */
const GENERAL = new Set(
  'Element BackboneElement Resource DomainResource Quantity uri string integer'.split(' '),
);

/**
 * Compiles `as` and `ofType`, which return the items of a given type.
 * @throws NotCompiled if only the full engine can determine the type.
 */
export function ofType(on: Compiled, type: Expression | undefined): Compiled {
  const name = readTypeName(type);
  const test = typeTest(on, name);
  return {
    run:
      test === false
        ? () => NOTHING
        : test === true
          ? on.run
          : (focus, environment) => on.run(focus, environment).filter(test),
    types: new Set([name]),
  };
}

/**
 * Compiles `is`, which returns whether an item is of a given type.
 * @throws NotCompiled if only the full engine can determine the type.
 */
export function isOfType(on: Compiled, type: Expression | undefined): Compiled {
  const test = typeTest(on, readTypeName(type));
  return fromTruth((focus, environment) => {
    const [item] = on.run(focus, environment);
    if (item === undefined) return undefined;
    return typeof test === 'boolean' ? test : test(item);
  });
}

function readTypeName(type: Expression | undefined): string {
  if (type?.kind !== 'member' || (type.on !== undefined && !isFhir(type.on)))
    throw new NotCompiled('a type that is not a name');
  if (!isTypeName(type.name)) throw new NotCompiled(`the type ${type.name}`);
  return type.name;
}

function isFhir(namespace: Expression): boolean {
  return namespace.kind === 'member' && namespace.name === 'FHIR' && namespace.on === undefined;
}

/**
 * Returns either one result for all items or a function that tests each item. If types aren't known before evaluation,
 * `resourceType` determines an item's type.
 */
function typeTest({ types }: Compiled, name: string): boolean | ((item: Node) => boolean) {
  if (types === undefined) {
    if (!isR4ResourceType(name)) throw new NotCompiled(`${name} of an unknown type`);
    return (item) => item !== NO_VALUE && isObject(item) && item.resourceType === name;
  }
  if (types.size > 0 && [...types].every((type) => type === name)) return true;
  if (types.size === 0 || types.has(name) || GENERAL.has(name)) throw new NotCompiled(`${name} among others`);
  return false;
}
