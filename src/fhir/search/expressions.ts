/** Compiles R4's search expressions to paths through FHIR's JSON, each with the type of the elements that it leads to. */
import { type ElementDefinition, jsonName, PRIMITIVES, typeDefinition } from '../definitions/tables.ts';

/** A path from a resource to elements. */
export interface Path {
  /** JSON names; lists are flattened. An empty path is the resource itself. */
  readonly steps: readonly string[];
  /** The FHIR type of the elements at the end: `Coding`, `dateTime`, `Observation.component`. */
  readonly type: string;
  /** The value set to which a `code` element is bound with strength `required`. */
  readonly binding?: string;
  /** `where(system = 'email')`: the value that one of the elements' members must have. */
  readonly where?: readonly [member: string, value: string];
  /** `where(resolve() is Patient)`: the type that the reference's text must name. */
  readonly refersTo?: string;
  /** `a.exists() and a != false`: the path returns one boolean, which is true if there is a value other than false. */
  readonly truth?: true;
  /** For a composite's second part: the codes that the values belong to. */
  readonly about?: About;
}

/** The codes that values belong to; codes and values are in the same base. */
export interface About {
  /** The path, split in two: to the base (the resource, or each component), and from there to the values. */
  readonly base: Path;
  readonly values: Path;
  /** The tokens' paths, relative to the base. */
  readonly codes: readonly Path[];
}

const CALL = /^(\w+)\((.*)\)$/;
const TRUTH = /^([\w.]+)\.exists\(\) and \1 != false$/;

/**
 * Compiles an expression to paths.
 * @param base the type at which the expression begins: a resource type or, in a composite's component, any type.
 * @throws Error for syntax that R4's search expressions for the 26 types don't use.
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
    if (call === 'as') paths = paths.filter(({ type }) => isA(type, MISSPELT[argument] ?? argument));
    else if (call === 'where') paths = paths.map((path) => ({ ...path, ...condition(argument) }));
    else if (call === undefined) paths = paths.flatMap((path) => into(path, step));
    else throw new Error(`${call}() in the search expression ${operand}, step ${at}`);
  }
  return paths;
}

/** For each primitive type, the primitive types derived from it: https://hl7.org/fhir/R4/datatypes.html */
const KINDS_OF: Readonly<Record<string, readonly string[]>> = {
  uri: ['canonical', 'oid', 'url', 'uuid'],
  string: ['code', 'id', 'markdown'],
  integer: ['positiveInt', 'unsignedInt'],
};

/** Misspelt type names in R4's expressions → the correct names; needed for Observation's `code-value-date`. */
const MISSPELT: Readonly<Record<string, string>> = { DateTime: 'dateTime' };

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

/** Returns a path extended by one element. A choice yields one path for each of its types. */
function into(path: Path, name: string): Path[] {
  if (PRIMITIVES.has(path.type)) throw new Error(`${path.type} has no ${name}`);
  const element = typeDefinition(path.type).elements.find((each) => each.name === name);
  if (element === undefined) throw new Error(`${path.type} has no ${name}`);
  return element.types.map(({ code }) => ({
    ...path,
    steps: [...path.steps, jsonName(element, code)],
    type: code,
    ...codeBinding(element, code),
  }));
}

function codeBinding({ binding }: ElementDefinition, code: string): Pick<Path, 'binding'> {
  return code === 'code' && binding !== undefined ? { binding } : {};
}
