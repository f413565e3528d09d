/**
 * Converts published profiles to the compact table that `profiles/` uses. The table lists each profile's constraints beyond
 * those of its base.
 */

import {
  type ElementDefinition,
  jsonName,
  PRIMITIVES,
  typeDefinition,
} from '#src/fhir/definitions/tables.ts';
import type { ProfileNode, ProfileTable, ProfileType } from '#src/fhir/profiles/table.ts';
import { allCodes } from './compact-structures.ts';
import type { SourceConcept, SourceTerminology, SourceType } from './hl7.ts';
import {
  givenValue,
  type ProfileElement,
  type ProfileValueSet,
  type SourceProfile,
  type ValueSetPart,
} from './hl7-profiles.ts';

const SNOMED_CT = 'http://snomed.info/sct';
const SYSTEM_TYPE = 'http://hl7.org/fhirpath/';

type Draft = { -readonly [K in keyof ProfileNode]: ProfileNode[K] } & {
  children?: Record<string, Draft>;
  slices?: Record<string, Draft>;
};

/** Where value sets and code systems come from. */
export interface ProfileTerminology {
  readonly codeSystems: ReadonlyMap<string, SourceTerminology>;
  readonly valueSets: ReadonlyMap<string, SourceTerminology>;
}

/**
 * Returns the table of profiles.
 * @param own the value sets that come with the profiles.
 * @param terminology R4's own terminology.
 */
export function compactProfiles(
  sources: readonly SourceProfile[],
  own: readonly ProfileValueSet[],
  terminology: ProfileTerminology,
): ProfileTable {
  const valueSets = new Map([...terminology.valueSets, ...own.map((set) => [set.url, set] as const)]);
  const sets: Record<string, Record<string, string[]>> = {};
  const known = new Set(sources.map(({ url }) => url));
  const bind = (url: string): boolean => {
    sets[url] ??= enumerate(url, valueSets, terminology.codeSystems) ?? {};
    return Object.keys(sets[url] ?? {}).length > 0;
  };
  const profiles = sources.map((source) => {
    const root: Draft = {};
    for (const element of source.differential.element) place(root, source.type, element, bind);
    for (const element of extensible(source)) place(root, source.type, element, bind);
    prune(root);
    const { type, version, baseDefinition: base } = source;
    return [source.url, { type, version, ...(known.has(base) && { base }), root }] as const;
  });
  for (const [url, systems] of Object.entries(sets)) if (Object.keys(systems).length === 0) delete sets[url];
  return { profiles: Object.fromEntries(profiles), valueSets: sets };
}

/**
 * Returns the extensible bindings that a profile inherits from its base without changes. They are needed because base
 * validation checks only required bindings. Bindings for the types of references are excluded, because references are checked
 * by type name.
 */
function extensible({ snapshot, differential }: SourceProfile): ProfileElement[] {
  const bound = new Set(
    differential.element.filter(({ binding }) => binding !== undefined).map(({ id }) => id),
  );
  return snapshot.element
    .filter(({ id, binding }) => binding?.strength === 'extensible' && !bound.has(id))
    .filter(({ binding }) => binding?.valueSet?.includes('/resource-types') !== true)
    .map(({ id, binding }) => ({ id, ...(binding && { binding }) }));
}

/**
 * Adds an element's constraints to the tree, at the place that the element's id gives. The id is a path of `name` or
 * `name:slice` parts.
 */
function place(root: Draft, type: string, element: ProfileElement, bind: (url: string) => boolean): void {
  let node = root;
  let holder = type;
  let base: ElementDefinition | undefined;
  let sliced = false;
  for (const step of element.id.split('.').slice(1)) {
    const [written = '', slice] = step.split(':');
    const found = findElement(holder, written);
    base = found.element;
    node = child(node, 'children', base.name);
    const name = slice ?? found.slice;
    sliced = name !== undefined;
    if (found.slice !== undefined && node.slicing === undefined)
      node.slicing = { by: [{ type: 'type', path: '$this' }] };
    if (name !== undefined) node = child(node, 'slices', name);
    const alternative = base.types.find(({ code }) => base !== undefined && jsonName(base, code) === name);
    const inner = (alternative ?? base.types[0])?.code ?? '';
    holder = PRIMITIVES.has(inner) ? 'Element' : inner;
    if (base.choice && alternative !== undefined && node.types === undefined)
      node.types = [{ code: alternative.code }];
  }
  constrain(node, element, sliced ? undefined : base, bind);
}

function child(node: Draft, kind: 'children' | 'slices', name: string): Draft {
  node[kind] ??= {};
  const among = node[kind];
  among[name] ??= {};
  return among[name];
}

/**
 * Returns an element by the name that a profile uses: `value[x]`, or `valueQuantity` for one alternative, which becomes a
 * slice.
 */
function findElement(type: string, written: string): { element: ElementDefinition; slice?: string } {
  const { elements } = typeDefinition(type);
  const name = written.replace('[x]', '');
  const element = elements.find((one) => one.name === name);
  if (element !== undefined) return { element };
  const choice = elements.find(
    (one) => one.choice && one.types.some(({ code }) => jsonName(one, code) === name),
  );
  if (choice === undefined) throw new Error(`${type} has no element ${written}`);
  return { element: choice, slice: name };
}

/**
 * Adds an element's constraints to a node, except those that its base already has.
 * @param base the element in its base type; undefined for a slice.
 */
