/**
 * Applies a FHIRPath Patch as specified in https://hl7.org/fhir/R4/fhirpatch.html: its table of operations and its base rules.
 */

import { withArticle } from '#src/shared/article.ts';
import { cut } from '#src/shared/cut.ts';
import { type Json, type JsonObject, MAX_DEPTH } from '#src/shared/json/json.ts';
import { copyJson, isDeeper } from '#src/shared/json/json-equal.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { Effort } from './effort.ts';
import { findNamedElement, fits, isPrimitive, jsonNames, type NamedElement } from './elements.ts';
import { memberPath } from './expression.ts';
import type { FhirPathOperation, PatchValue } from './fhirpath-patch.ts';
import { locate, locateParents, NotLocated, type View } from './locate.ts';
import {
  type Content,
  type ElementList,
  isPresent,
  type Location,
  objectAt,
  objectFor,
  openList,
  removeAt,
  setElement,
  typeAt,
} from './tree.ts';

/**
 * Applies operations in order, one per step; either all are applied or none. The given resource isn't changed.
 * @param textAsKnown returns text in the resource and in paths as the client knows it; paths are evaluated on this text
 * @throws Refusal invalid (422), naming the operation and its path, also if the result is nested more deeply than a body may
 * be; too_large (413) if evaluating the paths costs too much.
 */
export function* applyFhirPathPatch(
  resource: JsonObject,
  operations: readonly FhirPathOperation[],
  textAsKnown: Root['textAsKnown'] = (text) => text,
): Steps<JsonObject> {
  const root: Root = { value: copyJson(resource), effort: new Effort(resource), textAsKnown };
  yield;
  for (const operation of operations) {
    try {
      applyOperation(root, operation);
    } catch (error) {
      if (error instanceof NotLocated) throw refused(operation, error.message);
      throw error;
    }
    yield;
  }
  if (isDeeper(root.value, MAX_DEPTH)) {
    throw new Refusal('invalid', { code: 'structure', diagnostics: `the patch ${TOO_DEEP}` });
  }
  return root.value;
}

/** The resource while it is being patched. */
interface Root {
  readonly value: JsonObject;
  readonly effort: Effort;
  readonly textAsKnown: (text: string) => string;
}

const TOO_DEEP = `leaves the resource nested more than ${MAX_DEPTH} levels deep`;

/**
 * Refuses content that is nested too deeply, before the next path is evaluated, because evaluation recurses through the whole
 * resource.
 */
function refuseDeep(location: Location, added: Content, operation: FhirPathOperation): void {
  const levels = MAX_DEPTH - 2 * location.length;
  const values = [added.value, added.extra].filter((value) => value !== undefined);
  if (values.some((value) => isDeeper(value, levels))) throw refused(operation, `: it ${TOO_DEEP}`);
}

/** Counts the cost of the list that contains an element, because the list is copied. */
function spendList({ value, effort }: Root, location: Location, { at }: FhirPathOperation): void {
  const last = location.at(-1);
  const list = last?.index === undefined ? undefined : objectAt(value, location.slice(0, -1))?.[last.key];
  if (Array.isArray(list)) effort.list(list.length, at);
}

function located(root: Root, operation: FhirPathOperation): Location[] {
  return locate(root.value, root.textAsKnown(operation.path), makeView(root, operation));
}

function makeView({ effort, textAsKnown }: Root, { at }: FhirPathOperation): View {
  return { spend: (path) => effort.spend(path, at), textAsKnown };
}

