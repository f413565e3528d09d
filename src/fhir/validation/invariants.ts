/**
 * Checks the error-level invariants of base R4, compiled from their FHIRPath. fhirpath.js evaluates the invariants that the
 * compiler does not support, and quantity comparisons that require unit conversion.
 */
import { type JsonObject, printJson } from '#src/shared/json/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Invariant } from '../definitions/tables.ts';
import { compileTruth } from '../fhirpath/compile.ts';
import { type Environment, NotCompiled, type Truth } from '../fhirpath/compiled.ts';
import { loadEngine } from '../fhirpath/engine.ts';
import { NeedsEngine, NO_VALUE, type Node } from '../fhirpath/nodes.ts';
import { UnknownSyntax } from '../fhirpath/parse.ts';

/**
 * Returns whether an invariant holds for an element, given as a collection with one item. An invariant that evaluates to
 * nothing is not violated.
 */
export type Holds = (focus: readonly Node[], environment: Environment) => boolean;

/** Returns whether an invariant can be compiled; otherwise fhirpath.js always evaluates it. */
export function isCompiled(invariant: Invariant, type: string): boolean {
  return tryCompile(invariant, type) !== undefined;
}

/**
 * Returns the check for an invariant.
 * @param type the type at which the invariant's expression begins.
 */
export function compileInvariant(invariant: Invariant, type: string): Holds {
  const run = tryCompile(invariant, type);
  const byEngine: Holds = (focus, environment) => {
    countEvaluation(environment.rootResource);
    return holdsByEngine(invariant, type, focus, environment);
  };
  if (run === undefined) return byEngine;
  return (focus, environment) => {
    try {
      return run(focus, environment) !== false;
    } catch (error) {
      if (error instanceof NeedsEngine) return byEngine(focus, environment);
      throw error;
    }
  };
}

function tryCompile(invariant: Invariant, type: string): Truth | undefined {
  try {
    return compileTruth(invariant.expression, type);
  } catch (error) {
    if (error instanceof NotCompiled || error instanceof UnknownSyntax) return undefined;
    throw error;
  }
}

/** Maximum number of evaluations by the engine for one resource, each of which takes about 100 µs. */
const MOST_EVALUATIONS = 100;

/** Outermost resource → number of evaluations by the engine so far in its validation. */
const evaluations = new WeakMap<JsonObject, number>();

/** Resets the count of evaluations, because the same resource may be validated again, for example on a retry. */
export function forgetEvaluations(root: JsonObject): void {
  evaluations.delete(root);
}

/**
 * Counts an evaluation by the engine.
 * @throws Refusal too_large (413), code `too-costly`
 */
function countEvaluation(root: JsonObject): void {
  const count = (evaluations.get(root) ?? 0) + 1;
  evaluations.set(root, count);
  if (count <= MOST_EVALUATIONS) return;
  const diagnostics = `a resource can have at most ${MOST_EVALUATIONS} comparisons of quantities in different units; use the same unit for both ends of each Range`;
  throw new Refusal('too_large', { code: 'too-costly', diagnostics });
}

/** Copies for the engine, which does not support numbers that keep their original text. */
const copies = new WeakMap<JsonObject, unknown>();

function plain(value: JsonObject): unknown {
  const known = copies.get(value);
  if (known !== undefined) return known;
  const copy: unknown = JSON.parse(printJson(value));
  copies.set(value, copy);
  return copy;
}

/**
 * Returns whether an invariant holds, as evaluated by fhirpath.js. The engine is loaded when it is first needed, because few
 * resources need it. It throws for some invalid elements, for which another fault has already been reported.
 */
export function holdsByEngine(
  invariant: Invariant,
  type: string,
  [focus]: readonly Node[],
  environment: Environment,
): boolean {
  if (focus === undefined || focus === NO_VALUE) return true;
  const { fhirpath, model } = loadEngine();
  try {
    const found: unknown[] = fhirpath.evaluate(
      JSON.parse(printJson(focus)),
      { base: type, expression: invariant.expression },
      { resource: plain(environment.resource), rootResource: plain(environment.rootResource) },
      model,
      { async: false },
    );
    return found.length === 0 || found[0] !== false;
  } catch {
    return true;
  }
}
