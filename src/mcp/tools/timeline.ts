import { z } from 'zod';
import type { JsonObject } from '#src/shared/json/json.ts';
import { DEFAULT_KINDS, TIMELINE, TIMELINE_KINDS } from '#src/v1/timeline.ts';
import { askPage, findPatient } from '../ask.ts';
import { oneLine } from '../entry-line.ts';
import { besideAi, entries, leftOutByScope, recordOutput, recordText } from '../record-content.ts';
import { AS_OF, COMMON, CURSOR, day, defineTool, LIMIT, TEXT_TOKENS } from '../tool.ts';

/** Lists the events of the patient's care. */
export const timeline = defineTool({
  name: 'timeline',
  title: 'What happened, the newest first',
  description:
    'Events of the patient’s care, the newest first, each with its date, title and finding. Entries that an AI wrote are listed separately, in ai_written.',
  input: z.strictObject({
    ...COMMON,
    from: day('first'),
    to: day('last'),
    kinds: z
      .array(z.enum(TIMELINE_KINDS))
      .optional()
      .describe(`Default: ${DEFAULT_KINDS.join(', ')}.`),
    limit: LIMIT,
    as_of: AS_OF,
    text_tokens: TEXT_TOKENS,
    cursor: CURSOR,
  }),
  output: recordOutput(z.object({ entries })),
  async run({ patient, kinds, text_tokens, cursor, ...query }, reach) {
    const path = `/v1/patients/${await findPatient(reach, patient)}/timeline`;
    const { items, next } = await askPage(
      reach,
      { path, query: { ...query, kinds: kinds?.join(',') } },
      cursor,
    );
    const facts = items.filter(({ author_type }) => author_type !== 'ai');
    const types = (kinds ?? DEFAULT_KINDS).map((kind) => TIMELINE[kind]);
    return {
      text: recordText(
        `${facts.length} events on this page${besideAi(items.length - facts.length)}`,
        facts.map(line),
        text_tokens,
      ),
      structured: {
        record_content: { entries: facts },
        ai_written: items.filter(({ author_type }) => author_type === 'ai'),
        incomplete: leftOutByScope(await reach.grant(), types, 'rs'),
        next_cursor: next,
      },
      versions: items.map(versionIn),
    };
  },
});

function versionIn({ fhir, version }: JsonObject): string {
  return `${String(fhir)}/_history/${String(version)}`;
}

function line(entry: JsonObject): string {
  const { date, kind, title, summary } = entry;
  const said = [date, kind, title, ...(typeof summary === 'string' ? [summary] : [])].map(String);
  return `${versionIn(entry)}: ${oneLine(said.join(' · '))}`;
}