function applyOperation(root: Root, operation: FhirPathOperation): void {
  switch (operation.type) {
    case 'add':
      add(root, operation);
      return;
    case 'insert': {
      const { list, element, owner } = collection(root, operation);
      if (operation.index > list.length) {
        throw refused(operation, `gives a list of ${list.length}; the index is ${operation.index}`);
      }
      const added = content(operation.value, element, operation).content;
      refuseDeep([...owner, { key: list.key, index: operation.index }], added, operation);
      list.insert(operation.index, added);
      list.store();
      return;
    }
    case 'move': {
      const { list } = collection(root, operation);
      const { source, destination } = operation;
      if (Math.max(source, destination) >= list.length) {
        throw refused(
          operation,
          `gives a list of ${list.length}; source is ${source}, destination ${destination}`,
        );
      }
      list.insert(destination, list.remove(source));
      list.store();
      return;
    }
    case 'replace':
      replace(root, operation);
      return;
    case 'delete': {
      const found = located(root, operation);
      if (found.length > 1)
        throw refused(operation, `gives ${found.length} elements; only one can be deleted`);
      const [location] = found;
      if (location?.length === 0) throw refused(operation, 'is the resource itself');
      if (location === undefined) return;
      spendList(root, location, operation);
      removeAt(root.value, location);
    }
  }
}

type Of<T extends FhirPathOperation['type']> = Extract<FhirPathOperation, { type: T }>;

/** Appends to a list, or sets a missing element if it doesn't repeat. */
function add(root: Root, operation: Of<'add'>): void {
  const location = single(root, operation);
  const element = namedElement(typeAt(root.value, location), operation.name, operation);
  const { key, content: added } = content(operation.value, element, operation);
  const parent = objectFor(root.value, location);
  if (parent === undefined) throw refused(operation, 'gives a value that has no elements');
  refuseDeep([...location, { key, index: 0 }], added, operation);
  if (element.definition.list) {
    const list = openList(parent, key);
    root.effort.list(list.length, operation.at);
    list.insert(list.length, added);
    list.store();
    return;
  }
  if (jsonNames(element.definition).some((name) => isPresent(parent, name))) {
    throw refused(operation, `already has ${operation.name}, which cannot repeat`);
  }
  setElement(parent, key, added);
}

/** Replaces an element. If it is a choice, its type may change, and with it the JSON name; the old name is then removed. */
function replace(root: Root, operation: Of<'replace'>): void {
  const location = single(root, operation);
  const last = location.at(-1);
  const above = location.slice(0, -1);
  const parent = objectAt(root.value, above);
  if (last === undefined || parent === undefined) throw refused(operation, 'is the resource itself');
  const named = namedElement(typeAt(root.value, above), last.key, operation);
  const element = named.definition.choice ? { ...named, code: undefined } : named;
  const { key, content: replacement } = content(operation.value, element, operation);
  refuseDeep(location, replacement, operation);
  spendList(root, location, operation);
  if (last.index === undefined) {
    setElement(parent, last.key, {});
    setElement(parent, key, replacement);
    return;
  }
  const list = openList(parent, last.key);
  list.set(last.index, replacement);
  list.store();
}

/** Returns the location of the single element that a path selects. */
function single(root: Root, operation: FhirPathOperation): Location {
  const found = located(root, operation);
  const [location] = found;
  if (location !== undefined && found.length === 1) return location;
  throw refused(
    operation,
    found.length === 0 ? 'gives nothing' : `gives ${found.length} elements instead of one`,
  );
}

/** Returns the whole list that a path names; an empty list if the list doesn't exist but its parent does. */
function collection(
  root: Root,
  operation: Of<'insert'> | Of<'move'>,
): { list: ElementList; element: NamedElement; owner: Location } {
  const found = located(root, operation);
  const member = memberPath(operation.path);
  const [first] = found;
  const owners =
    first !== undefined
      ? [first.slice(0, -1)]
      : locateParents(
          root.value,
          root.textAsKnown(member?.parent ?? operation.path),
          makeView(root, operation),
        );
  const [owner] = owners;
  const key = first?.at(-1)?.key ?? member?.name;
  if (owner === undefined || owners.length > 1 || key === undefined)
    throw refused(operation, 'gives no list');
  const element = namedElement(typeAt(root.value, owner), key, operation);
  const parent = objectAt(root.value, owner);
  if (parent === undefined || !element.definition.list) throw refused(operation, 'gives no list');
  const list = openList(parent, key);
  root.effort.list(10 * list.length, operation.at);
  const whole = Array.from({ length: list.length }, (_, index) => JSON.stringify([...owner, { key, index }]));
  const valued = whole.filter((_, index) => list.get(index).value !== undefined);
  const given = new Set(found.map((location) => JSON.stringify(location)));
  const places = new Set(whole);
  if (!valued.every((place) => given.has(place)) || ![...given].every((place) => places.has(place))) {
    throw refused(operation, 'must give the whole of one list');
  }
  return { list, element, owner };
}

