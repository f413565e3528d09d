/** The categories of resources, in the form in which rows of read models and conditions on them compare. */
import type { Category, CategoryCoding } from '#src/shared/access/access.ts';
import { isResourceType } from '../types.ts';
import { searchKey, tokenForm } from './keys.ts';
import { compiledParameter, elementsAt } from './paths.ts';
import { readCoded } from './values.ts';

const categoryPaths = (type: string) =>
  isResourceType(type) ? compiledParameter(type, 'category')?.paths : undefined;

/** Returns whether resources of a type may have a category: those types have R4's search parameter `category`. */
export function hasCategory(type: string): boolean {
  return categoryPaths(type) !== undefined;
}

/**
 * Returns the codings of a resource's `category`, as the search parameter reads them; those without a code left out.
 * @param resource its parsed JSON
 */
export function readCategories(type: string, resource: unknown): CategoryCoding[] {
  return (categoryPaths(type) ?? []).flatMap((path) =>
    elementsAt(resource, path)
      .flatMap((element) => readCoded(element, path))
      .filter(({ code }) => code !== undefined),
  );
}

/** Returns the hash of a category of a type: of its code in any system, or of its code in one. */
export function categoryKey(type: string, { system, code }: Category): string {
  const form = system === undefined ? tokenForm.code(code) : tokenForm.pair(system, code);
  return searchKey(`category ${type} ${form}`);
}

/** Returns the hashes of all categories that a resource with these codings is of, each once. */
export function categoryKeys(type: string, codings: readonly CategoryCoding[]): string[] {
  const keys = new Set<string>();
  for (const { system = '', code } of codings) {
    if (code === undefined) continue;
    keys.add(categoryKey(type, { code }));
    if (system !== '') keys.add(categoryKey(type, { system, code }));
  }
  return [...keys];
}
