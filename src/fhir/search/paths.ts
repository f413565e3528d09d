/**
 * The search parameters of a type, each with its paths: compiled from the generated tables once per type; none is written
 * by hand.
 */
import { searchParameter, searchParameterCodes } from '../definitions/search-parameters.ts';
import { type ResourceType, typeEntry } from '../types.ts';
import type { CompiledParameter } from './compiled-parameter.ts';
import { compileComposite, withAbout } from './composites.ts';
import { compilePaths, type Path } from './expressions.ts';
import { withTimeline } from './timeline.ts';

const READABLE = new Set(['token', 'reference', 'date', 'string', 'uri', 'quantity', 'composite', 'special']);
/** What every row of a read model says by itself. */
const OF_ROW = new Set(['_id', '_lastUpdated']);

/** The string parameter of types with names that R4 leaves to an algorithm. */
const PHONETIC = 'phonetic';

const compiled = new Map<ResourceType, readonly CompiledParameter[]>();

/** The parameters of a type whose values are read from its resources: all but `_id` and `_lastUpdated`. */
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
 * Code → the codes that hold its values. A parameter whose values are those of others together, of the same kind, is
 * held by them; of two alike the first holds both.
 */
function storedCodes(
  type: ResourceType,
  parameters: readonly Omit<CompiledParameter, 'stored'>[],
): ReadonlyMap<string, readonly string[]> {
  const stored = new Map<string, readonly string[]>();
  const holders: { readonly code: string; readonly type: string; readonly keys: readonly string[] }[] = [];
  const keyed = parameters.map((parameter) => ({ ...parameter, keys: keysOf(type, parameter) }));
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

/** One text a path: equal texts, equal values. In the record of a patient every `subject` is a Patient. */
function keysOf(type: ResourceType, { paths, composite }: Omit<CompiledParameter, 'stored'>): string[] {
  const { home, owner } = typeEntry(type);
  return paths.map((path, at) => {
    const { refersTo, ...same } = path;
    const certain =
      refersTo === 'Patient' && home === 'record' && owner !== 'target' && path.steps.join() === owner;
    return JSON.stringify([certain ? same : path, composite?.bases[at]]);
  });
}

/** The parameter of that code, if the type has it among `compiledParameters`. */
export function compiledParameter(type: ResourceType, code: string): CompiledParameter | undefined {
  return compiledParameters(type).find((parameter) => parameter.code === code);
}

/** Whether a parameter is the reference that says in whose record a resource is: always a Patient's. */
export function namesRecord(type: ResourceType, { paths }: Pick<CompiledParameter, 'paths'>): boolean {
  const { owner } = typeEntry(type);
  const [path, ...others] = paths;
  return owner !== 'target' && others.length === 0 && path?.steps.join() === owner;
}

const NOTHING: readonly unknown[] = [];

/** Elements that a path leads to in a resource: JSON values, lists laid out. */
export function elementsAt(resource: unknown, path: Path): readonly unknown[] {
  if (isWithout(resource, path.steps[0])) return NOTHING;
  let found: readonly unknown[] = [resource];
  for (const step of path.steps) {
    found = membersOf(found, step);
    if (found.length === 0) return NOTHING;
  }
  return path.where === undefined && path.refersTo === undefined
    ? found
    : found.filter((item) => holds(item, path));
}

/** Whether an element has no such member: most elements are in few resources. */
function isWithout(element: unknown, name: string | undefined): boolean {
  if (name === undefined) return false;
  if (typeof element !== 'object' || element === null) return true;
  const member = (element as Readonly<Record<string, unknown>>)[name];
  return member === undefined || member === null;
}

function membersOf(items: readonly unknown[], name: string): readonly unknown[] {
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

/** The type that the text of a reference names: `Patient` of `Patient/1`, `https://…/Patient/1/_history/2`; else undefined. */
export function typeInReference(reference: string): string | undefined {
  return /(?:^|\/)([A-Z][A-Za-z]+)\/[A-Za-z0-9.-]{1,64}(?:\/_history\/[A-Za-z0-9.-]{1,64})?$/.exec(
    reference,
  )?.[1];
}
