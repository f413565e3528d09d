/**
 * The search parameters of each type, from the CapabilityStatement, with the modifiers that each parameter accepts
 * (docs/fhir.md).
 */

/** The parts of the CapabilityStatement that are used here. */
export interface Statement {
  readonly rest: readonly {
    readonly resource: readonly {
      readonly type: string;
      readonly searchParam: readonly Described[];
      readonly searchInclude: readonly string[];
      readonly searchRevInclude: readonly string[];
    }[];
  }[];
}

interface Described {
  readonly name: string;
  readonly type: string;
  readonly documentation?: string;
}

export interface Parameter extends Described {
  readonly modifiers: readonly string[];
  /** True if its values accept prefixes such as `ge`. */
  readonly hasPrefix: boolean;
  readonly isSortable: boolean;
}

/** The searches that a type supports. */
export interface SearchType {
  readonly name: string;
  readonly parameters: readonly Parameter[];
  readonly includes: readonly string[];
  readonly revIncludes: readonly string[];
  /** True if `patient` names the record, so that the search can be made as of a point in time. */
  readonly isInRecord: boolean;
}

/** Modifiers by parameter type. */
const BY_TYPE: Readonly<Record<string, readonly string[]>> = {
  token: ['not', 'text', 'in', 'not-in', 'above', 'below', 'missing'],
  reference: ['identifier', 'text', 'missing'],
  date: ['missing'],
  string: ['exact', 'contains', 'missing'],
  uri: ['above', 'below', 'missing'],
  quantity: ['missing'],
  special: ['missing'],
};
/** Parameters whose modifiers differ from the usual ones for their type. */
const BY_NAME: Readonly<Record<string, readonly string[]>> = {
  _id: ['not', 'missing'],
  _lastUpdated: [],
  activity: ['not', 'missing'],
  phonetic: ['missing'],
};
/** Token parameters that are identifiers. */
const IDENTIFIERS: ReadonlySet<string> = new Set(['identifier', 'accession', 'container-id']);
const ORDERED: ReadonlySet<string> = new Set(['token', 'reference', 'date', 'string', 'uri', 'quantity']);
/** Provenance references that are compared by type and id, and the sort orders that Provenance supports. */
const PROVENANCE: ReadonlySet<string> = new Set(['target', 'patient', 'agent']);
const PROVENANCE_ORDER: ReadonlySet<string> = new Set(['_id', '_lastUpdated', 'recorded']);

/** Returns the searches that each type supports. */
export function readTypes({ rest: [rest] }: Statement): readonly SearchType[] {
  const resources = rest?.resource ?? [];
  /** The types that a reference parameter may name: the types that have a `_revinclude` for it. */
  const findTargets = (key: string): string[] =>
    resources.flatMap(({ type, searchRevInclude }) => (searchRevInclude.includes(key) ? [type] : []));
  const isHierarchy = (type: string): boolean =>
    ['partof', 'part-of'].some((name) => findTargets(`${type}:${name}`).includes(type));
  const listModifiers = (of: string, { name, type }: Described): readonly string[] => {
    const own = BY_NAME[name] ?? BY_TYPE[type] ?? [];
    if (IDENTIFIERS.has(name)) return [...own, 'of-type'];
    if (type !== 'reference') return own;
    const targets = findTargets(`${of}:${name}`);
    if (of === 'Provenance' && PROVENANCE.has(name)) return ['identifier', 'missing', ...targets];
    return [...own, ...(targets.some(isHierarchy) ? ['above', 'below'] : []), ...targets];
  };
  return resources.map(({ type, searchParam, searchInclude, searchRevInclude }) => ({
    name: type,
    parameters: searchParam.map((each) => ({
      ...each,
      modifiers: listModifiers(type, each),
      hasPrefix: each.type === 'date' || each.type === 'quantity',
      isSortable:
        type === 'Provenance'
          ? PROVENANCE_ORDER.has(each.name)
          : ORDERED.has(each.type) && each.name !== 'phonetic',
    })),
    includes: searchInclude,
    revIncludes: searchRevInclude,
    isInRecord: type !== 'Provenance' && searchParam.some(({ name }) => name === 'patient'),
  }));
}
