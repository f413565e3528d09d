/** Parses FHIRPath Patch documents strictly. They are Parameters resources: https://hl7.org/fhir/R4/fhirpatch.html */

import { withArticle } from '#src/shared/article.ts';
import { cut } from '#src/shared/cut.ts';
import { Faults } from '#src/shared/faults.ts';
import { isNumber, isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { findDataType, isPrimitive } from './elements.ts';
import { findExpressionFault, MAX_LENGTH, MAX_PARSED, quoteDiv } from './expression.ts';
import { type Part, readInnerParts, readParameters, readParts } from './parameters-form.ts';
import { isPlain } from './plain-path.ts';
import type { Content } from './tree.ts';

/** A value of a named data type, a contained resource, or the members of a value with an anonymous type. */
export type PatchValue =
  | { readonly kind: 'typed'; readonly type: string; readonly content: Content }
  | { readonly kind: 'resource'; readonly resource: JsonObject }
  | { readonly kind: 'parts'; readonly parts: readonly NamedValue[] };

/** A member of a value with an anonymous type. */
export interface NamedValue {
  readonly name: string;
  readonly value: PatchValue;
}

/** One operation. `at` is its FHIRPath in the Parameters. */
export type FhirPathOperation = { readonly path: string; readonly at: string } & (
  | { readonly type: 'add'; readonly name: string; readonly value: PatchValue }
  | { readonly type: 'insert'; readonly index: number; readonly value: PatchValue }
  | { readonly type: 'delete' }
  | { readonly type: 'replace'; readonly value: PatchValue }
  | { readonly type: 'move'; readonly source: number; readonly destination: number }
);

/** The parts that each operation requires; any other part is refused. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  add: ['type', 'path', 'name', 'value'],
  insert: ['type', 'path', 'index', 'value'],
  delete: ['type', 'path'],
  replace: ['type', 'path', 'value'],
  move: ['type', 'path', 'source', 'destination'],
};

/**
 * Parses a Parameters resource as a patch. A patch without operations changes nothing.
 * @throws Refusal malformed (400) naming every operation that doesn't have the specified form.
 */
export function parseFhirPathPatch(parameters: JsonObject): FhirPathOperation[] {
  const given = readParameters(parameters);
  const faults = new Faults();
  refuseLongPaths(given);
  const operations = given.flatMap((parameter, index): FhirPathOperation[] => {
    const at = `Parameters.parameter[${index}]`;
    try {
      return [parseOperation(parameter, at)];
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      faults.addAll(error.issues);
      return [];
    }
  });
  if (!faults.none) throw new Refusal('malformed', faults.list());
  return operations;
}

/**
 * Refuses more paths than can be parsed at once.
 * @throws Refusal too_large (413)
 */
function refuseLongPaths(parameters: readonly Json[]): void {
  let length = 0;
  for (const parameter of parameters) {
    const parts = isObject(parameter) && Array.isArray(parameter.part) ? parameter.part : [];
    for (const part of parts)
      if (isObject(part) && typeof part.valueString === 'string' && part.name === 'path')
        length += isPlain(part.valueString) ? 0 : Math.min(part.valueString.length, MAX_LENGTH);
  }
  if (length <= MAX_PARSED) return;
  const diagnostics = `paths with more than names and positions can have at most ${MAX_PARSED} characters together; these have ${length}`;
  throw new Refusal('too_large', { code: 'too-costly', diagnostics, expression: 'Parameters.parameter' });
}

function parseOperation(parameter: Json, at: string): FhirPathOperation {
  const parts = new Map<string, Part>();
  for (const part of readParts(parameter, at)) {
    if (parts.has(part.name)) throw malformed(at, `has the part ${cut(part.name, 64)} twice`);
    parts.set(part.name, part);
  }
  const type = readCode(parts.get('type'), at);
  const wanted = Object.hasOwn(PARTS, type) ? PARTS[type] : undefined;
  if (wanted === undefined) {
    const meant = didYouMean(type, Object.keys(PARTS));
    throw malformed(at, `must be of type add, insert, delete, replace or move, not ${cut(type, 40)}${meant}`);
  }
  for (const name of parts.keys()) {
    if (!wanted.includes(name)) {
      const meant = didYouMean(name, wanted) || `; its parts are ${wanted.join(', ')}`;
      throw malformed(at, `(${type}) must not have a part ${cut(name, 64)}${meant}`);
    }
  }
  const path = quoteDiv(readText(parts.get('path'), 'path', at));
  const fault = findExpressionFault(path);
  if (fault !== undefined) throw malformed(at, `(${type}): its path ${fault}`);
  switch (type) {
    case 'add':
      return {
        type,
        at,
        path,
        name: readName(parts.get('name'), at),
        value: readValue(parts.get('value'), at),
      };
    case 'insert':
      return {
        type,
        at,
        path,
        index: readIndex(parts.get('index'), 'index', at),
        value: readValue(parts.get('value'), at),
      };
    case 'replace':
      return { type, at, path, value: readValue(parts.get('value'), at) };
    case 'move': {
      const source = readIndex(parts.get('source'), 'source', at);
      return { type, at, path, source, destination: readIndex(parts.get('destination'), 'destination', at) };
    }
    default:
      return { type: 'delete', at, path };
  }
}

function readCode(part: Part | undefined, at: string): string {
  const code = part?.valueCode ?? part?.valueString;
  if (typeof code === 'string') return code;
  throw malformed(at, 'needs a part type with a valueCode');
}

function readText(part: Part | undefined, name: string, at: string): string {
  const text = part?.valueString;
  if (typeof text === 'string' && text.trim() !== '') return text;
  throw malformed(at, `needs a part ${name} with a valueString`);
}

function readName(part: Part | undefined, at: string): string {
  const name = readText(part, 'name', at);
  if (/^[A-Za-z]\w{0,63}$/.test(name)) return name;
  throw malformed(at, 'must have the name of an element as name');
}

function readIndex(part: Part | undefined, name: string, at: string): number {
  const index = part?.valueInteger;
  if (isNumber(index) && Number.isSafeInteger(Number(index)) && Number(index) >= 0) return Number(index);
  throw malformed(at, `needs a part ${name} with a valueInteger from 0`);
}

/** Reads a part's value: `value[x]` with any data type, a resource, or parts, which may be nested. */
function readValue(part: Part | undefined, at: string): PatchValue {
  if (part === undefined)
    throw malformed(at, 'needs a part value, for example {"name": "value", "valueString": "…"}');
  const { name, id: _id, extension: _extension, part: parts, resource, ...members } = part;
  const where = cut(name, 64);
  const values = new Set(Object.keys(members).map((key) => key.replace(/^_/, '')));
  const [key] = values;
  if (values.size + (parts === undefined ? 0 : 1) + (resource === undefined ? 0 : 1) !== 1) {
    throw malformed(at, `: the part ${where} must have exactly one value[x], resource or part`);
  }
  if (resource !== undefined) {
    if (isObject(resource)) return { kind: 'resource', resource };
    throw malformed(at, `: the resource of the part ${where} must be an object`);
  }
  if (parts !== undefined) {
    return {
      kind: 'parts',
      parts: readInnerParts(parts, at, where).map((inner) => ({
        name: inner.name,
        value: readValue(inner, at),
      })),
    };
  }
  const type = key?.startsWith('value') ? findDataType(key.slice('value'.length)) : undefined;
  if (key === undefined || type === undefined)
    throw malformed(
      at,
      `: the part ${where} has no value[x] of R4, such as valueString: ${cut(String(key), 64)}`,
    );
  return { kind: 'typed', type, content: readContent(members[key], members[`_${key}`], type, where, at) };
}

function readContent(
  value: Json | undefined,
  extra: Json | undefined,
  type: string,
  where: string,
  at: string,
): Content {
  const primitive = isPrimitive(type);
  const fine =
    (value === undefined || (primitive ? typeof value !== 'object' || isNumber(value) : isObject(value))) &&
    (extra === undefined || (primitive && isObject(extra)));
  if (!fine) throw malformed(at, `: the part ${where} is not ${withArticle(type)}`);
  return { ...(value !== undefined && { value }), ...(isObject(extra) && { extra }) };
}

function malformed(at: string, reason: string): Refusal {
  const diagnostics = reason.startsWith(':') ? `${at}${reason}` : `${at} ${reason}`;
  return new Refusal('malformed', { code: 'structure', diagnostics, expression: at });
}
