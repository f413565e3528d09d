/** Parses a search: its conditions, its order, and the parameters that were used. */

import type { Terminology } from '#src/fhir/terminology.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { cut } from '#src/shared/cut.ts';
import type { Issue } from '#src/shared/issue.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { CURSOR } from '../cursor.ts';
import { parameterPredicate } from './parameters.ts';
import type { SearchScope } from './predicates/parameter.ts';
import { askedAs, type Predicate } from './predicates/predicate.ts';
import { parameterKey, parseRaw, type RawParameter, split } from './raw.ts';
import { type Controls, isControl, parseControls, type Sort } from './shape.ts';
import { loadTerms } from './terms.ts';
import { meantParameter } from './unknown.ts';

/** A parsed query. */
export interface ParsedSearch<P = Predicate> extends Controls {
  readonly predicates: readonly P[];
  /** The parts of the query that were used, without the cursor, for the `self` link. */
  readonly used: [key: string, text: string][];
  /** Names of unknown parameters. */
  readonly unknown: readonly string[];
}

/** The default order of a search of any type. No write changes this order. */
const BY_ID: readonly Sort[] = [{ by: '_id', descending: false }];

/**
 * Parses the query for a type's search.
 * @throws Refusal `malformed` naming the parameter, for a modifier or a value that it doesn't accept
 */
export async function parseSearch(
  query: URLSearchParams,
  scope: SearchScope,
  terminology: Terminology,
): Promise<ParsedSearch> {
  const raw = parseRaw(query);
  // Only modifiers need codes from the terminology.
  const isPlain = raw.every(({ modifier }) => modifier === undefined);
  const terms = isPlain ? undefined : await loadTerms(raw, terminology, scope.base);
  const known = { ...(terms === undefined ? {} : { terms }), steps: { taken: 0 }, ...scope };
  const askedPredicate = (parameter: RawParameter) => {
    const predicate = parameterPredicate(parameter, known);
    return predicate && askedAs([`${parameterKey(parameter)}=${parameter.text}`], predicate);
  };
  return understand(raw, BY_ID, askedPredicate, true);
}

/**
 * Parses the query for a listing that has its own parameters and sort keys.
 * @param makePredicate returns a parameter's predicate; undefined if the listing doesn't have the parameter
 * @param sortable true if other sort keys are allowed too; the caller checks these
 */
export function understand<P>(
  raw: readonly RawParameter[],
  sorts: readonly Sort[],
  makePredicate: (parameter: RawParameter) => P | undefined,
  sortable = false,
): ParsedSearch<P> {
  const predicates: P[] = [];
  const used: [string, string][] = [];
  const unknown: string[] = [];
  for (const parameter of raw) {
    if (!isControl(parameter)) {
      const predicate = makePredicate(parameter);
      if (predicate === undefined) {
        unknown.push(parameterKey(parameter));
        continue;
      }
      predicates.push(predicate);
    }
    if (parameter.name !== CURSOR) used.push([parameterKey(parameter), parameter.text]);
  }
  return { predicates, used, unknown, ...parseControls(raw, sorts, sortable) };
}

/**
 * Parses the criteria of a conditional interaction. Every parameter must be known, and at least one is required. Identifiers
 * are case-sensitive: an identifier that differs in case might belong to another patient.
 * @throws Refusal `malformed`, also for an unknown parameter, an empty value, and criteria without parameters
 */
export async function parseCriteria(
  criteria: string,
  scope: SearchScope,
  terminology: Terminology,
): Promise<readonly Predicate[]> {
  const query = new URLSearchParams(criteria);
  const raw = parseRaw(query);
  // An empty value probably comes from a variable that wasn't set. Without the condition that was meant, the remaining
  // criteria could match a different resource.
  const [empty] = [...query].filter(([, text]) => split(text, ',').every((value) => value === ''));
  if (empty !== undefined)
    throw new Refusal('malformed', {
      code: 'required',
      diagnostics: `the criteria of the conditional request have no value for ${cut(empty[0], 100)}`,
    });
  const terms = await loadTerms(raw, terminology, scope.base);
  const known = { terms, steps: { taken: 0 }, ...scope, exact: true };
  const predicates = raw.map((parameter) => {
    const predicate = parameterPredicate(parameter, known);
    if (predicate === undefined) throw unknownParameters(scope.type, [scope.type], [parameterKey(parameter)]);
    return predicate;
  });
  if (predicates.length > 0) return predicates;
  throw new Refusal('malformed', {
    code: 'required',
    diagnostics: 'the criteria of the conditional request are empty',
  });
}

/**
 * Returns the refusal for parameters that the searched types don't have.
 * @param types the searched types, used to suggest similar names
 */
export function unknownParameters(
  what: string,
  types: readonly ResourceType[],
  names: readonly string[],
): Refusal {
  return new Refusal('malformed', unknownIssues(what, types, names, ' here'));
}

/**
 * Returns the messages about unknown parameters, each with its name and a suggestion.
 * @param end the end of the sentence
 */
export function unknownIssues(
  what: string,
  types: readonly ResourceType[],
  names: readonly string[],
  end: string,
): Issue[] {
  return names.map((name) => ({
    code: 'not-supported',
    diagnostics: `${what} has no search parameter ${cut(name, 100)}${end}${meantParameter(types, name)}`,
    expression: `query.${cut(name, 100)}`,
  }));
}
