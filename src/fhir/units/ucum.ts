/** Checks UCUM's units, which are infinitely many, by its grammar. https://ucum.org/ucum */
import { createRequire } from 'node:module';

type Library = typeof import('@lhncbc/ucum-lhc');

let library: Library | undefined;

/** Returns UCUM's library. It is loaded on first use, because that takes a tenth of a second. */
export function ucumLibrary(): ReturnType<Library['UcumLhcUtils']['getInstance']> {
  library ??= createRequire(import.meta.url)('@lhncbc/ucum-lhc') as Library;
  return library.UcumLhcUtils.getInstance();
}

/** Maximum number of cached codes: some hundreds are in use, and clients may invent any number. */
const REMEMBERED = 5_000;
const known = new Map<string, boolean>();

/** Returns whether a text is a unit of UCUM, case-sensitive. */
export function isUcum(code: string): boolean {
  const before = known.get(code);
  if (before !== undefined) return before;
  const valid = check(code);
  if (known.size >= REMEMBERED) known.clear();
  known.set(code, valid);
  return valid;
}

/** Checks before the library does: it trims blanks, and throws for some invalid texts. */
function check(code: string): boolean {
  if (!/^[!-~]{1,100}$/.test(code)) return false;
  try {
    return ucumLibrary().validateUnitString(code).status === 'valid';
  } catch {
    return false;
  }
}
