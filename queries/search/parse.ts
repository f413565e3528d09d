/** A search, understood: which rows, in what order, and what of the query was used. */
import type { ResourceType } from '#src/fhir/types.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { CURSOR } from '../cursor.ts';
import { type Controls, isControl, parseControls, type Sort } from './controls.ts';
import type { SearchScope } from './parameter.ts';
import { parameterOf } from './parameters.ts';
import type { Predicate } from './predicate.ts';
import { keyOf, parseRaw, type RawParameter } from './raw.ts';

/** What a query asks for. */
export interface ParsedSearch<P = Predicate> extends Controls {
  readonly predicates: readonly P[];
  /** What of the query was used, for the `self` link; the cursor is left out. */
  readonly used: [key: string, text: string][];
  /** Names of parameters that nobody knows here. */
  readonly unknown: readonly string[];
}

/** Sort orders of every type's search; the first is the default, which no write disturbs. */
const SORTS: readonly Sort[] = [
  { by: '_id', descending: false },
  { by: '_id', descending: true },
  { by: '_lastUpdated', descending: false },
  { by: '_lastUpdated', descending: true },
];

/**
 * Understands the query of a type's search.
 * @throws Refusal `malformed` naming the parameter, for a modifier or a value that it does not take.
 */
export function parseSearch(query: URLSearchParams, scope: SearchScope): ParsedSearch {
  return understand(parseRaw(query), SORTS, (parameter) =>
    parameterOf(scope.type, parameter)?.predicate(parameter, scope),
  );
}

/**
 * The same over a listing's own parameters and sort orders.
 * @param predicateOf what a parameter comes down to; undefined when the listing does not have it.
 */
export function understand<P>(
  raw: readonly RawParameter[],
  sorts: readonly Sort[],
  predicateOf: (parameter: RawParameter) => P | undefined,
): ParsedSearch<P> {
  const predicates: P[] = [];
  const used: [string, string][] = [];
  const unknown: string[] = [];
  for (const parameter of raw) {
    if (!isControl(parameter)) {
      const predicate = predicateOf(parameter);
      if (predicate === undefined) {
        unknown.push(keyOf(parameter));
        continue;
      }
      predicates.push(predicate);
    }
    if (parameter.name !== CURSOR) used.push([keyOf(parameter), parameter.text]);
  }
  return { ...parseControls(raw, sorts), predicates, used, unknown };
}

/**
 * Understands the criteria of a conditional interaction: nothing may be ignored there, and something must be asked.
 * @throws Refusal `malformed`, also for an unknown parameter and for criteria without any.
 */
export function parseCriteria(criteria: string, scope: SearchScope): readonly Predicate[] {
  const raw = parseRaw(new URLSearchParams(criteria));
  const predicates = raw.map((parameter) => {
    const known = parameterOf(scope.type, parameter);
    if (known === undefined) throw unknownParameters(scope.type, [keyOf(parameter)]);
    return known.predicate(parameter, scope);
  });
  if (predicates.length > 0) return predicates;
  throw new Refusal('malformed', { code: 'required', diagnostics: 'conditional criteria are empty' });
}

/** The refusal of parameters that a type does not have. */
export function unknownParameters(type: ResourceType, names: readonly string[]): Refusal {
  return new Refusal(
    'malformed',
    names.map((name) => ({
      code: 'not-supported' as const,
      diagnostics: `${type} has no search parameter ${name.slice(0, 100)} here`,
      expression: `query.${name.slice(0, 100)}`,
    })),
  );
}
