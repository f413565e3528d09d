/** Writes a record's dates in the pages' languages, as precisely as they are known. */
import { dayInWords } from '#src/clinical/reading/day-words.ts';
import type { Death } from '#src/clinical/reading/person.ts';
import type { Texts } from '../pages/texts.ts';

/** Returns a FHIR date or date-time in words, with the same precision as the date: `2 May 2011`, `May 2011`, `2011`. */
export function dateText({ lang }: Texts, date: string): string {
  return dayInWords(lang, date);
}

/** Returns the words for a person's death. Its date is as precise as in the record. */
export function deathText(say: Texts, { date }: Death): string {
  return date === undefined ? say('record.dead') : say('record.died', { day: dateText(say, date) });
}
