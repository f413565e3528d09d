/** What zod finds, in the words of our errors. */
import type { z } from 'zod';
import { withArticle } from '#src/shared/article.ts';
import { type Faults, MAX_FAULTS } from '#src/shared/faults.ts';
import type { IssueType } from '#src/shared/refusal.ts';

type Found = z.core.$ZodIssue;
type Raw = z.core.$ZodRawIssue;

/** What zod says of a member that is not there: by a type, a list of values, or several forms. */
const OF_NOTHING: ReadonlySet<Found['code']> = new Set(['invalid_type', 'invalid_value', 'invalid_union']);
/** Longest name of a member that a message repeats. */
const SHOWN = 60;

/**
 * Adds what zod found; an object with several unknown members has a fault for each.
 * @param value what was parsed: tells a missing member from one of a wrong type.
 * @param place `query.`, `path.`, or nothing for the body.
 */
export function addIssues(faults: Faults, found: readonly Found[], value: unknown, place: string): void {
  for (const issue of found) addIssue(faults, issue, value, place);
}

function addIssue(faults: Faults, issue: Found, value: unknown, place: string): void {
  const at = (path: readonly PropertyKey[]): string =>
    place + path.map((part) => String(part).slice(0, SHOWN)).join('.');
  if (issue.code === 'unrecognized_keys') {
    for (const key of issue.keys.slice(0, MAX_FAULTS)) {
      const expression = at([...issue.path, key]);
      faults.add({ code: 'structure', diagnostics: `${expression} is not known`, expression });
    }
    faults.count(Math.max(issue.keys.length - MAX_FAULTS, 0));
    return;
  }
  const inner = nearest(issue);
  if (inner !== undefined) {
    const inside = at(issue.path) + (at(issue.path) === place ? '' : '.');
    addIssues(faults, inner, valueAt(value, issue.path), inside);
    return;
  }
  const expression = at(issue.path);
  const missing = OF_NOTHING.has(issue.code) && valueAt(value, issue.path) === undefined;
  const name = expression === '' || expression === place ? 'the body' : expression;
  faults.add({
    code: missing ? 'required' : codeOf(issue),
    diagnostics: `${name} ${missing ? 'is missing' : issue.message}`,
    ...(expression === '' ? {} : { expression }),
  });
}

/** Of a union's forms, the one that the value came nearest to: what is wrong with that is worth saying. */
function nearest(issue: Found): readonly Found[] | undefined {
  if (issue.code !== 'invalid_union') return undefined;
  const forms = [...issue.errors].filter((form) => form.some(({ path }) => path.length > 0));
  return forms.sort((one, other) => one.length - other.length)[0];
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inside, part) => (typeof inside === 'object' && inside !== null ? Reflect.get(inside, part) : undefined),
    value,
  );
}

function codeOf(issue: Found): IssueType {
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

/** What a schema without words of its own says: the rest of a sentence that begins with the input's name. */
export function sentence(issue: Raw): string {
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${withArticle(issue.expected === 'int' ? 'whole number' : issue.expected)}`;
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`;
    case 'too_small':
      return issue.origin === 'number'
        ? `must be at least ${issue.minimum}`
        : `must have at least ${counted(issue.minimum, issue.origin)}`;
    case 'too_big':
      return issue.origin === 'number'
        ? `must be at most ${issue.maximum}`
        : `must have at most ${counted(issue.maximum, issue.origin)}`;
    case 'invalid_format':
      return issue.format === 'regex'
        ? `must have the form ${issue.pattern}`
        : `must be ${withArticle(issue.format)}`;
    case 'invalid_union':
      return 'has none of the forms that are taken';
    default:
      return 'is not valid';
  }
}

function counted(number: number | bigint, origin: string): string {
  const unit = origin === 'string' ? 'character' : 'item';
  return `${number} ${unit}${Number(number) === 1 ? '' : 's'}`;
}
