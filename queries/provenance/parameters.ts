/** Search parameters of Provenance: each is a condition on automatic ones (rows `v`) and one on clients' own (rows `c`). */
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { isUuid } from '#src/shared/ids.ts';
import { parseIds } from '../search/kinds/id.ts';
import type { SearchScope } from '../search/parameter.ts';
import { momentPredicate, type Predicate } from '../search/predicate.ts';
import { badParameter, type RawParameter, refuseModifier, unescaped } from '../search/raw.ts';

/** A parameter's conditions. */
export interface ProvenancePredicate {
  /** Over history.version `v`. */
  readonly automatic: Predicate;
  /** Over history.client_provenance `c`. */
  readonly own: Predicate;
  /** Whether an index narrows to it; else a search walks the tenant's versions by time. */
  readonly selective: boolean;
}

/** Names of the parameters, as the CapabilityStatement declares them. */
export const PROVENANCE_PARAMETERS = [
  '_id',
  '_lastUpdated',
  'target',
  'agent',
  'patient',
  'recorded',
] as const;

/**
 * What a parameter comes down to; undefined when Provenance does not have it.
 * @throws Refusal `malformed` for a modifier or value that it does not take.
 */
export function provenancePredicate(
  parameter: RawParameter,
  scope: SearchScope,
): ProvenancePredicate | undefined {
  switch (parameter.name) {
    case '_id': {
      const ids = parseIds(parameter);
      return {
        automatic: (binds) => `v.event_id = any(${binds.add(ids, 'uuid[]')})`,
        own: (binds) => `c.id = any(${binds.add(ids, 'uuid[]')})`,
        selective: true,
      };
    }
    case '_lastUpdated':
    case 'recorded':
      return {
        automatic: momentPredicate(parameter, 'v.recorded_at', scope.now),
        own: momentPredicate(
          parameter,
          parameter.name === 'recorded' ? 'c.recorded' : 'c.last_updated',
          scope.now,
        ),
        selective: false,
      };
    case 'target':
      return target(parameter, scope, TYPE_NAMES);
    case 'patient':
      return target(parameter, scope, ['Patient']);
    case 'agent':
      return agent(parameter, scope);
    default:
      return undefined;
  }
}

/** What was written: all versions of a resource, or exactly one. For `patient`: targets that are the Patient. */
function target(parameter: RawParameter, scope: SearchScope, types: readonly string[]): ProvenancePredicate {
  const references = parameter.values
    .flatMap((value) => parseVersioned(parameter, value, scope, types))
    .filter((reference) => types.includes(reference.type));
  return {
    automatic: (binds) =>
      references
        .filter(({ id }) => isUuid(id))
        .map(({ type, id, version }) => {
          const exact = version === undefined ? '' : ` and v.version = ${binds.add(version, 'int4')}`;
          return `(v.id = ${binds.add(id, 'uuid')} and v.type = ${binds.add(type, 'text')}${exact})`;
        })
        .join(' or ') || 'false',
    own: (binds) => `c.targets && ${binds.add(written(references, scope), 'text[]')}`,
    selective: true,
  };
}

const AGENT_TYPES = [
  'Practitioner',
  'PractitionerRole',
  'Organization',
  'Patient',
  'RelatedPerson',
  'Device',
];

/** Who wrote, or in whose name. */
function agent(parameter: RawParameter, scope: SearchScope): ProvenancePredicate {
  const references = parameter.values.flatMap((value) =>
    parseVersioned(parameter, value, scope, AGENT_TYPES),
  );
  const texts = written(references, scope);
  return {
    automatic: (binds) => `v.agents && ${binds.add(texts, 'text[]')}`,
    own: (binds) => `c.agents && ${binds.add(texts, 'text[]')}`,
    selective: true,
  };
}

interface Versioned {
  readonly type: string;
  readonly id: string;
  readonly version?: number;
}

/** How a reference may stand in a client's own Provenance: relative, or in full. */
function written(references: readonly Versioned[], scope: SearchScope): string[] {
  return references.flatMap(({ type, id, version }) => {
    const relative = version === undefined ? `${type}/${id}` : `${type}/${id}/_history/${version}`;
    return [relative, scope.base + relative];
  });
}

const REFERENCE = /^(?:([A-Z][A-Za-z]{1,63})\/)?([A-Za-z0-9.-]{1,64})(?:\/_history\/([1-9]\d{0,8}))?$/;

/** `Type/id`, `Type/id/_history/n`, either under our base; a bare id stands for any of the types. */
function parseVersioned(
  parameter: RawParameter,
  value: string,
  scope: SearchScope,
  types: readonly string[],
): Versioned[] {
  refuseModifier(parameter, types);
  const text = unescaped(value);
  const relative = text.startsWith(scope.base) ? text.slice(scope.base.length) : text;
  const [, type = parameter.modifier, id, version] = REFERENCE.exec(relative) ?? [];
  if (id === undefined) {
    if (/^(?:https?|urn):/.test(text)) return [];
    throw badParameter(parameter.name, 'the value is not a reference such as Type/<id>');
  }
  const exact = version === undefined ? {} : { version: Number(version) };
  return (type === undefined ? types : [type]).map((each) => ({ type: each, id, ...exact }));
}
