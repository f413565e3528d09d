/**
 * Compiles each type's search parameters and their paths, once per type. They come from the generated tables; none is written
 * by hand.
 */
import { searchParameter, searchParameterCodes } from '../definitions/search-parameters.ts';
import { type ResourceType, typeEntry } from '../types.ts';
import type { CompiledParameter } from './compiled-parameter.ts';
import { compileComposite, withAbout } from './composites.ts';
import { compilePaths, type Path } from './expressions.ts';
import { withTimeline } from './timeline.ts';

const READABLE = new Set(['token', 'reference', 'date', 'string', 'uri', 'quantity', 'composite', 'special']);
/** Parameters whose values are columns in every row of a read model. */
const OF_ROW = new Set(['_id', '_lastUpdated']);

/** A string parameter on types with names; R4 leaves its algorithm to the server. */
const PHONETIC = 'phonetic';

const compiled = new Map<ResourceType, readonly CompiledParameter[]>();

/** Returns a type's parameters whose values are read from its resources: all except `_id` and `_lastUpdated`. */
export function compiledParameters(type: ResourceType): readonly CompiledParameter[] {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  const parameters = compile(type);
  compiled.set(type, parameters);
  return parameters;
}

function compile(type: ResourceType): readonly CompiledParameter[] {
  const parameters = searchParameterCodes(type).flatMap((code) => {
    const parameter = searchParameter(type, code);
    if (parameter === undefined || !READABLE.has(parameter.type) || OF_ROW.has(code)) return [];
    const base = code.startsWith('_') ? 'Resource' : type;
    const paths = compilePaths(parameter.expression, base);
    const composite =
      parameter.component === undefined
        ? {}
        : { composite: compileComposite(type, paths, parameter.component) };
    const sounds = code === PHONETIC ? { sounds: true as const } : {};
    return [{ code, type: parameter.type as CompiledParameter['type'], paths, ...composite, ...sounds }];
  });
  const storing = storedCodes(type, parameters);
  const compiledOnes = parameters.map((each) => ({ ...each, stored: storing.get(each.code) ?? [each.code] }));
  return withTimeline(type, withAbout(compiledOnes));
}

/**
 * Maps each parameter's code to the codes under which its values are stored. If a parameter's values are the union of other
 * parameters of the same kind, the values are stored under those parameters' codes; if two parameters are equal, both are
 * stored under the code of the first one.
 */
function storedCodes(
  type: ResourceType,
  parameters: readonly Omit<CompiledParameter, 'stored'>[],
): ReadonlyMap<string, readonly string[]> {
  const stored = new Map<string, readonly string[]>();
  const holders: { readonly code: string; readonly type: string; readonly keys: readonly string[] }[] = [];
  const keyed = parameters.map((parameter) => ({ ...parameter, keys: pathKeys(type, parameter) }));
  keyed.sort((a, b) => a.keys.length - b.keys.length || (a.code < b.code ? -1 : 1));
  for (const { code, type: kind, keys, paths, sounds } of keyed) {
    if (sounds === true) continue;
    const parts = holders.filter(
      (holder) => holder.type === kind && holder.keys.every((key) => keys.includes(key)),
    );
    const covered = new Set(parts.flatMap((part) => part.keys));
    const whole = covered.size === keys.length && paths[0]?.truth !== true;
    stored.set(code, whole ? parts.map((part) => part.code) : [code]);
    if (!whole) holders.push({ code, type: kind, keys });
  }
  return stored;
}

/**
 * Returns one text per path. Paths with equal texts have equal values: for example, every `subject` in a patient's record is a
 * Patient.
 */
function pathKeys(type: ResourceType, { paths, composite }: Omit<CompiledParameter, 'stored'>): string[] {
  const { home, owner } = typeEntry(type);
  return paths.map((path, at) => {
    const { refersTo, ...same } = path;
    const certain =
      refersTo === 'Patient' && home === 'record' && owner !== 'target' && path.steps.join() === owner;
    return JSON.stringify([certain ? same : path, composite?.bases[at]]);
  });
}

/** Returns the parameter with a given code, if it is among the type's `compiledParameters`. */
export function compiledParameter(type: ResourceType, code: string): CompiledParameter | undefined {
  return compiledParameters(type).find((parameter) => parameter.code === code);
}

/**
 * Returns whether a parameter is the reference that determines a resource's record, which is always a reference to a Patient.
 */
export function namesRecord(type: ResourceType, { paths }: Pick<CompiledParameter, 'paths'>): boolean {
  const { owner } = typeEntry(type);
  const [path, ...others] = paths;
  return owner !== 'target' && others.length === 0 && path?.steps.join() === owner;
}

const NOTHING: readonly unknown[] = [];

/** Returns the elements at a path in a resource, as JSON values; lists are flattened. */
export function elementsAt(resource: unknown, path: Path): readonly unknown[] {
  if (isWithout(resource, path.steps[0])) return NOTHING;
  let found: readonly unknown[] = [resource];
  for (const step of path.steps) {
    found = collectMembers(found, step);
    if (found.length === 0) return NOTHING;
  }
  return path.where === undefined && path.refersTo === undefined
    ? found
    : found.filter((item) => holds(item, path));
}

/** Returns whether an element lacks a member. This is checked first, because most resources lack most elements. */
function isWithout(element: unknown, name: string | undefined): boolean {
  if (name === undefined) return false;
  if (typeof element !== 'object' || element === null) return true;
  const member = (element as Readonly<Record<string, unknown>>)[name];
  return member === undefined || member === null;
}

function collectMembers(items: readonly unknown[], name: string): readonly unknown[] {
  let members: unknown[] | undefined;
  for (const item of items) {
    if (typeof item !== 'object' || item === null) continue;
    const value = (item as Readonly<Record<string, unknown>>)[name];
    if (value === undefined || value === null) continue;
    members ??= [];
    if (!Array.isArray(value)) members.push(value);
    else for (const each of value) if (each !== null) members.push(each);
  }
  return members ?? NOTHING;
}

function holds(item: unknown, { where, refersTo }: Path): boolean {
  if (where !== undefined) return (item as Readonly<Record<string, unknown>>)[where[0]] === where[1];
  if (refersTo === undefined) return true;
  const { reference } = item as { readonly reference?: unknown };
  return typeof reference === 'string' && typeInReference(reference) === refersTo;
}

/**
 * Returns the type in a reference's text: `Patient` for `Patient/1` or `https://…/Patient/1/_history/2`; otherwise undefined.
 */
export function typeInReference(reference: string): string | undefined {
  return /(?:^|\/)([A-Z][A-Za-z]+)\/[A-Za-z0-9.-]{1,64}(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/.exec(
    reference,
  )?.[1];
}

/** Returns whether a parameter is sorted by a text that a row stores in addition to its keys (`sorts.ts`). */
export function isSortedByText({ type }: Pick<CompiledParameter, 'type'>): boolean {
  return type === 'token' || type === 'reference';
}
