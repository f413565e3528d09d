/** Suggests the element that a client probably meant when its name is unknown. */
import { didYouMean } from '#src/shared/nearest.ts';
import type { Property } from './property.ts';

/** Maximum number of a choice's alternatives that a message lists. */
const LISTED = 6;

/** Common alternative names for an element, in lower case → element names. Suggests the first one that the type has. */
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
 * Returns the end of a message about an unknown element: the nearest element, the alternatives of the choice with that name,
 * or nothing.
 * @param name the name of the JSON member, which may have any length.
 * @param properties the type's own properties, by JSON name.
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
