/**
 * Applies JSON Patch to value trees in which numbers are kept as written: https://www.rfc-editor.org/rfc/rfc6902. R4 doesn't
 * define a status for a patch that can't be applied (http.html#patch); RFC 5789, section 2.2, specifies 422.
 */

import { z } from 'zod';
import { cut } from '#src/shared/cut.ts';
import { Faults } from '#src/shared/faults.ts';
import { isObject, type Json, type JsonObject, MAX_DEPTH } from '#src/shared/json/json.ts';
import { copyJson, isDeeper, sameJson, sizeOfJson } from '#src/shared/json/json-equal.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { isBelow, type Place, type Pointer, parsePointer, placeAt, valueAt } from './json-pointer.ts';

/** One operation. `text` describes it in diagnostics. */
export type JsonPatchOperation = { readonly path: Pointer; readonly text: string } & (
  | { readonly op: 'add' | 'replace' | 'test'; readonly value: Json }
  | { readonly op: 'remove' }
  | { readonly op: 'move' | 'copy'; readonly from: Pointer }
);

/** Maximum number of operations in one document. */
const MAX_OPERATIONS = 10_000;
/** Maximum number of values that the copies in one document may create; stops repeated doubling by `copy`. */
const MAX_COPIED = 200_000;
/** Maximum number of characters of text in these copies; it is more than a resource's event may contain. */
const MAX_COPIED_TEXT = 12_000_000;
const TOO_DEEP = `leaves the resource nested more than ${MAX_DEPTH} levels deep`;

const pointer = z.string('must be a JSON Pointer, for example /name/0/family').transform((text, context) => {
  const parsed = parsePointer(text);
  if (parsed !== undefined) return parsed;
  context.addIssue({ code: 'custom', message: 'is not a JSON Pointer, for example /name/0/family' });
  return z.NEVER;
});
const value = z.custom<Json>((given) => given !== undefined, 'is missing');

/** Members that RFC 6902 doesn't define are ignored, as its section 4 requires. */
const operationSchema = z.discriminatedUnion(
  'op',
  [
    z.object({ op: z.literal('add'), path: pointer, value }),
    z.object({ op: z.literal('remove'), path: pointer }),
    z.object({ op: z.literal('replace'), path: pointer, value }),
    z.object({ op: z.literal('move'), path: pointer, from: pointer }),
    z.object({ op: z.literal('copy'), path: pointer, from: pointer }),
    z.object({ op: z.literal('test'), path: pointer, value }),
  ],
  'must be add, remove, replace, move, copy or test',
);

/**
 * Parses a patch document.
 * @throws Refusal malformed (400) naming every operation that doesn't have the form in RFC 6902; too_large (413) for too many
 *   operations.
 */
export function parseJsonPatch(document: Json): JsonPatchOperation[] {
  if (!Array.isArray(document)) {
    throw new Refusal('malformed', {
      code: 'structure',
      diagnostics: 'a JSON Patch must be an array of operations',
    });
  }
  if (document.length > MAX_OPERATIONS) {
    throw new Refusal('too_large', {
      code: 'too-long',
      diagnostics: `a JSON Patch can have at most ${MAX_OPERATIONS} operations`,
    });
  }
  const faults = new Faults();
  const operations = document.flatMap((item, index): JsonPatchOperation[] => {
    const parsed = operationSchema.safeParse(item);
    if (!parsed.success) {
      for (const issue of parsed.error.issues) {
        const member = issue.path.length === 0 ? '' : ` ${issue.path.join('.')}`;
        faults.add({
          code: 'structure',
          diagnostics: `JSON Patch operation ${index}:${member} ${issue.message}`,
        });
      }
      return [];
    }
    const path = isObject(item) && typeof item.path === 'string' ? cut(item.path, 200) : '';
    return [{ ...parsed.data, text: `JSON Patch operation ${index} (${parsed.data.op} "${path}")` }];
  });
  if (!faults.none) throw new Refusal('malformed', faults.list());
  return operations;
}

/**
 * Applies operations in order, one per step; either all are applied or none. The given resource isn't changed. Arrays and
 * objects that become empty because something was removed are removed too, because FHIR's JSON doesn't allow them (json.html).
 * @throws Refusal invalid (422), naming the operation, if its path finds nothing, its `test` fails, or it nests a value more
 * deeply than a body may be; too_large (413) if copies create too many values.
 */
export function* applyJsonPatch(
  resource: JsonObject,
  operations: readonly JsonPatchOperation[],
): Steps<Json | undefined> {
  const tree: Tree = { root: copyJson(resource), emptied: new Set(), copied: 0, copiedText: 0 };
  yield;
  for (const operation of operations) {
    applyOperation(tree, operation);
    yield;
  }
  // The depth of moved values is checked once, here, because measuring it at each move would each time cost as much as the
  // size of the resource.
  if (isDeeper(tree.root, MAX_DEPTH)) {
    throw new Refusal('invalid', { code: 'structure', diagnostics: `the JSON Patch ${TOO_DEEP}` });
  }
  return tree.emptied.size === 0 ? tree.root : pruned(tree.root, tree.emptied);
}

