/** Reads the earlier versions of a context's entries, because contexts say what was changed (docs/clinical-reading.md). */
import { REVISED_TYPES } from '#src/clinical/reading/revisions.ts';
import { parseSource } from '#src/clinical/summary/source.ts';
import { makeExcerpts } from './excerpt.ts';
import type { Course } from './newest.ts';
import type { Entry, OpenedRecord, Version } from './record.ts';

/** The text of an earlier version, and the time at which the next version that no AI wrote was stored. */
export interface ReplacedText {
  readonly version: number;
  readonly body: string;
  readonly until: string;
}

/**
 * The maximum size of one compared version, and of all versions together, in bytes. If a version is too large, older versions
 * are skipped too.
 */
export const MOST_REPLACED_BYTES = { each: 200_000, inAll: 20_000_000 } as const;

/** Returns how many earlier versions are read per resource, for a given number of resources. */
export function countReplaced(resources: number): number {
  return Math.min(20, Math.max(2, Math.floor(10_000 / Math.max(1, resources))));
}

/**
 * Chooses the earlier versions to compare from all versions in the read models that no AI wrote.
 * @param versions by resource id, newest first
 */
export function pickReplaced(
  versions: ReadonlyMap<string, readonly StoredVersion[]>,
  current: readonly Version[],
): ReadonlyMap<string, readonly ReplacedText[]> {
  const most = countReplaced(current.length);
  const picked = new Map<string, readonly ReplacedText[]>();
  let bytes = 0;
  for (const { id, version: last } of [...current].sort((a, b) => (a.id < b.id ? -1 : 1))) {
    const own = (versions.get(id) ?? []).filter(({ version }) => version <= last).slice(0, most + 1);
    const texts: ReplacedText[] = [];
    let isCut = false;
    for (const [n, { version, body }] of own.entries()) {
      const next = own[n - 1];
      if (next === undefined || version === last) continue;
      const size = Buffer.byteLength(body);
      bytes += size;
      isCut ||= size >= MOST_REPLACED_BYTES.each || bytes >= MOST_REPLACED_BYTES.inAll;
      if (!isCut) texts.push({ version, body, until: next.recordedAt });
    }
    if (texts.length > 0) picked.set(id, texts);
  }
  return picked;
}

/** A stored version. */
interface StoredVersion {
  readonly version: number;
  readonly body: string;
  readonly recordedAt: string;
}

/**
 * Reads the text of the earlier versions of the given resources, by resource id, newest first; only versions that no AI wrote.
 */
export type ReadReplacedTexts = (
  current: readonly Version[],
) => Promise<ReadonlyMap<string, readonly ReplacedText[]>>;

/** Returns the record with earlier versions added to its entries. */
export async function withReplaced(opened: OpenedRecord, read: ReadReplacedTexts): Promise<OpenedRecord> {
  const facts = REVISED_TYPES.flatMap((type) => opened.facts.get(type) ?? []);
  const changed = [...facts, ...opened.refuted].filter(({ version }) => version > 1);
  if (changed.length === 0) return opened;
  const texts = await read(changed);
  const add = (entry: Entry): Entry => {
    const versions = texts.get(entry.id);
    if (versions === undefined) return entry;
    const { type, id } = entry;
    const replaced = versions.flatMap(({ version, body, until }) =>
      makeExcerpts([{ type, id, version, body }]).map(({ value }) => ({ value, until })),
    );
    return { ...entry, replaced };
  };
  const own = REVISED_TYPES.flatMap((type): [string, readonly Entry[]][] => {
    const entries = opened.facts.get(type);
    return entries === undefined ? [] : [[type, entries.map(add)]];
  });
  return { ...opened, facts: new Map([...opened.facts, ...own]), refuted: opened.refuted.map(add) };
}

/** Returns the series with earlier versions added to their newest entries. */
export async function withReplacedValues(
  courses: readonly Course[],
  read: ReadReplacedTexts,
): Promise<readonly Course[]> {
  const changed = courses.flatMap(({ newest: [latest] }) =>
    latest !== undefined && latest.version > 1 ? [latest] : [],
  );
  if (changed.length === 0) return courses;
  const texts = await read(changed);
  return courses.map((course) => {
    const [latest, ...others] = course.newest;
    const versions = latest === undefined ? undefined : texts.get(latest.id);
    if (latest === undefined || versions === undefined) return course;
    const { type, id } = latest;
    const replaced = versions.map(({ body, until }) => ({
      value: parseSource({ type, id, body }).value,
      until,
    }));
    return { ...course, newest: [{ ...latest, replaced }, ...others] };
  });
}

/** Returns the earlier versions, so that their codes can be named. */
export function listReplaced({ facts, refuted }: OpenedRecord): Pick<Entry, 'value'>[] {
  const entries = [...REVISED_TYPES.flatMap((type) => facts.get(type) ?? []), ...refuted];
  return [...entries.flatMap(({ replaced = [] }) => replaced), ...refuted];
}
