/** Shows whose record it is: names, birth date, age, sex, identifiers, and whether the person has died. */
import { ageText } from '#src/clinical/reading/changes.ts';
import { findCodeWord } from '#src/clinical/reading/names/code-words.ts';
import { type Person, readPerson } from '#src/clinical/reading/person.ts';
import { shownName } from '#src/fhir/human-name.ts';
import { objects } from '#src/fhir/parts.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import type { Texts } from '../../pages/texts.ts';
import { deathText } from '../../reading/day-text.ts';
import type { OverviewView } from './overview-view.ts';

/**
 * Returns the banner.
 * @param version the Patient's version
 * @param today `YYYY-MM-DD`
 */
export function viewPerson(
  say: Texts,
  { id, version, value }: { readonly id: string; readonly version: number; readonly value: JsonObject },
  today: string,
): OverviewView['patient'] {
  const { name, born, gender, identifiers, died } = readPerson(value);
  const others = objects(value.name).flatMap((each) => shownName([{ ...each, use: 'official' }]) ?? []);
  return {
    id,
    resource: `Patient/${id}`,
    version,
    name: name ?? null,
    other_names: [...new Set(others)].filter((other) => other !== name),
    birth_date: born ?? null,
    age: sayAge(say, { born, died }, today) ?? null,
    gender: gender ?? null,
    gender_text: gender === undefined ? null : (findCodeWord(say.lang, 'gender', gender) ?? gender),
    identifiers: identifiers.map(({ system, value: number, kind }) => ({
      value: number,
      system: system ?? null,
      kind: kind ?? null,
    })),
    died: died === undefined ? null : { date: died.date ?? null, text: deathText(say, died) },
  };
}

/**
 * Returns the age on a given day, or at death; undefined if the dates aren't exact to the day. Under two years, the age is in
 * months.
 */
function sayAge(
  say: Texts,
  { born, died }: Pick<Person, 'born' | 'died'>,
  today: string,
): string | undefined {
  const then = died === undefined ? today : died.date?.slice(0, 10);
  const [from, to] = [born, then].map((date) =>
    /^(\d{4})-(\d\d)-(\d\d)$/
      .exec(date ?? '')
      ?.slice(1)
      .map(Number),
  );
  if (from === undefined || to === undefined) return undefined;
  const [[year = 0, month = 0, day = 0], [thenYear = 0, thenMonth = 0, thenDay = 0]] = [from, to];
  const months = (thenYear - year) * 12 + thenMonth - month - (thenDay < day ? 1 : 0);
  if (months < 0) return undefined;
  const [unit, count] = months < 24 ? ['mo', months] : ['a', Math.floor(months / 12)];
  return ageText(say.lang, { from: Number(count), to: Number(count), unit: String(unit) });
}
