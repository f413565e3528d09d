/** Reads HL7's own R4 examples from the npm package hl7.fhir.r4.examples (CC0). */
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { isR4ResourceType } from '#src/fhir/definitions/tables.ts';
import { isObject, type JsonObject, parseJson } from '#src/shared/json/json.ts';

const folder = dirname(createRequire(import.meta.url).resolve('hl7.fhir.r4.examples/package.json'));

/** Matches the thousands of examples that are R4's own definitions, and Bundles of these. */
const DEFINITIONS =
  /^(?:StructureDefinition|CodeSystem|ValueSet|ConceptMap|SearchParameter|OperationDefinition|CompartmentDefinition|ImplementationGuide|CapabilityStatement)$/;
/** Maximum number of characters in a file; Bundles of definitions are larger. */
const MOST = 1_000_000;

/** An example: its file name without `.json`, and the resource. */
export interface OfficialExample {
  readonly name: string;
  readonly resource: JsonObject;
}

/** Returns the examples of all types, without R4's own definitions. */
export function officialExamples(): OfficialExample[] {
  return readAll((type) => isR4ResourceType(type) && !DEFINITIONS.test(type));
}

/** Returns R4's StructureDefinitions. */
export function officialStructures(): OfficialExample[] {
  return readAll((type) => type === 'StructureDefinition');
}

function readAll(wanted: (type: string) => boolean): OfficialExample[] {
  return readdirSync(folder).flatMap((file) => {
    const [type = ''] = file.split('-', 1);
    if (!file.endsWith('.json') || !wanted(type)) return [];
    const text = readFileSync(join(folder, file), 'utf8');
    if (text.length > MOST) return [];
    const { value } = parseJson(text);
    return isObject(value) ? [{ name: file.slice(0, -5), resource: value }] : [];
  });
}
