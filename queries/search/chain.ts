/** Chains: `subject:Patient.name`, `patient.organization.name`. https://hl7.org/fhir/R4/search.html#chaining */

import { searchParameter } from '#src/fhir/definitions/search-parameters.ts';
import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { compiledParameter, namesRecord } from '#src/fhir/search/paths.ts';
import { isResourceType, type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import { withArticle } from '#src/shared/article.ts';
import { cut } from '#src/shared/cut.ts';
import type { Binds } from '../database/binds.ts';
import { innerRows, ofTypes, type PredicateOf, renamed, rowsPredicate, stepTo } from './inner.ts';
import { inOneRecord, inRecordsPredicate } from './kinds/record.ts';
import { entriesWithEach, keysPredicate } from './predicates/conditions.ts';
import type { SearchScope } from './predicates/parameter.ts';
import type { Named, Predicate } from './predicates/predicate.ts';
import {
  containedKeys,
  hashRecordKey,
  isContained,
  keysOfReferences,
  referenceKeys,
} from './predicates/reference-keys.ts';
import { badParameter, parameterKey, type RawParameter } from './raw.ts';

/**
 * Returns the predicate for resources that refer to one of the caller's resources that the rest of the parameter finds.
 * @returns undefined if the type doesn't have the first parameter, or its targets don't have the next one
 * @throws Refusal `malformed` if a parameter isn't a reference or can't name that type, or for an invalid value
 */
export function chainPredicate(
  parameter: RawParameter,
  scope: SearchScope,
  predicateOf: PredicateOf,
): Predicate | undefined {
  const key = parameterKey(parameter);
  const dot = key.indexOf('.');
  const [name = '', target, ...others] = key.slice(0, dot).split(':');
  const compiled = compiledParameter(scope.type, name);
  if (compiled === undefined) return undefined;
  const types = chainTargets(compiled, scope.type);
  if (compiled.type !== 'reference') throw badParameter(key, `${name} is not a reference`);
  if (others.length > 0 || (target !== undefined && !types.some((type) => type === target))) {
    throw badParameter(key, `${name} cannot refer to ${withArticle(cut(target ?? '', 50))} here`);
  }
  const rest = renamed(parameter, key.slice(dot + 1));
  // A record's own Patient is never contained.
  const contained = scope.contained === true || !namesRecord(scope.type, compiled);
  const ends = ofTypes(target === undefined ? types : types.filter((type) => type === target), (type) =>
    predicateOf(rest, { ...stepTo(type, parameter, scope), contained }),
  );
  return ends.length === 0 ? undefined : referring(compiled, { ...scope, contained }, ends, scope);
}

/** Returns those of the 26 types that a reference parameter may name. */
export function chainTargets(compiled: CompiledParameter, type: ResourceType): readonly ResourceType[] {
  const targets = searchParameter(type, compiled.code)?.target ?? [];
  return targets.includes('Resource') ? TYPE_NAMES : targets.filter(isResourceType);
}

/** A type at the end of a chain, and the predicate on it. */
type End = readonly [ResourceType, Predicate];

/**
 * @param inner the scope of the ends, except for the type
 * @param scope the scope of the referring resources
 */
function referring(
  compiled: CompiledParameter,
  inner: SearchScope,
  ends: readonly End[],
  scope: SearchScope,
): Predicate {
  const ids = ([type, predicate]: End, binds: Binds) =>
    `select r.id from ${innerRows(predicate, { ...inner, type }, binds)}`;
  const found = (of: readonly End[]) => (binds: Binds) =>
    of
      .map((end) => `select ${binds.add(end[0], 'text')} as type, i.id from (${ids(end, binds)}) i`)
      .join(' union all ') || 'select null::text as type, null::uuid as id where false';
  if (!namesRecord(scope.type, compiled)) {
    const namedPredicate = (all: readonly Named[]) => keysPredicate(keysOfReferences(compiled, scope, all));
    const wide = { wide: true as const, resolvable: { found: found(ends), referToNamed: namedPredicate } };
    return Object.assign(referringByKeys(compiled, scope, ends, ids), wide);
  }
  // R4 allows subjects other than Patients, but every record belongs to a Patient.
  const patients = ends.filter(([type]) => type === 'Patient');
  const own = inRecords(patients, ids, scope);
  const namedPredicate = (all: readonly Named[]) =>
    inRecordsPredicate(
      all.map(({ id }) => id),
      scope,
    );
  if (scope.contained !== true)
    return Object.assign(own, {
      wide: true as const,
      resolvable: { found: found(patients), referToNamed: namedPredicate },
    });
  // Contained resources state whom they are about, but they belong to the record of their container.
  const others = referringByKeys(compiled, scope, ends, ids);
  return rowsPredicate((binds) =>
    [own, others].flatMap(({ rows }) => (rows === undefined ? [] : [rows(binds)])).join(' union all '),
  );
}

type Ids = (end: End, binds: Binds) => string;

/** Returns SQL for the resources whose entries have one of the ends' keys: index search.entry_keys. */
function referringByKeys(
  compiled: CompiledParameter,
  scope: SearchScope,
  ends: readonly End[],
  ids: Ids,
): Predicate {
  return rowsPredicate((binds, sets = []) => {
    const keys = ends.map((end) => {
      const pointing = referenceKeys(compiled, scope, end[0], 'i.id', binds);
      const inside = containedKeys(compiled, scope, 'i.id', binds);
      return `select k.key from (${ids(end, binds)}) i cross join lateral (
        select x.key from (values ${joinRows(pointing)}) x(key) where not ${isContained('i.id')}
        union all select x.key from (values ${joinRows(inside)}) x(key) where ${isContained('i.id')}) k`;
    });
    return entriesWithEach(keys.join(' union all '), sets, binds);
  });
}

function joinRows(rows: readonly string[]): string {
  return rows.map((row) => `(${row})`).join(', ');
}

/**
 * Returns the predicate for resources in the records of some Patients. Indexes: resources.resource_of_record or, with keys,
 * search.entry_keys.
 */
function inRecords(ends: readonly End[], ids: Ids, scope: SearchScope): Predicate {
  const patients = (binds: Binds) =>
    ends.map((end) => ids(end, binds)).join(' union all ') || 'select null::uuid as id where false';
  const rows = (binds: Binds, sets: readonly (readonly string[])[] = []) =>
    sets.length > 0
      ? entriesWithEach(`select ${hashRecordKey('i.id')} as key from (${patients(binds)}) i`, sets, binds)
      : `select o.id, o.record from (${patients(binds)}) i
          cross join lateral (${inOneRecord('i.id', scope, binds)}) o`;
  const condition = (binds: Binds) => `r.record = any(array(${patients(binds)}))`;
  return Object.assign(condition, { rows, ofEntry: true });
}
