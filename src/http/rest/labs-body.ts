/** The forms in which laboratory results come (decisions.md, section 4). */
import { z } from 'zod';
import { CATEGORIES } from '#src/fhir/v1/observation.ts';
import { code, coded, date, exactlyOne, moment, oneSystem, optional, text } from './schemas.ts';

const unit = z
  .string()
  .min(1)
  .max(100)
  .describe('As the laboratory writes it; in UCUM where that is certain.');

/** A day, or a moment. */
const when = z.union([moment, date]);

const VALUES = ['value', 'value_text', 'value_code', 'value_boolean'] as const;

const item = z
  .strictObject({
    code,
    ...coded,
    category: optional(z.enum(CATEGORIES)).describe('`laboratory` when absent.'),
    effective_at: optional(when).describe('`date` of the report when absent.'),
    value: optional(z.number()),
    unit: optional(unit),
    value_text: optional(text).describe('With a unit also `< 5`.'),
    value_code: optional(z.strictObject({ code, ...coded }).superRefine(oneSystem)),
    value_boolean: optional(z.boolean()),
    reference_range: optional(z.strictObject({ low: optional(z.number()), high: optional(z.number()) })),
    note: optional(text),
  })
  .superRefine(oneSystem)
  .superRefine((given, context) => {
    exactlyOne(VALUES, given, context);
    const { low, high } = given.reference_range ?? {};
    if (low !== undefined && high !== undefined && high < low)
      context.addIssue({
        code: 'custom',
        path: ['reference_range'],
        message: 'must not have a high below its low',
      });
  });

const message = z
  .strictObject({
    message: z.string().min(1).describe('HL7 v2, ORU^R01.'),
    source_system: optional(text).describe('Name of the system that it comes from.'),
  })
  .meta({
    id: 'LabMessage',
    examples: [
      {
        message:
          'MSH|^~\\&|LIS|CITYLAB|||20260331093000+0200||ORU^R01|M1|P|2.5.1\rPID|1\rOBR|1||F100|24323-8^Metabolic panel^LN|||20260331080000+0200\rOBX|1|NM|2345-7^Glucose^LN||5.6|mmol/L|3.9-5.5|H|||F',
      },
    ],
  });

const items = z
  .strictObject({
    items: z.array(item).min(1).max(5_000),
    date: optional(when).describe('Of items that have no `effective_at`.'),
    origin: optional(text).describe('What the report is called in the source system.'),
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

/** `date` of a table's rows. */
export const labsQuery = z.strictObject({
  date: when.optional().describe('Of rows of a table that have no `effective_at`.'),
});
