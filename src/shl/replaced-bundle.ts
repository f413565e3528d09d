/**
 * Creates an entry in `everything` with the versions that current versions replaced, provided that something significant has
 * changed (docs/shared-links.md). The page uses it to show what was changed.
 */
import { setImmediate } from 'node:timers/promises';
import type { Queries } from '#queries/queries.ts';
import { mayDiffer, REVISED_TYPES } from '../clinical/reading/revisions.ts';
import { LEFT_OUT_SYSTEM, REPLACED } from '../clinical/summary/changed-tag.ts';
import type { Caller } from '../shared/access/caller.ts';
import { type JsonObject, parseStored } from '../shared/json/json.ts';
import { type BundledVersion, type BundleFrame, bundleEntry } from './bundle-entry.ts';

/** A current version that replaced earlier versions. */
export interface ChangedEntry {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly body: string;
}

/** The maximum total size of the current versions that are compared, in bytes; further versions aren't compared. */
const MOST_BYTES = 10_000_000;
const COMPARED_TYPES: ReadonlySet<string> = new Set([...REVISED_TYPES, 'Observation']);
/** Number of entries whose versions are read at a time. */
const PART = 100;

/** Collects a record's current versions, so that it can be determined later what they changed. */
export class ChangedEntries {
  readonly found: ChangedEntry[] = [];
  #bytes = 0;

  /** Adds a version that an AI didn't write, if it replaced another version and its type is compared. */
  add(entry: ChangedEntry): void {
    if (entry.version < 2 || !COMPARED_TYPES.has(entry.type)) return;
    this.#bytes += entry.body.length;
    if (this.#bytes < MOST_BYTES) this.found.push(entry);
  }
}

/** Yields an entry with a Bundle of these versions, in pieces; yields nothing if there are none. */
export function replacedEntry(
  { queries, ...frame }: BundleFrame & { readonly queries: Pick<Queries, 'replacedVersions'> },
  caller: Caller,
  changed: readonly ChangedEntry[],
): AsyncGenerator<string, undefined> {
  return bundleEntry(frame, readReplaced(queries, caller, changed), () => META);
}

/** Yields each entry's earlier versions, provided that something significant has changed. */
async function* readReplaced(
  { replacedVersions }: Pick<Queries, 'replacedVersions'>,
  caller: Caller,
  changed: readonly ChangedEntry[],
): AsyncGenerator<readonly BundledVersion[], undefined> {
  for (let at = 0; at < changed.length; at += PART) {
    const part = changed.slice(at, at + PART);
    const texts = await replacedVersions(caller, part);
    for (const { type, id, body } of part) {
      const versions = texts.get(id);
      if (versions !== undefined && (await isChanged(body, versions)))
        yield versions.map((version) => ({ type, id, body: version.body }));
    }
  }
}

const TAG = {
  system: LEFT_OUT_SYSTEM,
  code: REPLACED,
  display: 'Versions that others replaced, which changed what readers should know',
};
const META = `"meta":${JSON.stringify({ tag: [TAG] })}`;

/**
 * Returns whether anything that readers should know about changed between two successive versions.
 * @param versions newest first
 */
async function isChanged(body: string, versions: readonly { readonly body: string }[]): Promise<boolean> {
  // Gives other requests a turn.
  await setImmediate();
  let next: JsonObject = parseStored(body);
  for (const version of versions) {
    const value = parseStored(version.body);
    if (mayDiffer(value, next)) return true;
    next = value;
  }
  return false;
}
