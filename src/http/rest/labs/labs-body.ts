/** Parses the forms in which laboratory results are sent (docs/spec/decisions.md, section 4). */
import { z } from 'zod';
import { isLoincCode } from '#src/fhir/loinc-code.ts';
import type { LabItem } from '#src/labs/items.ts';
import { decimalIn } from '#src/labs/numbers.ts';
import { contradicted } from '#src/labs/range.ts';
import { namedCode } from '#src/labs/tables/columns.ts';
import { zoneNamed } from '#src/labs/zones.ts';
import { numberIn } from '#src/v1/elements.ts';
import { CATEGORIES } from '#src/v1/observation.ts';
import { code, coded, date, exactlyOne, moment, oneSystem, optional, text } from '../schemas.ts';

const unit = z
  .string()
  .min(1)
  .max(100)
  .describe('As written by the laboratory; converted to UCUM if the meaning is certain.');

/** A day, or a moment. */
const when = z.union([moment, date]);

const VALUES = ['value', 'result', 'value_text', 'value_code', 'value_boolean'] as const;
/**
 * The members that contain the laboratory's name for the test. If there is a code, the name is used as the display; otherwise
 * as the code.
 */
const NAMES = ['marker', 'test', 'analyte'] as const;
const name = optional(text.max(500)).describe('The display; without `code`, also used as the code.');
const range = z.strictObject({ low: optional(z.number()), high: optional(z.number()) });

/** An item in a request. */
const sentItem = z.strictObject({
  code: optional(code),
  marker: name,
  test: name,
  analyte: name,
  ...coded,
  category: optional(z.enum(CATEGORIES)).describe('Default: `laboratory`.'),
  effective_at: optional(when).describe('Default: the report’s `date`.'),
  value: optional(z.number()),
  result: optional(z.union([z.number(), text])).describe('A number, or text such as `5,6` or `< 5`.'),
  unit: optional(unit),
  value_text: optional(text).describe('With a unit also `< 5`.'),
  value_code: optional(z.strictObject({ code, ...coded }).superRefine(oneSystem)),
  value_boolean: optional(z.boolean()),
  reference_range: optional(z.union([range, text])).describe(
    'The ends of the range, or text such as `3,9 - 5,5`.',
  ),
  'reference range': optional(text).meta({ unlisted: true }),
  low: optional(z.number()).describe('End of the reference range.'),
  high: optional(z.number()).describe('End of the reference range.'),
  note: optional(text),
});
type SentItem = z.output<typeof sentItem>;

const item = sentItem
  .superRefine(oneSystem)
  .superRefine((given, context) => {
    const refuse = (path: string, said: string): void =>
      context.addIssue({ code: 'custom', path: [path], message: said });
    exactlyOne(VALUES, given, context);
    const [named, another] = NAMES.filter((each) => given[each] !== undefined);
    if (named === undefined && given.code === undefined)
      context.addIssue({ code: 'invalid_type', expected: 'string', input: undefined, path: ['code'] });
    if (named !== undefined && another !== undefined)
      refuse(another, `means the same as ${named}; send only one of them`);
    if (named !== undefined && given.code !== undefined && given.display !== undefined)
      refuse(named, 'is the display if there is a code; send either it or display');
    const { low, high } = rangeEnds(given);
    if (low !== undefined && high !== undefined && high < low)
      refuse(
        given.high === undefined ? 'reference_range' : 'high',
        'must not have a high that is lower than its low',
      );
    if (typeof given.reference_range === 'object' && (given.low ?? given.high) !== undefined)
      refuse(
        given.low === undefined ? 'high' : 'low',
        'must not be combined with low and high in reference_range',
      );
    if (given.reference_range !== undefined && given['reference range'] !== undefined)
      refuse('reference range', 'means the same as reference_range; send only one of them');
    const [heading, said] = rangeText(given);
    const wrong = said === undefined ? undefined : contradicted(said, given.unit ?? '', { low, high });
    if (wrong !== undefined) refuse(wrong, `differs from ${heading}; send only one of them`);
  })
  .transform(toLabItem);

