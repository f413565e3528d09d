/**
 * Search parameters as conditions on automatic Provenances. These Provenances are rows `v` of history.version, which
 * `resource.ts` presents as resources. R4 has no parameter for `activity`; Annal defines its own, which matches R5's.
 */

import { searchParameter } from '#src/fhir/definitions/search-parameters.ts';
import { tokenForm } from '#src/fhir/search/keys.ts';
import { isResourceType, type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { cut } from '#src/shared/cut.ts';
import { isUuid } from '#src/shared/ids.ts';
import { innerRows, ofTypes, renamed, stepTo } from '../search/inner.ts';
import { parseIds } from '../search/kinds/id.ts';
import { parseTokenForm } from '../search/kinds/token.ts';
import { parameterPredicate } from '../search/parameters.ts';
import { momentPredicate } from '../search/predicates/moment.ts';
import type { SearchScope } from '../search/predicates/parameter.ts';
import type { Predicate } from '../search/predicates/predicate.ts';
import { badParameter, parameterKey, type RawParameter } from '../search/raw.ts';
import { expandedCodes } from '../search/terms.ts';
import { logicalPredicate } from './logical.ts';
import { parseVersioned, written } from './references.ts';
import { AGENT_TYPES, OPERATIONS } from './resource.ts';

/** The inputs of a condition on Provenances. */
export interface ProvenanceScope extends SearchScope {
  /** The requesting project, which can find its own keys and applications by name. */
  readonly project: Tenant;
}

/** A code that an automatic Provenance may have, and the condition on which it has the code. */
interface Coded {
  readonly system: string;
  readonly code: string;
  readonly display: string;
  readonly when: string;
}

// The enterer is the person who entered the data for the author, or the API key or application that sent it.
const ENTERED = `(coalesce(cardinality(v.agents), 0) > 1
  or v.metadata::jsonb ? 'acting_as_display'
  or v.metadata::jsonb #>> '{credential,key_id}' is not null
  or v.metadata::jsonb #>> '{credential,application}' is not null)`;

const AGENTS: readonly Coded[] = [
  { ...AGENT_TYPES.author, when: 'true' },
  { ...AGENT_TYPES.enterer, when: ENTERED },
  // The person who accepted the proposal from which this version resulted.
  { ...AGENT_TYPES.verifier, when: `v.metadata::jsonb ? 'approved_by'` },
];

const ACTIVITIES: readonly Coded[] = Object.values(OPERATIONS).map((coding) => ({
  ...coding,
  when: `v.operation = '${coding.code}'`,
}));

const SOURCED = `(v.metadata::jsonb ? 'source_system' or v.metadata::jsonb ? 'origin_id')`;

/** For each parameter, the SQL condition that it has a value. */
const PRESENT: Readonly<Record<string, string>> = {
  _id: 'true',
  _lastUpdated: 'true',
  target: 'true',
  patient: `v.type = 'Patient'`,
  recorded: 'true',
  agent: 'true',
  'agent-type': 'true',
  activity: 'true',
  entity: SOURCED,
};

/**
 * Returns the condition for a search parameter of Provenance.
 * @throws Refusal `malformed` for an invalid value; `parameterPredicate` refuses modifiers that R4's parameters don't accept
 */
export function automaticPredicate(parameter: RawParameter, scope: ProvenanceScope): Predicate {
  const { name, modifier } = parameter;
  if (name === '_has') return pointedAt(parameter, scope);
  if (parameterKey(parameter).includes('.')) return chain(parameter, scope);
  if (modifier === 'missing') {
    const present = PRESENT[name] ?? 'false';
    return constant(parameter.text === 'true' ? `not (${present})` : present);
  }
  if (modifier === 'identifier') return logicalPredicate(parameter, scope.project);
  switch (name) {
    case '_id': {
      const ids = parseIds(parameter);
      const not = modifier === 'not' ? 'not ' : '';
      return (binds) => `${not}v.event_id = any(${binds.add(ids, 'uuid[]')})`;
    }
    case '_lastUpdated':
    case 'recorded':
      return momentPredicate(parameter, 'v.recorded_at', scope.now);
    case 'target':
    case 'patient':
      return target(parameter, scope, listTargets(name));
    case 'agent': {
      const references = parseVersioned(parameter, scope, listTargets('agent'));
      return (binds) => `v.agents && ${binds.add(written(references, scope), 'text[]')}`;
    }
    case 'agent-type':
      return coded(parameter, AGENTS, scope);
    case 'activity':
      return coded(parameter, ACTIVITIES, scope);
    default:
      return constant(modifier === 'not' || modifier === 'not-in' ? 'true' : 'false');
  }
}

function constant(condition: string): Predicate {
  return () => condition;
}

/** Returns those of the 26 types that a Provenance reference may name. */
function listTargets(name: string): readonly ResourceType[] {
  const targets = searchParameter('Provenance', name)?.target ?? [];
  return TYPE_NAMES.filter((type) => targets.includes(type) || targets.includes('Resource'));
}

/**
 * Returns the condition on the resource that was written: on any of its versions, or on exactly one. For `patient`, only
 * targets that are the Patient match.
 */
function target(parameter: RawParameter, scope: SearchScope, types: readonly ResourceType[]): Predicate {
  const references = parseVersioned(parameter, scope, types).filter(
    ({ type, id }) => types.some((each) => each === type) && isUuid(id),
  );
  return (binds) =>
    references
      .map(({ type, id, version }) => {
        const exact = version === undefined ? '' : ` and v.version = ${binds.add(version, 'int4')}`;
        return `(v.id = ${binds.add(id, 'uuid')} and v.type = ${binds.add(type, 'text')}${exact})`;
      })
      .join(' or ') || 'false';
}

/** Returns the condition that tokens match one of the few possible codes. */
function coded(parameter: RawParameter, codings: readonly Coded[], scope: SearchScope): Predicate {
  const { modifier, values } = parameter;
  const wanted = values.map((value) => matcher(parameter, value, scope));
  const found = codings.filter((coding) => wanted.some((is) => is(coding)));
  const any = found.map(({ when }) => when).join(' or ') || 'false';
  return constant(modifier === 'not' || modifier === 'not-in' ? `not (${any})` : any);
}

function matcher(parameter: RawParameter, value: string, scope: SearchScope): (coding: Coded) => boolean {
  switch (parameter.modifier) {
    case undefined:
    case 'not': {
      const form = parseTokenForm(parameter, value);
      return ({ system, code }) =>
        [tokenForm.code(code), tokenForm.pair(system, code), tokenForm.system(system)].includes(form);
    }
    case 'text':
      return ({ display }) => display.toLowerCase().startsWith(value.toLowerCase());
    case 'in':
    case 'not-in':
    case 'above':
    case 'below': {
      const codes = expandedCodes(parameter, value, scope);
      return ({ system, code }) => codes.some((each) => each.system === system && each.code === code);
    }
    default:
      throw badParameter(
        parameterKey(parameter),
        `modifier :${cut(parameter.modifier, 50)} is not supported`,
      );
  }
}

/**
 * `target:Patient.name`, `agent.identifier`: chains through the references of an automatic Provenance. Through its other
 * references, nothing can be found.
 */
function chain(parameter: RawParameter, scope: SearchScope): Predicate {
  const key = parameterKey(parameter);
  const dot = key.indexOf('.');
  const [name = '', type] = key.slice(0, dot).split(':');
  if (name !== 'target' && name !== 'patient' && name !== 'agent') return constant('false');
  const types = listTargets(name).filter((each) => type === undefined || each === type);
  const rest = renamed(parameter, key.slice(dot + 1));
  const ends = ofTypes(types.filter(isResourceType), (each) =>
    // A Provenance of a Provenance would cause endless recursion.
    each === 'Provenance' ? undefined : parameterPredicate(rest, stepTo(each, parameter, scope)),
  );
  return (binds) =>
    ends
      .map(([each, predicate]) => {
        const rows = innerRows(predicate, { ...scope, type: each }, binds);
        const of = binds.add(each, 'text');
        return name === 'agent'
          ? `v.agents && array(select ${of} || '/' || r.id from ${rows})`
          : `(v.type = ${of} and v.id = any(array(select r.id from ${rows})))`;
      })
      .join(' or ') || 'false';
}

/** `_has`: resources that refer to the Provenance by its id. */
function pointedAt(parameter: RawParameter, scope: SearchScope): Predicate {
  const predicate = parameterPredicate(parameter, scope);
  if (predicate === undefined) return constant('false');
  return (binds) =>
    `exists (select from (values (v.event_id, v.record)) r(id, record) where ${predicate(binds)})`;
}
