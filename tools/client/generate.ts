/** Writes the types for the TypeScript client: `npm run generate`. A test checks that the files match. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { StructureTable } from '#src/fhir/definitions/tables.ts';
import { TYPE_NAMES } from '#src/fhir/types.ts';
import { openApiDocument } from '#src/http/openapi/document.ts';
import { ALL_ROUTES } from '#src/http/routes.ts';
import { writeApiTypes } from './api-types.ts';
import { writeFhirTypes } from './fhir-types.ts';

/** The folder for the types. */
export const TYPES = fileURLToPath(new URL('../../clients/typescript/src/generated/', import.meta.url));

/** Returns a map from file name to text for every generated module. The same definitions give the same text. */
export function generateClientTypes(): Record<string, string> {
  // Removes undefined members, so that the document is the same as its JSON.
  const document = JSON.parse(JSON.stringify(openApiDocument(ALL_ROUTES, 'http://localhost:3000')));
  return {
    'api.ts': writeApiTypes(document),
    'fhir.ts': writeFhirTypes(
      TYPE_NAMES,
      readTable<StructureTable>('structures.json'),
      readTable<Record<string, Record<string, unknown>>>('search-parameters.json'),
    ),
  };
}

function readTable<T>(name: string): T {
  const file = new URL(`../../src/fhir/definitions/generated/${name}`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8')) as T;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(TYPES, { recursive: true });
  for (const [name, text] of Object.entries(generateClientTypes())) writeFileSync(TYPES + name, text);
}
