/**
 * An application's rights in one record: letters per resource type, possibly only for resources in a category
 * (docs/spec/decisions.md, section 9, "Letters" and "Categories"). Pure.
 */

/** Create, read, update, delete, search. */
export type Letter = 'c' | 'r' | 'u' | 'd' | 's';

/** Several letters, such as `rs`. */
export type Letters = string;

/** A code that one of a resource's category codings must have; without `system` it counts in every code system. */
export interface Category {
  readonly system?: string;
  readonly code: string;
}

/** Letters on a type: for all of its resources, or only for resources in a category. */
export interface TypeAccess {
  readonly letters: Letters;
  readonly category?: Category;
}

/** A grant's rights. Absent types are outside the grant. */
export interface Access {
  readonly types: ReadonlyMap<string, readonly TypeAccess[]>;
}

/** A coding of a resource's `category`. */
export interface CategoryCoding {
  readonly system?: string | undefined;
  readonly code?: string | undefined;
}

/** Returns whether a coding belongs to a category: codes are compared case-insensitively, as searches compare tokens. */
export function isOfCategory({ system, code }: Category, coding: CategoryCoding): boolean {
  return (
    coding.code?.toLowerCase() === code.toLowerCase() && (system === undefined || system === coding.system)
  );
}

/** Returns a grant's access with one more letter on a type. */
export function withLetter(access: Access, type: string, letter: Letter): Access {
  const own = access.types.get(type) ?? [];
  return { types: new Map([...access.types, [type, [...own, { letters: letter }]]]) };
}

/** Returns the types on which a grant has all of the given letters, each for at least one category. */
export function typesWith(access: Access, letters: Letters): readonly string[] {
  return [...access.types.keys()].filter((type) => hasLetters(access, type, letters));
}

/**
 * Returns whether a grant has all of the given letters on a type, each for at least one category. If not, the type is outside
 * the grant for an interaction that needs these letters (403).
 */
export function hasLetters(access: Access, type: string, letters: Letters): boolean {
  const own = access.types.get(type) ?? [];
  return [...letters].every((letter) => own.some((each) => each.letters.includes(letter)));
}

/**
 * Returns the categories that a letter on a type is limited to: `all` if it isn't limited, and an empty list if the type lacks
 * the letter.
 */
export function categoriesFor(access: Access, type: string, letter: string): 'all' | readonly Category[] {
  const own = (access.types.get(type) ?? []).filter(({ letters }) => letters.includes(letter));
  if (own.some(({ category }) => category === undefined)) return 'all';
  return own.flatMap(({ category }) => category ?? []);
}

/**
 * Returns whether a grant can read every resource of a type that it can write: `r` is as wide as `c`, `u` and `d`. If not, the
 * answer to a write shows only what the request sent.
 */
export function readsWhatItWrites(access: Access, type: string): boolean {
  const read = categoriesFor(access, type, 'r');
  if (read === 'all') return true;
  return [...'cud'].every((letter) => {
    const written = categoriesFor(access, type, letter);
    return written !== 'all' && written.every((each) => read.some((wide) => includes(wide, each)));
  });
}

/** Returns whether every resource in one category is also in another. */
function includes(wide: Category, narrow: Category): boolean {
  return (
    wide.code.toLowerCase() === narrow.code.toLowerCase() &&
    (wide.system === undefined || wide.system === narrow.system)
  );
}

/**
 * Returns whether a grant has all of the given letters on a resource, each either without a category or with one of the
 * resource's categories. Doesn't check which record the resource belongs to. For a Provenance, its targets must also be
 * visible.
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