/** Returns the ends of the reference range, from whichever members contain them. */
function rangeEnds({ reference_range: sent, low, high }: SentItem): z.output<typeof range> {
  return typeof sent === 'object' ? sent : { low, high };
}

/** Returns the name of the member that gives the range as text, and that text. */
function rangeText(given: SentItem): readonly [name: string, text: string | undefined] {
  const { reference_range: sent, 'reference range': spelled } = given;
  if (spelled !== undefined) return ['reference range', spelled];
  return ['reference_range', typeof sent === 'string' ? sent : undefined];
}

/** Changes an item's member names to those of a result. */
function toLabItem(given: SentItem): Omit<LabItem, 'effective_at'> & Pick<SentItem, 'effective_at'> {
  const { marker, test, analyte, result, value = result, value_text } = given;
  const { code: is, display } = namedCode(
    { code: given.code, name: marker ?? test ?? analyte, display: given.display },
    isLoincCode,
  );
  const number = typeof value === 'string' ? numberIn(decimalIn(value)) : value;
  // Each member is copied by name, because a rest pattern is several times slower and there are thousands of items.
  return {
    system: given.system,
    category: given.category,
    effective_at: given.effective_at,
    unit: given.unit,
    value_code: given.value_code,
    value_boolean: given.value_boolean,
    note: given.note,
    code: is,
    display,
    value: number ?? undefined,
    value_text: typeof value === 'string' && number === null ? value : value_text,
    reference_range: rangeEnds(given),
    range_text: rangeText(given)[1],
  };
}

/** An example report for the documentation. */
export const HL7_EXAMPLE =
  'MSH|^~\\&|LIS|CITYLAB|||20260331093000+0200||ORU^R01|M1|P|2.5.1\rPID|1\rOBR|1||F100|24323-8^Metabolic panel^LN|||20260331080000+0200\rOBX|1|NM|2345-7^Glucose^LN||5.6|mmol/L|3.9-5.5|H|||F';

const message = z
  .strictObject({
    message: z.string().min(1).describe('HL7 v2, ORU^R01.'),
    source_system: optional(text).describe('Name of the system the data comes from.'),
  })
  .meta({
    id: 'LabMessage',
    examples: [{ message: HL7_EXAMPLE }],
  });

const items = z
  .strictObject({
    items: z.array(item).min(1).max(5_000),
    date: optional(when).describe('The date of items that have no `effective_at`.'),
    origin: optional(text).describe('The id of the report in the source system.'),
  })
  .superRefine((given, context) => {
    if (given.date !== undefined) return;
    given.items.forEach(({ effective_at }, index) => {
      if (effective_at === undefined)
        context.addIssue({
          code: 'invalid_type',
          expected: 'string',
          input: undefined,
          path: ['items', index, 'effective_at'],
        });
    });
  })
  .meta({
    id: 'LabItems',
    examples: [
      { date: '2026-03-31', items: [{ code: '2345-7', display: 'Glucose', value: 5.6, unit: 'mmol/L' }] },
    ],
  });

/** The JSON forms. */
export const labsBody = z.union([message, items]).optional();

/** Items, parsed. */
export type GivenItems = z.output<typeof items>;

/** The query. `date` applies to the rows of a table. */
export const labsQuery = z.strictObject({
  date: when.optional().describe('The date of table rows that have no `effective_at`.'),
  time_zone: z
    .string()
    .max(100)
    .transform((name, context) => {
      const zone = zoneNamed(name);
      if (zone !== undefined) return zone;
      context.addIssue({
        code: 'custom',
        message: 'must be a time zone of the IANA database, such as Europe/Oslo',
      });
      return z.NEVER;
    })
    .optional()
    .describe(
      'IANA time zone for times in a message if neither the field nor MSH-7 has an offset. A time that occurs twice, when clocks go back, counts as the earlier one.',
    ),
});
