/** What R4's definitions say of the elements that a FHIRPath Patch meets: type, and whether they repeat. */
import {
  type ElementDefinition,
  isR4ResourceType,
  jsonName,
  PRIMITIVES,
  typeDefinition,
} from '../definitions/tables.ts';

/** An element under the JSON name it has, or may have, in its type. */
export interface NamedElement {
  readonly definition: ElementDefinition;
  /** Its type; undefined for a choice that was named without one (`value`). */
  readonly code: string | undefined;
}

/** An element by its name (`value`, a choice) or its JSON name (`valueQuantity`); undefined when the type has none. */
export function elementOf(type: string, name: string): NamedElement | undefined {
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

/** All JSON names that an element can have: one, or those of a choice. */
export function jsonNames(definition: ElementDefinition): readonly string[] {
  return definition.choice
    ? definition.types.map(({ code }) => jsonName(definition, code))
    : [definition.name];
}

/** Data types by the suffix that they give to `value` (`Quantity`, `DateTime`). */
export function dataTypeOf(suffix: string): string | undefined {
  const primitive = suffix.charAt(0).toLowerCase() + suffix.slice(1);
  if (PRIMITIVES.has(primitive)) return primitive;
  if (!/^[A-Z][A-Za-z]+$/.test(suffix) || isR4ResourceType(suffix)) return undefined;
  try {
    return typeDefinition(suffix).name;
  } catch {
    return undefined;
  }
}

/** Whether a type is primitive: a JSON value with an optional `_` sibling. */
export function isPrimitive(code: string): boolean {
  return PRIMITIVES.has(code);
}

const QUANTITIES = new Set(['Quantity', 'SimpleQuantity', 'Age', 'Count', 'Distance', 'Duration']);
const NUMBERS = new Set(['decimal', 'integer', 'positiveInt', 'unsignedInt']);

/**
 * Whether a value of one type can stand where R4 has another: the same, or of the same JSON form. Whether it also
 * keeps the format is for validation, which every patched resource goes through.
 */
export function fits(given: string, expected: string): boolean {
  return family(given) === family(expected);
}

function family(code: string): string {
  if (QUANTITIES.has(code)) return 'Quantity';
  if (NUMBERS.has(code)) return 'number';
  return PRIMITIVES.has(code) && code !== 'boolean' ? 'text' : code;
}
