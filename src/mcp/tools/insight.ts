import { z } from 'zod';
import { BUCKETS } from '#src/insight/bucket.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import {
  askJson,
  askPage,
  askSized,
  cutPage,
  findPatient,
  objectsIn,
  readPlace,
  readText,
  textsIn,
} from '../ask.ts';
import { oneLine } from '../entry-line.ts';
import { entries, leftOutByScope, recordOutput, recordText } from '../record-content.ts';
import { AS_OF, COMMON, CURSOR, day, defineTool, LIMIT, TEXT_TOKENS } from '../tool.ts';

const OBSERVATION = ['Observation'];
/** The types that are searched for patterns. */
const PATTERN_TYPES = ['Observation', 'MedicationStatement'];
const CODE = z
  .string()
  .max(1_000)
  .regex(/^[^,]+$/, 'must be one code, without commas')
  .describe(
    'LOINC code such as 4548-4, or `system|code`; `~` joins equivalent codes. lookup_code finds codes.',
  );

/** Lists the values of one measurement over time. */
export const series = defineTool({
  name: 'series',
  title: 'Values over time',
  description:
    'The numeric values of one measurement, the oldest first, in one unit, with count, minimum, maximum, mean and slope. Values that an AI wrote are left out, and warnings counts them.',
  input: z.strictObject({
    ...COMMON,
    code: CODE,
    from: day('first'),
    to: day('last'),
    bucket: z.enum(BUCKETS).default('raw').describe('`raw`: every value. Otherwise the median of each.'),
    as_of: AS_OF,
    text_tokens: TEXT_TOKENS,
    cursor: CURSOR,
  }),
  output: recordOutput(z.looseObject({ points: z.array(z.looseObject({})) })),
  async run({ patient, text_tokens, cursor, ...query }, reach) {
    const path = `/v1/patients/${await findPatient(reach, patient)}/series`;
    const { json, size } = await askSized(reach, { path, query });
    const [found = {}] = objectsIn(json.data);
    const { points, ...rest } = found;
    const { items, next } = cutPage(objectsIn(points), readPlace(cursor), undefined, size);
    const lines = items.map(({ at, value, comparator, n, fhir }) => {
      const said = `${text(at)} · ${text(comparator)}${text(value)} ${text(rest.unit)}`;
      if (query.bucket === 'raw') return oneLine(`${text(fhir)}: ${said}`);
      return oneLine(`${said}, the median of ${text(n)}; the newest is ${text(fhir)}`);
    });
    const what = query.bucket === 'raw' ? 'values' : 'medians';
    return {
      text: recordText(
        `${items.length} ${what} on this page.`,
        [...warningLines(rest), ...lines],
        text_tokens,
      ),
      structured: {
        record_content: { ...rest, points: [...items] },
        incomplete: leftOutByScope(await reach.grant(), OBSERVATION, 'rs'),
        next_cursor: next,
      },
      versions: items.flatMap(({ fhir, versions }) => [readText(fhir) ?? [], textsIn(versions)].flat()),
    };
  },
});

/** Lists patterns in the patient's values, or the evidence for one pattern. */
export const findPatterns = defineTool({
  name: 'find_patterns',
  title: 'Patterns in the values',
  description:
    'Trends, changes of level, runs out of range, gaps and associations in the patient’s values, each with its method and confidence. They describe observations and advise nothing. With finding_id: the versions that the finding is based on.',
  input: z.strictObject({
    ...COMMON,
    finding_id: z
      .string()
      .max(100)
      .optional()
      .describe('The id of a finding that this tool returned, to get its evidence.'),
    limit: LIMIT,
    text_tokens: TEXT_TOKENS,
    cursor: CURSOR,
  }),
  output: recordOutput(
    z.object({
      findings: entries.optional(),
      total: z.int().optional().describe('Number of findings on all pages.'),
      warnings: entries
        .optional()
        .describe('Counts of values that were left out or are known only approximately.'),
      evidence: entries.optional(),
    }),
  ),
  async run({ patient, finding_id, limit, text_tokens, cursor }, reach) {
    const path = `/v1/patients/${await findPatient(reach, patient)}/patterns`;
    const left = leftOutByScope(await reach.grant(), PATTERN_TYPES, 'rs');
    if (finding_id === undefined) {
      const { items, next, answer } = await askPage(reach, { path, query: { limit } }, cursor);
      const { total = 0, warnings = [] } = answer;
      const lines = items.map((each) => oneLine(`${text(each.finding_id)}: ${text(each.title)}`));
      return {
        text: recordText(
          `${items.length} findings on this page.`,
          [...warningLines(answer), ...lines],
          text_tokens,
        ),
        structured: {
          record_content: { findings: [...items], total, warnings },
          incomplete: left,
          next_cursor: next,
        },
      };
    }
    const below = `${path}/${encodeURIComponent(finding_id)}/evidence`;
    const { items, next } = await askPage(reach, { path: below, query: { limit } }, cursor);
    const versions = items.map(({ fhir, version }) => `${text(fhir)}/_history/${text(version)}`);
    const lines = items.map((each, n) =>
      oneLine(
        `${versions[n]}: ${text(each.role)} · ${text(each.at)} · ${text(each.comparator)}${text(each.value)} ${text(each.unit)}`,
      ),
    );
    return {
      text: recordText(`${items.length} values on this page.`, lines, text_tokens),
      structured: { record_content: { evidence: [...items] }, incomplete: left, next_cursor: next },
      versions,
    };
  },
});

const period = z.strictObject({
  from: z.string().max(10).describe('The first day, YYYY-MM-DD.'),
  to: z.string().max(10).describe('The last day.'),
});

/** Compares the values from two periods. */
export const comparePeriods = defineTool({
  name: 'compare_periods',
  title: 'Compare two periods',
  description:
    'Whether the values of one measurement differ between two periods: medians, difference with its interval, and p. If the values don’t support a statement, sufficient is false and the reason is given. The tool series returns the values themselves.',
  input: z.strictObject({ ...COMMON, code: CODE, a: period, b: period }),
  output: recordOutput(z.looseObject({ sufficient: z.boolean() })),
  async run({ patient, ...body }, reach) {
    const path = `/v1/patients/${await findPatient(reach, patient)}/patterns/compare`;
    const answer = await askJson(reach, { method: 'POST', path, body: JSON.stringify(body) });
    return {
      text: recordText('The comparison.', [...warningLines(answer), comparisonLine(answer)], 2_000),
      structured: {
        record_content: answer,
        incomplete: leftOutByScope(await reach.grant(), OBSERVATION, 'rs'),
      },
    };
  },
});

/** Returns an answer's warnings as lines. */
function warningLines({ warnings }: JsonObject): string[] {
  return objectsIn(warnings).map((each) => oneLine(`Warning: ${text(each.text)} (${text(each.count)})`));
}

function comparisonLine({ a, b, difference, sufficient, reason, unit }: JsonObject): string {
  const [first = {}, second = {}, by = {}] = [a, b, difference].map(
    (each) => objectsIn([each ?? null])[0] ?? {},
  );
  const medians = `median ${text(first.median)} (n ${text(first.count)}), then ${text(second.median)} (n ${text(second.count)}) ${text(unit)}`;
  if (sufficient !== true) return oneLine(`${medians}: no statement, ${text(reason)}`);
  const interval = `95 % interval ${text(by.low)} to ${text(by.high)}`;
  return oneLine(`${medians}: difference ${text(by.absolute)} (${interval}), p ${text(by.p_value)}`);
}

function text(value: Json | undefined): string {
  return value === undefined || value === null ? '' : String(value);
}
