/**
 * The concepts that come with the program. Their texts are Annal's own; their codes are from LOINC, ATC and ICD-10 (WHO, 2019
 * version).
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openTable } from '../load/table.ts';
import { type ConceptEntry, conceptEntries } from './entry.ts';

/** The language of the bundled files. */
export const BUNDLED_LANGUAGE = 'en';

const FILES = ['symptoms', 'conditions', 'treatments'].map((name) =>
  fileURLToPath(new URL(`./bundled/${name}.${BUNDLED_LANGUAGE}.csv`, import.meta.url)),
);

/** Returns a digest of the bundled files; the same files result in the same digest. */
export function bundledConceptsFingerprint(): string {
  const hash = createHash('sha256');
  for (const file of FILES) hash.update(readFileSync(file));
  return hash.digest('hex');
}

/** Returns the bundled concepts. */
export async function bundledConcepts(): Promise<ConceptEntry[]> {
  const entries: ConceptEntry[] = [];
  for (const file of FILES)
    for await (const { entry } of conceptEntries(await openTable(file))) entries.push(entry);
  return entries;
}
