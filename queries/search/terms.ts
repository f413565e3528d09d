/**
 * Loads the codes that `:in`, `:not-in`, `:above` and `:below` expand to from the terminology, before a
 * search is parsed.
 */

import type { SystemCode, Terminology } from '#src/fhir/terminology.ts';
import { cut } from '#src/shared/cut.ts';
import { badParameter, parameterKey, type RawParameter, split, unescaped } from './raw.ts';

/** Maps a modifier and value to codes. */
export type Terms = ReadonlyMap<string, readonly SystemCode[]>;

/** The maximum number of codes, including duplicates, that the values of a search may expand to; each code is looked up. */
const MAX_CODES = 10_000;

/** Returns the modifier at the end of a parameter, even after a chain. */
function lastModifier(parameter: RawParameter): string | undefined {
  return parameter.modifier?.split(':').at(-1);
}

/**
 * Loads the codes for all values of a search whose modifier needs them.
 * @param base of the FHIR interface, with a trailing slash
 * @throws Refusal `malformed`, naming the value that exceeds the limit on codes.
 */
export async function loadTerms(
  parameters: readonly RawParameter[],
  terminology: Terminology,
  base: string,
): Promise<Terms> {
  const terms = new Map<string, readonly SystemCode[]>();
  let count = 0;
  for (const parameter of parameters) {
    const modifier = lastModifier(parameter);
    for (const value of parameter.values) {
      const codes = terms.get(`${modifier} ${value}`) ?? (await lookUp(modifier, value, terminology, base));
      if (codes === undefined) continue;
      count += codes.length;
      if (count > MAX_CODES) {
        throw badParameter(
          parameterKey(parameter),
          `the values expand to more than ${MAX_CODES} codes; use a smaller value set or a narrower code`,
        );
      }
      terms.set(`${modifier} ${value}`, codes);
    }
  }
  return terms;
}

async function lookUp(
  modifier: string | undefined,
  value: string,
  terminology: Terminology,
  base: string,
): Promise<readonly SystemCode[] | undefined> {
  if (modifier === 'in' || modifier === 'not-in') {
    const set = unescaped(value);
    return terminology.members(set.startsWith(`${base}ValueSet/`) ? set.slice(base.length) : set);
  }
  if (modifier !== 'above' && modifier !== 'below') return undefined;
  const [system = '', code = '', ...others] = split(value, '|').map(unescaped);
  return others.length > 0 || code === '' ? undefined : terminology.related(modifier, { system, code });
}

/**
 * Returns the codes that a value expands to.
 * @throws Refusal `malformed`, naming the code or value set that is missing from the terminology.
 */
export function expandedCodes(
  parameter: RawParameter,
  value: string,
  { terms }: { readonly terms?: Terms },
): readonly SystemCode[] {
  const codes = terms?.get(`${parameter.modifier} ${value}`);
  if (codes !== undefined) return codes;
  const text = cut(unescaped(value), 200);
  throw badParameter(
    parameterKey(parameter),
    parameter.modifier === 'in' || parameter.modifier === 'not-in'
      ? `the value set ${text} is unknown here, or its codes cannot be listed`
      : `the value must be system|code, with a code system that this service has loaded; ${text} is unknown here`,
  );
}
