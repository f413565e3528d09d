/** Translates zod's issues into our error messages. */

import { z } from 'zod';
import { withArticle } from '#src/shared/article.ts';
import { cut } from '#src/shared/cut.ts';
import { type Faults, MAX_FAULTS } from '#src/shared/faults.ts';
import type { IssueType } from '#src/shared/issue.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { suggestion, unknownName } from './unknown-names.ts';

type Found = z.core.$ZodIssue;
type Raw = z.core.$ZodRawIssue;

/** Codes of zod's issues that may mean that a member is missing. */
const OF_NOTHING: ReadonlySet<Found['code']> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);
/** The prefix of a schema's messages that are complete sentences because they name several members. */
const ADVICE = 'provide ';
/** Maximum length of a member's name in a message. */
const SHOWN = 60;

/**
 * Adds the issues that zod found; an object with several unknown members gets one fault for each.
 * @param value the parsed value, which shows whether a member is missing or has the wrong type.
 * @param place `query.`, `path.`, or empty for the body.
 * @param otherwise ends a message about an unknown query parameter: where to request what the query cannot express.
 */
export function addIssues(
  faults: Faults,
  found: readonly Found[],
  value: unknown,
  place: string,
  otherwise?: string,
): void {
  for (const issue of found) addIssue(faults, issue, value, place, otherwise);
}

function addIssue(
  faults: Faults,
  issue: Found,
  value: unknown,
  place: string,
  otherwise: string | undefined,
): void {
  const at = (path: readonly PropertyKey[]): string =>
    place + path.map((part) => cut(String(part), SHOWN)).join('.');
  if (issue.code === 'unrecognized_keys') {
    if (faults.full) {
      faults.count(issue.keys.length);
      return;
    }
    const known = knownIn(issue);
    for (const key of issue.keys.slice(0, MAX_FAULTS)) {
      const expression = at([...issue.path, key]);
      const shown = place === 'query.' ? expression.slice(place.length) : expression;
      const what = place === 'query.' ? 'query parameter' : 'field';
      faults.add({
        code: 'structure',
        diagnostics: unknownName(what, {
          name: key,
          at: shown,
          known,
          otherwise: place === 'query.' ? otherwise : undefined,
        }),
        expression,
      });
    }
    faults.count(Math.max(issue.keys.length - MAX_FAULTS, 0));
    return;
  }
  if (faults.full) {
    faults.count(1);
    return;
  }
  const inner = nearest(issue, valueAt(value, issue.path));
  if (inner !== undefined) {
    const inside = at(issue.path) + (at(issue.path) === place ? '' : '.');
    addIssues(faults, inner, valueAt(value, issue.path), inside);
    return;
  }
  const expression = at(issue.path);
  if (issue.code === 'custom' && issue.message.startsWith(ADVICE)) {
    faults.add({ code: 'required', diagnostics: issue.message, expression });
    return;
  }
  const missing = OF_NOTHING.has(issue.code) && valueAt(value, issue.path) === undefined;
  const name = expression === '' || expression === place ? 'the body' : expression;
  faults.add({
    code: missing ? 'required' : issueType(issue),
    diagnostics: `${name} ${missing ? 'is missing' : issue.code === 'invalid_union' ? alternatives(issue.errors) : issue.message}${missing ? '' : meant(issue, valueAt(value, issue.path))}`,
    ...(expression === '' ? {} : { expression }),
  });
}

/**
 * Returns the faults under the union's form that is nearest to the value. Of the forms that have the value's JSON type, this
 * is the one with the fewest unknown members, then the fewest missing members, then the fewest faults.
 * @returns undefined if no form has faults further inside; in that case the message for the union as a whole says what it
 *   accepts
 */
function nearest(issue: Found, value: unknown): readonly Found[] | undefined {
  if (issue.code !== 'invalid_union' || value === undefined) return undefined;
  const forms = issue.errors
    .filter((form) => !form.some(isOtherType) && form.some(isFurtherIn))
    .map((form) => ({ form, distance: measureDistance(form, value) }));
  forms.sort((one, other) => compared(one.distance, other.distance));
  return forms[0]?.form;
}

/**
 * Returns the end of a message about text that isn't one of the allowed values: the nearest allowed value, if one is similar
 * enough.
 */
