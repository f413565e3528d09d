/** `identifier`: a token, `value`, `system|value`, `|value` or `system|`. https://hl7.org/fhir/R4/search.html#token */
import { searchable } from '#src/shared/searchable.ts';
import type { Binds } from '../../binds.ts';
import type { SearchParameter, SearchScope } from '../parameter.ts';
import { badParameter, type RawParameter, refuseModifier, split, unescaped } from '../raw.ts';

/** Business identifiers. Provenance alone has none. */
export const identifierParameter: SearchParameter = {
  name: 'identifier',
  appliesTo: (type) => type !== 'Provenance',
  predicate(parameter, scope) {
    refuseModifier(parameter);
    const tokens = parameter.values.map((value) => parseToken(parameter, value));
    // As an array the ids are known before any resource is looked up, whatever the planner expects of either table.
    const condition = (binds: Binds) => `r.id = any(array(${idsOf(tokens, scope, binds)}))`;
    return Object.assign(condition, { keyed: true, ofEntry: true });
  },
};

/**
 * The ids of resources with any of the identifiers: a look-up each in index identifier_by_value (tenant, type, value),
 * or identifier_by_system (system, tenant, type) where only a system is asked for. Lateral with `offset 0`, because
 * without statistics the planner would rather read all identifiers of a type once.
 */
function idsOf(tokens: readonly Token[], scope: SearchScope, binds: Binds): string {
  const owned = `i.tenant = ${binds.add(scope.tenant, 'uuid')} and i.type = ${binds.add(scope.type, 'text')}`;
  const found = (keys: string, condition: string) => `
    select f.id from ${keys} cross join lateral (
      select i.id from resources.identifier i where ${owned} and ${condition} offset 0) f`;
  const texts = (values: readonly (string | undefined)[]) =>
    binds.add(
      values.map((value) => (value === undefined || value === '' ? null : searchable(value))),
      'text[]',
    );
  const systems = tokens.filter(({ value }) => value === undefined).map(({ system }) => system);
  const values = tokens.filter(({ system }) => system === undefined).map(({ value }) => value);
  const pairs = tokens.filter(({ system, value }) => system !== undefined && value !== undefined);
  const kinds = [];
  if (systems.length > 0) kinds.push(found(`unnest(${texts(systems)}) k(system)`, 'i.system = k.system'));
  if (values.length > 0) kinds.push(found(`unnest(${texts(values)}) k(value)`, 'i.value = k.value'));
  if (pairs.length > 0) {
    const [ofSystem, ofValue] = [pairs.map(({ system }) => system), pairs.map(({ value }) => value)];
    kinds.push(
      // An empty system is null on both sides: an identifier without one.
      found(
        `unnest(${texts(ofSystem)}, ${texts(ofValue)}) k(system, value)`,
        'i.value = k.value and i.system is not distinct from k.system',
      ),
    );
  }
  return kinds.length === 1 ? `select distinct u.id from (${kinds.join('')}) u` : kinds.join(' union ');
}

/** What a token asks for; an empty system stands for "without system". */
interface Token {
  readonly system?: string;
  readonly value?: string;
}

/** Reads a token. @throws Refusal `malformed` */
function parseToken(parameter: RawParameter, text: string): Token {
  const parts = split(text, '|').map(unescaped);
  const [first = '', second] = parts;
  if (parts.length > 2 || (first === '' && second === '')) {
    throw badParameter(parameter.name, 'the value must be value, system|value, |value or system|');
  }
  if (second === undefined) return { value: first };
  return second === '' ? { system: first } : { system: first, value: second };
}
