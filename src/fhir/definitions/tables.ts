/** Defines the format of the generated tables, and returns the definitions of types, which are parsed when first needed. */
import { readFileSync } from 'node:fs';

/** An error-level invariant as `[element or '' for the type itself, key, human text, FHIRPath]`. */
export type CompactRule = [element: string, key: string, human: string, expression: string];

/** A type in the table. A backbone type is named after its path (`Observation.component`). */
export interface CompactType {
  base?: string;
  resource?: true;
  /**
   * Maps a name to `min..max types value-set`. After the cardinality, `s` marks an element in summaries and `m` a modifier.
   * Types are separated by commas. A reference's targets are written as `Reference(Patient|Group)`, a content reference as
   * `#Observation.referenceRange`. The name of a choice includes its `[x]`.
   */
  elements: Record<string, string>;
  rules?: CompactRule[];
}

/** The format of `generated/structures.json`. */
export interface StructureTable {
  readonly fhirVersion: string;
  readonly types: Record<string, CompactType>;
  /** Maps the last part of a value set's URL to codes by code system. */
  readonly valueSets: Record<string, Record<string, readonly string[]>>;
}

/** One type that an element may have. */
export interface ElementType {
  readonly code: string;
  /** Types that a Reference may name; undefined means any type. */
  readonly targets?: ReadonlySet<string>;
}

/** An element of a type. */
export interface ElementDefinition {
  /** The name without `[x]`. */
  readonly name: string;
  readonly choice: boolean;
  readonly required: boolean;
  readonly list: boolean;
  /** True if summaries include the element (`isSummary`). */
  readonly summary: boolean;
  /** True if the element may change the meaning of other elements (`isModifier`). */
  readonly modifier: boolean;
  readonly types: readonly ElementType[];
  /** The key of the value set to which the element is bound with strength `required`. */
  readonly binding?: string;
}

/** An error-level invariant. */
export interface Invariant {
  /** The name of the element to which the rule applies; undefined if it applies to the type itself. */
  readonly element?: string;
  readonly key: string;
  readonly human: string;
  readonly expression: string;
}

/** A resource type, datatype or backbone. */
export interface TypeDefinition {
  readonly name: string;
  /** True for a resource type that isn't abstract. */
  readonly resource: boolean;
  /** True if the type has the elements of DomainResource (`contained` and so on). */
  readonly domain: boolean;
  /** The elements; the base type's elements come first. */
  readonly elements: readonly ElementDefinition[];
  readonly invariants: readonly Invariant[];
}

/** Names of the primitive types. */
export const PRIMITIVES: ReadonlySet<string> = new Set(
  (
    'base64Binary boolean canonical code date dateTime decimal id instant integer markdown oid positiveInt string time ' +
    'unsignedInt uri url uuid xhtml'
  ).split(' '),
);

let table: StructureTable | undefined;

function structures(): StructureTable {
  table ??= JSON.parse(
    readFileSync(new URL('./generated/structures.json', import.meta.url), 'utf8'),
  ) as StructureTable;
  return table;
}

const parsed = new Map<string, TypeDefinition>();

/**
 * Returns a type's definition, parsed when first needed.
 * @throws Error if R4 doesn't define the type.
 */
export function typeDefinition(name: string): TypeDefinition {
  const known = parsed.get(name);
  if (known !== undefined) return known;
  const compact = structures().types[name];
  if (compact === undefined) throw new Error(`R4 has no type ${name}`);
  const base = compact.base === undefined ? undefined : typeDefinition(compact.base);
  const definition: TypeDefinition = {
    name,
    resource: compact.resource === true && name !== 'Resource' && name !== 'DomainResource',
    domain: compact.base === 'DomainResource',
    elements: [
      ...(base?.elements ?? []),
      ...Object.entries(compact.elements).map(([key, text]) => parseElement(key, text)),
    ],
    invariants: [...(base?.invariants ?? []), ...(compact.rules ?? []).map(parseRule)],
  };
  parsed.set(name, definition);
  return definition;
}

/** Returns whether a name is any R4 resource type, not just one of the 26. */
export function isR4ResourceType(name: string): boolean {
  if (name === 'Resource' || name === 'DomainResource') return false;
  const { types } = structures();
  return Object.hasOwn(types, name) && types[name]?.resource === true;
}

/** Returns whether R4 defines a type with that name: a resource type, a datatype, a primitive or a backbone. */
export function isTypeName(name: string): boolean {
  return PRIMITIVES.has(name) || Object.hasOwn(structures().types, name);
}

/**
 * Returns the codes in a required value set, by code system.
 * @throws Error for a key that isn't in the table.
 */
export function valueSet(key: string): Readonly<Record<string, readonly string[]>> {
  const systems = structures().valueSets[key];
  if (systems === undefined) throw new Error(`the value set ${key} is not enumerated`);
  return systems;
}

/** Returns whether the table lists the codes in a required value set. It doesn't for media types, for example. */
export function isEnumerated(key: string): boolean {
  return structures().valueSets[key] !== undefined;
}

/** Returns an element's JSON name for one of its types: `value` + `Quantity` → `valueQuantity`. */
export function jsonName(element: ElementDefinition, code: string): string {
  if (!element.choice) return element.name;
  const type = code === 'SimpleQuantity' ? 'Quantity' : code;
  return element.name + type.charAt(0).toUpperCase() + type.slice(1);
}

function parseElement(key: string, text: string): ElementDefinition {
  const [cardinality = '', types = '', binding] = text.split(' ');
  const choice = key.endsWith('[x]');
  return {
    name: choice ? key.slice(0, -3) : key,
    choice,
    required: cardinality.startsWith('1'),
    list: cardinality.includes('*'),
    summary: cardinality.includes('s'),
    modifier: cardinality.includes('m'),
    types: types.split(',').map(parseType),
    ...(binding !== undefined && { binding }),
  };
}

function parseType(text: string): ElementType {
  if (text.startsWith('#')) return { code: text.slice(1) };
  const open = text.indexOf('(');
  if (open < 0) return { code: text };
  return { code: text.slice(0, open), targets: new Set(text.slice(open + 1, -1).split('|')) };
}

function parseRule([element, key, human, expression]: CompactRule): Invariant {
  return { ...(element !== '' && { element }), key, human, expression };
}
