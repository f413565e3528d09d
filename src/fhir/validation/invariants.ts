/**
 * Error-level invariants of base R4, compiled from their FHIRPath. What the compiler does not translate, and
 * quantities whose units it would have to convert, are evaluated by fhirpath.js.
 */
import { type JsonObject, printJson } from '#src/shared/json.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Invariant } from '../definitions/tables.ts';
import { compileTruth } from '../fhirpath/compile.ts';
import { type Environment, NotCompiled, type Truth } from '../fhirpath/compiled.ts';
import { loadEngine } from '../fhirpath/engine.ts';
import { NeedsEngine, NO_VALUE, type Node } from '../fhirpath/nodes.ts';
import { UnknownSyntax } from '../fhirpath/parse.ts';

/** Whether an invariant holds at an element (a collection of that one); one that evaluates to nothing is not violated. */
export type Holds = (focus: readonly Node[], environment: Environment) => boolean;

/** Whether an invariant is compiled (or else left to fhirpath.js altogether). */
export function isCompiled(invariant: Invariant, type: string): boolean {
  return tryCompile(invariant, type) !== undefined;
}

/** @param type the type that the invariant's expression begins at. */
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

/** Most evaluations by the engine in one resource: each takes some 100 µs. */
const MOST_EVALUATIONS = 100;

/** By the outermost resource, while it is validated: how often the engine was asked. */
const evaluations = new WeakMap<JsonObject, number>();

/** The same resource may be validated again, for example by a retry. */
export function forgetEvaluations(root: JsonObject): void {
  evaluations.delete(root);
}

/** @throws Refusal too_large (413), code `too-costly` */
function countEvaluation(root: JsonObject): void {
  const count = (evaluations.get(root) ?? 0) + 1;
  evaluations.set(root, count);
  if (count <= MOST_EVALUATIONS) return;
  const diagnostics = `a resource can have at most ${MOST_EVALUATIONS} comparisons of quantities in different units; use the same unit for both ends of each Range`;
  throw new Refusal('too_large', { code: 'too-costly', diagnostics });
}

/** Copies for the engine, which knows no numbers with literals. */
const copies = new WeakMap<JsonObject, unknown>();

function plain(value: JsonObject): unknown {
  const known = copies.get(value);
  if (known !== undefined) return known;
  const copy: unknown = JSON.parse(printJson(value));
  copies.set(value, copy);
  return copy;
}

/**
 * Whether an invariant holds, as fhirpath.js evaluates it. The engine is loaded when first needed, which few resources
 * do; it throws at elements that are too broken for it, and those have a fault of their own already.
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
