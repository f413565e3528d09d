/**
 * Compiles composites, which combine values that several parameters find in the same element.
 * https://hl7.org/fhir/R4/search.html#composite
 */
import { searchParameter } from '../definitions/search-parameters.ts';
import type { ResourceType } from '../types.ts';
import type { CompiledParameter, Composite, Part } from './compiled-parameter.ts';
import { compilePaths, type Path } from './expressions.ts';

const ORDERED = new Set(['quantity', 'date', 'string']);

/**
 * Compiles a composite.
 * @param paths the paths to the elements that contain both parts.
 * @throws Error if the composite doesn't have two parts, or if its expressions find no values for its parameters.
 */
export function compileComposite(
  type: ResourceType,
  paths: readonly Path[],
  components: readonly { readonly code: string; readonly expression: string }[],
): Composite {
  const [first, second, ...others] = components.map(({ code }) => makePart(type, code));
  if (first === undefined || second === undefined || others.length > 0) {
    throw new Error(`a composite of ${components.length} parts of ${type}`);
  }
  const expressions = components.map(({ expression }) => expression);
  const of = (part: typeof first, base: Path) => {
    // In DocumentReference's `relationship`, R4 swaps the two expressions. So for each parameter, use the expression that
    // finds its values.
    const own = expressions.map((expression) => compilePaths(expression, base.type));
    const found = own.find((relative) => relative.some((path) => part.places.has(placeName(base, path))));
    if (found === undefined) throw new Error(`a composite of ${type} without values of ${part.code}`);
    return found;
  };
  return {
    parts: [first, second],
    ordered: first.type === 'token' && ORDERED.has(second.type),
    bases: paths.map((base) => [of(first, base), of(second, base)]),
  };
}

function makePart(type: ResourceType, code: string): Part & { readonly places: ReadonlySet<string> } {
  const parameter = searchParameter(type, code);
  if (parameter === undefined) throw new Error(`${type} has no parameter ${code}, a part of a composite`);
  const places = compilePaths(parameter.expression, type).map((path) => placeName({ steps: [] }, path));
  return { code, type: parameter.type, places: new Set(places) };
}

function placeName(base: Pick<Path, 'steps'>, { steps, type }: Path): string {
  return `${[...base.steps, ...steps].join('.')} ${type}`;
}

/** For values that composites compare by order, adds the paths to the values' codes. */
export function withAbout(parameters: readonly CompiledParameter[]): readonly CompiledParameter[] {
  const about = new Map<string, Path['about']>();
  for (const { composite, paths } of parameters) {
    if (composite?.ordered !== true) continue;
    const stored = parameters.find(({ code }) => code === composite.parts[1].code)?.stored ?? [];
    for (const [at, [codes, values]] of composite.bases.entries()) {
      const base = paths[at];
      if (base === undefined) continue;
      for (const value of values) {
        for (const code of stored) {
          about.set(`${code} ${placeName(base, value)}`, { base, values: value, codes });
        }
      }
    }
  }
  return parameters.map((parameter) => ({
    ...parameter,
    paths: parameter.paths.map((path) => {
      const found = about.get(`${parameter.code} ${placeName({ steps: [] }, path)}`);
      return found === undefined ? path : { ...path, about: found };
    }),
  }));
}
