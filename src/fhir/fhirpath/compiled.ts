/** Defines the types for compiled expressions. */
import type { JsonObject } from '#src/shared/json/json.ts';
import type { Node } from './nodes.ts';

/** The environment variables of an evaluation. */
export interface Environment {
  /** `%resource`: the resource that contains the element. */
  readonly resource: JsonObject;
  /** `%rootResource`: the same resource, or its container if it is a contained resource. */
  readonly rootResource: JsonObject;
}

/** Returns the collection that an expression evaluates to at a focus. */
export type Evaluator = (focus: readonly Node[], environment: Environment) => readonly Node[];

/**
 * Returns whether an expression is true at a focus; undefined if it evaluates to nothing. A single item that isn't a boolean
 * is treated as true.
 * @throws NeedsEngine if only the full engine can evaluate the expression
 */
export type Truth = (focus: readonly Node[], environment: Environment) => boolean | undefined;

/** The types that a collection's items may have, known before evaluation; undefined means any type. */
export type Types = ReadonlySet<string> | undefined;

/** A compiled expression. */
export interface Compiled {
  readonly run: Evaluator;
  readonly types: Types;
  /** For boolean expressions: returns the result as a boolean, without collecting items. */
  readonly truth?: Truth;
  /** Returns whether the result has at least one item, without collecting items. */
  readonly found?: (focus: readonly Node[], environment: Environment) => boolean;
}

/** Thrown for an expression that the compiler doesn't support. */
export class NotCompiled extends Error {
  override readonly name = 'NotCompiled';
}

/** The empty collection. */
export const NOTHING: readonly Node[] = [];
/** The types of literals and results, which have no elements to look up. */
export const NO_TYPES: Types = new Set();

const TRUE: readonly Node[] = [true];
const FALSE: readonly Node[] = [false];
const BOOLEAN: Types = new Set(['boolean']);

/** Returns the compiled expression for a boolean function. */
export function fromTruth(truth: Truth): Compiled {
  return {
    truth,
    run: (focus, environment) => {
      const answer = truth(focus, environment);
      return answer === undefined ? NOTHING : answer ? TRUE : FALSE;
    },
    types: BOOLEAN,
  };
}

/** Returns any compiled expression as a boolean function. */
export function toTruth({ run, truth }: Compiled): Truth {
  if (truth !== undefined) return truth;
  return (focus, environment) => {
    const items = run(focus, environment);
    return items.length === 0 ? undefined : items.length > 1 || items[0] !== false;
  };
}

/** Returns a function that tells whether a compiled expression finds anything. */
export function foundBy({
  run,
  found,
}: Compiled): (focus: readonly Node[], environment: Environment) => boolean {
  return found ?? ((focus, environment) => run(focus, environment).length > 0);
}

/** Returns the union of the types that two collections may have. */
export function eitherType(one: Types, other: Types): Types {
  return one === undefined || other === undefined ? undefined : new Set([...one, ...other]);
}
