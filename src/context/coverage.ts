/** What a grant lets a context be made of, so that nothing is said of what it doesn't cover. Pure. */
import { type Access, categoriesFor, hasLetters } from '#src/shared/access.ts';

/** Returns whether all resources of a type may be read, those of some categories, or none. */
export type Coverage = (type: string) => 'all' | 'some' | 'none';

/** The letters that a grant must have on what a context is made of (docs/spec/decisions.md, section 9, "Letters"). */
export const CONTEXT_LETTERS = 'rs';

/** Returns the coverage of a grant; of everything without one. */
export function coverageOf(access: Access | undefined): Coverage {
  if (access === undefined) return () => 'all';
  return (type) => {
    if (!hasLetters(access, type, CONTEXT_LETTERS)) return 'none';
    const isWhole = [...CONTEXT_LETTERS].every((letter) => categoriesFor(access, type, letter) === 'all');
    return isWhole ? 'all' : 'some';
  };
}
