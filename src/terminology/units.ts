/** Checks units of UCUM, which are infinitely many: a grammar defines which are valid. https://ucum.org/ucum */
import { createRequire } from 'node:module';

/** UCUM's code system URL. */
export const UCUM = 'http://unitsofmeasure.org';

/** The part of the library that is used; it has no types. */
interface Library {
  readonly UcumLhcUtils: {
    getInstance(): { validateUnitString(unit: string): { readonly status: 'valid' | 'invalid' | 'error' } };
  };
}

let library: Library | undefined;

/**
 * Returns whether a code of a system is a unit of UCUM. The library is loaded on first use, because that takes a
 * moment.
 */
export function isUnit(system: string, code: string): boolean {
  if (system !== UCUM || code.length > 100) return false;
  library ??= createRequire(import.meta.url)('@lhncbc/ucum-lhc') as Library;
  return library.UcumLhcUtils.getInstance().validateUnitString(code).status === 'valid';
}
