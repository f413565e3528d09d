/**
 * An application's rights in one record: letters for each resource type, possibly only for resources in a category
 * (docs/spec/decisions.md, section 9, "Letters" and "Categories"). Pure.
 */

/** Create, read, update, delete, search. */
export type Letter = 'c' | 'r' | 'u' | 'd' | 's';

/** Several letters, such as `rs`. */
export type Letters = string;

/**
 * A code that at least one of a resource's category codings must have; without `system`, the code may be in any code system.
 */
export interface Category {
  readonly system?: string;
  readonly code: string;
}

/** Letters for a type: for all of its resources, or only for resources in a category. */
export interface TypeAccess {
  readonly letters: Letters;
  readonly category?: Category;
}

/** A grant's rights. Types that are absent are outside the grant. */
export interface Access {
  readonly types: ReadonlyMap<string, readonly TypeAccess[]>;
}

/** A coding of a resource's `category`. */
export interface CategoryCoding {
  readonly system?: string | undefined;
  readonly code?: string | undefined;
}

/** Returns whether a coding belongs to a category. Codes are compared case-insensitively, as searches compare tokens. */
export function isOfCategory({ system, code }: Category, coding: CategoryCoding): boolean {
  return (
    coding.code?.toLowerCase() === code.toLowerCase() && (system === undefined || system === coding.system)
  );
}

/** Returns a grant's access with one more letter for a type. */
export function withLetter(access: Access, type: string, letter: Letter): Access {
  const own = access.types.get(type) ?? [];
  return { types: new Map([...access.types, [type, [...own, { letters: letter }]]]) };
}

/** Returns the types for which a grant has all of the given letters, each for at least one category. */
export function typesWith(access: Access, letters: Letters): readonly string[] {
  return [...access.types.keys()].filter((type) => hasLetters(access, type, letters));
}

/**
 * Returns whether a grant has all of the given letters for a type, each for at least one category. If not, the type is outside
 * the grant for an interaction that needs these letters (403).
 */
export function hasLetters(access: Access, type: string, letters: Letters): boolean {
  const own = access.types.get(type) ?? [];
  return [...letters].every((letter) => own.some((each) => each.letters.includes(letter)));
}

/**
 * Returns the categories to which a letter for a type is limited: `all` if it isn't limited, and an empty list if the type
 * lacks the letter.
 */
export function categoriesFor(access: Access, type: string, letter: string): 'all' | readonly Category[] {
  const own = (access.types.get(type) ?? []).filter(({ letters }) => letters.includes(letter));
  if (own.some(({ category }) => category === undefined)) return 'all';
  return own.flatMap(({ category }) => category ?? []);
}

/**
 * Returns whether a grant can read every resource of a type that it can write: `r` must cover everything that `c`, `u` and `d`
 * cover. If not, the answer to a write shows only what the request itself sent.
 */
export function readsWhatItWrites(access: Access, type: string): boolean {
  const read = categoriesFor(access, type, 'r');
  if (read === 'all') return true;
  return [...'cud'].every((letter) => {
    const written = categoriesFor(access, type, letter);
    return written !== 'all' && written.every((each) => read.some((wide) => includes(wide, each)));
  });
}

/** Returns whether every resource in the narrow category is also in the wide category. */
function includes(wide: Category, narrow: Category): boolean {
  return (
    wide.code.toLowerCase() === narrow.code.toLowerCase() &&
    (wide.system === undefined || wide.system === narrow.system)
  );
}

/**
 * Returns whether a grant has all of the given letters for a resource, each either without a category or for one of the
 * resource's categories. Doesn't check which record the resource belongs to, nor whether the targets of a Provenance are
 * visible, which is also required.
 * @param categories the codings in the resource's `category`
 */
export function allows(
  access: Access,
  type: string,
  letters: Letters,
  categories: readonly CategoryCoding[],
): boolean {
  return [...letters].every((letter) => {
    const limited = categoriesFor(access, type, letter);
    return (
      limited === 'all' || limited.some((each) => categories.some((coding) => isOfCategory(each, coding)))
    );
  });
}
