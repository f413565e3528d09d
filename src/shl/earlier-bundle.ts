/**
 * Creates the entry in `everything` with the versions by other authors that preceded an AI's changes (docs/shared-links.md).
 */
import type { Queries } from '#queries/queries.ts';
import { withdrawnAs } from '../clinical/reading/status.ts';
import { changedTag } from '../clinical/summary/changed-tag.ts';
import type { ResourceType } from '../fhir/types.ts';
import type { Caller } from '../shared/access/caller.ts';
import { parseStored } from '../shared/json/json.ts';
import { type BundledVersion, type BundleFrame, bundleEntry } from './bundle-entry.ts';

/** The last version of a resource before an AI changed it; not written by an AI itself. */
export interface Earlier {
  readonly type: ResourceType;
  readonly id: string;
  readonly version: number;
}

/** Maximum size of the versions in memory at a time, in bytes; a single version may exceed it. */
const PART_BYTES = 1_000_000;

/** Yields an entry with a Bundle of these versions, in pieces; yields nothing if none of the versions contains a statement. */
export function earlierEntry(
  { queries, ...frame }: BundleFrame & { readonly queries: Pick<Queries, 'vread'> },
  caller: Caller,
  versions: readonly Earlier[],
): AsyncGenerator<string, undefined> {
  return bundleEntry(frame, readStanding(queries, caller, versions), changedTag);
}

/** Yields the versions that weren't withdrawn, a few at a time. */
async function* readStanding(
  { vread }: Pick<Queries, 'vread'>,
  caller: Caller,
  versions: readonly Earlier[],
): AsyncGenerator<readonly BundledVersion[], undefined> {
  let part: BundledVersion[] = [];
  let bytes = 0;
  for (const each of versions) {
    const body = (await vread(caller, each.type, each.id, each.version))?.body ?? undefined;
    if (body === undefined || withdrawnAs(parseStored(body)) !== undefined) continue;
    part.push({ ...each, body });
    bytes += body.length;
    if (bytes < PART_BYTES) continue;
    yield part;
    [part, bytes] = [[], 0];
  }
  if (part.length > 0) yield part;
}
