/**
 * Reads in the narratives of a summary what its entries don't have: how much is over, what past entries say, what was changed,
 * and what was refuted.
 */
import {
  countNotListed,
  ONLY_PAST,
  readChanges,
  readRefuted,
  readToldRows,
} from '../../../clinical/summary/not-listed.ts';
import { list, object } from './texts.js';

/**
 * Returns the rows of medicines where the record has some that aren't entries; how many past entries each kind of section
 * doesn't list; the kinds that have no entries because all that the record has are over; the texts of changes by `Type/id`; and
 * refuted allergies.
 * @param kindOf returns the kind of a section
 */
export function readNarratives(composition, kindOf) {
  const medicines = [];
  const notListed = new Map();
  const onlyPast = new Set();
  const changes = new Map();
  const refuted = [];
  for (const section of list(object(composition).section).map(object)) {
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
