/**
 * Converts StructureDefinitions and value sets to the compact table from which validation is compiled (`tables.ts`
 * reads it).
 */
import { CURRENCIES } from '#src/fhir/definitions/currencies.ts';
import type { CompactRule, CompactType, StructureTable } from '#src/fhir/definitions/tables.ts';
import type { SourceConcept, SourceElement, SourceTerminology, SourceType, Structure } from './hl7.ts';

const HL7 = 'http://hl7.org/fhir/StructureDefinition/';
const FHIR_TYPE = `${HL7}structuredefinition-fhir-type`;

/** Rules that validation implements in code, because they need the whole resource, markup or the JSON form. */
const BUILT_IN = new Set(['ele-1', 'ext-1', 'dom-2', 'dom-3', 'dom-4', 'dom-5', 'ref-1', 'txt-1', 'txt-2']);

/**
 * Rules whose expression is wrong: que-7 names a type that no element has; ig-1 and ig-2 expect on the element what only its
 * resource has.
 */
const MISWRITTEN = new Set(['que-7', 'ig-1', 'ig-2']);

/** This element is bound to media types, but its definition says "xml | json | ttl | mime type". */
const NOT_BOUND = 'CapabilityStatement.format';

interface Terminology {
  readonly codeSystems: ReadonlyMap<string, SourceTerminology>;
  readonly valueSets: ReadonlyMap<string, SourceTerminology>;
}

/**
 * Returns the table of structures.
 * @param structures all types by name.
 */
export function compactStructures(
  structures: ReadonlyMap<string, Structure>,
  terminology: Terminology,
): StructureTable {
  const table: StructureTable = { fhirVersion: '4.0.1', types: {}, valueSets: {} };
  for (const structure of structures.values()) {
    if (structure.kind === 'primitive-type' || structure.name === 'MoneyQuantity') continue;
    addType(table, structure, structures, terminology);
  }
  return table;
}

/** Adds a structure's type, and a type for each of its backbone elements, named by path. */
function addType(
  table: StructureTable,
  structure: Structure,
  structures: ReadonlyMap<string, Structure>,
  terminology: Terminology,
): void {
  const [root, ...elements] = structure.elements;
  if (root === undefined) throw new Error(`${structure.name} has no elements`);
  const parent = structure.baseDefinition?.replace(HL7, '');
  const base = structure.derivation === 'constraint' ? 'Element' : parent;
  const inherited = new Set(base === undefined ? [] : listNames(structures.get(base)));
  const profiled = structure.derivation === 'constraint' ? root.path : structure.name;

  const own: CompactType = { ...(base !== undefined && { base }), elements: {} };
  if (structure.kind === 'resource') own.resource = true;
  table.types[structure.name] = own;
  const known = new Set((table.types[base ?? '']?.rules ?? []).map(([, key]) => key));
  addRules(own, '', root, known);

  for (const element of elements) {
    const path = element.path.replace(profiled, structure.name);
    const at = path.lastIndexOf('.');
    const name = path.slice(at + 1);
    const owner = table.types[path.slice(0, at)];
    if (owner === undefined) throw new Error(`${path} comes before its parent`);
    if (owner === own ? inherited.has(name) : /^(id|extension|modifierExtension)$/.test(name)) continue;
    const backbone = element.type?.find((type) => type.code === 'BackboneElement' || type.code === 'Element');
    if (backbone !== undefined) table.types[path] = { base: backbone.code, elements: {} };
    owner.elements[name] = compactElement(
      element,
      backbone === undefined ? undefined : path,
      table,
      terminology,
    );
    const type = table.types[path];
    if (type !== undefined) addRules(type, '', element);
    else addRules(owner, name, element);
  }
}

function listNames(structure: Structure | undefined): string[] {
  return (structure?.elements ?? [])
    .slice(1)
    .map((element) => element.path.slice(element.path.lastIndexOf('.') + 1));
}

/**
 * Adds an element's rules.
 * @param known keys of the base type's rules, which the snapshot repeats.
 */
function addRules(
  type: CompactType,
  element: string,
  source: SourceElement,
  known: ReadonlySet<string> = new Set(),
): void {
  const rules = (source.constraint ?? [])
    .filter((rule) => rule.severity === 'error' && rule.expression !== undefined)
    .filter((rule) => !BUILT_IN.has(rule.key) && !MISWRITTEN.has(rule.key) && !known.has(rule.key))
    .map((rule): CompactRule => [element, rule.key, rule.human, rule.expression ?? '']);
  if (rules.length > 0) type.rules = [...(type.rules ?? []), ...rules];
}

/** Formats an element as `min..max`, its flags, types and binding; `tables.ts` documents the format. */
function compactElement(
  element: SourceElement,
  backbone: string | undefined,
  table: StructureTable,
  terminology: Terminology,
): string {
  const types =
    element.contentReference ??
    backbone ??
    (element.type ?? []).map((type) => typeName(element, type)).join(',');
  const flags = (element.isSummary === true ? 's' : '') + (element.isModifier === true ? 'm' : '');
  const cardinality = `${element.min}..${element.max === '*' ? '*' : 1}${flags}`;
  const { strength, valueSet } = element.binding ?? {};
  const required = strength === 'required' && element.path !== NOT_BOUND;
  const bound = required && valueSet !== undefined ? bind(valueSet, table, terminology) : undefined;
  return [cardinality, types, ...(bound === undefined ? [] : [bound])].join(' ');
}

function typeName(element: SourceElement, type: SourceType): string {
  const mapped = type.extension?.find((extension) => extension.url === FHIR_TYPE)?.valueUrl;
  if (mapped !== undefined) return element.path === 'Resource.id' ? 'id' : mapped;
  if (type.profile?.includes(`${HL7}SimpleQuantity`)) return 'SimpleQuantity';
  const targets = (type.targetProfile ?? [])
    .map((target) => target.replace(HL7, ''))
    .filter((name) => name !== 'Resource');
  return type.code === 'Reference' && targets.length > 0 ? `Reference(${targets.join('|')})` : type.code;
}

/**
 * Adds a value set to the table if its codes can be listed.
 * @returns the value set's key; undefined if the codes can't be listed
 */
function bind(
  canonical: string,
  table: StructureTable,
  { codeSystems, valueSets }: Terminology,
): string | undefined {
  const [url = ''] = canonical.split('|');
  const key = url.replace(/^http:\/\/(hl7\.org\/fhir|terminology\.hl7\.org)\/ValueSet\//, '');
  if (key === 'mimetypes' || table.valueSets[key] !== undefined) return key;
  const systems: Record<string, string[]> = {};
  for (const { system = '', concept } of valueSets.get(url)?.compose?.include ?? []) {
    const codes =
      system === 'urn:iso:std:iso:4217'
        ? CURRENCIES
        : allCodes(concept ?? codeSystems.get(system)?.concept ?? []);
    if (codes.length === 0) return undefined;
    systems[system] = [...(systems[system] ?? []), ...codes];
  }
  if (Object.keys(systems).length === 0) return undefined;
  table.valueSets[key] = systems;
  return key;
}

/** Returns the codes of concepts and their descendants. */
export function allCodes(concepts: readonly SourceConcept[]): string[] {
  return concepts.flatMap((concept) => [concept.code, ...allCodes(concept.concept ?? [])]);
}
