/**
 * Reads from a summary's narratives what its entries don't contain: how many past entries there are, what past entries say,
 * what was changed, and what was refuted.
 */
import type { RefutedWords } from '#src/clinical/reading/english.ts';
import {
  countNotListed,
  ONLY_PAST,
  readChanges,
  readRefuted,
  readToldRows,
  type ToldRow,
} from '#src/clinical/summary/not-listed.ts';
import type { JsonObject } from '#src/shared/json/json-value.ts';
import type { Kind } from './rows.ts';
import { list, object, objectsIn } from './texts.ts';

/** The facts stated in narratives. */
export interface Narratives {
  /** The rows for medicines, if the record has some that aren't entries in the summary. */
  readonly medicines: readonly ToldRow[];
  /** How many past entries each kind of section doesn't list. */
  readonly notListed: ReadonlyMap<Kind, number>;
  /** The kinds that have no entries because everything in the record is over. */
  readonly onlyPast: ReadonlySet<Kind>;
  /** Texts about changes, by `Type/id`. */
  readonly changes: ReadonlyMap<string, readonly string[]>;
  readonly refuted: readonly RefutedWords[];
}

/**
 * Reads a summary's narratives.
 * @param kindOf returns the kind of a section
 */
export function readNarratives(
  composition: JsonObject | undefined,
  kindOf: (section: JsonObject) => Kind | undefined,
): Narratives {
  const medicines: ToldRow[] = [];
  const notListed = new Map<Kind, number>();
  const onlyPast = new Set<Kind>();
  const changes = new Map<string, readonly string[]>();
  const refuted: RefutedWords[] = [];
  for (const section of objectsIn(composition?.section)) {
    const { div } = object(section.text);
    const kind = kindOf(section);
    if (typeof div !== 'string' || kind === undefined) continue;
    const count = countNotListed(div);
    if (count > 0) notListed.set(kind, count);
    if (list(section.entry).length === 0 && div.includes(ONLY_PAST)) onlyPast.add(kind);
    if (kind === 'medications') medicines.push(...readToldRows(div));
    if (kind === 'allergies') refuted.push(...readRefuted(div));
    for (const [key, texts] of readChanges(div)) changes.set(key, texts);
  }
  return { medicines, notListed, onlyPast, changes, refuted };
}
