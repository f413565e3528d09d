/**
 * `:identifier` on automatic Provenances: matches the author's type, the key or application, the person who accepted a
 * proposal, and the id in the source system (`resource.ts`).
 */
import type { Tenant } from '#src/shared/access/caller.ts';
import type { Predicate } from '../search/predicates/predicate.ts';
import { badParameter, parameterKey, type RawParameter, split, unescaped } from '../search/raw.ts';
import {
  ACTOR_SYSTEM,
  API_KEY_SYSTEM,
  APPLICATION_SYSTEM,
  AUTHOR_TYPE_SYSTEM,
  ORGANIZATION_SYSTEM,
} from './resource.ts';

/** A token: a system (`''` for no system, undefined for any system) and a value (undefined for any value). */
interface Token {
  readonly system: string | undefined;
  readonly value: string | undefined;
}

/**
 * Matches any of the identifiers; only references in agent and entity have identifiers.
 * @param project the requesting project: it can find its own keys and applications, applications with grants, and the
 * organizations of other projects (`writers.ts`)
 * @throws Refusal `malformed`
 */
export function logicalPredicate(parameter: RawParameter, project: Tenant): Predicate {
  const tokens = parameter.values.map((value) => parseToken(parameter, value));
  if (parameter.name === 'agent') {
    const key = holder(tokens, API_KEY_SYSTEM, CREDENTIAL('key_id'));
    const application = holder(tokens, APPLICATION_SYSTEM, CREDENTIAL('application'));
    const organization = holder(tokens, ORGANIZATION_SYSTEM, ORGANIZATION);
    const approver = holder(tokens, ACTOR_SYSTEM, APPROVER);
    return (binds) => {
      // An application with a grant is shown to everyone.
      const isShown = `(${CREDENTIAL('kind')} = 'grant' or ${CREDENTIAL('project')} = ${binds.add(project.project, 'text')}
        and ${CREDENTIAL('environment')} = ${binds.add(project.environment, 'text')}) is true`;
      return `(${authorType(tokens)(binds)} or ${acting(tokens)(binds)} or ${approver(binds)} or ${isShown} and (${key(binds)} or ${application(binds)})
        or not ${isShown} and (${organization(binds)}))`;
    };
  }
  return parameter.name === 'entity' ? source(tokens) : () => 'false';
}

function parseToken(parameter: RawParameter, text: string): Token {
  const [first = '', second, ...others] = split(text, '|').map(unescaped);
  if (others.length > 0 || (first === '' && second === ''))
    throw badParameter(parameterKey(parameter), 'the value must be value, system|value, |value or system|');
  if (second === undefined) return { system: undefined, value: first };
  return { system: first, value: second === '' ? undefined : second };
}

function authorType(tokens: readonly Token[]): Predicate {
  const known = tokens.filter(({ system }) => system === undefined || system === AUTHOR_TYPE_SYSTEM);
  return (binds) =>
    known
      .map(({ value }) => {
        const type = `coalesce(v.metadata::jsonb #>> '{author,type}', 'import')`;
        return value === undefined ? 'true' : `${type} = ${binds.add(value.toLowerCase(), 'text')}`;
      })
      .join(' or ') || 'false';
}

/** Returns the condition on the person who acted, for versions in which an identifier replaces the reference. */
function acting(tokens: readonly Token[]): Predicate {
  const member = (name: string): string => `v.metadata::jsonb #>> '{acting_as_identifier,${name}}'`;
  return (binds) =>
    tokens
      .map(({ system, value }) => {
        const conditions = [`v.metadata::jsonb ? 'acting_as_identifier'`];
        if (system === '') conditions.push(`${member('system')} is null`);
        else if (system !== undefined) conditions.push(`${member('system')} = ${binds.add(system, 'text')}`);
        if (value !== undefined)
          conditions.push(`lower(${member('value')}) = ${binds.add(value.toLowerCase(), 'text')}`);
        return `(${conditions.join(' and ')})`;
      })
      .join(' or ');
}

/** Returns SQL for a member of the credential. */
const CREDENTIAL = (member: string): string => `v.metadata::jsonb #>> '{credential,${member}}'`;

/** The organization to which a key or an application belongs. Index: primary key of projects.project. */
const ORGANIZATION = `(select p.organization from projects.project p where p.id = ${CREDENTIAL('project')}
  and (${CREDENTIAL('key_id')} is not null or ${CREDENTIAL('application')} is not null))`;

/** The person who accepted the proposal from which the version resulted. */
const APPROVER = `('person/' || (v.metadata::jsonb #>> '{approved_by,role}'))`;

/**
 * Returns the condition on the holder of the credential, or on the person who accepted a proposal.
 * @param id SQL for the holder's id
 */
function holder(tokens: readonly Token[], of: string, id: string): Predicate {
  const known = tokens.filter(({ system }) => system === undefined || system === of);
  return (binds) =>
    known
      .map(({ value }) => (value === undefined ? `${id} is not null` : `${id} = ${binds.add(value, 'text')}`))
      .join(' or ') || 'false';
}

/**
 * Returns the condition on the source system, which is percent-encoded in the Provenance, but not in the
 * metadata.
 */
function source(tokens: readonly Token[]): Predicate {
  return (binds) =>
    tokens
      .map(({ system, value }) => {
        const named = `v.metadata::jsonb ->> 'source_system'`;
        const conditions = [];
        if (system === '') conditions.push(`${named} is null`);
        else if (system !== undefined) conditions.push(`${named} = ${binds.add(decoded(system), 'text')}`);
        if (value !== undefined)
          conditions.push(
            `lower(v.metadata::jsonb ->> 'origin_id') = ${binds.add(value.toLowerCase(), 'text')}`,
          );
        return `(${conditions.join(' and ')})`;
      })
      .join(' or ') || 'false';
}

/** Returns the name from a URI that `encodeURI` made; null for any other URI, which no source system has. */
function decoded(uri: string): string | null {
  try {
    const name = decodeURI(uri);
    return encodeURI(name) === uri ? name : null;
  } catch {
    return null;
  }
}
