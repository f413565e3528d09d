/** Reads the newest values in series, and only in the series of findings that are shown. */
import { parseSource } from '#src/clinical/summary/source.ts';
import type { Focus } from './guidance/focus.ts';
import { type Entry, type Version, versionReference } from './record.ts';
import type { Series } from './series.ts';
import { valueIn } from './value.ts';

/** A series whose newest values have been read. */
export interface Course extends Series {
  /**
   * The newest resources that have a value, read as a whole; if no resource has a value, the newest resources that have an
   * interpretation.
   */
  readonly newest: readonly Entry[];
}

/** Reads the stored text of versions, by `versionReference`. */
export type ReadBodies = (versions: readonly Version[]) => Promise<ReadonlyMap<string, string>>;

/** Returns the number of values that are shown per series. */
export function valuesShown({ work, needs }: Focus): number {
  return work === 'follow_up' || needs.length > 0 ? 4 : 2;
}

/** If resources turn out to have no value, the number read next is multiplied by this factor. */
const GROWTH = 4;

/**
 * Reads the newest values in each series.
 * @param most values per series; resources that turn out to have no value are skipped
 */
export async function readNewest(
  series: readonly Series[],
  most: number,
  bodies: ReadBodies,
): Promise<Course[]> {
  const courses = series.map((one) => ({ ...one, newest: [] as Entry[], from: 0 }));
  let open = courses;
  for (let size = most; open.length > 0; size *= GROWTH) {
    const texts = await bodies(open.flatMap(({ entries, from }) => entries.slice(from, from + size)));
    for (const course of open) {
      for (const entry of course.entries.slice(course.from, course.from + size)) {
        if (course.newest.length === most) break;
        const { value } = parseSource({ ...entry, body: readText(entry, texts) });
        if (valueIn(value) !== undefined) course.newest.push({ ...entry, value });
      }
      course.from += size;
    }
    open = open.filter(({ entries, newest, from }) => newest.length < most && from < entries.length);
  }
  const judged = courses.filter(({ newest, judged }) => newest.length === 0 && judged.length > 0);
  if (judged.length === 0) return courses;
  const texts = await bodies(judged.flatMap(({ judged: all }) => all.slice(0, most)));
  for (const { newest, judged: all } of judged)
    for (const entry of all.slice(0, most))
      newest.push({ ...entry, value: parseSource({ ...entry, body: readText(entry, texts) }).value });
  return courses;
}

function readText(entry: Entry, texts: ReadonlyMap<string, string>): string {
  const text = texts.get(versionReference(entry));
  if (text === undefined) throw new TypeError(`${versionReference(entry)} has no text`);
  return text;
}
