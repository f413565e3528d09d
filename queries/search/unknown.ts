/** Suggests the parameter that the client probably meant. */
import { searchParameter } from '#src/fhir/definitions/search-parameters.ts';
import { compiledParameter, compiledParameters } from '#src/fhir/search/paths.ts';
import { isResourceType, type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import { didYouMean } from '#src/shared/nearest.ts';

/** The parameters that every search accepts in addition to the parameters of its types. */
const OF_EVERY_SEARCH = [
  '_id',
  '_lastUpdated',
  '_count',
  '_elements',
  '_format',
  '_include',
  '_pretty',
  '_revinclude',
  '_sort',
  '_summary',
  '_total',
  '_has',
];

/**
 * Returns the end of a message about an unknown parameter: a suggestion with the nearest name that all the given types have,
 * or nothing. In a chain, only the unknown part is replaced.
 * @param key the parameter with its modifier or chain, of any length.
 */
export function meantParameter(types: readonly ResourceType[], key: string): string {
  if (key.length > LONGEST || key.startsWith('_has:')) return '';
  const [first = '', ...rest] = key.split('.');
  const [name = '', target] = first.split(':');
  const next = rest.length === 0 ? [] : listTargets(types, name, target);
  // Checks the types one by one, because a parameter at the end of a chain may belong to any of them.
  for (const type of next) {
    const found = meantParameter([type], rest.join('.'));
    if (found !== '') return found.replace('`', `\`${first}.`);
  }
  if (next.length > 0) return '';
  const suffix = key.slice(name.length);
  const known = commonNames(types, rest.length > 0);
  // Criteria don't accept control parameters such as `_count`; for such a parameter, the suggestion would repeat the name that
  // was sent.
  return known.includes(key) ? '' : didYouMean(name, known).replace(/`\?$/, `${suffix}\`?`);
}

const LONGEST = 200;

/** Returns the types that a reference parameter on the given types can refer to; none if it isn't a reference parameter. */
function listTargets(
  types: readonly ResourceType[],
  name: string,
  target: string | undefined,
): readonly ResourceType[] {
  const found = types.flatMap((type) => {
    if (compiledParameter(type, name)?.type !== 'reference') return [];
    const targets = searchParameter(type, name)?.target ?? [];
    return targets.includes('Resource') ? TYPE_NAMES : targets.filter(isResourceType);
  });
  return target === undefined ? found : found.filter((type) => type === target);
}

/**
 * Returns the names that all the types have.
 * @param references whether to return only names that a chain can begin with
 */
function commonNames(types: readonly ResourceType[], references: boolean): string[] {
  const [first, ...others] = types;
  if (first === undefined) return [];
  const own = compiledParameters(first)
    .filter(({ type }) => !references || type === 'reference')
    .map(({ code }) => code)
    .filter((code) => others.every((type) => compiledParameter(type, code) !== undefined));
  const special = first === 'Provenance' && others.length === 0 ? ['activity'] : [];
  return references ? own : [...own, ...special, ...OF_EVERY_SEARCH];
}
