/**
 * Compiles HL7's R4 terminology into `generated/r4.json`, which is committed: `npm run generate`. The file contains the value
 * sets that elements of the 26 types are bound to, the code systems used in those value sets, HL7's maps between them, and
 * common UCUM units. It leaves out code systems and lists with their own licences (SNOMED CT, DICOM), very long lists, and
 * narrative.
 */
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { isResourceType } from '#src/fhir/types.ts';
import type { CodeSystem, Concept, ConceptMap, ValueSet } from '#src/terminology/resources.ts';
import { entries, readStructures } from '../definitions/hl7.ts';

/** Code systems that aren't HL7's or that apply to only one realm, and the long list of document types. */
const LEFT_OUT = new Set([
  'http://dicom.nema.org/resources/ontology/DCM',
  'http://terminology.hl7.org/CodeSystem/v3-Race',
  'http://terminology.hl7.org/CodeSystem/v3-Ethnicity',
  'http://hl7.org/fhir/ValueSet/c80-doc-typecodes',
]);

const UCUM = 'http://unitsofmeasure.org';
const UCUM_COMMON = 'http://hl7.org/fhir/ValueSet/ucum-common';

const SNOMED = 'http://snomed.info/sct';

type Source = CodeSystem | ValueSet | ConceptMap;

/** Returns the text of `generated/r4.json`: an array of resources. The same definitions give the same bytes. */
export function generateTerminology(): string {
  const known = new Map<string, Source>();
  for (const file of ['valuesets.json', 'v3-codesystems.json', 'v2-tables.json'])
    for (const resource of entries<Source>(file, 'CodeSystem', 'ValueSet'))
      if (!known.has(resource.url)) known.set(resource.url, resource);
  const chosen = new Map<string, Source>();
  const choose = (canonical: string): void => {
    const url = known.has(canonical) ? canonical : (canonical.split('|')[0] ?? canonical);
    const resource = known.get(url);
    if (resource === undefined || chosen.has(url) || LEFT_OUT.has(url) || listsSnomed(resource)) return;
    chosen.set(url, resource);
    if (resource.resourceType !== 'ValueSet') return;
    for (const part of [...(resource.compose?.include ?? []), ...(resource.compose?.exclude ?? [])]) {
      if (part.system !== undefined) choose(part.system);
      for (const other of part.valueSet ?? []) choose(other);
    }
  };
  for (const binding of bindings()) choose(binding);
  choose(UCUM_COMMON);
  for (const map of entries<ConceptMap>('conceptmaps.json', 'ConceptMap')) {
    const source = map.sourceCanonical ?? map.sourceUri;
    if (source !== undefined && chosen.has(source) && !JSON.stringify(map).includes(SNOMED)) {
      chosen.set(map.url, map);
      choose(map.targetCanonical ?? map.targetUri ?? '');
    }
  }
  const resources = [...chosen.values(), commonUnits(known.get(UCUM_COMMON))].map(compact);
  resources.sort((a, b) => (`${a.resourceType} ${a.url}` < `${b.resourceType} ${b.url}` ? -1 : 1));
  return `[\n${resources.map((resource) => JSON.stringify(resource)).join(',\n')}\n]\n`;
}

/** Returns the value sets that elements of the 26 types and of every datatype are bound to. */
function bindings(): Set<string> {
  const found = new Set<string>();
  for (const { kind, name, elements } of readStructures().values()) {
    if (kind === 'resource' && !isResourceType(name)) continue;
    for (const { binding } of elements) if (binding?.valueSet !== undefined) found.add(binding.valueSet);
  }
  return found;
}

function listsSnomed(resource: Source): boolean {
  const parts = resource.resourceType === 'ValueSet' ? resource.compose?.include : undefined;
  return parts?.some(({ system, concept }) => system === SNOMED && concept !== undefined) === true;
}

/** Returns UCUM reduced to the units in HL7's list of common units, because UCUM has infinitely many. */
function commonUnits(list: Source | undefined): CodeSystem {
  const concept = list?.resourceType === 'ValueSet' ? list.compose?.include[0]?.concept : undefined;
  if (concept === undefined) throw new Error(`${UCUM_COMMON} is not among the definitions`);
  return {
    resourceType: 'CodeSystem',
    url: UCUM,
    name: 'UCUM',
    title: 'Unified Code for Units of Measure (UCUM), common units',
    status: 'active',
    copyright:
      'UCUM is copyright 1999-2024 Regenstrief Institute, Inc. All rights reserved; http://unitsofmeasure.org/trac/wiki/TermsOfUse',
    caseSensitive: true,
    content: 'fragment',
    concept: [...new Map(concept.map((unit) => [unit.code, unit])).values()],
  };
}

/**
 * Returns a resource without narrative, contacts and extensions. Concepts keep only their code, display, order, and whether
 * they are abstract.
 */
function compact(resource: Source): Source {
  const { id, meta, text, contact, extension, identifier, publisher, ...kept } = resource as Source &
    Record<string, unknown>;
  const stated = kept as Source & { description?: string };
  if (stated.description !== undefined && stated.description.length > 300) delete stated.description;
  if (stated.resourceType === 'CodeSystem' && stated.concept !== undefined)
    return { ...stated, concept: stated.concept.map(compactConcept) };
  return stated;
}

function compactConcept({ code, display, concept, property }: Concept): Concept {
  const kept = (property ?? []).filter(
    (each) => each.code === 'notSelectable' || each.code === 'status' || each.code === 'inactive',
  );
  return {
    code,
    ...(display === undefined ? {} : { display: display.trim() }),
    ...(kept.length === 0 ? {} : { property: kept }),
    ...(concept === undefined ? {} : { concept: concept.map(compactConcept) }),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(
    fileURLToPath(new URL('../../src/terminology/bundled/generated/r4.json', import.meta.url)),
    generateTerminology(),
  );