interface Tree {
  root: Json;
  /** The arrays and objects from which something was removed. */
  readonly emptied: Set<Json>;
  copied: number;
  copiedText: number;
}

function applyOperation(tree: Tree, operation: JsonPatchOperation): void {
  const { path } = operation;
  switch (operation.op) {
    case 'add':
      add(tree, path, copyForPath(tree, operation.value, operation), operation);
      return;
    case 'remove':
      take(tree, path, operation);
      return;
    case 'replace':
      mustExist(tree, path, operation);
      put(tree, path, copyForPath(tree, operation.value, operation), operation);
      return;
    case 'copy':
      add(tree, path, copyForPath(tree, mustExist(tree, operation.from, operation), operation), operation);
      return;
    case 'move': {
      if (isBelow(path, operation.from)) throw refused(operation, 'a value cannot be moved into itself');
      if (operation.from.length === 0) return;
      add(tree, path, take(tree, operation.from, operation), operation);
      return;
    }
    case 'test':
      if (sameJson(mustExist(tree, path, operation), operation.value)) return;
      throw refused(operation, 'the test failed: the value there is different', 'invariant');
  }
}

function add(tree: Tree, path: Pointer, added: Json, operation: JsonPatchOperation): void {
  if (path.at(-1) === '-') makeList(tree, path.slice(0, -1));
  const place = path.length === 0 ? undefined : target(tree, path, operation);
  if (place !== undefined && 'array' in place) place.array.splice(place.index, 0, added);
  else put(tree, path, added, operation);
}

/**
 * Creates a missing list, so that `/telecom/-` can add its first item: FHIR's JSON has no empty lists to which an item could
 * be added (docs/spec/decisions.md, section 5 "Writes").
 */
function makeList(tree: Tree, path: Pointer): void {
  const place = placeAt(tree.root, path);
  if (place !== undefined && 'object' in place && !Object.hasOwn(place.object, place.key))
    place.object[place.key] = [];
}

function put(tree: Tree, path: Pointer, replacement: Json, operation: JsonPatchOperation): void {
  if (path.length === 0) {
    tree.root = replacement;
    return;
  }
  const place = target(tree, path, operation);
  if ('array' in place) place.array[place.index] = replacement;
  else place.object[place.key] = replacement;
}

function take(tree: Tree, path: Pointer, operation: JsonPatchOperation): Json {
  const taken = mustExist(tree, path, operation);
  if (path.length === 0) throw refused(operation, 'a patch cannot remove the resource');
  const place = target(tree, path, operation);
  if ('array' in place) {
    place.array.splice(place.index, 1);
    tree.emptied.add(place.array);
  } else {
    delete place.object[place.key];
    tree.emptied.add(place.object);
  }
  return taken;
}

function target(tree: Tree, path: Pointer, operation: JsonPatchOperation): Place {
  const place = placeAt(tree.root, path);
  if (place === undefined) throw refused(operation, "the path doesn't exist");
  return place;
}

function mustExist(tree: Tree, path: Pointer, operation: JsonPatchOperation): Json {
  const found = valueAt(tree.root, path);
  if (found === undefined) throw refused(operation, 'nothing exists at that path');
  return found;
}

/**
 * Returns a copy of a value for the operation's path. The depth is checked first, because a value that earlier moves have
 * nested too deeply can't be traversed.
 */
function copyForPath(tree: Tree, source: Json, operation: JsonPatchOperation): Json {
  if (isDeeper(source, MAX_DEPTH - operation.path.length)) throw refused(operation, TOO_DEEP, 'structure');
  const { values, text } = sizeOfJson(source);
  tree.copied += values;
  tree.copiedText += text;
  if (tree.copied <= MAX_COPIED && tree.copiedText <= MAX_COPIED_TEXT) return copyJson(source);
  throw new Refusal('too_large', {
    code: 'too-long',
    diagnostics: `${operation.text}: the patch makes the resource too large`,
  });
}

/** Returns the value without the containers that removals left empty, and without parents that become empty as a result. */
function pruned(value: Json, emptied: ReadonlySet<Json>): Json | undefined {
  if (Array.isArray(value)) {
    const kept = value.flatMap((item): Json[] => {
      const left = pruned(item, emptied);
      return left === undefined ? [] : [left];
    });
    return kept.length === 0 && (value.length > 0 || emptied.has(value)) ? undefined : kept;
  }
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  const kept = entries.flatMap(([key, member]): [string, Json][] => {
    const left = pruned(member, emptied);
    return left === undefined ? [] : [[key, left]];
  });
  return kept.length === 0 && (entries.length > 0 || emptied.has(value))
    ? undefined
    : Object.fromEntries(kept);
}

function refused(
  operation: JsonPatchOperation,
  reason: string,
  code: 'value' | 'invariant' | 'structure' = 'value',
): Refusal {
  return new Refusal('invalid', { code, diagnostics: `${operation.text}: ${reason}` });
}
