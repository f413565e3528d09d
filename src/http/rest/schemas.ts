/**
 * Defines schemas that REST v1 routes share: the inputs in docs/spec/interface.md, section 2.2, and the members of every
 * record (docs/spec/decisions.md, section 4).
 */

import { z } from 'zod';
import { isLoincCode } from '#src/fhir/loinc-code.ts';
import { parsePeriod } from '#src/fhir/search/period.ts';
import { readUnit } from '#src/fhir/units/spelled-units.ts';
import { COMMON_UNITS } from '#src/fhir/units/unit-spellings.ts';
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import { cut } from '#src/shared/cut.ts';
import { didYouMean } from '#src/shared/nearest.ts';
import { LOINC, splitCode } from '#src/v1/elements.ts';
import { instant } from '../api/schemas.ts';

/** Makes a member optional; null means the same as leaving it out. */
export function optional<Schema extends z.ZodType>(schema: Schema) {
  return schema.nullish().transform((value) => value ?? undefined);
}

/** Text that isn't blank. */
export const text = z
  .string()
  .max(10_000)
  .regex(/^\S(?:[\s\S]*\S)?$/, 'must not be empty, or begin or end with whitespace');

/** A calendar day. */
export const date = z
  .string()
  .regex(/^\d{4}-\d\d-\d\d$/, { error: 'must be a date, for example 2026-03-31', abort: true })
  .refine((value) => parsePeriod(value) !== undefined, 'is not a valid date')
  .meta({ format: 'date' });

/** The descriptions of `from` and `to` (docs/spec/decisions.md, section 4 "The day of a value"). */
export const FIRST_DAY =
  'First day. A value belongs to the day that its date-time names, whatever its UTC offset.';
export const LAST_DAY = 'Last day. A value dated by month or year belongs to each of its days.';

/** A point in time. If the seconds are missing, they are taken as zero. */
export const moment = z
  .string()
  .refine((value) => !/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?$/.test(value), {
    error: 'needs a time zone, for example 2026-09-01T08:00:00Z',
    abort: true,
  })
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/, {
    error: 'must be a date-time with a time zone, for example 2026-09-01T08:00:00Z',
    abort: true,
  })
  .refine((value) => parsePeriod(value) !== undefined, 'is not a valid date-time')
  .transform((value) => value.replace(/(T\d\d:\d\d)(?=Z|[+-])/, '$1:00'))
  .describe('ISO 8601 with an offset.');

/** A code, or `system|code`. */
export const code = z
  .string()
  .max(500)
  .regex(
    /^(?:[^\s|]+\|)?[^\s|]+(?: [^\s|]+){0,250}$/,
    'must be a code or system|code, without spaces at its ends',
  );

/** The URI of a code system. */
export const system = z.string().max(1_000).regex(/^\S+$/, 'must be a URI, without spaces');

/** A UCUM unit, which UCUM's library checks, or a common spelling, which is converted to a UCUM unit. */
export const unit = z
  .string()
  .max(100)
  .transform((value, context) => {
    const read = readUnit(value);
    if (read !== undefined && 'ucum' in read) return read.ucum;
    const message =
      read === undefined
        ? `must be a unit of UCUM, such as mg/dL or mm[Hg], not \`${cut(value, 40)}\`${didYouMean(value, COMMON_UNITS) || '; docs/rest.md lists the spellings that are accepted'}`
        : `is ambiguous; write ${read.ambiguous.join(', or ')}`;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  })
  .describe(
    'UCUM, or a common spelling such as `mmHg`, `bpm`, `°C`, `IU/L`, `mcg`; answers always have UCUM.',
  );

/** The author's type, in the body or in the header `X-Service-Author-Type`. */
export const authorType = optional(z.enum(AUTHOR_TYPES)).describe(
  'Takes precedence over the header X-Service-Author-Type.',
);

/** The members of a code. `code` itself may name the system. */
export const coded = { system: optional(system), display: optional(text) };

/** Refuses a code that names a different system than `system` next to it. */
export function oneSystem(
  given: { readonly code?: string | undefined; readonly system?: string | undefined },
  context: z.RefinementCtx,
): void {
  const named = given.code === undefined ? undefined : splitCode(given.code).system;
  if (named === undefined || given.system === undefined || named === given.system) return;
  context.addIssue({ code: 'custom', path: ['system'], message: 'must be the system that the code names' });
}

/**
 * Refuses LOINC codes with a wrong check digit. Codes in any other form are accepted, because they may be LOINC parts or
 * answers.
 * @param fallback the system of a code that names none; undefined means that such a code has no system.
 */
export function checkedDigit(fallback?: string) {
  return (
    given: { readonly code?: string | undefined; readonly system?: string | undefined },
    context: z.RefinementCtx,
  ): void => {
    const named = splitCode(given.code ?? '');
    if ((named.system ?? given.system ?? fallback) !== LOINC) return;
    if (!/^\d{1,7}-\d$/.test(named.code) || isLoincCode(named.code)) return;
    const message = `is not a LOINC code: the check digit of ${named.code} is wrong`;
    context.addIssue({ code: 'custom', path: ['code'], message });
  };
}

/**
 * Refuses objects that have none of the given members, or several of them.
 * @param names the members, exactly one of which is required.
 */
export function exactlyOne<Name extends string>(
  names: readonly Name[],
  given: { readonly [name in Name]?: unknown },
  context: z.RefinementCtx,
): void {
  const [first, second] = names.filter((name) => given[name] !== undefined);
  const refuse = (path: string, message: string): void =>
    context.addIssue({ code: 'custom', path: [path], message });
  if (first === undefined) refuse(names[0] ?? '', `provide one of ${names.join(', ')}`);
  else if (second !== undefined)
    refuse(second, `must not be combined with ${first}; send only one of ${names.join(', ')}`);
}

/** Refuses a period that ends before it begins. */
export function inOrder(start: string | undefined, end: string | undefined, path: string) {
  return (context: z.RefinementCtx): void => {
    if (start !== undefined && end !== undefined && end < start)
      context.addIssue({ code: 'custom', path: [path], message: 'must not be before the start' });
  };
}

const nullable = z.string().nullable();

/** The members of a code in a response. */
export const shownCode = { code: nullable, system: nullable, display: nullable };

/** The members that every record has. */
export const common = {
  version: z.int(),
  created_at: instant,
  updated_at: instant,
  author_type: z.enum(AUTHOR_TYPES).describe('The kind of author who wrote this version.'),
  source_system: nullable,
  origin_id: nullable,
  fhir: z.string().describe('`<Type>/<id>` on the FHIR interface.'),
};

/** The ids that every record has. */
export const ids = { id: z.string(), patient: z.string().describe('The id of the patient.') };

/** The header for writes that change an existing resource. */
export const IF_MATCH = {
  'If-Match': 'Write only if this is the current version, such as `W/"3"`; otherwise the answer is 412.',
};

/** Author headers for writes (docs/spec/interface.md, section 4). */
export const AUTHOR = {
  'X-Service-Author-Type': 'What kind of author wrote the data. Default: `import`.',
  'X-Service-Author-Ref': 'The author: `Practitioner/<id>` in the directory.',
  'X-Service-Acting-As': 'Who is at the keyboard: `Practitioner/<id>` or `PractitionerRole/<id>`.',
  'X-Service-On-Behalf-Of': '`Organization/<id>` in the directory.',
  'X-Service-Source-System': 'Name of the system that the data comes from.',
  'X-Service-Origin-Id': 'The id of the data in that system.',
};
