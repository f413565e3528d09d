/** UCUM, whose units are without end: a grammar says which exist. https://ucum.org/ucum */
import { createRequire } from 'node:module';

/** UCUM's system. */
export const UCUM = 'http://unitsofmeasure.org';

/** What is used of the library, which brings no types. */
interface Library {
  readonly UcumLhcUtils: {
    getInstance(): { validateUnitString(unit: string): { readonly status: 'valid' | 'invalid' | 'error' } };
  };
}

let library: Library | undefined;

/** Whether a code of a system is a unit of UCUM. The library is loaded when first asked: it takes a moment. */
export function isUnit(system: string, code: string): boolean {
  if (system !== UCUM || code.length > 100) return false;
  library ??= createRequire(import.meta.url)('@lhncbc/ucum-lhc') as Library;
  return library.UcumLhcUtils.getInstance().validateUnitString(code).status === 'valid';
}
