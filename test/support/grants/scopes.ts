/**
 * Random scopes for a grant: letters for types, either for a whole type or limited to categories. Also computes what several
 * letters cover together.
 */
import fc from 'fast-check';
import { CATEGORIES, WITH_CATEGORY, WORLD_TYPES } from './world.ts';

/** Letters on a type. */
export interface TypeScope {
  readonly type: string;
  /** Some letters of `cruds`, in that order. */
  readonly letters: string;
  /** The category; undefined for the whole type. */
  readonly category?: string;
}

/** The part of a type that a letter covers: everything, or the resources with one of the given categories. */
export type Limit = 'all' | readonly string[];

/** A grant's coverage by type: the resources that meet all of these limits. Types that are missing aren't covered. */
export type Covered = ReadonlyMap<string, readonly Limit[]>;

const TYPES = [...WORLD_TYPES, 'Provenance'];
const hasCategories = (type: string): boolean => WITH_CATEGORY.some((each) => each === type);
const scopesOfTypes = (ofType: (type: string) => fc.Arbitrary<readonly TypeScope[]>) =>
  fc.tuple(...TYPES.map(ofType)).map((all) => all.flat());

/** Scopes for reading and searching: for each type, nothing, everything, or categories. */
export const readingScopes: fc.Arbitrary<readonly TypeScope[]> = scopesOfTypes((type) => {
  const one = (category?: string): TypeScope => ({
    type,
    letters: 'rs',
    ...(category === undefined ? {} : { category }),
  });
  const limits: fc.Arbitrary<readonly TypeScope[]>[] = [fc.constant([]), fc.constant([one()])];
  if (hasCategories(type))
    limits.push(
      fc
        .subarray([...CATEGORIES], { minLength: 1, maxLength: 2 })
        .map((codes) => codes.map((code) => one(code))),
    );
  return fc.oneof(...limits);
});

/** Scopes with any letters. Several scopes for one type add up, each with its own limit. */
export const mixedScopes: fc.Arbitrary<readonly TypeScope[]> = scopesOfTypes((type) => {
  const letters = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom('r', 's', 'rs', 'cruds') },
    { weight: 1, arbitrary: fc.subarray([...'cruds'], { minLength: 1 }).map((some) => some.join('')) },
  );
  const category = hasCategories(type)
    ? fc.option(fc.constantFrom(...CATEGORIES), { nil: undefined })
    : fc.constant(undefined);
  const scope = fc.tuple(letters, category).map(
    ([some, code]): TypeScope => ({
      type,
      letters: some,
      ...(code === undefined ? {} : { category: code }),
    }),
  );
  return fc.oneof(
    fc.constant([]),
    fc.array(scope, { minLength: 1, maxLength: 3 }),
    fc.array(scope, { minLength: 1, maxLength: 1 }),
  );
});

/** Scopes for writing: more often with all letters, and sometimes with `u` on the Patient. */
export const writingScopes: fc.Arbitrary<readonly TypeScope[]> = fc
  .tuple(mixedScopes, fc.subarray([...WORLD_TYPES]), fc.option(fc.constantFrom(...CATEGORIES)), fc.boolean())
  .map(([mixed, whole, category, patient]) => [
    ...mixed,
    ...whole.map(
      (type): TypeScope => ({
        type,
        letters: 'cruds',
        ...(category !== null && hasCategories(type) ? { category } : {}),
      }),
    ),
    ...(patient ? [{ type: 'Patient', letters: 'u' }] : []),
  ]);

/** Returns scopes in the form in which a grant stores them. */
export function scopeTexts(scopes: readonly TypeScope[]): string[] {
  return scopes.map(
    ({ type, letters, category }) =>
      `patient/${type}.${letters}${category === undefined ? '' : `?category=${category}`}`,
  );
}

/** Returns what is covered by all of the given letters (docs/spec/decisions.md, section 9, "Letters" and "Categories"). */
export function coveredBy(scopes: readonly TypeScope[], letters: string): Covered {
  const covered = new Map<string, readonly Limit[]>();
  for (const type of new Set(scopes.map((each) => each.type))) {
    const limits = [...letters].map((letter): Limit | undefined => {
      const own = scopes.filter((each) => each.type === type && each.letters.includes(letter));
      if (own.length === 0) return undefined;
      return own.some(({ category }) => category === undefined)
        ? 'all'
        : own.flatMap(({ category }) => category ?? []);
    });
    if (limits.every((limit) => limit !== undefined)) covered.set(type, limits);
  }
  return covered;
}

/** Returns whether a resource of a type with the given categories is covered. */
export function covers(covered: Covered, type: string, categories: readonly string[]): boolean {
  const limits = covered.get(type);
  return (
    limits?.every((limit) => limit === 'all' || limit.some((code) => categories.includes(code))) ?? false
  );
}
