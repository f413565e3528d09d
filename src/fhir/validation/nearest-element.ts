/** Which element somebody meant who wrote a name that a type doesn't have. */
import { didYouMean } from '#src/shared/nearest.ts';
import type { Property } from './property.ts';

/** Most alternatives of a choice that a message lists. */
const LISTED = 6;

/** What people call an element, in lower case → names of elements, of which the first that the type has is meant. */
const OTHER_NAMES: ReadonlyMap<string, readonly string[]> = new Map([
  ['firstname', ['given', 'name']],
  ['givenname', ['given', 'name']],
  ['given', ['name']],
  ['lastname', ['family', 'name']],
  ['familyname', ['family', 'name']],
  ['surname', ['family', 'name']],
  ['family', ['name']],
  ['dob', ['birthDate']],
  ['dateofbirth', ['birthDate']],
  ['sex', ['gender']],
  ['mrn', ['identifier']],
  ['phone', ['telecom']],
  ['email', ['telecom']],
  ['patient', ['subject']],
  ['subject', ['patient']],
  ['date', ['effectiveDateTime', 'recordedDate']],
  ['unit', ['valueQuantity']],
]);

/**
 * Returns the end of a message about an unknown element: the nearest one, the alternatives of a choice of that name, or nothing.
 * @param name of the JSON member, of any length.
 * @param properties the type's own, by JSON name.
 */
export function nearestElement(name: string, properties: ReadonlyMap<string, Property>): string {
  const word = name.replace(/^_/, '');
  const own = [...properties.values()].filter(({ shadow }) => !shadow);
  const alternatives = own.filter((property) => property.choice && property.name === word);
  if (alternatives.length > 0) {
    const names = alternatives.slice(0, LISTED).map(({ key }) => key);
    return `; write ${names.join(', ')}${alternatives.length > LISTED ? ' or the like' : ''}`;
  }
  const other = OTHER_NAMES.get(word.slice(0, 40).toLowerCase())?.find((each) => properties.has(each));
  if (other !== undefined) return `; did you mean \`${other}\`?`;
  return didYouMean(
    word,
    own.map(({ key }) => key),
  );
}
