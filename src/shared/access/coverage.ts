/**
 * Computes which part of a record a grant covers in contexts and summaries, so that they reveal nothing about the rest. Pure.
 */
import { type Access, categoriesFor, hasLetters } from './access.ts';

/** Returns whether all resources of a type may be read, only those in some categories, or none. */
export type Coverage = (type: string) => 'all' | 'some' | 'none';

/**
 * The letters that a grant must have for the types in contexts and summaries (docs/spec/decisions.md, section 9, "Letters").
 */
export const CONTEXT_LETTERS = 'rs';

/** Returns a grant's coverage; without a grant, everything is covered. */
export function grantCoverage(access: Access | undefined): Coverage {
  if (access === undefined) return () => 'all';
  return (type) => {
    if (!hasLetters(access, type, CONTEXT_LETTERS)) return 'none';
    const isWhole = [...CONTEXT_LETTERS].every((letter) => categoriesFor(access, type, letter) === 'all');
    return isWhole ? 'all' : 'some';
  };
}

/** Returns the combined coverage of several types. */
export function coverageOfTypes(types: readonly string[], covered: Coverage): ReturnType<Coverage> {
  const each = types.map(covered);
  if (each.every((one) => one === 'all')) return 'all';
  return each.every((one) => one === 'none') ? 'none' : 'some';
}
