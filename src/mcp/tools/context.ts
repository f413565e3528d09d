import { z } from 'zod';
import { CONTEXT_TYPES } from '#src/context/record.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { askSized, cutPage, findPatient, objectsIn, readPlace, readText } from '../ask.ts';
import { leftOutByScope, recordOutput, recordText } from '../record-content.ts';
import { AS_OF, COMMON, CURSOR, defineTool } from '../tool.ts';

const NEEDS =
  'Facts that the answer must include if they are recorded, most important first: `labs:4548-4`, `vitals:trend:85354-9`, `timeline:180d`, `medications`, `problems`, `allergies`.';

/** Returns the facts that a task or question needs. */
export const getContext = defineTool({
  name: 'get_context',
  title: 'Get the facts for a task or question',
  description:
    'The facts of the record that a task or question needs, the most needed first, within a budget of tokens. Start here. Every item names who recorded it and the exact version. Content that an AI wrote is only in the section ai_notes.',
  input: z.strictObject({
    ...COMMON,
    task: z.string().max(200).optional().describe('The task in words: `medication review`.'),
    question: z.string().max(2_000).optional().describe('The question to answer.'),
    needs: z.array(z.string().max(300)).max(50).optional().describe(NEEDS),
    budget_tokens: z.int().min(50).max(20_000).default(2_000).describe('Maximum tokens of the text.'),
    window_days: z
      .int()
      .min(1)
      .max(36_500)
      .optional()
      .describe(
        'How far back to include findings, visits, procedures, vaccinations, documents and past problems.',
      ),
    as_of: AS_OF,
    cursor: CURSOR,
  }),
  output: recordOutput(
    z.looseObject({
      manifest_id: z.string(),
      sections: z.array(z.looseObject({ kind: z.string(), items: z.array(z.looseObject({})) })),
    }),
  ),
  async run({ patient: given, cursor, ...asked }, reach) {
    const patient = await findPatient(reach, given);
    const place = readPlace(cursor);
    const body = JSON.stringify({ ...asked, patient, format: 'text' });
    const { json, size, exact } = await askSized(reach, { method: 'POST', path: '/v1/context', body });
    const { text, omitted, sections, ...rest } = json;
    const all = objectsIn(sections).map(({ text: _, ...section }): JsonObject => section);
    const { items, next } = cutPage(all, place, undefined, size);
    const grant = await reach.grant();
    const lines = cursor === undefined ? (readText(text) ?? '').split('\n') : [];
    return {
      text: recordText(
        `Facts about the patient (manifest ${readText(rest.manifest_id)}).`,
        lines,
        asked.budget_tokens * 2,
      ),
      structured: {
        record_content: { ...rest, sections: [...items] },
        incomplete: [...objectsIn(omitted).map(leftOut), ...leftOutByScope(grant, CONTEXT_TYPES, 'rs')],
        next_cursor: next,
      },
      versions: items.flatMap((section) => objectsIn(section.items).map(({ fhir }) => String(fhir))),
      ...(exact ? {} : { plain: true as const }),
    };
  },
});

function leftOut({ kind, count, reason }: JsonObject): JsonObject {
  return { left_out_by: reason ?? 'budget', what: kind ?? '', ...(count === undefined ? {} : { count }) };
}