function constrain(
  node: Draft,
  element: ProfileElement,
  base: ElementDefinition | undefined,
  bind: (url: string) => boolean,
): void {
  const { min = 0, max, type, binding, constraint = [], slicing } = element;
  if (min > (base?.required ? 1 : 0)) node.min = min;
  if (max !== undefined && max !== '*' && (base === undefined || base.list || max === '0'))
    node.max = Number(max);
  const types = (type ?? []).flatMap(compactType);
  if (types.length > 0 && narrows(types, base)) node.types = types;
  const fixed = givenValue(element, 'fixed');
  if (fixed !== undefined) node.fixed = fixed;
  const pattern = givenValue(element, 'pattern');
  if (pattern !== undefined) node.pattern = pattern;
  const rules = constraint.flatMap(({ severity, key, human, expression }) =>
    severity === 'error' && expression !== undefined ? [[key, human, expression] as const] : [],
  );
  if (rules.length > 0) node.rules = rules;
  const [valueSet = ''] = (binding?.valueSet ?? '').split('|');
  const strength = binding?.strength;
  const repeats = strength === 'required' && base?.binding !== undefined && valueSet.endsWith(base.binding);
  if ((strength === 'required' || strength === 'extensible') && !repeats && bind(valueSet))
    node.binding = { strength, valueSet };
  if (slicing !== undefined) {
    const by = (slicing.discriminator ?? []) as NonNullable<ProfileNode['slicing']>['by'];
    node.slicing = { by, ...(slicing.rules === 'closed' && { closed: true }) };
  }
}

function compactType({ code, profile, targetProfile }: SourceType): ProfileType[] {
  if (code.startsWith(SYSTEM_TYPE) || code === 'BackboneElement' || code === 'Element') return [];
  return [{ code, ...(profile && { profiles: profile }), ...(targetProfile && { targets: targetProfile }) }];
}

function narrows(types: readonly ProfileType[], base: ElementDefinition | undefined): boolean {
  if (base === undefined || types.length < base.types.length) return true;
  return types.some(({ code, profiles, targets }) => {
    const before = base.types.find((type) => type.code === code)?.targets;
    const names = new Set(targets?.map((url) => url.replace('http://hl7.org/fhir/StructureDefinition/', '')));
    return (
      profiles !== undefined ||
      (targets !== undefined && (before?.size !== names.size || [...names].some((name) => !before.has(name))))
    );
  });
}

/** Removes nodes without constraints, and slices that only name an alternative that the choice already allows. */
function prune(node: Draft): void {
  for (const [name, slice] of Object.entries(node.slices ?? {})) {
    prune(slice);
    const { types, min, max, ...more } = slice;
    const bare = min === undefined && Object.keys(more).length === 0;
    const says = types?.some(({ profiles }) => profiles !== undefined) ?? false;
    const byType = node.slicing?.by.every(({ type }) => type === 'type') === true;
    if (bare && ((byType && !says) || (max === undefined && !byType))) delete node.slices?.[name];
  }
  if (node.slices !== undefined && Object.keys(node.slices).length === 0) delete node.slices;
  if (node.slices === undefined && node.slicing?.closed !== true) delete node.slicing;
  for (const [name, below] of Object.entries(node.children ?? {})) {
    prune(below);
    if (Object.keys(below).length === 0) delete node.children?.[name];
  }
  if (node.children !== undefined && Object.keys(node.children).length === 0) delete node.children;
}

/**
 * Returns a value set as a map from code system to codes; undefined if the codes can't be listed. The codes of SNOMED CT
 * aren't listed, because its licence doesn't allow us to bundle them.
 */
function enumerate(
  url: string,
  valueSets: ReadonlyMap<string, ProfileValueSet>,
  codeSystems: ReadonlyMap<string, SourceTerminology>,
): Record<string, string[]> | undefined {
  const { include = [], exclude = [] } = valueSets.get(url)?.compose ?? {};
  const systems: Record<string, string[]> = {};
  for (const part of include) {
    const { system = '', concept, filter, valueSet } = part;
    if (system === SNOMED_CT || filter !== undefined || valueSet !== undefined) return undefined;
    const codes = allCodes(concept ?? codeSystems.get(system)?.concept ?? []);
    if (codes.length === 0) return undefined;
    systems[system] = [...(systems[system] ?? []), ...codes];
  }
  for (const part of exclude) {
    const { system = '' } = part;
    const without = excluded(part, codeSystems.get(system)?.concept ?? []);
    if (without === undefined) return undefined;
    systems[system] = (systems[system] ?? []).filter((code) => !without.includes(code));
  }
  return systems;
}

/** Returns the codes that an exclude removes; undefined if the exclude uses an unsupported rule. */
function excluded(
  { concept, filter, valueSet }: ValueSetPart,
  system: readonly SourceConcept[],
): string[] | undefined {
  if (valueSet !== undefined) return undefined;
  if (filter === undefined) return allCodes(concept ?? system);
  const [only, more] = filter;
  if (only?.property !== 'concept' || only.op !== 'is-a' || more !== undefined) return undefined;
  return allCodes(find(system, only.value));
}

/** Returns the concept with the given code, at any depth. */
function find(concepts: readonly SourceConcept[], code: string): SourceConcept[] {
  return concepts.flatMap((one) => (one.code === code ? [one] : find(one.concept ?? [], code)));
}
