/**
 * Finds the elements in a resource that a FHIRPath expression selects. fhirpath.js evaluates the expression; its result nodes
 * contain the locations.
 */
import { isLosslessNumber } from 'lossless-json';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { loadEngine } from '../fhirpath/engine.ts';
import { findNamedElement, jsonNames } from './elements.ts';
import { memberPath } from './expression.ts';
import { followPlain } from './plain-path.ts';
import { isPresent, type Location, objectAt, typeAt } from './tree.ts';

/**
 * Thrown for a path that can't be evaluated on this resource, or that selects something other than elements of the resource.
 */
export class NotLocated extends Error {
  override readonly name = 'NotLocated';
}

/** The members of fhirpath.js's result nodes that contain the location. */
interface FoundNode {
  readonly parentResNode: FoundNode | null;
  readonly propName: string | null;
  readonly index: number | null;
  readonly data: unknown;
  readonly _data: unknown;
}

/** Determines how a resource is evaluated. */
export interface View {
  /** Called before an expression is evaluated on the whole resource; throws Refusal if the evaluation would cost too much. */
  readonly spend: (expression: string) => void;
  /** Returns text in the resource as the client knows it, with the same length. */
  readonly textAsKnown: (text: string) => string;
}

/**
 * Returns the elements that an expression selects, in order, without duplicates.
 * @param expression as the client wrote it
 * @throws NotLocated; also the Refusal from `spend`
 */
export function locate(resource: JsonObject, expression: string, view: View): Location[] {
  const plain = followPlain(resource, expression);
  if (plain !== undefined) return plain;
  view.spend(expression);
  // Evaluates a copy, because fhirpath.js may write type information into its input and doesn't support numbers that are kept
  // as literals.
  const { fhirpath, model } = loadEngine();
  const readable = forFhirpath(resource, view.textAsKnown);
  let found: unknown[];
  try {
    const environment = { resource: readable, rootResource: readable };
    found = fhirpath.evaluate(readable, expression, environment, model, {
      resolveInternalTypes: false,
      preciseMath: true,
    });
  } catch {
    throw new NotLocated('cannot be evaluated on this resource');
  }
  const locations = found.map((node) => {
    if (!isFoundNode(node)) throw new NotLocated('gives a computed value, not an element of the resource');
    return makeLocation(node, readable, resource);
  });
  const unique = [...new Map(locations.map((location) => [JSON.stringify(location), location])).values()];
  return unique.length > 0 ? unique : withoutValue(resource, expression, view);
}

/** Finds a primitive that has extensions but no value; fhirpath.js leaves such primitives out of its results. */
function withoutValue(resource: JsonObject, expression: string, view: View): Location[] {
  const member = memberPath(expression);
  if (member === undefined) return [];
  return locateParents(resource, member.parent, view).flatMap((parent): Location[] => {
    const object = objectAt(resource, parent);
    const key = object === undefined ? undefined : presentKey(resource, parent, object, member.name);
    if (object === undefined || key === undefined || Object.hasOwn(object, key)) return [];
    const extras = object[`_${key}`];
    if (!Array.isArray(extras)) return [[...parent, { key }]];
    return extras.flatMap((extra, index): Location[] =>
      isObject(extra) ? [[...parent, { key, index }]] : [],
    );
  });
}

/** Returns the locations that a path selects without its last name; if the path is a single name, the resource itself. */
export function locateParents(resource: JsonObject, expression: string, view: View): Location[] {
  return expression === '' ? [[]] : locate(resource, expression, view);
}

function makeLocation(node: FoundNode, readable: unknown, resource: JsonObject): Location {
  const { parentResNode, propName } = node;
  if (parentResNode === null || propName === null) {
    if (node.data === readable) return [];
    throw new NotLocated('gives something that is not in the resource');
  }
  const parent = makeLocation(parentResNode, readable, resource);
  const object = objectAt(resource, parent);
  const key = object === undefined ? undefined : presentKey(resource, parent, object, propName);
  if (object === undefined || key === undefined) {
    throw new NotLocated('gives something that is not in the resource');
  }
  if (node.index !== null) return [...parent, { key, index: node.index }];
  const index = indexByExtra(node, parentResNode, key);
  return [...parent, index === undefined ? { key } : { key, index }];
}

/**
 * Returns an item's index, found by means of its `_` object, because fhirpath.js gives no index in a list in which no item has
 * a value.
 */
function indexByExtra(node: FoundNode, parent: FoundNode, key: string): number | undefined {
  const extras = isRecord(parent.data) ? parent.data[`_${key}`] : undefined;
  if (!Array.isArray(extras)) return undefined;
  const index = extras.indexOf(node._data);
  return index < 0 ? undefined : index;
}

/** Returns the JSON name under which an element is present: its own name or, for a choice, the name with the type. */
function presentKey(
  resource: JsonObject,
  location: Location,
  parent: JsonObject,
  name: string,
): string | undefined {
  if (isPresent(parent, name)) return name;
  const type = typeAt(resource, location);
  const element = type === undefined ? undefined : findNamedElement(type, name);
  if (element === undefined) return undefined;
  return jsonNames(element.definition).find((key) => isPresent(parent, key));
}

/**
 * Returns a copy for fhirpath.js. In the copy, fhirpath.js's own exact decimals replace numbers that are kept as literals, and
 * text is as the client knows it.
 */
function forFhirpath(value: Json, textAsKnown: View['textAsKnown']): unknown {
  if (typeof value === 'string') return textAsKnown(value);
  if (isLosslessNumber(value)) return loadEngine().fhirpath.FP_Decimal.getDecimal(value.value);
  if (Array.isArray(value)) return value.map((item) => forFhirpath(item, textAsKnown));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, forFhirpath(member, textAsKnown)]),
  );
}

function isFoundNode(value: unknown): value is FoundNode {
  return isRecord(value) && 'parentResNode' in value && 'propName' in value;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
