/** Writes error messages about unknown members and query parameters. */
import { didYouMean } from '#src/shared/nearest.ts';

/** Maximum number of names that a message lists. */
const LISTED = 20;

/** Common alternative names for fields, in lower case without separators. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  given: ['firstname', 'forename', 'givenname', 'givennames'],
  family: ['lastname', 'surname', 'familyname'],
  birth_date: ['dob', 'dateofbirth', 'birthday'],
  gender: ['sex'],
  identifiers: ['mrn', 'ids'],
  effective_at: [
    'effectivedatetime',
    'effectivedate',
    'measuredat',
    'observedat',
    'timestamp',
    'datetime',
    'time',
  ],
  value: ['result', 'valuequantity', 'number'],
  value_text: ['valuestring', 'text'],
  reference_range: ['referenceranges', 'normalrange'],
  display: ['name', 'label'],
  note: ['comment', 'comments', 'remark'],
  onset: ['onsetdate', 'startdate', 'start'],
  abatement: ['abatementdate', 'enddate', 'end'],
  start: ['startdate', 'startedat'],
  end: ['enddate', 'endedat'],
  clinical_status: ['status'],
  content_type: ['mimetype', 'mediatype'],
  title: ['name', 'filename'],
};

const AS_OF_PLACES =
  'as_of works on a patient, observation, condition, medication, prescription or document by its id, on lists of observations, conditions, medications and prescriptions, on the timeline and series of a record, and in POST /v1/context';

/**
 * Returns the sentence about an unknown name. It suggests the nearest known name or, if none is near, lists all known names if
 * there are few.
 * @param what `field` or `query parameter`.
 * @param at where it is: the name itself, or a dotted path that ends with it.
 * @param known the names known at that place.
 * @param otherwise where to request what these names cannot express, if there is such a place.
 */
export function unknownName(
  what: string,
  {
    name,
    at,
    known,
    otherwise,
  }: {
    readonly name: string;
    readonly at: string;
    readonly known: readonly string[];
    readonly otherwise?: string | undefined;
  },
): string {
  const more = otherwise === undefined ? '' : `; ${otherwise}`;
  if (name === 'as_of') return `unknown ${what} \`${at}\`; ${AS_OF_PLACES}`;
  return `unknown ${what} \`${at}\`${suggestion(name, known) || listed(what, known) + more}`;
}

/** Returns `` ; did you mean `given`? `` if the name is similar or equivalent to a known one; otherwise an empty string. */
export function suggestion(name: string, known: readonly string[]): string {
  const letters = name
    .slice(0, 40)
    .toLowerCase()
    .replaceAll(/[\s_.-]/g, '');
  const same = known.find((each) => OTHER_NAMES[each]?.includes(letters));
  return same === undefined ? didYouMean(name, known) : `; did you mean \`${same}\`?`;
}

function listed(what: string, known: readonly string[]): string {
  if (known.length === 0) return `; this request takes no ${what}s`;
  return known.length > LISTED ? '' : `; the ${what}s are ${known.join(', ')}`;
}
