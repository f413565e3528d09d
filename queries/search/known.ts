/**
 * Finds which parameters a type has, for searches of several types, which accept only parameters that all of the types have.
 */
import { compiledParameter } from '#src/fhir/search/paths.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import { chainTargets } from './chain.ts';
import { MAX_DEPTH, renamed } from './inner.ts';
import { findParameter } from './parameters.ts';
import { isChain, parameterKey, type RawParameter } from './raw.ts';

/**
 * Returns true if a type has a parameter, including everything up to the end of its chain or `_has`. Also true for a parameter
 * that the type's search refuses, such as a chain through a token.
 */
export function hasParameter(type: ResourceType, parameter: RawParameter): boolean {
  return hasAfter(type, parameter, 0, new Map());
}

/**
 * @param steps the number of steps taken so far; the search refuses more than `MAX_DEPTH`
 * @param known the results so far, because a chain may lead to the same type in many ways
 */
function hasAfter(
  type: ResourceType,
  parameter: RawParameter,
  steps: number,
  known: Map<string, boolean>,
): boolean {
  if (steps > MAX_DEPTH) return true;
  const question = `${type} ${parameterKey(parameter)}`;
  const before = known.get(question);
  if (before !== undefined) return before;
  const rest = (next: ResourceType, key: string) => hasAfter(next, renamed(parameter, key), steps + 1, known);
  const found =
    parameter.name === '_has'
      ? hasReferrer(parameter, rest)
      : isChain(parameter)
        ? hasChain(type, parameter, rest)
        : findParameter(type, parameter) !== undefined || isActivity(type, parameter);
  known.set(question, found);
  return found;
}

type Rest = (type: ResourceType, key: string) => boolean;

function hasReferrer(parameter: RawParameter, rest: Rest): boolean {
  const [, type = '', name = '', ...others] = parameterKey(parameter).split(':');
  // Without these parts, the parameter is malformed, and for Provenance it isn't supported; either way the search itself
  // refuses it.
  if (others.length === 0 || type === 'Provenance') return true;
  if (!isResourceType(type) || compiledParameter(type, name) === undefined) return false;
  return rest(type, others.join(':'));
}

function hasChain(type: ResourceType, parameter: RawParameter, rest: Rest): boolean {
  const key = parameterKey(parameter);
  const dot = key.indexOf('.');
  const [name = '', target, ...others] = key.slice(0, dot).split(':');
  const compiled = compiledParameter(type, name);
  if (compiled === undefined) return false;
  const targets = chainTargets(compiled, type);
  const named = target === undefined ? targets : targets.filter((each) => each === target);
  const isMalformed =
    compiled.type !== 'reference' || others.length > 0 || (target !== undefined && named.length === 0);
  return isMalformed || named.some((each) => rest(each, key.slice(dot + 1)));
}

/** Returns true for Provenance's `activity`, which R4 lacks (`queries/provenance/parameters.ts`). */
function isActivity(type: ResourceType, { name }: RawParameter): boolean {
  return type === 'Provenance' && name === 'activity';
}
