/**
 * Rewrites JSON Schemas so that code generators understand them: null becomes a second `type` instead of an alternative, and
 * each `const` gets a `type` (JSON Schema 2020-12, validation, 6.1.1 and 6.1.3).
 */
import type { Part } from './schemas.ts';

const NULL = { type: 'null' };

/** Rewrites a part of the document and everything inside it. The accepted values stay the same. */
export function rewriteForGenerators(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(rewriteForGenerators);
  if (!isPart(part)) return part;
  const inner = Object.fromEntries(
    Object.entries(part).map(([name, value]) => [
      name,
      // Examples are values, not schemas.
      name === 'example' || name === 'examples' ? value : rewriteForGenerators(value),
    ]),
  );
  return mergeNull(addType(inner));
}

function addType(schema: Part): Part {
  if (!('const' in schema) || 'type' in schema || isPart(schema.const)) return schema;
  return { type: schema.const === null ? 'null' : typeof schema.const, ...schema };
}

/**
 * Replaces `anyOf: [X, null]` with X and the additional type null. If there are several alternatives, null is added to the
 * first one that has a type.
 */
function mergeNull(schema: Part): Part {
  const { anyOf, ...rest } = schema;
  if (!Array.isArray(anyOf) || !anyOf.some(isNull)) return schema;
  const others: unknown[] = anyOf.filter((each) => !isNull(each));
  const [only] = others;
  if (others.length === 1 && isPart(only)) {
    if (Array.isArray(only.anyOf)) return mergeNull({ ...rest, anyOf: [...only.anyOf, NULL] });
    return acceptNull({ ...only, ...rest }) ?? schema;
  }
  const typed = others.findIndex((each) => isPart(each) && acceptNull(each) !== undefined);
  if (typed < 0) return schema;
  return {
    ...rest,
    anyOf: others.map((each, index) => (index === typed && isPart(each) ? acceptNull(each) : each)),
  };
}

/** Returns the schema with null as an additional allowed value; undefined if it names no type. */
function acceptNull(schema: Part): Part | undefined {
  const types: unknown[] = [schema.type ?? []].flat();
  if (types.length === 0) return undefined;
  const { const: single, ...rest } = schema;
  const values = Array.isArray(schema.enum) ? schema.enum : 'const' in schema ? [single] : undefined;
  return {
    ...rest,
    type: [...new Set([...types, 'null'])],
    ...(values === undefined ? {} : { enum: [...new Set([...values, null])] }),
  };
}

const isNull = (part: unknown) => isPart(part) && part.type === 'null';

/** Returns whether a value is an object. */
export const isPart = (part: unknown): part is Part =>
  typeof part === 'object' && part !== null && !Array.isArray(part);
