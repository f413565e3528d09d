/**
 * Makes an entry of `everything`: the versions that current ones replaced, of entries of which they changed something that
 * matters (docs/shared-links.md). The page says from it what was changed.
 */
import { setImmediate } from 'node:timers/promises';
import type { Queries } from '#queries/queries.ts';
import { mayDiffer, REVISED_TYPES } from '../clinical/reading/revisions.ts';
import { LEFT_OUT_SYSTEM, REPLACED } from '../clinical/summary/changed-tag.ts';
import type { Caller } from '../shared/access/caller.ts';
import { type JsonObject, parseStored } from '../shared/json/json.ts';
import { type BundledVersion, type BundleFrame, bundleEntry } from './bundle-entry.ts';

/** A current version that replaced others. */
export interface ChangedEntry {
  readonly type: string;
  readonly id: string;
  readonly version: number;
  readonly body: string;
}

/** The maximum size of the current versions that are compared, in bytes: those after them aren't. */
const MOST_BYTES = 10_000_000;
const COMPARED_TYPES: ReadonlySet<string> = new Set([...REVISED_TYPES, 'Observation']);
/** Entries whose versions are read at a time. */
const PART = 100;

/** Collects the current versions of a record that later say what they changed. */
export class ChangedEntries {
  readonly found: ChangedEntry[] = [];
  #bytes = 0;

  /** Adds a version that no AI wrote, if it replaced another one and its type is compared. */
  add(entry: ChangedEntry): void {
    if (entry.version < 2 || !COMPARED_TYPES.has(entry.type)) return;
    this.#bytes += entry.body.length;
    if (this.#bytes < MOST_BYTES) this.found.push(entry);
  }
}

/** Yields an entry with a Bundle of these versions, in pieces; nothing if there are none. */
export function replacedEntry(
  { queries, ...frame }: BundleFrame & { readonly queries: Pick<Queries, 'replacedVersions'> },
  caller: Caller,
  changed: readonly ChangedEntry[],
): AsyncGenerator<string, undefined> {
  return bundleEntry(frame, readReplaced(queries, caller, changed), () => META);
}

/** Yields the earlier versions of each entry of which they changed something that matters. */
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

/** Tells whether one of some versions, the newest first, differs in what readers should know from the one after it. */
async function isChanged(body: string, versions: readonly { readonly body: string }[]): Promise<boolean> {
  // Other requests get a turn.
  await setImmediate();
  let next: JsonObject = parseStored(body);
  for (const version of versions) {
    const value = parseStored(version.body);
    if (mayDiffer(value, next)) return true;
    next = value;
  }
  return false;
}