function namedElement(type: string | undefined, name: string, operation: FhirPathOperation): NamedElement {
  const owner = type !== undefined && isPrimitive(type) ? 'Element' : type;
  const element = owner === undefined ? undefined : findNamedElement(owner, name);
  if (element !== undefined) return element;
  throw refused(
    operation,
    `gives ${type === undefined ? 'no element of R4' : withArticle(type)}, which has no element ${name}`,
  );
}

/** Returns a value from a patch in the form in which the element stores it, and the JSON name under which it is stored. */
function content(
  value: PatchValue,
  { definition, code }: NamedElement,
  operation: FhirPathOperation,
): { key: string; content: Content } {
  const chosen =
    code ??
    typeOfChoice(
      value,
      definition.types.map((type) => type.code),
    );
  const key = chosen === undefined ? undefined : jsonNameFor(definition, chosen);
  if (chosen === undefined || key === undefined) {
    throw refused(operation, `: ${definition.name} has a value of the wrong type`);
  }
  if (value.kind === 'typed' && fits(value.type, chosen)) return { key, content: copied(value.content) };
  if (value.kind === 'resource' && chosen === 'Resource')
    return { key, content: { value: copyJson(value.resource) } };
  if (value.kind === 'parts' && !isPrimitive(chosen) && chosen !== 'Resource') {
    return { key, content: { value: assemble(value, chosen, operation) } };
  }
  throw refused(operation, `: ${definition.name} must be ${withArticle(chosen)}`);
}

function typeOfChoice(value: PatchValue, codes: readonly string[]): string | undefined {
  if (value.kind !== 'typed') return undefined;
  return (
    codes.find((code) => code === value.type) ??
    codes.find((code) => code === 'SimpleQuantity' && value.type === 'Quantity')
  );
}

function jsonNameFor(definition: NamedElement['definition'], code: string): string | undefined {
  const at = definition.types.findIndex((type) => type.code === code);
  return definition.choice ? jsonNames(definition)[at] : definition.name;
}

/** Returns an object with an anonymous type, built from its parts. */
function assemble(
  value: Extract<PatchValue, { kind: 'parts' }>,
  type: string,
  operation: FhirPathOperation,
): JsonObject {
  const object: JsonObject = {};
  for (const part of value.parts) {
    const element = namedElement(type, part.name, operation);
    const { key, content: member } = content(part.value, element, operation);
    if (element.definition.list) {
      const list = openList(object, key);
      list.insert(list.length, member);
      list.store();
    } else if (jsonNames(element.definition).some((name) => isPresent(object, name))) {
      throw refused(operation, `: ${part.name} occurs twice but cannot repeat`);
    } else setElement(object, key, member);
  }
  return object;
}

function copied({ value, extra }: Content): Content {
  return {
    ...(value !== undefined && { value: copyJson<Json>(value) }),
    ...(extra !== undefined && { extra: copyJson(extra) }),
  };
}

function refused({ type, path, at }: FhirPathOperation, reason: string): Refusal {
  const about = `${at} (${type} ${cut(path, 200)})`;
  const diagnostics = reason.startsWith(':') ? `${about}${reason}` : `${about}: the path ${reason}`;
  return new Refusal('invalid', { code: 'value', diagnostics, expression: at });
}
