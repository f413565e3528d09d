/** Limits the cost of evaluating the paths of one FHIRPath Patch. */
import type { JsonObject } from '#src/shared/json/json.ts';
import { sizeOfJson } from '#src/shared/json/json-equal.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** Maximum steps of one path, about 100 ms. A step is one value of the resource times one part of the path. */
const MAX_PATH_STEPS = 150_000;
/** Maximum steps of all paths of a patch. */
const MAX_PATCH_STEPS = 1_500_000;
/** This many characters of text count as one value. */
const TEXT = 100;
/** Number of comparisons between values of a union that cost about one step. */
const PAIRS = 10;
/** Names, functions and operators of a path. */
const PARTS = /[A-Za-z_]\w*|[=<>!&|]+/g;

/** Counts the steps of paths that an engine evaluates on the whole resource. */
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
   * Counts work on a list, one step per item.
   * @throws Refusal too_large (413)
   */
  list(length: number, at: string): void {
    this.#spent += length / PAIRS;
    if (this.#spent > MAX_PATCH_STEPS) this.spend('', at);
  }
}
