/** Puts a record's codes and dates into words; every date has its meaning. */
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import { ageText } from '#src/clinical/reading/changes.ts';
import { type Dated, happened } from '#src/clinical/reading/dates.ts';
import { findCodeWord } from '#src/clinical/reading/names/code-words.ts';
import { datePhrase, type Phrase } from '#src/clinical/reading/phrases.ts';
import type { Texts } from '../pages/texts.ts';
import { dateText } from './day-text.ts';

/** Returns a date with its meaning, in words; without a date, returns when the entry was made. */
export function whenText(say: Texts, dated: Dated, { recorded }: ClinicalEntry): string {
  const phrase = datePhrase(dated);
  if (phrase !== undefined) return phraseText(say, phrase);
  return say('known.nodate', { day: say.day(recorded) });
}

/** Returns a resource's date with its meaning, in words; null if it has no date. */
export function whenDated(say: Texts, of: Parameters<typeof happened>[0]): string | null {
  const phrase = datePhrase(happened(of));
  return phrase === undefined ? null : phraseText(say, phrase);
}

/**
 * Returns the day of a timeline entry. The day's meaning is included unless it is the day on which the entry happened or
 * began.
 */
export function sayWhen(say: Texts, date: string, means: string): string {
  const day = dateText(say, date);
  if (means === 'entered') return say('known.nodate', { day });
  if (means === 'recorded') return say('known.recorded', { day });
  if (means === 'reported') return say('known.reported', { day });
  return means === 'prescribed' ? say('known.prescribed', { day }) : day;
}

/** Returns a phrase from the clinical reading in words. */
export function phraseText(
  say: Texts,
  { says, days, times = 0, state = '', age, text = '' }: Phrase,
): string {
  const dayText = (name: string): string => dateText(say, days[name] ?? '');
  const [day, from, until] = [dayText('day'), dayText('from'), dayText('until')];
  switch (says) {
    case 'on':
      return day;
    case 'until':
      return say('days.until', { day });
    case 'onsetage':
    case 'endage':
      return say(`known.${says}`, { age: age === undefined ? '' : ageText(say.lang, age) });
    case 'onset':
    case 'end':
    case 'statusreason':
    case 'alsorecorded':
    case 'inwords':
    case 'nosubstitutionfor':
    case 'statedby':
      return say(`known.${says}`, { text });
    case 'stopped':
      return say('known.stopped');
    case 'taken':
    case 'takenplanned':
    case 'planned':
    case 'prescribedtwice':
      return say(`known.${says}`, { from, until });
    case 'prescribedtimes':
      return say('known.prescribedtimes', { times, from, until });
    case 'times':
      return say('known.times', { times });
    case 'prescribedsame':
    case 'timesfirst':
    case 'timeslast':
      return say(`known.${says}`, { times, day });
    case 'dosestate':
    case 'doseplanned':
      return codeWord(say, 'medicationStatus', says === 'doseplanned' ? 'intended' : state) ?? state;
    case 'contradicted':
    case 'contradictedon':
    case 'contradictedorder':
    case 'contradictedorderon':
      return say(`known.${says}`, { day, state: codeWord(say, 'medicationStatus', state) ?? state });
    case 'alsoplanned':
    case 'alsounnamed':
    case 'nosubstitution':
      return say(`known.${says}`);
    default:
      return say(`known.${says}`, { day });
  }
}

/** Returns the word for a code, or the code itself if there is no word. */
export function codeWord(
  say: Texts,
  set: Parameters<typeof findCodeWord>[1],
  code: string | undefined,
): string | undefined {
  return code === undefined ? undefined : (findCodeWord(say.lang, set, code) ?? code);
}
