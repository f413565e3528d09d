/** R4's search expressions as paths through FHIR's JSON, each with the type of what stands at its end. */
import { type ElementDefinition, jsonName, PRIMITIVES, typeDefinition } from '../definitions/tables.ts';

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
  /** In a composite's second part: what the elements are values of. */
  readonly about?: About;
}

/** Where the codes stand that elements are values of: beside them, in the same base. */
export interface About {
  /** How many of the path's steps lead to the base: none to the resource, one to each component. */
  readonly base: number;
  /** Paths of the tokens, from the base. */
  readonly codes: readonly Path[];
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
    if (call === 'as') paths = paths.filter(({ type }) => isA(type, MISSPELT[argument] ?? argument));
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

/** Names that no type has in R4, and the types that they stand for: in Observation's `code-value-date`. */
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
