/** Limits the total cost of evaluating the paths in a FHIRPath Patch. */
import type { JsonObject } from '#src/shared/json/json.ts';
import { sizeOfJson } from '#src/shared/json/json-equal.ts';
import { Refusal } from '#src/shared/refusal.ts';

/**
 * Maximum number of steps for one path, about 100 ms. The steps are the number of values in the resource times the number of
 * parts in the path.
 */
const MAX_PATH_STEPS = 150_000;
/** Maximum number of steps for all paths in a patch. */
const MAX_PATCH_STEPS = 1_500_000;
/** This many characters of text count as one value. */
const TEXT = 100;
/** This many comparisons between the values of a union cost about as much as one step. */
const PAIRS = 10;
/** Matches a path's names, functions and operators. */
const PARTS = /[A-Za-z_]\w*|[=<>!&|]+/g;

/** Counts the steps of paths that the engine evaluates on the whole resource. */
export class Effort {
  readonly #values: number;
  #spent = 0;

  constructor(resource: JsonObject) {
    const { values, text } = sizeOfJson(resource);
    this.#values = values + text / TEXT;
  }

  /**
   * Counts a path before it is evaluated.
   * @param at the operation's FHIRPath in the Parameters.
   * @throws Refusal too_large (413), code `too-costly`
   */
  spend(path: string, at: string): void {
    const parts = path.match(PARTS)?.length ?? 1;
    const unions = path.split('|').length - 1;
    const steps = this.#values * parts + (unions * this.#values * this.#values) / PAIRS;
    this.#spent += steps;
    if (steps <= MAX_PATH_STEPS && this.#spent <= MAX_PATCH_STEPS) return;
    const diagnostics = `${at}: evaluating its path on a resource of this size takes too long; name elements by position, for example Patient.name[0].given[0], or use a JSON Patch`;
    throw new Refusal('too_large', { code: 'too-costly', diagnostics, expression: at });
  }

  /**
   * Counts the work on a list, which is proportional to its length.
   * @throws Refusal too_large (413)
   */
  list(length: number, at: string): void {
    this.#spent += length / PAIRS;
    if (this.#spent > MAX_PATCH_STEPS) this.spend('', at);
  }
}
