/** Shows a record's events in words, newest first. It is REST v1's timeline, worded as on the patient's pages. */
import { z } from 'zod';
import type { StoredResult } from '#queries/rest/newest-results.ts';
import { MEANINGS } from '#src/clinical/reading/dates.ts';
import { bareCodes, type Displays } from '#src/clinical/summary/displays.ts';
import { type JsonObject, parseStored } from '#src/shared/json/json.ts';
import { TIMELINE_KINDS } from '#src/v1/timeline.ts';
import { route } from '../../api/route.ts';
import { listSchema, PAGED } from '../../api/schemas.ts';
import { resultName } from '../../pages/result-names.ts';
import { type Texts, texts } from '../../pages/texts.ts';
import type { Services } from '../../ports/services.ts';
import { judgementText } from '../../reading/judgement.ts';
import { kindText } from '../../reading/kinds.ts';
import { sayWhen } from '../../reading/known-words.ts';
import { originShape, readOrigins } from '../../reading/origins.ts';
import { readResult } from '../../reading/stored-results.ts';
import { summaryLine, summaryToday, titleText } from '../../reading/summary-words.ts';
import { valueText } from '../../reading/values.ts';
import { daysInOrder } from '../../rest/days.ts';
import type { RestRequest } from '../../rest/record.ts';
import { type AskedTimeline, readTimeline, TIMELINE_QUERY, type TimelineView } from '../../rest/timeline.ts';
import { noteReads } from '../record-reads.ts';
import { LANGUAGE_QUERY } from './language-query.ts';
import { type OpenedRecord, openRecord, RECORD_MODELS } from './open-record.ts';

/** A record's event in a response. */
export const eventSchema = z
  .object({
    kind: z.enum(TIMELINE_KINDS),
    kind_text: z.string().describe('The kind in words.'),
    text: z.string().describe('What happened, as one sentence without its date.'),
    date: z.string(),
    date_means: z.enum([...MEANINGS, 'entered']),
    when: z.string().describe('The date with its meaning, in words.'),
    resource: z.string().describe('`<Type>/<id>`.'),
    version: z.int(),
    ...originShape,
  })
  .meta({ id: 'RecordEvent' });

/** The route for timelines in words. */
export const RECORD_TIMELINE_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/patients/{patient_id}/timeline',
    operationId: 'listRecordTimeline',
    summary: 'Events in a patient’s care, in words, the newest first',
    description: `The timeline of REST v1 in the words of the clinical reading, each entry with its version, author and source. ${PAGED}`,
    tag: 'Patients',
    credential: 'identity',
    grantToken: 'refused',
    models: RECORD_MODELS,
    query: z.strictObject({ ...TIMELINE_QUERY, ...LANGUAGE_QUERY }).superRefine(daysInOrder),
    answers: { 200: { description: 'A page', schema: listSchema(eventSchema) } },
    async run(request) {
      const { as_of: asOf, language, ...asked } = request.query;
      const opened = await openRecord(request, asOf);
      const { record, environment } = opened;
      const { data: events, total, next } = await readEvents(request, opened, texts(language), asked);
      const kind = { environment, action: 'timeline', resourceType: null };
      await noteReads(request, kind, [{ record, count: events.length }]);
      return { status: 200, body: { data: events, total, next_cursor: next ?? null } };
    },
  }),
];

/** A page of events in words. */
export interface EventsPage {
  readonly data: z.input<typeof eventSchema>[];
  readonly total: number;
  readonly next: string | undefined;
}

/**
 * Reads a page of a record's events.
 * @throws Refusal
 */
export async function readEvents(
  request: Omit<RestRequest, 'caller'>,
  opened: OpenedRecord,
  say: Texts,
  asked: AskedTimeline,
): Promise<EventsPage> {
  const { caller, record } = opened;
  const { data, total, next } = await readTimeline({ ...request, caller }, record, asked);
  return { data: await viewEvents(request.services, opened, say, data), total, next };
}

async function viewEvents(
  services: Pick<Services, 'queries' | 'recordReads' | 'displays' | 'audit'>,
  { record, caller, asOf }: OpenedRecord,
  say: Texts,
  entries: readonly TimelineView[],
): Promise<z.input<typeof eventSchema>[]> {
  const then = services.recordReads.asOf(asOf);
  const today = new Date(asOf === undefined ? Date.now() : asOf / 1_000).toISOString();
  const results = entries.flatMap(({ kind, id }) => (kind === 'observation' ? [id] : []));
  const [versions, bodies] = await Promise.all([
    then.currentVersions(
      record,
      entries.map(({ id }) => id),
    ),
    then.referred(record, results),
  ]);
  const values = new Map([...bodies].map(([fhir, body]): [string, JsonObject] => [fhir, parseStored(body)]));
  const names = await services.displays(bareCodes([...values.values()]));
  const shown = entries.map(({ id }) => ({ id, version: versions.get(id) ?? 1 }));
  const findOrigin = await readOrigins(services, caller, say, shown);
  return entries.flatMap((entry, n): z.input<typeof eventSchema>[] => {
    const { kind, id, date, date_means, title, summary, fhir } = entry;
    if (kind === undefined) return [];
    const value = values.get(fhir);
    const version = shown[n]?.version ?? 1;
    const said = value === undefined ? undefined : sayResult(say, { id, version, value }, title, names);
    return [
      {
        kind,
        kind_text: kindText(say, kind),
        text:
          said ??
          [titleText(say, kind, title), summaryLine(say, kind, summaryToday(kind, date, summary, today))]
            .filter((part) => part !== null)
            .join(': '),
        date,
        date_means,
        when: sayWhen(say, date, date_means),
        resource: fhir,
        version,
        ...findOrigin(id),
      },
    ];
  });
}

function sayResult(
  say: Texts,
  stored: Pick<StoredResult, 'id' | 'version' | 'value'>,
  title: string,
  names: Displays,
): string {
  const result = readResult({ recorded: 0, author: 'import', ...stored }, names);
  const judged = judgementText(say, result);
  const name = resultName(say, { ...result, display: title });
  return `${name}: ${valueText(say, result)}${judged === undefined ? '' : ` · ${judged}`}`;
}