function meant(issue: Found, sent: unknown): string {
  if (issue.code !== 'invalid_value' || typeof sent !== 'string') return '';
  return didYouMean(
    sent,
    issue.values.filter((known) => typeof known === 'string'),
  );
}

/** Returns whether the value as a whole has a different JSON type. */
function isOtherType({ code, path }: Found): boolean {
  return path.length === 0 && (code === 'invalid_type' || code === 'invalid_value');
}

function isFurtherIn({ code, path }: Found): boolean {
  return path.length > 0 || code === 'unrecognized_keys';
}

/** Returns three counts: unknown members that don't resemble any known one, missing members, and all faults. */
function measureDistance(form: readonly Found[], value: unknown): readonly number[] {
  let [unknown, missing] = [0, 0];
  for (const found of form) {
    if (found.code === 'unrecognized_keys' && found.path.length === 0) {
      const known = knownIn(found);
      unknown += found.keys.slice(0, MAX_FAULTS).filter((name) => suggestion(name, known) === '').length;
    } else if (found.path.length === 1 && valueAt(value, found.path) === undefined) missing += 1;
  }
  return [unknown, missing, form.length];
}

function compared(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((number, n) => number !== other[n]);
  return at < 0 ? 0 : (one[at] ?? 0) - (other[at] ?? 0);
}

/** Returns the member names of a strict object, which `sentence` passes as the issue's message. */
function knownIn({ message }: Found): string[] {
  return message === '' ? [] : message.split('\n');
}

/** Returns the member names of a strict object, separated by newlines, because zod's issue has no other field for them. */
function joinMemberNames({ inst }: Raw): string {
  return inst instanceof z.ZodObject ? Object.keys(inst.shape).join('\n') : '';
}

/** Returns the requirements of all of a union's forms together: `must be a date, or a number`. */
function alternatives(errors: readonly (readonly Found[])[]): string {
  const ofType = errors.filter((form) => !form.some(isOtherType));
  const said = (ofType.length === 0 ? errors : ofType).map(([first]) => first?.message ?? '');
  const advice = said.find((message) => message.startsWith(NEEDS));
  if (advice !== undefined) return advice;
  const forms = [...new Set(said)].filter((message) => message.startsWith(MUST_BE));
  if (forms.length === 0) return 'has none of the accepted forms';
  return MUST_BE + forms.map((message) => message.slice(MUST_BE.length)).join(', or ');
}

const MUST_BE = 'must be ';
/** The prefix of a message for a value that is almost in the right form: `needs a time zone`. */
const NEEDS = 'needs ';

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inside, part) => (typeof inside === 'object' && inside !== null ? Reflect.get(inside, part) : undefined),
    value,
  );
}

function issueType(issue: Found): IssueType {
  switch (issue.code) {
    case 'invalid_type':
      return 'structure';
    case 'invalid_value':
      return 'code-invalid';
    case 'too_big':
      return issue.origin === 'string' || issue.origin === 'array' ? 'too-long' : 'value';
    default:
      return 'value';
  }
}

/** Returns the message for a schema that defines none, phrased to end a sentence that begins with the input's name. */
export function sentence(issue: Raw): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${withArticle(TYPE_WORDS[issue.expected] ?? issue.expected)}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`;
    case 'too_small':
      return `must ${bounded('at least', issue.minimum, issue.origin)}`;
    case 'too_big':
      return `must ${bounded('at most', issue.maximum, issue.origin)}`;
    case 'invalid_format':
      return issue.format === 'regex'
        ? `must have the form ${issue.pattern}`
        : `must be ${withArticle(issue.format)}`;
    case 'unrecognized_keys':
      return joinMemberNames(issue);
    default:
      return 'is not valid';
  }
}

/** Words for types that zod names but JSON doesn't have. */
const TYPE_WORDS: Readonly<Record<string, string>> = { int: 'whole number', record: 'object' };

/** The units of values that have a length. All other values are numbers. */
const UNITS: Readonly<Record<string, string>> = { string: 'character', array: 'item' };

function bounded(which: 'at least' | 'at most', bound: number | bigint, origin: string): string {
  const unit = UNITS[origin];
  if (unit === undefined) return `be ${which} ${bound}`;
  return `have ${which} ${bound} ${unit}${Number(bound) === 1 ? '' : 's'}`;
}
