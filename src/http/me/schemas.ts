/** Schemas for `/me` (docs/spec/decisions.md, section 4). */
import { z } from 'zod';
import type { MyPatient } from '#queries/consents/records.ts';
import { environment, grant, instant, LIST_QUERY } from '../api/schemas.ts';

/** One of the person's records. */
export const myPatientSchema = z
  .object({
    id: z.string(),
    given: z.string().nullable().describe('Null if the patient was deleted, like the next two members.'),
    family: z.string().nullable(),
    birth_date: z.string().nullable(),
    relationship: z.enum(['self', 'dependent']),
  })
  .meta({ id: 'MyPatient' });

/** Formats a record for `/me`. */
export function myPatientView(row: MyPatient): z.input<typeof myPatientSchema> {
  const { id, given, family, birth_date, relationship } = row;
  return { id, given, family, birth_date, relationship };
}

/** A grant with the patient's own id and the number of times it was used. */
export const myGrantSchema = grant
  .extend({
    patient: z.string(),
    access_count: z
      .int()
      .describe('Number of reads that showed something from the record; refused reads don’t count.'),
    last_access_at: instant.nullable().describe('When the last of these reads happened.'),
  })
  .meta({ id: 'MyGrant' });

/** The parameters of every list below `/me`. */
export const ME_QUERY = {
  ...LIST_QUERY,
  environment: environment.default('production'),
  lang: z
    .string()
    .max(40)
    .optional()
    .describe(
      'Language of texts that the service writes, a BCP 47 tag; unknown languages become English. Texts that others wrote stay as they are.',
    ),
};

/** The query parameters of every list for one record. */
export const RECORD_QUERY = {
  ...ME_QUERY,
  environment: environment
    .optional()
    .describe('The record’s environment; 404 if the record belongs to the other environment.'),
};
