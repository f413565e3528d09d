/** The timeline of REST v1 (docs/spec/interface.md, sections 2.3 and 4.3; docs/spec/decisions.md, section 4). */
import { z } from 'zod';
import type { TimelineEntry } from '#queries/rest/timeline.ts';
import type { SystemCode } from '#src/fhir/terminology.ts';
import { AUTHOR_TYPES } from '#src/shared/author.ts';
import { toInstant } from '#src/shared/time.ts';
import { listOf as listName } from '#src/v1/lists.ts';
import { withNames } from '#src/v1/phrase.ts';
import { DEFAULT_KINDS, kindOf, medicationTitle, TIMELINE, TIMELINE_KINDS } from '#src/v1/timeline.ts';
import { route } from '../api/route.ts';
import { LIST_QUERY, listOf } from '../api/schemas.ts';
import { daysInOrder, daysOf } from './days.ts';
import { type Displays, displayOf, displaysOf } from './displays.ts';
import { LISTING_MODELS, listing } from './listing.ts';
import { resourceIn } from './record.ts';
import { date } from './schemas.ts';

const kind = z.enum(TIMELINE_KINDS);

/** Sorted, so that a cursor stays valid when the same kinds are named explicitly. */
const DEFAULT = [...DEFAULT_KINDS].sort();

const ONE = `(?:${TIMELINE_KINDS.join('|')})`;

const kinds = z
  .string()
  .max(200)
  .regex(
    new RegExp(`^${ONE}(?:,${ONE})*$`),
    `must be one or more of ${TIMELINE_KINDS.join(', ')}, separated by commas`,
  )
  .transform((text) => [...new Set(text.split(','))].sort())
  .pipe(z.array(kind));

const entrySchema = z
  .object({
    kind,
    id: z.string(),
    date: z
      .string()
      .describe('As precise as it is known; when it was recorded, where the record says no date.'),
    title: z.string(),
    summary: z.string().nullable().describe('What was found, how it stands.'),
    author_type: z.enum(AUTHOR_TYPES),
    fhir: z.string().describe('`<Type>/<id>` on the FHIR interface.'),
  })
  .meta({ id: 'TimelineEntry' });

/** The route of timelines. */
export const TIMELINE_ROUTES = [
  route({
    method: 'GET',
    path: '/v1/patients/{patient_id}/timeline',
    operationId: 'getTimeline',
    summary: 'What happened to a patient, the newest first',
    description:
      'Documents, observations, medications and conditions, unless `kinds` asks for others. Resources that were entered in error or refuted, or have a modifier extension, are left out.',
    tag: 'Timeline and context',
    credential: 'api_key',
    grantToken: 'refused',
    models: LISTING_MODELS,
    query: z
      .strictObject({
        ...LIST_QUERY,
        from: date.optional().describe('First day, UTC.'),
        to: date.optional().describe('Last day, UTC.'),
        kinds: kinds.optional().describe(`Some of ${TIMELINE_KINDS.join(', ')}, with commas between.`),
      })
      .superRefine(daysInOrder),
    answers: { 200: { description: 'A page', schema: listOf(entrySchema) } },
    async run(request) {
      const { from, to, kinds: asked = DEFAULT, ...page } = request.query;
      const { services, caller, params } = request;
      const patient = params.patient_id;
      const lists = asked.map((each) => listName(TIMELINE[each]));
      const of = { tenant: caller.sees.ownerId, patient, lists, ...daysOf(from, to) };
      const { rows, total, next } = await listing(request, patient, () =>
        services.queries.timeline(of, page),
      );
      const titles = rows.map(titleOf);
      const codes = [...titles.flatMap(bareTitle), ...rows.flatMap(({ summaryCodes }) => summaryCodes)];
      const displays = await displaysOf(request, codes);
      const data = rows.map((row, n) => shown(row, titles[n] ?? row, displays));
      return { status: 200, body: { data, total, next_cursor: next ?? null } };
    },
  }),
];

type Title = Pick<TimelineEntry, 'title' | 'titleSystem'>;

/** Returns the title of an entry; a medication's comes from the Medication that it refers to. */
function titleOf({ title, titleSystem, referred }: TimelineEntry): Title {
  const named = referred === '' ? undefined : medicationTitle(resourceIn(referred));
  return named ?? { title, titleSystem };
}

/** Returns the code that is used as a title. */
function bareTitle({ title: code, titleSystem: system }: Title): SystemCode[] {
  return system === null ? [] : [{ system, code }];
}

function shown(entry: TimelineEntry, title: Title, displays: Displays): object {
  const { id, type, date: said, moment, summary, summaryCodes, author } = entry;
  const nameOf = (code: SystemCode) => displayOf(code, displays);
  const [bare] = bareTitle(title);
  return {
    kind: kindOf(type),
    id,
    date: said ?? toInstant(moment),
    title: (bare === undefined ? undefined : nameOf(bare)) ?? title.title,
    summary: summary === null ? null : withNames({ text: summary, codes: summaryCodes }, nameOf),
    author_type: author,
    fhir: `${type}/${id}`,
  };
}
