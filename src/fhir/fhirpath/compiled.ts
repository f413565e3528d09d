/** What expressions are compiled to. */
import type { JsonObject } from '#src/shared/json.ts';
import type { Node } from './nodes.ts';

/** What an expression is evaluated in. */
export interface Environment {
  /** `%resource`: the resource that the element is in. */
  readonly resource: JsonObject;
  /** `%rootResource`: the same, or the one that contains it. */
  readonly rootResource: JsonObject;
}

/** Gives the collection that an expression evaluates to at a focus. */
export type Evaluator = (focus: readonly Node[], environment: Environment) => readonly Node[];

/**
 * Returns the truth of an expression at a focus: undefined if it evaluates to nothing; a single item that isn't a
 * boolean is true.
 * @throws NeedsEngine if only the full engine can evaluate it
 */
export type Truth = (focus: readonly Node[], environment: Environment) => boolean | undefined;

/** Types that the items of a collection may have, known before evaluation; undefined: any. */
export type Types = ReadonlySet<string> | undefined;

/** A compiled expression. */
export interface Compiled {
  readonly run: Evaluator;
  readonly types: Types;
  /** The same as a truth, where that is what it is: nothing is collected. */
  readonly truth?: Truth;
  /** Whether there is anything at all: nothing is collected either. */
  readonly found?: (focus: readonly Node[], environment: Environment) => boolean;
}

/** An expression that is beyond what is compiled. */
export class NotCompiled extends Error {
  override readonly name = 'NotCompiled';
}

/** The empty collection. */
export const NOTHING: readonly Node[] = [];
/** Of literals and results: no names are looked up in them. */
export const NO_TYPES: Types = new Set();

const TRUE: readonly Node[] = [true];
const FALSE: readonly Node[] = [false];
const BOOLEAN: Types = new Set(['boolean']);

/** A compiled expression that is a truth. */
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

/** The truth of any compiled expression. */
export function truthOf({ run, truth }: Compiled): Truth {
  if (truth !== undefined) return truth;
  return (focus, environment) => {
    const items = run(focus, environment);
    return items.length === 0 ? undefined : items.length > 1 || items[0] !== false;
  };
}

/** Whether a compiled expression finds anything. */
export function foundBy({
  run,
  found,
}: Compiled): (focus: readonly Node[], environment: Environment) => boolean {
  return found ?? ((focus, environment) => run(focus, environment).length > 0);
}

/** The union of what two collections may hold. */
export function eitherType(one: Types, other: Types): Types {
  return one === undefined || other === undefined ? undefined : new Set([...one, ...other]);
}
