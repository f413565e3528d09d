import { z } from 'zod';
import type { JsonObject } from '#src/shared/json/json.ts';
import { askPage } from '../ask.ts';
import { oneLine } from '../entry-line.ts';
import { entries, recordOutput, recordText } from '../record-content.ts';
import { CURSOR, defineTool, LIMIT } from '../tool.ts';

const word = z.string().max(100).optional();

/** Finds patients of a project. */
export const findPatientByName = defineTool({
  name: 'find_patient',
  title: 'Find a patient',
  description:
    'Finds the project’s patients by name, birth date or identifier. Other tools take the ids that it returns.',
  for: 'key',
  input: z.strictObject({
    q: word.describe('A name, or the beginnings of its words.'),
    birth_date: word.describe('YYYY-MM-DD.'),
    identifier: word.describe('`value` or `system|value`.'),
    limit: LIMIT,
    cursor: CURSOR,
  }),
  output: recordOutput(z.object({ entries })),
  async run({ cursor, ...query }, reach) {
    const { items, next } = await askPage(reach, { path: '/v1/patients', query }, cursor);
    return {
      text: recordText(`${items.length} patients on this page.`, items.map(patientLine), 2_000),
      structured: { record_content: { entries: [...items] }, incomplete: [], next_cursor: next },
      versions: items.map(({ fhir, version }) => `${String(fhir)}/_history/${String(version)}`),
    };
  },
});

function patientLine({ id, given, family, birth_date }: JsonObject): string {
  return oneLine(`${String(id)}: ${[given ?? '', family ?? '', birth_date ?? ''].map(String).join(' ')}`);
}
