/** What a reading says of dates and medicines, in English: for contexts and summaries. Pages have the words of their languages. */
import { findCodeWord } from './code-words.ts';
import type { Dated } from './dates.ts';
import type { Medicine } from './medicines.ts';
import type { Death } from './person.ts';

/** Returns the day of a date or date-time as it is written, as exact as it is: `2026-03`. */
export function dayOf(date: string): string {
  return date.slice(0, 10);
}

const PHRASES = {
  born: 'born',
  onset: 'since',
  'last reaction': 'last reaction',
  taken: 'taken',
  prescribed: 'prescribed',
  measured: 'measured',
  reported: 'reported',
  performed: 'performed',
  given: 'given',
  visited: 'visited',
  planned: 'since',
  written: 'written',
  recorded: 'recorded',
} as const satisfies Readonly<Record<Dated['means'], string>>;

/** Returns a date with what it means: `since 2019`, `recorded 2020-02-03`; undefined if there is none. */
export function datePhrase({ date, means }: Dated): string | undefined {
  return date === null ? undefined : `${PHRASES[means]} ${dayOf(date)}`;
}

/** Returns how things stand with a medicine and since when: `stopped; date not recorded; prescribed 2019-01-02`. */
export function standingPhrase(
  {
    standing,
    status,
    from,
    until,
    prescribed,
    contradicted,
  }: Pick<Medicine, 'standing' | 'status' | 'from' | 'until' | 'prescribed' | 'contradicted'>,
  died: Death | undefined,
): string {
  const parts = [stateWord(standing, status, until, died)];
  if (from !== undefined && until !== undefined) parts.push(`taken ${dayOf(from)} to ${dayOf(until)}`);
  else if (from !== undefined)
    parts.push(standing === 'past' ? `taken from ${dayOf(from)}` : `taken since ${dayOf(from)}`);
  else if (until !== undefined) parts.push(`taken until ${dayOf(until)}`);
  if (prescribed !== undefined) {
    const { first, last, times } = prescribed;
    const [one, other] = [dayOf(first), dayOf(last)];
    const done = standing === 'forbidden' ? 'ordered' : 'prescribed';
    parts.push(times === 1 ? `${done} ${one}` : `${done} ${times} times, ${one} to ${other}`);
  }
  if (contradicted !== undefined) {
    const { date } = contradicted.dated;
    parts.push(
      `also recorded as ${statusWord(contradicted.status)}${date === null ? '' : ` (${dayOf(date)})`}`,
    );
  }
  return parts.join('; ');
}

/** Returns how things stand with a medicine in words. */
export function stateWord(
  standing: Medicine['standing'],
  code: string,
  until: string | undefined,
  died: Death | undefined,
): string {
  const status = statusWord(code);
  if (standing === 'forbidden') return 'not to be given';
  if (standing === 'unclear') return `recorded as ${status}, but its period is over`;
  if (standing === 'current') return code === 'unknown' ? 'status unknown' : status;
  if (died !== undefined && !['stopped', 'completed', 'not-taken'].includes(code))
    return `recorded as ${status} before death`;
  return code === 'stopped' && until === undefined ? 'stopped; date not recorded' : status;
}

/** Returns the status of a medicine in words; `active` is the word that clinicians and models know. */
export function statusWord(code: string): string {
  return code === 'active' ? code : (findCodeWord('en', 'medicationStatus', code) ?? code);
}
