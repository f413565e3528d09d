/**
 * Creates resources in which every element has a value, based on R4's definitions, for code that must be able to read any
 * element.
 */
import {
  type ElementDefinition,
  type ElementType,
  isEnumerated,
  jsonName,
  PRIMITIVES,
  typeDefinition,
  valueSet,
} from '#src/fhir/definitions/tables.ts';

const DEPTH = 5;
const LEFT_OUT = new Set(['extension', 'modifierExtension', 'contained', 'id', 'implicitRules']);

/** Values for primitive types that don't accept arbitrary text. */
const VALUES: Readonly<Record<string, unknown>> = {
  boolean: true,
  date: '2024-02-29',
  dateTime: '2024-02-29T10:30:00+02:00',
  decimal: 1.5,
  instant: '2024-02-29T10:30:00.123Z',
  integer: 7,
  positiveInt: 7,
  time: '10:30:00',
  unsignedInt: 7,
};

/**
 * Returns a resource of a type.
 * @param turn selects the type of each choice, each code and each reference's target; successive values cover all of them
 */
export function filled(type: string, turn: number): Record<string, unknown> {
  return { resourceType: type, ...members(type, turn, 0) };
}

function members(type: string, turn: number, depth: number): Record<string, unknown> {
  const made: Record<string, unknown> = {};
  if (depth > DEPTH) return made;
  for (const element of typeDefinition(type).elements) {
    if (LEFT_OUT.has(element.name)) continue;
    const chosen = element.types[turn % element.types.length];
    if (chosen === undefined) continue;
    const values = (element.list ? [turn, turn + 1] : [turn]).map((each) =>
      filledValue(element, chosen, each, depth),
    );
    made[jsonName(element, chosen.code)] = element.list ? values : values[0];
  }
  return made;
}

function filledValue(element: ElementDefinition, type: ElementType, turn: number, depth: number): unknown {
  if (!PRIMITIVES.has(type.code)) {
    const made = members(type.code, turn, depth + 1);
    const targets = [...(type.targets ?? ['Patient'])];
    const target = targets[turn % targets.length] ?? 'Patient';
    return type.code === 'Reference' ? { ...made, reference: `${target}/${turn}` } : made;
  }
  if (type.code === 'code' && element.binding !== undefined && isEnumerated(element.binding)) {
    const codes = Object.values(valueSet(element.binding)).flat();
    return codes[turn % codes.length] ?? 'none';
  }
  return VALUES[type.code] ?? `${element.name} ${turn}`;
}
