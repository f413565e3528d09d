/**
 * Provenance's search parameters: each consists of a condition on automatic Provenances (rows `v`) and a condition on clients'
 * own Provenances (rows `r`).
 */
import { tokenForm } from '#src/fhir/search/keys.ts';
import { parseTokenForm } from '../search/kinds/token.ts';
import { parameterPredicate } from '../search/parameters.ts';
import { momentPredicate } from '../search/predicates/moment.ts';
import type { SearchScope } from '../search/predicates/parameter.ts';
import type { Predicate } from '../search/predicates/predicate.ts';
import { badParameter, parameterKey, type RawParameter, refuseModifier } from '../search/raw.ts';
import { automaticPredicate, type ProvenanceScope } from './automatic.ts';

/** A parameter's conditions. */
export interface ProvenancePredicate {
  /** The condition on history.version `v`. */
  readonly automatic: Predicate;
  /** The condition on history.client_provenance `r`. */
  readonly own: Predicate;
  /** True if an index can narrow down the search; otherwise the search reads the tenant's versions by time. */
  readonly selective: boolean;
}

/** Parameters whose values lead directly to automatic Provenances. */
const SELECTIVE = new Set(['_id', 'target', 'patient', 'agent']);
/** Modifiers with which these parameters can't narrow down the search. */
const UNSELECTIVE: ReadonlySet<string | undefined> = new Set(['missing', 'identifier', 'not']);

/**
 * Returns a parameter's predicate; undefined if Provenance doesn't have the parameter.
 * @throws Refusal `malformed` for a modifier or value that the parameter doesn't accept
 */
export function provenancePredicate(
  parameter: RawParameter,
  scope: ProvenanceScope,
): ProvenancePredicate | undefined {
  const own = parameter.name === 'activity' ? activity(parameter) : ownPredicate(parameter, scope);
  if (own === undefined) return undefined;
  const [name = ''] = parameter.name.split('.');
  // Under a grant, the rows are found by the record, because an agent may have written in any number of other records.
  const leads = name === 'agent' ? scope.sees.within === undefined : SELECTIVE.has(name);
  const selective = leads && !UNSELECTIVE.has(parameter.modifier);
  return { automatic: automaticPredicate(parameter, scope), own, selective };
}

/**
 * Returns the predicate that the parameter has for every type, for clients' own Provenances. `recorded` is a column of their
 * rows and can be sorted by.
 */
function ownPredicate(parameter: RawParameter, scope: SearchScope): Predicate | undefined {
  return parameter.name === 'recorded' && parameter.modifier === undefined
    ? momentPredicate(parameter, 'r.recorded', scope.now)
    : parameterPredicate(parameter, scope);
}

/** Returns the condition on the codes of `activity` in the body, because no index contains them. */
function activity(parameter: RawParameter): Predicate {
  refuseModifier(parameter, ['not', 'missing']);
  const codings = `history.version b, json_array_elements(b.body::json #> '{activity,coding}') a
    where b.id = r.id and b.version = r.version`;
  if (parameter.modifier === 'missing') {
    if (parameter.text !== 'true' && parameter.text !== 'false')
      throw badParameter(parameterKey(parameter), 'the value must be true or false');
    return () => `${parameter.text === 'true' ? 'not ' : ''}exists (select from ${codings})`;
  }
  const forms = parameter.values.map((value) => parseTokenForm(parameter, value));
  const text = (member: string) => `coalesce(a ->> '${member}', '')`;
  const code = `lower(${text('code')})`;
  return (binds) => {
    const wanted = binds.add(forms, 'text[]');
    const found = `exists (select from ${codings} and array[
      '${tokenForm.code('')}' || ${code}, '${tokenForm.system('')}' || ${text('system')},
      't:' || ${text('system')} || '|' || ${code}] && ${wanted})`;
    return parameter.modifier === 'not' ? `not ${found}` : found;
  };
}
