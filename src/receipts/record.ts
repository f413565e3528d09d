/** Selects the versions in a record on which an answer is based. */
import type { AiVersions } from '#src/clinical/summary/choose.ts';
import { readCategories } from '#src/fhir/search/categories.ts';
import { type Access, allows } from '#src/shared/access/access.ts';
import { CONTEXT_LETTERS } from '#src/shared/access/coverage.ts';
import type { LoggedVersion, Material } from './material.ts';

/** A version that has text, so not a deletion. */
export interface Living extends LoggedVersion {
  readonly body: string;
}

/** A record as of an answer's position, limited to what its reader was allowed to see. */
export interface SeenRecord {
  /** By id, in the order in which the resources were created. */
  readonly current: readonly Living[];
  /** For resources that an AI changed, the last version before that which an AI didn't write. */
  readonly earlier: readonly Living[];
  readonly byAi: AiVersions;
  /** All versions that an AI didn't write, oldest first. */
  readonly written: readonly Living[];
}

/** Returns a version's name, such as `Observation/<id>/_history/3`. */
export const nameVersion = ({ type, id, version }: LoggedVersion): string =>
  `${type}/${id}/_history/${version}`;

/**
 * Returns the record on which an answer is based.
 * @param access the grant's access; undefined for everything
 */
export function seeRecord(
  { versions, position, parameters }: Pick<Material, 'versions' | 'position' | 'parameters'>,
  access?: Access,
): SeenRecord {
  const isSeen = (version: LoggedVersion): version is Living =>
    version.body !== null && (access === undefined || isCovered(access, version.type, version.body));
  const then = versions.filter(({ recordedAt }) => position === null || recordedAt <= position);
  const last = new Map(then.map((version) => [version.id, version]));
  // For an answer as of an earlier time, visibility also depends on the versions that existed when the answer was made.
  const present = parameters.is_past === true ? versions.filter(({ body }) => body !== null) : then;
  const latest = new Map(present.map((version) => [version.id, version]));
  const current = [...last.values()].filter(isSeen).filter(({ id }) => {
    const now = latest.get(id);
    return now === undefined || isSeen(now);
  });
  const byAi = new Map<string, number | undefined>();
  const earlier: Living[] = [];
  for (const version of current) {
    if (version.authorType !== 'ai') continue;
    const before = then.findLast(
      (each): each is Living =>
        each.id === version.id && each.version < version.version && each.authorType !== 'ai' && isSeen(each),
    );
    byAi.set(nameVersion(version), before?.version);
    if (before !== undefined) earlier.push(before);
  }
  const written = then.filter(isSeen).filter(({ authorType }) => authorType !== 'ai');
  return { current, earlier, byAi, written };
}

function isCovered(access: Access, type: string, body: string): boolean {
  return allows(access, type, CONTEXT_LETTERS, readCategories(type, JSON.parse(body)));
}

/** Groups versions by the ids of their resources, newest first. */
export function groupVersions(versions: readonly Living[]): ReadonlyMap<string, readonly Living[]> {
  const grouped = new Map<string, Living[]>();
  for (const version of versions)
    if (grouped.get(version.id)?.unshift(version) === undefined) grouped.set(version.id, [version]);
  return grouped;
}

/**
 * Returns directory entries, in the versions that an answer names.
 * @param named the versions, by `Type/id`
 */
export function pickEntries(
  { directory }: Pick<Material, 'directory'>,
  named: Readonly<Record<string, unknown>>,
): Living[] {
  return directory.filter(
    (entry): entry is Living => entry.body !== null && named[`${entry.type}/${entry.id}`] === entry.version,
  );
}
