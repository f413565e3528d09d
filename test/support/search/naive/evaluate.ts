/**
 * Evaluates FHIR R4 searches over resources in memory. Written directly from the specification without optimizations, for
 * comparison with the database's results. It doesn't share any code with the product's extractors and statements.
 */
import { matches, relative } from './match.ts';
import { type Json, operandsOf, type Published, publishedParameter, valuesAt } from './published.ts';
import { splitEscaped } from './text.ts';

/** The resources that a search may find. */
export interface Universe {
  readonly resources: readonly (Json & { readonly resourceType: string; readonly id: string })[];
  /** The FHIR interface's base URL, with a trailing slash. */
  readonly base: string;
}

/** One query parameter: `name:modifier=text`, including chains and `_has`. */
interface Condition {
  readonly key: string;
  readonly text: string;
}

/** Returns the ids that a query on a type finds, sorted. */
export function evaluate(universe: Universe, type: string, query: string): string[] {
  const conditions = query.split('&').map((part) => {
    const at = part.indexOf('=');
    return { key: part.slice(0, at), text: part.slice(at + 1) };
  });
  return universe.resources
    .filter((each) => each.resourceType === type && conditions.every((asked) => holds(universe, each, asked)))
    .map(({ id }) => id)
    .sort();
}

function holds(
  universe: Universe,
  resource: Universe['resources'][number],
  { key, text }: Condition,
): boolean {
  if (key.startsWith('_has:')) {
    const [, type = '', reference = '', ...rest] = key.split(':');
    const parameter = parameterOf(type, reference);
    return universe.resources.some(
      (other) =>
        other.resourceType === type &&
        targetsOf(universe, parameter, other).includes(resource) &&
        holds(universe, other, { key: rest.join(':'), text }),
    );
  }
  const dot = key.indexOf('.');
  if (dot >= 0) {
    const [name = '', type] = key.slice(0, dot).split(':');
    const rest = key.slice(dot + 1);
    return targetsOf(universe, parameterOf(resource.resourceType, name), resource).some(
      (target) =>
        (type === undefined || target.resourceType === type) &&
        has(target.resourceType, rest) &&
        holds(universe, target, { key: rest, text }),
    );
  }
  const [name = '', modifier] = key.split(':');
  const parameter = parameterOf(resource.resourceType, name);
  if (modifier === 'missing') {
    return (valuesAt(parameter.expression, resource).length === 0) === (text === 'true');
  }
  const found = splitEscaped(text, ',').some((alternative) =>
    finds(universe, parameter, resource, modifier === 'not' ? undefined : modifier, alternative),
  );
  return modifier === 'not' ? !found : found;
}

function parameterOf(type: string, name: string): Published {
  const parameter = publishedParameter(type, name);
  if (parameter === undefined) throw new Error(`${type} has no ${name}`);
  return parameter;
}

/** Returns whether a type has the parameter at the end of a chain. */
function has(type: string, key: string): boolean {
  return key.startsWith('_has:') || publishedParameter(type, key.split(/[.:]/)[0] ?? '') !== undefined;
}

function targetsOf(universe: Universe, { expression }: Published, resource: Json): Universe['resources'] {
  const references = valuesAt(expression, resource).map((value) =>
    relative(String((value as Json).reference ?? ''), universe.base),
  );
  const contained = (resource.contained ?? []) as Universe['resources'];
  return [
    ...universe.resources.filter(({ resourceType, id }) => references.includes(`${resourceType}/${id}`)),
    // References between contained resources are resolved like the references of their container.
    ...contained.filter(({ id }) => references.includes(`#${id}`)).map((each) => ({ ...each, contained })),
  ];
}

/** Returns a composite's elements, each with the path that the expressions of its parts start from. */
function contextsOf({ expression }: Published, resource: Json): { node: unknown; base: string }[] {
  return operandsOf(expression).flatMap((base) => valuesAt(base, resource).map((node) => ({ node, base })));
}

function finds(
  { base: url }: Universe,
  parameter: Published,
  resource: Json,
  modifier: string | undefined,
  text: string,
): boolean {
  if (parameter.type !== 'composite') {
    const asked = { type: parameter.type, modifier, text, base: url };
    return valuesAt(parameter.expression, resource).some((element) => matches(element, asked));
  }
  const texts = splitEscaped(text, '$');
  return contextsOf(parameter, resource).some(({ node, base }) =>
    parameter.parts.every(({ type, expression }, at) =>
      valuesAt(expression, node, base).some((element) =>
        matches(element, { type, modifier: undefined, text: texts[at] ?? '', base: url }),
      ),
    ),
  );
}
