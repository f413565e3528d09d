/** Returns resources' categories in the form in which read-model rows store them and conditions on those rows compare them. */
import type { Category, CategoryCoding } from '#src/shared/access/access.ts';
import { isResourceType } from '../types.ts';
import { searchKey, tokenForm } from './keys.ts';
import { compiledParameter, elementsAt } from './paths.ts';
import { readCoded } from './values.ts';

const categoryPaths = (type: string) =>
  isResourceType(type) ? compiledParameter(type, 'category')?.paths : undefined;

/** Returns whether a type's resources may have a category; such types have R4's search parameter `category`. */
export function hasCategory(type: string): boolean {
  return categoryPaths(type) !== undefined;
}

/**
 * Returns the codings in a resource's `category`, as read by the search parameter; codings without a code are left out.
 * @param resource its parsed JSON
 */
export function readCategories(type: string, resource: unknown): CategoryCoding[] {
  return (categoryPaths(type) ?? []).flatMap((path) =>
    elementsAt(resource, path)
      .flatMap((element) => readCoded(element, path))
      .filter(({ code }) => code !== undefined),
  );
}

/** Returns the hash of a type's category, given by a code in any system or in one system. */
export function categoryKey(type: string, { system, code }: Category): string {
  const form = system === undefined ? tokenForm.code(code) : tokenForm.pair(system, code);
  return searchKey(`category ${type} ${form}`);
}

/** Returns the hashes of all categories that a resource with these codings belongs to, without duplicates. */
export function categoryKeys(type: string, codings: readonly CategoryCoding[]): string[] {
  const keys = new Set<string>();
  for (const { system = '', code } of codings) {
    if (code === undefined) continue;
    keys.add(categoryKey(type, { code }));
    if (system !== '') keys.add(categoryKey(type, { system, code }));
  }
  return [...keys];
}
