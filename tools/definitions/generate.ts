/**
 * Compiles HL7's R4 definitions to the compact tables under `generated/`, which are committed: `npm run generate`. A test runs
 * `generateTables` and compares the result.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { compactExtensions } from './compact-extensions.ts';
import { compactProfiles } from './compact-profiles.ts';
import { compactSearchParameters } from './compact-search.ts';
import { compactStructures } from './compact-structures.ts';
import { readExtensions, readSearchParameters, readStructures, readTerminology } from './hl7.ts';
import { readProfiles, readProfileValueSets } from './hl7-profiles.ts';

/** The folder for the tables. */
export const GENERATED = fileURLToPath(new URL('../../src/fhir/definitions/generated/', import.meta.url));

/** Returns a map from file name to content for every generated table. The same definitions give the same bytes. */
export function generateTables(): Record<string, string> {
  const terminology = readTerminology();
  const structures = compactStructures(readStructures(), terminology);
  const parameters = compactSearchParameters(readSearchParameters());
  const profiles = compactProfiles(readProfiles(), readProfileValueSets(), terminology);
  const extensions = compactExtensions(readExtensions());
  return {
    'extensions.json': `${JSON.stringify(extensions)}\n`,
    'profiles.json': `${JSON.stringify(profiles)}\n`,
    'structures.json': `${JSON.stringify(structures)}\n`,
    'search-parameters.json': `${JSON.stringify(parameters)}\n`,
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(GENERATED, { recursive: true });
  for (const [name, text] of Object.entries(generateTables())) writeFileSync(join(GENERATED, name), text);
}
