/** Looks up R4's definitions of the elements in a FHIRPath Patch: the type of each element, and whether it repeats. */
import {
  type ElementDefinition,
  isR4ResourceType,
  jsonName,
  PRIMITIVES,
  typeDefinition,
} from '../definitions/tables.ts';

/** An element, and the JSON name that it has or may have in its type. */
export interface NamedElement {
  readonly definition: ElementDefinition;
  /** The element's type; undefined for a choice that is named without its type (`value`). */
  readonly code: string | undefined;
}

/**
 * Returns an element by its name (`value` for a choice) or its JSON name (`valueQuantity`); undefined if the type has no such
 * element.
 */
export function findNamedElement(type: string, name: string): NamedElement | undefined {
  for (const definition of typeDefinition(type).elements) {
    if (definition.name === name) {
      return { definition, code: definition.choice ? undefined : definition.types[0]?.code };
    }
    if (!definition.choice || !name.startsWith(definition.name)) continue;
    const chosen = definition.types.find(({ code }) => jsonName(definition, code) === name);
    if (chosen !== undefined) return { definition, code: chosen.code };
  }
  return undefined;
}

/** Returns all JSON names that an element can have. A choice has several, any other element one. */
export function jsonNames(definition: ElementDefinition): readonly string[] {
  return definition.choice
    ? definition.types.map(({ code }) => jsonName(definition, code))
    : [definition.name];
}

/** Returns the data type that appends a given suffix to `value` (`Quantity`, `DateTime`). */
export function findDataType(suffix: string): string | undefined {
  const primitive = suffix.charAt(0).toLowerCase() + suffix.slice(1);
  if (PRIMITIVES.has(primitive)) return primitive;
  if (!/^[A-Z][A-Za-z]+$/.test(suffix) || isR4ResourceType(suffix)) return undefined;
  try {
    return typeDefinition(suffix).name;
  } catch {
    return undefined;
  }
}

/** Returns whether a type is primitive: in JSON, a plain value with an optional `_` sibling. */
export function isPrimitive(code: string): boolean {
  return PRIMITIVES.has(code);
}

const QUANTITIES = new Set(['Quantity', 'SimpleQuantity', 'Age', 'Count', 'Distance', 'Duration']);
const NUMBERS = new Set(['decimal', 'integer', 'positiveInt', 'unsignedInt']);

/**
 * Returns whether a value of one type is allowed where R4 expects another type. It is allowed if the types are the same, or
 * have the same JSON form. The format isn't checked here, because every patched resource is validated.
 */
export function fits(given: string, expected: string): boolean {
  return family(given) === family(expected);
}

function family(code: string): string {
  if (QUANTITIES.has(code)) return 'Quantity';
  if (NUMBERS.has(code)) return 'number';
  return PRIMITIVES.has(code) && code !== 'boolean' ? 'text' : code;
}
