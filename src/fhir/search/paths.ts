/**
 * R4's search expressions as paths through FHIR's JSON, each with the type of what stands at its end. They are compiled
 * from the generated tables once per type; none is written by hand.
 */
import { searchParameter, searchParameterCodes } from '../definitions/search-parameters.ts';
import { type ElementDefinition, jsonName, PRIMITIVES, typeDefinition } from '../definitions/tables.ts';
import type { ResourceType } from '../types.ts';

/** A way from a resource to elements. */
export interface Path {
  /** JSON names, lists passed over. None: the resource itself. */
  readonly steps: readonly string[];
  /** FHIR type of the elements at the end: `Coding`, `dateTime`, `Observation.component`. */
  readonly type: string;
  /** Value set that the element is bound to with strength `required`, where it is a `code`. */
  readonly binding?: string;
  /** `where(system = 'email')`: a member of the elements that must have a value. */
  readonly where?: readonly [member: string, value: string];
  /** `where(resolve() is Patient)`: the type that the reference's text must name. */
  readonly refersTo?: string;
  /** `a.exists() and a != false`: one boolean, whether there is a value other than false. */
  readonly truth?: true;
}

const CALL = /^(\w+)\((.*)\)$/;
const TRUTH = /^([\w.]+)\.exists\(\) and \1 != false$/;

/**
 * Compiles an expression.
 * @param base type that it begins at, a resource type or, in a composite's component, any other.
 * @throws Error for syntax that none of R4's search expressions for the 26 types has.
 */
export function compilePaths(expression: string, base: string): Path[] {
  const [, truth] = TRUTH.exec(expression) ?? [];
  if (truth !== undefined) {
    return compilePaths(truth, base).map((path) => ({ ...path, truth: true }));
  }
  return expression
    .replaceAll(/\(([\w.]+) as (\w+)\)/g, '$1.as($2)')
    .split(' | ')
    .flatMap((operand) => compileOperand(operand, base));
}

function compileOperand(operand: string, base: string): Path[] {
  const [first, ...others] = operand.split(/\.(?![^(]*\))/);
  const root = base === 'Resource' || base === first ? others : [first ?? '', ...others];
  let paths: Path[] = [{ steps: [], type: base }];
  for (const [at, step] of root.entries()) {
    const [, call, argument = ''] = CALL.exec(step) ?? [];
    if (call === 'as') paths = paths.filter(({ type }) => isA(type, argument));
    else if (call === 'where') paths = paths.map((path) => ({ ...path, ...condition(argument) }));
    else if (call === undefined) paths = paths.flatMap((path) => into(path, step));
    else throw new Error(`${call}() in the search expression ${operand}, step ${at}`);
  }
  return paths;
}

/** Primitives that are kinds of another: https://hl7.org/fhir/R4/datatypes.html */
const KINDS_OF: Readonly<Record<string, readonly string[]>> = {
  uri: ['canonical', 'oid', 'url', 'uuid'],
  string: ['code', 'id', 'markdown'],
  integer: ['positiveInt', 'unsignedInt'],
};

function isA(type: string, wanted: string): boolean {
  return type === wanted || KINDS_OF[wanted]?.includes(type) === true;
}

function condition(text: string): Pick<Path, 'where' | 'refersTo'> {
  const [, member, value] = /^(\w+)='(\w+)'$/.exec(text) ?? [];
  if (member !== undefined && value !== undefined) return { where: [member, value] };
  const [, type] = /^resolve\(\) is (\w+)$/.exec(text) ?? [];
  if (type !== undefined) return { refersTo: type };
  throw new Error(`where(${text}) in a search expression`);
}

/** The paths one element further; one for each type of a choice. */
function into(path: Path, name: string): Path[] {
  if (PRIMITIVES.has(path.type)) throw new Error(`${path.type} has no ${name}`);
  const element = typeDefinition(path.type).elements.find((each) => each.name === name);
  if (element === undefined) throw new Error(`${path.type} has no ${name}`);
  return element.types.map(({ code }) => ({
    ...path,
    steps: [...path.steps, jsonName(element, code)],
    type: code,
    ...bindingOf(element, code),
  }));
}

function bindingOf({ binding }: ElementDefinition, code: string): Pick<Path, 'binding'> {
  return code === 'code' && binding !== undefined ? { binding } : {};
}

/** A search parameter of a type, ready to be read from resources. */
export interface CompiledParameter {
  readonly code: string;
  readonly type: 'token' | 'reference' | 'date' | 'string' | 'uri' | 'quantity';
  readonly paths: readonly Path[];
}

const READABLE = new Set(['token', 'reference', 'date', 'string', 'uri', 'quantity']);
/** What every row of a read model says by itself. */
const OF_ROW = new Set(['_id', '_lastUpdated']);

const compiled = new Map<ResourceType, readonly CompiledParameter[]>();

/**
 * The parameters of a type whose values are read from its resources: all but composites, `special` ones, `_id` and
 * `_lastUpdated`.
 */
export function compiledParameters(type: ResourceType): readonly CompiledParameter[] {
  const known = compiled.get(type);
  if (known !== undefined) return known;
  const parameters = searchParameterCodes(type).flatMap((code) => {
    const parameter = searchParameter(type, code);
    if (parameter === undefined || !READABLE.has(parameter.type) || OF_ROW.has(code)) return [];
    const base = code.startsWith('_') ? 'Resource' : type;
    const paths = compilePaths(parameter.expression, base);
    return [{ code, type: parameter.type as CompiledParameter['type'], paths }];
  });
  compiled.set(type, parameters);
  return parameters;
}

/** The parameter of that code, if the type has it among `compiledParameters`. */
export function compiledParameter(type: ResourceType, code: string): CompiledParameter | undefined {
  return compiledParameters(type).find((parameter) => parameter.code === code);
}

const NOTHING: readonly unknown[] = [];

/** Elements that a path leads to in a resource: JSON values, lists laid out. */
export function elementsAt(resource: unknown, path: Path): readonly unknown[] {
  let found: readonly unknown[] = [resource];
  for (const step of path.steps) {
    found = membersOf(found, step);
    // Most elements are in few resources.
    if (found.length === 0) return NOTHING;
  }
  return path.where === undefined && path.refersTo === undefined
    ? found
    : found.filter((item) => holds(item, path));
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
