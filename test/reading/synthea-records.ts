/** Synthea's records, converted to varied records. They aren't part of the repository (CONTRIBUTING.md). */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { isResourceType, typeEntry } from '#src/fhir/types.ts';
import { syntheaFolder } from '#test/support/synthea.ts';
import type { Json, Version } from './raw.ts';
import type { VariedRecord } from './varied-records.ts';

const bundles = z.object({
  entry: z.array(
    z.object({
      fullUrl: z.string(),
      resource: z.looseObject({ resourceType: z.string(), id: z.string() }),
    }),
  ),
});

/** Returns the names of the files, smallest record first; none if the folder is missing. */
export function syntheaFiles(): string[] {
  const folder = syntheaFolder();
  if (folder === undefined) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort((one, other) => sizeOf(folder, one) - sizeOf(folder, other));
}

const sizeOf = (folder: string, name: string): number => readFileSync(join(folder, name)).length;

/** Returns the record in a file. Its references are resolved to `Type/id`, as in an imported Bundle. */
export function syntheaRecord(name: string): VariedRecord {
  const text = readFileSync(join(syntheaFolder() ?? '', name), 'utf8');
  const types = new Map(
    bundles
      .parse(JSON.parse(text))
      .entry.map(({ fullUrl, resource }) => [fullUrl, `${resource.resourceType}/${resource.id}`]),
  );
  const linked = text.replace(
    /"reference": ?"(urn:uuid:[^"]+)"/g,
    (whole, url: string) => `"reference":"${types.get(url) ?? whole}"`,
  );
  const versions: Version[] = [];
  const directory = new Map<string, Json>();
  for (const { resource } of bundles.parse(JSON.parse(linked)).entry) {
    const { resourceType: type, id } = resource;
    if (!isResourceType(type)) continue;
    if (['directory', 'either'].includes(typeEntry(type).home) && resource.patient === undefined)
      directory.set(`${type}/${id}`, resource);
    else versions.push({ type, id, version: 1, resource, byAi: false });
  }
  const patient = versions.find(({ type }) => type === 'Patient');
  if (patient === undefined) throw new Error(`${name} has no Patient`);
  return { name, patient, versions, directory };
}
