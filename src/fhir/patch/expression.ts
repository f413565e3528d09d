/** Determines which FHIRPath expressions may be the path of a patch: only expressions that navigate within the resource. */
import { z } from 'zod';
import { loadEngine } from '../fhirpath/engine.ts';
import { isPlain } from './plain-path.ts';

/** Maximum total length of a patch's paths, counting only paths that contain more than names and positions. */
export const MAX_PARSED = 20_000;
/** Maximum length of an expression. */
export const MAX_LENGTH = 1_000;
/** Maximum nesting of criteria within criteria. It is limited because each level multiplies the cost by the resource's size. */
const MAX_NESTED_CRITERIA = 1;

/**
 * Functions that navigate to elements or compare them. Other functions compute new values, follow references to other
 * resources (forbidden by https://hl7.org/fhir/R4/fhirpatch.html), or may run for very long (`matches`, `repeat`).
 */
const FUNCTIONS = new Set(
  (
    'where first last tail skip take single ofType as is extension hasValue exists empty not all count ' +
    'startsWith endsWith contains lower upper trim length toString indexOf substring'
  ).split(' '),
);

/** Functions whose argument is evaluated once per item. */
const CRITERIA = new Set(['where', 'exists', 'all']);

/** Arithmetic is refused, because it computes new values and takes seconds on numbers with a million digits. */
const ARITHMETIC = new Set(['MultiplicativeExpression', 'AdditiveExpression']);

/** Operators that compare collections regardless of order. Their cost grows with the square of the collections' size. */
const SIMILAR = new Set(['~', '!~']);

interface SyntaxNode {
  readonly type: string;
  readonly text?: string | undefined;
  readonly children?: SyntaxNode[] | undefined;
}

const syntaxNode: z.ZodType<SyntaxNode> = z.lazy(() =>
  z.object({
    type: z.string(),
    text: z.string().optional(),
    children: z.array(syntaxNode).max(MAX_LENGTH).optional(),
  }),
);

/**
 * Returns the reason why an expression can't be the path of a patch; undefined if it can. Variables are refused, because
 * criteria that navigate from `%resource` cost as much as nested criteria. Paths don't need variables, because they begin at
 * the resource anyway.
 * @returns the end of a sentence that begins with "path".
 */
export function findExpressionFault(expression: string): string | undefined {
  if (isPlain(expression)) return undefined;
  if (expression.length > MAX_LENGTH) return `is longer than ${MAX_LENGTH} characters`;
  let tree: SyntaxNode;
  try {
    tree = syntaxNode.parse(loadEngine().fhirpath.parse(expression));
  } catch {
    return 'is not valid FHIRPath';
  }
  return faultIn(tree, 0);
}

function faultIn(node: SyntaxNode, nested: number): string | undefined {
  let depth = nested;
  if (node.type === 'Functn') {
    const name = node.children?.[0]?.text ?? '';
    if (!FUNCTIONS.has(name)) return `uses ${name}(), which is not supported in a patch`;
    // `exists()` without an argument has no criteria.
    if (CRITERIA.has(name) && node.children?.[1] !== undefined) depth += 1;
    if (depth > MAX_NESTED_CRITERIA) return `nests criteria more than ${MAX_NESTED_CRITERIA} deep`;
  }
  if (ARITHMETIC.has(node.type)) return 'uses arithmetic, which is not supported in a patch';
  if (node.type === 'EqualityExpression' && SIMILAR.has(node.text ?? ''))
    return 'uses ~ or !~, which is not supported in a patch; compare with = or !=';
  if (node.type === 'ExternalConstantTerm') return 'uses a variable (%), which is not supported in a patch';
  for (const child of node.children ?? []) {
    const fault = faultIn(child, depth);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/**
 * Quotes `div` after a dot, so that it is read as an element. FHIRPath's grammar defines `div` as an operator, but HL7's own
 * test cases for patches write `Patient.text.div`. Strings and quoted names stay unchanged. Expressions that
 * `findExpressionFault` refuses for their length stay unchanged too, because many unclosed quotes would take quadratic time.
 */
export function quoteDiv(expression: string): string {
  if (expression.length > MAX_LENGTH) return expression;
  return expression.replace(/'(?:[^'\\]|\\.)*'|`[^`]*`|(\.\s*)div\b/gs, (token, dot?: string) =>
    dot === undefined ? token : `${dot}\`div\``,
  );
}

/** A path that ends in a plain name: the part before the name (empty for the resource), and the name. */
export interface MemberPath {
  readonly parent: string;
  readonly name: string;
}

/** Splits the last name off a path such as `Patient.name.where(use = 'usual').given`; undefined for other paths. */
export function memberPath(expression: string): MemberPath | undefined {
  const match = /^(?:(.*\S)\s*\.\s*)?([A-Za-z_]\w*)$/s.exec(expression.trim());
  const [whole, parent = '', name] = match ?? [];
  if (whole === undefined || name === undefined) return undefined;
  return parent === '' || findExpressionFault(parent) === undefined ? { parent, name } : undefined;
}
