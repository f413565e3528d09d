/** Reads elements in FHIR's JSON by their FHIRPath names; each value is returned with its type and path. */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import {
  type ElementDefinition,
  isTypeName,
  jsonName,
  PRIMITIVES,
  typeDefinition,
} from '../definitions/tables.ts';
import { choiceStep } from '../element-path.ts';

/** An element's value. */
export interface Item {
  /** Undefined for a primitive that has only an extension. */
  readonly value: Json | undefined;
  /** A primitive's id and extensions. */
  readonly shadow: JsonObject | undefined;
  /** The resource type, the path of a backbone element, or the datatype. */
  readonly type: string;
  /** FHIRPath. */
  readonly path: string;
}

interface Access {
  readonly list: boolean;
  readonly alternatives: readonly {
    readonly key: string;
    readonly type: string;
    readonly primitive: boolean;
    /** The name in FHIRPath: `value.ofType(Quantity)` for `valueQuantity`. */
    readonly step: string;
  }[];
}

const accesses = new Map<string, ReadonlyMap<string, Access>>();

function findAccess(type: string, name: string): Access | undefined {
  let ofType = accesses.get(type);
  if (ofType === undefined) {
    const known = isTypeName(type) ? typeDefinition(type).elements : [];
    const elements = known.map((element) => [element.name, toAccess(element)] as const);
    ofType = new Map(elements);
    accesses.set(type, ofType);
  }
  return ofType.get(name);
}

function toAccess(element: ElementDefinition): Access {
  return {
    list: element.list,
    alternatives: element.types.map(({ code }) => ({
      key: jsonName(element, code),
      type: code === 'SimpleQuantity' ? 'Quantity' : code,
      primitive: PRIMITIVES.has(code),
      step: element.choice ? choiceStep(element.name, code) : element.name,
    })),
  };
}

/**
 * Returns an element's values.
 * @param holder the object that contains the element; `type` is its type, `path` its path.
 * @param name FHIRPath name; for a choice, without its type.
 */
export function listItems(holder: JsonObject, type: string, name: string, path: string): Item[] {
  const items: Item[] = [];
  const access = findAccess(type, name);
  if (access === undefined) return items;
  for (const { key, type: code, primitive, step } of access.alternatives) {
    const value = holder[key];
    const shadow = primitive ? holder[`_${key}`] : undefined;
    if (value === undefined && shadow === undefined) continue;
    const here = `${path}.${step}`;
    if (!access.list) items.push(makeItem(value, shadow, code, here));
    else {
      const values = Array.isArray(value) ? value : [];
      const shadows = Array.isArray(shadow) ? shadow : [];
      const count = Math.max(values.length, shadows.length);
      for (let at = 0; at < count; at += 1)
        items.push(makeItem(values[at], shadows[at], code, `${here}[${at}]`));
    }
  }
  return items;
}

function makeItem(value: Json | undefined, shadow: Json | undefined, code: string, path: string): Item {
  const type =
    code === 'Resource' && isObject(value) && typeof value.resourceType === 'string'
      ? value.resourceType
      : code;
  return { value: value ?? undefined, shadow: isObject(shadow) ? shadow : undefined, type, path };
}

/** Returns the object that contains the elements of an item; for a primitive, the object with its id and extensions. */
export function elementHolder({ value, shadow, type }: Item): { holder: JsonObject; type: string } {
  if (isObject(value)) return { holder: value, type };
  return { holder: shadow ?? {}, type: 'Element' };
}
